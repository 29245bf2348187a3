#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --features: the lists that are refused, and that the ends offer what was chosen: a
# connection has the features that both ends offer, and none in version 1.  Copies of a tree
# with each of them, and with all, arrive without the loss of a connection.
. "$(dirname "$0")/tools.lib"

# refuses TEXT ARGUMENT...: exits with 2, and prints this on standard error.
refuses() {
	_text=$1
	shift
	run 2 "$@"
	grep -qF -- "$_text" err || {
		fail "$*: does not print '$_text':"
		cat err
	}
}

refuses '--features: there is no feature "foo"; there are rprc, reminv, rtr, htfam' \
	ping --features rprc,foo 127.0.0.1
refuses '--features: feature "reminv" has no policy "best"; it has largest, none,' \
	ls --features reminv=best nfs://127.0.0.1/e
refuses '--features: option "rprc-lifetime" of the features is 0 or a number from 1000' \
	nfsd --export "$EXP:/e" --features rprc,rprc-lifetime=1
refuses '--features: there is an option of feature "rprc", which is off' \
	cp --features rtr,rprc-pending=3 a b

refuses 'rtr-item, rtr-wait' ping --features all,foo=1 127.0.0.1 # all names fit

# shows TEXT JSON SERVER'S CLIENT'S [OPTION...]: what ping prints of the features.
shows() {
	_text=$1 _json=$2 _ends="$3 $4"
	start_server 0 -v --features "$3"
	shift 3
	run 0 ping -v -q -c 1 --features "$@" "$HOST"
	[ "$(grep -o ', features [a-z ]*' out)" = "$_text" ] || fail "$_ends: $(cat out)"
	run 0 ping --json -q -c 1 --features "$@" "$HOST"
	grep -qF "\"features\":[$_json]" out || fail "$_ends: $(cat out)"
	stop_server
	[ "$(grep -o ', features [a-z ]*' server.err | sort -u)" = "$_text" ] ||
		fail "$_ends: the server prints $(cat server.err)"
	: >server.err
}

# the default
start_server 0
run 0 ping -v -q -c 1 "$HOST"
[ "$(grep -o ', features [a-z ]*' out)" = ", features rprc reminv rtr" ] || fail "the default: $(cat out)"
run 0 ping -v -q -c 1 --rpcrdma-version 1 "$HOST"
! grep -q ', features' out || fail "version 1: $(cat out)"
stop_server

shows "" "" none none
shows "" "" none all
shows "" "" all none
shows "" "" all all --rpcrdma-version 1
shows ", features rprc" '"rprc"' rprc all
shows ", features rprc reminv" '"rprc","reminv"' reminv=first,rprc rprc,reminv
shows ", features rprc" '"rprc"' all rprc,rprc-lifetime=2000
shows ", features rprc reminv rtr htfam" '"rprc","reminv","rtr","htfam"' all default,htfam

# A directory whose listing is long, and a file of many messages.
mkdir -p "$EXP/tree/names"
for i in $(seq 500); do : >"$EXP/tree/names/a_name_that_makes_the_listing_long_$i"; done
random "$EXP/tree/file" 3000001
for list in rprc reminv rtr rtr,rtr-segments=4 htfam all all,rprc-sends=1; do
	start_server 0 --features $list --stats-on-exit "$T/server.json"
	run 0 cp -r --features $list "$URL/tree" "$T/$list" --stats "$T/client.json"
	diff -r "$EXP/tree" "$T/$list" || fail "$list: the copies differ"
	stop_server
	for end in server client; do
		grep -q '"connections_lost":0' "$T/$end.json" || fail "$list: $end: a connection was lost"
	done
	case $list in
	*rprc*|all)
		grep -q '"rprc_exposed":[1-9]' "$T/server.json" || fail "$list: no reply was exposed"
		grep -q '"bytes_reply_pulled":[1-9]' "$T/client.json" || fail "$list: no reply was read"
		;;
	*)
		grep -q '"rprc_exposed":0' "$T/server.json" || fail "$list: a reply was exposed"
		;;
	esac
done
done_testing
