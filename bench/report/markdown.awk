# SPDX-License-Identifier: BSD-3-Clause
# Prints tables of Markdown, each between "<!-- table NAME -->" and "<!-- end -->", and as
# the first one, "run", a sentence about the run.  A field has two figures: both ends on
# one core / a core each.
#   awk -f units.awk -f table.awk -f markdown.awk notes cells

function pair(one, each) { return one == "-" ? each : each == "-" ? one : one " / " each }

function both_figures(t, i, row) {
	return pair(own_figure(t, "one", i, row), own_figure(t, "split", i, row))
}

function both_ratios(t, i, row) {
	return pair(fraction(get(ratio, t, "one", i, row)), fraction(get(ratio, t, "split", i, row)))
}

function print_head(t,    i, rule) {
	printf "| %s | %s |", title[t], label[t, 1]
	rule = "|---|---|"
	for (i = 2; i <= n_subjects[t]; i++) {
		rule = rule "---|"
		printf " %s |", label[t, i]
		if (subject[t, i] == main[t]) {
			printf " itself |"
			rule = rule "---|"
		}
	}
	printf "\n%s\n", rule
}

function print_row(t, row,    i) {
	printf "| %s | %s |", row_name(row), both_figures(t, 1, row)
	for (i = 2; i <= n_subjects[t]; i++) {
		printf " %s |", both_ratios(t, i, row)
		if (subject[t, i] == main[t])
			printf " %s |", both_figures(t, i, row)
	}
	print ""
}

function print_memory(    i, f) {
	print "| Idle connections | number | KiB each, server | client |\n|---|---|---|---|"
	for (i = 1; i <= n_memory; i++) {
		split(memory[i], f, "\t")
		printf "| %s | %d | %.0f | %.0f |\n", f[3], f[4], f[5] / f[4], f[6] / f[4]
	}
}

function print_programs(    i, f) {
	print "| Program | octets | by RDMA | TCP | RDMA | time, TCP = 1 |\n|---|---|---|---|---|---|"
	for (i = 1; i <= n_programs; i++) {
		split(programs[i], f, "\t")
		printf "| %s | %s | %.0f %% | %.1f ms | %.1f ms | %.2f |\n", f[2],
			with_commas(f[3]), f[4], f[5], f[6], f[7]
	}
}

function print_run() {
	printf "Commit %s%s, %s: %s, %s CPUs, %s, TCP with %s; medians of %d repetitions of %d ms.%s\n",
		note["commit"], note["modified"] == "true" ? " with changes" : "",
		substr(note["date"], 1, 10), note["cpu"], note["cpus"], note["kernel"],
		note["congestion_control"],
		note["repetitions"], note["milliseconds"],
		note["busy"] == "true" ? " The machine was busy with other work." : ""
}

NF == 2 { note[$1] = $2 }
END {
	print "<!-- table run -->"
	print_run()
	print "<!-- end -->"
	for (i = 1; i <= n_tables; i++) {
		print "<!-- table " tables[i] " -->"
		print_head(tables[i])
		for (j = 1; j <= n_rows[tables[i]]; j++)
			print_row(tables[i], rows[tables[i], j])
		print "<!-- end -->"
	}
	if (n_memory) {
		print "<!-- table memory -->"
		print_memory()
		print "<!-- end -->"
	}
	if (n_programs) {
		print "<!-- table programs -->"
		print_programs()
		print "<!-- end -->"
	}
}
