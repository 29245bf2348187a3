#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests beside this one can fail: each is run on a copy that was doctored in
# one place, and must name that place.
#
#   selfcheck.sh SOURCE BUILD CC LIBRARY [CXX]
set -eu
source=$1 build=$2 cc=$3 library=$4 cxx=${5-}
here=$source/tests/layering
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

fresh() {
	rm -rf "$tmp/tree" "$tmp/build"
	mkdir -p "$tmp/tree" "$tmp/build/src"
	(cd "$source" && tar cf - src tools bench include) | (cd "$tmp/tree" && tar xf -)
	cp "$build"/src/librr_*.a "$tmp/build/src/"
}

# words-that-must-appear command...
expect() {
	want=$1
	shift
	if "$@" >"$tmp/out" 2>&1; then
		echo "selfcheck: passed, and should not: $want"
		failed=1
	elif ! grep -qF -- "$want" "$tmp/out"; then
		echo "selfcheck: failed without saying \"$want\":"
		cat "$tmp/out"
		failed=1
	fi
}

include() { # file line: an #include that is not allowed there
	fresh
	printf '#include %s\n' "$2" >>"$tmp/tree/$1"
	expect "$1:" "$here/layering.sh" "$tmp/tree"
}

archive() { # archive member function: a call that is not allowed there
	fresh
	printf 'void %s(void);\nvoid rr_doctored(void);\nvoid rr_doctored(void) { %s(); }\n' \
		"$3" "$3" >"$tmp/$2.c"
	"$cc" -w -fno-builtin -c "$tmp/$2.c" -o "$tmp/$2.c.o"
	ar q "$tmp/build/src/librr_$1.a" "$tmp/$2.c.o" 2>/dev/null
	expect "may not use $3" "$here/layering.sh" "$tmp/tree" "$tmp/build"
}

fresh
"$here/layering.sh" "$tmp/tree" "$tmp/build" >"$tmp/out" || {
	cat "$tmp/out"
	echo "selfcheck: the copy itself does not pass"
	exit 1
}
include src/base/base.h '"wire/wire.h"'
include src/wire/wire.h '"conn/conn.h"'
include src/wire/wire.h '<pthread.h>'
include src/wire/rprc/rprc_wire.h '"conn/conn.h"'
include src/wire/rprc/rprc_wire.h '<pthread.h>'
include src/conn/conn.h '"prov/prov.h"'
include src/conn/conn.h '<time.h>'
include src/prov/prov.h '"wire/wire.h"'
include src/prov/iwarp/iwarp.h '"conn/conn.h"'
include src/prov/sim/sim.h '"../iwarp/iwarp.h"'
include src/prov/verbs/dl.h '"conn/conn.h"'
include src/prov/sim/sim.h '"prov/common/prov_opts.h"'
include src/prov/common/prov_opts.h '"prov/iwarp/iwarp.h"'
include src/link/pump.c '"link/link.h"'
include src/rpc/nfs3_binding.c '"tirpc/shared.h"'
include src/loop/engine.h '"link/link.h"'
include src/oncrpc/rpc_header.h '"loop/engine.h"'
include src/rpcbind/rpcbind.h '"rpc/listener.h"'
include src/gss/gss_client.h '"rpc/calls.h"'
include src/link/link.h '"rpc/calls.h"'
include tools/tool.h '"wire/wire.h"'
include tools/nfsd/nfsd.h '"base/list.h"'
include bench/bench.h '"base/siphash.h"'
include bench/bench.h '"../src/conn/conn.h"'
include include/rpcrdma/nfs.h '"base/base.h"'
archive wire doctored malloc
archive conn doctored clock_gettime
archive conn doctored rr_prov_anything
archive pump doctored clock_gettime
archive pump doctored malloc
archive iwarp doctored sendmsg
archive loop doctored rpcrdma_connect
archive link doctored rpcrdma_call
archive rpcbind doctored rpcrdma_call_sync
archive gss doctored rr_rpc_anything
archive verbs doctored ibv_open_device
archive verbs doctored rdma_connect
archive verbs doctored dlopen

fresh
printf 'struct rpcrdma_doctored { size_tt n; };\n' >"$tmp/tree/include/rpcrdma/doctored.h"
expect "doctored.h does not compile alone in C" \
	"$here/headers.sh" "$tmp/tree/include" "$cc" "$cxx"
if [ -n "$cxx" ]; then
	printf 'int rpcrdma_doctored(int new);\n' >"$tmp/tree/include/rpcrdma/doctored.h"
	expect "doctored.h does not compile alone in C++" \
		"$here/headers.sh" "$tmp/tree/include" "$cc" "$cxx"
fi

rm "$tmp/tree/include/rpcrdma/doctored.h"
printf 'RPCRDMA_API int rpcrdma_doctored(void);\n' >>"$tmp/tree/include/rpcrdma/nfs.h"
expect "rpcrdma_doctored" "$here/symbols.sh" "$library" "$tmp/tree/include"
printf 'int doctored(void);\nint doctored(void) { return 0; }\n' >"$tmp/d.c"
"$cc" -fPIC -shared "$tmp/d.c" -o "$tmp/d.so"
expect "doctored" "$here/symbols.sh" "$tmp/d.so" "$source/include"
"$cc" -shared -Wl,-soname,libibverbs.so.1 -x c /dev/null -o "$tmp/libibverbs.so"
"$cc" -shared -Wl,--no-as-needed "$tmp/d.so" "$tmp/libibverbs.so" -o "$tmp/linked.so"
expect "linked against libibverbs" "$here/symbols.sh" "$tmp/linked.so" "$source/include"
expect "would take the code" "$here/symbols.sh" "$tmp/d.so" "$source/include"
"$cc" -shared -Wl,-rpath,/nowhere: "$tmp/d.so" -o "$tmp/path.so"
expect "search path" "$here/symbols.sh" "$tmp/path.so" "$source/include"

[ "$failed" = 0 ] && echo "selfcheck: every doctored copy was found out"
exit "$failed"
