/* SPDX-License-Identifier: BSD-3-Clause */
/* MPA Request and Reply frames, and what two of them agree on. */
#include "prov/iwarp/mpa.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct rr_mpa_params params = {
        .crc = true, .rev = 2, .ird = 64, .ord = 64};

static void bounded(const struct rr_mpa_agreement *d)
{
	RR_ASSERT(d->ird <= params.ird && d->ord <= params.ord);
	RR_ASSERT(d->crc); /* we asked for it, so it is on */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_mpa_frame f, mine;
	struct rr_mpa_agreement agreed;
	ssize_t n = rr_mpa_get(data, size, false, &f);

	if (n >= 0) {
		RR_ASSERT((size_t)n <= size && f.priv_len <= RR_MPA_PD_MAX);
		if (rr_mpa_answer(&params, &f, &mine, &agreed) == 0)
			bounded(&agreed);
	}
	n = rr_mpa_get(data, size, true, &f);
	if (n >= 0) {
		RR_ASSERT((size_t)n <= size);
		rr_mpa_request(&params, &mine);
		if (rr_mpa_conclude(&params, &mine, &f, &agreed) == 0)
			bounded(&agreed);
	}
	return 0;
}
