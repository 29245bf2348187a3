#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What somebody is told who has an RDMA device and may not, or cannot, use it: no
# permission, too little memory that may be locked, no connection manager, an address
# that no device serves.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link rxe
guest_program "$RPCRDMA"
guest 'mkdir -p /tmp/e/there /tmp/s; chmod 777 /tmp/s'
uverbs=/dev/infiniband/uverbs0 cm=/dev/infiniband/rdma_cm
guest "[ -c $uverbs ] && [ -c $cm ]" || die "no $uverbs or $cm"
guest_bg nfsd "exec rpcrdma nfsd --export /tmp/e:/e --state-dir /run --listen $guest_ip:20049"
guest_until 30 'grep -q ^listening /run/bg/nfsd.out' || die "nfsd does not start"

# As somebody who is not root.
says() { # WORDS SCRIPT
	guest "su nobody -s /bin/sh -c '${2}'" >"$T/out" 2>&1
	code=$?
	[ $code = 1 ] || fail "$2: exit $code"
	grep -qF -- "$1" "$T/out" && return
	fail "$2: does not say '$1':"
	cat "$T/out"
}
ping="timeout 20 rpcrdma ping -c 1 --provider verbs"
nfsd="timeout 20 rpcrdma nfsd --provider verbs --export /tmp/e:/e --state-dir /tmp/s"

guest "su nobody -s /bin/sh -c '$ping $guest_ip'" >"$T/ping" 2>&1 || fail "as nobody: $(cat "$T/ping")"

guest "chmod 600 $cm"
says "$cm: Permission denied" "$ping $guest_ip"
says "Permission denied" "$nfsd --listen $guest_ip:20050"
# Without --provider software is what is left.
guest "su nobody -s /bin/sh -c 'timeout 20 rpcrdma ping -c 1 -v $guest_ip'" >"$T/out" 2>&1
grep -q "connection refused" "$T/out" || fail "auto: $(cat "$T/out")"
guest "chmod 666 $cm; chmod 600 $uverbs"
says "/dev/infiniband/uverbs* must be readable and writable" "$ping $guest_ip"
guest "chmod 666 $uverbs"

says "ulimit -l" "ulimit -l 64; $ping $guest_ip"
guest "su nobody -s /bin/sh -c '$ping $guest_ip'" >"$T/ping" 2>&1 || fail "afterwards: $(cat "$T/ping")"

# The server's turn: its clients are refused, not left waiting.
guest_kill nfsd
guest_bg small "exec su nobody -s /bin/sh -c 'ulimit -l 64; exec $nfsd --listen $guest_ip:20049'"
guest_until 30 'grep -q ^listening /run/bg/small.out' || die "nfsd does not start with little memory"
guest_said small >"$T/small"
grep -q "ulimit -l" "$T/small" || fail "a server with little memory does not say so: $(cat "$T/small")"
says "connection refused" "$ping $guest_ip"
guest_kill small

says "no RDMA device reaches 127.0.0.1" "$ping 127.0.0.1"
says "no RDMA device serves it" "$nfsd --listen 127.0.0.1:20050"
guest_link none
# Before Linux 7 rxe keeps ib_uverbs loaded; there it goes with rdma_ucm.
guest 'modprobe -r rdma_ucm && modprobe -a ib_uverbs rdma_rxe && mv /sbin/modprobe /sbin/modprobe.not' ||
	die "rdma_ucm stays"
guest 'rdma link add rxe0 type rxe netdev eth0' || die "rxe0"
says "modprobe rdma_ucm" "$ping $guest_ip"
guest 'mv /sbin/modprobe.not /sbin/modprobe; modprobe rdma_ucm' || die "rdma_ucm does not come back"
guest_end "who cannot use the device is told why"
