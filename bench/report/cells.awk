# SPDX-License-Identifier: BSD-3-Clause
# Joins a plan (plan.awk) with the rows that were measured, and prints lines with fields
# separated by tabs:
#
#   table  NAME BASE MAIN TITLE
#   cell   TABLE PLACE TEST BYTES DEPTH CONNS SUBJECT LABEL RUNS FAILED NS MIN MAX RATIO
#          COUNTERS
#   memory SUBJECT LABEL CONNS SERVER_KIB CLIENT_KIB
#   program NAME OCTETS BY_RDMA TCP_MS RDMA_MS RATIO
#
# NS is the median of nanoseconds for a call, MIN and MAX are the extremes.  RATIO is the
# base's NS divided by NS: a fraction of its speed.  "-" stands for what was not measured.
# COUNTERS are "name=value name=value ..." of the last run, or "-".
#
# The rows are "row PLACE SUBJECT ROW" with the ROW that a program has printed (bench.h),
# or with one that ends after CONNS if it has failed; "memory SUBJECT CONNS SERVER_KIB
# CLIENT_KIB"; and "program ..." as above.
#
#   awk -f cells.awk plan rows

function sort(v, n,    i, j, t) {
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
			t = v[j]
			v[j] = v[j - 1]
			v[j - 1] = t
		}
}

# Sets median, least and most of a key's values.
function measure(key,    v, n) {
	n = split(values[key], v, " ")
	median = least = most = "-"
	if (!n)
		return
	sort(v, n)
	median = sprintf("%.1f", n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2)
	least = v[1]
	most = v[n]
}

function key(place, subject, test, bytes, depth, conns) {
	return place SUBSEP subject SUBSEP test SUBSEP bytes SUBSEP depth SUBSEP conns
}

function print_cell(    k, base_ns, ratio) {
	measure(key($3, base[$2], $4, $5, $6, $7))
	base_ns = median
	k = key($3, $8, $4, $5, $6, $7)
	measure(k)
	ratio = median != "-" && base_ns != "-" ? sprintf("%.4f", base_ns / median) : "-"
	print "cell", $2, $3, $4, $5, $6, $7, $8, $9, runs[k] + 0, failures[k] + 0, median,
		least, most, ratio, k in counters ? counters[k] : "-"
}

BEGIN { FS = OFS = "\t" }
FILENAME == ARGV[1] {
	if ($1 == "table")
		base[$2] = $3
	if ($1 == "memory")
		label[$2] = $3
	plan[++n_plan] = $0
	next
}
$1 == "row" {
	n = split($4, f, " ")
	k = key($2, $3, f[1], f[2], f[3], f[4])
	if (f[5] + 0 == 0) {
		failures[k]++
		next
	}
	runs[k]++
	values[k] = values[k] " " sprintf("%.1f", f[6] / f[5])
	if (n > 6) {
		counters[k] = f[7]
		for (i = 8; i <= n; i++)
			counters[k] = counters[k] " " f[i]
	}
	next
}
$1 == "memory" { others[++n_others] = "memory" OFS $2 OFS label[$2] OFS $3 OFS $4 OFS $5; next }
$1 == "program" { others[++n_others] = $0 }
END {
	for (i = 1; i <= n_plan; i++) {
		$0 = plan[i]
		if ($1 == "table")
			print
		if ($1 == "cell")
			print_cell()
	}
	for (i = 1; i <= n_others; i++)
		print others[i]
}
