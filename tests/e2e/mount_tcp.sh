#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# MOUNT where other servers have it: on TCP, at a port that the URL names.  Also
# where nobody listens, answers, or tells the truth.
: "${MOUNTD:?is not set}"
. "$(dirname "$0")/tools.lib"

OTHER=
# other HOW [PATH...]: a stand-in for MOUNT at port M, with the handle of our export
other() {
	end_other
	_how=$1
	shift
	: >"$T/mountd.out"
	"$MOUNTD" "$_how" "$HANDLE" "$@" >"$T/mountd.out" 2>>"$T/server.err" &
	OTHER=$!
	until_true 20 grep -q ^port "$T/mountd.out" || fail "the stand-in does not start"
	M="mountport=$(sed -n 's/^port //p' "$T/mountd.out")"
}
end_other() {
	[ -z "$OTHER" ] || { kill -KILL $OTHER && wait $OTHER; } 2>/dev/null
	OTHER=
}
trap 'code=$?; end_other; (exit $code); finish' EXIT
# took AT-MOST COMMAND...: and not longer
took() {
	_most=$1 _start=$SECONDS
	shift
	"$@"
	[ $((SECONDS - _start)) -le "$_most" ] || fail "$* took $((SECONDS - _start)) s"
}

start_server
random "$EXP/file" 100000
run 0 stat --json "$URL"
HANDLE=$(sed -n 's/.*"handle":"\([0-9a-f]*\)".*/\1/p' out)
[ -n "$HANDLE" ] || fail "no handle"

# The stand-in alone knows this name: MOUNT on RDMA is not asked.
other serve /elsewhere /srv/nfs/deep /srv
N=nfs://$HOST
run 1 ls "$N/elsewhere"
run 0 ls -v "$N/elsewhere?$M" && says out file && says err "MOUNT on TCP, port ${M#*=} (as given)"
run 1 ls "$N/e?$M" && says err "the server exports /elsewhere, /srv/nfs/deep"
run 0 ls "$N?$M"
printf '/elsewhere\n/srv/nfs/deep\n/srv\n' | cmp -s - out || fail "exports: $(cat out)"
run 0 cp "$N/elsewhere/file?$M" copy && same copy "$EXP/file"
run 0 cat "$N/elsewhere/file?$M" && same out "$EXP/file"
run 0 stat "$N/elsewhere/file?$M" && says out 100000
run 2 ls --timeout x "$N/elsewhere?$M"
run 2 ls "$N/elsewhere?mountprt=1" && says err "unknown key 'mountprt'"

# What was mounted is given back, by the same user, from a port as asked for.
_mnts=$(grep -c "^MNT /elsewhere uid $(id -u)" mountd.out)
[ "$_mnts" = 4 ] || fail "$_mnts MNT calls"
until_true 10 [ "$(grep -c "^UMNT /elsewhere uid $(id -u)" mountd.out)" = "$_mnts" ] || fail "no UMNT"
[ "$(id -u)" != 0 ] || ! grep high mountd.out || fail "not from a reserved port"

# An export of several names is found by the list of exports.
other serve /elsewhere /srv/nfs /srv/nfs/deep
run 0 cat "$N/srv/nfs/deep/file?$M" && same out "$EXP/file"
says mountd.out "MNT /srv/nfs/deep uid"
run 0 cp "$N/srv/nfs/file?$M" "$N/srv/nfs/copy?$M" && same "$EXP/copy" "$EXP/file"
run 1 ls "$N/srv?$M" && says err "cannot mount '/srv': No such file"

# Refused, with words.
other refuse /elsewhere
run 1 ls "$N/elsewhere?$M" && says err "cannot mount '/elsewhere': Permission denied"

# Each of these ends in time: nobody reads, a record of 2 GiB, a list cut off.
other hang
took 5 run 1 ls --timeout 1 "$N/elsewhere?$M" && says err "MOUNT on TCP port ${M#*=} does not answer"
took 5 run 1 ls --timeout 1 "$N?$M" && says err "does not answer"
"$RPCRDMA" ls "$N/elsewhere?$M" >out 2>err &
pid=$!
sleep 0.5
kill -TERM $pid
until_true 5 eval "! kill -0 $pid 2>/dev/null" || fail "a signal was not heard"
wait $pid
[ $? -eq 143 ] || fail "it did not end by the signal"
other lie
took 5 run 1 ls "$N/elsewhere?$M" && says err "sent a malformed answer"
other hangup
took 5 run 1 ls "$N/elsewhere?$M" && says err "closed the connection"
other end /elsewhere
run 1 ls "$N?$M" && says err "malformed"
end_other
run 1 ls "$N/elsewhere?$M" && says err "connection refused"
run 1 ls "$N/elsewhere?mountport=$PORT" # iWARP there, not RPC

# Neither on RDMA, nor a port: what to do is said.
"$MOUNTD" nfs 0 >nfs.out 2>>"$T/server.err" &
OTHER=$!
until_true 20 grep -q ^port nfs.out || fail "NFS without MOUNT does not start"
run 1 stat "nfs://127.0.0.1:$(sed -n 's/^port //p' nfs.out)/e" &&
	says err "the server has no MOUNT on RDMA, and its rpcbind on port 111" &&
	says err "specify ?mountport=N"
run 1 ls "nfs://127.0.0.1:$(sed -n 's/^port //p' nfs.out)" && says err "specify ?mountport=N"
end_other

stop_server
done_testing
