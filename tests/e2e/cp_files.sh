#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Single files in and out: sizes around every limit, names, modes, streams.
. "$(dirname "$0")/tools.lib"

start_server
umask 022

# sizes, in both directions
for n in 0 1 3 4 2047 2048 2049 4095 4096 4097 65535 1048575 1048576 1048577 20971520; do
	random "f$n" $n
	run 0 cp "f$n" "$URL/in$n" && same "f$n" "$EXP/in$n"
	run 0 cp "$URL/in$n" "out$n" && same "f$n" "out$n"
done
no_leftovers "$EXP" .

# a slow road: many small operations, one in flight
run 0 cp --in-flight 1 --size 4096 f1048577 "$URL/slow" && same f1048577 "$EXP/slow"
run 0 cp --in-flight 32 --size 8192 "$URL/slow" slow && same f1048577 slow

# into a directory, several, over existing files, from server to server
mkdir "$EXP/d" d
run 0 cp f3 f4095 "$URL/d" && same f3 "$EXP/d/f3" && same f4095 "$EXP/d/f4095"
run 0 cp "$URL/d/f3" "$URL/d/f4095" d/ && same f3 d/f3 && same f4095 d/f4095
run 0 cp f4096 "$URL/d/f3" && same f4096 "$EXP/d/f3"
run 0 cp "$URL/in1048577" "$URL/d/copy" && same f1048577 "$EXP/d/copy"
run 0 cp "$URL/in3" "nfs://$HOST/e/d/a%20b%25" && same f3 "$EXP/d/a b%"
ln -s copy "$EXP/d/sym"
run 0 cp "$URL/d/sym" followed && same f1048577 followed
ln -s d/f4095 dlink
run 0 cp "$URL/in1" dlink && same f1 d/f4095
[ -L dlink ] || fail "a destination that is a link was replaced"

# modes and times
chmod 751 f3; chmod 444 f4; touch -d '2001-02-03 04:05:06.789' f3
run 0 cp f3 "$URL/mode" && [ "$(stat -c %a "$EXP/mode")" = 751 ] || fail "mode $(stat -c %a "$EXP/mode")"
run 0 cp f4 "$URL/ro" && [ "$(stat -c %a "$EXP/ro")" = 444 ] || fail "mode of a read-only file"
run 0 cp "$URL/ro" ro && [ "$(stat -c %a ro)" = 444 ] || fail "mode of a read-only file, out"
run 0 cp -p f3 "$URL/times"
[ "$(stat -c %.9Y "$EXP/times")" = "$(stat -c %.9Y f3)" ] || fail "mtime in"
run 0 cp -p "$URL/times" times
[ "$(stat -c '%a %.9Y' times)" = "$(stat -c '%a %.9Y' f3)" ] || fail "mtime out"
(umask 077 && "$RPCRDMA" cp f3 "$URL/masked")
[ "$(stat -c %a "$EXP/masked")" = 700 ] || fail "umask in"

# standard streams and devices
"$RPCRDMA" cp - "$URL/stream" <f20971520 || fail "cp from a file as standard input"
same f20971520 "$EXP/stream"
cat f20971520 f20971520 f1 | "$RPCRDMA" cp - "$URL/piped" || fail "cp from a pipe"
cat f20971520 f20971520 f1 | cmp -s - "$EXP/piped" || fail "a pipe's contents"
printf '' | "$RPCRDMA" cp - "$URL/empty" || fail "cp of an empty pipe"
[ -f "$EXP/empty" ] && [ ! -s "$EXP/empty" ] || fail "an empty pipe's contents"
"$RPCRDMA" cp "$URL/in20971520" - >streamed || fail "cp to standard output"
same f20971520 streamed
"$RPCRDMA" cp "$URL/in20971520" - | cmp -s - f20971520 || fail "cp to a pipe"
run 0 cp "$URL/in20971520" /dev/null
[ -c /dev/null ] || fail "/dev/null was replaced"
run 0 cp /proc/self/status "$URL/proc" && [ -s "$EXP/proc" ] || fail "a file without a size"

# what is refused, and leaves no trace
run 1 cp nothing "$URL/x" && says err "No such file"
run 1 cp "$URL/nothing" x && says err "No such file"
run 1 cp "$URL/in1" nowhere/x && says err "No such file"
run 1 cp f1 "$URL/nowhere/x" && says err "No such file"
run 1 cp "$URL/d" x && says err "-r"
run 1 cp d "$URL/x" && says err "-r"
run 1 cp f1 f3 "$URL/in1" && says err "Not a directory"
run 1 cp f1 nothing f4 "$URL/d" && says err "2 copied, 1 not copied"
[ -f "$EXP/d/f4" ] || fail "the others were not copied"
mkdir "$EXP/d/f2048"
run 1 cp f2048 "$URL/d"
[ ! -e x ] && [ ! -e "$EXP/x" ] || fail "a refused destination exists"
no_leftovers "$EXP" .

# counters
run 0 cp --stats s.json --json f1048577 "$URL/st" && says out '"bytes":1048577'
says s.json '"files":1'
says s.json '"bytes":1048577'
stop_server
done_testing
