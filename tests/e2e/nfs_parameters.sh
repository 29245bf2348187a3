#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# e2e.nfs_parameters, V2-A.4-02: NFS works whatever the transport's parameters are: thresholds and
# credits of both ends, equal and unequal.  A trace tells that they were in
# effect: a threshold is the smaller of the two ends' numbers.
. "$(dirname "$0")/tools.lib"

mkdir tree tree/sub "tree/$(printf 'n%.0s' $(seq 200))"
for size in 0 1 3 511 1000 4097 70000 1048579; do
	random tree/f$size $size
done
# names enough for a READDIR reply longer than one message
for i in $(seq 150); do
	echo $i >"tree/sub/a rather long name of a file, number $i"
done
ln -s "$(printf 't%.0s' $(seq 1000))" tree/link

# with SERVER-INLINE SERVER-CREDITS CLIENT-INLINE CLIENT-CREDITS
with() {
	_c="--inline $3 --credits $4"
	_least=$(($1 < $3 ? $1 : $3))
	rm -rf "$EXP/up" back
	start_server 0 --inline "$1" --credits "$2"
	# shellcheck disable=SC2086 # several words
	{
		run 0 cp -r $_c tree "$URL/up"
		run 0 cp -r $_c --in-flight 3 "$URL/up" back
		run 0 ls $_c "$URL/up/sub"
		[ "$(wc -l <out)" -eq 150 ] || fail "$(wc -l <out) of 150 names"
		run 0 cat $_c --trace trace "$URL/up/f1048579"
		same out tree/f1048579
		says trace "\"send_inline\":$_least,\"recv_inline\":$_least,"
		run 0 stat $_c "$URL/up/f70000"
		says out 70000
		run 1 stat $_c "$URL/up/none"
		run 0 ping $_c --count 3 --interval 0 "$HOST"
	}
	diff -r --no-dereference tree "$EXP/up" || fail "$*: what was copied there"
	diff -r --no-dereference tree back || fail "$*: what came back"
	stop_server
}

for inline in 1024 4096 65536; do
	for credits in 2 128; do
		with $inline $credits $inline $credits
	done
done
with 1024 128 65536 2
with 65536 2 1024 128
done_testing
