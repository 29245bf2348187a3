#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's client without nolock: its lock manager finds ours by rpcbind, and programs
# that lock are told ENOLCK at once.  With nolock the client's kernel has the locks.
. "$(dirname "$0")/guest.sh"
server=10.0.5.2
guest_begin
guest_program "$RPCRDMA" "$KERNEL_BIN/kernel_locks"

# The server has a network of its own, and an rpcbind: that of the client knows the lock
# manager of its own kernel.  veth0 and siw are the client's.
there="/bin/ip netns exec there" # by its whole path: README.md
guest -t 60 "modprobe -a rpcrdma nfsv3 veth siw && modprobe -a ib_uverbs rdma_ucm &&
	ip netns add there && ip link add veth0 type veth peer name veth1 netns there &&
	ip addr add 10.0.5.1/24 dev veth0 && ip link set veth0 up &&
	$there ip addr add $server/24 dev veth1 && $there ip link set veth1 up && $there ip link set lo up &&
	rdma link add siw0 type siw netdev veth0 &&
	rpcbind -w && rpc.statd --no-notify &&
	mount -t tmpfs -o size=50m,mode=755 exp /exp" || die "no place to serve"
guest_bg nfsd "exec $there sh -c 'mount -t tmpfs run /run && mkdir /run/rpcbind && rpcbind -w &&
	exec rpcrdma nfsd --provider iwarp --export /exp:/export --no-root-squash \
		--listen $server:20049 --register --state-dir /tmp/state --stats-on-exit /tmp/nfsd.json'"
guest_until 40 'grep -q ^mountd /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"

mounted() { # OPTION
	guest -t 60 "mkdir -p /mnt/$1 && mount.nfs $server:/export /mnt/$1 -o vers=3,proto=rdma,port=20049,$1" ||
		die "no mount with $1"
	guest "grep ' /mnt/$1 nfs .*proto=rdma' /proc/mounts" >"$T/mounts" || fail "$1: it is mounted otherwise"
}

locks() { # OPTION: what the program is to say is standard input
	guest -t 120 "kernel_locks /mnt/$1/file" >"$T/said" 2>&1 || fail "$1: exit $?"
	diff - "$T/said" || fail "$1: the locks end otherwise"
}

mounted lock
grep -q nolock "$T/mounts" && fail "nolock, without being asked for"
locks lock <<-END
	getlk: ENOLCK
	setlk: ENOLCK
	setlkw: ENOLCK
	unlock: done
	lockf: ENOLCK
	flock: ENOLCK
	flock, waiting: ENOLCK
	close: done
END
# Who does not lock works on.
guest 'cd /mnt/lock && echo data >file && mv file other && [ "$(cat other)" = data ] && rm other' ||
	fail "work without locks"
guest 'umount /mnt/lock' || fail "umount"

mounted nolock
locks nolock <<-END
	getlk: done
	setlk: done
	setlkw: done
	unlock: done
	lockf: done
	flock: done
	flock, waiting: done
	close: done
END
guest 'umount /mnt/nolock' || fail "umount"
guest 'kill $(pidof rpcrdma)' || fail "the server was not there"
guest_wait nfsd 30 || fail "the server exits with $?"
guest 'cat /tmp/nfsd.json' >"$T/nfsd.json"
grep -q '"nlm_tcp":{"calls":[1-9]' "$T/nfsd.json" || fail "no call of NLM came: $(cat "$T/nfsd.json")"
guest_end "ENOLCK at once without nolock, local locks with it"
