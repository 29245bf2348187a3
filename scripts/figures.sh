#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shape of the source, in figures: one line each, "NAME: VALUE".
#
#   figures.sh [SOURCE] [--check]
#
# With --check, exit 1 and name the places where a figure that the house style holds at
# zero is not zero.  Needs universal-ctags; without it, exit 77.
set -eu
source=.
check=
for arg; do
	case $arg in
	--check) check=1 ;;
	*) source=$arg ;;
	esac
done
cd "$source"
command -v ctags >/dev/null && ctags --version | grep -q Universal || {
	echo "SKIPPED: universal-ctags is not installed, names and sizes were not checked"
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

find src tools -name '*.[ch]' | sort >"$tmp/files"
# Each function: name, file, first line, last line, "-" or the file it is private to.
# shellcheck disable=SC2046
ctags -x --languages=C --langmap=C:.c.h --kinds-C=f --fields=+nef \
	--_xformat='%N %F %n %{end} %{file}' $(cat "$tmp/files") >"$tmp/functions"
[ "$(wc -l <"$tmp/functions")" -gt 1000 ] || {
	echo "figures: ctags found too few functions"
	exit 1
}

figure() { echo "$1: $2"; }

# name, file with offences: a figure that is to be zero
zero() {
	n=$(wc -l <"$2")
	figure "$1" "$n"
	if [ -n "$check" ] && [ "$n" -gt 0 ]; then
		sed 's/^/  /' "$2"
		failed=1
	fi
}

awk '{ print $4 - $3 + 1 }' "$tmp/functions" | sort -n >"$tmp/lengths"
figure "functions" "$(wc -l <"$tmp/lengths")"
at() { awk -v p="$1" '{ a[NR] = $1 } END { i = int(NR * p / 100 + 0.5); print a[i < 1 ? 1 : i] }' "$tmp/lengths"; }
figure "function length, median" "$(at 50)"
figure "function length, 90 in 100" "$(at 90)"
figure "function length, longest" "$(tail -n 1 "$tmp/lengths")"
awk '$4 - $3 + 1 > 60 { print $2 ":" $3 ": " $1 " has " $4 - $3 + 1 " lines" }' "$tmp/functions" >"$tmp/long"
zero "functions over 60 lines" "$tmp/long"

# A public function that a .c file defines and an inline function of a header are not private.
awk '$5 == "file" && $2 ~ /\.c$/' "$tmp/functions" >"$tmp/static"
figure "static functions" "$(wc -l <"$tmp/static")"
awk '$1 !~ /_/ { print $2 ":" $3 ": " $1 }' "$tmp/static" >"$tmp/bare"
zero "static functions of one word" "$tmp/bare"
awk '{ n[$1]++; at[$1] = at[$1] " " $2 ":" $3 } END { for (i in n) if (n[i] > 1) print i ":" at[i] }' \
	"$tmp/static" | sort >"$tmp/shared"
zero "static names that files share" "$tmp/shared"

awk -F/ '{ b = $NF; s = b; sub(/\.[ch]$/, "", s); dir = $0; sub("/[^/]*$", "", dir)
	k = s " " dir; if (!(k in seen)) { seen[k] = 1; n[s]++; at[s] = at[s] " " dir } }
	END { for (i in n) if (n[i] > 1) print i ":" at[i] }' "$tmp/files" | sort >"$tmp/bases"
zero "base names that folders share" "$tmp/bases"
# shellcheck disable=SC2046
wc -l $(cat "$tmp/files") | awk '$2 != "total" && $1 > 800 { print $2 ": " $1 " lines" }' >"$tmp/large"
zero "files over 800 lines" "$tmp/large"

find src tools include tests bench fuzz examples -name '*.[ch]' | sort >"$tmp/all"
# shellcheck disable=SC2046
awk 'FNR == 1 { open = "" }
	open != "" { print open; open = "" }
	/\/\* -- / && !/\*\// { open = FILENAME ":" FNR ": " $0 }' $(cat "$tmp/all") >"$tmp/banners"
zero "section banners broken over lines" "$tmp/banners"

# A comment that names a C file of the project names one that exists.
find . -name '*.[ch]' -o -name '*.h.in' | sed 's,.*/,,' | sort -u >"$tmp/names"
# shellcheck disable=SC2046
awk -v names="$tmp/names" '
	BEGIN { while ((getline f < names) > 0) have[f] = 1 }
	{
		line = $0
		comment = open || line ~ /\/\*/
		if (comment && line !~ /#include/) {
			text = line
			if (!open) sub(/.*\/\*/, "", text)
			while (match(text, /[a-z0-9_]+\.[ch]([^a-z0-9_]|$)/)) {
				f = substr(text, RSTART, RLENGTH)
				sub(/[^a-z0-9_]$/, "", f)
				before = RSTART > 1 ? substr(text, RSTART - 1, 1) : ""
				if (!(f in have) && before !~ /[.<\/]/ && f !~ /^(h|c|a|b)\.[ch]$/)
					print FILENAME ":" FNR ": " f
				text = substr(text, RSTART + RLENGTH)
			}
		}
		if (line ~ /\/\*/ && line !~ /\*\//) open = 1
		if (line ~ /\*\//) open = 0
	}' $(grep -E '^(src|tools)/' "$tmp/all") >"$tmp/missing"
zero "files that comments name and nobody has" "$tmp/missing"

figure "README lines" "$(wc -l <README.md)"
figure "ARCHITECTURE lines" "$(wc -l <ARCHITECTURE.md)"
if git rev-parse HEAD >/dev/null 2>&1; then
	figure "tracked files" "$(git ls-files | wc -l)"
	figure "tracked files of fuzz corpora" "$(git ls-files fuzz/corpus | wc -l)"
fi
exit "$failed"
