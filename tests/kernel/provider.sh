#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Without --provider a device is used where one serves the address, and software iWARP
# elsewhere, at both ends; at the any address whatever can listen does.  A siw is used
# only if verbs is named.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link "${VARIANT:?is not set}"
guest_program "$RPCRDMA"

serve() { # ADDRESS WORDS [OPTION...]: what it says it listens by
	serve_at=$1 serve_by=$2
	shift 2
	guest "mkdir -p /tmp/e/there /tmp/s"
	guest_bg nfsd "exec rpcrdma nfsd --export /tmp/e:/e --listen $serve_at --state-dir /tmp/s $*"
	guest_until 30 'grep -q ^listening /run/bg/nfsd.out' || die "nfsd does not start at $serve_at"
	guest_said nfsd | grep "^listening" >"$T/listening"
	grep -q " $serve_by 2\$" "$T/listening" || fail "at $serve_at not by $serve_by: $(cat "$T/listening")"
}

reach() { # ADDRESS PROVIDER [OPTION...]: what ping -v says it goes by
	at=$1 by=$2
	shift 2
	guest "timeout 30 rpcrdma ping -v -c 1 $* $at" >"$T/ping" 2>&1 || fail "ping $* $at: $(cat "$T/ping")"
	grep -q "provider $by," "$T/ping" || fail "$at $* not by $by: $(cat "$T/ping")"
}

chosen=verbs
[ "$VARIANT" = rxe ] || chosen=iwarp
serve "$guest_ip:20049" $chosen
# A server of software has looked at the device, and left it closed.
guest 'ls -l /proc/$(pidof rpcrdma)/fd' >"$T/fds" || fail "no server to look at"
case $chosen:$(grep -c infiniband "$T/fds") in
iwarp:0 | verbs:[1-9]*) ;;
*) fail "served by $chosen, with these files open: $(cat "$T/fds")" ;;
esac
reach "$guest_ip" $chosen
guest_kill nfsd

serve "$guest_ip:20049" verbs --provider verbs
reach "$guest_ip" verbs --provider verbs
reach "$guest_ip" verbs --provider "verbs:${VARIANT}0"
# The server acts as its users, and takes and ends connections all the same: the kernel
# wants the credentials that the connection manager was opened with.
for i in 1 2 3; do
	guest -t 60 "rpcrdma ls --provider verbs nfs://$guest_ip/e" >"$T/ls" 2>&1 || fail "ls $i: $(cat "$T/ls")"
	grep -qx there "$T/ls" || fail "ls $i: $(cat "$T/ls")"
	reach "$guest_ip" verbs --provider verbs
done
guest_kill nfsd

serve 127.0.0.1:20049 iwarp
reach 127.0.0.1 iwarp
guest_kill nfsd

# RoCE has ports of its own; a siw shares TCP's, where software serves it.
both=iwarp+verbs
[ "$VARIANT" = rxe ] || both=iwarp
serve :20049 $both
reach "$guest_ip" $chosen
reach "$guest_ip" verbs --provider verbs
reach "$guest_ip" iwarp --provider iwarp
reach 127.0.0.1 iwarp
guest "ip -6 addr show dev eth0 scope link | sed -n 's/.*inet6 \([^/]*\).*/\1/p'" >"$T/v6"
if [ -s "$T/v6" ]; then
	reach "[$(cat "$T/v6")%eth0]" $chosen
else
	fail "eth0 has no IPv6 address"
fi
guest_kill nfsd

# An IPv6 address of its own, named at both ends; the library's URL, too.
guest 'ip -6 addr replace fd00::15/64 dev eth0 nodad' || die "no IPv6 address"
guest_until 20 "cat /sys/class/infiniband/${VARIANT}0/ports/1/gids/* | grep -qi 'fd00:.*:0015$' ||
	[ $VARIANT = siw ]" || fail "${VARIANT}0 does not get the address"
serve "[fd00::15]:20049" $chosen
reach "[fd00::15]" $chosen
reach "[fd00::15]" verbs "--provider verbs:${VARIANT}0"
guest -t 60 "rpcrdma ls nfs://[fd00::15]/e" >"$T/ls" 2>&1 || fail "ls: $(cat "$T/ls")"
grep -qx there "$T/ls" || fail "ls: $(cat "$T/ls")"
guest_kill nfsd
guest 'ip -6 addr del fd00::15/64 dev eth0'

# The device goes: the choice is made anew.
guest_link none
serve "$guest_ip:20049" iwarp
reach "$guest_ip" iwarp
guest "rpcrdma ping -c 1 --provider verbs $guest_ip" >"$T/none" 2>&1 && fail "verbs without a device"
grep -q "no RDMA device" "$T/none" || fail "$(cat "$T/none")"
guest_kill nfsd
guest_end "devices serve their addresses over $VARIANT, software the others"
