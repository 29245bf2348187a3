#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shared library exports what the public headers declare, and nothing else but a
# name of libtirpc's that it stands in front of (src/tirpc/svc_programs.c);
# it is not linked against what it loads at run time, names no directory in which
# libraries are searched, and stays loaded until the process ends.
#
#   symbols.sh LIBRARY INCLUDE
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	grep -vx svc_register |
	sort -u >"$tmp/exported"
# A declaration runs from RPCRDMA_API to its semicolon; its name stands before
# the first parenthesis or bracket.
cat "$2"/rpcrdma/*.h | tr '\n\t' '  ' | tr ';' '\n' |
	sed -n '/#define RPCRDMA_API/d
		s/.*RPCRDMA_API //;t show
		d
		:show
		s/[([].*//
		s/ *$//
		s/.*[ *]//p' | sort -u >"$tmp/declared"
failed=0
if grep -vE '^(rpcrdma|clnt_rdma|svc_rdma)_' "$tmp/exported"; then
	echo "symbols: these are exported without a prefix of ours"
	failed=1
fi
if comm -13 "$tmp/exported" "$tmp/declared" | grep .; then
	echo "symbols: these are declared and not exported"
	failed=1
fi
if comm -23 "$tmp/exported" "$tmp/declared" | grep .; then
	echo "symbols: these are exported and in no public header"
	failed=1
fi
for loaded in libibverbs librdmacm; do
	if readelf -d "$1" | grep NEEDED | grep "$loaded"; then
		echo "symbols: linked against $loaded, which some machines lack"
		failed=1
	fi
done
if readelf -d "$1" | grep -E '\((RPATH|RUNPATH)\)'; then
	echo "symbols: it has a search path of its own for libraries"
	failed=1
fi
readelf -d "$1" | grep -q NODELETE || {
	echo "symbols: dlclose() would take the code from its thread (-z nodelete)"
	failed=1
}
[ -s "$tmp/declared" ] || {
	echo "symbols: nothing is declared in $2"
	failed=1
}
[ "$failed" = 0 ] && echo "symbols: $(wc -l <"$tmp/exported") exported, as declared"
exit "$failed"
