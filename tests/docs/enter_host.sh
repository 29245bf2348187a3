#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes a host of its own of new network and mount namespaces, and runs a command there.
# Port 20049 is free, /srv, /run and /var/lib are empty, there is no /etc/rpcrdma and no
# keytab, and the host has the address 192.0.2.1 and some names.
#
#   enter_host.sh T COPY ROLE UID RPCBIND COMMAND...
#
# own_host.lib has made the directory T.  UID is the user outside: if that is not 0, the
# namespaces have only one user.  RPCBIND is 1 if there is one to start.
T=$1 copy=$2 role=$3 uid=$4 rpcbind=$5
shift 5

make_etc() {
	mount --rbind /etc "$T/etc.host" && mount -t tmpfs -o mode=755 none "$T/etc" || return 1
	for entry in "$T"/etc.host/* "$T"/etc.host/.[!.]*; do
		[ ! -e "$entry" ] || ln -s "$entry" "$T/etc/"
	done
	rm -f "$T"/etc/{hosts,nsswitch.conf,passwd,krb5.keytab,rpcrdma}
	cat >"$T/etc/hosts" <<-END
		127.0.0.1 localhost
		::1 localhost
		192.0.2.1 storage1
		198.51.100.9 storage9
		192.0.2.9 backup.example
		192.0.2.10 admin.example
	END
	printf 'passwd: files\ngroup: files\nhosts: files\n' >"$T/etc/nsswitch.conf"
	# rpcbind gives up its rights in favour of a user that must exist in here.
	{
		grep -v '^_*rpc:' "$T/etc.host/passwd"
		printf '%s:x:0:0::/:/bin/false\n' rpc _rpc
	} >"$T/etc/passwd"
	mount --bind "$T/etc" /etc
}
prepare() {
	ip link set lo up && ip addr add 192.0.2.1/32 dev lo || return 1
	# What goes there is dropped.
	ip route add 198.51.100.0/24 dev lo || return 1
	mount --bind "$copy" "$T/copy" && make_etc || return 1
	for dir in /srv /run /var/lib; do
		mount -t tmpfs -o mode=755 none $dir || return 1
	done
}
prepare 2>"$T/enter.log" || {
	echo "SKIPPED, nothing was judged: $(tail -n 1 "$T/enter.log")"
	exit 77
}

if [ "$rpcbind" = 1 ]; then
	"$T/bin/rpcbind" -f 2>"$T/rpcbind.log" &
	trap 'kill %1' EXIT
	until "$T/bin/rpcinfo" >/dev/null 2>&1; do
		[ -n "$(jobs -r)" ] || {
			echo "SKIPPED, nothing was judged: rpcbind does not run: $(tail -n 1 "$T/rpcbind.log")"
			exit 77
		}
		sleep 0.05
	done
fi
become=
if [ "$role" = user ] && [ "$uid" = 0 ]; then
	become="setpriv --reuid 65534 --regid 65534 --clear-groups"
elif [ "$role" = user ]; then
	become="unshare -U --map-user=65534 --map-group=65534"
fi
lib=$(find "$T/copy/" -name librpcrdma.so -printf %h -quit)
$become env -i HOME="$T/user/you" LC_ALL=C.UTF-8 TERM=dumb TZ=UTC PREFIX="$T/copy" \
	PATH="$T/bin:$T/copy/bin:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" \
	MANPATH="$T/copy/share/man:" PKG_CONFIG_PATH="$lib/pkgconfig" LD_LIBRARY_PATH="$lib" \
	CMAKE_PREFIX_PATH="$T/copy" SECONDS_TO_SHOW="${SECONDS_TO_SHOW:-60}" "$@"
