#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the server tells of itself: clients that come and go with -v, who they proved
# to be, why they ended; where it listens as JSON.  Without -v it is silent.
. "$(dirname "$0")/tools.lib"

(umask 077
	echo 'site:00112233445566778899aabbccddeeff' >psk
	echo 'site:ff112233445566778899aabbccddeeff' >psk2)

# told COUNT TEXT: so many lines of the server have the text.
told() {
	[ "$(grep -c -- "$2" server.err)" -eq "$1" ]
}
tells() {
	until_true 20 told "$1" "$2" || { fail "not $1 lines with '$2':"; cat server.err; }
}
CLIENT='^rpcrdma nfsd: client 127\.0\.0\.1:[0-9]*'

# in order, in both versions
start_server 0 -v
run 0 ping -c 1 "$HOST"
tells 1 "$CLIENT connected: iwarp, version 2, features rprc reminv rtr\$"
tells 1 "$CLIENT left\$"
run 0 ping -c 1 --rpcrdma-version 1 "$HOST"
tells 1 "$CLIENT connected: iwarp, version 1\$"
tells 2 "$CLIENT left\$"

# killed: its system closes the connection, or resets it if a reply was not read
"$RPCRDMA" ping -i 0.1 "$HOST" >out 2>&1 &
pinger=$!
tells 2 'version 2, features rprc reminv rtr$'
kill -KILL $pinger
tells 3 "$CLIENT \(left\|ended: .*reset by peer\)\$"
stop_server
told 3 connected || fail "something connected besides"

# known, and refused
: >server.err
start_server 0 -v --hostauth require --psk psk
run 0 ping -c 1 --hostauth require --psk psk "$HOST"
tells 1 "$CLIENT connected: iwarp, version 2, features rprc reminv rtr, is psk:site\$"
run 1 ping -c 1 --hostauth require --psk psk2 "$HOST"
tells 1 "$CLIENT ended: TLS handshake"
run 1 ping -c 1 --timeout 3 "$HOST"
until_true 20 grep -q "$CLIENT ended: .*does not authenticate" server.err ||
	fail "nothing is said of a client that proved nothing"
told 1 connected || fail "one who proved nothing connected"
stop_server

# more than may come: the one that is idle makes room
: >server.err
start_server 0 -v --connections 1
"$RPCRDMA" ping -i 60 "$HOST" >out 2>&1 &
pinger=$!
tells 1 connected
run 0 ping -c 1 "$HOST"
tells 1 "$CLIENT ended: closed to make room: it was idle\$"
kill -TERM $pinger
wait $pinger
stop_server

# silent, and as JSON
: >server.err
start_server 0
run 0 ping -c 1 "$HOST"
stop_server
told 0 client || fail "clients are told of without -v"
"$RPCRDMA" nfsd --json --export "$EXP:/e" --listen 127.0.0.1:0 --mount-port 0 \
	--state-dir "$T/state" >server.out 2>>server.err &
SERVER=$!
until_true 20 grep -q '"mountd"' server.out || fail "no line for MOUNT"
one='"127\.0\.0\.1:[1-9][0-9]*"'
grep -qx "{\"listening\":$one,\"provider\":\"iwarp\",\"rpcrdma_version\":2}" server.out &&
	grep -qx "{\"mountd\":$one,\"provider\":\"tcp\"}" server.out ||
	{ fail "not the objects expected:"; cat server.out; }
stop_server
done_testing
