#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Holes stay holes.  SPARSE_MIB is the size, 320 by default.
. "$(dirname "$0")/tools.lib"

mib=${SPARSE_MIB:-320}
start_server
truncate -s "${mib}M" sparse
for at in 0 $((mib / 3)) $((mib - 1)); do
	head -c 100000 /dev/urandom | dd of=sparse bs=1M seek="$at" conv=notrunc status=none
done
truncate -s $((mib * 1048576 + 12345)) sparse
[ "$(stat -c %b sparse)" -lt 2000 ] || skip "no holes on this file system"

# check FILE
check() {
	[ "$(stat -c %s "$1")" = "$(stat -c %s sparse)" ] || fail "$1: size"
	[ "$(stat -c %b "$1")" -lt 4000 ] || fail "$1: $(stat -c %b "$1") blocks"
	same sparse "$1"
}
run 0 cp sparse "$URL/in" && check "$EXP/in"
run 0 cp "$URL/in" fetched && check fetched
run 0 cp "$URL/in" "$URL/twin" && check "$EXP/twin"

# nothing but a hole; no hole at all, zeros though
truncate -s 10M hole
run 0 cp hole "$URL/hole" && same hole "$EXP/hole"
run 0 cp "$URL/hole" hole2 && same hole hole2
head -c 3000000 /dev/zero >zeros
run 0 cp zeros "$URL/zeros" && same zeros "$EXP/zeros"
run 0 cp "$URL/zeros" zeros2 && same zeros zeros2
stop_server
done_testing
