#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Host authentication by the command: a shared key at both ends, and everything
# that is refused, each with words that say why.  [V2-5.2.6-01, V2-11.1.1-03]
. "$(dirname "$0")/tools.lib"

(umask 077
	echo 'site:00112233445566778899aabbccddeeff' >psk
	echo 'site:ff112233445566778899aabbccddeeff' >psk2
	echo 'site:0011' >short)
cp psk open && chmod 644 open
PSK="--hostauth require --psk psk"

# usage
run 2 ping --hostauth maybe localhost && says err "not one of off, prefer, require"
run 2 ping --psk psk localhost && says err "need --hostauth"
run 2 ping --key psk localhost && says err "need --hostauth"
run 2 ping --ca psk localhost && says err "need --hostauth"
run 2 ping --cert psk localhost && says err "need --hostauth"
run 2 ping --peer-name me localhost && says err "need --hostauth"
run 2 nfsd --export "$EXP:/e" --hostauth require && says err "needs --cert or --psk"
for policy in prefer require; do # public authorities vouch for anybody
	run 2 nfsd --export "$EXP:/e" --hostauth $policy --cert psk && says err "needs --ca FILE"
done
run 2 nfsd --export "$EXP:/e" --hostauth prefer --psk psk --allow-identity a &&
	says err "needs --hostauth require"
run 2 nfsd --export "$EXP:/e" --hostauth require --psk psk --allow-identity '' &&
	says err "the identity is empty"
run 1 ping --hostauth require --psk absent localhost && says err "absent: No such file"
run 1 ping --hostauth require --psk open localhost && says err "chmod 600"
run 1 ping --hostauth require --psk short localhost && says err "IDENTITY:HEX"
run 1 ping --hostauth require --cert absent.pem localhost && says err "absent.pem"
run 1 ping --hostauth require --psk psk --ca x.pem localhost && says err "not both"

# a server that requires it
random f 3000000
start_server 0 --hostauth require --psk psk
run 0 cp $PSK f "$URL/f" && same f "$EXP/f"
run 0 ping -v $PSK -c 1 "localhost:$PORT" && says out "server is psk:site"
run 0 stat -v $PSK "$URL/f" && says err "server is psk:site"
run 0 ping --json $PSK -c 1 "localhost:$PORT" && says out '"identity":"psk:site"'
run 0 cp --hostauth prefer --psk psk "$URL/f" g && same f g
run 1 cp --hostauth require --psk psk2 f "$URL/h" && says err "TLS handshake"
until_true 20 grep -q "client 127.0.0.1:.* refused: " server.err || fail "nothing was said, without -v"
run 1 cp --timeout 3 f "$URL/h"
run 1 cp --timeout 3 --rpcrdma-version 1 f "$URL/h"
run 1 cp $PSK --rpcrdma-version 1 f "$URL/h"
[ ! -e "$EXP/h" ] || fail "one who proved nothing wrote a file"
stop_server

# a list of those who may come
start_server 0 --hostauth require --psk psk --allow-identity CN=site --allow-identity psk:sit
run 1 cp $PSK f "$URL/h" && says err "we are not on the server's list"
until_true 20 grep -q "refused: .*list" server.err || fail "the list was not named"
stop_server
start_server 0 --hostauth require --psk psk --allow-identity CN=site --allow-identity psk:site
run 0 cp $PSK f "$URL/j" && same f "$EXP/j"
stop_server

# a server without it
start_server 0
run 1 cp $PSK f "$URL/h" && says err "does not authenticate"
run 0 cp --hostauth prefer --psk psk f "$URL/i" && same f "$EXP/i"
[ ! -e "$EXP/h" ] || fail "written in spite of require"
stop_server
done_testing
