#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Messages name the end that refused and what could not be done there, in the words of
# the system for either end; wrong usage says what to write.
. "$(dirname "$0")/tools.lib"

# only TEXT: it is all that standard error has
only() {
	[ "$(cat err)" = "rpcrdma $1" ] || { fail "not 'rpcrdma $1':"; cat err; }
}

# ---- Usage ------------------------------------------------------------------------
for c in cp cat stat ping nfsd; do
	run 0 $c -h && says out "usage: rpcrdma $c"
done
for c in cp ls cat stat ping nfsd; do
	run 0 help $c && says out "usage: rpcrdma $c"
	run 2 $c --nonsense && says err "rpcrdma $c: unrecognized option"
done
run 2 cp -Z && says err "rpcrdma cp: invalid option -- 'Z'"
run 2 help nonsense && says err "unknown command 'nonsense'"
run 2 ls /srv && says err "rpcrdma ls: /srv: not a URL; write nfs://HOST[:PORT]/NAME/PATH"
run 2 stat storage:/pub/x && says err "write nfs://storage/pub/x"
run 2 cat nfs:// && says err "the host is missing; write nfs://HOST"
run 2 cat nfs://localhost && says err "the export's name is missing; write nfs://HOST"
run 2 ls "nfs://localhost/e/a?.txt" && says err "wildcards are not expanded"
run 2 cp nfs://localhost:0/e/x . && says err "the port is not"
run 2 cp x nfs://localhost/e%zz
run 2 ping --provider iwarp:foo=1 localhost && says err 'provider "iwarp" has no option "foo"; it has crc,'

start_server
# ---- The end that refused -----------------------------------------------------------
echo 1 >f
echo 1 >"$EXP/f"
mkdir d "$EXP/d" clash clash/f
run 1 cp f "$URL/f/x" && only "cp: cannot create '$URL/f/x': Not a directory"
run 1 cp f "$URL/no/x" && only "cp: cannot create '$URL/no/x': No such file or directory"
run 1 cp "$URL/f" no/x && only "cp: cannot create 'no/x': No such file or directory"
run 1 cp "$URL/f" f/x && only "cp: cannot create 'f/x': Not a directory"
run 1 cp no "$URL/x" && only "cp: cannot access 'no': No such file or directory"
run 1 cp "$URL/no" x && only "cp: cannot access '$URL/no': No such file or directory"
run 1 cp -r d "$URL/f/x" && only "cp: cannot create '$URL/f/x': Not a directory"
run 1 cp "$URL/f" /proc/nope && says err "cp: cannot create '/proc/nope': No such file or directory"
run 1 ls "$URL/no" && only "ls: cannot access '$URL/no': No such file or directory"
run 1 stat "$URL/no" && only "stat: cannot access '$URL/no': No such file or directory"
run 1 cat "$URL/d" && only "cat: cannot read '$URL/d': Is a directory"
run 1 ls "$URL/*.c" && says err "cannot access '$URL/*.c'" && says err "not expanded"
run 1 ls "nfs://$HOST/other"
only "ls: $HOST: cannot mount '/other': No such file or directory; the server exports /e"
run 1 cp --stats /nonexistent/x f "$URL/x" && says err "--stats: cannot write '/nonexistent/x'"
run 1 cp --trace /nonexistent/x f "$URL/x" && says err "--trace: cannot write '/nonexistent/x'"
run 0 cp -v f "$URL/x" && says err "1 file,"

# ---- ping -----------------------------------------------------------------------------
run 0 ping -c 1 --program 0x186a3 "$HOST"
run 1 ping -c 1 --version 9 "$HOST" && says err "in version 3 only"
run 1 ping -c 1 --netid tcp "127.0.0.1:1" && says err "127.0.0.1:1: cannot connect: Connection refused"
if command -v python3 >/dev/null; then
	python3 -c 'import socket
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
c = s.accept()[0]
c.recv(100)
c.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
c.recv(100)' >http.port &
	until_true 20 test -s http.port
	run 1 ping -c 1 "127.0.0.1:$(cat http.port)" && says err "answer is not iWARP"
	wait $!
fi
stop_server

# ---- Read-only, and root that is nobody -------------------------------------------------
start_server 0 --read-only
run 1 cp f "$URL/y" && only "cp: cannot create '$URL/y': Read-only file system"
run 1 cp -r d "$URL/y" && only "cp: cannot create directory '$URL/y': Read-only file system"
stop_server
if [ "$(id -u)" = 0 ]; then
	chmod 755 "$T" "$EXP"
	: >server.out
	"$RPCRDMA" nfsd --export "$EXP:/e" --listen 127.0.0.1:0 --state-dir "$T/state" >server.out 2>>server.err &
	SERVER=$!
	until_true 20 listening || fail "no server"
	HOST=127.0.0.1:$(sed -n 's/^listening .*:\([0-9]*\) .*/\1/p' server.out)
	run 1 cp f f "nfs://$HOST/e/new"
	run 1 cp f "nfs://$HOST/e/new"
	says err "cp: cannot create 'nfs://$HOST/e/new': Permission denied"
	says err "root squash" && says err "--no-root-squash"
	stop_server
fi
done_testing
