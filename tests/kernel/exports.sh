#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files of exports as administrators write them, and what the kernel's client makes of
# what they grant.  Server and client are both in the guest, over siw.  The client has two
# addresses: a connection to an address of its own host comes from that address.
. "$(dirname "$0")/guest.sh"
one=$guest_ip two=10.0.4.16
guest_begin
guest_link siw
guest_program "$RPCRDMA"
guest -t 60 "modprobe -a rpcrdma nfsv3 && ip addr replace $two/24 dev eth0 && rpcbind -w &&
	mount -t tmpfs -o size=50m,mode=755 exp /exp && cd /exp &&
	mkdir one shared mapped low gone && chmod 1777 mapped &&
	for d in *; do echo \$d >\$d/file || exit 1; done" || die "nothing to export"

# ---- What is checked ------------------------------------------------------------------

write_exports() { # from standard input
	cat >"$share/exports" && guest 'cp /host/exports /run/clients.exports' || die "no file of exports"
}

mounts() { # ADDRESS NAME [DIR]: at /mnt/ADDRESS/DIR, with nothing cached
	guest -t 60 "mkdir -p /mnt/$1/${3-$2} && mount.nfs $1:/$2 /mnt/$1/${3-$2} \
		-o vers=3,proto=rdma,port=20049,nolock,actimeo=0" >"$T/out" 2>&1
}
mounted() { mounts "$@" || fail "$1 cannot mount /$2: $(cat "$T/out")"; }

# The time limit is below the time for which mount.nfs tries again.
not_mounted() { # ADDRESS NAME [WORDS]
	mounts "$1" "$2" refused
	code=$?
	[ $code = 32 ] || fail "$1 mounts /$2: exit $code"
	grep -qF "${3-access denied by server while mounting $1:/$2}" "$T/out" ||
		fail "$1 mounts /$2: $(cat "$T/out")"
}

# A line of the server's about it comes once a second at most: it may take another try.
says_refused() { # WORDS ADDRESS NAME
	not_mounted "$2" "$3"
	guest "grep -qF '$1' /run/bg/nfsd.out"
}

# Both run where an address has its mounts.
does() { # ADDRESS SCRIPT
	guest -t 60 "cd /mnt/$1 && $2" >"$T/out" 2>&1 || fail "$1: $2: $(cat "$T/out")"
}
cannot() { # ADDRESS SCRIPT WORDS
	guest -t 60 "cd /mnt/$1 && $2" >"$T/out" 2>&1 && fail "$1: $2: not refused"
	grep -qF -- "$3" "$T/out" || fail "$1: $2: not '$3' but: $(cat "$T/out")"
}
owner() { # FILE UID
	[ "$(guest "stat -c %u /exp/$1")" = "$2" ] || fail "/exp/$1 is not of uid $2"
}

# By SIGHUP; what the server says of it is in $T/said.  The client keeps what it read and
# what ACCESS told, as long as a file does not change: it is made to forget.
reload() { # WORDS
	before=$(guest 'grep -c . /run/bg/nfsd.out')
	guest 'kill -HUP $(pidof rpcrdma)'
	guest_until 30 "tail -n +$((before + 1)) /run/bg/nfsd.out | grep -q 'loaded'" ||
		die "the server does not say whether it loaded the file"
	guest "tail -n +$((before + 1)) /run/bg/nfsd.out" >"$T/said"
	grep -qF -- "$1" "$T/said" || fail "reload: not '$1' but: $(cat "$T/said")"
	guest 'sync; echo 3 >/proc/sys/vm/drop_caches'
}

# ---- Who may do what ------------------------------------------------------------------

write_exports <<-END
	/exp/one:/one        $one(rw)
	/exp/shared:/shared  $one(rw,no_root_squash) $two(ro)
	/exp/mapped:/mapped  $one(rw,no_root_squash) 10.0.4.0/24(rw)
	/exp/low:/low        $one(rw,secure) $two(rw,insecure)
	/exp/gone:/gone      *(ro)
END
guest_bg nfsd "exec rpcrdma nfsd --provider verbs --exports /run/clients.exports \
	--listen 0.0.0.0:20049 --register --state-dir /run/nfsd.state"
guest_until 60 'grep -q ^mountd /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"

mounted $one one
until_true 20 says_refused "$two may not mount /one" $two one || fail "the server does not say who was refused"
for name in shared mapped gone; do
	mounted $one $name
	mounted $two $name
done

does $one 'echo by one >shared/new && cat shared/file'
does $two 'cat shared/new shared/file'
cannot $two 'touch shared/newer' "Read-only file system"
cannot $two 'rm shared/new' "Read-only file system"
cannot $one 'touch gone/new' "Read-only file system"

does $one '(umask 077; echo secret >mapped/root) && cat mapped/root'
owner mapped/root 0
does $two 'echo squashed >mapped/nobody'
owner mapped/nobody 65534
cannot $two 'cat mapped/root' "Permission denied"
cannot $two 'rm -f mapped/root' "Operation not permitted"

# The kernel asks MOUNT from a port below 1024, and connects by RDMA from a high one, with
# resvport or without: what is "secure" is not for it.
until_true 20 says_refused "$one may not use /low from a port above 1023" $one low ||
	fail "the server does not say what it refuses"
mounted $two low
does $two 'cat low/file'

# ---- Another file, by SIGHUP ------------------------------------------------------------

write_exports <<-END
	/exp/one:/one        *(rw)
	# a line of its own
	/exp/shared:/shared  $one(rw,no_such_option)
END
reload "/run/clients.exports was not loaded"
grep -qF "/run/clients.exports:3: " "$T/said" || fail "the line is not named: $(cat "$T/said")"
not_mounted $two one
does $one 'cat one/file gone/file && touch shared/new'

write_exports <<-END
	/exp/one:/one        $two(rw)
	/exp/shared:/shared  $one(ro) $two(rw,no_root_squash)
	/exp/mapped:/mapped  $one(rw) 10.0.4.0/24(rw,no_root_squash)
END
reload "/run/clients.exports was loaded"
mounted $two one
cannot $one 'cat one/file' "Permission denied"
not_mounted $one one
cannot $one 'touch shared/newest' "Read-only file system"
does $two 'echo by two >shared/new'
cannot $one 'cat mapped/root' "Permission denied"
does $two 'cat mapped/root'
cannot $one 'ls gone' "Stale file handle"
cannot $two 'cat gone/file' "Stale file handle"
not_mounted $one gone "No such file or directory"

write_exports <<-END
	/exp/one:/one   *(rw)
	/exp/gone:/gone *(ro)
END
reload "/run/clients.exports was loaded"
does $one 'cat one/file'
for at in $one $two; do
	mounted $at gone again
	does $at 'cat again/file'
done
guest_kill nfsd || fail "the server does not end"
guest_end "what the file grants to each address, by the kernel's client, before and after reloads"
