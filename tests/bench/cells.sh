#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cells.sh SOURCE: cases become the cells that they name, and rows become medians and
# ratios.  Nothing is measured: the rows are written here.
set -eu
report=$1/bench/report
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
	echo "FAIL: $*"
	exit 1
}
expand() { awk -f "$report/plan.awk" -v places="one split" "$@" 2>"$tmp/err"; }
count() { awk -F '\t' -v kind="$1" '$1 == kind' "$tmp/plan" | wc -l; }

cat >"$tmp/subjects" <<-'END'
	base | Base  | server_a   | client_a --x
	fast | Fast  | server_b y | client_b
	lone | Lone  | server_c   | client_c | 1
END
cat >"$tmp/cases" <<-'END'
	table calls base,fast*,lone Some calls
	row null 0 1!,2 1
	full row read 8 1 1 split
	table nfs base,fast Others
	row null 0 1 1
	memory fast 1,2!
END
expand "$tmp/subjects" "$tmp/cases" >"$tmp/plan" || fail "no plan: $(cat "$tmp/err")"
# 2 places x (3 + 2 subjects), 3 of the full row, 2 x 2 of the table nfs.
[ "$(count cell)" = 17 ] || fail "cells: $(count cell)"
[ "$(count server)" = 3 ] || fail "servers: $(count server)"
grep -q "^table	calls	base	fast	Some calls$" "$tmp/plan" || fail "no table"
grep -q "^cell	calls	split	null	0	2	1	fast	Fast	client_b$" "$tmp/plan" || fail "no cell"
! grep "	2	1	lone" "$tmp/plan" || fail "a cell beyond its subject's limit"
grep -q "^memory	fast	Fast	client_b	server_b y	1	2$" "$tmp/plan" || fail "no memory"
expand -v quick=1 "$tmp/subjects" "$tmp/cases" >"$tmp/plan"
[ "$(count cell)" = 10 ] || fail "cells of a quick run: $(count cell)"
expand -v only=nfs "$tmp/subjects" "$tmp/cases" >"$tmp/plan"
[ "$(count cell) $(count memory)" = "4 0" ] || fail "cells of NFS: $(count cell)"
for wrong in "row null 0 1" "rwo null 0 1 1" "table t nobody T
row null 0 1 1"; do
	echo "$wrong" >"$tmp/wrong"
	! expand "$tmp/subjects" "$tmp/wrong" >"$tmp/plan" || fail "accepted: $wrong"
	grep -q "$tmp/wrong:[12]:" "$tmp/err" || fail "no line is named: $(cat "$tmp/err")"
done
expand "$1/bench/subjects.tab" "$1/bench/cases.tab" >"$tmp/plan" || fail "$(cat "$tmp/err")"

# The median of 100, 300 and 200 ns a call is 200; of 40 and 60 it is 50.
expand "$tmp/subjects" "$tmp/cases" >"$tmp/plan"
sed 's/ | /	/g' >"$tmp/rows" <<-'END'
	row | one | base | null 0 1 1 10 1000
	row | one | base | null 0 1 1 10 3000
	row | one | base | null 0 1 1 10 2000
	row | one | fast | null 0 1 1 1 40 sends=2.00 syscalls=1.00+2.00
	row | one | fast | null 0 1 1 1 60 sends=2.00 syscalls=1.50+2.50
	row | one | fast | null 0 1 1
	row | one | lone | null 0 1 1 0 5
	memory | fast | 2 | 300 | 200
	program | shapes | 1000 | 50.0 | 2.0 | 3.0 | 1.5
END
awk -f "$report/cells.awk" "$tmp/plan" "$tmp/rows" >"$tmp/cells"
expect() { grep -qxF "$(echo "$1" | sed 's/ | /	/g')" "$tmp/cells" || fail "not among the cells: $1"; }
expect "cell | calls | one | null | 0 | 1 | 1 | base | Base | 3 | 0 | 200.0 | 100.0 | 300.0 | 1.0000 | -"
expect "cell | calls | one | null | 0 | 1 | 1 | fast | Fast | 2 | 1 | 50.0 | 40.0 | 60.0 | 4.0000 | sends=2.00 syscalls=1.50+2.50"
expect "cell | calls | one | null | 0 | 1 | 1 | lone | Lone | 0 | 1 | - | - | - | - | -"
expect "cell | nfs | one | null | 0 | 1 | 1 | fast | Fast | 2 | 1 | 50.0 | 40.0 | 60.0 | 4.0000 | sends=2.00 syscalls=1.50+2.50"
expect "memory | fast | Fast | 2 | 300 | 200"
expect "program | shapes | 1000 | 50.0 | 2.0 | 3.0 | 1.5"

awk -f "$report/units.awk" -f "$report/table.awk" -f "$report/text.awk" "$tmp/cells" >"$tmp/text"
grep -q "^NULL, 1 in flight  *0.2 us  *4.00  *0.1 us  *-$" "$tmp/text" || fail "text: $(cat "$tmp/text")"
grep -q "^2 runs FAILED" "$tmp/text" || fail "failures are not in the text"
echo "cells: 17 cells, medians and ratios"
