#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# own_host.sh COMMAND...: runs COMMAND with a network of its own, which has only loopback,
# and with an empty /run.  All ports are free there, and nothing outside is changed.
#
# New TCP connections have the congestion control "reno" there.  BBR, which some systems
# have, paces its segments by timers, and whether it does so differs between connections.
# Run by root; exits with 77 if namespaces are not permitted.
if [ "${OWN_HOST-}" != making ]; then
	OWN_HOST=making exec unshare --net --mount -- "$0" "$@"
	exit 77
fi
prepare() {
	# getaddrinfo wants an address besides that of loopback.
	ip link set lo up && ip addr add 192.0.2.1/32 dev lo || return 1
	echo reno >/proc/sys/net/ipv4/tcp_congestion_control || return 1
	mount -t tmpfs -o mode=755 none /run || return 1
	# rpcbind gives up its rights in favour of a user that must exist.
	users=$(mktemp /run/passwd.XXXXXX)
	{
		grep -v '^_*rpc:' /etc/passwd
		printf '%s:x:0:0::/:/bin/false\n' rpc _rpc
	} >"$users" && chmod 644 "$users" && mount --bind "$users" /etc/passwd
}
prepare 2>/dev/null || exit 77
OWN_HOST=yes exec "$@"
