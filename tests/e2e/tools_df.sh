#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# df says what df(1) says of the server's file system.
. "$(dirname "$0")/tools.lib"
start_server
mkdir "$EXP/d"; touch "$EXP/f"
run 0 df "$URL" "$URL/d" "$URL/f" && [ "$(wc -l <out)" = 4 ] && says out "1K-blocks" || fail "df: $(cat out)"
total=$(df -k --output=size "$EXP" | tail -1)
[ "$(awk 'NR == 2 { print $1 }' out)" = "$((total))" ] || fail "total: $(cat out), df $total"
files=$(df --output=itotal "$EXP" | tail -1)
run 0 df -i "$URL" && [ "$(awk 'NR == 2 { print $1 }' out)" = "$((files))" ] || fail "-i: $(cat out)"
run 0 df -h "$URL" && [ "$(awk 'NR == 2 { print $1 }' out)" = "$(df -h --output=size "$EXP" | tail -1 | tr -d ' ')" ] ||
	fail "-h: $(cat out)"
awk 'NR == 2 { print $4 }' out | grep -qE '^[0-9]+%$' || fail "no percentage: $(cat out)"
run 0 df --json "$URL" && says out "\"total_bytes\":$(df -B1 --output=size "$EXP" | tail -1 | tr -d ' '),"
run 1 df "$URL/no" "$URL" && says err "cannot access '$URL/no': No such file or directory" && says out "$URL"
run 1 df "$URL/f/" && says err "Not a directory"
run 2 df && run 2 df /srv && run 2 df "nfs://$HOST"
stop_server
done_testing
