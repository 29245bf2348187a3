#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The copy of `./run demo`, smaller, over RDMA of the kernel: `rpcrdma nfsd` and `rpcrdma
# cp` as two processes in the guest, by the verbs provider, in version 2.  A file and a
# tree go in and come out, digests are equal on all three sides, and the counters tell
# that RDMA moved the data: on rxe memory windows end with the replies (remote
# invalidation), on siw regions are ended locally.  In the variants "-features" both ends
# offer all optional features, and a long directory comes back by RDMA Reads.
. "$(dirname "$0")/guest.sh"
need_tool jq
guest_begin
device=${VARIANT%-features}
guest_link "${device:?VARIANT is not set}"
features=none
[ "$device" = "$VARIANT" ] || features=all
guest_program "$RPCRDMA"
mib=24

tar -C "$here/../.." -cf "$share/tree.tar" src include
guest -t 120 "mkdir -p /exp /tmp/back /tmp/tree && mount -t tmpfs -o size=300m exp /exp &&
mount -t tmpfs -o size=300m back /tmp/back && tar -C /tmp/tree -xf /host/tree.tar &&
ln -s src/conn /tmp/tree/a-link && ln -s nowhere /tmp/tree/dangling && chmod 750 /tmp/tree/src &&
head -c ${mib}m /dev/urandom >/tmp/file" || die "the data cannot be made"

guest_bg nfsd "exec rpcrdma nfsd --provider verbs --export /exp:/demo --listen $guest_ip:20049 \
	--features $features --no-root-squash --state-dir /run/nfsd.state --stats-on-exit /run/nfsd.json"
guest_until 30 'grep -q "^listening" /run/bg/nfsd.out' || die "the server does not start"
guest "rpcrdma ping --provider verbs --features $features -c 1 -v $guest_ip:20049" >"$T/ping.log" || fail "ping"
grep -q 'provider verbs.*RPC-over-RDMA version 2' "$T/ping.log" || fail "ping -v shows otherwise: $(head -n 1 "$T/ping.log")"

copy() { # NAME ARGUMENT...
	name=$1
	shift
	guest -t 240 "rpcrdma cp -q --provider verbs --features $features --stats /run/$name.json $*" || die "the copy '$name' exits with $?"
	guest "cat /run/$name.json" >"$T/$name.json"
	say "$name: $(jq -r '"\(.bytes) octets, \(.elapsed_s * 100 | round / 100) s, \(.rdma_reads) Reads, \(.rdma_writes) Writes, \(.registrations) registrations, \(.remote_invalidations) ended by the peer, \(.local_invalidations) locally"' "$T/$name.json")"
}
url=nfs://$guest_ip:20049/demo
copy file-in /tmp/file "$url/file"
copy tree-in -rp /tmp/tree "$url/tree"
copy file-out "$url/file" /tmp/back/file
copy tree-out -rp "$url/tree" /tmp/back/tree

guest_tree /tmp/tree >"$T/tree" || fail "no listing of the tree"
[ "$(wc -l <"$T/tree")" -gt 200 ] || fail "the tree is small: $(wc -l <"$T/tree") lines"
for at in /exp/tree /tmp/back/tree; do
	guest_tree $at >"$T/tree.other"
	cmp -s "$T/tree" "$T/tree.other" || {
		fail "$at differs:"
		diff "$T/tree" "$T/tree.other" | head -n 10
	}
done
guest -t 120 'sha256sum </tmp/file; sha256sum </exp/file; sha256sum </tmp/back/file' >"$T/sums"
[ "$(wc -l <"$T/sums") $(sort -u "$T/sums" | wc -l)" = "3 1" ] || fail "the file came back different"

if [ $features = all ]; then
	grep -q 'features.* rprc' "$T/ping.log" || fail "ping -v shows no features: $(head -n 1 "$T/ping.log")"
	guest -t 60 'mkdir /exp/many && cd /exp/many && seq 3000 | xargs touch' || die "the directory cannot be made"
	[ "$(guest -t 60 "rpcrdma ls --provider verbs --features all -l $url/many | wc -l")" = 3000 ] ||
		fail "the long directory is not complete"
fi

guest_kill nfsd || fail "the server does not end"
guest 'cat /run/nfsd.json' >"$T/nfsd.json"
number() { jq -r "$2" "$T/$1.json"; } # file expression
least=$((mib * 1048576))
[ "$(number nfsd .transport.bytes_read_chunk)" -ge $least ] || fail "the file did not go in by Read chunks"
[ "$(number nfsd .transport.bytes_write_chunk)" -ge $least ] || fail "the file did not come out by Write chunks"
[ "$(number nfsd .transport.rdma_reads)" -gt 0 ] || fail "no RDMA Read"
[ "$(number nfsd .transport.rdma_writes)" -gt 0 ] || fail "no RDMA Write"
exposed=$(number nfsd .transport.rprc_exposed)
[ $features = none ] || [ "$exposed" -gt 0 ] || fail "no reply was read by RDMA"
[ $features = all ] || [ "$exposed" = 0 ] || fail "replies were exposed without the feature"
for name in file-in file-out tree-in tree-out; do
	[ "$(number $name '.reconnects + .retransmits + .call_errors + .errors_sent')" = 0 ] || fail "$name was disturbed"
	registered=$(number $name .registrations)
	case $device in
	rxe) by=remote_invalidations other=local_invalidations ;;
	*) by=local_invalidations other=remote_invalidations ;;
	esac
	[ "$(number $name .$by)" = "$registered" ] && [ "$(number $name .$other)" = 0 ] ||
		fail "$name: of $registered regions $(number $name .$by) have ended by $by"
done
guest_end "a file of $mib MiB and a tree, in and out over $VARIANT, equal"
