#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What MPA agrees on between our software iWARP and siw, row by row: revision, CRC asked
# for by one, both or none, RTR messages, depths of RDMA Reads; and then rping's
# protocol runs on it, where it can (its server has to Read).
#
# out: ours is the initiator.  in: siw is; it asks for depths of one, and for CRC or an
# RTR message only if its constants say so.
. "$(dirname "$0")/guest.sh"
guest_begin

server() { # PARAM=VALUE... of siw
	guest_link siw "$@"
	guest_bg server "exec rping -s -P -a $guest_ip -p 18515"
	guest_until 20 'netstat -ltn | grep -q :18515' || die "the server does not listen"
}

judge() { # ROW EXPECTED FILE: the first line of numbers
	got=$(grep '^ird' "$3" | head -n 1)
	[ "$got" = "$2" ] || fail "$1: '$got' instead of '$2'"
}

# The server closes where it may not Read; where it refuses there is nothing to judge.
initiate() { # OPTIONS RESULT AGREED
	code=0
	"$KERNEL_BIN/pinger" -c -a 127.0.0.1 -p "$(host_port 18515)" -n 2 -C 3 -l 5000 -v -o "$1" \
		>"$T/ping.out" 2>"$T/ping.err" || code=1
	judge "$1" "$3" "$T/ping.out"
	case $2 in
	pings) want="" ;;
	no-read) want="ended after 0 pings: closed by the peer" ;;
	refused) want="the server refused the connection (MPA Reply)" ;;
	esac
	[ $code = 0 ] || [ -n "$want" ] || fail "$1: $(cat "$T/ping.err")"
	[ -z "$want" ] || grep -qF "$want" "$T/ping.err" || fail "$1: not '$want', but $(cat "$T/ping.err")"
}

respond() { # OPTIONS RESULT AGREED
	host_bg server "$KERNEL_BIN/pinger" -s -a 127.0.0.1 -p 0 -v -t 60 -o "$1"
	server_pid=$bg_pid
	until_true 20 grep -q '^listening' "$T/server.out" || die "the server does not listen"
	port=$(sed -n 's/^listening //p' "$T/server.out")
	client=0
	guest -t 60 "rping -c -a $host_ip -p $port -V -C 3 2>&1" >"$T/client.log" || client=$?
	until_true 20 has_ended $server_pid
	code=0
	host_stop $server_pid || code=1
	judge "$1" "$3" "$T/server.out"
	case $2 in
	pings) [ "$client $code" = "0 0" ] || fail "$1: $(cat "$T/client.log" "$T/server.err")" ;;
	refused) [ $client != 0 ] || fail "$1: siw takes it" ;;
	esac
}

case ${VARIANT:?is not set} in
out)
	server
	initiate crc=1 pings "ird 64 ord 64 crc 1 markers 0 enhanced 1"
	initiate crc=0 pings "ird 64 ord 64 crc 0 markers 0 enhanced 1"
	initiate p2p=1 pings "ird 64 ord 64 crc 1 markers 0 enhanced 1"
	initiate p2p=1,crc=0 pings "ird 64 ord 64 crc 0 markers 0 enhanced 1"
	initiate ird=1,ord=1 pings "ird 1 ord 1 crc 1 markers 0 enhanced 1"
	initiate ird=16,ord=16 pings "ird 16 ord 16 crc 1 markers 0 enhanced 1"
	initiate ird=128,ord=128 pings "ird 128 ord 128 crc 1 markers 0 enhanced 1"
	initiate ird=1024,ord=1024 pings "ird 1024 ord 128 crc 1 markers 0 enhanced 1" # siw has 128
	initiate ord=0 pings "ird 64 ord 0 crc 1 markers 0 enhanced 1"
	initiate ird=0 no-read "ird 0 ord 64 crc 1 markers 0 enhanced 1"
	initiate p2p=1,ird=0 no-read "ird 0 ord 64 crc 1 markers 0 enhanced 1"
	# Revision 1 agrees on no depths, so siw has none
	initiate rev=1 no-read "ird 64 ord 1 crc 1 markers 0 enhanced 0"
	initiate rev=1,crc=0 no-read "ird 64 ord 1 crc 0 markers 0 enhanced 0"
	guest_kill server
	server mpa_crc_required=1 # does not keep siw from answering in kind
	initiate crc=1 pings "ird 64 ord 64 crc 1 markers 0 enhanced 1"
	initiate crc=0 pings "ird 64 ord 64 crc 0 markers 0 enhanced 1"
	guest_kill server
	server mpa_crc_strict=1 # no CRC, whoever asks
	initiate crc=1 refused ""
	initiate crc=0 pings "ird 64 ord 64 crc 0 markers 0 enhanced 1"
	;;
in)
	guest_link siw
	respond crc=1 pings "ird 64 ord 1 crc 1 markers 0 enhanced 1"
	respond crc=0 pings "ird 64 ord 1 crc 0 markers 0 enhanced 1"
	respond ird=0 pings "ird 0 ord 1 crc 1 markers 0 enhanced 1"
	respond ird=1024,ord=1024 pings "ird 1024 ord 1 crc 1 markers 0 enhanced 1"
	guest_link siw mpa_crc_required=1
	respond crc=1 pings "ird 64 ord 1 crc 1 markers 0 enhanced 1"
	respond crc=0 pings "ird 64 ord 1 crc 1 markers 0 enhanced 1"
	guest_link siw peer_to_peer=1
	respond crc=1 pings "ird 64 ord 1 crc 1 markers 0 enhanced 1"
	respond crc=0,ird=0 pings "ird 1 ord 1 crc 0 markers 0 enhanced 1" # for the RTR message
	guest_link siw mpa_crc_strict=1
	respond crc=0 pings "ird 64 ord 1 crc 0 markers 0 enhanced 1"
	respond crc=1 refused "ird 64 ord 1 crc 1 markers 0 enhanced 1"
	;;
esac
guest_end "MPA agrees with siw on what either side wants"
