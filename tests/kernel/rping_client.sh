#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Our software iWARP as rping's client, the stock rping over siw as its server: Send
# both ways, RDMA Read and RDMA Write by siw, every octet compared; and what siw says
# when it is displeased is understood.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link siw

ping() { # OPTIONS OF pinger...
	"$KERNEL_BIN/pinger" -c -a 127.0.0.1 -p "$(host_port 18515)" "$@" >"$T/ping.out" 2>"$T/ping.err"
}

for size in 64 4096 65000; do
	pings=100
	[ $size != 65000 ] || pings=20
	guest_bg server "exec rping -s -P -a $guest_ip -p 18515 -S $size"
	guest_until 20 'netstat -ltn | grep -q :18515' || die "the server does not listen"
	for options in crc=1 crc=0 fpdu=1454 fpdu=1400,crc=0 p2p=1; do
		ping -C $pings -S $size -o $options || fail "$size octets, $options: $(cat "$T/ping.err")"
		say "$size octets, $options: $(cat "$T/ping.out")"
	done
	guest_kill server
done

displeased() { # WORDS OPTIONS OF pinger...
	words=$1
	shift
	guest_bg server "exec rping -s -P -a $guest_ip -p 18515 -S ${SIZE:-65000}"
	guest_until 20 'netstat -ltn | grep -q :18515' || die "the server does not listen"
	ping "$@" && fail "siw is not displeased by $*"
	grep -qF "the peer ended the connection: $words" "$T/ping.err" ||
		fail "siw's Terminate was not understood: $(cat "$T/ping.err")"
	guest_kill server
}

SIZE=64 displeased "outside the bounds of the region (tagged) (Terminate 1/1/1, fields in siw's order)" -S 1000
# siw loses a CRC that comes in two TCP segments, as that of the 28th FPDU of 1408
# octets does where a segment has 1460.  Ours fill segments, or are large and few.
displeased "CRC mismatch (Terminate 2/0/2, fields in siw's order)" -C 10 -S 65000 -o fpdu=1400
guest_end "rping's client, 1100 pings of up to 65000 octets; siw's Terminates are understood"
