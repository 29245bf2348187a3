#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A server that is connected and says nothing: the tools end in time, and say why.  The
# server is stopped by SIGSTOP in the middle of a copy, so its kernel keeps the connection.
. "$(dirname "$0")/tools.lib"

start_server 0
mkfifo in
"$RPCRDMA" cp --timeout 2 - "$URL/copy" <in >out 2>err &
pid=$!
exec 9>in
head -c 3000000 /dev/zero >&9
sent() { [ "$(find "$EXP" -type f -size +1000k | wc -l)" -gt 0 ]; }
until_true 30 sent || fail "nothing is copied"
kill -STOP "$SERVER"
_start=$(date +%s)
{ head -c 3000000 /dev/zero >&9; } 2>/dev/null &
writer=$!
exec 9>&-
until_true 40 eval "! kill -0 $pid 2>/dev/null" || fail "it waits for ever"
[ $(($(date +%s) - _start)) -ge 2 ] || fail "it did not wait for the server"
kill -0 $pid 2>/dev/null && kill -KILL $pid
wait $pid && fail "cp succeeded"
grep -q "connected, but no answer within the time limit (--timeout)" err || fail "it says: $(cat err)"
kill -KILL $writer 2>/dev/null
kill -CONT "$SERVER"

# A server that answers is not given up, however long all of it takes.
(for i in 1 2 3 4 5; do head -c 100000 /dev/zero; sleep 0.5; done) |
	"$RPCRDMA" cp --timeout 1 - "$URL/slow" >out 2>err || fail "it gave up: $(cat err)"
[ "$(stat -c %s "$EXP/slow")" = 500000 ] || fail "not all was copied"
stop_server
done_testing
