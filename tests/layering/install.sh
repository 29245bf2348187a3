#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is installed can be used: a program found by pkg-config builds against
# it, shared and static, and runs; the command runs too.
#
#   install.sh BUILD CMAKE CC "FLAGS" PROGRAM.c
set -eu
build=$1 cmake=$2 cc=$3 flags=$4 program=$5
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
"$cmake" --install "$build" --prefix "$tmp/usr" >"$tmp/log" || {
	cat "$tmp/log"
	exit 1
}
pc=$(find "$tmp/usr" -name rpcrdma.pc)
[ -n "$pc" ] || {
	echo "install: no rpcrdma.pc"
	exit 1
}
# The prefix of the build is not the one of this installation.
export PKG_CONFIG_PATH="${pc%/*}"
set -- --define-variable=prefix="$tmp/usr"
cflags=$(pkg-config "$@" --cflags rpcrdma)
libs=$(pkg-config "$@" --libs rpcrdma)
static=$(pkg-config "$@" --libs --static rpcrdma | sed 's/-lrpcrdma/-l:librpcrdma.a/')
lib=$(dirname "$(find "$tmp/usr" -name librpcrdma.so)")
# shellcheck disable=SC2086
"$cc" -Wall -Wextra -Werror $flags $cflags "$program" -o "$tmp/shared" $libs
# shellcheck disable=SC2086
"$cc" -Wall -Wextra -Werror $flags $cflags "$program" -o "$tmp/static" $static
ldd "$tmp/static" | grep librpcrdma && {
	echo "install: the static program wants the shared library"
	exit 1
}
LD_LIBRARY_PATH="$lib" "$tmp/shared"
"$tmp/static"
"$tmp/usr/bin/rpcrdma" --help >"$tmp/help"
grep -q nfsd "$tmp/help"
for page in man1/rpcrdma.1 man1/rpcrdma-nfsd.1 man3/rpcrdma_call.3 \
	man3/rpcrdma_call_cancel.3 man7/rpcrdma.7; do
	[ -f "$tmp/usr/share/man/$page" ] || {
		echo "install: no $page"
		exit 1
	}
done
echo "install: the library, shared and static, and the command can be used"
