#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Writes docs/states.md, the state machines with their diagrams, from the tables in the
# headers named below.
#
#   states.sh ROOT            writes docs/states.md
#   states.sh ROOT check      fails if that file is out of date, or a table is wrong
#
# To add a machine M: write M_EVENTS, M_STATES and M_MOVES as src/base/machine.h says,
# under a banner /* -- title ---- */ that names the object; if its header is new here,
# add it to "headers"; run this script.
set -eu
root=$1
headers="src/conn/states.h src/conn/rprc/rprc_states.h src/conn/rtr/rtr_states.h src/link/link_states.h"
page=$root/docs/states.md
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# One line for each title, event, state and move of a header, fields separated by tabs.
tables() {
	awk '
	function trim(s) { gsub(/^[ \t]+|[ \t]+$/, "", s); return s }
	# The tables of a macro, its lines joined: X(...) after X(...).
	function rows(kind, text,    row, n, part, rest) {
		while (match(text, /X\([^"()]*("[^"]*"[ \t]*)*[^"()]*\)/)) {
			row = substr(text, RSTART + 2, RLENGTH - 3)
			text = substr(text, RSTART + RLENGTH)
			if (kind == "move") {
				n = split(row, part, ",")
				print kind "\t" trim(part[1]) "\t" trim(part[2]) "\t" trim(part[3])
				continue
			}
			gsub(/"[ \t]*"/, "", row)
			split(row, part, "\"")
			rest = part[3]
			sub(/^[ \t]*,/, "", rest)
			gsub(/[ \t]+/, " ", rest)
			sub(/,.*/, "", part[1])
			print kind "\t" trim(part[1]) "\t" part[2] "\t" trim(rest)
		}
	}
	/^\/\* -- .* -+ \*\/$/ {
		banner = $0
		sub(/^\/\* -- /, "", banner)
		sub(/ -+ \*\/$/, "", banner)
	}
	macro == "" && match($0, /^#define [A-Z_]+_(EVENTS|STATES|MOVES)\(X\)/) {
		macro = substr($0, 9, RLENGTH - 11)
		text = ""
	}
	macro != "" {
		line = $0
		last = line !~ /\\$/
		sub(/\\$/, "", line)
		sub(/^#define [^(]*\(X\)/, "", line)
		gsub(/\/\*[^*]*\*\//, "", line)
		text = text " " line
		if (!last)
			next
		name = macro
		sub(/_[A-Z]+$/, "", name)
		if (macro ~ /_EVENTS$/) {
			print "machine\t" name "\t" banner
			rows("event", text)
		} else if (macro ~ /_STATES$/) {
			rows("state", text)
		} else {
			rows("move", text)
		}
		macro = ""
	}' "$1"
}

generate() {
	echo "<!-- Written by tests/spec/states.sh from $headers. -->"
	cat <<'EOT'
# States

Each machine has a table of events, one of states with the events that they accept, and
one of moves. A machine begins in its first state. One function assigns the state. Debug
builds check that the state accepts each event, and that the table has each move.
EOT
	awk -F '\t' '
	function bad(what) { print "states.sh: " machine ": " what >"/dev/stderr"; failed = 1 }
	function finish(    i, s, e, key, n, part) {
		if (machine == "")
			return
		printf "\n## %s (`%s_*`)\n", toupper(substr(title, 1, 1)) substr(title, 2), machine
		print "\n```mermaid\nstateDiagram-v2\n    [*] --> " state[1]
		for (i = 1; i <= arrows; i++)
			print "    " arrow[i] " : " label[arrow[i]]
		print "```"
		print "\n| state | meaning | events accepted |\n|---|---|---|"
		for (i = 1; i <= states; i++) {
			s = state[i]
			n = split(accepts[s], part, / *\| */)
			if (accepts[s] == "0")
				n = 0
			e = ""
			for (key = 1; key <= n; key++) {
				if (!(part[key] in event_known))
					bad(s " accepts " part[key] ", which is not an event")
				used[part[key]] = 1
				e = e (key > 1 ? ", " : "") part[key]
			}
			if (i > 1 && !(s in reached))
				bad("no move to " s)
			printf "| %s | %s | %s |\n", s, meaning[s], e
		}
		print "\n| event | meaning |\n|---|---|"
		for (i = 1; i <= events; i++) {
			if (!(event[i] in used))
				bad("no state accepts " event[i])
			printf "| %s | %s |\n", event[i], event_meaning[event[i]]
		}
		states = events = arrows = 0
		split("", event_known); split("", used); split("", reached)
		split("", label); split("", meaning); split("", accepts)
	}
	$1 == "machine" { finish(); machine = $2; title = $3 }
	$1 == "event" { event[++events] = $2; event_known[$2] = 1; event_meaning[$2] = $3 }
	$1 == "state" { state[++states] = $2; meaning[$2] = $3; accepts[$2] = $4 }
	$1 == "move" {
		if (!($2 in meaning) || !($4 in meaning) || !($3 in event_known))
			bad("a move from " $2 " by " $3 " to " $4)
		if ($2 != $4)
			reached[$4] = 1
		key = $2 " --> " $4
		if (!(key in label))
			arrow[++arrows] = key
		label[key] = label[key] (label[key] == "" ? "" : ", ") $3
	}
	END { finish(); exit failed }' "$tmp/tables"
}

for h in $headers; do
	tables "$root/$h" >"$tmp/one"
	[ -s "$tmp/one" ] || { echo "states.sh: no tables in $h"; exit 1; }
	cat "$tmp/one"
done >"$tmp/tables"
generate >"$tmp/page"
if [ "${2:-}" = check ]; then
	cmp -s "$tmp/page" "$page" ||
		{ echo "docs/states.md is out of date: run tests/spec/states.sh ."; exit 1; }
else
	mkdir -p "$root/docs"
	cp "$tmp/page" "$page"
fi
