#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Raw TCP, libtirpc over TCP and librpcrdma over software iWARP, in one run.
#
#   bench/run.sh BUILD [--quick] [--reps N] [--ms N] [--raw FILE]
#
# Each cell is the median of N repetitions of about MS milliseconds.  The programs take
# turns within a repetition, so that other load affects all of them.  "one CPU": both
# ends share a core; "split": each end has one.  Ratios are rates, or reciprocals of
# latency, as fractions of those of raw TCP: 1.00 = as fast.  The script prints a report
# and never fails on it.
set -eu
build=$1
shift
reps=5 ms=120 raw="" quick=""
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=1 reps=3 ms=50 ;;
	--reps) reps=$2 && shift ;;
	--ms) ms=$2 && shift ;;
	--raw) raw=$2 && shift ;;
	*)
		echo "usage: bench/run.sh BUILD [--quick] [--reps N] [--ms N] [--raw FILE]" >&2
		exit 2
		;;
	esac
	shift
done
tmp=$(mktemp -d)
servers=
finish() {
	status=$?
	for pid in $servers; do kill "$pid" 2>/dev/null || :; done
	rm -rf "$tmp"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

# The first two CPUs that this process may use.
cpus=$(taskset -cp $$ | sed 's/.*: //' | awk -F, '{
	for (i = 1; i <= NF; i++) {
		split($i, r, "-")
		for (c = r[1]; c <= (r[2] == "" ? r[1] : r[2]); c++) print c
	}}' | head -n 2)
cpu_a=$(echo "$cpus" | sed -n 1p)
cpu_b=$(echo "$cpus" | sed -n 2p)

# NAME PROGRAM OPTION...: starts a server and stores its port.
serve() {
	name=$1 program=$2
	shift 2
	taskset -c "$cpu_a" "$build/bench/$program" server "$@" >"$tmp/$name.port" &
	servers="$servers $!"
	tries=0
	until grep -qs listening "$tmp/$name.port"; do
		tries=$((tries + 1))
		[ "$tries" -lt 100 ] || {
			echo "bench: $program does not listen" >&2
			exit 1
		}
		sleep 0.05
	done
}

tests() { # TEST BYTES DEPTH
	if [ -n "$quick" ]; then
		echo "null 0 1"
		echo "null 0 64"
		sizes="65536 1048576"
	else
		for d in 1 16 64; do echo "null 0 $d"; done
		sizes="4096 8192 65536 1048576"
	fi
	for b in $sizes; do
		for d in 1 8; do
			echo "read $b $d"
			echo "write $b $d"
		done
	done
}

# placement cpu subject program test bytes depth option...
measure() {
	placement=$1 cpu=$2 subject=$3 program=$4 test=$5 bytes=$6 depth=$7
	shift 7
	port=$(awk '{ print $2 }' "$tmp/$subject.port")
	if row=$(timeout 60 taskset -c "$cpu" "$build/bench/$program" client "$port" \
		--test "$test" --bytes "$bytes" --depth "$depth" --ms "$ms" "$@" 2>"$tmp/err"); then
		echo "$placement $subject $row" >>"$tmp/rows"
	else
		echo "bench: $subject: $test of $bytes octets, $depth in flight, $placement:" \
			"FAILED: $(tail -n 1 "$tmp/err")" >&2
		echo "$placement $subject $test $bytes $depth failed" >>"$tmp/rows"
	fi
}

# Results without a data item: short ones for which the caller must foresee 20 KiB, and
# long ones.  LIST BYTES DEPTH
lists() {
	for b in 300 20480 65536 262144; do
		for d in 1 8; do
			[ -z "$quick" ] || [ "$d" = 1 ] || continue
			echo "list $b $d"
		done
	done
}

# WRITE by Read chunk, and placed by Send in Receives of 1 KiB + 4 x 4 KiB.
by_send=rtr,rtr-segments=4
write_round() { # placement cpu
	for b in 4096 8192 16384 65536; do
		for d in 1 8; do
			[ -z "$quick" ] || [ "$d" = 1 ] || continue
			measure "$1" "$2" tcp bench_tcp write "$b" "$d"
			measure "$1" "$2" pulled bench_rdma write "$b" "$d" --features none
			measure "$1" "$2" sent bench_rdma write "$b" "$d" --features "$by_send"
			measure "$1" "$2" sent_nocrc bench_rdma write "$b" "$d" \
				--features "$by_send" --provider iwarp:crc=0
		done
	done
}

list_round() { # placement cpu
	lists | while read -r test bytes depth; do
		measure "$1" "$2" tcp bench_tcp "$test" "$bytes" "$depth"
		measure "$1" "$2" continued bench_rdma "$test" "$bytes" "$depth" \
			--features none --reply continued
		measure "$1" "$2" chunk bench_rdma "$test" "$bytes" "$depth" \
			--features rprc --reply chunk
		measure "$1" "$2" exposed bench_rdma "$test" "$bytes" "$depth" \
			--features rprc --reply exposed
	done
}

round() { # placement cpu
	write_round "$@"
	list_round "$@"
	tests | while read -r test bytes depth; do
		measure "$1" "$2" tcp bench_tcp "$test" "$bytes" "$depth"
		[ "$depth" != 1 ] ||
			measure "$1" "$2" tirpc bench_tirpc "$test" "$bytes" 1
		measure "$1" "$2" crc bench_rdma "$test" "$bytes" "$depth"
		measure "$1" "$2" nocrc bench_rdma "$test" "$bytes" "$depth" \
			--provider iwarp:crc=0
	done
	[ "$1" = split ] || return 0
	measure polling "$2" tcp bench_tcp null 0 1 --spin 50
	measure polling "$2" polling bench_rdma null 0 1 --spin 50
}

report='
function median(key,    n, i, j, t, v) {
	n = split(values[key], v, " ")
	if (!n) return 0
	for (i = 2; i <= n; i++)
		for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
			t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
		}
	return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function size(b) {
	if (b < 1024) return b " B"
	return b >= 1048576 ? b / 1048576 " MiB" : b / 1024 " KiB"
}
function ratio(key, base) { # nanoseconds an operation, both
	return key && base ? sprintf("%.2f", base / key) : "-"
}
function label(t, b, d) {
	return (t == "null" ? "NULL" : toupper(t) " " size(b)) ", " d " in flight"
}
function list_table(p, title,    i, k, base) {
	printf "\n%s\n%-28s%22s%11s%13s%9s\n", title, "", "raw TCP", "continued",
		"Reply chunk", "exposed"
	for (i = 1; i <= m; i++) {
		split(lists[i], k, " ")
		base = median(p " tcp " lists[i])
		printf "%-28s%22s%11s%13s%9s\n", label(k[1], k[2], k[3]),
			absolute(k[1], k[2], k[3], base),
			ratio(median(p " continued " lists[i]), base),
			ratio(median(p " chunk " lists[i]), base),
			ratio(median(p " exposed " lists[i]), base)
	}
}
function write_table(p, title,    i, k, base) {
	printf "\n%s\n%-28s%22s%12s%9s%17s\n", title, "", "raw TCP", "Read chunk",
		"by Send", "by Send, CRC off"
	for (i = 1; i <= h; i++) {
		split(writes[i], k, " ")
		base = median(p " tcp " writes[i])
		printf "%-28s%22s%12s%9s%17s\n", label(k[1], k[2], k[3]),
			absolute(k[1], k[2], k[3], base),
			ratio(median(p " pulled " writes[i]), base),
			ratio(median(p " sent " writes[i]), base),
			ratio(median(p " sent_nocrc " writes[i]), base)
	}
}
function absolute(t, b, d, ns) {
	if (!ns) return "-"
	if (t == "null") return d == 1 ? sprintf("%.1f us", ns / 1000) : sprintf("%.0f/s", 1e9 / ns)
	return sprintf("%.1f us %6.0f MB/s", ns / 1000, b * 1000 / ns)
}
function table(p, title,    i, k, base, one) {
	printf "\n%s\n%-28s%22s%11s%12s%10s%22s\n", title, "", "raw TCP", "libtirpc",
		"librpcrdma", "CRC off", "librpcrdma itself"
	for (i = 1; i <= n; i++) {
		split(order[i], k, " ")
		base = median(p " tcp " order[i])
		one = median(p " tirpc " k[1] " " k[2] " 1")
		printf "%-28s%22s%11s%12s%10s%22s\n", label(k[1], k[2], k[3]),
			absolute(k[1], k[2], k[3], base),
			ratio(one, base) (k[3] > 1 && one ? "*" : ""),
			ratio(median(p " crc " order[i]), base),
			ratio(median(p " nocrc " order[i]), base),
			absolute(k[1], k[2], k[3], median(p " crc " order[i]))
	}
}
$6 == "failed" { failed++; next }
{
	id = $3 " " $4 " " $5
	if ($2 == "sent" && !(id in sent)) { sent[id] = 1; writes[++h] = id }
	if (!(id in seen)) {
		seen[id] = 1
		if ($3 == "list") lists[++m] = id
		else order[++n] = id
	}
	values[$1 " " $2 " " id] = values[$1 " " $2 " " id] " " $7 / $6
	if ($2 == "crc" && $1 == "one") {
		ops[id] = ""
		for (i = 8; i <= NF; i++) { split($i, f, "="); op[id, f[1]] = f[2]; ops[id] = 1 }
	}
	places[$1] = 1
}
END {
	if ("one" in places) table("one", "ONE CPU: both ends on one core; columns 2 to 4 as a fraction of raw TCP")
	if ("split" in places) table("split", "SPLIT: a core for each end")
	print "* one call in flight: a CLIENT of libtirpc cannot have more"
	if ("one" in places) write_table("one", "WRITE BY SEND (feature rtr), one CPU: as a fraction of raw TCP")
	if ("split" in places) write_table("split", "WRITE BY SEND, split")
	if ("one" in places) list_table("one", "RESULTS WITHOUT A DATA ITEM, one CPU: as a fraction of raw TCP")
	if ("split" in places) list_table("split", "RESULTS WITHOUT A DATA ITEM, split")
	base = median("polling tcp null 0 1")
	if (base) printf "\nNULL, both ends polling, split: raw TCP %.1f us, librpcrdma %.1f us, ratio %s\n",
		base / 1000, median("polling polling null 0 1") / 1000,
		ratio(median("polling polling null 0 1"), base)
	printf "\nOPERATIONS PER RPC, both ends together (one CPU, CRC on)\n%-28s%7s%7s%8s%12s%13s%13s%18s\n", "",
		"Sends", "Reads", "Writes", "registered", "invalidated", "by the peer", "system calls c+s"
	for (i = 1; i <= n; i++) {
		id = order[i]
		if (!ops[id]) continue
		split(id, k, " ")
		split(op[id, "invalidations"], inv, "+")
		printf "%-28s%7s%7s%8s%12s%13s%13s%18s\n", label(k[1], k[2], k[3]), op[id, "sends"],
			op[id, "reads"], op[id, "writes"], op[id, "registrations"], inv[1], inv[2],
			op[id, "syscalls"]
	}
	if (failed) printf "\n%d runs FAILED, see above\n", failed
}'

if [ "${quick:-}" ]; then programs=1; else programs=$reps; fi
echo "PROGRAMS OF RPCGEN: the same ones by libtirpc over TCP and over RDMA, medians of $programs"
"$build/bench/bench_eleven" "$programs" || echo "bench: the programs FAILED" >&2
echo
began=$(date +%s)
: >"$tmp/rows"
serve tcp bench_tcp
serve tirpc bench_tirpc
serve crc bench_rdma
serve nocrc bench_rdma --provider iwarp:crc=0
serve polling bench_rdma --spin 50
serve pulled bench_rdma --features none
serve sent bench_rdma --features "$by_send"
serve sent_nocrc bench_rdma --features "$by_send" --provider iwarp:crc=0
serve continued bench_rdma --features none
serve chunk bench_rdma --features rprc
serve exposed bench_rdma --features rprc
echo "bench: $reps repetitions of $ms ms on CPUs $(echo "$cpus" | paste -sd,), load $(cut -d' ' -f1 /proc/loadavg)"
awk '$1 > 1 { print "bench: this machine is BUSY with other work: do not trust the numbers" }' /proc/loadavg
i=0
while [ "$i" -lt "$reps" ]; do
	i=$((i + 1))
	round one "$cpu_a"
	[ -z "$cpu_b" ] || round split "$cpu_b"
	echo "bench: repetition $i of $reps done, $(($(date +%s) - began)) s" >&2
done
[ -n "$cpu_b" ] || echo "bench: one CPU only, nothing was split"
[ -z "$raw" ] || cp "$tmp/rows" "$raw"
awk "$report" "$tmp/rows"
