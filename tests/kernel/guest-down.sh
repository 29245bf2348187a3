#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The other end of the fixture: no guest is left.
. "$(dirname "$0")/guest.sh"
machine_stop
