#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# `rpcrdma cp` from and to the kernel's NFS server, and in the middle of it the network
# loses everything for five seconds, the server is stopped and started, its RDMA link
# deleted and added.  VARIANT: siw, our software iWARP on the host; verbs-siw and
# verbs-rxe, our verbs provider in the guest (there the loss of packets does not apply:
# they never leave it).
#
# Linux 6.1's server waits for ever, and with it who deleted the link, if it waits for an
# RDMA Read or a Send of its own when its siw goes (siw leaves them in a queue that
# nothing flushes any more).  So the client stands still while the link is deleted,
# with calls not yet made, and what it has made the server do does not need it: over
# verbs the devices do it; to the host come pieces that a socket takes at once.  From the
# host, octets are read by the server from a process: there the link goes only
# while it sends.
. "$(dirname "$0")/guest.sh"
: "${VARIANT:?is not set}"
link=${VARIANT#verbs-}
size=64 # MiB

# ---- Troubles ---------------------------------------------------------------------------

lose_packets() {
	guest -t 40 'tc qdisc del dev eth0 root; tc qdisc add dev eth0 root netem loss 100%; sleep 5
		tc qdisc del dev eth0 root' || fail "netem"
}

# Version 4 alone knows a time of grace.  Linux 7 refuses to end it, without nfsdcld.
restart_server() {
	guest -t 60 'rpc.nfsd 0 && sleep 1 && rpc.nfsd 4 && echo "rdma 20049" >/proc/fs/nfsd/portlist || exit 1
		echo Y >/proc/fs/nfsd/v4_end_grace 2>/dev/null
		grep -q "^rdma 20049" /proc/fs/nfsd/portlist' || fail "the server does not start again"
}

replace_link() {
	signal_copy STOP
	sleep 1
	guest_bg replace "rdma link del ${link}0 && sleep 1 && rdma link add ${link}0 type $link netdev eth0"
	sleep 1
	signal_copy CONT
	guest_wait replace 40 || {
		guest 'for p in $(pidof rdma nfsd); do cat /proc/$p/stack; done'
		die "the link cannot be replaced"
	}
}

# ---- Copies, slow enough to be disturbed ----------------------------------------------------

start_copy() { # FROM TO
	case $VARIANT in
	verbs-*)
		guest_bg copy "exec rpcrdma cp --provider verbs --size 64K --in-flight 1 '$1' '$2'"
		;;
	*)
		pieces="--size 32K"
		[ "$trouble" != replace_link ] || pieces="--size 16K"
		# shellcheck disable=SC2086
		host_bg copy "$RPCRDMA" cp --in-flight 1 $pieces "$1" "$2"
		copy_pid=$bg_pid
		;;
	esac
}
signal_copy() { # SIGNAL
	case $VARIANT in
	verbs-*) guest "kill -s $1 \$(pidof rpcrdma)" ;;
	*) kill -s "$1" "$copy_pid" ;;
	esac
}
copy_is_over() {
	case $VARIANT in
	verbs-*) guest '[ -e /run/bg/copy.end ]' ;;
	*) has_ended "$copy_pid" ;;
	esac
}
finish_copy() {
	case $VARIANT in
	verbs-*) guest_wait copy 150 ;;
	*)
		until_true 150 has_ended "$copy_pid" || fail "the copy hangs"
		wait "$copy_pid"
		;;
	esac
}

# Half of the octets, so that nothing is over yet; then trouble.
in_the_middle() { # TROUBLE FROM TO
	guest 'tc qdisc add dev eth0 root netem rate 60mbit' || fail "netem"
	start_copy "$2" "$3"
	sleep 1
	if copy_is_over; then
		fail "$1: the copy was over before the trouble"
	fi
	$1
	guest 'tc qdisc del dev eth0 root 2>/dev/null; true'
	finish_copy
	ended=$?
	[ $ended = 0 ] || {
		tail -n 3 "$T/copy.err" 2>/dev/null || guest_said copy | tail -n 3
		fail "$1: the copy ended with $ended"
	}
	say "$1: gone on"
}

# ---- The test ------------------------------------------------------------------------------

guest_begin
guest_link "$link"
guest_nfsd_start
guest 'modprobe sch_netem'
case $VARIANT in
verbs-*)
	guest_program "$RPCRDMA"
	guest "mkdir -p /run/local && dd if=/dev/urandom of=/run/local/data bs=1M count=$size 2>/dev/null"
	url=nfs://$guest_ip/exp here_dir=/run/local troubles="restart_server replace_link"
	digest() { guest -t 60 "sha256sum </run/local/$1"; }
	;;
*)
	mkdir "$T/local"
	dd if=/dev/urandom of="$T/local/data" bs=1M count=$size 2>/dev/null
	url=nfs://127.0.0.1:$(host_port 20049)/exp here_dir=$T/local
	troubles="lose_packets restart_server replace_link"
	export_query="?mountport=$(host_port 20048)"
	digest() { sha256sum <"$T/local/$1"; }
	;;
esac
want=$(digest data)
for trouble in $troubles; do
	case $VARIANT.$trouble in
	siw.replace_link)
		start_copy "$here_dir/data" "$url/$trouble${export_query:-}"
		finish_copy || fail "a copy without trouble ended with $?"
		;;
	*) in_the_middle "$trouble" "$here_dir/data" "$url/$trouble${export_query:-}" ;;
	esac
	[ "$(guest -t 60 "sha256sum </exp/$trouble")" = "$want" ] || fail "$trouble: it differs at the server"
	in_the_middle "$trouble" "$url/$trouble${export_query:-}" "$here_dir/back"
	[ "$(digest back)" = "$want" ] || fail "$trouble: it differs here"
	guest "rm -f /exp/$trouble"
done
guest_nfsd_stop
guest_end "$troubles: copied whole, there and back"
