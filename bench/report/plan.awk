# SPDX-License-Identifier: BSD-3-Clause
# Expands cases.tab by subjects.tab into a plan, with fields separated by tabs:
#
#   table   NAME BASE MAIN TITLE            BASE, MAIN: subjects
#   cell    TABLE PLACE TEST BYTES DEPTH CONNS SUBJECT LABEL CLIENT
#   memory  SUBJECT LABEL FEATURES SERVER CONNS...
#   server  SUBJECT PROGRAM SERVER          each subject of cells; PROGRAM: its client
#   programs
#
#   awk -f plan.awk -v quick=1 -v only=nfs|rdma -v places="one split" subjects.tab cases.tab

function fail(text) {
	print FILENAME ":" FNR ": " text >"/dev/stderr"
	failed = 1
	exit 1
}

function trim(s) {
	gsub(/^ +| +$/, "", s)
	return s
}

# Splits a list of alternatives, of which a quick run takes those with a mark.
function alternatives(list, ret,    all, n, i, taken) {
	n = split(list, all, ",")
	for (i = 1; i <= n; i++)
		if (!quick || list !~ /!/ || all[i] ~ /!/) {
			ret[++taken] = all[i]
			sub(/!/, "", ret[taken])
		}
	return taken
}

function need_server(subject) {
	if (!(subject in label))
		fail("no subject '" subject "' in subjects.tab")
	if (!(subject in needed)) {
		needed[subject] = 1
		order[++n_needed] = subject
	}
}

function begin_table(    i) {
	table = $2
	n_subjects = split($3, subjects, ",")
	main = subjects[1]
	title = $4
	for (i = 5; i <= NF; i++)
		title = title " " $i
	wanted = !only || (only == "nfs") == (table ~ /^nfs/)
	for (i = 1; i <= n_subjects; i++)
		if (sub(/\*/, "", subjects[i]))
			main = subjects[i]
	if (wanted)
		print "table", table, subjects[1], main, title
}

# One row at one place, for all subjects that can do it.
function print_cells(place, test, bytes, depth, conns,    i, s) {
	for (i = 1; i <= n_subjects; i++) {
		s = subjects[i]
		need_server(s)
		if (limit[s] && (depth > limit[s] || conns > limit[s]))
			continue
		print "cell", table, place, test, bytes, depth, conns, s, label[s], client[s]
	}
}

function expand_row(first,    t, b, d, c, p, nt, nb, nd, nc, np, tests, bytes, depths, conns, at) {
	if (!table || NF < first + 3)
		fail("a row stands below a table, and has TEST BYTES DEPTH CONNECTIONS")
	if (!wanted || (first > 2 && quick))
		return
	nt = alternatives($first, tests)
	nb = alternatives($(first + 1), bytes)
	nd = alternatives($(first + 2), depths)
	nc = alternatives($(first + 3), conns)
	np = split(places, at, " ")
	for (p = 1; p <= np; p++)
		for (t = 1; t <= nt; t++)
			for (b = 1; b <= nb; b++)
				for (d = 1; d <= nd; d++)
					for (c = 1; c <= nc; c++)
						if ($(first + 4) == "" || $(first + 4) == at[p])
							print_cells(at[p], tests[t], bytes[b], depths[d], conns[c])
}

function expand_memory(    list, n, i, j, counts, nc) {
	n = split($2, list, ",")
	nc = alternatives($3, counts)
	for (i = 1; i <= n; i++) {
		if (!(list[i] in label))
			fail("no subject '" list[i] "' in subjects.tab")
		printf "memory\t%s\t%s\t%s\t%s", list[i], label[list[i]], client[list[i]],
			server[list[i]]
		for (j = 1; j <= nc; j++)
			printf "\t%s", counts[j]
		print ""
	}
}

BEGIN { OFS = "\t" }
{ sub(/^#.*/, "") }
!NF { next }
FILENAME ~ /subjects/ {
	n = split($0, f, "|")
	name = trim(f[1])
	label[name] = trim(f[2])
	server[name] = trim(f[3])
	client[name] = trim(f[4])
	limit[name] = n > 4 ? trim(f[5]) + 0 : 0
	next
}
$1 == "table" { begin_table(); next }
$1 == "row" { expand_row(2); next }
$1 == "full" && $2 == "row" { expand_row(3); next } # not in a quick run
$1 == "memory" { if (only != "nfs") expand_memory(); next }
$1 == "programs" { if (only != "nfs") print; next }
{ fail("'" $1 "' is not table, row, full, memory or programs") }
END {
	if (failed)
		exit 1
	for (i = 1; i <= n_needed; i++) {
		split(client[order[i]], words, " ")
		print "server", order[i], words[1], server[order[i]]
	}
}
