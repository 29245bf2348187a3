#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tools against the kernel's NFS server, which has version 1 only and MOUNT on TCP:
# VARIANT siw is software iWARP on this host, verbs-siw and verbs-rxe are the verbs
# provider in the guest.  A client that begins with version 2 understands the kernel's
# error and goes on in version 1, on the same connection; files around every limit and
# trees arrive as they were, both ways.      [V2-4.2.3-01, V2-4.2.3.2-06; RFC 8166 §4.5]
. "$(dirname "$0")/guest.sh"

guest_begin
guest_link "${VARIANT#verbs-}"
guest_nfsd_start
case ${VARIANT:?is not set} in
verbs-*)
	guest_program "$RPCRDMA"
	provider=verbs command=rpcrdma server=$guest_ip:20049 from=$guest_ip
	query="" # its rpcbind is asked
	secure=secure
	client() { guest -t 240 "mkdir -p /run/client && cd /run/client && umask 022 && $1"; }
	guest 'rm -rf /run/client'
	;;
*)
	provider=iwarp command="'$RPCRDMA'" server=127.0.0.1:$(host_port 20049) from=$host_ip
	query="?mountport=$(host_port 20048)"
	secure=insecure # the emulator's ports are high
	mkdir "$T/client"
	client() { (cd "$T/client" && sh -c "umask 022 && $1"); }
	;;
esac
url=nfs://$server

# run EXIT-CODE SUBCOMMAND ARGUMENT...: where the client is; what it says in $T/out, err.
run() {
	want=$1 line="$2 --provider $provider"
	shift 2
	for word; do line="$line '$word'"; done
	got=0
	client "timeout 120 $command $line" >"$T/out" 2>"$T/err" || got=$?
	[ $got = "$want" ] && return
	fail "rpcrdma $line: exit code $got instead of $want"
	cat "$T/err"
	return 1
}

says() { # out|err TEXT
	grep -qF -- "$2" "$T/$1" && return
	fail "'$2' is not in what it said:"
	cat "$T/$1"
}

is() { # WHAT WANTED GOT
	[ "$2" = "$3" ] || fail "$1 is '$3', not '$2'"
}

same_tree() { # CLIENT-DIR GUEST-DIR
	client "$(tree_script "$1")" >"$T/want" && guest_tree "$2" >"$T/got" || fail "no listing of $1, $2"
	[ -s "$T/want" ] && cmp -s "$T/want" "$T/got" && return
	fail "$1 and $2 differ:"
	diff "$T/want" "$T/got" | head -n 20
}

# ---- What is negotiated ------------------------------------------------------------------

run 0 ping -v -c 3 -i 0 "$server"
says out "provider $provider, RPC-over-RDMA version 1, credits 32, inline 4096 out 4096 in"
says out "3 calls, 3 replies, 0% lost"
run 0 ping -v -c 3 -i 0 --rpcrdma-version 1 --credits 100 "$server"
grants=$(guest 'cat /proc/sys/sunrpc/svc_rdma/max_requests') # 64 in Linux 6.1, 128 in 7
[ "${grants:-0}" -lt 100 ] || grants=100                     # no more than were asked for
says out "RPC-over-RDMA version 1, credits $grants," # its grant, once there was a Reply
run 0 ping -c 1 --trace - "$server"
is "connections" 1 "$(grep -c '"point":"PROV_CONNECTED"' "$T/err")"
is "refusals of version 2" 1 "$(grep -c '"point":"ERROR_RECEIVED".*"rdma_err":1,"a":1,"b":1' "$T/err")"
run 0 ping -c 1 --rpcrdma-version 1 --trace - "$server"
grep -q ERROR_RECEIVED "$T/err" && fail "version 2 was tried"
run 1 ping -c 1 --rpcrdma-version 2 "$server"
says err "no RPC-over-RDMA version in common: the server refuses RPC-over-RDMA version 2"
run 1 cp --rpcrdma-version 2 /dev/null "$url/exp/none$query"
says err "the server refuses RPC-over-RDMA version 2"
run 1 ping -c 1 --program 100005 "$server"
says err "has no program 100005"
client "timeout 60 $command ping -v -c 1 $server" >"$T/out" || fail "no ping without --provider"
case $VARIANT in # devices first, where one is that is no siw
*siw) says out "provider iwarp," ;;
*) says out "provider $provider," ;;
esac
say "negotiated"

# ---- Files ---------------------------------------------------------------------------------

sizes="0 1 3 4 1023 1024 1025 4095 4096 4097 65536 1048579 33554432"
client "mkdir files && for n in $sizes; do head -c \$n /dev/urandom >files/\$n || exit 1; done" ||
	fail "no files"
guest 'mkdir /exp/files /exp/forced'
# shellcheck disable=SC2086
run 0 cp -q $(printf 'files/%s ' $sizes) "$url/exp/files/$query"
same_tree files /exp/files
run 0 cp -qr "$url/exp/files$query" back && same_tree back /exp/files
run 0 cp -q --rpcrdma-version 1 --in-flight 64 --size 65536 files/1048579 files/4097 "$url/exp/forced$query"
run 0 cp -q --rpcrdma-version 1 --inline 1024 "$url/exp/forced/1048579$query" "$url/exp/forced/4097$query" .
client 'cmp 1048579 files/1048579 && cmp 4097 files/4097' || fail "in version 1 alone: otherwise"
guest 'cd /exp/forced && cmp 1048579 ../files/1048579 && cmp 4097 ../files/4097' ||
	fail "in version 1 alone: otherwise"
run 0 cat "$url/exp/files/1048579$query"
is "what cat prints" "$(client 'sha256sum <files/1048579')" "$(sha256sum <"$T/out")"
guest 'head -c 3000001 /dev/urandom >/exp/made'
run 0 cp -q "$url/exp/made$query" made
is "a file of the kernel's" "$(guest 'sha256sum </exp/made')" "$(client 'sha256sum <made')"
for way in read write; do
	n=$(guest "cat /proc/sys/sunrpc/svc_rdma/rdma_stat_$way")
	[ "$n" -gt 100 ] || fail "the server counts $n RDMA ${way}s"
done
say "files"

# ---- Trees, lists, attributes ----------------------------------------------------------------

client 'mkdir -p tree/empty tree/deep/deeper tree/many && cd tree || exit 1
	head -c 70000 /dev/urandom >"deep/deeper/file"
	ln -s "../many/1" "deep/link"; ln -s nowhere dangling
	ln -s "$(printf "%01000d" 0)" longlink
	i=0; while [ $i -lt 300 ]; do i=$((i + 1)); echo $i >many/$i; ln -s $i many/link$i; done
	chmod 640 many/1; chmod 711 empty' || fail "no tree"
run 0 cp -qr tree "$url/exp/tree$query" && same_tree tree /exp/tree
run 0 cp -qr "$url/exp/tree$query" fetched && same_tree fetched /exp/tree
guest 'mkdir /exp/list && cd /exp/list && i=1000 && while [ $i -lt 3000 ]; do
	i=$((i + 1)); : >"a rather long name, so that there are many pages of the directory $i"
done'
run 0 ls "$url/exp/list$query"
guest 'ls /exp/list' | cmp - "$T/out" || fail "the list of a long directory"
run 0 ls -l "$url/exp/tree/many$query"
is "what ls -l lists" 600 "$(wc -l <"$T/out")"
says out "link7 -> 7"
run 0 stat --json "$url/exp/files/4097$query"
guest 'stat -c "\"fileid\":%i \"size\":%s \"nlink\":%h \"uid\":%u" /exp/files/4097' >"$T/kernel"
for word in $(cat "$T/kernel"); do says out "$word"; done
run 0 stat "$url/exp/tree/longlink$query" && says out "symbolic link"
run 1 stat "$url/exp/nothing$query" && says err "No such file"
say "trees and lists"

# ---- MOUNT -------------------------------------------------------------------------------------

guest "mkdir -p /exp/pub /run/srv/nfs/pub && echo deep >/exp/pub/file &&
mount --bind /exp/pub /run/srv/nfs/pub &&
exportfs -o rw,$secure,no_root_squash,no_subtree_check,fsid=7 '*:/run/srv/nfs/pub'" || fail "exportfs"
run 0 ls "$url$query"
printf '%s\n' /exp /run/srv/nfs/pub >"$T/exports"
sort "$T/out" | cmp - "$T/exports" || fail "the exports are $(cat "$T/out")"
run 0 cat "$url/run/srv/nfs/pub/file$query" && is "a file of that" deep "$(cat "$T/out")"
run 1 ls "$url/other$query" && says err "the server exports"
guest "exportfs -u '*:/run/srv/nfs/pub'; umount -l /run/srv/nfs/pub"
[ $provider = verbs ] || {
	run 1 ls "$url/exp" # the rpcbind of this host, if any, is not the guest's
	says err "specify ?mountport=N"
}
is "what is still mounted" "" "$(guest "grep '^$from:' /var/lib/nfs/rmtab")"
[ $provider = iwarp ] || guest 'rm -rf /run/client'
guest_nfsd_stop
guest_end "files, trees and lists both ways in version 1, after version 2 was refused"
