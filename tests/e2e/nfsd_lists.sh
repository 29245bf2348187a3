#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma nfsd: where it listens when nothing says who may come, the file that it takes by
# itself, and lists of clients for the tools and for MOUNT over TCP.
. "$(dirname "$0")/tools.lib"

# A list that does not name us: refused at both places of MOUNT.
start_server 0 --allow 127.0.0.2 --mount-port 0
M=$(sed -n 's/^mountd .*:\([0-9]*\) tcp$/\1/p' server.out)
run 1 ls "$URL" && says err "Permission denied"
run 1 ls "$URL?mountport=$M" && says err "Permission denied"
says server.err "127.0.0.1 may not mount /e: Permission denied"
stop_server

# One that does.
echo data >"$EXP/file"
start_server 0 --allow '127.0.0.0/8(ro)' --mount-port 0
M=$(sed -n 's/^mountd .*:\([0-9]*\) tcp$/\1/p' server.out)
run 0 ls "$URL" && says out file
run 0 ls "$URL?mountport=$M" && says out file
run 0 cat "$URL/file?mountport=$M" && same out "$EXP/file"
run 1 cp "$EXP/file" "$URL/copy" && says err "Read-only file system"
run 0 stat "$URL/file"
stop_server

# secure: who comes from another port hears no more than that, the log has the reason.
start_server 0 --allow '127.0.0.1(secure)'
run 1 ls "$URL" && says err "Permission denied"
says server.err "127.0.0.1 may not use /e from a port above 1023 (secure): Permission denied"
stop_server

# Options that do not go together, words that mean nothing.
run 2 nfsd --allow '*' --listen 127.0.0.1:0 && says err "nothing to export"
run 2 nfsd --export "$EXP:/e" --allow '127.0.0.1 (rw)' && says err "is not an address"
run 2 nfsd --export "$EXP:/e" --allow '127.0.0.1(rw,bogus)' && says err "--allow: unknown option 'bogus'"
printf '%s:/e *(rw)\n%s:/f localhost (rw)\n' "$EXP" "$EXP" >exports
run 1 nfsd --exports exports --listen 127.0.0.1:0
says err "exports:2: '(rw)' has no client; options follow the client without a space"

# nohup(1) has SIGHUP ignored: it is for the file all the same.
printf '%s:/e 127.0.0.1\n' "$EXP" >exports
: >server.out
(trap '' HUP; exec "$RPCRDMA" nfsd --exports exports --listen 127.0.0.1:0 --state-dir state) >server.out 2>server.err &
SERVER=$!
until_true 20 listening || { echo "the server did not start"; exit 1; }
kill -HUP "$SERVER"
until_true 20 grep -q 'exports was loaded' server.err || fail "it was not loaded"
stop_server

# The rest is done with a network, and an /etc, of its own: the port is a fixed one.
unshare -Urnm true 2>/dev/null || { echo "no namespaces: the addresses were not tried"; done_testing; }
cat >alone.sh <<'END'
set -eu
ip link set lo up 2>/dev/null || ifconfig lo up
mount -t tmpfs none /etc
where() { # ARGUMENT...: the address that nfsd listens at
	: >"$T/alone.out"
	"$RPCRDMA" nfsd --state-dir "$T/state2" "$@" >"$T/alone.out" 2>"$T/alone.err" &
	for i in $(seq 2000); do
		grep -q '^listening' "$T/alone.out" && break
		kill -0 $! 2>/dev/null || break
		sleep 0.01
	done
	sed -n 's/^listening \(.*\):20049 .*/\1/p' "$T/alone.out"
	kill $! && wait $! || cat "$T/alone.err"
}
echo "nobody named: $(where --export "$EXP:/e")"
sed 's/.*\(no clients are named\).*/note: \1/' "$T/alone.err" | grep ^note
echo "allow: $(where --export "$EXP:/e" --allow 127.0.0.1)"
echo "file: $(where --exports "$T/good")"
echo "both: $(where --exports "$T/good" --export "$EXP:/e2")"
"$RPCRDMA" nfsd 2>&1 | sed -n 's/.*\(nothing to export\).*/none: \1/p'
mkdir /etc/rpcrdma
cp "$T/good" /etc/rpcrdma/exports
echo "own: $(where)"
echo bogus >/etc/rpcrdma/exports
"$RPCRDMA" nfsd 2>&1 | sed 's/^rpcrdma nfsd: //' || true
echo "not asked: $(where --export "$EXP:/e")"
END
printf '%s:/g 127.0.0.1\n' "$EXP" >good
export T EXP
unshare -Urnm bash alone.sh >alone.said 2>&1
any=$(sed -n 's/^allow: //p' alone.said) # 0.0.0.0 where there is no IPv6
case $any in "[::]" | 0.0.0.0) ;; *) fail "any address is '$any'" ;; esac
cat >expected <<END
nobody named: 127.0.0.1
note: no clients are named
allow: $any
file: $any
both: 127.0.0.1
none: nothing to export
own: $any
/etc/rpcrdma/exports:1: 'bogus' is not an absolute path
not asked: 127.0.0.1
END
diff expected alone.said || fail "the addresses are not those expected"
done_testing
