/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_conn.c with all optional features switched on, at this peer and at the other. */
#define FUZZ_FEATURES ((1u << RR_FEATURES) - 1)

#include "fuzz_conn.c"
