#!/bin/bash
# The same blocks with the binding and without: right in both cases, and with the
# binding hardly an octet is copied.
# usage: test.sh PROGRAM
set -eu
program=$1
dir=$(mktemp -d)
trap 'kill $server 2>/dev/null || true; rm -rf "$dir"' EXIT

"$program" serve 127.0.0.1:0 >"$dir/server" &
server=$!
for _ in $(seq 200); do
	[ -s "$dir/server" ] && break
	sleep 0.05
done
read -r _ port <"$dir/server"
timeout 100 "$program" move "127.0.0.1:$port" 4 | tee "$dir/client"

copied() { sed -n "s/^$1: \([0-9]*\) octets copied.*/\1/p" "$dir/client"; }
# Eight results of 4 MiB are copied once, when they are decoded.
[ "$(copied without)" -gt $((8 * 4 << 20)) ]
[ "$(copied "with the binding")" -lt 10000 ]
