#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two exports of `rpcrdma nfsd`, one on a file system that is frozen: who writes to that
# one waits until it is thawed, and everybody else is served meanwhile.
. "$(dirname "$0")/guest.sh"
at=/run/exports mounted=/mnt
guest_begin
need_tool mke2fs fsfreeze
guest_link rxe
guest_program "$RPCRDMA" "$(command -v fsfreeze)"
truncate -s 16M "$T/image" && mke2fs -q -F -t ext4 "$T/image" && cp "$T/image" "$share/image" || die "mke2fs"
guest -t 120 "modprobe -a loop ext4 rpcrdma nfsv3 && cp /host/image /run/image && rm /host/image &&
	mkdir -p $at/cold $at/warm $mounted/cold $mounted/warm &&
	mount -o loop /run/image $at/cold && mount -t tmpfs -o size=64m warm $at/warm &&
	chmod 777 $at/cold $at/warm && dd if=/dev/urandom of=$at/warm/data bs=1M count=8" >"$T/made" 2>&1 ||
	die "no file systems: $(cat "$T/made")"
guest_bg nfsd "rpcrdma nfsd --provider verbs --export $at/cold:/cold --export $at/warm:/warm --mount-port 20048 \
	--listen $guest_ip:20049 --no-root-squash --state-dir /run/nfsd.state"
guest_until 60 'grep -q ^listening /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"
for name in cold warm; do
	guest -t 60 "mount.nfs $guest_ip:/$name $mounted/$name -o \
		vers=3,proto=rdma,port=20049,mountproto=tcp,mountport=20048,nolock,timeo=600" || die "no mount of $name"
done

# More of them than workers.
guest "fsfreeze -f $at/cold" || die "fsfreeze"
guest_bg writers "n=0
	while [ \$n -lt 12 ]; do
		n=\$((n + 1))
		echo \$n | dd of=$mounted/cold/file\$n conv=fsync 2>/dev/null & pids=\"\$pids \$!\"
	done
	for pid in \$pids; do wait \$pid || exit 1; done"
guest 'sleep 3; [ ! -e /run/bg/writers.end ]' || fail "nobody waited for the frozen file system"

guest -t 30 "rpcrdma ping --provider verbs -c 3 $guest_ip" >"$T/ping" 2>&1 || fail "ping: $(cat "$T/ping")"
guest -t 60 "rpcrdma ls --provider verbs nfs://$guest_ip/warm" >"$T/ls" 2>&1 || fail "ls: $(cat "$T/ls")"
guest -t 90 "cd $mounted/warm && echo 3 >/proc/sys/vm/drop_caches && cmp data $at/warm/data &&
	dd if=data of=copy bs=1M conv=fsync && cmp copy $at/warm/copy && mkdir dir && mv copy dir/ && rm -r dir" >"$T/warm" 2>&1 ||
	fail "work on the other export: $(cat "$T/warm")"
guest '[ ! -e /run/bg/writers.end ]' || fail "the writers did not wait"

# Thawed: all that waited is done.
guest -t 30 "fsfreeze -u $at/cold" || die "fsfreeze -u"
guest_wait writers 120 || fail "the writers end with $?"
guest -t 30 "cd $at/cold && n=0 && while [ \$n -lt 12 ]; do
	n=\$((n + 1)); [ \"\$(cat file\$n)\" = \$n ] || exit 1; done" || fail "not all was written"

# A server that ends does not wait for what sleeps in the kernel.
guest "fsfreeze -f $at/cold" || die "fsfreeze"
guest_bg late "echo late | dd of=$mounted/cold/late conv=fsync"
guest 'sleep 2; kill $(pidof rpcrdma)' || fail "the server was not there"
guest_until 15 "! rpcrdma ping --provider verbs -c 1 $guest_ip >/dev/null 2>&1" || fail "it still serves"
guest -t 30 "fsfreeze -u $at/cold" || die "fsfreeze -u"
code=0
guest_wait nfsd 30 || code=$?
guest_said nfsd >"$T/nfsd.log"
# 1, and a reason, if it had the request by then.
[ $code = 0 ] || { [ $code = 1 ] && grep -q "cold does not answer" "$T/nfsd.log"; } || fail "the server exits with $code"
guest_kill late KILL
guest -t 60 "umount.nfs -f $mounted/cold; umount.nfs -f $mounted/warm; umount -l $mounted/cold $mounted/warm 2>/dev/null
	umount $at/cold $at/warm" >"$T/umount" 2>&1 || fail "umount: $(cat "$T/umount")"
guest_end "a frozen file system holds up its own requests only"
