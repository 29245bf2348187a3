#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The XDR of the specification is used as it is meant to be.   [v2 §8.1, §8.2, §B.1]
#
#   xdr.sh SPEC.x EXTENSION.x RPCGEN CC
#
# It carries the licence of the document, once (V2-8.1-01), as does an extension that is
# made of such documents; split at its marks
# it makes common.x and baseops.x, of which common.x compiles alone and both
# compile together (V2-8.2-01); with an extension's XDR it compiles, too
# (V2-B.1-03).
set -eu
spec=$1 extension=$2 rpcgen=$3 cc=$4
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fail()
{
	echo "xdr: $*"
	exit 1
}

licensed=$spec
if grep -q 'Code Components' "$extension"; then
	licensed="$spec $extension"
fi
for line in 'IETF Trust and the persons' 'Redistribution and use in source and binary forms' \
	'Redistributions of source code must retain' 'Neither the name of Internet Society' \
	'THIS SOFTWARE IS PROVIDED BY THE COPYRIGHT HOLDERS'; do
	for file in $licensed; do
		[ "$(grep -c "$line" "$file")" = 1 ] || fail "the licence's '$line' is not once in $file"
	done
done
for line in 'THIS SOFTWARE IS PROVIDED' 'FOR A PARTICULAR PURPOSE ARE DISCLAIMED'; do
	for file in $licensed; do
		grep -q "$line" "$file" || fail "the disclaimer is cut in $file"
	done
done

# A name ends at the semicolon of its mark.
awk -v dir="$tmp" '
	{ text = text $0 "\n" }
	/FILE ENDS: / {
		name = $0
		sub(/.*FILE ENDS: */, "", name)
		sub(/;.*/, "", name)
		printf "%s", text > (dir "/" name)
		text = ""
	}' "$spec"
for part in common baseops; do
	[ -s "$tmp/$part.x" ] || fail "there is no $part.x"
done
grep -q 'struct rpcrdma2_hdr_prefix' "$tmp/common.x" || fail "common.x lacks the prefix"
grep -q 'struct rpcrdma2_msg' "$tmp/baseops.x" || fail "baseops.x lacks RDMA2_MSG"

compiles()
{
	cd "$tmp"
	cat "$@" >all.x
	rm -f all.h all.c all.o
	# shellcheck disable=SC2046 # several options
	"$rpcgen" -h -o all.h all.x && "$rpcgen" -c -o all.c all.x &&
		"$cc" -w $(pkg-config --cflags libtirpc 2>/dev/null || true) -c all.c -o all.o
}
cp "$extension" "$tmp/extension.x"
(compiles common.x) || fail "common.x does not compile alone"
(compiles common.x baseops.x) || fail "common.x and baseops.x do not compile"
(compiles common.x extension.x) || fail "common.x and an extension do not compile"
(compiles common.x baseops.x extension.x) || fail "the three do not compile together"
if (compiles baseops.x) 2>/dev/null >&2; then
	fail "baseops.x compiles without common.x: what is this test good for?"
fi
