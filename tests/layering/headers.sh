#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each public header compiles alone, in C and in C++.
#
#   headers.sh INCLUDE CC [CXX]
set -eu
include=$1 cc=$2 cxx=${3-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
warn='-Wall -Wextra -Wundef -Werror -fsyntax-only'
# libtirpc's headers, which one of ours includes, need types beyond those of C.
tirpc="$(pkg-config --cflags-only-I libtirpc | sed 's/-I/-isystem /g') -D_DEFAULT_SOURCE"
failed=0 n=0
for h in "$include"/rpcrdma/*.h; do
	n=$((n + 1))
	name=rpcrdma/${h##*/}
	printf '#include <%s>\n#include <%s>\n' "$name" "$name" | tee "$tmp/t.c" >"$tmp/t.cc"
	for std in c99 c11 c17; do
		# shellcheck disable=SC2086
		"$cc" -std=$std -pedantic -Wshadow -Wstrict-prototypes $warn $tirpc -I"$include" \
			"$tmp/t.c" || {
			echo "headers: $name does not compile alone in $std"
			failed=1
		}
	done
	[ -n "$cxx" ] || continue
	# shellcheck disable=SC2086
	"$cxx" -std=c++11 -pedantic $warn $tirpc -I"$include" "$tmp/t.cc" || {
		echo "headers: $name does not compile alone in C++"
		failed=1
	}
done
# What users write with them.
cat >"$tmp/u.cc" <<'END'
#include <rpcrdma/rpcrdma.h>
#include <rpcrdma/gss.h>
struct rpcrdma_conn_options a() { return RPCRDMA_OPTIONS(struct rpcrdma_conn_options); }
rpcrdma_call_options b() { return RPCRDMA_OPTIONS(rpcrdma_call_options); }
END
for std in c++11 c++17 c++20; do
	[ -n "$cxx" ] || continue
	# shellcheck disable=SC2086
	"$cxx" -std=$std -pedantic $warn $tirpc -I"$include" "$tmp/u.cc" || {
		echo "headers: RPCRDMA_OPTIONS does not compile in $std"
		failed=1
	}
done
[ "$n" -gt 0 ] || {
	echo "headers: none in $include/rpcrdma"
	exit 1
}
[ -n "$cxx" ] || echo "headers: NOT tried in C++: no compiler for it"
[ "$failed" = 0 ] && echo "headers: $n compile alone"
exit "$failed"
