#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Where clients look for a lock manager they find the one of nfsd, which has no locks,
# unless the host has another one: that is left alone.
set -u
: "${RPCRDMA:?is not set}" "${MOUNTD:?is not set}"
. "$(dirname "$0")/rpcbind.lib"

# What rpcinfo shows of lock managers: version netid address.
managers() {
	rpcinfo 2>/dev/null | awk '$1 == 100021 { print $2, $3, $4 }'
}
# expect_managers [NETID ADDRESS]...: in each version
expect_managers() {
	local wanted=()
	while [ $# -gt 0 ]; do
		wanted+=("1 $1 $2" "3 $1 $2" "4 $1 $2")
		shift 2
	done
	expect_list managers ${wanted[@]+"${wanted[@]}"}
}
# start_manager NAME HOW VERSION...: another lock manager; its address is in $other_at
start_manager() {
	local name=$1 port
	shift
	start_other "$name" nlm "$@"
	port=$(sed -n 's/^port //p' "$T/$name.out")
	other_at=127.0.0.1.$((port / 256)).$((port % 256))
}
# The last one that was started.
end_manager() {
	kill -KILL "${others##* }"
	wait "${others##* }" 2>/dev/null
	others=${others% *}
}
start_rpcbind

# Registered, reachable, and taken back; over TCP only.
start_server 127.0.0.1:4660 --register --mount-port 4661
expect_managers tcp 127.0.0.1.18.53
for version in 1 3 4; do
	rpcinfo -T tcp 127.0.0.1 100021 $version >"$T/out" 2>&1 || fail "NULL of version $version"
	says "$T/out" "program 100021 version $version ready and waiting"
done
stop_server
expect_managers

# Nothing is registered unasked.
start_server 127.0.0.1:4660 --mount-port 4661
expect_managers
stop_server

# Of what clients try beside it nothing is registered, and what is called is refused.
start_server 127.0.0.1:4660 --register --mount-port 4661
for program in 100227 100011; do
	rpcinfo 2>/dev/null | grep -w $program && fail "$program is registered"
	rpcinfo -a 127.0.0.1.18.53 -T tcp $program 3 >"$T/out" 2>&1 && fail "$program answers"
	says "$T/out" "Program unavailable"
done

# What a killed server left is taken over, at its address and elsewhere.
kill_server
expect_managers tcp 127.0.0.1.18.53
start_server 127.0.0.1:4660 --register --mount-port 4661
expect_managers tcp 127.0.0.1.18.53
kill_server
start_server 127.0.0.1:4670 --register --mount-port 4671
expect_managers tcp 127.0.0.1.18.63
stop_server
expect_managers

# Another lock manager stays where it is, and the server serves all the same.
start_manager lockd set 1 3 4
start_server 127.0.0.1:4660 --register --mount-port 4661
says "$T/server.err" "another lock manager is registered with rpcbind (program 100021)"
expect_managers tcp "$other_at"
run 0 ping -c 1 --program 100005 127.0.0.1
stop_server
expect_managers tcp "$other_at"
[ "$(grep -c . "$T/server.err")" = "$([ "$(id -u)" = 0 ] && echo 1 || echo 2)" ] ||
	fail "more was said than one line"

# ... until it is dead.
end_manager
start_server 127.0.0.1:4660 --register --mount-port 4661
expect_managers tcp 127.0.0.1.18.53
stop_server
expect_managers

# One of another version has all of them: a host has one lock manager.
start_manager old set 1
start_server 127.0.0.1:4660 --register --mount-port 4661
says "$T/server.err" "another lock manager is registered with rpcbind"
expect_list managers "1 tcp $other_at"
stop_server
expect_list managers "1 tcp $other_at"
end_manager

# One that comes later and takes the place, as Linux's does, keeps it.
start_server 127.0.0.1:4660 --register --mount-port 4661
start_manager later take 1 3 4
expect_managers tcp "$other_at"
stop_server
expect_managers tcp "$other_at"
[ -s "$T/server.err" ] && fail "it complains: $(cat "$T/server.err")"
end_manager

if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	start_server :4660 --register --mount-port 4661
	expect_managers tcp 0.0.0.0.18.53 tcp6 ::.18.53
	stop_server
	expect_managers
else
	echo "no IPv6 here: that part was not tried"
fi

[ $failed = 0 ] || exit 1
echo "clients find a lock manager without locks, or another one"
