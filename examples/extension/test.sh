#!/bin/bash
# The example with its extension at both ends, at the client alone, at the server
# alone: it checks by itself what should be seen, and says so.
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
	echo "not all was looked at"
	exit 1
}
tail -n 1 "$out"
