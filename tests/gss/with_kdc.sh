#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs a program with a KDC of its own (kdc.sh).  It has alice's ticket in KRB5CCNAME;
# ALICE_CC, BOB_CC and EMPTY_CC name caches, KDC_DIR the directory.
#
#   with_kdc.sh PROGRAM...    UNPACKED: where packages are unpacked
set -u
. "$(dirname "$0")/kdc.sh"
T=$(mktemp -d "${TMPDIR:-/tmp}/rpcrdma-gss.XXXXXX") || exit 1
program=""
finish() {
	local code=$?
	[ -z "$program" ] || kill -KILL "$program" 2>/dev/null
	kdc_stop
	rm -rf "$T"
	exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM

kdc_find "${UNPACKED-}" || {
	echo "SKIPPED, nothing was judged: there is no KDC"
	exit 77
}
kdc_start "$T" || exit 1
export KDC_DIR=$T ALICE_CC=FILE:$T/alice.cc BOB_CC=FILE:$T/bob.cc EMPTY_CC=$KRB5CCNAME
kdc_ticket alice "$ALICE_CC" && kdc_ticket bob "$BOB_CC" || exit 1
# No ticket is made from a keytab behind the test's back.
unset KRB5_CLIENT_KTNAME
export KRB5CCNAME=$ALICE_CC
"$@" &
program=$!
wait "$program"
code=$?
program=""
exit $code
