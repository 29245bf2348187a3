#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# --provider: its names, what it says where there is no rdma-core or no device, and
# that without devices everything else works.
. "$(dirname "$0")/tools.lib"

# says CODE WORDS ARGUMENT...: exits so, and says this on standard error.
says() {
	_code=$1 _words=$2
	shift 2
	_was=0
	timeout 20 "$RPCRDMA" "$@" >said.out 2>said.err </dev/null || _was=$?
	[ $_was = "$_code" ] || fail "$*: exit $_was, not $_code"
	grep -qF -- "$_words" said.err || {
		fail "$*: does not say '$_words':"
		cat said.err
	}
}

nfsd=(nfsd --export "$EXP:/e" --listen 127.0.0.1:0 --state-dir "$T/state")
for name in verb iwar verbsx '' auto:crc=0; do
	says 2 "'$name' is neither verbs, iwarp nor auto" ping --provider "$name" 127.0.0.1
done
says 2 '--provider: provider "iwarp" has no option "foo"; it has crc, rev, p2p, fpdu,' \
	ping --provider iwarp:foo=1 127.0.0.1
says 2 'provider "verbs" has no option "crc"; it has mw, inline, ird, ord, sq, rq' \
	"${nfsd[@]}" --provider verbs:mlx5_0,crc=0
says 2 'option "crc" of provider "iwarp" is a number from 0 to 1, not "7"' \
	"${nfsd[@]}" --provider iwarp:ird=3,crc=7
says 2 'option "ird" of provider "iwarp" is a number from 0 to 1024, not ""' \
	ls --provider iwarp:crc=0,ird nfs://127.0.0.1/e

# A library that is none stands in front of the real one.
mkdir lib
ln -s /dev/null lib/libibverbs.so.1
export LD_LIBRARY_PATH=$T/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
says 1 "install libibverbs1" ping --provider verbs 127.0.0.1
says 1 "install libibverbs1" "${nfsd[@]}" --provider verbs:mlx5_0,ird=4
unset LD_LIBRARY_PATH

if [ -z "$(ls /sys/class/infiniband 2>/dev/null)" ]; then
	if ldconfig -p | grep -q libibverbs.so.1 && ldconfig -p | grep -q librdmacm.so.1; then
		says 1 "no RDMA device" ping --provider verbs 127.0.0.1
		says 1 "no RDMA device" "${nfsd[@]}" --provider verbs
	else
		echo "no rdma-core here: its messages without a device were not tried"
	fi
else
	echo "there is an RDMA device here: messages of machines without were not tried"
fi

# The loopback is software's wherever it runs; nfsd says what was chosen.
for name in auto iwarp; do
	start_server 0 --provider $name
	grep -q "^listening 127.0.0.1:$PORT iwarp 2$" server.out ||
		fail "$name: $(cat server.out)"
	run 0 ping -v -c 1 --provider auto "127.0.0.1:$PORT"
	cat out err | grep -q "provider iwarp" || fail "not iwarp: $(cat out err)"
	stop_server
done
done_testing
