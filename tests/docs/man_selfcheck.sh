#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The tests of manual pages can say no: each edit of a copy must be found, by words
# that name it.
#
#   man_selfcheck.sh SOURCE RPCRDMA CC "FLAGS"
set -eu
src=$1 rpcrdma=$2 cc=$3 flags=$4
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
# EDIT WORDS PAGE COMMAND...: the command on a copy with the page edited.
found() {
	edit=$1 words=$2 page=$3
	shift 3
	rm -rf "$tmp/copy"
	mkdir "$tmp/copy"
	cp -r "$src/man" "$src/include" "$tmp/copy/"
	sed "$edit" "$src/man/$page" >"$tmp/copy/man/$page"
	if cmp -s "$src/man/$page" "$tmp/copy/man/$page"; then
		echo "selfcheck: '$edit' changes nothing in $page"
		failed=1
	elif "$@" >"$tmp/out" 2>&1 || ! grep -qF -- "$words" "$tmp/out"; then
		echo "selfcheck: '$edit' in $page was not found:"
		cat "$tmp/out"
		failed=1
	fi
}
command_edit() { found "$1" "$2" "$3" "$here/man.sh" "$tmp/copy" "$rpcrdma"; }

command_edit '/^\.It Fl -async/d' '--async is not in' rpcrdma-nfsd.1
command_edit '/^\.It Fl r ,/s/Fl R ,//' '-R is not in' rpcrdma-cp.1
command_edit '/^\.It Fl -trace/d' '--trace is not in' rpcrdma.1
command_edit '/^\.Fl -psk ,/d' '--psk is not in' rpcrdma-ls.1
command_edit 's/Fl -count/Fl -number/' '--number is not in ping --help' rpcrdma-ping.1
command_edit 's/rpcrdma ls nfs:/rpcrdma ls --fast nfs:/' '--fast' rpcrdma-ls.1
command_edit 's/^\.Nd .*/.Nd look/' 'summary' rpcrdma-stat.1
command_edit '/^\.It Cm cat/d' 'does not list cat' rpcrdma.1

api_edit() { found "$1" "$2" "$3" "$here/man_api.sh" "$tmp/copy" "$cc" "$flags"; }

api_edit '/^\.Nm rpcrdma_call_cancel/d' 'rpcrdma_call_cancel is not in the NAME' rpcrdma_call.3
api_edit 's/^\.Nm rpcrdma_conn_stats/&_of/' 'rpcrdma_conn_stats_of is not declared' rpcrdma_engine_stats.3
api_edit '/^\.Fn rpcrdma_engine_stop/d' 'rpcrdma_engine_stop is not in the SYNOPSIS' rpcrdma_engine_new.3
api_edit 's/"int timeout_ms"/"long timeout_ms"/' 'is not what the headers declare' rpcrdma_engine_new.3
api_edit 's/^\.In .*/.In rpcrdma\/rpcrdma.h/' 'is not what the headers declare' rpcrdma_nfs3_binding.3
api_edit '/^ *uint64_t retry_ns;/d' 'in no page as they are' rpcrdma_conn_options.3
api_edit 's/RPCRDMA_NFS_PORT/RPCRDMA_PORT/' 'RPCRDMA_NFS_PORT is in no page' rpcrdma.3
[ $failed = 0 ] && echo "selfcheck: every edit was found"
exit $failed
