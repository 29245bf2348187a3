#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The self-test of memory windows: rxe has them, siw cannot be tried, and a device that
# lies in one point is found out.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link "${VARIANT:?is not set}"
guest_program "$PROV_BIN/prov_verbs_self_test"
want=none
[ "$VARIANT" = siw ] || want=windows
guest -t 60 "prov_verbs_self_test $want" >"$T/out" 2>&1 || fail "exit $?: $(cat "$T/out")"
[ "$VARIANT" = siw ] || grep -q "OK.*each_lie_is_found_out" "$T/out" || fail "no lies were told"
sed -n 's/^[a-z]*0: /&/p' "$T/out"
guest_end "$VARIANT has been tried"
