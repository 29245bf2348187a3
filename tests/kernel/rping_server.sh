#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Our software iWARP as rping's server, the stock rping over siw as its client: Send both
# ways, RDMA Read and RDMA Write by us; the client compares the data (-V).
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link siw

serve() { # OPTIONS OF pinger...: one connection
	host_bg server "$KERNEL_BIN/pinger" -s -a 127.0.0.1 -p 0 -t 120 "$@"
	server_pid=$bg_pid
	until_true 20 grep -q '^listening' "$T/server.out" || die "the server does not listen"
	port=$(sed -n 's/^listening //p' "$T/server.out")
}

for size in 64 4096 65000; do
	pings=100
	[ $size != 65000 ] || pings=20
	for options in crc=1 crc=0 fpdu=1400; do
		serve -o $options
		guest -t 60 "rping -c -a $host_ip -p $port -V -C $pings -S $size 2>&1" >"$T/client.log" ||
			fail "$size octets, $options: $(cat "$T/client.log")"
		until_true 20 has_ended $server_pid
		host_stop $server_pid || fail "the server: $(cat "$T/server.err")"
		grep -q "^connections 1 pings $pings\$" "$T/server.out" || fail "not all pings were seen"
	done
	say "$size octets: $((3 * pings)) pings"
done
guest_end "rping's server, 660 pings of up to 65000 octets, verified by the client"
