/* SPDX-License-Identifier: BSD-3-Clause */
/* Contract in spin.h. */
#include "loop/spin.h"

bool rr_spin_begin(struct rr_spin *s)
{
	if (!s->ns)
		return false;
	if (s->misses < RR_SPIN_MISSES)
		return true;
	s->skipped = (s->skipped + 1) % RR_SPIN_TRY;
	return !s->skipped;
}

void rr_spin_end(struct rr_spin *s, bool found)
{
	if (found)
		s->misses = 0;
	else if (s->misses < RR_SPIN_MISSES)
		s->misses++;
}
