#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A server that was told no address is reached by IPv4 and by IPv6.
. "$(dirname "$0")/tools.lib"

"$RPCRDMA" nfsd --export "$EXP:/e" --listen :0 --state-dir "$T/state" \
	>"$T/server.out" 2>"$T/server.err" &
SERVER=$!
until_true 20 listening || { echo "the server did not start"; exit 1; }
PORT=$(sed -n 's/^listening .*:\([0-9]*\) .*/\1/p' "$T/server.out")
run 0 ping -c 1 "127.0.0.1:$PORT"
if grep -q '^listening \[::\]:' "$T/server.out" && [ -e /proc/net/if_inet6 ] &&
	grep -q ' lo$' /proc/net/if_inet6; then
	run 0 ping -c 1 "[::1]:$PORT"
else
	echo "no IPv6 here: that half was not tried"
fi
stop_server
done_testing
