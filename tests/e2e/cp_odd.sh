#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Sources that are odd in part: the rest is copied, and what is not is told.
. "$(dirname "$0")/tools.lib"

start_server

# times that the wire cannot say: the nearest that it can
echo old >old && touch -d '1960-01-01 00:00:00Z' old
echo new >new && touch -d '2200-01-01 00:00:00Z' new
run 0 cp -p old new "$URL/"
[ "$(stat -c %Y "$EXP/old")" = 0 ] || fail "1960 became $(stat -c %y "$EXP/old")"
[ "$(stat -c %Y new)" -lt 4294967295 ] || [ "$(stat -c %Y "$EXP/new")" = 4294967295 ] ||
	fail "2200 became $(stat -c %y "$EXP/new")"

# cut off while it is read: what came is not taken for the whole
truncate -s 64M "$EXP/big"
for command in "cp -q $URL/big -" "cat $URL/big"; do
	truncate -s 64M "$EXP/big"
	{ "$RPCRDMA" $command 2>err; echo $? >code; } |
		{ head -c 1000 >/dev/null; truncate -s 1M "$EXP/big"; cat >/dev/null; }
	[ "$(cat code)" = 1 ] || fail "$command: exit code $(cat code)"
	says err "truncated while it was read"
done

# entries that its user may not read, among others
stop_server
start_server 0 --all-squash
mkdir "$EXP/tree" "$EXP/tree/m"
for i in a b k y z; do echo $i >"$EXP/tree/$i"; done
chmod 0 "$EXP/tree/k" "$EXP/tree/m"
run 1 cp -r "$URL/tree" tree
says err tree/k
says err tree/m
run 1 ls -R "$URL/tree"
says err tree/m
for i in a b y z; do
	same "$EXP/tree/$i" "tree/$i"
	grep -qx $i out || fail "$i is not listed"
done
[ ! -e tree/k ] || fail "k was copied"
chmod 700 "$EXP/tree/m"
no_leftovers "$EXP" .
stop_server
done_testing
