#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Serves the directory $EXPORT by nfs-ganesha over TCP on loopback, and prints
# "listening PORT" when it is ready.  The ports are fixed and rpcbind has port 111, so this
# must run under own_host.sh.  nfs-ganesha and rpcbind are installed, or
# unpacked in $UNPACKED.
set -eu
die() {
	echo "ganesha.sh: $*" >&2
	exit 1
}
[ "${OWN_HOST-}" = yes ] || die "needs root and namespaces, for ports and handles of files"
at=${UNPACKED:-/nowhere}
lib=$(find "$at" -name '*.so*' -printf '%h\n' 2>/dev/null | sort -u | paste -sd:)
PATH=$at/usr/bin:$at/usr/sbin:$at/sbin:$PATH:/usr/sbin:/sbin
for program in rpcbind ganesha.nfsd; do
	command -v $program >/dev/null || die "$program is not installed"
done
plugins=$(find "$at/usr/lib" /usr/lib -name libfsalvfs.so -printf '%h\n' -quit 2>/dev/null) || :
[ -n "$plugins" ] || die "nfs-ganesha-vfs is not installed"

state=$(mktemp -d)
children=
finish() {
	trap '' TERM INT HUP
	# shellcheck disable=SC2086
	kill $children 2>/dev/null || :
	wait
	rm -rf "$state"
}
trap finish EXIT
trap 'exit 0' TERM INT HUP
export LD_LIBRARY_PATH="$lib"
rpcbind -f 2>"$state/rpcbind.log" &
children=$!
here=$(dirname "$0")
sed "s#@STATE@#$state#; s#@EXPORT@#$EXPORT#; s#@PLUGINS@#$plugins#" \
	"$here/ganesha.conf.in" >"$state/ganesha.conf"
sleep 0.3 # until rpcbind answers
ganesha.nfsd -F -f "$state/ganesha.conf" -L "$state/log" -p "$state/pid" >/dev/null 2>&1 &
ganesha=$!
children="$children $ganesha"
tries=0
until grep -qs 'NFS SERVER INITIALIZED' "$state/log"; do
	tries=$((tries + 1))
	if [ "$tries" -gt 300 ] || ! kill -0 "$ganesha" 2>/dev/null; then
		die "nfs-ganesha does not start: $(grep -s ERR\\\|CRIT\\\|MAJ "$state/log" "$state/rpcbind.log" |
			tail -n 1)"
	fi
	sleep 0.1
done
echo "listening 20490"
wait
