#!/bin/bash
# A server and a client of the example: every change arrives once and in order, short
# texts inline and long ones by RDMA; both programs succeed.
# usage: test.sh PROGRAM
set -eu
program=$1
dir=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$dir"' EXIT

"$program" serve 127.0.0.1:0 12 >"$dir/server" &
server=$!
for _ in $(seq 200); do
	[ -s "$dir/server" ] && break
	sleep 0.05
done
read -r _ port <"$dir/server"
timeout 60 "$program" watch 127.0.0.1 "$port" >"$dir/client"
wait $server

for i in $(seq 12); do
	how="by RDMA"
	[ "$i" -le 1 ] && how=inline
	echo "change $i: $((i * i * 10000)) octets, $how, good"
done >"$dir/want"
diff "$dir/want" "$dir/client"
