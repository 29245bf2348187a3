#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The client needs no 64 MiB, whatever is copied, and the server none for one file.
. "$(dirname "$0")/tools.lib"

sanitized && skip "sanitizers need memory of their own"
start_server
limit=65536

# peak PID: in KiB
peak() {
	sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$1/status" 2>/dev/null
}

# watch_peak NAME ARGUMENT...: the highest VmHWM seen until the process ends.
watch_peak() {
	_name=$1
	shift
	"$RPCRDMA" "$@" >/dev/null 2>err &
	_pid=$!
	_most=0
	while kill -0 $_pid 2>/dev/null; do
		_now=$(peak $_pid)
		[ "${_now:-0}" -gt $_most ] && _most=$_now
	done
	wait $_pid || { fail "$_name: $?"; cat err; }
	echo "$_name: $_most KiB, server $(peak "$SERVER") KiB"
	[ $_most -lt $limit ] || fail "$_name: $_most KiB"
}

random big 209715200
watch_peak "a big file in" cp big "$URL/big"
watch_peak "a big file out" cp "$URL/big" out
rm -f out
cat big | "$RPCRDMA" cp - "$URL/piped" || fail "a pipe"
watch_peak "cat" cat "$URL/big"
watch_peak "many small operations" cp --size 4096 --in-flight 64 "$URL/big" out
watch_peak "four connections in" cp --connections 4 --in-flight 64 big "$URL/big"
watch_peak "four connections out" cp --connections 4 --in-flight 64 "$URL/big" out
rm -f out
mkdir parts && split -b 2m big parts/
rm -f big "$EXP/big" "$EXP/piped"
mkdir tree
(cd tree && seq 3000 | xargs touch)
watch_peak "a tree in" cp -r tree "$URL/tree"
(cd "$EXP/tree" && seq 20000 | xargs touch)
watch_peak "a tree out" cp -r "$URL/tree" out
watch_peak "ls" ls -l "$URL/tree"
[ "$(peak "$SERVER")" -lt $limit ] || fail "the server: $(peak "$SERVER") KiB"

# the client alone: many READs of the largest size may take more of the server
watch_peak "large files in" cp -r parts "$URL/parts"
watch_peak "large files out" cp -r "$URL/parts" parts.out
stop_server
done_testing
