#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma nfsd --pid-file: it has the server's number while it serves, and is gone after.
. "$(dirname "$0")/tools.lib"

umask 022
start_server 0 --pid-file pid
[ "$(cat pid)" = "$SERVER" ] || fail "'$(cat pid)' is not $SERVER"
[ "$(stat -c %a pid)" = 644 ] || fail "its mode is $(stat -c %a pid)"
# A second server that cannot listen does not take it away.
run 1 nfsd --export "$EXP:/e" --listen "$HOST" --state-dir state --pid-file pid
[ "$(cat pid)" = "$SERVER" ] || fail "the other server took the file"
stop_server
[ ! -e pid ] || fail "it is left"

# What a killed server left is replaced.
start_server 0 --pid-file pid
kill_server
[ -e pid ] || fail "a killed server removed its file"
start_server 0 --pid-file pid
[ "$(cat pid)" = "$SERVER" ] || fail "the old number stayed"
stop_server
[ ! -e pid ] || fail "it is left"

run 1 nfsd --export "$EXP:/e" --listen 127.0.0.1:0 --state-dir state --pid-file none/pid
says err "--pid-file: cannot write 'none/pid': No such file or directory"
run 1 nfsd --export "$EXP:/e" --listen 127.0.0.1:0 --state-dir state --pid-file /dev/full
says err "--pid-file: cannot write '/dev/full'"

done_testing
