#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The tools in RPC-over-RDMA version 1: files around every limit, trees, long
# listings; the same checks as in version 2.  Then each end with one that speaks
# the other version, both, or only one.  [V2-4.2.3-01, V2-4.2.3.2-06, V2-4.2.3.3-01]
. "$(dirname "$0")/tools.lib"

umask 022
V1="--rpcrdma-version 1"

# value FILE NAME: a counter of a --stats file.
value() {
	sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" "$1" | head -n 1
}

# more_than FILE NAME NUMBER
more_than() {
	[ "$(value "$1" "$2")" -gt "$3" ] || fail "$2 is $(value "$1" "$2") in $1, not above $3"
}

# none FILE NAME
none() {
	[ "$(value "$1" "$2")" = 0 ] || fail "$2 is $(value "$1" "$2") in $1, not 0"
}

# copies DIRECTION-NAME OPTION...: the same files there and back.
copies() {
	name=$1
	shift
	for n in 0 1 3 4 1023 1024 1025 4095 4096 4097 65535 1048577 20971520; do
		[ -f "f$n" ] || random "f$n" $n
		run 0 cp "$@" "f$n" "$URL/$name$n" && same "f$n" "$EXP/$name$n"
		run 0 cp "$@" "$URL/$name$n" "out$n" && same "f$n" "out$n"
	done
}

# tree NAME OPTION...: contents, names, modes, links.
mkdir -p 'src/a b/deep/er' src/empty src/many
random src/one 1
random 'src/a b/two' 70000
random 'src/a b/deep/er/three' 3000000
ln -s "$(printf '%01000d' 0)" src/longlink
for i in $(seq 300); do echo "$i" >"src/many/a rather long name, so that a page of them is long $i"; done
chmod 640 src/one
list() {
	(cd "$1" && find . -mindepth 1 -printf '%P\t%y\t%m\t%l\n' | LC_ALL=C sort)
}
tree() {
	name=$1
	shift
	run 0 cp "$@" -r src "$URL/$name" || cat err
	diff -r --no-dereference src "$EXP/$name" || fail "$name in: contents differ"
	rm -rf back
	run 0 cp "$@" -r "$URL/$name" back || cat err
	diff -r --no-dereference src back || fail "$name out: contents differ"
	list src >want
	list "$EXP/$name" >got
	same want got
	list back >got
	same want got
	run 0 ls "$@" "$URL/$name/many"
	[ "$(wc -l <out)" = 300 ] || fail "$name: $(wc -l <out) names of 300"
}

# negotiated OPTION... VERSION: what ping shows.
negotiated() {
	_version=${*: -1}
	run 0 ping -c 1 -v "${@:1:$#-1}" "$HOST" && says out "RPC-over-RDMA version $_version,"
}

# ---- a server of version 1 only
start_server 0 $V1 --stats-on-exit server.json
says server.out "iwarp 1"
copies one $V1
copies auto
tree one $V1
tree auto
copies small $V1 --inline 1024 --credits 2
tree small --inline 1024
negotiated $V1 1
negotiated --rpcrdma-version auto 1
run 1 ping -c 1 --rpcrdma-version 2 "$HOST" && says err "refuses RPC-over-RDMA version 2"
run 1 cp --rpcrdma-version 2 f1 "$URL/x" && says err "no RPC-over-RDMA version in common"

# Large files go by chunks; nothing is continued, no memory of ours is left to
# invalidate when the server has done it.
run 0 cp $V1 --stats in.json f20971520 "$URL/large"
more_than in.json bytes_read_chunk 20971519
none in.json bytes_continued
run 0 cp $V1 --stats out.json "$URL/large" - >streamed && same out f20971520
more_than out.json bytes_write_chunk 20971519
more_than out.json remote_invalidations 19
run 0 cat $V1 --stats cat.json "$URL/large" && same out f20971520
run 0 ls $V1 "$URL/one/many"
stop_server
more_than server.json bytes_reply_chunk 0
none server.json bytes_continued
none server.json grants

# ---- one that speaks both
start_server
negotiated $V1 1
negotiated --rpcrdma-version 2 2
negotiated --rpcrdma-version auto 2
copies both $V1
tree both $V1
run 0 ping -c 1 --json $V1 "$HOST" && says out '"rpcrdma_version":1'
run 0 stat $V1 "$URL/both1" && says out "regular file"
stop_server

# ---- one of version 2 only
start_server 0 --rpcrdma-version 2
negotiated --rpcrdma-version auto 2
run 1 ping -c 1 $V1 "$HOST" && says err "version"
stop_server
no_leftovers "$EXP" .
done_testing
