#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copies over several connections are identical, use as many connections as asked for,
# and say so when the server does not keep them open.
. "$(dirname "$0")/tools.lib"

# The connections that the stopped server has accepted.
connections() {
	jq .transport.connections "$T/server.json"
}

random src 20000000
mkdir -p tree/a/b tree/c
for i in 1 2 3 4 5 6 7 8 9; do random "tree/a/$i" $((i * 70000)); random "tree/a/b/$i" "$i"; done
ln -s ../a/1 tree/c/link

start_server 0 --stats-on-exit "$T/server.json"
run 0 cp --connections 4 --size 64k src "$URL/in"
same src "$EXP/in"
run 0 cp --connections 4 "$URL/in" back
same src back
run 0 cat --connections 4 "$URL/in"
same src out
run 0 cp -a --connections 4 tree "$URL/tree"
diff -r --no-dereference tree "$EXP/tree" || fail "the tree that went in differs"
run 0 cp -a --connections 4 "$URL/tree" tree.back
diff -r --no-dereference tree tree.back || fail "the tree that came back differs"
head -c 3000000 src | run 0 cp --connections 4 - "$URL/piped"
cmp -s <(head -c 3000000 src) "$EXP/piped" || fail "the copy of a pipe differs"
no_leftovers . "$EXP"
run 0 ls "$URL"
stop_server
[ "$(connections)" -eq 25 ] || fail "$(connections) connections instead of 25"

# from one server to itself under two exports, and without any connection to spare
start_server 0 --connections 4
run 0 cp --connections 4 "$URL/in" "$URL/in2"
same src "$EXP/in2"
stop_server

# too many for the server, with each of its limits
for limit in --connections --max-per-address; do
	start_server 0 $limit 3
	run 1 cp --connections 4 src "$URL/refused"
	says err "the server does not keep 4 connections open"
	[ "$(wc -l <err)" -le 2 ] || fail "$limit: more than two lines of messages: $(cat err)"
	[ ! -e "$EXP/refused" ] || fail "$limit: copied all the same"
	run 1 cat --connections 4 "$URL/in"
	says err "the server does not keep 4 connections open"
	run 0 cp --connections 3 src "$URL/accepted"
	same src "$EXP/accepted"
	stop_server
done

run 2 cp --connections 17 src nfs://127.0.0.1:1/e
run 2 cp --connections 0 src nfs://127.0.0.1:1/e
done_testing
