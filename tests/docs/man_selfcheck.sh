#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests of manual pages can say no: each of these edits of a copy must be found, by
# words that name it.
#
#   man_selfcheck.sh SOURCE RPCRDMA CC "FLAGS"
set -eu
src=$1 rpcrdma=$2 cc=$3 flags=$4
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() {
	echo "selfcheck: $*"
	failed=1
}
copy() {
	rm -rf "$tmp/copy"
	mkdir "$tmp/copy"
	cp -r "$src/man" "$src/include" "$tmp/copy/"
	: >"$tmp/words"
}
# PAGE EDIT WORDS
edit() {
	page=$tmp/copy/man/$1
	sed "$2" "$page" >"$tmp/edited"
	! cmp -s "$page" "$tmp/edited" || fail "'$2' changes nothing in $1"
	cp "$tmp/edited" "$page"
	echo "$3" >>"$tmp/words"
}
# COMMAND...: fails, and says all the words.
finds() {
	! "$@" >"$tmp/out" 2>&1 || fail "$1 finds nothing"
	while read -r words; do
		grep -qF -- "$words" "$tmp/out" || {
			cat "$tmp/out"
			fail "$1 does not say: $words"
		}
	done <"$tmp/words"
}

copy
edit rpcrdma-nfsd.1 '/^\.It Fl -async/d' "--async is not in $tmp/copy/man/rpcrdma-nfsd.1"
edit rpcrdma-cp.1 '/^\.It Fl r ,/s/Fl R ,//' "-R is not in $tmp/copy/man/rpcrdma-cp.1"
edit rpcrdma.1 '/^\.It Fl -trace/d' '--trace is not in rpcrdma.1'
edit rpcrdma-ls.1 '/^\.Fl -psk ,/d' "--psk is not in $tmp/copy/man/rpcrdma-ls.1"
edit rpcrdma-ping.1 's/Fl -count/Fl -number/' '--number is not in ping --help'
edit rpcrdma-cp.1 's/Fl -stats Ar FILE/Fl -stats Ar PATH/' "--stats PATH is not in cp --help"
edit rpcrdma-cp.1 's/Fl -preserve Ns Op = Ns Ar LIST/Fl -preserve/' "--preserve LIST"
edit rpcrdma-ls.1 's/rpcrdma ls nfs:/rpcrdma ls --fast nfs:/' '--fast'
edit rpcrdma-stat.1 's/^\.Nd .*/.Nd look/' 'rpcrdma-stat.1: its summary is not that of --help'
edit rpcrdma.1 '/^\.It Cm cat/d' 'rpcrdma.1 does not list cat'
finds "$here/man.sh" "$tmp/copy" "$rpcrdma"

copy
edit rpcrdma_call.3 '/^\.Nm rpcrdma_call_cancel/d' 'rpcrdma_call_cancel is not in the NAME'
edit rpcrdma_engine_get_stats.3 's/^\.Nm rpcrdma_conn_get_stats/&_of/' \
	'rpcrdma_conn_get_stats_of is not declared'
edit rpcrdma_engine_new.3 '/^\.Fn rpcrdma_engine_stop/d' \
	'rpcrdma_engine_stop is not in the SYNOPSIS'
edit rpcrdma_engine_new.3 's/"int timeout_ms"/"long timeout_ms"/' \
	'rpcrdma_engine_new.3: its SYNOPSIS is not what the headers declare'
edit rpcrdma_nfs3_binding.3 's/^\.In .*/.In rpcrdma\/rpcrdma.h/' \
	'rpcrdma_nfs3_binding.3: its SYNOPSIS is not what the headers declare'
edit rpcrdma_conn_options.3 '/^ *uint64_t retry_ns;/d' 'these types are in no page as they are'
edit rpcrdma.3 's/RPCRDMA_NFS_PORT/RPCRDMA_PORT/' 'RPCRDMA_NFS_PORT is in no page'
finds "$here/man_api.sh" "$tmp/copy" "$cc" "$flags"
[ $failed = 0 ] && echo "selfcheck: every edit was found"
exit $failed
