#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copies that cannot end well: the server goes for good, signals come, the
# source vanishes.  No destination may look complete.
. "$(dirname "$0")/tools.lib"

start_server
random src 41943041
cp src "$EXP/src"
slowly="--in-flight 1 --size 4096" # not done before it is seen

underway() {
	for f in "$1"/.*.rpcrdma-*; do
		[ -f "$f" ] && [ "$(stat -c %s "$f")" -ge "$2" ] && return 0
	done
	return 1
}

# SIGINT and SIGTERM: the temporary is removed, the process ends by the signal
for sig in INT TERM; do
	set -m # otherwise what runs in the background ignores SIGINT
	"$RPCRDMA" cp $slowly src "$URL/in" 2>err &
	pid=$!
	until_true 30 underway "$EXP" 1000000 || fail "the copy does not get going"
	kill -$sig $pid
	wait $pid
	[ $? -gt 128 ] || fail "SIG$sig: exit code $?"
	[ ! -e "$EXP/in" ] || fail "SIG$sig: a destination exists"
	no_leftovers "$EXP"
	"$RPCRDMA" cp $slowly "$URL/src" out 2>err &
	pid=$!
	until_true 30 underway . 1000000 || fail "the copy does not get going"
	kill -$sig $pid
	wait $pid
	set +m
	[ ! -e out ] || fail "SIG$sig: a destination exists"
	no_leftovers .
done

# a source that changes while it is read
"$RPCRDMA" cp $slowly src "$URL/changing" 2>err &
pid=$!
while kill -0 $pid 2>/dev/null; do
	touch src
	echo x >>src
done
wait $pid
code=$?
[ $code -eq 1 ] || fail "a changing source: exit code $code"
says err "changed while"
[ ! -e "$EXP/changing" ] || fail "a changing source was copied"
no_leftovers "$EXP"

# the server is gone for good: failure after --retry, and nothing that looks whole
for dir in "$EXP" .; do
	if [ "$dir" = . ]; then
		"$RPCRDMA" cp $slowly --retry 1 "$URL/src" out 2>err &
	else
		"$RPCRDMA" cp $slowly --retry 1 src "$URL/in" 2>err &
	fi
	pid=$!
	until_true 30 underway "$dir" 1000000 || fail "the copy does not get going"
	kill_server
	begin=$(date +%s)
	wait $pid
	code=$?
	[ $code -eq 1 ] || fail "the server is gone: exit code $code"
	[ $(($(date +%s) - begin)) -le 15 ] || fail "it took $(($(date +%s) - begin)) s"
	says err "reached again"
	[ ! -e "$EXP/in" ] && [ ! -e out ] || fail "the server is gone: a destination exists"
	rm -f "$EXP"/.*.rpcrdma-*
	no_leftovers .
	start_server
done

# a tree whose server is gone fails once, not once a file
mkdir tree
for i in $(seq 1500); do echo "$i" >"tree/$i"; done
"$RPCRDMA" cp -r --retry 1 tree "$URL/tree" 2>err &
pid=$!
begun() { [ "$(ls "$EXP/tree" 2>/dev/null | wc -l)" -ge 50 ]; }
until_true 30 begun || fail "the tree does not get going"
kill_server
begin=$(date +%s)
wait $pid && fail "a tree without its server: success"
[ $(($(date +%s) - begin)) -le 20 ] || fail "it took $(($(date +%s) - begin)) s"
done_testing
