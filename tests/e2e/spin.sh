#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --spin: the times that are refused, and that ends that poll serve and copy as others do.
. "$(dirname "$0")/tools.lib"

for usec in 0 100001 1s -1 ''; do
	run 2 ping --spin=$usec 127.0.0.1
	grep -qF -- "--spin: '$usec' is not a number from 1 to 100000" err ||
		fail "--spin=$usec: $(cat err)"
done

mkdir "$EXP/tree"
head -c 3000000 /dev/urandom >"$EXP/tree/long"
echo short >"$EXP/tree/short"
start_server 0 --spin=20
run 0 ping --spin -q -c 2 "$HOST"
run 0 cp -r --spin "$URL/tree" "$T/tree"
diff -r "$EXP/tree" "$T/tree" || fail 'the copy differs'
stop_server
done_testing
