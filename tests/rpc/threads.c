/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Eight threads with a CLIENT each, two with one CLIENT, one server in svc_run: every
 * reply is that of its call, with and without a binding.  Worth the most under the
 * thread sanitizer.
 */
#include "rig.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { THREADS = 10, CALLS = 60, MOST = 40000 };

static struct rig rig;

struct worker {
	pthread_t thread;
	CLIENT *clnt;
	unsigned index;
	int wrong;
};

static bool one_call(struct worker *w, char *octets, unsigned i)
{
	const struct timeval wait = {.tv_sec = 60};
	u_int len = (w->index * 7919 + i * 613) % MOST;
	blob_args a = {.id = w->index << 16 | i, .data = {len, octets}};
	blob_res r = {0};
	bool ok;

	rig_fill(octets, len, a.id);
	if (clnt_call(w->clnt, BLOB_ECHO, (xdrproc_t)xdr_blob_args, (char *)&a,
	              (xdrproc_t)xdr_blob_res, (char *)&r, wait) != RPC_SUCCESS)
		return false;
	ok = r.id == a.id && r.data.data_len == len &&
	     rig_filled(r.data.data_val, len, a.id);
	xdr_free((xdrproc_t)xdr_blob_res, (char *)&r);
	return ok;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	char *octets = malloc(MOST);

	for (unsigned i = 0; i < CALLS; i++)
		w->wrong += !one_call(w, octets, i);
	free(octets);
	return NULL;
}

static void run(const struct rpcrdma_tirpc_options *o)
{
	struct worker w[THREADS];
	CLIENT *shared;

	rig.options = o;
	rig_start(&rig);
	shared = rig_client(&rig, o);
	for (unsigned i = 0; i < THREADS; i++)
		w[i] = (struct worker){.index = i,
		                       .clnt = i < 8 ? rig_client(&rig, o) : shared};
	for (unsigned i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].wrong, 0);
		if (i < 8)
			clnt_destroy(w[i].clnt);
	}
	clnt_destroy(shared);
	assert_int_equal(rig_stop(&rig), 0);
}

static void every_reply_is_that_of_its_call(void **state)
{
	run(NULL);
}

static void and_with_a_binding(void **state)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);

	o.bindings = rig_bindings;
	o.n_bindings = 1;
	run(&o);
}

static void *create_and_destroy(void *arg)
{
	for (int i = 0; i < 10; i++)
		clnt_destroy(rig_client(&rig, NULL));
	return NULL;
}

static void handles_come_and_go(void **state)
{
	pthread_t t[4];

	rig.options = NULL;
	rig_start(&rig);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, create_and_destroy, NULL),
		                 0);
	for (unsigned i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	assert_int_equal(rig_stop(&rig), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_reply_is_that_of_its_call),
	        cmocka_unit_test(and_with_a_binding),
	        cmocka_unit_test(handles_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
