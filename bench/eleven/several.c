/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with one-way calls, and with calls of several threads at once (rpcgen -M). */
#include "batch.h"
#include "eleven.h"
#include "mtsafe.h"

#include <pthread.h>
#include <string.h>

void batch_prog_1(struct svc_req *, SVCXPRT *);
void mtsafe_prog_1(struct svc_req *, SVCXPRT *);

enum { CALLS = 2000, THREADS = 4, EACH = 10, BLOCK = 200000 };

/* -- batch ----------------------------------------------------------------- */

static u_quad_t sum;

/* Returns NULL: no reply. */
void *batch_add_1_svc(u_int *n, struct svc_req *r)
{
	sum = sum * 3 + *n; /* depends on the order */
	return NULL;
}

u_quad_t *batch_sum_1_svc(void *none, struct svc_req *r)
{
	static u_quad_t last;

	last = sum;
	sum = 0;
	return &last;
}

static bool batch(CLIENT *c, uint64_t *digest)
{
	const struct timeval zero = {0};
	u_quad_t *r;

	for (u_int i = 0; i < CALLS; i++)
		if (clnt_call(c, BATCH_ADD, (xdrproc_t)xdr_u_int, (char *)&i, NULL,
		              NULL, zero) != RPC_SUCCESS)
			return false;
	r = batch_sum_1(NULL, c);
	if (r)
		*digest = eleven_digest(*digest, r, sizeof(*r));
	return r;
}

/* -- mtsafe ---------------------------------------------------------------- */

bool_t mtsafe_echo_1_svc(mtsafe_answer *a, mtsafe_answer *ret, struct svc_req *r)
{
	ret->number = a->number + 1;
	ret->data.mtsafe_block_len = a->data.mtsafe_block_len;
	ret->data.mtsafe_block_val = eleven_alloc(a->data.mtsafe_block_len, 1);
	memcpy(ret->data.mtsafe_block_val, a->data.mtsafe_block_val,
	       a->data.mtsafe_block_len);
	return TRUE;
}

int mtsafe_prog_1_freeresult(SVCXPRT *x, xdrproc_t proc, caddr_t res)
{
	xdr_free(proc, res);
	return 1;
}

struct thread {
	pthread_t id;
	CLIENT *c;
	unsigned number;
	uint64_t digest;
	bool ok;
};

static void *echo(void *arg)
{
	struct thread *t = arg;
	mtsafe_answer a = {.number = t->number,
	                   .data = {BLOCK, eleven_alloc(BLOCK, 1)}};

	eleven_fill(a.data.mtsafe_block_val, BLOCK, t->number);
	t->ok = true;
	for (unsigned i = 0; t->ok && i < EACH; i++) {
		mtsafe_answer r = {0};

		t->ok = mtsafe_echo_1(&a, &r, t->c) == RPC_SUCCESS &&
		        r.data.mtsafe_block_len == BLOCK;
		if (t->ok)
			t->digest = eleven_digest(t->digest + r.number,
			                          r.data.mtsafe_block_val, BLOCK);
		xdr_free((xdrproc_t)xdr_mtsafe_answer, (char *)&r);
	}
	free(a.data.mtsafe_block_val);
	return NULL;
}

static bool mtsafe(CLIENT *c, uint64_t *digest)
{
	struct thread t[THREADS];
	bool ok = true;

	for (unsigned i = 0; i < THREADS; i++) {
		t[i] = (struct thread){.c = c, .number = i};
		if (pthread_create(&t[i].id, NULL, echo, &t[i]))
			abort();
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(t[i].id, NULL);
		ok = ok && t[i].ok;
		*digest += t[i].digest; /* in any order */
	}
	return ok;
}

const struct eleven_program eleven_batch = {"batch",      BATCH_PROG, BATCH_VERS,
                                            batch_prog_1, batch,      false};
const struct eleven_program eleven_mtsafe = {"mtsafe",      MTSAFE_PROG, MTSAFE_VERS,
                                             mtsafe_prog_1, mtsafe,      true};
