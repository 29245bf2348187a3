#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernel's NFS client mounts `rpcrdma nfsd` under Kerberos: krb5, krb5i and krb5p,
# both in the guest over rxe, the KDC on the host.  The client's gssd sets contexts up
# over TCP, at port 2049, and the kernel uses them over RDMA.  Root acts by the machine's
# key, a user by a ticket of his own; what is protected is not reduced.
. "$(dirname "$0")/guest.sh"
mounted=/mnt/gss
work=/tools/bin/mount-work.sh
seed=$(date +%s)

# ---- Kerberos ------------------------------------------------------------------------

# In the background: it ends with the test.
start_kdc() {
	export KDC_USER=_rpc KDC_HOST=guest
	# shellcheck disable=SC2016
	host_bg kdc bash -c '. "$1/../gss/kdc.sh"
		kdc_find "$2" || exit 77
		trap "kdc_stop; exit" EXIT TERM
		kdc_start "$3" && kdc_ticket alice "$3/alice.cc" && : >"$3/ready" && wait' \
		kdc "$here" "${UNPACKED-}" "$T/kdc"
	until_true 60 kdc_settled || die "the KDC does not start: $(cat "$T/kdc.out")"
	[ -f "$T/kdc/ready" ] || skip "there is no KDC: $(cat "$T/kdc.out")"
}
kdc_settled() { [ -f "$T/kdc/ready" ] || has_ended "$bg_pid"; }

# The guest reaches the host's loopback at another address.
give_kerberos() {
	mkdir -p "$share/gss"
	sed -e "s/127\.0\.0\.1/$host_ip/" \
		-e 's|^ *auth_to_local = DEFAULT|    auth_to_local = RULE:[2:$1/$2@$0](.*/guest@.*)s/.*/root/\n&|' \
		-e '/^\[logging\]/,/^\[/{/default/d}' "$T/kdc/krb5.conf" >"$share/gss/krb5.conf"
	cp "$T/kdc/services.keytab" "$T/kdc/alice.cc" "$share/gss/"
	guest "mkdir -p /var/tmp && cp /host/gss/krb5.conf /etc/krb5.conf && cp /host/gss/services.keytab /etc/krb5.keytab &&
		cp /host/gss/alice.cc /tmp/krb5cc_101 && chown 101 /tmp/krb5cc_101 &&
		chmod 600 /tmp/krb5cc_101 /etc/krb5.keytab && hostname guest" || die "Kerberos in the guest"
	rm -r "$share/gss"
}

start_gssd() {
	guest -t 60 "modprobe -a rpcrdma nfsv3 rpcsec_gss_krb5 &&
		{ grep -q rpc_pipefs /proc/mounts || mount -t rpc_pipefs sunrpc /var/lib/nfs/rpc_pipefs; }" ||
		die "no rpc_pipefs"
	guest_bg gssd 'exec rpc.gssd -f -v'
}

# ---- The server, the mount ------------------------------------------------------------------

start_server() { # FLAVOR
	guest_bg nfsd "rpcrdma nfsd --provider verbs --export /run/export:/export --sec $1 \
		--keytab /etc/krb5.keytab --gss-port 2049 --mount-port 20048 --listen $guest_ip:20049 \
		--no-root-squash --state-dir /run/nfsd.state --stats-on-exit /run/nfsd.json"
	guest_until 60 'grep -q ^gss /run/bg/nfsd.out' || die "rpcrdma nfsd does not start"
}

stop_server() {
	guest 'kill $(pidof rpcrdma)' || fail "the server was not there"
	guest_wait nfsd 30 || fail "the server exits with $?"
	guest 'cat /run/nfsd.json' >"$T/nfsd.json"
}

mount_it() { # FLAVOR
	guest -t 120 "mount.nfs guest:/export $mounted -o vers=3,proto=rdma,port=20049,nolock,sec=$1,mountproto=tcp,mountport=20048"
}

served() { sed -n "s/.*[{,]\"$1\":\([0-9]*\)[,}].*/\1/p" "$T/nfsd.json"; }
contexts() { sed -n 's/.*"gss_tcp":{"calls":\([0-9]*\).*/\1/p' "$T/nfsd.json"; }

works_under() { # FLAVOR
	start_server "$1"
	mount_it "$1" || die "no mount under $1"
	guest "grep ' $mounted nfs .*sec=$1,' /proc/mounts" || fail "it is mounted otherwise"
	guest -t 400 "BIG=8 MANY=300 sh $work $mounted $seed big names" >"$T/done" || die "the work under $1"
	while read -r name digest; do
		case $name in
		names) seen=$(guest "cd /run/export && sh $work tree $name" | sha256sum) ;;
		*) seen=$(guest "cd /run/export && sha256sum <$name") ;;
		esac
		[ "${seen%% *}" = "$digest" ] || fail "$1: $name differs at the server"
	done <"$T/done"
	[ "$(grep -c . "$T/done")" = 2 ] || fail "not all was compared: $(cat "$T/done")"
	guest "chmod 777 $mounted && su _rpc -c 'echo mine >$mounted/mine' &&
		[ \"\$(stat -c %u:%s /run/export/mine)\" = 101:5 ] &&
		[ \"\$(su _rpc -c 'cat $mounted/mine')\" = mine ]" || fail "$1: alice is not served as herself"
	guest "su nobody -c 'echo theirs >$mounted/theirs' 2>/dev/null" &&
		fail "$1: who has no ticket writes"
	guest -t 60 "umount.nfs $mounted && cd /run/export && rm -rf big names mine" || fail "umount"
	stop_server
	# Of the machine, and of alice.
	[ "$(contexts)" -ge 2 ] || fail "$1: $(contexts) calls about contexts came over TCP"
	items=$(served bytes_write_chunk)
	if [ "$1" = krb5 ]; then
		[ "$items" -ge 8388608 ] || fail "$1: $items octets moved as items"
	else
		[ "$items" = 0 ] || fail "$1: items of $items octets were reduced"
	fi
}

# ---- The test --------------------------------------------------------------------------------

guest_begin
guest_program "$RPCRDMA"
cp "$here/mount-work.sh" "$share/" && guest "cp /host/mount-work.sh $work" || die "mount-work.sh"
start_kdc
guest_link rxe
give_kerberos
start_gssd
guest -t 30 "mkdir -p /run/export $mounted && mount -t tmpfs -o size=100m,mode=755 export /run/export" ||
	die "no place to export"
for flavor in krb5 krb5i krb5p; do
	works_under $flavor
	say "$flavor: $(contexts) calls about contexts over TCP, $(served requests) requests over RDMA"
done
start_server krb5i
mount_it sys 2>/dev/null && fail "sec=sys was mounted"
stop_server
# gssd lets go of its pipes a while after it was told to.
guest -t 60 'kill $(pidof rpc.gssd); umount /run/export; i=0
	until umount /var/lib/nfs/rpc_pipefs; do
		i=$((i + 1)); [ $i -lt 100 ] || break; sleep 0.2
	done; ! grep -q rpc_pipefs /proc/mounts' ||
	fail "gssd does not let go of its pipes"
guest_end "mounted under krb5, krb5i, krb5p; contexts came over TCP, all else over RDMA"
