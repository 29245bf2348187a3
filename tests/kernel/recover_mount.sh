#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's client has mounted `rpcrdma nfsd` (our software iWARP on the host, siw in
# the guest), and in the middle of its work the network loses everything for five
# seconds, the server is killed and started again, the client's RDMA link is deleted and
# added.  Nothing is lost, nothing differs, nobody hangs.
. "$(dirname "$0")/guest.sh"
mounted=/mnt/rdma

# The same ports each time: the client knows only these.
start_server() {
	host_bg nfsd "$RPCRDMA" nfsd --export "$T/export:/export" --listen "127.0.0.1:${nfsd_port:-0}" \
		--mount-port "${mount_port:-0}" --no-root-squash --state-dir "$T/nfsd.state"
	nfsd_pid=$bg_pid
	until_true 20 grep -q '^mountd' "$T/nfsd.out" || {
		cat "$T/nfsd.err"
		die "rpcrdma nfsd does not start"
	}
	nfsd_port=$(sed -n '1s/^listening [^ ]*:\([0-9]*\).*/\1/p' "$T/nfsd.out")
	mount_port=$(sed -n 's/^mountd [^ ]*:\([0-9]*\) tcp$/\1/p' "$T/nfsd.out")
}

# 24 pieces of 1 MiB, each on stable storage before the next: about eight seconds of work.
writer='i=0
while [ $i -lt 24 ]; do
	dd if=/run/data of=/mnt/rdma/'"FILE"' bs=1M count=1 skip=$i seek=$i conv=notrunc,fsync 2>/dev/null || exit 1
	i=$((i + 1)); usleep 200000
done'
# The same for reading, nothing from the cache.
reader='i=0
while [ $i -lt 24 ]; do
	echo 3 >/proc/sys/vm/drop_caches
	dd if=/mnt/rdma/'"FILE"' bs=1M count=1 skip=$i 2>/dev/null | cmp - /run/piece$i || exit 1
	i=$((i + 1)); usleep 200000
done'

work_on() { # SCRIPT FILE
	echo "$1" | sed "s/FILE/$2/"
}

# ---- Troubles ---------------------------------------------------------------------------

lose_packets() {
	guest -t 40 'modprobe sch_netem && tc qdisc add dev eth0 root netem loss 100%; sleep 5
		tc qdisc del dev eth0 root' || fail "netem"
}

restart_server() {
	host_stop "$nfsd_pid" KILL
	sleep 1
	start_server
}

replace_link() {
	guest -t 40 'rdma link del siw0 && sleep 1 && rdma link add siw0 type siw netdev eth0' ||
		fail "the link cannot be replaced"
}

# During SCRIPT: it must have begun, and not be over.
in_the_middle() { # TROUBLE SCRIPT
	guest_bg work "$2"
	sleep 2
	guest '[ -e /run/bg/work.end ]' && fail "$1: the work was over before the trouble"
	$1
	guest '[ -e /run/bg/work.end ]' && [ "$1" != replace_link ] && [ "$1" != restart_server ] &&
		fail "$1: the work did not notice it"
	guest_wait work 150 || fail "$1: the work ended with $?"
	say "$1: gone on"
}

# ---- The test ------------------------------------------------------------------------------

guest_begin
guest_link siw
mkdir "$T/export"
start_server
guest -t 60 "modprobe -a rpcrdma nfsv3 && mkdir -p $mounted &&
	mount.nfs $host_ip:/export $mounted -o vers=3,proto=rdma,nolock,hard,port=$nfsd_port,mountproto=tcp,mountport=$mount_port" ||
	die "no mount"
guest -t 60 'dd if=/dev/urandom of=/run/data bs=1M count=24 2>/dev/null
	cd /run && i=0 && while [ $i -lt 24 ]; do
		dd if=data of=piece$i bs=1M count=1 skip=$i 2>/dev/null; i=$((i + 1))
	done' || die "no data"
want=$(guest 'sha256sum </run/data')

for trouble in lose_packets restart_server replace_link; do
	in_the_middle $trouble "$(work_on "$writer" "$trouble")"
	[ "$(sha256sum <"$T/export/$trouble")" = "$want" ] || fail "$trouble: the file differs at the server"
	in_the_middle $trouble "$(work_on "$reader" "$trouble")"
done
guest -t 60 "umount.nfs $mounted" || fail "umount"
host_stop "$nfsd_pid" || fail "the server exits with $?"
guest_end "five seconds without network, a killed server, another link: read and written whole"
