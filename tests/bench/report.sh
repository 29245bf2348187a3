#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# report.sh SOURCE BUILD: bench/run.sh measures two rows for a few milliseconds and writes
# well-formed JSON with all its keys, Markdown that can be quoted, and plots.  A row that
# fails and a server that does not start are named, and the run goes on.
set -eu
source=$1 build=$2
command -v jq >/dev/null || {
	echo "SKIPPED: jq is not installed"
	exit 77
}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() {
	echo "FAIL: $*"
	exit 1
}
run() {
	timeout -k 5 100 "$source/bench/run.sh" "$build" --cases "$tmp/cases" --reps 1 --ms 2 \
		--out "$tmp/out" "$@" >"$tmp/text" 2>"$tmp/err" </dev/null ||
		fail "run.sh exits with $?: $(tail -n 3 "$tmp/err")"
}
json() { jq -e "$1" "$tmp/out/bench.json" >/dev/null || fail "not so in bench.json: $1"; }
keys() { # OBJECT KEY...
	object=$1
	shift
	have=$(jq -r "$object | keys | join(\" \")" "$tmp/out/bench.json") || fail "$object is not an object"
	[ "$have" = "$*" ] || fail "keys of $object: $have"
}

# The second row cannot be measured by a program: the octets are no multiple of four.
cat >"$tmp/cases" <<-'END'
	table calls tcp,rdma* Calls
	row null 0 1 1
	row read 4096 2 3
	table odd tcp Odd
	row read 3 1 1 one
	memory idle 2,3
END
run --rdma-only
keys . cells commit date failed machine memory milliseconds modified programs quick \
	repetitions seconds skipped tables
keys .machine busy busy_percent congestion_control cpu cpus kernel
keys '.cells[0]' bytes connections depth failed label ns_max ns_min ns_per_call per_call place \
	ratio runs subject table test
keys '.cells[] | select(.subject == "rdma" and .test == "null" and .place == "one") | .per_call' \
	invalidations reads registrations sends stalls syscalls wakeups writes
keys '.memory[0]' client_kib connections label server_kib subject
keys .tables.calls base main title
places=2
[ "$(nproc)" -gt 1 ] || places=1
json ".cells | length == $places * 4 + 1"
json '[.cells[] | select(.table == "calls") | .runs == 1 and .failed == 0 and .ns_per_call > 0 and
	.ns_min <= .ns_per_call and .ns_per_call <= .ns_max and .ratio > 0] | all'
json '[.cells[] | select(.subject == "tcp" and .ns_per_call != null) | .ratio == 1] | all'
json '[.cells[] | select(.subject == "rdma") | .per_call.sends > 1.9] | all'
json '[.cells[] | select(.table == "odd") | .runs == 0 and .failed == 1 and .ratio == null] | all'
json '.failed | length == 1 and (.[0] | test("tcp: read of 3 octets"))'
json '[.memory[].connections] == [2, 3] and ([.memory[] | .server_kib > 0 and .client_kib > 0] | all)'
json '.machine | .busy == (.busy_percent > 10) and .busy_percent <= 100'
json '.repetitions == 1 and .milliseconds == 2 and .quick == false and .machine.cpus > 0'
grep -q 'FAILED: tcp: read of 3 octets' "$tmp/err" || fail "the failed row is not named"
grep -q '^1 runs FAILED' "$tmp/text" || fail "the text does not count the failed row"
grep -q '^NULL, 1 in flight  ' "$tmp/text" || fail "no row in the text"
grep -q '^READ 4 KiB, 2 in flight x 3 connections  ' "$tmp/text" || fail "no row of connections"
grep -qF "$(grep '^NULL' "$tmp/text" | head -n 1)" "$tmp/out/report.txt" || fail "report.txt"

if command -v gnuplot >/dev/null; then
	for plot in size depth memory nfs; do
		grep -q '</svg>' "$tmp/out/$plot.svg" || fail "$plot.svg"
	done
else
	grep -q 'left out: plots' "$tmp/err" || fail "nothing says that there are no plots"
fi

# Quoted are the tables that the document names.
printf '%s\n' before '<!-- table calls -->' old '<!-- end -->' between '<!-- table run -->' \
	'<!-- end -->' after >"$tmp/doc.md"
touch "$tmp/out/size.svg"
"$source/bench/quote.sh" "$tmp/out" "$tmp/doc.md" || fail "quote.sh"
! grep -qx old "$tmp/doc.md" || fail "the old table is still there"
[ "$(grep -cx 'before\|between\|after\|<!-- end -->' "$tmp/doc.md")" = 5 ] || fail "$(cat "$tmp/doc.md")"
grep -q '^| NULL, 1 in flight | ' "$tmp/doc.md" || fail "no row was quoted"
grep -q '^Commit .* medians of 1 repetitions of 2 ms' "$tmp/doc.md" || fail "no run was quoted"
[ -f "$tmp/doc/size.svg" ] || fail "no plot was copied"
printf '%s\n' '<!-- table nothing -->' '<!-- end -->' >"$tmp/doc.md"
! "$source/bench/quote.sh" "$tmp/out" "$tmp/doc.md" 2>"$tmp/err" || fail "a missing table is quoted"

# NFS, without a host of its own: nfs-ganesha cannot start there.
cat >"$tmp/cases" <<-'END'
	table calls tcp Calls
	row null 0 1 1
	table nfs ganesha,nfsd* NFS
	row getattr,lookup,create,readdirplus 0 1 1 one
	row read,write 4096 2 1 one
END
OWN_HOST=no run --nfs-only
json '[.cells[] | select(.subject == "nfsd") | .runs == 1 and .failed == 0 and .ratio == null] | . == [range(6) | true]'
json '[.cells[] | select(.subject == "ganesha") | .runs == 0 and .failed == 0] | . == [range(6) | true]'
json '[.cells[] | select(.table == "calls")] == []'
json '[.skipped[] | test("^ganesha: ")] == [true]'
grep -q 'left out: ganesha: ' "$tmp/err" || fail "nothing says that nfs-ganesha is left out"
grep -q '^READDIRPLUS, 100 entries, 1 in flight  *-  *-  *[0-9]' "$tmp/text" || fail "no row of nfsd"

"$source/bench/run.sh" --help | grep -q -- '--nfs-only' || fail "no help"
echo "report: $places places, $(jq '.cells | length' "$tmp/out/bench.json") cells"
