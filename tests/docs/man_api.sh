#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages say what the headers say:
#
# - each exported name stands in the NAME of exactly one page, and its prototype there,
#   behind the headers that the page includes, is the one of the header;
# - each public structure, enumeration and function type is in one page as it is in the
#   header, and each public constant is in some page.
#
#   man_api.sh SOURCE CC "FLAGS"
set -eu
. "$(dirname "$0")/man.lib"
include=$1/include cc=$2 flags=$3

# As tests/layering/symbols.sh finds them.
cat "$include"/rpcrdma/*.h | tr '\n\t' '  ' | tr ';' '\n' |
	sed -n '/#define RPCRDMA_API/d
		s/.*RPCRDMA_API //;t show
		d
		:show
		s/[([].*//
		s/ *$//
		s/.*[ *]//p' | sort -u >"$tmp/declared"
[ -s "$tmp/declared" ] || fail "nothing is declared"

# The names in a page's NAME section.
names() {
	sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm \([a-z0-9_]*\).*/\1/p' "$1"
}
# A page's SYNOPSIS as C.
synopsis() {
	awk -F'"' '
		/^\.Sh/ { on = /SYNOPSIS/ }
		!on { next }
		/^\.In / { print "#include <" substr($0, 5) ">" }
		/^\.Ft / { type = substr($0, 5); gsub(/"/, "", type) }
		/^\.Vt / { print substr($0, 5) }
		/^\.Fn / { split($1, w, " "); printf "%s %s(", type, w[2]
			for (i = 2; i <= NF; i += 2) printf "%s%s", (i > 2 ? ", " : ""), $i
			print ");" }
		/^\.Fo / { printf "%s %s(", type, substr($0, 5); sep = "" }
		/^\.Fa / { printf "%s%s", sep, $2; sep = ", " }
		/^\.Fc/ { print ");" }' "$1"
}

: >"$tmp/named"
for page in "$man"/*.3; do
	names "$page" >"$tmp/names"
	cat "$tmp/names" >>"$tmp/named"
	synopsis "$page" >"$tmp/page.c"
	# shellcheck disable=SC2086
	"$cc" -std=gnu11 -Wall -Werror $flags -I"$include" -fsyntax-only "$tmp/page.c" ||
		fail "$page: its SYNOPSIS is not what the headers declare"
	sed -n '/^#/d
		s/ *[([].*//
		s/.*[ *]//p' "$tmp/page.c" | sort -u >"$tmp/shown"
	sort -u "$tmp/names" | comm -12 - "$tmp/declared" >"$tmp/names.declared"
	differ "$tmp/names.declared" "is not in the NAME of $page" \
		"$tmp/shown" "is not in the SYNOPSIS of $page"
	if ! grep -qx "$(basename "$page" .3)" "$tmp/names"; then
		fail "$page is not called by one of its names"
	fi
done
sort "$tmp/named" | uniq -d | grep . && fail "these stand in the NAME of several pages"
sort -u "$tmp/named" >"$tmp/names"
comm -12 "$tmp/names" "$tmp/declared" >"$tmp/names.declared"
# The others are a structure, or the library.
comm -23 "$tmp/names" "$tmp/declared" | while read -r name; do
	[ "$name" = rpcrdma ] || grep -q "^struct $name {" "$include"/rpcrdma/*.h || echo "$name"
done >"$tmp/only"
[ ! -s "$tmp/only" ] || fail "$(tr '\n' ' ' <"$tmp/only")is not declared"
differ "$tmp/declared" "is not declared" "$tmp/names.declared" "is in no page"

# ---- Types and constants ------------------------------------------------------------

# C without comments, types one a line, blanks only where they separate words.
types() {
	tr '\n\t' '  ' | sed -E 's:/\*([^*]|\*+[^*/])*\*+/: :g' |
		grep -oE '((struct|enum) [a-z_]* ?\{[^}]*\}|typedef [^;{]*;)' |
		sed -E 's/ +/ /g; s/ ?([^A-Za-z0-9_ ]) ?/\1/g; s/,\}/}/' | sort
}
cat "$include"/rpcrdma/*.h | grep -v '^#' | types >"$tmp/types"
cat "$man"/*.3 | grep -v '^\.' | types >"$tmp/types.pages"
[ -s "$tmp/types" ] || fail "no type was found"
uniq -d "$tmp/types.pages" | grep . && fail "these types are in several pages"
comm -23 "$tmp/types" "$tmp/types.pages" | grep . && fail "these types are in no page as they are"
comm -13 "$tmp/types" "$tmp/types.pages" | grep . && fail "no header has these types"
cat "$include"/rpcrdma/*.h | grep -oE '\bRPCRDMA_[A-Z0-9_]+' |
	grep -vE '_H$|^RPCRDMA_API$' | sort -u >"$tmp/constants"
cat "$man"/*.3 | grep -v '^\.Dt' | grep -oE '\bRPCRDMA_[A-Z0-9_]+' | sort -u >"$tmp/shown"
differ "$tmp/constants" "is in no header" "$tmp/shown" "is in no page"

[ $failed = 0 ] && echo "man: $(wc -l <"$tmp/declared") names, $(wc -l <"$tmp/types") types," \
	"$(wc -l <"$tmp/constants") constants"
exit $failed
