#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The rpcbind of the distribution takes our registrations, rpcinfo shows them, and
# what it is asked names the right port.
set -u
: "${RPCRDMA:?is not set}" "${MOUNTD:?is not set}"
. "$(dirname "$0")/rpcbind.lib"

# Rows of what rpcinfo shows of us: program version netid address.
rows() {
	rpcinfo 2>/dev/null |
		awk '$3 ~ /^rdma/ || $1 == 100005 { print $1, $2, $3, $4 }'
}
expect_rows() {
	expect_list rows "$@"
}

# ---- Without one --------------------------------------------------------------------

run 1 nfsd --export "$T/export:/e" --listen 127.0.0.1:4660 --state-dir "$T/state" --register
says "$T/err" "cannot register with rpcbind: it is not running on this host"
run 1 ping -c 1 --program 100005 127.0.0.1
says "$T/err" "rpcbind is not running; specify the port as HOST:PORT"
start_server 127.0.0.1:20049
run 0 ping -c 1 --program 100003 127.0.0.1
says "$T/err" "rpcbind is not running; trying port 20049"
run 0 ping -c 1 127.0.0.1
[ -s "$T/err" ] && fail "rpcbind was asked for NFS"
stop_server

# ---- With one -----------------------------------------------------------------------

start_rpcbind

# A server whose TCP port is another must not be mistaken for it.
start_server 127.0.0.1:4660 --register --mount-port 4661
expect_rows "100003 3 rdma 127.0.0.1.18.52" "100005 3 rdma 127.0.0.1.18.52" \
	"100005 3 tcp 127.0.0.1.18.53"
run 0 ping -c 1 --program 100005 127.0.0.1
says "$T/out" "reply from 127.0.0.1:4660"
run 0 ping -c 1 --program 100003 twofold
says "$T/out" "reply from twofold:4660"
run 1 ping -c 1 --program 100005 --version 1 127.0.0.1
says "$T/err" "the program is not registered with rpcbind for RDMA"
run 1 ping -c 1 --program 100000 --version 4 127.0.0.1
says "$T/err" "the program is not registered with rpcbind for RDMA"

# One address a program: the second server does not start, the first one stays.
run 1 nfsd --export "$T/export:/e" --listen 127.0.0.1:0 --state-dir "$T/state2" --register
says "$T/err" "another address is registered for NFS or MOUNT"
says "$T/err" "rpcinfo -d 100003 3; rpcinfo -d 100005 3"
expect_rows "100003 3 rdma 127.0.0.1.18.52" "100005 3 rdma 127.0.0.1.18.52" \
	"100005 3 tcp 127.0.0.1.18.53"
stop_server
expect_rows ""

# What a killed server leaves behind is taken over by the next at that address.
start_server 127.0.0.1:4660 --register --mount-port 4661
kill -KILL "$server"
wait "$server" 2>/dev/null
expect_rows "100003 3 rdma 127.0.0.1.18.52" "100005 3 rdma 127.0.0.1.18.52" \
	"100005 3 tcp 127.0.0.1.18.53"
start_server 127.0.0.1:4660 --register --mount-port 4661
stop_server
expect_rows ""

# ... and by the next elsewhere: nobody answers at the old addresses.
start_server 127.0.0.1:4660 --register --mount-port 4661
kill_server
start_server 127.0.0.1:4670 --register --mount-port 4671
expect_rows "100003 3 rdma 127.0.0.1.18.62" "100005 3 rdma 127.0.0.1.18.62" \
	"100005 3 tcp 127.0.0.1.18.63"
stop_server
expect_rows ""
start_server 0.0.0.0:4660 --register --mount-port 4661
kill_server
start_server 127.0.0.1:4670 --register --mount-port 4671
stop_server
expect_rows ""

# What listens there now, and does not speak RDMA, is left to the administrator.
start_server 127.0.0.1:4660 --register --mount-port 4661
kill_server
start_server 127.0.0.1:4670 --mount-port 4660 # something that listens, not for RDMA
first=$server
others="$others $first"
run 1 nfsd --export "$T/export:/e" --listen 127.0.0.1:0 --state-dir "$T/state2" --register
kill -TERM "$first"
wait "$first"
start_server 127.0.0.1:4670 --register
stop_server
expect_rows ""

# A server that is stopped has not left.
start_server 127.0.0.1:4660 --register --mount-port 4661
kill -STOP "$server"
run 1 nfsd --export "$T/export:/e" --listen 127.0.0.1:0 --state-dir "$T/state2" --register
says "$T/err" "another address is registered for NFS or MOUNT"
kill -CONT "$server"
expect_rows "100003 3 rdma 127.0.0.1.18.52" "100005 3 rdma 127.0.0.1.18.52" \
	"100005 3 tcp 127.0.0.1.18.53"
stop_server

# A closed terminal ends it like any other signal; nohup keeps it.
start_server 127.0.0.1:4660 --register
kill -HUP "$server"
wait "$server" || fail "the server ended with $? at SIGHUP"
server=""
expect_rows ""
: >"$T/server.out" # the line of the one before
(
	trap '' HUP
	exec "$RPCRDMA" nfsd --export "$T/export:/e" --listen 127.0.0.1:4660 --state-dir "$T/state" \
		>"$T/server.out" 2>"$T/server.err"
) &
server=$!
until_true 20 grep -q '^listening' "$T/server.out" || fail "it does not start under nohup"
kill -HUP "$server"
run 0 ping -c 1 127.0.0.1:4660
stop_server

# MOUNT over TCP has the port of custom where none was named, so the next one has it too.
start_server 127.0.0.1:4660 --register
expect_rows "100003 3 rdma 127.0.0.1.18.52" "100005 3 rdma 127.0.0.1.18.52" \
	"100005 3 tcp 127.0.0.1.78.80"
says "$T/server.out" "mountd 127.0.0.1:20048"
kill_server
start_server 127.0.0.1:4660 --register
stop_server
expect_rows ""

# Nothing is registered unasked.
start_server 127.0.0.1:4660
expect_rows ""
stop_server

# IPv6, and both at once.
if [ -e /proc/net/if_inet6 ] && grep -q ' lo$' /proc/net/if_inet6; then
	start_server '[::1]:4660' --register --mount-port 4661
	expect_rows "100003 3 rdma6 ::1.18.52" "100005 3 rdma6 ::1.18.52" \
		"100005 3 tcp6 ::1.18.53"
	run 0 ping -c 1 --program 100005 '[::1]'
	says "$T/out" "reply from [::1]:4660"
	run 1 ping -c 1 --program 100005 127.0.0.1
	says "$T/err" "the program is not registered with rpcbind for RDMA"
	stop_server
	start_server :4660 --register --mount-port 4661
	expect_rows "100003 3 rdma6 ::.18.52" "100005 3 rdma6 ::.18.52" \
		"100003 3 rdma 0.0.0.0.18.52" "100005 3 rdma 0.0.0.0.18.52" \
		"100005 3 tcp6 ::.18.53" "100005 3 tcp 0.0.0.0.18.53"
	run 0 ping -c 1 --program 100005 '[::1]'
	run 0 ping -c 1 --program 100005 127.0.0.1
	stop_server
	expect_rows ""
else
	echo "no IPv6 here: that part was not tried"
fi

# A server that has NFS on RDMA and MOUNT on TCP only: found by rpcbind.
start_other nfs nfs 20049
run 1 stat nfs://127.0.0.1/e
says "$T/err" "no MOUNT on RDMA, and its rpcbind on port 111 has no MOUNT version 3 on TCP: specify ?mountport="
start_other mountd register 0102030405060708 /e
until_true 20 grep -q registered "$T/mountd.out" || fail "the stand-in does not register"
run 0 stat --json -v nfs://127.0.0.1/e
says "$T/out" '"fileid":4711'
says "$T/out" '"handle":"0102030405060708"'
says "$T/err" "MOUNT on TCP, port $(sed -n 's/^port //p' "$T/mountd.out") (from rpcbind)"
says "$T/mountd.out" "MNT /e uid 0 reserved"
until_true 10 grep -q UMNT "$T/mountd.out" || fail "no UMNT came"
says "$T/mountd.out" "UMNT /e uid 0 reserved"
run 0 ls nfs://127.0.0.1
[ "$(cat "$T/out")" = /e ] || fail "the exports are $(cat "$T/out")"

# A tool that waits for a silent rpcbind ends by a signal all the same.
kill -STOP "$rpcbind"
"$RPCRDMA" ls nfs://127.0.0.1 >"$T/out" 2>"$T/err" &
waiting=$!
others="$others $waiting"
sleep 0.5
kill -TERM $waiting
until_true 5 eval "! kill -0 $waiting 2>/dev/null" || fail "a signal does not end the tool"
wait $waiting
[ $? -eq 143 ] || fail "it did not end by the signal"
kill -CONT "$rpcbind"

[ $failed = 0 ] || exit 1
echo "registered, found and taken back, as rpcinfo sees it"
