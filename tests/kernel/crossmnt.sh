#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# File systems that are mounted beneath an export, by the kernel's client: without
# crossmnt they are empty directories, with it the client mounts each by itself.  Programs
# that walk the tree end without an error either way.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link siw
guest_program "$RPCRDMA"
guest -t 60 'modprobe -a rpcrdma nfsv3 && rpcbind -w &&
	mount -t tmpfs -o size=100m,mode=755 exp /exp && mkdir -p /exp/other/sub && echo bound >/exp/other/sub/file &&
	for e in plain cross; do
		mkdir -p /exp/$e/below /exp/$e/bound /exp/$e/later && cd /exp/$e && echo $e >file &&
		echo covered >below/covered && mount -t tmpfs -o size=20m,mode=755 below below &&
		mkdir -p below/dir/deeper && echo inner >below/dir/inner &&
		mount -t tmpfs -o size=10m,mode=755 deeper below/dir/deeper && echo deepest >below/dir/deeper/file &&
		mount --bind /exp/other bound || exit 1
	done' || die "nothing to export"
guest_bg nfsd "exec rpcrdma nfsd --provider verbs --export /exp/plain:/plain --export /exp/cross:/cross,crossmnt \
	--no-root-squash --listen $guest_ip:20049 --register --state-dir /run/nfsd.state"
guest_until 60 'grep -q ^mountd /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"
for e in plain cross; do
	guest -t 60 "mkdir -p /mnt/$e && mount.nfs $guest_ip:/$e /mnt/$e -o vers=3,proto=rdma,port=20049,nolock" ||
		die "no mount of /$e"
done

does() { # SCRIPT, beneath /mnt: what it prints is in $T/out
	guest -t 90 "cd /mnt && $1" >"$T/out" 2>"$T/err" && [ ! -s "$T/err" ] && return
	fail "$1: $(cat "$T/err")"
}
cannot() { # SCRIPT WORDS
	guest -t 60 "cd /mnt && $1" >"$T/out" 2>&1 && fail "$1: not refused"
	grep -qF -- "$2" "$T/out" || fail "$1: not '$2' but: $(cat "$T/out")"
}

# Whoever walks the tree: twice, as the first may be told other things than the second.
for e in plain cross; do
	for walk in "ls -lR" find "find -xdev" "du -a" "stat -c %n" "find -type f -exec cat {} +"; do
		for _ in 1 2; do
			case $walk in
			find*) does "cd $e && find . ${walk#find}" ;;
			stat*) does "$walk $e/*" ;;
			*) does "$walk $e" ;;
			esac
		done
	done
	does "cp -a $e /run/copy-$e && cd /run/copy-$e && find . | sort && rm -r /run/copy-$e"
	mv "$T/out" "$T/$e"
done
printf '%s\n' . ./below ./bound ./file ./later | diff - "$T/plain" || fail "without crossmnt there is more, or less"
printf '%s\n' . ./below ./below/dir ./below/dir/deeper ./below/dir/deeper/file ./below/dir/inner \
	./bound ./bound/sub ./bound/sub/file ./file ./later | diff - "$T/cross" || fail "with crossmnt there is more, or less"

# Without.
cannot 'touch plain/below/new' "Read-only file system"
cannot 'rmdir plain/below' "Permission denied" # EBUSY has no number in version 3
cannot 'cat plain/below/covered' "No such file or directory"
guest "grep ' /mnt/plain/' /proc/mounts" && fail "something is mounted beneath /mnt/plain"

# With.
does 'echo new >cross/below/dir/new && cat /exp/cross/below/dir/new cross/below/dir/deeper/file'
guest "grep -q ' /mnt/cross/below nfs ' /proc/mounts && grep -q ' /mnt/cross/below/dir/deeper nfs ' /proc/mounts" ||
	fail "the client has not mounted them: $(guest 'grep /mnt/ /proc/mounts')"
cannot 'ln cross/file cross/below/link' "ross-device link"
does 'mv cross/file cross/below/moved && cat /exp/cross/below/moved && [ ! -e /exp/cross/file ]'
does 'df -k cross/below | sed 1d'
grep -q " 20480 " "$T/out" || fail "df shows another file system: $(cat "$T/out")"
does 'find cross -xdev'
grep -q inner "$T/out" && fail "all is one file system: $(cat "$T/out")"

# What is mounted later, and gone again.
guest 'mount -t tmpfs -o size=5m,mode=755 later /exp/cross/later && echo late >/exp/cross/later/file &&
	echo 3 >/proc/sys/vm/drop_caches' || fail "no mount at the server"
does 'cat cross/later/file'
guest -t 60 'umount /mnt/cross' || fail "umount with what is mounted beneath"
guest "grep ' /mnt/cross' /proc/mounts" && fail "it is still mounted"
guest_until 60 'umount /exp/cross/later 2>/dev/null' || fail "the server does not let go of what nobody uses"
guest -t 60 "mount.nfs $guest_ip:/cross /mnt/cross -o vers=3,proto=rdma,port=20049,nolock" || fail "no second mount"
does 'find cross/later'
[ "$(cat "$T/out")" = cross/later ] || fail "later is not empty: $(cat "$T/out")"
guest -t 60 'umount /mnt/cross && umount /mnt/plain' || fail "umount"
guest_kill nfsd || fail "the server does not end"
guest_end "file systems beneath an export are empty without crossmnt, whole with it"
