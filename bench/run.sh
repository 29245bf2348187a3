#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measures the cases of cases.tab in one run, and writes a report: text to standard output,
# and in DIR report.txt, bench.json, tables.md, plots, and the rows as they were measured.
#
# Each figure is the median of the repetitions.  The programs take turns within a
# repetition, so that other load affects all of them.  No figure makes the script fail.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

usage() {
	cat <<-'END'
	usage: ./run bench [option...]

	Measures raw TCP, libtirpc over TCP and librpcrdma over software iWARP, and
	`rpcrdma nfsd` beside nfs-ganesha, in one run.  Prints tables; writes JSON, Markdown
	and plots.

	  --quick        fewer rows, shorter: one or two minutes instead of ten to fourteen
	  --rdma-only    without NFS servers
	  --nfs-only     only NFS servers
	  --reps N       repetitions of each row (7; --quick: 3)
	  --ms N         milliseconds of each repetition (120; --quick: 50)
	  --out DIR      directory for the files (build/bench)
	  --cases FILE   the rows to measure (bench/cases.tab)
	  --instructions counts instructions instead; see bench/instructions.sh
	END
}

case " $* " in *" --help "* | *" -h "*) usage && exit ;; esac
# NFS servers need fixed ports that no other program uses, and all rows need the same
# environment.
if [ -z "${OWN_HOST-}" ] && [ "$(id -u)" = 0 ] && "$here/own_host.sh" true 2>/dev/null; then
	exec "$here/own_host.sh" "$0" "$@"
fi
build=$(cd "${1:?}" && pwd)
shift
reps="" ms="" quick=false only="" out=build/bench cases=$here/cases.tab
while [ $# -gt 0 ]; do
	case $1 in
	--quick) quick=true ;;
	--rdma-only) only=rdma ;;
	--nfs-only) only=nfs ;;
	--reps) reps=${2:?} && shift ;;
	--ms) ms=${2:?} && shift ;;
	--out) out=${2:?} && shift ;;
	--cases) cases=${2:?} && shift ;;
	*) usage >&2 && exit 2 ;;
	esac
	shift
done
if $quick; then
	: "${reps:=3}" "${ms:=50}"
else
	: "${reps:=7}" "${ms:=120}"
fi
mkdir -p "$out"
out=$(cd "$out" && pwd)
PATH=$build/bench:$build/tools:$here/nfs:$PATH
shm=/dev/shm
[ "$(stat -f -c %T $shm 2>/dev/null)" = tmpfs ] && [ -w $shm ] || shm=${TMPDIR:-/tmp}
BENCH_TMP=$(mktemp -d "$shm/bench.XXXXXX")
tmp=$BENCH_TMP
EXPORT=$tmp/export
MOUNT_PORT=20491 # of ganesha.conf.in
export BENCH_TMP EXPORT MOUNT_PORT
servers=
finish() {
	status=$?
	for pid in $servers; do kill "$pid" 2>/dev/null || :; done
	for pid in $servers; do wait "$pid" 2>/dev/null || :; done
	rm -rf "$tmp"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP PIPE
: >"$tmp/notes"
: >"$out/rows"
tab=$(printf '\t')

note() { printf '%s\t%s\n' "$1" "$2" >>"$tmp/notes"; }

leave_out() { # text
	echo "bench: left out: $1" >&2
	note skipped "$1"
}

has_failed() { # text
	echo "bench: FAILED: $1" >&2
	note failed "$1"
}

# ---- Machine -------------------------------------------------------------------

# The first two CPUs that this process may use.
cpus=$(taskset -cp $$ | sed 's/.*: //' | awk -F, '{
	for (i = 1; i <= NF; i++) {
		split($i, r, "-")
		for (c = r[1]; c <= (r[2] == "" ? r[1] : r[2]); c++) print c
	}}' | head -n 2)
cpu_a=$(echo "$cpus" | sed -n 1p)
cpu_b=$(echo "$cpus" | sed -n 2p)

# Per cent of all CPUs that other work has used in a second.
busy_percent() {
	{
		head -n 1 /proc/stat
		sleep 1
		head -n 1 /proc/stat
	} | awk '{
		total = 0
		for (i = 2; i <= NF; i++) total += $i
		idle = $5 + $6
		if (NR == 1) { total_before = total; idle_before = idle }
	}
	END {
		total -= total_before
		print total ? int(100 - 100 * (idle - idle_before) / total + 0.5) : 0
	}'
}

describe_run() {
	used=$(busy_percent)
	busy=false
	[ "$used" -le 10 ] || busy=true
	commit=$(git -C "$here" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
	modified=false
	[ -z "$(git -C "$here" status --porcelain --untracked-files=no 2>/dev/null)" ] || modified=true
	cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
	note commit "$commit"
	note modified "$modified"
	note date "$(date -u +%Y-%m-%dT%H:%M:%SZ)"
	note cpu "${cpu:-$(uname -m)}"
	note cpus "$(nproc --all)"
	note kernel "$(uname -sr)"
	congestion=$(cat /proc/sys/net/ipv4/tcp_congestion_control 2>/dev/null || echo unknown)
	note congestion_control "$congestion"
	note busy_percent "$used"
	note busy "$busy"
	note repetitions "$reps"
	note milliseconds "$ms"
	note quick "$quick"
	changed=""
	! $modified || changed=" with changes"
	echo "bench: commit $commit$changed, $cpu, $(uname -sr), $(nproc --all) CPUs, TCP with $congestion"
	echo "bench: $reps repetitions of $ms ms on CPUs $(echo "$cpus" | paste -sd,); other work uses $used %"
	! $busy || echo "bench: this machine is BUSY with other work: do not trust the numbers"
}

# ---- Servers -------------------------------------------------------------------

make_export() {
	mkdir "$EXPORT" "$EXPORT/hundred" "$EXPORT/made" # see nfs/bench_nfs.h
	head -c 67108864 /dev/zero >"$EXPORT/data"
	(cd "$EXPORT/hundred" && seq -f 'file-%03g' 100 | xargs touch)
}

# Starts a server, sets $pid, and waits until $tmp/NAME.port exists.  NAME COMMAND
serve() {
	name=$1
	# shellcheck disable=SC2086
	taskset -c "$cpu_a" $2 >"$tmp/$name.out" 2>"$tmp/$name.err" </dev/null &
	pid=$!
	servers="$servers $pid"
	tries=0
	until grep -qs listening "$tmp/$name.out"; do
		tries=$((tries + 1))
		if [ "$tries" -gt 800 ] || ! kill -0 "$pid" 2>/dev/null; then
			return 1
		fi
		sleep 0.05
	done
	awk '{ sub(/.*:/, "", $2); print $2 }' "$tmp/$name.out" >"$tmp/$name.port"
}

start_servers() {
	while IFS="$tab" read -r kind name client command; do
		[ "$kind" = server ] || continue
		if ! command -v "$client" >/dev/null; then
			leave_out "$name: $client was not built, its library is not installed"
			continue
		fi
		serve "$name" "$command" ||
			leave_out "$name: the server does not start: $(tail -n 1 "$tmp/$name.err")"
	done <"$tmp/plan"
}

# ---- Rows ----------------------------------------------------------------------

# Cells of several tables are measured once, and those of one shape one after the other.
order_cells() {
	awk -F "$tab" -v OFS="$tab" '
		$1 == "cell" {
			shape = $3 OFS $4 OFS $5 OFS $6 OFS $7
			if (!(shape in cells)) order[++n] = shape
			if (!((shape, $8) in seen)) {
				seen[shape, $8] = 1
				cells[shape] = cells[shape] $3 OFS $8 OFS $4 OFS $5 OFS $6 OFS $7 OFS $10 "\n"
			}
		}
		END { for (i = 1; i <= n; i++) printf "%s", cells[order[i]] }' "$tmp/plan"
}

# PLACE SUBJECT TEST BYTES DEPTH CONNS CLIENT
measure() {
	[ -s "$tmp/$2.port" ] || return 0
	cpu=$cpu_a
	[ "$1" = one ] || cpu=$cpu_b
	# shellcheck disable=SC2086
	if row=$(timeout 60 taskset -c "$cpu" $7 "$(cat "$tmp/$2.port")" --test "$3" --bytes "$4" \
		--depth "$5" --conns "$6" --ms "$ms" 2>"$tmp/err" </dev/null); then
		printf 'row\t%s\t%s\t%s\n' "$1" "$2" "$row" >>"$out/rows"
	else
		has_failed "$2: $3 of $4 octets, $5 in flight, $6 connections, $1: $(tail -n 1 "$tmp/err")"
		printf 'row\t%s\t%s\t%s\n' "$1" "$2" "$3 $4 $5 $6" >>"$out/rows"
	fi
	[ "$3" != create ] || find "$EXPORT/made" -type f -delete
}

measure_rows() {
	order_cells >"$tmp/order"
	total=$(wc -l <"$tmp/order")
	i=0
	while [ "$i" -lt "$reps" ]; do
		i=$((i + 1))
		while IFS="$tab" read -r place subject test bytes depth conns client; do
			measure "$place" "$subject" "$test" "$bytes" "$depth" "$conns" "$client"
		done <"$tmp/order"
		echo "bench: repetition $i of $reps, $total figures each: $(($(date +%s) - began)) s" >&2
	done
}

measure_memory() {
	while IFS="$tab" read -r kind name _label features command counts; do
		[ "$kind" = memory ] || continue
		if ! serve "$name" "$command"; then
			has_failed "$name: the server does not start: $(tail -n 1 "$tmp/$name.err")"
			continue
		fi
		# shellcheck disable=SC2086
		timeout 60 bench_idle "$(cat "$tmp/$name.port")" "$pid" "$features" \
			$counts >"$tmp/idle" 2>"$tmp/err" </dev/null ||
			has_failed "$name: memory: $(tail -n 1 "$tmp/err")"
		sed "s/^/memory $name /; s/ /$tab/g" "$tmp/idle" >>"$out/rows"
		kill "$pid"
	done <"$tmp/plan"
}

# Programs of rpcgen, in one process.
measure_programs() {
	n=$reps
	! $quick || n=1
	bench_eleven "$n" >"$tmp/eleven" 2>"$tmp/err" </dev/null ||
		has_failed "programs of rpcgen: $(tail -n 1 "$tmp/err")"
	awk -v OFS="$tab" 'NR > 1 && NF == 7 { print "program", $1, $2, $3, $5, $6, $7 }' \
		"$tmp/eleven" >>"$out/rows"
}

# ---- Report --------------------------------------------------------------------

report() {
	awk -f "$here/report/cells.awk" "$tmp/plan" "$out/rows" >"$out/cells"
	note seconds $(($(date +%s) - began))
	awk -f "$here/report/json.awk" "$tmp/notes" "$out/cells" >"$out/bench.json"
	with="-f $here/report/units.awk -f $here/report/table.awk"
	# shellcheck disable=SC2086
	awk $with -f "$here/report/markdown.awk" "$tmp/notes" "$out/cells" >"$out/tables.md"
	# shellcheck disable=SC2086
	awk $with -f "$here/report/text.awk" "$out/cells" | tee -a "$out/report.txt"
	if command -v gnuplot >/dev/null; then
		gnuplot -e "cells='$out/cells'; out='$out'" "$here/report/plots.gp" 2>"$tmp/err" ||
			has_failed "plots: $(tail -n 1 "$tmp/err")"
	else
		leave_out "plots: gnuplot is not installed"
	fi
}

main() {
	began=$(date +%s)
	places="one split"
	[ -n "$cpu_b" ] || places=one
	awk -f "$here/report/plan.awk" -v quick="$($quick && echo 1)" -v only="$only" -v places="$places" \
		"$here/subjects.tab" "$cases" >"$tmp/plan"
	describe_run | tee "$out/report.txt"
	[ -n "$cpu_b" ] || leave_out "a core each: this process may use one CPU only"
	if grep -q "^cell${tab}nfs" "$tmp/plan"; then
		[ "$(stat -f -c %T "$tmp")" = tmpfs ] || leave_out "tmpfs: files of NFS are in $tmp"
		make_export
	fi
	! grep -q '^programs$' "$tmp/plan" || measure_programs
	measure_memory
	start_servers
	measure_rows
	report
	echo
	echo "bench: $(($(date +%s) - began)) s; JSON, Markdown, plots and all rows are in $out"
}
main
