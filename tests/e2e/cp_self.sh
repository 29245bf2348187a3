#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A tree is not copied into itself, whatever name the server, the export or the place
# has at the other end; nor is what only looks alike refused.
. "$(dirname "$0")/tools.lib"

ulimit -t 120 # a directory in itself has no end
mkdir "$EXP/sub"
start_server 0 --export "$EXP/sub:/s" --export "$EXP:/f"
N=nfs://127.0.0.1:$PORT
L=nfs://localhost:$PORT

# refused FROM TO: into itself; what was there before is copied, once
refused() {
	rm -rf "$EXP/sub/a"
	mkdir -p "$EXP/sub/a/deep"
	echo x >"$EXP/sub/a/x"; echo y >"$EXP/sub/a/deep/y"
	timeout 60 "$RPCRDMA" cp -r "$1" "$2" >out 2>err
	_code=$?
	[ $_code = 1 ] || fail "cp -r $1 $2: exit code $_code"
	says err "cannot copy a directory, '$1" && says err "', into itself"
	[ "$(find "$EXP" -type d | wc -l)" -le 7 ] || fail "cp -r $1 $2: $(find "$EXP" -type d | wc -l) directories"
	same "$EXP/sub/a/x" "${3:-$EXP/sub/a/b}/x"
	no_leftovers "$EXP"
}
for from in "$N/e/sub/a" "$L/e/sub/a" "$N/s/a" "$N/f/sub/a" "$EXP/sub/a"; do
	refused "$from" "$N/e/sub/a/b"
	refused "$from" "$N/e/sub/a" "$EXP/sub/a/a"
done
for to in "$L/e/sub/a/b" "$N/s/a/b" "$EXP/sub/a/b"; do
	refused "$N/e/sub/a" "$to"
	mkdir -p "$EXP/sub/a/b"
done
# where it stands already: onto itself
for from in "$N/s/a/." "$L/s/a/." "$EXP/sub/a/."; do
	refused "$from" "$N/e/sub/a" "$EXP/sub/a"
done
# directories of one number in two file systems are two
if mkdir m1 m2 && mount -t tmpfs none m1 2>/dev/null; then
	mount -t tmpfs none m2
	mkdir m1/t m1/t/in m2/t
	stop_server
	EXP=$T/m2 start_server
	for m in m1/t m1/t/in m2/t; do [ -d $m ] || fail "$m"; done
	echo 1 >m1/t/in/f
	run 0 cp -r m1/t/. "$URL/t" && same m1/t/in/f m2/t/in/f
	[ "$(stat -c %i m1/t)" = "$(stat -c %i m2/t)" ] || echo "the two have different numbers"
	no_leftovers m1 m2
	stop_server
	umount m1 m2
else
	echo "no tmpfs can be mounted: equal numbers were not tried"
	stop_server
fi
done_testing
