#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma nfsd with four engines: many clients at once, exports loaded again meanwhile, the
# limit on connections over all engines, counters that are sums, an orderly end.
. "$(dirname "$0")/tools.lib"

count() { # FIELD
	jq ".$1" "$T/server.json"
}

random src 3000000
mkdir -p tree/a/b
for i in 1 2 3 4 5 6 7 8 9; do random "tree/a/$i" $((i * 7000)); random "tree/a/b/$i" "$i"; done

# eight clients: files and directories made, listed, read, removed at the same time
one_client() { # NUMBER
	"$RPCRDMA" cp --connections 2 src "$URL/file$1" &&
	"$RPCRDMA" cp -a tree "$URL/tree$1" &&
	"$RPCRDMA" ls -l "$URL/tree$1/a" >"ls$1" &&
	"$RPCRDMA" cp "$URL/file$1" "back$1" && cmp src "back$1" &&
	"$RPCRDMA" mv "$URL/file$1" "$URL/moved$1" &&
	"$RPCRDMA" cp -a "$URL/tree$1" "tree.back$1" && diff -r tree "tree.back$1" &&
	"$RPCRDMA" rm "$URL/moved$1" && : >"done$1"
}
start_server 0 --engines 4 --stats-on-exit "$T/server.json"
clients=
for i in 1 2 3 4 5 6 7 8; do one_client $i & clients="$clients $!"; done
# shellcheck disable=SC2086
wait $clients
for i in 1 2 3 4 5 6 7 8; do
	[ -e "done$i" ] || fail "client $i"
	diff -r tree "$EXP/tree$i" || fail "the tree of client $i differs"
	[ ! -e "$EXP/moved$i" ] || fail "client $i removed nothing"
done
stop_server
# One client has 8 commands; the first and those of trees have two or four connections.
[ "$(count transport.connections)" -ge 64 ] || fail "$(count transport.connections) connections"
[ "$(count transport.connections_lost)" -eq 0 ] || fail "connections were lost"
[ "$(count nfs.RENAME.calls)" -ge 8 ] || fail "$(count nfs.RENAME.calls) renamed"

# SIGHUP while clients are served
rm -rf "$EXP"/*
printf '%s:/e 127.0.0.1(rw,no_root_squash)\n' "$EXP" >exports
: >server.out
"$RPCRDMA" nfsd --exports exports --engines 3 --listen 127.0.0.1:0 --state-dir state >server.out 2>server.err &
SERVER=$!
until_true 20 listening || { echo "the server did not start"; exit 1; }
URL=nfs://127.0.0.1:$(sed -n 's/^listening .*:\([0-9]*\) .*/\1/p' server.out)/e
rm -rf done* back* tree.back*
clients=
for i in 1 2 3 4; do one_client $i & clients="$clients $!"; done
for i in 1 2 3 4 5; do kill -HUP "$SERVER"; sleep 0.05; done
# shellcheck disable=SC2086
wait $clients
for i in 1 2 3 4; do [ -e "done$i" ] || fail "client $i while exports were loaded"; done
stop_server

# No more connections than two: each command'''s replace those of the one before.
start_server 0 --engines 4 --connections 2 --stats-on-exit "$T/server.json"
for i in 1 2 3 4 5 6; do run 0 ls "$URL"; done
stop_server
[ "$(count transport.connections_lost)" -eq 0 ] || fail "connections were lost"

run 2 nfsd --export "$EXP:/e" --engines 0 --listen 127.0.0.1:0
run 2 nfsd --export "$EXP:/e" --engines 9 --listen 127.0.0.1:0
done_testing
