/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * More of those who want a security context than a server works on at a time: what
 * waits is bounded, and everybody else is served meanwhile.
 *
 * The linker puts the function below in front of the real one, to hold it up.
 */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>

enum { CROWD = 6, EACH = 60, QUEUED = 256 };

/* How many have come to the gate. */
static _Atomic unsigned arrived;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool shut;

static void set_gate(bool s)
{
	pthread_mutex_lock(&gate);
	shut = s;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
}

OM_uint32 __wrap_gss_accept_sec_context(OM_uint32 *minor, gss_ctx_id_t *id,
                                        gss_cred_id_t cred, gss_buffer_t in,
                                        gss_channel_bindings_t cb, gss_name_t *name,
                                        gss_OID *mech, gss_buffer_t out,
                                        OM_uint32 *flags, OM_uint32 *seconds,
                                        gss_cred_id_t *delegated)
{
	arrived++;
	pthread_mutex_lock(&gate);
	while (shut)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
	return __real_gss_accept_sec_context(minor, id, cred, in, cb, name, mech, out,
	                                     flags, seconds, delegated);
}

static int restore(void **state)
{
	set_gate(false);
	return clean_up(state);
}

static struct crowd {
	struct rpcrdma_conn *conn[CROWD];
	unsigned done, busy, answered, other;
} crowd;

static void on_init(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	crowd.done++;
	if (r->status == RPCRDMA_SYSTEM_ERR)
		crowd.busy++;
	else if (!r->status && r->len >= 20)
		crowd.answered++;
	else
		crowd.other++;
}

/* Each sends tokens that are none, as many as it may. */
static void send_crowd(void)
{
	static const uint8_t body[20] = {[3] = 1, [7] = RR_GSS_INIT};
	static const uint8_t token[12] = {[3] = 8, 'n', 'o', 'n', 's',
	                                  'e',     'n', 's', 'e'};
	static const struct rpcrdma_auth cred = {RPCRDMA_AUTH_GSS, body, sizeof(body)};
	const struct rpcrdma_piece p = {token, sizeof(token), false};
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	memset(&crowd, 0, sizeof(crowd));
	arrived = 0;
	set_gate(true);
	o.credits = 64;
	for (unsigned i = 0; i < CROWD; i++) {
		assert_int_equal(rpcrdma_connect(w.engine, "127.0.0.1", w.port, &o,
		                                 NULL, NULL, &crowd.conn[i]),
		                 0);
		for (unsigned n = 0; n < EACH; n++) {
			struct rpcrdma_call_options c =
			        RPCRDMA_OPTIONS(struct rpcrdma_call_options);

			c.program = PROG;
			c.version = VERS;
			c.cred = &cred;
			c.args = &p;
			c.n_args = 1;
			c.done = on_init;
			assert_int_equal(rpcrdma_call(crowd.conn[i], &c, NULL), 0);
			while (!arrived) /* this one is worked on, the others wait */
				turn(1);
		}
	}
}

/* However many want a context while none can be made: the rest is served, and what
 * waits is bounded. */
static void a_crowd_of_strangers_is_bounded(void **state)
{
	start(RPCRDMA_GSS_KRB5I);
	assert_int_equal(run_null(w.gss), 0);
	send_crowd();
	spin(&crowd.busy, CROWD * EACH - QUEUED - 1);
	turn(20);
	assert_int_equal(crowd.done, CROWD * EACH - QUEUED - 1);
	assert_int_equal(crowd.busy, crowd.done);
	assert_int_equal(arrived, 1);
	assert_int_equal(run_null(w.gss), 0);
	set_gate(false);
	spin(&crowd.done, CROWD * EACH);
	assert_int_equal(crowd.answered, QUEUED + 1);
	assert_int_equal(crowd.other, 0);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 1);
	for (unsigned i = 0; i < CROWD; i++)
		rpcrdma_conn_close(crowd.conn[i]);
}

static void *opener(void *arg)
{
	usleep(50000); /* the other one most likely waits; it need not */
	set_gate(false);
	return NULL;
}

static void open_later(void)
{
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, opener, NULL), 0);
	assert_int_equal(pthread_detach(t), 0);
}

/* Runs the loop until no more than @want connections are open, both ends counted. */
static void spin_open(uint64_t want)
{
	time_t end = time(NULL) + 60;

	while (stats().connections_open > want && time(NULL) < end)
		turn(1);
	assert_int_equal(stats().connections_open, want);
}

/* What came by a connection that is gone is nobody's any more, and makes room. */
static void a_crowd_that_leaves_makes_room(void **state)
{
	struct rpcrdma_gss *g;
	uint64_t open;
	unsigned calls;

	start(RPCRDMA_GSS_KRB5I);
	assert_int_equal(run_null(w.gss), 0);
	open = stats().connections_open;
	send_crowd();
	spin(&crowd.busy, CROWD * EACH - QUEUED - 1);
	for (unsigned i = 0; i < CROWD; i++)
		rpcrdma_conn_close(crowd.conn[i]);
	spin(&crowd.done, CROWD * EACH);
	spin_open(open + 1); /* one still has the request that the thread works on */
	assert_int_equal(run_null(w.gss), 0); /* the engine goes on */
	set_gate(false);
	g = context("nfs@localhost", RPCRDMA_GSS_KRB5, 0);
	assert_int_equal(run_null(g), 0); /* behind all of them */
	calls = w.ended;
	rpcrdma_gss_free(g);
	spin(&w.ended, calls + 1); /* DESTROY */
	send_crowd();
	spin(&crowd.busy, CROWD * EACH - QUEUED - 1);
	set_gate(false);
	spin(&crowd.done, CROWD * EACH);
	assert_int_equal(crowd.answered, QUEUED + 1);
	for (unsigned i = 0; i < CROWD; i++)
		rpcrdma_conn_close(crowd.conn[i]);
}

/* With all of them waiting: the thread is waited for, and no one else. */
static void a_server_may_end_beneath_a_crowd(void **state)
{
	start(RPCRDMA_GSS_KRB5I);
	assert_int_equal(run_null(w.gss), 0);
	send_crowd();
	spin(&crowd.busy, CROWD * EACH - QUEUED - 1);
	rpcrdma_gss_free(w.gss);
	open_later();
	rpcrdma_engine_free(w.engine);
	assert_int_equal(crowd.done, CROWD * EACH);
	w.gss = NULL;
	w.engine = NULL;
	w.conn = NULL;
	w.listener = NULL;
}

#undef TEST
#define TEST(f) cmocka_unit_test_teardown(f, restore)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_crowd_of_strangers_is_bounded),
	        TEST(a_crowd_that_leaves_makes_room),
	        TEST(a_server_may_end_beneath_a_crowd),
	};

	return cmocka_run_group_tests_name("gss_crowd", tests, NULL, NULL);
}
