#!/bin/bash
# The example with its extension at both ends, only at the client, only at the server:
# the program makes all its checks, and they succeed.
# usage: test.sh PROGRAM
set -eu
program=$1
out=$(mktemp)
trap 'rm -f "$out"' EXIT

timeout 100 "$program" >"$out" || {
	cat "$out"
	exit 1
}
[ "$(grep -c '^  ok  ' "$out")" = 22 ] || {
	cat "$out"
	echo "not all checks were made"
	exit 1
}
tail -n 1 "$out"
