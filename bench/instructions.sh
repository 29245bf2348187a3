#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Instructions in user space for each call, of the client and of the server.
#
#   bench/instructions.sh BUILD [--save FILE] [--before FILE] [--check FILE]
#
# One thread of `bench_rdma both` turns the engines of both ends alternately, so a batch
# of calls executes the same instructions in each run.  callgrind counts those of one
# end at a time.  Reports the batch with the median, of all but the first.
#
# Libraries that others wrote are counted apart: their code depends on the processor.
# --before shows the counts of a saved file beside the new ones.  --check prints no
# functions, and fails unless each count of our own code is within 5 % of FILE.
set -eu
usage() {
	echo "usage: bench/instructions.sh BUILD [--save FILE] [--before FILE] [--check FILE]" >&2
	exit 2
}
[ $# -gt 0 ] || usage
program=$1/bench/bench_rdma
shift
save="" before="" check=""
while [ $# -gt 1 ]; do
	case $1 in
	--save) save=$2 ;;
	--before) before=$2 ;;
	--check) check=$2 before=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[ $# = 0 ] || usage
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM HUP

# Counts of one end, by function: "END TEST BYTES DEPTH FUNCTION COUNT", and their sums:
# "total" for the program, "others" for the libraries.  The parts into which
# the compiler has divided a function count as one function.
by_function='
/^ob=/ { object = substr($0, 4); sub(/.*\//, "", object) }
/^fn=/ {
	fn = substr($0, 4)
	sub(/(\.(constprop|isra|part|cold|lto_priv)(\.[0-9]+)?)+$/, "", fn)
	sub(/\047[0-9]+$/, "", fn)
	gsub(/ /, "_", fn)
	if (object != "bench_rdma") fn = "(" object ")" (fn ~ /^0x/ ? "" : "_" fn)
}
/^calls=/ { getline; next } # what the callee executed
/^[0-9+*-]/ { count[fn] += $2; sum[object == "bench_rdma"] += $2 }
END {
	printf "%s total %.1f\n%s others %.1f\n", id, sum[1] / calls, id, sum[0] / calls
	for (f in count) printf "%s %s %.1f\n", id, f, count[f] / calls
}'

count_end() { # END TEST BYTES DEPTH
	calls=$(($4 * 10))
	[ "$calls" -ge 64 ] || calls=64
	rm -f "$tmp"/out*
	timeout -k 5 120 valgrind --tool=callgrind --callgrind-out-file="$tmp/out" \
		--compress-strings=no --compress-pos=no \
		--toggle-collect="turn_$1*" --dump-before='run_batch*' \
		"$program" both --test "$2" --bytes "$3" --depth "$4" --calls "$calls" \
		>"$tmp/log" 2>&1 || {
		cat "$tmp/log" >&2
		exit 1
	}
	# out.1 is the set-up, out.2 the first batch, out the last one.
	for batch in "$tmp"/out.[3-9] "$tmp/out"; do
		awk -v id="$*" -v calls="$calls" "$by_function" "$batch" >"$batch.sum"
		echo "$(awk '$5 == "total" { print $6 }' "$batch.sum") $batch.sum"
	done | sort -n | awk '{ name[NR] = $2 } END { print name[int((NR + 1) / 2)] }' |
		xargs cat >>"$tmp/counts"
}

for work in "null 0 1" "null 0 64" "write 8192 1" "read 65536 1"; do
	for end in client server; do
		# shellcheck disable=SC2086
		count_end "$end" $work
	done
done
awk '
$5 == "total" { printf "%s %s %s %s %.0f ", $1, $2, $3, $4, $6 }
$5 == "others" { printf "%.0f\n", $6 }' "$tmp/counts" >"$tmp/totals"
[ -z "$save" ] || cp "$tmp/totals" "$save"

report='
function label(t, b, d) {
	return toupper(t) (b ? " " b / 1024 " KiB" : "") ", " d " in flight"
}
BEGIN { print "INSTRUCTIONS FOR EACH CALL, in user space: our own code, + libraries of others" }
FILENAME == before { old[$1, $2, $3, $4] = $5; others[$1, $2, $3, $4] = $6; next }
{
	id = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
	printf "%-28s%-8s", label($2, $3, $4), $1
	if (before) printf "%6d +%6d -> ", old[id], others[id]
	printf "%6d +%6d", $5, $6
	if (before) printf "%+8.1f %%", old[id] ? ($5 / old[id] - 1) * 100 : 0
	print ""
	if (check && !($5 < old[id] * 1.05 && $5 > old[id] * 0.95)) failed++
}
END {
	if (!failed) exit
	print failed " counts differ by more than 5 % from those in " before "."
	print "If the change is meant, write them again, and give the reason in the commit:"
	print "  bench/instructions.sh BUILD --save " before
	exit 1
}'
# shellcheck disable=SC2086
awk -v before="$before" -v check="$check" "$report" $before "$tmp/totals"
[ -z "$check" ] || exit 0
for work in "null 0 1" "null 0 64" "write 8192 1" "read 65536 1"; do
	for end in client server; do
		printf '\n%s, %s: the 25 functions with most\n' "$work" "$end"
		grep "^$end $work " "$tmp/counts" | grep -Ev ' (total|others) ' | sort -k6,6nr | head -n 25 |
			awk '{ printf "%10.1f  %s\n", $6, $5 }'
	done
done
