#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 500 connections in a row without a stall, a second each at most, each with messages
# both ways, an RDMA Read and an RDMA Write.  out: our software iWARP to rping over siw,
# which takes the first FPDU before it listens to its socket, and sleeps on it unless it
# is kicked.  in: siw, by our verbs provider, to our software iWARP.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link siw

case ${VARIANT:?is not set} in
out)
	guest_bg server "exec rping -s -P -a $guest_ip -p 18515"
	guest_until 20 'netstat -ltn | grep -q :18515' || die "the server does not listen"
	"$KERNEL_BIN/pinger" -c -a 127.0.0.1 -p "$(host_port 18515)" -n 500 -l 1000 -t 300 >"$T/out" ||
		fail "a connection stalls"
	say "$(cat "$T/out")"
	guest_end "500 connections to siw, none took a second"
	;;
in)
	guest_program "$KERNEL_BIN/pinger"
	host_bg server "$KERNEL_BIN/pinger" -s -a 127.0.0.1 -p 0 -n 500 -t 300
	server_pid=$bg_pid
	until_true 20 grep -q '^listening' "$T/server.out" || die "the server does not listen"
	port=$(sed -n 's/^listening //p' "$T/server.out")
	guest -t 310 "pinger -c -P verbs -a $host_ip -p $port -n 500 -l 1000 -t 300 2>&1" >"$T/out" ||
		fail "a connection stalls: $(cat "$T/out")"
	say "$(cat "$T/out")"
	until_true 20 has_ended $server_pid
	host_stop $server_pid || fail "the server: $(cat "$T/server.err")"
	guest_end "500 connections from siw, none took a second"
	;;
esac
