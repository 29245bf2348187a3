#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What goes to which stream, and what becomes of a stream that nobody reads or that is
# full.
. "$(dirname "$0")/tools.lib"

# to_nobody ARGUMENT...: the command with a pipe that has no reader; codes, err
to_nobody() {
	rm -f left
	{
		until_true 20 test -e left
		env --default-signal=PIPE "$RPCRDMA" "$@" 2>"$T/err"
		echo $? >code
	} | { exec <&-; touch left; }
	[ ! -s err ] || { fail "$*: it complains of a reader who left:"; cat err; }
	[ "$(cat code)" = 141 ] || fail "$*: exit code $(cat code), not that of SIGPIPE"
}

start_server
random "$EXP/file" 300000
mkdir "$EXP/many"
(cd "$EXP/many" && seq -f 'a-name-that-is-not-short-%g' 3000 | xargs touch)

for command in "ls $URL" "ls $URL/many" "ls -U $URL/many" "ls --json $URL/many" "stat $URL/file" \
	"cat $URL/file" "cat $URL/file $URL/file" "cp $URL/file -" "--help" "cp --help" "ping -c 1 $HOST"; do
	to_nobody $command
done
# whoever ignores SIGPIPE reads of it, and gets an exit code
{
	rm -f left
	until_true 20 test -e left
	(trap '' PIPE; exec "$RPCRDMA" ls "$URL" 2>err)
	echo $? >code
} | { exec <&-; touch left; }
[ "$(cat code)" = 1 ] && says err "standard output: Broken pipe"

# the destination is blamed, not the source
for command in "cat $URL/file" "cp $URL/file -" "ls $URL/many" "stat $URL/file"; do
	"$RPCRDMA" $command >/dev/full 2>err
	[ $? = 1 ] || fail "$command: /dev/full"
	[ "$(cat err)" = "rpcrdma ${command%% *}: standard output: No space left on device" ] ||
		{ fail "$command: /dev/full"; cat err; }
done
run 1 cp "$URL/file" /dev/full && says err "cp: /dev/full: No space left on device"

# data and results do not mix
run 0 cp --json "$URL/file" - && same out "$EXP/file" && says err '"files":1'
run 0 cp --json "$URL/file" copy && says out '"files":1'

# progress where nobody looks is for those who ask
talks() { (echo 1; sleep 2.5; echo 2) | "$RPCRDMA" cp "$@" - "$URL/slow" 2>err; }
talks || fail "cp from a pipe"
[ ! -s err ] || { fail "it talks to no terminal"; cat err; }
talks --progress || fail "cp --progress from a pipe"
says err "B/s"
talks --progress -q && [ ! -s err ] || { fail "-q is not quiet"; cat err; }
# how much is to come is known of a single file
truncate -s 20M "$EXP/big"
"$RPCRDMA" cp --progress "$URL/big" - 2>err | { sleep 2.5; cat >/dev/null; }
says err "of 20.0 MiB, "

# a file is no directory, whatever follows it
for p in file/. file/./. file/; do
	run 1 cp "$URL/$p" . && says err "Not a directory"
	run 1 cp -r "$URL/$p" . && says err "Not a directory"
	run 1 cp copy "$URL/$p" && says err "Not a directory"
	run 1 stat "$URL/$p" && says err "Not a directory"
	run 1 ls "$URL/file/./" && says err "Not a directory"
done
[ ! -e "(null)" ] || fail "(null) exists"
run 0 stat "$URL/many/." && says out directory
stop_server
done_testing
