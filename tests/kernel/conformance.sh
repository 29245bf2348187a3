#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The provider conformance suite (tests/prov) on a device of the kernel, VARIANT: verbs
# at both ends, over rxe (RoCE, memory windows) and over siw (iWARP, none), before it
# what the device was found to do; and our software iWARP with siw, CLIENT-SERVER.
. "$(dirname "$0")/guest.sh"
guest_begin
sides=""
case ${VARIANT:?is not set} in
iwarp-siw) link=siw sides="RR_CLIENT=iwarp" ;;
siw-iwarp) link=siw sides="RR_SERVER=iwarp" ;;
*) link=$VARIANT ;;
esac
guest_link $link
guest_program "${PROV_BIN:?is not set}/prov_conformance_verbs" "$PROV_BIN/prov_verbs_self_test"
[ $link = rxe ] || guest_capture_lo

# run_suite PROGRAM SECONDS [TEST]: none may fail, some must be there; none may be
# skipped but TEST.
run_suite() {
	guest -t "$2" "RR_VERBS_ADDR=$guest_ip $sides $1" >"$T/$1.log" 2>&1
	code=$?
	[ $code = 0 ] || fail "$1 exits with $code"
	passed=$(grep -c '^\[       OK \]' "$T/$1.log")
	[ "$passed" -gt 0 ] || fail "$1 ran no test"
	grep -E '^\[  (SKIPPED|FAILED ) \] [a-z]' "$T/$1.log" | grep -vxF "[  SKIPPED ] ${3:-none}" &&
		fail "$1 did not pass all: $(grep -E '^\[ +(ERROR|LINE) ' "$T/$1.log" | head -n 6)"
	say "$1: $passed tests passed"
}
# A device that is not even tried cannot be caught lying.
case $VARIANT in
rxe) run_suite prov_verbs_self_test 120 ;;
siw) run_suite prov_verbs_self_test 120 each_lie_is_found_out ;;
esac
run_suite prov_conformance_verbs 300
# The device goes while two ends are connected over it.  librdmacm's own protection domain
# cannot be given back then, so the driver's library keeps its 16 octets.
if [ -z "$sides" ]; then
	guest "echo leak:-rdmav34.so >/run/leaks"
	guest -t 60 "export LSAN_OPTIONS=suppressions=/run/leaks:print_suppressions=0
		RR_REMOVE='rdma link del ${link}0 &' RR_VERBS_ADDR=$guest_ip prov_conformance_verbs" \
		>"$T/removal.log" 2>&1 || fail "removal: exits with $?"
	grep -q '^\[       OK \] device_is_removed' "$T/removal.log" || fail "removal: not tested"
	guest_until 20 "[ ! -e /sys/class/infiniband/${link}0 ]" || fail "the device is still held"
fi
guest_end "the suite passes on $VARIANT"
