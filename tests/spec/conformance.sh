#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of requirements: docs/conformance.md from tests/spec/requirements.tsv.
#
#   conformance.sh ROOT            writes docs/conformance.md
#   conformance.sh ROOT check      fails if that file is out of date, or the table
#                                  is wrong: see below
#
# A row: id, section, level, summary, status, proof.  Sections, and how many
# requirements each has, are in sections.tsv; ids count from 01 in each section.
# The first letters of an id name its document, see `documents` below.
# A proof is FILE:FUNCTION, a test of tests/*/FILE.c or fuzz/FILE.c, or the name
# of a ctest that tests/*/CMakeLists.txt spells out, or e2e.SCRIPT, or kernel.SCRIPT
# (`./run check-kernel`).  What cannot or need not be
# tested is excused, with a reason; no more than 12 in 100 may be.
set -eu
root=$1
table=$root/tests/spec/requirements.tsv
sections=$root/tests/spec/sections.tsv
page=$root/docs/conformance.md
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Letters of an id, TAB, document.
documents='V2	RPC-over-RDMA version 2, draft-ietf-nfsv4-rpcrdma-version-two-01
RR	Responder-provided Read chunks, draft-cel-nfsv4-rpcrdma-reliable-reply-05
RI	Remote Invalidation, draft-cel-nfsv4-reminv-design-05
NS	Send-based placement and counted continuation, slides of D. Noveck, IETF 96
LS	Header types by message kind and input validation, slides of C. Lever'

# FILE:FUNCTION of everything that is a test, and names of ctests.
tests()
{
	for f in "$root"/tests/*/*.c "$root"/fuzz/*.c; do
		n=$(basename "$f" .c)
		sed -n -e 's/^static void \([a-z0-9_]*\)(void \*\*state)$/\1/p' \
			-e 's/^\(ROWS\|SETS\|TEST\)(\([a-z0-9_]*\)).*$/\2/p' "$f" |
			sed "s/^/$n:/"
	done
	for f in "$root"/tests/e2e/*.sh; do
		echo "e2e.$(basename "$f" .sh)"
	done
	sed -n 's/.*add_test(NAME \([A-Za-z0-9._-]*\).*/\1/p' "$root"/tests/*/CMakeLists.txt |
		sed 's/-$//'
	sed -n 's/^rr_kernel_test(\([a-z_]*\) .*/kernel.\1/p' "$root/tests/kernel/CMakeLists.txt"
}

check()
{
	tests >"$tmp/tests"
	LC_ALL=C awk -F '\t' -v sections="$sections" -v names="$tmp/tests" '
	function bad(why) { print "line " FNR ": " $1 ": " why; failed = 1 }
	function proofs(list,    n, i, p) {
		n = split(list, p, ",")
		if (!n)
			bad("proved by nothing")
		for (i = 1; i <= n; i++)
			if (!(p[i] in test))
				bad("there is no test " p[i])
	}
	BEGIN {
		while ((getline line < names) > 0)
			test[line] = 1
		while ((getline line < sections) > 0)
			if (split(line, f, "\t") == 4 && f[3] + 0)
				want[f[1] "-" f[2]] = f[3]
	}
	FNR == 1 {
		if ($0 != "id\tsection\tlevel\tsummary\tstatus\tproof")
			bad("another heading is expected")
		next
	}
	NF != 6 { bad("not six columns"); next }
	{
		key = substr($1, 1, length($1) - 3)
		prefix = key
		sub(/-.*/, "", prefix)
		total[prefix]++
		if (key != prefix "-" $2)
			bad("of another section than " $2)
		if (seen[$1]++)
			bad("listed twice")
		if ($1 != sprintf("%s-%02d", key, ++have[key]))
			bad("not the next of its section")
		if ($3 !~ /^(MUST|MUST NOT|SHOULD|MAY|WIRE|BEHAVIOR|CLAIM)$/)
			bad("level " $3)
		# V2 rows are summaries; the others quote the requirement
		longest = prefix == "V2" ? 109 : 330
		if ($4 == "" || length($4) > longest)
			bad("a summary has 1 to " longest " octets")
		if ($5 == "proved")
			proofs($6)
		else if ($5 == "excused" && length($6) < 15)
			bad("excused without a reason")
		else if ($5 == "excused")
			excused[prefix]++
		else if ($5 != "open")
			bad("status " $5)
	}
	END {
		for (k in want)
			if (have[k] != want[k])
				{ print k ": " have[k] + 0 " requirements of " want[k]; failed = 1 }
		for (k in have)
			if (!(k in want))
				{ print k ": not in sections.tsv"; failed = 1 }
		for (k in excused)
			if (excused[k] * 100 > total[k] * 12)
				{ print k ": " excused[k] " of " total[k] " excused"; failed = 1 }
		exit failed
	}' "$table"
}

generate()
{
	echo "$documents" >"$tmp/documents"
	LC_ALL=C awk -F '\t' -v sections="$sections" -v documents="$tmp/documents" '
	function cell(s) { gsub(/\|/, "\\|", s); gsub(/</, "\\&lt;", s); return s }
	function shown(list,    n, i, p, s) {
		n = split(list, p, ",")
		for (i = 1; i <= n; i++)
			s = s (i > 1 ? "<br>" : "") "`" p[i] "`"
		return s
	}
	FILENAME == documents { document[$1] = $2; letters[++documented] = $1; next }
	FILENAME == sections { title[$1 "-" $2] = $4; next }
	FNR == 1 { next }
	{
		d = $1
		sub(/-.*/, "", d)
		row[++n] = $0
		count[$5]++
		of[d, $5]++
		by[$3, $5]++
	}
	END {
		print "<!-- Written by tests/spec/conformance.sh from tests/spec/requirements.tsv. -->"
		print "# Conformance"
		print ""
		print "What RPC-over-RDMA version 2 (draft-ietf-nfsv4-rpcrdma-version-two-01) and its"
		print "optional extensions ask for, one row a requirement, and the test that fails when"
		print "it is not met.  `file:function` is a function of `tests/*/file.c` or"
		print "`fuzz/file.c`.  WIRE and BEHAVIOR are statements of the text without a keyword of"
		print "RFC 2119; CLAIM is a statement about cost or benefit, which is measured."
		print ""
		printf "%d requirements: %d proved, %d excused, %d open.\n", n,
			count["proved"], count["excused"], count["open"]
		print ""
		print "| ids | document | proved | excused | open |"
		print "|---|---|---|---|---|"
		for (i = 1; i <= documented; i++)
			printf "| %s | %s | %d | %d | %d |\n", letters[i], document[letters[i]],
				of[letters[i], "proved"], of[letters[i], "excused"], of[letters[i], "open"]
		print ""
		print "| level | proved | excused | open |"
		print "|---|---|---|---|"
		split("MUST,MUST NOT,SHOULD,MAY,WIRE,BEHAVIOR,CLAIM", level, ",")
		for (i = 1; i <= 7; i++)
			printf "| %s | %d | %d | %d |\n", level[i], by[level[i], "proved"],
				by[level[i], "excused"], by[level[i], "open"]
		for (i = 1; i <= n; i++) {
			split(row[i], f, "\t")
			key = substr(f[1], 1, length(f[1]) - 3)
			if (key != last) {
				print ""
				d = key
				sub(/-.*/, "", d)
				number = f[2] ~ /^[0-9C]/ ? f[2] " " : ""
				print "## " (d == "V2" ? "" : d ": ") number title[key]
				print ""
				print "| id | level | requirement | status | proof, or reason |"
				print "|---|---|---|---|---|"
				last = key
			}
			printf "| %s | %s | %s | %s | %s |\n", f[1], f[3], cell(f[4]), f[5],
				f[5] == "proved" ? shown(f[6]) : cell(f[6])
		}
	}' "$tmp/documents" "$sections" "$table"
}

if [ "${2:-}" != check ]; then
	generate >"$tmp/page"
	mkdir -p "$root/docs"
	cp "$tmp/page" "$page"
	exit 0
fi
failed=0
check || failed=1
generate >"$tmp/page"
if ! cmp -s "$tmp/page" "$page"; then
	echo "docs/conformance.md is out of date: run tests/spec/conformance.sh ."
	failed=1
fi
exit $failed
