#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The device goes beneath a server of ours that has no connection, that never had one,
# and in the middle of connection set-ups; it comes back, and the server serves as
# before.  The kernel's removal of rxe and siw waits for whoever has them open: it is
# done at once.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link "${VARIANT:?is not set}"
guest_program "$RPCRDMA"
guest 'mkdir -p /tmp/e/there /run/s'
# librdmacm's protection domain cannot be given back to a device that is gone.
guest 'echo leak:-rdmav34.so >/run/leaks'

serve() { # ADDRESS [OPTION...]
	guest_bg nfsd "export LSAN_OPTIONS=suppressions=/run/leaks:print_suppressions=0
		exec rpcrdma nfsd --export /tmp/e:/e --state-dir /run/s --listen $*"
	guest_until 30 'grep -q ^listening /run/bg/nfsd.out' || die "nfsd does not start at $*"
}

stop() {
	guest 'kill $(pidof rpcrdma)'
	guest_wait nfsd 30 || fail "$1: nfsd exits with $?"
}

del() { # WHEN
	guest_bg del "exec rdma link del ${VARIANT}0"
	guest_wait del 10 && return
	guest 'for p in $(pidof rdma); do cat /proc/$p/stack; done'
	die "$1: the link is not deleted within 10 s"
}

add() {
	guest "rdma link add ${VARIANT}0 type $VARIANT netdev eth0" || die "the link is not added"
}

reach() { # WHEN: within a time in which the server looks for its device some times
	guest_until 30 "timeout 20 rpcrdma ping -c 1 --provider verbs $guest_ip >/run/ping 2>&1" ||
		fail "$1: not served: $(guest 'tail -n 3 /run/ping')"
}

# At [::] a siw of Linux 6.1 refuses clients that come by IPv4.
for at in "$guest_ip:20049" "0.0.0.0:20049" "0.0.0.0:20049 --provider verbs"; do
	# shellcheck disable=SC2086
	serve $at
	del "$at, never used"
	guest "rpcrdma ping -c 1 --provider verbs $guest_ip" 2>/dev/null && fail "$at: served without a device"
	add
	reach "$at, back"
	reach "$at, used"
	del "$at, used before"
	add
	reach "$at, back again"
	stop "$at"
	say "$at: del, add, twice"
done

# Clients that come all the time, each with a set-up of its own.
serve "$guest_ip:20049"
for i in 1 2 3; do
	guest_bg client$i "while [ ! -e /run/enough ]; do
		timeout 20 rpcrdma ping -q -c 1 --provider verbs $guest_ip >/dev/null 2>/run/last$i
		code=\$?; case \$code in 0) echo served ;; 1) ;; *) echo bad \$code; cat /run/last$i ;; esac
	done"
done
for i in 1 2 3; do
	guest "usleep $((i * 130000 + 200000))"
	del "set-ups, $i"
	add
	reach "set-ups, $i"
	say "set-ups, $i"
done
guest ': >/run/enough'
for i in 1 2 3; do
	guest_wait client$i 40 || fail "client $i does not end"
	guest_said client$i >"$T/client$i"
	grep -q served "$T/client$i" || fail "client $i was never served"
	grep -A 20 bad "$T/client$i" && fail "client $i"
done
guest 'rm /run/enough'
stop "set-ups"
guest 'dmesg | grep -E "BUG|Oops|WARNING|Call Trace"' && fail "the kernel complains"
guest_end "$VARIANT went and came back beneath servers and set-ups"
