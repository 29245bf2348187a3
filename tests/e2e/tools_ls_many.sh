#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A directory of 20,000 entries is listed whole, sorted and unsorted.
. "$(dirname "$0")/tools.lib"

start_server
mkdir "$EXP/many"
(cd "$EXP/many" && seq -f 'entry-%06g' 1 20000 | xargs touch)
printf 'x' >"$EXP/many/.hidden"
(cd "$EXP/many" && find . -mindepth 1 -not -name '.*' -printf '%f\n' | LC_ALL=C sort) >want

run 0 ls "$URL/many" && same out want
run 0 ls -U "$URL/many" && LC_ALL=C sort out >sorted && same sorted want
run 0 ls -l "$URL/many"
[ "$(wc -l <out)" -eq 20000 ] || fail "ls -l: $(wc -l <out) lines"
run 0 ls -a "$URL/many"
[ "$(wc -l <out)" -eq 20001 ] || fail "ls -a: $(wc -l <out) lines"
stop_server
done_testing
