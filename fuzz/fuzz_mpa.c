/* SPDX-License-Identifier: BSD-3-Clause */
/* MPA Request and Reply frames, and what two of them agree on. */
#include "prov/iwarp/mpa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rr_mpa_wish wish = {.crc = true, .rev = 2, .ird = 64, .ord = 64};

static void bounded(const struct rr_mpa_deal *d)
{
	RR_ASSERT(d->ird <= wish.ird && d->ord <= wish.ord);
	RR_ASSERT(d->crc); /* we asked for it, so it is on */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_mpa_frame f, mine;
	struct rr_mpa_deal deal;
	ssize_t n = rr_mpa_get(data, size, false, &f);

	if (n >= 0) {
		RR_ASSERT((size_t)n <= size && f.priv_len <= RR_MPA_PD_MAX);
		if (rr_mpa_answer(&wish, &f, &mine, &deal) == 0)
			bounded(&deal);
	}
	n = rr_mpa_get(data, size, true, &f);
	if (n >= 0) {
		RR_ASSERT((size_t)n <= size);
		rr_mpa_request(&wish, &mine);
		if (rr_mpa_conclude(&wish, &mine, &f, &deal) == 0)
			bounded(&deal);
	}
	return 0;
}
