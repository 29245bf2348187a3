#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints line and branch coverage of src/wire and src/conn from a build with
# RR_COVERAGE whose tests have run, and every branch that no test takes.
# tests/spec/branches.tsv gives reasons: file, text of the line, how many of its
# branches, why.  Assertions (RR_ASSERT, RR_NEVER) cannot fail and are not counted.
# Exit 1 if a branch is missing without a reason, if a reason is for nothing, or if
# there is nothing to count.
# usage: coverage.sh BUILD
set -eu
build=$(cd "${1:?usage: coverage.sh BUILD}" && pwd)
cd "$(dirname "$0")/.."
reasons=$PWD/tests/spec/branches.tsv
source=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

for data in "$build"/src/CMakeFiles/rr_wire.dir/wire/*.gcda \
	"$build"/src/CMakeFiles/rr_wire.dir/wire/*/*.gcda \
	"$build"/src/CMakeFiles/rr_conn.dir/conn/*.gcda \
	"$build"/src/CMakeFiles/rr_conn.dir/conn/*/*.gcda; do
	[ -f "$data" ] || {
		echo "coverage.sh: no counts in $build: build with RR_COVERAGE and run the tests" >&2
		exit 1
	}
	gcov -b -c -p "$data" >/dev/null 2>&1
done

# One pass over all: a line of source, then its branches.
cat ./*src#wire#*.gcov ./*src#conn#*.gcov | awk -v reasons="$reasons" -v root="$source/" '
	function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); gsub(/[ \t]+/, " ", s); return s }
	BEGIN {
		FS = "\t"
		while ((getline line < reasons) > 0) {
			if (line ~ /^#/ || line == "" || line ~ /^file\t/)
				continue
			split(line, part, "\t")
			key = part[1] SUBSEP trim(part[2])
			excused[key] = part[3]
			why[key] = part[4]
		}
	}
	/^ *-: +0:Source:/ {
		file = $0
		sub(/^.*Source:/, "", file)
		sub(root, "", file)
		keep = file ~ /^src\/(wire|conn)\//
		next
	}
	/^ *([0-9]+\*?|#####|=====|-): *[0-9]+:/ {
		count = $0
		sub(/:.*/, "", count)
		gsub(/ /, "", count)
		number = $0
		sub(/^[^:]*: */, "", number)
		text = number
		sub(/:.*/, "", number)
		sub(/^[^:]*:/, "", text)
		text = trim(text)
		asserts = text ~ /RR_(ASSERT|NEVER)/
		if (keep && count != "-") {
			lines[file]++
			if (count ~ /^[0-9]/ && count != "0")
				hit[file]++
		}
		next
	}
	/^branch +[0-9]+ / && keep && !asserts {
		branches[file]++
		if ($0 ~ /never executed|taken 0( |$)/) {
			key = file SUBSEP text
			missing[file]++
			if (!(key in seen)) {
				order[++n] = key
				at[key] = file ":" number ": " text
			}
			seen[key]++
		}
	}
	END {
		printf "%-32s %13s %15s\n", "", "lines", "branches"
		for (f in lines)
			names[++k] = f
		for (i = 2; i <= k; i++) # few files: insertion sort
			for (j = i; j > 1 && names[j] < names[j - 1]; j--) {
				t = names[j]; names[j] = names[j - 1]; names[j - 1] = t
			}
		for (i = 1; i <= k; i++) {
			f = names[i]
			l += lines[f]; h += hit[f]; b += branches[f]; m += missing[f]
			printf "%-32s %4d of %4d %6d of %5d\n", f, hit[f], lines[f], branches[f] - missing[f], branches[f]
		}
		printf "%-32s %4d of %4d %6d of %5d  (%.1f %%, %.1f %%)\n", "all", h, l, b - m, b, l ? 100 * h / l : 0, b ? 100 * (b - m) / b : 0
		for (i = 1; i <= n; i++) {
			key = order[i]
			if (key in why && excused[key] == seen[key]) {
				used[key] = 1
				printf "not taken: %s\n           %s\n", at[key], why[key]
			} else {
				other = (key in why) ? ", the reason is for " excused[key] : ""
				printf "not taken, WITHOUT A REASON: %s (%d of its branches%s)\n", at[key], seen[key], other
				used[key] = bad = 1
			}
		}
		for (key in why)
			if (!(key in used)) {
				split(key, p, SUBSEP)
				printf "a reason for nothing: %s: %s\n", p[1], p[2]
				stale = 1
			}
		if (!l || !b) {
			print "coverage.sh: nothing was counted: where are the sources?"
			bad = 1
		}
		exit bad || stale
	}'
