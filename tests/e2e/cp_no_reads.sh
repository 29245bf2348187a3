#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# One end takes no RDMA Reads: the server refuses the Read chunks of a WRITE, and the
# client sends the data in another way, on the same connection.  In version 1 there is
# no other way, and the copy fails at once.  [V2-7.3.1-01, V2-7.3.1-04, V2-7.3-04]
. "$(dirname "$0")/tools.lib"

# value FILE NAME: a counter of a --stats file.
value() {
	sed -n "s/.*\"$2\":\([0-9]*\).*/\1/p" "$1" | head -n 1
}

# is FILE NAME NUMBER
is() {
	[ "$(value "$1" "$2")" = "$3" ] || fail "$2 is $(value "$1" "$2") in $1, not $3"
}

random src 3000001

# copies NAME OPTION...
copies() {
	name=$1
	shift
	run 0 cp "$@" --stats in.json src "$URL/$name" && same src "$EXP/$name"
	is in.json reconnects 0
	[ "$(value in.json bytes_continued)" -gt 3000000 ] || fail "$name: little was continued"
	run 0 cp "$@" --stats out.json "$URL/$name" "$name.out" && same src "$name.out"
	is out.json reconnects 0
}

start_server 0 --provider iwarp:ord=0
copies server
run 1 cp --rpcrdma-version 1 src "$URL/one"
[ -s err ] || fail "version 1: no word of what went wrong"
stop_server

start_server
copies client --provider iwarp:ird=0
stop_server
no_leftovers "$EXP" .
done_testing
