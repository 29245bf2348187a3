# SPDX-License-Identifier: BSD-3-Clause
# Prints tables of text.
#   awk -f units.awk -f table.awk -f text.awk cells

function width(t, i) { return length(label[t, i]) + 2 > 12 ? length(label[t, i]) + 2 : 12 }

function print_head(t, place,    i) {
	printf "\n%s, %s; fractions of %s\n", toupper(title[t]), place_name(place), label[t, 1]
	printf "%-58s%15s", "", label[t, 1]
	for (i = 2; i <= n_subjects[t]; i++) {
		printf "%*s", width(t, i), label[t, i]
		if (subject[t, i] == main[t])
			printf "%15s", "itself"
	}
	print ""
}

function print_row(t, place, row,    i) {
	printf "%-58s%15s", row_name(row), own_figure(t, place, 1, row)
	for (i = 2; i <= n_subjects[t]; i++) {
		printf "%*s", width(t, i), fraction(get(ratio, t, place, i, row))
		if (subject[t, i] == main[t])
			printf "%15s", own_figure(t, place, i, row)
	}
	print ""
}

function print_table(t, place,    i, headed) {
	for (i = 1; i <= n_rows[t]; i++)
		if ((t, place, rows[t, i]) in has_place) {
			if (!headed++)
				print_head(t, place)
			print_row(t, place, rows[t, i])
		}
}

function print_counters(    i, j, n, c, pair, v, row, headed) {
	for (i = 1; i <= n_rows["calls"]; i++) {
		row = rows["calls", i]
		if (!(row in counters))
			continue
		if (!headed++)
			printf "\nOPERATIONS PER CALL of librpcrdma, both ends together\n" \
				"%-58s%7s%7s%8s%12s%13s%13s%18s\n", "", "Sends", "Reads", "Writes",
				"registered", "invalidated", "by the peer", "system calls c+s"
		n = split(counters[row], c, " ")
		for (j = 1; j <= n; j++) {
			split(c[j], pair, "=")
			v[pair[1]] = pair[2]
		}
		split(v["invalidations"], pair, "+")
		printf "%-58s%7s%7s%8s%12s%13s%13s%18s\n", row_name(row), v["sends"], v["reads"],
			v["writes"], v["registrations"], pair[1], pair[2], v["syscalls"]
	}
}

function print_memory(    i, f) {
	if (n_memory)
		printf "\nMEMORY OF IDLE CONNECTIONS, KiB each\n%-24s%12s%10s%10s\n", "",
			"connections", "server", "client"
	for (i = 1; i <= n_memory; i++) {
		split(memory[i], f, "\t")
		printf "%-24s%12d%10.1f%10.1f\n", f[3], f[4], f[5] / f[4], f[6] / f[4]
	}
}

function print_programs(    i, f) {
	if (n_programs)
		printf "\nPROGRAMS OF RPCGEN by libtirpc over TCP and over RDMA\n%-12s%12s%10s%12s%12s%16s\n",
			"", "octets", "by RDMA", "TCP ms", "RDMA ms", "time, TCP = 1"
	for (i = 1; i <= n_programs; i++) {
		split(programs[i], f, "\t")
		printf "%-12s%12s%9s%%%12.2f%12.2f%16.2f\n", f[2], f[3], f[4], f[5], f[6], f[7]
	}
}

END {
	for (i = 1; i <= n_tables; i++) {
		print_table(tables[i], "one")
		print_table(tables[i], "split")
	}
	print_counters()
	print_memory()
	print_programs()
	if (failed)
		printf "\n%d runs FAILED, see above\n", failed
}
