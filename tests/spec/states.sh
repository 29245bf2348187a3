#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The states of a connection and of what is in it: docs/states.md from the tables
# of src/conn/states.h.
#
#   states.sh ROOT            writes docs/states.md
#   states.sh ROOT check      fails if that file is out of date
set -eu
root=$1
page=$root/docs/states.md
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

generate()
{
	cat <<'EOF'
<!-- Written by tests/spec/states.sh from src/conn/states.h. -->
# States

A connection (`struct rr_conn`), each of its calls and requests, each region of
memory and the host authentication are in one state at a time, named by a table in
`src/conn/states.h`.  A connection's state is assigned in one place, which traces the
move.

The usual ways:

- connection: NEW, PROPS (unless it begins with version 1), READY; from these CLOSING
  if an end is asked for or a rule is broken; LOST when the provider says so, CLOSED when
  nobody owes anything any more;
- call: QUEUED, REGISTERING (if it offers memory), PREPARED, SENDING (if it has
  several parts), WAITING, ENDING, DONE; from each of them ENDING if it is given up,
  refused or its Reply is not believed, DONE with the connection's loss;
- request: ROOM and COLLECTING (of a continued Call), TURN (if too many are served),
  BUDGET (if something is to be pulled), PULLING_CALL (of a Special Call), ADMIT,
  PULLING, SERVED, REPLYING, LEAVING; LEAVING from each of them when it is
  refused, dropped or lost;
- region: IDLE, REGISTERING, VALID, then INVALIDATING and IDLE, or IDLE at once if the
  peer invalidated it;
- authentication: OFF, or IDLE, then SAY and LISTEN in turns, DONE.
EOF
	awk '
	BEGIN {
		title["CONN"] = "Connection"
		title["CALL"] = "Call"
		title["REQUEST"] = "Request"
		title["MR"] = "Region"
		title["AUTH"] = "Host authentication"
	}
	/^#define RR_[A-Z]+_STATES\(X\)/ {
		name = $2
		sub(/^RR_/, "", name)
		sub(/_STATES.*/, "", name)
		printf "\n## %s (`RR_%s_*`)\n\n| state | meaning |\n|---|---|\n",
			name in title ? title[name] : name, name
		inside = 1
		next
	}
	inside && /^\tX\(/ {
		state = $0
		sub(/^\tX\(/, "", state)
		sub(/,.*/, "", state)
		meaning = $0
		sub(/^[^"]*"/, "", meaning)
		sub(/".*/, "", meaning)
		printf "| %s | %s |\n", state, meaning
		if ($0 !~ /\\$/)
			inside = 0
	}' "$root/src/conn/states.h"
}

generate >"$tmp/page"
if [ "${2:-}" = check ]; then
	[ "$(grep -c '^## ' "$tmp/page")" -ge 4 ] || { echo "states: no tables in states.h?"; exit 1; }
	cmp -s "$tmp/page" "$page" ||
		{ echo "docs/states.md is out of date: run tests/spec/states.sh ."; exit 1; }
else
	mkdir -p "$root/docs"
	cp "$tmp/page" "$page"
fi
