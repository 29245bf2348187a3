#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A full disk, on either side.
. "$(dirname "$0")/tools.lib"

mkdir small
mount -t tmpfs -o size=4m tmpfs small 2>/dev/null || skip "tmpfs cannot be mounted here"
unmount() { umount "$T/small" 2>/dev/null; finish; }
trap unmount EXIT

random src 8388608
real=$EXP
EXP=$T/small
start_server
run 1 cp src "$URL/in" && says err "No space"
[ ! -e small/in ] || fail "in: a destination exists"
no_leftovers small
random fits 100000
run 0 cp fits "$URL/fits" && same fits small/fits
cat src | "$RPCRDMA" cp - "$URL/piped" 2>err && fail "a pipe into a full disk"
no_leftovers small
stop_server

EXP=$real
cp src "$EXP/src"
start_server
run 1 cp "$URL/src" small/out && says err "No space"
[ ! -e small/out ] || fail "out: a destination exists"
no_leftovers small
"$RPCRDMA" cat "$URL/src" >/dev/full 2>err && fail "cat to a full device"
stop_server
done_testing
