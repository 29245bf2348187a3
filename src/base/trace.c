/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of trace points; see trace.h. */
#include "base/trace.h"

static const struct {
	const char *name;
	const char *arg[3];
} points[] = {
#define X(n, a, b, c) {#n, {a, b, c}},
        RR_TRACE_POINTS(X)
#undef X
};

const char *rr_trace_name(enum rr_trace_point p)
{
	return (unsigned)p < RR_TRACE_COUNT ? points[p].name : "?";
}

const char *rr_trace_arg(enum rr_trace_point p, unsigned i)
{
	return (unsigned)p < RR_TRACE_COUNT && i < 3 ? points[p].arg[i] : "";
}
