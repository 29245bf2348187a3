# SPDX-License-Identifier: BSD-3-Clause
# Reads what cells.awk joined; used with units.awk, and with text.awk or markdown.awk,
# which print it.
#
#   tables[1..n_tables]              names
#   title[T], main[T]                of a table; main is a subject
#   subject[T, 1..n_subjects[T]]     the first is the base
#   label[T, i]                      of a subject
#   rows[T, 1..n_rows[T]]            TEST SUBSEP BYTES SUBSEP DEPTH SUBSEP CONNS
#   get(ns or ratio, T, PLACE, i, ROW)   a figure, or "-"
#   counters[ROW]                    of the table "calls", main subject, one core
#   memory[1..n_memory], programs[1..n_programs]   lines as they were read

function get(of, t, place, i, row,    k) {
	k = t SUBSEP place SUBSEP subject[t, i] SUBSEP row
	return k in of ? of[k] : "-"
}

# The figure of a row for people.
function own_figure(t, place, i, row,    f) {
	split(row, f, SUBSEP)
	return absolute(f[1], f[2], f[3] * f[4], get(ns, t, place, i, row))
}

function row_name(row,    f) {
	split(row, f, SUBSEP)
	return work(f[1], f[2]) ", " flight(f[3], f[4])
}

BEGIN { FS = "\t" }
$1 == "table" {
	tables[++n_tables] = $2
	main[$2] = $4
	title[$2] = $5
}
$1 == "cell" {
	row = $4 SUBSEP $5 SUBSEP $6 SUBSEP $7
	if (!(($2, $8) in number)) {
		number[$2, $8] = ++n_subjects[$2]
		subject[$2, n_subjects[$2]] = $8
		label[$2, n_subjects[$2]] = $9
	}
	if (!(($2, row) in seen)) {
		seen[$2, row] = 1
		rows[$2, ++n_rows[$2]] = row
	}
	has_place[$2, $3, row] = 1
	ns[$2, $3, $8, row] = $12
	ratio[$2, $3, $8, row] = $15
	if (!(($3, $8, row) in counted)) { # once, though in several tables
		counted[$3, $8, row] = 1
		failed += $11
	}
	if ($2 == "calls" && $3 == "one" && $8 == main[$2] && $16 != "-")
		counters[row] = $16
}
$1 == "memory" { memory[++n_memory] = $0 }
$1 == "program" { programs[++n_programs] = $0 }
