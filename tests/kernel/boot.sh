#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bench itself: the guest has rxe and siw as RDMA devices, commands come back with
# what they print and how they end, in time, and a guest that died is replaced.
. "$(dirname "$0")/guest.sh"
guest_begin

for link in rxe siw; do
	guest_link $link
	guest "ibv_devinfo -d ${link}0" >"$T/devinfo" || fail "ibv_devinfo on $link"
	grep -q 'state:.*PORT_ACTIVE' "$T/devinfo" || fail "${link}0 is not active"
done
guest_link none
guest 'ls /sys/class/infiniband' | grep . && fail "a link is left"

guest 'echo out; echo err >&2; exit 7' >"$T/out" 2>"$T/err"
code=$?
[ "$code $(cat "$T/out" "$T/err")" = "7 out
err" ] || fail "a command came back otherwise: $code"
guest -t 1 'sleep 60' && fail "a command outlived its time"
guest_bg sleeper 'sleep 60; echo woke'
guest_bg quick 'exit 3'
guest_wait quick 20
[ $? = 3 ] || fail "guest_wait does not say how it ended"
guest_kill sleeper || fail "guest_kill"
guest 'pidof sleep' && fail "sleep was not ended"
guest_program "$RPCRDMA"
guest 'rpcrdma --version' || fail "the command does not run in the guest"

# Many at once, and how long one takes.
for i in 1 2 3 4 5 6 7 8; do
	guest "sleep 1; echo $i" >>"$T/many" &
	host_pids="$host_pids $!"
done
began=$(date +%s%N)
for _ in 1 2 3 4 5 6 7 8 9 10; do guest true || fail "true is not true"; done
say "a command takes $((($(date +%s%N) - began) / 10000000)) ms"
for pid in $host_pids; do wait "$pid"; done
host_pids=""
[ "$(sort "$T/many" | tr -d '\n')" = 12345678 ] || fail "eight commands at once"

# The network that tests break is not the agent's.
guest_link siw
guest_nfsd_start
guest 'modprobe sch_netem; tc qdisc add dev eth0 root netem loss 100%' || fail "netem"
guest true || fail "the agent needs eth0"
guest reset-guest || fail "the guest cannot be reset"
guest 'tc qdisc show dev eth0' | grep netem && fail "netem is left"

# A guest that is gone is noticed, and the next test has another.
kill -KILL "$(cat "$KERNEL_RUN/qemu.pid")"
guest true 2>/dev/null && fail "a dead guest answers"
machine_boot || die "no second guest"
guest 'test ! -e /sys/class/infiniband/rxe0' || fail "the second guest is not new"
capture_begin
guest_end "rxe and siw come up, commands come back, a dead guest is replaced"
