#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's client reads from `rpcrdma nfsd` by verbs over siw, both in the guest:
# READS times (60) SIZE MiB (10), each compared octet by octet.  siw would send octets
# that have changed since, if it were not asked for a completion of each request.
. "$(dirname "$0")/guest.sh"
reads=${READS:-60} size=${SIZE:-10}
mounted=/mnt/reads
guest_begin
capture_stop
guest_link siw
guest_program "$RPCRDMA" "$KERNEL_BIN/kernel_reads"
guest -t 60 "modprobe -a rpcrdma nfsv3 && mkdir -p /run/export $mounted &&
	mount -t tmpfs -o size=100m,mode=755 export /run/export &&
	dd if=/dev/urandom of=/run/export/data bs=1M count=$size" >"$T/made" 2>&1 || die "nothing to read"
guest_bg nfsd "rpcrdma nfsd --provider verbs --export /run/export:/export --mount-port 20048 \
	--listen $guest_ip:20049 --no-root-squash --state-dir /run/nfsd.state --stats-on-exit /run/nfsd.json"
guest_until 60 'grep -q ^listening /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"
guest_said nfsd | grep -q '^listening .* verbs 2$' || die "it does not listen by verbs"
guest -t 60 "mount.nfs $guest_ip:/export $mounted -o \
	vers=3,proto=rdma,port=20049,mountproto=tcp,mountport=20048,nolock" || die "no mount"

# In several commands: the agent's time limit is for each.
done=0 part=25
while [ $done -lt "$reads" ]; do
	[ $part -le $((reads - done)) ] || part=$((reads - done))
	guest -t 400 "kernel_reads $mounted/data /run/export/data $done $((done + part))" >>"$T/differ" 2>&1 ||
		die "reads $done to $((done + part)): $(cat "$T/differ")"
	done=$((done + part))
done
[ ! -s "$T/differ" ] || fail "$(grep -c . "$T/differ") of $reads differ: $(head -n 5 "$T/differ")"
guest -t 60 "umount.nfs $mounted" || fail "umount"
guest 'kill $(pidof rpcrdma)' || fail "the server was not there"
guest_wait nfsd 30 || fail "the server exits with $?"
calls=$(guest 'cat /run/nfsd.json' | sed -n 's/.*[{,]"READ":{"calls":\([0-9]*\).*/\1/p')
[ "${calls:-0}" -ge $((reads * size)) ] || fail "only $calls READs: not all was read anew"
guest_end "$reads reads of $size MiB by verbs over siw, $calls READs, every octet the same"
