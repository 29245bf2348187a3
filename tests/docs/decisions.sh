#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What comments cite exists.  A decision, [K17] or [check: positions], has an entry in
# docs/decisions.md, and each entry is cited by something else; a requirement, as
# V2-4.1-02, is in tests/spec/requirements.tsv; [ext §3.5] is a section of
# docs/extensions.md, and [ext §7.2 V15] a check in it.
#
#   decisions.sh SOURCE
set -eu
cd "$1"
export LC_ALL=C
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

files() {
	grep -rIl --exclude-dir=corpus --exclude='decisions*.sh' '' src tools include tests docs man \
		fuzz bench examples *.md | sort
}

# In order: "### K17. title", "- **check: positions**: text".
sed -n -e 's/^### \([A-Z][0-9]*\)\. .*/\1/p' -e 's/^- \*\*\([^*]*\)\*\*:.*/\1/p' \
	docs/decisions.md >"$tmp/entries"
sort "$tmp/entries" | uniq -d | sed 's/^/decisions: two entries: /' >"$tmp/wrong"

# One line for each file: a citation may be broken over two lines of a comment.
files | xargs awk '
	FNR == 1 { if (file) print text; file = FILENAME; text = file "\t" }
	{ sub(/^[ \t]*(\*|#)?[ \t]*/, ""); text = text " " $0 }
	END { print text }' >"$tmp/texts"

# LABEL, or FIRST and LAST of a range, then FILE.
awk -F '\t' '
	function cite(s) {
		gsub(/^[ \t]+|[ \t]+$/, "", s)
		if (s !~ /^(check: |[CDEFKMOPRVX][0-9][0-9]?( |$))/)
			return
		if (split(s, end, / to /) == 2 && s ~ /^check: /)
			end[2] = "check: " end[2]
		print end[1] "\t" end[2] "\t" $1
		end[2] = ""
	}
	{
		rest = $0
		while (match(rest, /\[[^][]*\]/)) {
			n = split(substr(rest, RSTART + 1, RLENGTH - 2), part, /[,;]/)
			rest = substr(rest, RSTART + RLENGTH)
			for (i = 1; i <= n; i++)
				cite(part[i])
		}
	}' "$tmp/texts" >"$tmp/cited"

awk -F '\t' '
	FILENAME ~ /entries$/ { at[$1] = ++n; entry[n] = $1; next }
	{
		last = $2 == "" ? $1 : $2
		if (!($1 in at) || !(last in at) || at[last] < at[$1]) {
			print "decisions: [" $1 ($2 == "" ? "" : " to " substr($2, index($2, ": ") ? 8 : 1)) \
				"] has no entry in docs/decisions.md: " $3
			next
		}
		for (i = at[$1]; i <= at[last] && $3 != "docs/decisions.md"; i++)
			cited[i] = 1
	}
	END {
		for (i = 1; i <= n; i++)
			if (!(i in cited) && at[entry[i]] == i)
				print "decisions: nothing cites [" entry[i] "]"
	}' "$tmp/entries" "$tmp/cited" >>"$tmp/wrong"

# The sections of docs/extensions.md, and its checks as "7.2 V15".
awk '
	/^##+ [0-9]/ { section = $2; sub(/\.$/, "", section); print section }
	/^\| V[0-9]+ \|/ { print section " " $2 }' docs/extensions.md | sort -u >"$tmp/sections"

# Each is cited as [ext §3.5], [v2 §7, ext §3.3 row 4, §3.5] or [ext §3.5 to §3.7]; in
# docs/extensions.md a § without the name of another document before it is its own.
awk -F '\t' '
	function sections(s, shown,    section) {
		while (match(s, /§[0-9]+(\.[0-9]+)*( V[0-9]+)?/)) {
			section = substr(s, RSTART, RLENGTH)
			s = substr(s, RSTART + RLENGTH)
			sub(/^§/, "", section)
			print section "\t" shown "\t" $1
		}
	}
	function cite(s) {
		gsub(/^[ \t]+|[ \t]+$/, "", s)
		if (s !~ /^§/)
			ext = s ~ /^ext( |§)/ || (ext && s ~ /^[0-9]/)
		if (ext && s !~ /^(ext )?§[0-9]/)
			print "none\t[" s "]\t" $1
		else if (ext)
			sections(s, "[" s "]")
	}
	$1 == "docs/extensions.md" {
		own = $0
		gsub(/(v2|RR|RI|rtrext|xcharext)(-[0-9]+)? §[A-Z0-9.]+/, "", own)
		sections(own, "a reference")
	}
	{
		rest = $0
		while (match(rest, /\[[^][]*\]/)) {
			n = split(substr(rest, RSTART + 1, RLENGTH - 2), part, /[,;]/)
			rest = substr(rest, RSTART + RLENGTH)
			ext = 0
			for (i = 1; i <= n; i++)
				cite(part[i])
		}
	}' "$tmp/texts" >"$tmp/extensions"
awk -F '\t' '
	FILENAME ~ /sections$/ { is[$1] = 1; next }
	!($1 in is) {
		print "decisions: " $2 " names no section of docs/extensions.md" \
			($2 ~ /^\[/ ? "" : ": §" $1) ": " $3
	}' "$tmp/sections" "$tmp/extensions" >>"$tmp/wrong"

cut -f 1 tests/spec/requirements.tsv | sort -u >"$tmp/required"
grep -oE '\<(V2|RR|RI|NS|LS)-([0-9A-CPs][0-9.]*|rtissues|rtrext|xcharext)-[0-9][0-9]\>' "$tmp/texts" | sort -u | comm -23 - "$tmp/required" |
	sed 's/^/decisions: no such requirement: /' >>"$tmp/wrong"

sort -u "$tmp/wrong"
[ ! -s "$tmp/wrong" ] || exit 1
echo "decisions: $(wc -l <"$tmp/entries") entries, cited $(wc -l <"$tmp/cited") times;" \
	"$(wc -l <"$tmp/extensions") references to extensions"
