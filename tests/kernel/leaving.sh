#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Clients of ours that leave before they have said a word, at any time of the connection
# set-up: the kernel goes on (siw with a client that asked for an RTR message and did not
# send it is a BUG in iwcm.c), and so does its listener (siw takes the close of what
# it has not looked at for the listener's).
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link siw
guest_nfsd_start

leave() { # OPTIONS OF pinger...
	"$KERNEL_BIN/pinger" -k -a 127.0.0.1 -p "$(host_port 20049)" -t 100 "$@" >"$T/out" ||
		fail "leaving with $*"
	say "$*: $(cat "$T/out")"
	guest "netstat -ltn | grep -q '0\\.0\\.0\\.0:20049'" || fail "the listener is gone"
	"$RPCRDMA" ping --count 1 "127.0.0.1:$(host_port 20049)" >"$T/ping.out" 2>&1 ||
		fail "the NFS server does not answer: $(cat "$T/ping.out")"
}

taken() { # OPTIONS OF pinger...
	leave "$@"
	grep -q ' refused 0$' "$T/out" || fail "$*: somebody was refused: $(cat "$T/out")"
}
taken -n 300
taken -n 200 -o p2p=1
leave -n 50 -o rev=1 # which the kernel's server refuses, if it is quick enough
guest 'dmesg | grep -E "BUG|Oops|WARNING|Call Trace"' && fail "the kernel complains"
guest_end "550 clients that left at any time up to 30 ms did no harm"
