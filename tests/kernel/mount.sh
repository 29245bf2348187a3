#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's NFS client mounts `rpcrdma nfsd` by version 3 over RDMA and works on it:
#   host  our software iWARP on the host, siw in the guest
#   rxe   our verbs provider and the client both in the guest, over rxe; the mount is
#   siw   found through rpcbind, as without options.  siw: the same over siw
# The client speaks version 1 of RPC-over-RDMA; beside it the same server speaks
# version 2 with our own client.  What the client counted is what the server counted.
. "$(dirname "$0")/guest.sh"
seed=$(date +%s)
big=64 many=5000 # the guest is slow, more so with both ends in it
[ "$VARIANT" = host ] || big=16 many=1000
mounted=/mnt/rdma
work=/tools/bin/mount-work.sh

# Our server in the guest, the export on a tmpfs.
guest_side_nfsd() {
	guest_program "$RPCRDMA"
	guest -t 30 "modprobe rpcrdma && mkdir -p /run/export && rpcbind -w &&
		mount -t tmpfs -o size=300m,mode=755 export /run/export" || die "no place to export"
	guest_bg nfsd "rpcrdma nfsd --provider verbs --export /run/export:/export \
		--listen $guest_ip:20049 --register --no-root-squash --state-dir /run/nfsd.state \
		--stats-on-exit /run/nfsd.json"
	guest_until 60 'grep -q ^listening /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"
}

start_server() {
	if [ "$VARIANT" = host ]; then
		[ "$(id -u)" = 0 ] || skip "files of several owners need root"
		guest_link siw
		mkdir "$T/export"
		host_nfsd "$T/export" --mount-port 0
		mount_port=$(sed -n 's/^mountd [^ ]*:\([0-9]*\) tcp$/\1/p' "$T/nfsd.out")
		server=$host_ip options=port=$nfsd_port,mountproto=tcp,mountport=$mount_port
	else
		guest_link "$VARIANT"
		[ "$VARIANT" = rxe ] || guest_capture_lo
		guest_side_nfsd
		server=$guest_ip options=port=20049
	fi
}

# Of what it exports: a script, where the server is.
at_server() {
	if [ "$VARIANT" = host ]; then
		(cd "$T/export" && sh -c "$1")
	else
		guest -t 120 "cd /run/export && $1"
	fi
}

stop_server() {
	if [ "$VARIANT" = host ]; then
		host_stop "$nfsd_pid" || fail "the server exits with $?"
	else
		guest 'kill $(pidof rpcrdma)' || fail "the server was not there"
		guest_wait nfsd 30 || fail "the server exits with $?"
		guest 'cat /run/nfsd.json' >"$T/nfsd.json"
	fi
}

# ---- Counters ------------------------------------------------------------------------

# A number of the server's: of "transport", or calls of a procedure.
served() { sed -n "s/.*[{,]\"$1\":\([0-9]*\)[,}].*/\1/p" "$T/nfsd.json"; }
served_calls() { sed -n "s/.*[{,]\"$1\":{\"calls\":\([0-9]*\).*/\1/p" "$T/nfsd.json"; }
# The client's: the i-th number behind "xprt: rdma", requests sent of a procedure.
xprt() { awk -v i="$1" '$1 == "xprt:" && $2 == "rdma" { print $(i + 2) }' "$T/mountstats"; }
sent() { awk -v op="$1:" '$1 == op { print $3 }' "$T/mountstats"; }

same() { # WHAT CLIENT SERVER
	[ -n "$2" ] && [ "$2" = "$3" ] || fail "$1: the client counted '$2', the server '$3'"
}
some() { # WHAT NUMBER
	[ "${2:-0}" -gt 0 ] || fail "$1: none"
}
none() { # WHAT NUMBER
	[ "$2" = 0 ] || fail "$1: '$2' instead of none"
}

# Positions as in xprt_rdma_print_stats of the kernel.
compare_counters() {
	for op in READ WRITE COMMIT CREATE MKDIR SYMLINK LINK RENAME REMOVE RMDIR MKNOD READDIRPLUS; do
		some $op "$(sent $op)"
		same $op "$(sent $op)" "$(served_calls $op)"
	done
	some "Read chunks" "$(xprt 11)"
	some "Write chunks" "$(xprt 12)"
	some "Reply chunks" "$(xprt 13)"
	some "RDMA Reads" "$(served rdma_reads)"
	some "RDMA Writes" "$(served rdma_writes)"
	same "octets by RDMA Write" "$(xprt 15)" \
		$(($(served bytes_write_chunk) + $(served bytes_reply_chunk)))
	none "replies that no call was known for" "$(xprt 8)"
	none "replies that the client could not read" "$(xprt 20)"
	none "errors that the server sent" "$(served errors_sent)"
	none "calls served from the reply cache" "$(served cache_hits)"
	[ "$(xprt 3)" = 1 ] || fail "the client connected $(xprt 3) times"
}

# ---- The test ------------------------------------------------------------------------

guest_begin
guest_program "$KERNEL_BIN/kernel_fsx"
cp "$here/mount-work.sh" "$share/" && guest "cp /host/mount-work.sh $work" || die "mount-work.sh"
start_server
guest -t 60 "modprobe -a rpcrdma nfsv3 && mkdir -p $mounted &&
	mount.nfs $server:/export $mounted -o vers=3,proto=rdma,nolock,$options" || die "no mount"
guest "grep ' $mounted nfs .*proto=rdma' /proc/mounts" || fail "it is mounted otherwise"
if [ "$VARIANT" = host ]; then
	"$RPCRDMA" ping -v -c 1 "127.0.0.1:$nfsd_port"
else
	guest "rpcrdma ping --provider verbs -v -c 1 $guest_ip"
fi >"$T/ping" || fail "our own client is not served"
grep -q 'RPC-over-RDMA version 2' "$T/ping" || fail "our own client is not served in version 2"

guest -t 400 "BIG=$big MANY=$many sh $work $mounted $seed tree many names" >"$T/done" || die "the work on the mount"
capture_stop
guest -t 400 "BIG=$big MANY=$many sh $work $mounted $seed big random" >>"$T/done" || die "the work on the mount (seed $seed)"
guest 'cat /proc/self/mountstats' >"$T/all" || fail "mountstats"
sed -n "\\|mounted on $mounted with|,\$p" "$T/all" >"$T/mountstats"
guest -t 60 "umount.nfs $mounted" || fail "umount"
guest "grep ' $mounted ' /proc/mounts" && fail "it is still mounted"

while read -r name digest; do
	case $name in
	tree | names) seen=$(at_server "sh $([ "$VARIANT" = host ] && echo "$here/mount-work.sh" || echo $work) tree $name" | sha256sum) ;;
	*) seen=$(at_server "sha256sum <$name") ;;
	esac
	[ "${seen%% *}" = "$digest" ] || fail "$name differs at the server"
done <"$T/done"
[ "$(grep -c . "$T/done")" = 4 ] || fail "not all was compared: $(cat "$T/done")"
[ "$(at_server 'find many -type f | wc -l')" = $((many - 270)) ] ||
	fail "not the same entries at the server"
stop_server
compare_counters
say "$(xprt 11) Read chunks, $(xprt 12) Write chunks, $(xprt 13) Reply chunks, $(xprt 6) calls"
guest_end "mounted, worked on, unmounted; both sides have the same octets and counters"
