#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Programs of libtirpc and the rpcbind of the distribution: a server is registered under
# rdma beside TCP, clients find it by host, program and version alone, and go to TCP
# where that was asked for, saying so.
set -u
: "${RPCRDMA:?is not set}" "${WHERE:?is not set}" "${TALLY:?is not set}"
. "$(dirname "$0")/rpcbind.lib"
export LD_LIBRARY_PATH=${LIBRARY:?is not set}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

prog=536871203

# start ARGUMENT...: a server, until stop.
start() {
	: >"$T/server.out"
	"$WHERE" "$@" >"$T/server.out" 2>"$T/server.err" &
	server=$!
	until_true 20 grep -q . "$T/server.out"
	grep -q '^ready' "$T/server.out" || {
		cat "$T/server.out"
		echo "the server does not start: $*"
		exit 1
	}
}
stop() {
	kill -TERM "$server"
	wait "$server" || fail "the server ended with $?"
	server=""
}
# where EXIT-CODE ARGUMENT...
where() {
	local want=$1 got
	shift
	timeout 60 "$WHERE" "$@" >"$T/out" 2>"$T/err"
	got=$?
	[ $got = "$want" ] || {
		fail "$*: exit code $got instead of $want"
		cat "$T/out" "$T/err"
	}
}
quiet() { [ ! -s "$T/err" ] || fail "said without need: $(cat "$T/err")"; }
# What rpcinfo shows: version netid address, of RDMA.
expect_rdma() {
	rpcinfo | awk -v p=$prog '$1 == p && $3 ~ /^rdma/ { print $2, $3, $4 }' |
		LC_ALL=C sort >"$T/rows"
	printf '%s\n' "$@" | sed '/^$/d' | LC_ALL=C sort >"$T/wanted"
	cmp -s "$T/rows" "$T/wanted" || {
		fail "rpcinfo shows otherwise:"
		diff "$T/wanted" "$T/rows"
	}
}
expect_tcp() { # how many versions
	local n
	n=$(rpcinfo -p | awk -v p=$prog '$1 == p && $3 == "tcp" { n++ } END { print n + 0 }')
	[ "$n" = "$1" ] || fail "rpcinfo -p shows $n versions over TCP instead of $1"
}

# ---- Without rpcbind ----------------------------------------------------------------

where 1 serve 127.0.0.1:4660
says "$T/out" "error: rdma: RPC: Port mapper failure - Unable to receive: errno 111 (Connection refused)"
where 1 call 127.0.0.1 rdma
says "$T/out" "error: create: RPC: Port mapper failure - Unable to receive: errno 111 (Connection refused)"
where 1 native 127.0.0.1
says "$T/out" "event: the server's rpcbind: connection refused"

# ---- RDMA and TCP -------------------------------------------------------------------

start_rpcbind
start serve 127.0.0.1:4660 tcp
expect_rdma "1 rdma 127.0.0.1.18.52" "2 rdma 127.0.0.1.18.52"
expect_tcp 2
where 0 call 127.0.0.1 -
says "$T/out" "answered netid=rdma"
quiet
where 0 call localhost rdma,tcp
says "$T/out" "answered netid=rdma"
quiet
where 0 call 127.0.0.1 tcp,rdma
says "$T/out" "answered netid=tcp"
quiet
where 0 call twofold rdma # its first address cannot be reached
says "$T/out" "answered netid=rdma"
where 0 versions 127.0.0.1
says "$T/out" "version 2 netid=rdma"
where 0 native 127.0.0.1
says "$T/out" "answered natively"

run 0 ping -c 2 -i 0 -q -v --netid rdma,tcp --program $prog --version 2 localhost
says "$T/out" "localhost:4660: provider iwarp"
says "$T/out" "2 calls, 2 replies"
quiet

# A netid is looked up exactly: over IPv4 alone, rpcbind has no tcp6 or rdma6.
where 0 lookup 127.0.0.1 rdma
says "$T/out" "port 4660"
where 0 lookup twofold tcp
says "$T/out" "port $(rpcinfo -p | awk -v p=$prog '$1 == p && $2 == 2 && $3 == "tcp" { print $4 }')"
for netid in tcp6 rdma6 udp; do
	where 1 lookup 127.0.0.1 $netid
	says "$T/out" "error: No such file or directory"
done

# A second server elsewhere does not take the place of the first.
where 1 serve 127.0.0.1:4661
says "$T/out" "error: rdma: RPC: Remote system error - File exists"
expect_rdma "1 rdma 127.0.0.1.18.52" "2 rdma 127.0.0.1.18.52"
stop
expect_rdma ""
expect_tcp 0

# ---- The RDMA server is gone, TCP is up ---------------------------------------------

start tcp
expect_rdma ""
expect_tcp 2
where 0 call 127.0.0.1 rdma,tcp
says "$T/out" "answered netid=tcp"
says "$T/err" "127.0.0.1: no RDMA (its rpcbind has no such program there): using TCP"
[ "$(wc -l <"$T/err")" = 1 ] || fail "it is said more than once"
where 1 call 127.0.0.1 rdma
says "$T/out" "error: create: RPC: Program not registered"
quiet
where 1 call 127.0.0.1 -
says "$T/out" "error: create: RPC: Program not registered"
where 1 native 127.0.0.1
says "$T/out" "event: the program is not registered with the server's rpcbind"
run 0 ping -c 2 -i 0 -v --netid rdma,tcp --program $prog --version 2 127.0.0.1
says "$T/err" "rpcrdma ping: 127.0.0.1: no RDMA (its rpcbind has no such program there): using TCP"
says "$T/out" "TCP, no RDMA"
says "$T/out" "seq=2 xid="
says "$T/out" "2 calls, 2 replies, 0% lost"
run 0 ping -c 1 --json --netid tcp --program $prog --version 2 127.0.0.1
says "$T/out" '"negotiated":{"netid":"tcp"}'
run 1 ping -c 1 --netid tcp --program $prog --version 9 127.0.0.1
says "$T/err" "rpcrdma ping: 127.0.0.1: RPC: Program not registered"
run 1 ping -c 1 --netid rdma --program $prog --version 2 127.0.0.1
says "$T/err" "rpcrdma ping: 127.0.0.1: RPC: Program not registered"
run 2 ping -c 1 --netid rdma,udp 127.0.0.1
says "$T/err" "'rdma,udp' is not a list of rdma, rdma6, tcp and tcp6"
NETPATH=udp:tcp where 0 call 127.0.0.1 netpath
says "$T/out" "answered netid=tcp"
stop

# ---- A server that was killed -------------------------------------------------------

start serve 127.0.0.1:4660 tcp
kill_server
expect_rdma "1 rdma 127.0.0.1.18.52" "2 rdma 127.0.0.1.18.52"
where 1 call 127.0.0.1 rdma
says "$T/out" "Connection refused"
start serve 127.0.0.1:4660 # at the same address
where 0 call 127.0.0.1 rdma
stop
expect_rdma ""
start serve 127.0.0.1:0 # takes a port of its own each time
kill_server
start serve 127.0.0.1:0 # elsewhere: the first one's address goes
where 0 call 127.0.0.1 rdma
says "$T/out" "answered netid=rdma"
stop
expect_rdma ""
rpcinfo -d $prog 1 2>/dev/null # what TCP left
rpcinfo -d $prog 2 2>/dev/null

# ---- rpcgen's own main function -----------------------------------------------------

tally=536871205
# start_tally KIND: a server, with the addresses that rpcinfo shows when it is there.
start_tally() {
	"${TALLY}_$1" >"$T/tally.out" 2>"$T/tally.err" &
	server=$!
	until_true 20 tally_is_new || {
		fail "the $1 server of rpcgen is not registered: $(cat "$T/tally.err")"
		exit 1
	}
	was=$(tally_rows)
}
tally_rows() { rpcinfo | awk -v p=$tally '$1 == p { print $3, $4 }' | LC_ALL=C sort; }
tally_is_new() { [ "$(tally_rows)" != "$was" ]; }
# tally EXIT-CODE NETID TEXT
tally() {
	local got
	timeout 60 "${TALLY}_client" 127.0.0.1 "$2" >"$T/out" 2>"$T/err"
	got=$?
	[ $got = "$1" ] || fail "a client over $2: exit code $got instead of $1"
	says "$T/out" "$3"
}
was=""
for kind in with without; do
	start_tally $kind
	tally_rows | grep -q '^rdma 127\.0\.0\.1\.' || fail "$kind: not registered under rdma"
	! tally_rows | grep -v '^rdma' || fail "$kind: registered under more than rdma"
	tally 0 rdma "answered by rdma"
	# clnt_create itself loses an octet of memory when it fails.
	ASAN_OPTIONS=detect_leaks=0 tally 1 tcp "error: 127.0.0.1: RPC: Program not registered"
	kill_server
	tally 1 rdma "Connection refused"
	start_tally $kind # another port: the dead one's address goes
	tally 0 rdma "answered by rdma"
	# A second one does not take the place of a living one.
	timeout 60 "${TALLY}_$kind" >"$T/out" 2>"$T/second.err"
	[ $? = 1 ] || fail "$kind: a second server does not end"
	says "$T/second.err" "unable to register (TALLY_PROG, TALLY_VERS, tcp)"
	tally 0 rdma "answered by rdma"
	kill_server
	rpcinfo -d $tally 1
	was=""
done
start_tally tcp
others="$others $server"
start_tally with # beside the one over TCP, whose address its pmap_unset removes
tally_rows | grep -q '^tcp' && fail "pmap_unset left the address of TCP"
tally 0 rdma "answered by rdma"
kill_server
rpcinfo -d $tally 1

# ---- A server that comes back elsewhere ---------------------------------------------

start serve 127.0.0.1:4660
mkfifo "$T/go"
timeout 60 "$WHERE" follow 127.0.0.1 <"$T/go" >"$T/follow.out" 2>"$T/follow.err" &
follow=$!
others="$others $follow"
exec 9>"$T/go"
until_true 20 grep -q answered "$T/follow.out" || fail "the first call is not answered"
stop
start serve 127.0.0.1:4662
echo >&9
exec 9>&-
wait $follow || fail "the second call is not answered: $(cat "$T/follow.out")"
[ "$(grep -c answered "$T/follow.out")" = 2 ] || fail "not two answers: $(cat "$T/follow.out")"
stop

# ---- RDMA only, and RDMA with a silent rpcbind --------------------------------------

start serve 127.0.0.1:0
where 0 call 127.0.0.1 tcp,rdma
says "$T/out" "answered netid=rdma"
says "$T/err" "127.0.0.1: no TCP (its rpcbind has no such program there): using RDMA"
kill -STOP "$rpcbind"
began=$SECONDS
where 1 call 127.0.0.1 rdma,tcp
says "$T/out" "RPC: Port mapper failure - Timed out"
[ $((SECONDS - began)) -le 12 ] || fail "a silent rpcbind holds a client up"
began=$SECONDS
where 0 leave 127.0.0.1
says "$T/out" "left"
[ $((SECONDS - began)) -le 3 ] || fail "a silent rpcbind holds an engine up"
began=$SECONDS
kill -TERM "$server" # it cannot take back what it registered
wait "$server" || fail "the server ended with $?"
[ $((SECONDS - began)) -le 9 ] || fail "a silent rpcbind holds a server up"
server=""
kill -CONT "$rpcbind"
rpcinfo -d $prog 1 2>/dev/null
rpcinfo -d $prog 2 2>/dev/null

# ---- NFS has a port of its own ------------------------------------------------------

mkdir "$T/export"
"$RPCRDMA" nfsd --export "$T/export:/e" --listen 127.0.0.1:20049 --state-dir "$T/state" \
	>"$T/nfsd.out" 2>"$T/nfsd.err" &
others="$others $!"
until_true 20 grep -q '^listening' "$T/nfsd.out" || fail "nfsd does not start"
where 0 native 127.0.0.1 100003
says "$T/out" "answered natively"

# ---- IPv6 ---------------------------------------------------------------------------

if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	start serve '[::1]:4660' tcp
	expect_rdma "1 rdma6 ::1.18.52" "2 rdma6 ::1.18.52"
	where 0 call '::1' rdma
	says "$T/out" "answered netid=rdma6"
	where 0 call '::1' rdma6,tcp
	says "$T/out" "answered netid=rdma6"
	where 0 call 127.0.0.1 rdma6,tcp
	says "$T/err" "127.0.0.1: no RDMA over IPv6 (it has no such address): using TCP"
	stop
	start serve '[::]:4660'
	expect_rdma "1 rdma6 ::.18.52" "2 rdma6 ::.18.52" \
		"1 rdma 0.0.0.0.18.52" "2 rdma 0.0.0.0.18.52"
	where 0 call 127.0.0.1 rdma
	where 0 native ::1
	stop
	expect_rdma ""
else
	echo "no IPv6 here: that part was not tried"
fi

[ $failed = 0 ] || exit 1
echo "registered, found, and TCP where there is no RDMA"
