# SPDX-License-Identifier: BSD-3-Clause
# Prints what cells.awk joined, and notes about the run, as one JSON object.  The notes are
# "KEY<TAB>VALUE"; the keys skipped and failed may repeat.
#   awk -f json.awk notes cells

function quote(s) {
	gsub(/\\/, "\\\\", s)
	gsub(/"/, "\\\"", s)
	gsub(/[\001-\037]/, " ", s)
	return "\"" s "\""
}

function number(s) { return s ~ /^-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?$/ ? s : "null" }

function note(key) { return quote(key) ":" (value[key] ~ /^(true|false)$/ ? value[key] : quote(value[key])) }

function number_note(key) { return quote(key) ":" number(value[key]) }

# "a=1 b=2+3" as an object; the parts of a sum are the client's and the server's, or local
# and by the peer: a list.
function counter_object(s,    c, n, i, pair, parts, m, j, out, list) {
	if (s == "-")
		return "null"
	n = split(s, c, " ")
	for (i = 1; i <= n; i++) {
		split(c[i], pair, "=")
		m = split(pair[2], parts, "+")
		list = number(parts[1])
		for (j = 2; j <= m; j++)
			list = list "," number(parts[j])
		out = out (i > 1 ? "," : "") quote(pair[1]) ":" (m > 1 ? "[" list "]" : list)
	}
	return "{" out "}"
}

function comma(n) { return n > 1 ? "," : "" }

BEGIN {
	FS = "\t"
}
FILENAME == ARGV[1] {
	if ($1 == "skipped")
		skipped = skipped comma(++n_skipped) quote($2)
	else if ($1 == "failed")
		failed = failed comma(++n_failed) quote($2)
	else
		value[$1] = $2
	next
}
$1 == "table" {
	tables = tables comma(++n_tables) "\n  " quote($2) ":{\"title\":" quote($5) ",\"base\":" \
		quote($3) ",\"main\":" quote($4) "}"
}
$1 == "cell" {
	cells = cells comma(++n_cells) "\n  {\"table\":" quote($2) ",\"place\":" quote($3) \
		",\"test\":" quote($4) ",\"bytes\":" number($5) ",\"depth\":" number($6) \
		",\"connections\":" number($7) ",\"subject\":" quote($8) ",\"label\":" quote($9) \
		",\"runs\":" number($10) ",\"failed\":" number($11) ",\"ns_per_call\":" number($12) \
		",\"ns_min\":" number($13) ",\"ns_max\":" number($14) ",\"ratio\":" number($15) \
		",\"per_call\":" counter_object($16) "}"
}
$1 == "memory" {
	memory = memory comma(++n_memory) "\n  {\"subject\":" quote($2) ",\"label\":" quote($3) \
		",\"connections\":" number($4) ",\"server_kib\":" number($5) ",\"client_kib\":" \
		number($6) "}"
}
$1 == "program" {
	programs = programs comma(++n_programs) "\n  {\"name\":" quote($2) ",\"octets\":" number($3) \
		",\"percent_by_rdma\":" number($4) ",\"tcp_ms\":" number($5) ",\"rdma_ms\":" \
		number($6) ",\"time_ratio\":" number($7) "}"
}
END {
	printf "{%s,%s,%s,\n", note("commit"), note("modified"), note("date")
	printf "\"machine\":{%s,%s,%s,%s,%s,%s},\n", note("cpu"), number_note("cpus"),
		note("kernel"), note("congestion_control"), note("busy"), number_note("busy_percent")
	printf "%s,%s,%s,%s,\n", number_note("repetitions"), number_note("milliseconds"),
		number_note("seconds"), note("quick")
	printf "\"tables\":{%s},\n\"cells\":[%s],\n", tables, cells
	printf "\"memory\":[%s],\n\"programs\":[%s],\n", memory, programs
	printf "\"skipped\":[%s],\n\"failed\":[%s]}\n", skipped, failed
}
