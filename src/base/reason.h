/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef RR_BASE_REASON_H
#define RR_BASE_REASON_H

#include "base/base.h"

/* A buffer for an error message; not written to if @size is 0. */
struct rr_reason {
	char *text;
	size_t size;
};
#define RR_NO_REASON ((struct rr_reason){NULL, 0})

#endif
