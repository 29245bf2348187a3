#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The server is killed in mid-copy and comes back on the same port: the copy
# ends well, with the right octets.
. "$(dirname "$0")/tools.lib"

start_server
random src 41943041

# A temporary of at least $2 octets is in directory $1.
underway() {
	for f in "$1"/.*.rpcrdma-*; do
		[ -f "$f" ] && [ "$(stat -c %s "$f")" -ge "$2" ] && return 0
	done
	return 1
}

# restart DIR: kills the server once the copy into DIR is under way.
restart() {
	until_true 30 underway "$1" 4000000 || fail "the copy does not get going"
	kill_server
	start_server "$PORT"
}

slowly="--in-flight 1 --size 4096" # not done before it is seen

"$RPCRDMA" cp $slowly src "$URL/in" 2>err &
pid=$!
restart "$EXP"
wait $pid || { fail "cp in: $?"; cat err; }
same src "$EXP/in"

"$RPCRDMA" cp $slowly "$URL/in" out 2>err &
pid=$!
restart .
wait $pid || { fail "cp out: $?"; cat err; }
same src out

# what came through a pipe cannot be read again
cat src | "$RPCRDMA" cp $slowly - "$URL/piped" 2>err &
pid=$!
restart "$EXP"
wait $pid || { fail "cp of a pipe: $?"; cat err; }
same src "$EXP/piped"

# a tree: creations and renames in flight
mkdir tree
for i in $(seq 600); do echo "file $i" >"tree/$i"; done
"$RPCRDMA" cp -r tree "$URL/tree" 2>err &
pid=$!
begun() { [ "$(ls "$EXP/tree" 2>/dev/null | wc -l)" -ge 50 ]; }
until_true 30 begun || fail "the tree does not get going"
kill_server
start_server "$PORT"
wait $pid || { fail "cp of a tree: $?"; cat err; }
diff -r tree "$EXP/tree" || fail "the trees differ"
no_leftovers "$EXP" .
stop_server
done_testing
