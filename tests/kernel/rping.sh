#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The bench itself: rping of rdma-core against rping, both in the guest, over VARIANT.
# If this fails, no other test of this link says anything about us.
. "$(dirname "$0")/guest.sh"
guest_begin
guest_link "${VARIANT:?is not set}"
[ "$VARIANT" = rxe ] || guest_capture_lo
guest_bg server "exec rping -s -a $guest_ip -p 18515 -V -C 20"
guest_until 20 'netstat -ltn | grep -q :18515 || sleep 1'
guest -t 60 "rping -c -a $guest_ip -p 18515 -V -C 20" || fail "the client exits with $?"
# The server runs until it is disconnected, and may call that an error.
guest_wait server 30
[ $? != 124 ] || fail "the server does not end"
guest_end "20 round trips of SEND, READ and WRITE, data verified"
