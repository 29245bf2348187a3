#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Help, exit codes, words for failures, ping, stat, cat.
. "$(dirname "$0")/tools.lib"

# --help and usage
run 0 --help && says out "cp"
run 0 --version && says out "rpcrdma "
run 2 && says err "usage:"
run 2 nonsense && says err "unknown command 'nonsense'"
for c in cp ls cat stat ping nfsd; do
	run 0 $c --help && says out "usage: rpcrdma $c"
	run 2 $c --no-such-option
done
for c in ls cat stat; do
	run 2 $c
done
run 2 cp
run 2 cp one
run 2 cp one two && says err "cp(1)"
run 2 cp --size 17 a nfs://localhost/e/b
run 2 cp --in-flight 0 a nfs://localhost/e/b
run 2 ping
run 2 ping -c 0 localhost
run 2 ping localhost:99999 && says err "port"
run 2 ping ::1 && says err "brackets"

# common options, with every command
for c in "cp a nfs://localhost/e/b" "ls nfs://localhost" "cat nfs://localhost/e/a" \
	"stat nfs://localhost/e/a" "ping localhost" "nfsd --export ."; do
	for o in "--rpcrdma-version 3" "--rpcrdma-version" "--credits 1" "--credits 2048" \
		"--inline 1023" "--inline 2M" "--segment 1" "--credits x"; do
		run 2 $c $o
	done
	run 2 $c --rpcrdma-version 3 && says err "--rpcrdma-version: '3' is not one of auto, 1, 2"
	run 2 $c --hostauth on && says err "--hostauth: 'on' is not one of off, prefer, require"
	run 2 $c --inline 1023 && says err "--inline: '1023' is not a size from 1K to 1M"
done
run 2 ping -c 4294967296 localhost && says err "--count"
run 2 ping --timeout -1 localhost && says err "--timeout"
run 2 nfsd --export . --threads 65 && says err "--threads"
run 2 nfsd --export . --memory 3M && says err "--memory: '3M' is not a size of at least 16M"
run 2 nfsd --export . --memory banana && says err "'banana' is not a size of at least 16M"
# where it cannot listen, and what it says there where nobody can read it
run 1 nfsd --export . --state-dir state --listen no-such-host.invalid
says err "cannot listen on no-such-host.invalid: the name has no known address"
run 1 nfsd --export . --state-dir state --listen 127.0.0.1:x && says err "the name has no known address (--listen ADDR:PORT"
run 2 nfsd --export . --state-dir state --listen 127.0.0.1:99999 && says err "with a port from 0 to 65535"
"$RPCRDMA" nfsd --export . --state-dir state --listen 127.0.0.1:0 >&- 2>err && fail "it served without standard output"
[ "$(grep -v 'not root' err)" = "rpcrdma nfsd: standard output: Bad file descriptor" ] || fail "closed: $(cat err)"
"$RPCRDMA" nfsd --export . --state-dir state --listen 127.0.0.1:0 >/dev/full 2>err && fail "it served a full device"
[ "$(grep -v 'not root' err)" = "rpcrdma nfsd: standard output: No space left on device" ] || fail "full: $(cat err)"
run 2 cp --size 2M a nfs://localhost/e/b && says err "--size"

start_server

# URLs
run 2 ls nfs://
run 2 cat "nfs://$HOST/e/a%2Fb" && says err "%2F"
run 2 cat "nfs://$HOST/e/a%zz" && says err "hexadecimal"
run 2 cat "nfs://$HOST" && says err "export"
run 1 ls "nfs://$HOST/other" && says err "/e"
run 0 ls "nfs://$HOST/" && says out "/e"

# nobody there: a port that was free a moment ago
saved=$PORT
stop_server
run 1 ls "nfs://127.0.0.1:$saved/e" && says err "connection refused: is \`rpcrdma nfsd\`"
run 1 ping -c 1 "127.0.0.1:$saved" && says err "connection refused"
run 1 ls "nfs://no-such-host.invalid/e" && says err "no-such-host.invalid"
run 1 ping -c 1 --program 100003 no-such-host.invalid && says err "no address is known"
start_server

# ping
run 0 ping -c 3 -i 0 "$HOST" && says out "3 calls, 3 replies, 0% lost" && says out "rtt min/avg"
run 0 ping -c 2 -i 0 -v "$HOST" && says out "RPC-over-RDMA version 2"
run 0 ping -c2 -qvi0 --credits 9 --inline 2048 --rpcrdma-version auto "$HOST" &&
	says out "RPC-over-RDMA version 2" && says out "inline 2048 out 2048 in"
run 0 ping -c 2 -i 0 --program 100005 "$HOST"
run 0 ping -c 2 -i 0 --json "$HOST" && says out '"received":2'
run 1 ping -c 2 -i 0 --program 400000 "$HOST" && says err "no program 400000"
run 1 ping -c 2 -i 0 --version 9 "$HOST" && says err "in version 3 only"
set -m # otherwise what runs in the background ignores SIGINT
"$RPCRDMA" ping -i 0.01 "$HOST" >ping.out 2>&1 &
pid=$!
set +m
until_true 20 grep -q seq=2 ping.out || fail "ping does not answer"
kill -INT $pid
wait $pid || fail "ping ended with $? after SIGINT"
says ping.out "0% lost"

# stat and ls of what stat(1) knows
random "$EXP/file" 12345
chmod 640 "$EXP/file"
ln -s file "$EXP/link"
ln -s "$T" "$EXP/away"
mkdir "$EXP/dir"
run 0 stat "$URL/file" && says out "12345" && says out "(0640/-rw-r-----)"
run 0 stat --json "$URL/file"
says out "\"fileid\":$(stat -c %i "$EXP/file")"
says out "\"size\":12345"
says out "\"mtime\":$(stat -c %.9Y "$EXP/file")"
run 0 stat "$URL/link" && says out "symbolic link" && says out "-> file"
run 0 stat -L "$URL/link" && says out "regular file"
run 0 stat "$URL" && says out "directory"
run 1 stat "$URL/nothing" && says err "No such file"
run 1 stat "$URL/file/x" && says err "Not a directory"
run 0 ls -l "$URL" && says out "link -> file"
run 0 ls --json "$URL" && says out '"name":"file"' && says out '"target":"file"'
run 0 ls "$URL/file" && says out "file"
run 0 ls -d "$URL/dir" && says out "dir"
run 1 ls "$URL/nothing" "$URL/dir" "$URL/file" && says err "nothing': No such file"
[ "$(cat out)" = "$(printf '%s:\n\n' "$URL/nothing" "$URL/dir" "$URL/file" | sed '$d' && echo "$URL/file")" ] || fail "headings: $(cat out)"
if command -v python3 >/dev/null; then
	python3 -c 'import json,sys; json.load(sys.stdin)' <out 2>/dev/null
	run 0 ls --json "$URL"
	python3 -c 'import json,sys
names = [e["name"] for e in json.load(sys.stdin)["entries"]]
assert names == ["away", "dir", "file", "link"], names' <out || fail "JSON of ls"
fi

# cat
run 0 cat "$URL/file" && same out "$EXP/file"
run 0 cat "$URL/file" "$URL/link" && { cat "$EXP/file" "$EXP/file" >twice; same out twice; }
run 1 cat "$URL/nothing" "$URL/file" && same out "$EXP/file"
run 1 cat "$URL/dir" && says err "directory"
run 1 cat "$URL/away/x" && says err "leads out of the export"
random "$EXP/big" 5000001
run 0 cat --in-flight 3 --size 65536 --stats stats.json "$URL/big" && same out "$EXP/big"
says stats.json '"bytes":5000001'
"$RPCRDMA" cat "$URL/big" | head -c 100 >head.out
head -c 100 "$EXP/big" | cmp -s - head.out || fail "the head of a pipe"

stop_server
done_testing
