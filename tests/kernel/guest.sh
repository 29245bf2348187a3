# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# What the tests in this folder share: the guest and how to talk to it.  A test is
#
#	. "$(dirname "$0")/guest.sh"
#	guest_begin
#	guest_link siw
#	guest 'ibv_devinfo -d siw0' >"$T/out" || fail "no device"
#	guest_end "what was proved"
#
# One guest serves all tests, one after the other; guest_begin gives it back as it was
# after its start, and boots another if it does not answer.  README.md says more.
#
# From the environment: RPCRDMA, the command under test; GUEST, where guest-build.sh put
# the guest; KERNEL_RUN, a directory for what runs; KERNEL, which kernel (6.1).
: "${RPCRDMA:?is not set}" "${GUEST:?is not set}" "${KERNEL_RUN:?is not set}"
# Each kernel has a guest of its own: guest-build.sh.
kernel=${KERNEL:-6.1}
case $kernel:$GUEST in
6.1:* | "$kernel:"*"-$kernel") ;; # or it has been said already
*) GUEST=$GUEST-$kernel ;;
esac
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
test_name=$(basename "$0" .sh)${VARIANT:+-$VARIANT}
share=$KERNEL_RUN/share # /host in the guest
guest_ip=10.0.2.15      # eth0: what tests use
# shellcheck disable=SC2034 # tests use it
host_ip=10.0.2.2 # the host's 127.0.0.1, seen from the guest
boot_limit=180 failures=0 host_pids="" T=""

# ---- Words and waiting -----------------------------------------------------------------

say() { echo "[$(($(date +%s) - test_began)) s] $*"; }
test_began=$(date +%s)

fail() {
	echo "FAIL: $*"
	failures=$((failures + 1))
}

die() {
	echo "FAIL: $*"
	exit 1
}

skip() {
	echo "SKIPPED, nothing was judged: $*"
	exit 77
}

need_tool() { # NAME...: of the host
	for tool; do
		command -v "$tool" >/dev/null || skip "$tool is not installed"
	done
}

until_true() { # SECONDS COMMAND...
	until_end=$(($(date +%s) + $1))
	shift
	until "$@"; do
		[ "$(date +%s)" -lt "$until_end" ] || return 1
		sleep 0.1
	done
}

# ---- The machine ------------------------------------------------------------------------

machine_runs() { [ -f "$KERNEL_RUN/qemu.pid" ] && kill -0 "$(cat "$KERNEL_RUN/qemu.pid")" 2>/dev/null; }

machine_stop() {
	if [ -f "$KERNEL_RUN/keeper.pid" ]; then
		keeper=$(cat "$KERNEL_RUN/keeper.pid")
		kill -TERM "$keeper" 2>/dev/null
		until_true 10 has_ended "$keeper" || echo "the keeper of the emulator does not end"
	fi
	rm -f "$KERNEL_RUN/qemu.pid" "$KERNEL_RUN/keeper.pid" "$KERNEL_RUN/ports"
}

# Says a command to the emulator; prints its answer.
monitor() {
	monitor_at=$(stat -c %s "$KERNEL_RUN/monitor.out")
	echo "$*" >"$KERNEL_RUN/monitor.in"
	until_true 10 monitor_answered || {
		echo "the emulator does not answer '$*'" >&2
		return 1
	}
	monitor_said | tr -d '\r'
}
monitor_said() { tail -c "+$((monitor_at + 1))" "$KERNEL_RUN/monitor.out"; }
monitor_answered() { monitor_said | tail -n 1 | grep -q '^(qemu) $'; }

host_port() { # GUEST-PORT: the port of 127.0.0.1 that leads there
	awk -v p="$1" '$1 == p { print $2; found = 1 } END { exit !found }' "$KERNEL_RUN/ports" ||
		die "port $1 of the guest is not forwarded (machine.sh)"
}

guest_alive() { machine_runs && [ -f "$KERNEL_RUN/ports" ] && guest -t 5 true >/dev/null 2>&1; }

# The emulator lives as long as the process that asked for it (ctest, or a shell).
machine_boot() {
	machine_stop
	rm -rf "$share" "$KERNEL_RUN/tools"
	mkdir -p "$share" "$KERNEL_RUN/captures"
	chmod 700 "$KERNEL_RUN"
	od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$share/token"
	mv -f "$KERNEL_RUN/console.log" "$KERNEL_RUN/console.old.log" 2>/dev/null
	: >"$KERNEL_RUN/console.log"
	setsid sh "$here/machine.sh" "$GUEST" "$KERNEL_RUN" "${GUEST_OWNER:-$PPID}" \
		>"$KERNEL_RUN/machine.log" 2>&1 </dev/null &
	until_true $boot_limit machine_answers || {
		tail -n 20 "$KERNEL_RUN/machine.log" "$KERNEL_RUN/console.log"
		machine_stop
		echo "the guest does not start"
		return 1
	}
	sed -n 's/^guest: up/the guest is up/p' "$KERNEL_RUN/console.log" | tr -d '\r'
}

machine_answers() {
	[ ! -s "$KERNEL_RUN/machine.log" ] || return 0 # it says only what went wrong
	grep -qs '^guest: up' "$KERNEL_RUN/console.log" || return 1
	monitor info usernet | awk '/HOST_FORWARD/ { print $6, $4 }' >"$KERNEL_RUN/ports.new"
	mv "$KERNEL_RUN/ports.new" "$KERNEL_RUN/ports"
	guest_alive
}

# ---- Commands in the guest ----------------------------------------------------------------

guest() { # [-t SECONDS] SCRIPT
	guest_limit=60 # busybox's timeout, xargs ... run its own tc and ip: give them whole paths
	if [ "$1" = -t ]; then
		guest_limit=$2
		shift 2
	fi
	"$GUEST/ask" "$(host_port 4600)" "$share/token" "$guest_limit" "$*"
}

# Starts what goes on running, under a name; guest_said has what it prints.
guest_bg() { # NAME SCRIPT
	guest "rm -f /run/bg/$1.end
	setsid sh -c '($(echo "$2" | sed "s/'/'\\\\''/g"))
echo \$? >/run/bg/$1.end' >/run/bg/$1.out 2>&1 </dev/null & echo \$! >/run/bg/$1.pid"
}

guest_said() { guest "cat /run/bg/$1.out"; } # NAME

guest_until() { # SECONDS SCRIPT: waits until it is true
	guest -t $(($1 + 5)) "n=0
	until $2; do
		n=\$((n + 1)); [ \$n -lt $(($1 * 10)) ] || exit 1; usleep 100000
	done"
}

# Waits until it has ended by itself; exits as it did.
guest_wait() { # NAME SECONDS
	guest_until "$2" "[ -e /run/bg/$1.end ]" || return 124
	return "$(guest "cat /run/bg/$1.end")"
}

# Ends it, and waits until it has ended.
guest_kill() { # NAME [SIGNAL]
	guest -t 30 "pid=\$(cat /run/bg/$1.pid) || exit 1
	kill -s ${2:-TERM} -- -\$pid 2>/dev/null
	n=0
	while kill -s 0 -- -\$pid 2>/dev/null; do
		n=\$((n + 1)); [ \$n -lt 200 ] || { kill -s KILL -- -\$pid; exit 1; }; usleep 100000
	done"
}

# Puts programs of this host into the guest's path, with their libraries.
guest_program() { # FILE...
	mkdir -p "$share/bin" "$share/lib" "$KERNEL_RUN/tools"
	[ -f "$KERNEL_RUN/tools/has" ] || guest 'ls /usr/lib/x86_64-linux-gnu' >"$KERNEL_RUN/tools/has"
	for file; do
		[ -x "$file" ] || die "$file is not built"
		name=$(basename "$file")
		now=$(stat -L -c '%s %Y %i' "$file")
		[ "$(cat "$KERNEL_RUN/tools/$name" 2>/dev/null)" != "$now" ] || continue
		# Symbols stay, lines go: they would take seconds to copy.
		strip -g -o "$share/bin/$name" "$file" 2>/dev/null || cp -L "$file" "$share/bin/$name"
		for lib in $(ldd "$file" | awk '$3 ~ /^\// { print $3 }'); do
			base=${lib##*/}
			[ ! -e "$share/lib/$base" ] && ! grep -qxF "$base" "$KERNEL_RUN/tools/has" || continue
			cp -L "$lib" "$share/lib/$base"
		done
		guest -t 120 "cp /host/bin/$name /tools/bin/.new && mv /tools/bin/.new /tools/bin/$name &&
		for f in /host/lib/*; do
			[ ! -f \"\$f\" ] || [ -e /tools/lib/\${f##*/} ] || cp \$f /tools/lib/ || exit 1
		done" || die "$name cannot be copied into the guest"
		echo "$now" >"$KERNEL_RUN/tools/$name"
	done
}

# ---- RDMA and NFS in the guest -----------------------------------------------------------

# One RDMA link on eth0: rxe0, siw0, or none.  With PARAM=VALUE a siw is loaded whose
# constants are parameters, their values the usual ones: mpa_crc_required=1, ...
guest_link() { # rxe|siw|none [PARAM=VALUE...]
	link=$1
	shift
	guest "for l in /sys/class/infiniband/*; do
		[ ! -e \$l ] || rdma link del \${l##*/} || exit 1
	done" || die "the RDMA link cannot be deleted"
	case $link in
	none) return ;;
	rxe) load='modprobe rdma_rxe' ;;
	siw)
		load='modprobe -r siw; modprobe siw'
		[ $# = 0 ] || load="modprobe -r siw; modprobe -a -q ib_core iw_cm libcrc32c ib_uverbs; insmod /lib/siw-tunable.ko $*"
		;;
	*) die "no such link: $link" ;;
	esac
	guest "$load && modprobe -a ib_uverbs rdma_ucm &&
	rdma link add ${link}0 type $link netdev eth0" || die "$link does not start"
	guest_until 20 "rdma link show ${link}0/1 | grep -q 'state ACTIVE'" ||
		die "${link}0 does not become active"
}

# The kernel's NFS server: /exp, a tmpfs, by RDMA on port 20049 (and TCP on 2049).
guest_nfsd_start() {
	guest -t 120 "modprobe -a rpcrdma nfsd || exit 1
	mount -t nfsd nfsd /proc/fs/nfsd 2>/dev/null
	mount -t tmpfs -o size=400m,mode=755 exp /exp || exit 1
	: >/var/lib/nfs/etab; : >/var/lib/nfs/rmtab
	rpcbind -w || exit 1
	exportfs -o rw,insecure,no_root_squash,no_subtree_check,fsid=0 '*:/exp' || exit 1
	rpc.mountd -p 20048 || exit 1
	rpc.nfsd 4 || exit 1
	echo 'rdma 20049' >/proc/fs/nfsd/portlist || exit 1
	echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null
	grep -q '^rdma 20049' /proc/fs/nfsd/portlist" || die "the kernel's NFS server does not start"
}

guest_nfsd_stop() { # what is in /exp is gone
	guest -t 60 'rpc.nfsd 0; exportfs -au
	for name in rpc.mountd rpcbind; do
		pid=$(pidof $name) && kill $pid
	done
	umount /proc/fs/nfsd; umount /exp' || fail "the kernel's NFS server does not stop"
}

# ---- On the host ---------------------------------------------------------------------------

# host_bg NAME COMMAND...: what it prints is in $T/NAME.out and .err; $! in $bg_pid.  What
# the last one of that name printed is gone before this returns.
host_bg() {
	bg_name=$1
	shift
	: >"$T/$bg_name.out" && : >"$T/$bg_name.err"
	"$@" >"$T/$bg_name.out" 2>"$T/$bg_name.err" </dev/null &
	bg_pid=$!
	host_pids="$host_pids $bg_pid"
}

# host_stop PID [SIGNAL]: ends it, returns its exit code.
host_stop() {
	kill "-${2:-TERM}" "$1" 2>/dev/null
	until_true 20 has_ended "$1" || {
		fail "process $1 does not end"
		kill -KILL "$1"
	}
	stopped=0
	wait "$1" || stopped=$?
	kept=""
	for p in $host_pids; do
		[ "$p" = "$1" ] || kept="$kept $p"
	done
	host_pids=$kept
	return $stopped
}
has_ended() { ! kill -0 "$1" 2>/dev/null || grep -qs '^State:	Z' "/proc/$1/status"; }

# Our server on the host's loopback: DIR as /export.  Sets nfsd_pid and nfsd_port.
host_nfsd() { # DIR [OPTION...]
	export_dir=$1
	shift
	host_bg nfsd "$RPCRDMA" nfsd --export "$export_dir:/export" --listen 127.0.0.1:0 \
		--no-root-squash --state-dir "$T/nfsd.state" --stats-on-exit "$T/nfsd.json" "$@"
	nfsd_pid=$bg_pid
	until_true 20 grep -q '^listening' "$T/nfsd.out" || {
		cat "$T/nfsd.err"
		die "rpcrdma nfsd does not start"
	}
	# shellcheck disable=SC2034
	nfsd_port=$(sed -n '1s/^listening [^ ]*:\([0-9]*\).*/\1/p' "$T/nfsd.out")
}

# ---- Comparing trees -------------------------------------------------------------------------

# A script, for either side: kind and mode, name, links, contents of all below DIR.
tree_script() { # DIR
	cat <<-END
		cd '$1' && find . | sort | xargs stat -c '%f %n' &&
		find . -type l | sort | while read -r l; do echo "\$l -> \$(readlink "\$l")"; done &&
		find . -type f | sort | xargs sha256sum
	END
}
host_tree() { sh -c "$(tree_script "$1")"; }
guest_tree() { guest -t 240 "$(tree_script "$1")"; }

# ---- Captures ----------------------------------------------------------------------------------

# Every test records eth0 (kernel.captures judges them).  What stays within the guest
# goes over lo: guest_capture_lo records it too, in memory, its first 2000 packets.
capture_begin() {
	rm -f "$KERNEL_RUN/captures/$test_name".*
	monitor object_del capture >/dev/null # of a test that was killed
	monitor "object_add filter-dump,id=capture,netdev=net,maxlen=262144,file=$KERNEL_RUN/captures/$test_name.pcap" |
		grep -i error && die "eth0 cannot be recorded"
	capturing=1
}

capture_end() {
	[ -n "${capturing:-}" ] && machine_runs || return 0
	capturing=""
	monitor object_del capture >/dev/null
	[ -n "${capturing_lo:-}" ] || return 0
	guest 'sleep 1' && guest_kill tcpdump &&
		guest -t 120 "cp /run/lo.pcap /host/lo.pcap && rm /run/lo.pcap" &&
		mv "$share/lo.pcap" "$KERNEL_RUN/captures/$test_name.lo.pcap" || fail "lo was not recorded"
	guest_said tcpdump >"$T/tcpdump.log"
	grep -q '^0 packets dropped by kernel' "$T/tcpdump.log" || fail "the recording of lo has gaps"
}

# What follows would be too much to record.
capture_stop() {
	capture_end
	capturing="" capturing_lo=""
}

guest_capture_lo() {
	guest_bg tcpdump 'exec tcpdump -i lo -Z root -B 32768 -s 0 -c 2000 -w /run/lo.pcap tcp'
	guest_until 20 'grep -q "listening on" /run/bg/tcpdump.out' || die "tcpdump does not start"
	capturing_lo=1
}

# ---- A test ---------------------------------------------------------------------------------------

guest_cleanup() {
	code=$?
	trap '' EXIT INT TERM HUP
	for pid in $host_pids; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	if machine_runs; then
		[ "$code" = 0 ] || [ "$code" = 77 ] || guest_obituary
		capture_end
	elif [ "$code" != 77 ]; then
		[ "$code" != 0 ] || code=1
		echo "the guest died; its last words:"
		tail -n 60 "$KERNEL_RUN/console.log"
	fi
	[ -n "${KEEP:-}" ] || [ -z "$T" ] || rm -rf "$T"
	exit "$code"
}

# What there is to know after a failure.
guest_obituary() {
	echo "--- the console of the guest:"
	tail -c "+$((console_at + 1))" "$KERNEL_RUN/console.log" | tail -n 40
	echo "--- its kernel's log, and what it started:"
	guest -t 20 "dmesg | tail -n 25; for f in /run/bg/*.out; do
		[ ! -s \$f ] || { echo \"--- \$f\"; tail -n 25 \$f; }
	done"
	for f in "$T"/*.err "$T"/*.log; do
		[ ! -s "$f" ] || { echo "--- ${f##*/}" && tail -n 25 "$f"; }
	done
}

guest_begin() {
	T=$(mktemp -d "${TMPDIR:-/tmp}/rpcrdma-kernel.XXXXXX") || exit 1
	[ ! -f "$KERNEL_RUN/skip" ] || skip "$(cat "$KERNEL_RUN/skip")"
	if ! guest_alive; then
		echo "no guest answers: booting one"
		machine_boot || exit 1
	elif ! guest -t 60 reset-guest; then
		echo "the guest cannot be reset: booting another"
		machine_boot || exit 1
	fi
	console_at=$(stat -c %s "$KERNEL_RUN/console.log")
	trap guest_cleanup EXIT
	trap 'exit 130' INT TERM HUP
	capture_begin
}

guest_end() { # WORDS: what was proved
	capture_end
	[ $failures = 0 ] || die "$failures failures"
	say "$*"
	exit 0
}
