/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Time and GSS-API as a test wants them: contexts that expire while calls wait, are
 * out, or come again; a GSS-API that refuses, or takes its time.  Client and server in
 * one engine, as in native.c.
 *
 * The linker puts the functions below in front of the real ones: the clock can be put
 * forward, a ticket's lifetime be another one, and single calls fail.
 */
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>

enum { HOUR = 3600, AUTH_INVALIDRESP = 6, AUTH_CTXPROBLEM = 14 };

/* -- the border ------------------------------------------------------------ */

static _Atomic uint64_t ahead_ns;
/* Seconds that each end is told, instead of what the ticket has; ASIS: that. */
enum { ASIS = 0xfffffffe };
static _Atomic uint32_t client_lifetime = ASIS, server_lifetime = ASIS;

int __real_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t, struct timespec *);
int __wrap_clock_gettime(clockid_t id, struct timespec *t)
{
	int r = __real_clock_gettime(id, t);

	t->tv_sec += (time_t)(ahead_ns / 1000000000);
	return r;
}

/* So many calls of one end's fail, with that code. */
static struct refusal {
	_Atomic unsigned left;
	OM_uint32 code;
} client_mic, client_wrap, client_unwrap, server_mic, server_wrap, server_verify;

static bool is_clients(gss_ctx_id_t id)
{
	OM_uint32 minor;
	int ours = 0;

	(void)gss_inquire_context(&minor, id, NULL, NULL, NULL, NULL, NULL, &ours,
	                          NULL);
	return ours;
}

static bool refuses(struct refusal *client, struct refusal *server, gss_ctx_id_t id,
                    OM_uint32 *minor, OM_uint32 *ret)
{
	struct refusal *r = is_clients(id) ? client : server;

	if (!r || !r->left)
		return false;
	r->left--;
	*minor = 0;
	*ret = r->code;
	return true;
}

/* Somebody on the way changes the number that the server has signed, so many times. */
static _Atomic unsigned lies;

#define WRAP(name, client, server, params, args)                                       \
	OM_uint32 __real_##name params;                                                \
	OM_uint32 __wrap_##name params;                                                \
	OM_uint32 __wrap_##name params                                                 \
	{                                                                              \
		OM_uint32 r;                                                           \
                                                                                       \
		return refuses(client, server, id, minor, &r) ? r                      \
		                                              : __real_##name args;    \
	}

OM_uint32 __real_gss_get_mic(OM_uint32 *, gss_ctx_id_t, gss_qop_t, gss_buffer_t,
                             gss_buffer_t);
OM_uint32 __wrap_gss_get_mic(OM_uint32 *, gss_ctx_id_t, gss_qop_t, gss_buffer_t,
                             gss_buffer_t);
OM_uint32 __wrap_gss_get_mic(OM_uint32 *minor, gss_ctx_id_t id, gss_qop_t qop,
                             gss_buffer_t m, gss_buffer_t mic)
{
	static char zero[4];
	gss_buffer_desc other = {4, zero};
	OM_uint32 r;

	if (refuses(&client_mic, &server_mic, id, minor, &r))
		return r;
	if (lies && m->length == 4 && !is_clients(id)) {
		lies--;
		m = &other;
	}
	return __real_gss_get_mic(minor, id, qop, m, mic);
}

WRAP(gss_verify_mic, NULL, &server_verify,
     (OM_uint32 * minor, gss_ctx_id_t id, gss_buffer_t m, gss_buffer_t mic,
      gss_qop_t *qop),
     (minor, id, m, mic, qop))
WRAP(gss_wrap, &client_wrap, &server_wrap,
     (OM_uint32 * minor, gss_ctx_id_t id, int conf, gss_qop_t qop, gss_buffer_t in,
      int *state, gss_buffer_t out),
     (minor, id, conf, qop, in, state, out))
WRAP(gss_unwrap, &client_unwrap, NULL,
     (OM_uint32 * minor, gss_ctx_id_t id, gss_buffer_t in, gss_buffer_t out, int *state,
      gss_qop_t *qop),
     (minor, id, in, out, state, qop))

/* A KDC that takes its time. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static bool shut;
static _Atomic unsigned arrived;

static void set_gate(bool now_shut)
{
	pthread_mutex_lock(&gate);
	shut = now_shut;
	pthread_cond_broadcast(&opened);
	pthread_mutex_unlock(&gate);
}

static void pass_gate(void)
{
	arrived++;
	pthread_mutex_lock(&gate);
	while (shut)
		pthread_cond_wait(&opened, &gate);
	pthread_mutex_unlock(&gate);
}

OM_uint32 __real_gss_init_sec_context(OM_uint32 *, gss_cred_id_t, gss_ctx_id_t *,
                                      gss_name_t, gss_OID, OM_uint32, OM_uint32,
                                      gss_channel_bindings_t, gss_buffer_t, gss_OID *,
                                      gss_buffer_t, OM_uint32 *, OM_uint32 *);
OM_uint32 __wrap_gss_init_sec_context(OM_uint32 *, gss_cred_id_t, gss_ctx_id_t *,
                                      gss_name_t, gss_OID, OM_uint32, OM_uint32,
                                      gss_channel_bindings_t, gss_buffer_t, gss_OID *,
                                      gss_buffer_t, OM_uint32 *, OM_uint32 *);
OM_uint32 __wrap_gss_init_sec_context(OM_uint32 *minor, gss_cred_id_t cred,
                                      gss_ctx_id_t *id, gss_name_t name, gss_OID mech,
                                      OM_uint32 flags, OM_uint32 want,
                                      gss_channel_bindings_t cb, gss_buffer_t in,
                                      gss_OID *mech_ret, gss_buffer_t out,
                                      OM_uint32 *flags_ret, OM_uint32 *seconds)
{
	OM_uint32 r;

	pass_gate();
	r = __real_gss_init_sec_context(minor, cred, id, name, mech, flags, want, cb,
	                                in, mech_ret, out, flags_ret, seconds);
	if (client_lifetime != ASIS)
		*seconds = client_lifetime;
	return r;
}

/* So many tokens are not accepted. */
static _Atomic unsigned accept_fails;

OM_uint32 __wrap_gss_accept_sec_context(OM_uint32 *minor, gss_ctx_id_t *id,
                                        gss_cred_id_t cred, gss_buffer_t in,
                                        gss_channel_bindings_t cb, gss_name_t *name,
                                        gss_OID *mech, gss_buffer_t out,
                                        OM_uint32 *flags, OM_uint32 *seconds,
                                        gss_cred_id_t *delegated)
{
	OM_uint32 r;

	if (accept_fails) {
		accept_fails--;
		*minor = 0;
		return GSS_S_DEFECTIVE_CREDENTIAL;
	}
	r = __real_gss_accept_sec_context(minor, id, cred, in, cb, name, mech, out,
	                                  flags, seconds, delegated);
	if (server_lifetime != ASIS)
		*seconds = server_lifetime;
	return r;
}

static void pass(uint64_t seconds)
{
	ahead_ns += seconds * 1000000000;
}

static void refuse(struct refusal *r, unsigned times, OM_uint32 code)
{
	r->code = code;
	r->left = times;
}

static int restore(void **state)
{
	static struct refusal *const all[] = {&client_mic,  &client_wrap,
	                                      &server_mic,  &client_unwrap,
	                                      &server_wrap, &server_verify};
	int r;

	set_gate(false);
	r = clean_up(state);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		all[i]->left = 0;
	client_lifetime = server_lifetime = ASIS;
	lies = accept_fails = 0;
	return r;
}

/* -- calls ------------------------------------------------------------------------ */

static const uint8_t args[4] = {1, 2, 3, 4};
static const struct rpcrdma_piece arg_piece = {args, 4, false};

/* The clock goes on by hours here. */
static struct rpcrdma_call_options once(struct wait *x)
{
	struct rpcrdma_call_options o = call_to(P_ONCE, x);

	o.timeout_ns = 24ull * HOUR * 1000000000;
	o.args = &arg_piece;
	o.n_args = 1;
	return o;
}

static void park(struct wait *x)
{
	struct rpcrdma_call_options o = once(x);

	w.park = true;
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin(&w.once, 1);
	w.park = false;
}

static void answer_parked(void)
{
	static const uint8_t word[4] = {0, 0, 0, 42};
	struct rpcrdma_piece p = {word, 4, false};

	assert_int_equal(rpcrdma_request_reply(w.parked, &p, 1, NULL, NULL), 0);
}

static void assert_answered(struct wait *x)
{
	spin(&x->done, 1);
	assert_int_equal(x->status, 0);
	assert_int_equal(x->word, 42);
}

/* -- expiry ---------------------------------------------------------------- */

static void a_context_is_renewed_before_it_expires(void **state)
{
	start(RPCRDMA_GSS_KRB5I);
	client_lifetime = 60;
	server_lifetime = 60;
	assert_int_equal(run_null(w.gss), 0);
	pass(54);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 1);
	pass(2);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 2);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 2);
	assert_int_equal(w.refused, 0);
}

/* Of a ticket that ends sooner than anybody renews. */
static void a_ticket_of_a_second_is_enough(void **state)
{
	start(RPCRDMA_GSS_KRB5);
	client_lifetime = 1;
	server_lifetime = 1 + 300;
	for (unsigned i = 1; i <= 3; i++) {
		unsigned was;

		do { /* unless this very second is over */
			was = info(w.gss).contexts;
			assert_int_equal(run_null(w.gss), 0);
		} while (info(w.gss).contexts > was + 1);
		assert_true(info(w.gss).contexts > 0);
		pass(1);
	}
	assert_true(info(w.gss).contexts >= 3);
	client_lifetime = 0;
	pass(1);
	assert_int_equal(run_null(w.gss), -EACCES);
	assert_non_null(strstr(info(w.gss).reason, "the ticket has expired"));
	client_lifetime = ASIS;
	assert_int_equal(run_null(w.gss), 0);
}

static void one_without_an_end_is_kept(void **state)
{
	start(RPCRDMA_GSS_KRB5);
	client_lifetime = server_lifetime = GSS_C_INDEFINITE;
	assert_int_equal(run_null(w.gss), 0);
	pass(10 * HOUR);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 1);
}

/* The server's clock, or its patience, is another one: CTXPROBLEM.  Each call is sent
 * again once, and executed once.                               [RFC 2203 §5.3.3.3] */
static void calls_are_sent_again_under_another_context(void **state)
{
	static struct wait x[40];

	for (int s = RPCRDMA_GSS_KRB5; s <= RPCRDMA_GSS_KRB5P; s++) {
		start((enum rpcrdma_gss_service)s);
		server_lifetime = 60;
		assert_int_equal(run_null(w.gss), 0);
		pass(60);
		server_lifetime = ASIS;
		for (unsigned i = 0; i < 40; i++) {
			struct rpcrdma_call_options o = once(&x[i]);

			assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
		}
		for (unsigned i = 0; i < 40; i++)
			assert_answered(&x[i]);
		assert_int_equal(w.once, 40);
		assert_int_equal(info(w.gss).contexts, 2);
		assert_int_equal(w.refused, 2 * 40); /* by the server; and heard */
		assert_int_equal(stats().retransmits, 0);
		restore(NULL);
	}
}

/* A server whose contexts never last: the call ends, and says so. */
static void a_server_that_forgets_at_once_is_given_up(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	start(RPCRDMA_GSS_KRB5);
	server_lifetime = 0;
	o = once(&x);
	assert_int_equal(run(&o), RPCRDMA_AUTH_ERROR);
	assert_int_equal(x.auth_stat, AUTH_CTXPROBLEM);
	assert_int_equal(info(w.gss).contexts, 3);
	assert_int_equal(w.once, 0);
}

/* What was asked for under it is answered under it. */
static void a_call_that_is_out_outlives_its_context(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5; s <= RPCRDMA_GSS_KRB5P; s++) {
		struct wait x, y;
		struct rpcrdma_call_options o;

		start((enum rpcrdma_gss_service)s);
		client_lifetime = server_lifetime = 60;
		park(&x);
		pass(61);
		o = once(&y);
		assert_int_equal(run(&o), 0); /* under the next one */
		assert_int_equal(info(w.gss).contexts, 2);
		answer_parked();
		assert_answered(&x);
		assert_int_equal(w.once, 2);
		assert_int_equal(w.refused, 0);
		restore(NULL);
	}
}

/* Nor is it executed again, if its connection is lost after that.  @client: does the
 * client know, or has it to be told? */
static void lost_after_expiry(int service, bool client)
{
	time_t end = time(NULL) + 30;
	struct wait x;

	start((enum rpcrdma_gss_service)service);
	server_lifetime = 60;
	if (client)
		client_lifetime = 60;
	park(&x);
	pass(61);
	client_lifetime = server_lifetime = ASIS;
	rpcrdma_listener_close(w.listener, 1);
	turn(10);
	start_listener();
	while (!stats().cache_waits && time(NULL) < end)
		turn(1);
	assert_int_equal(stats().cache_waits, 1);
	assert_int_equal(x.done, 0);
	answer_parked();
	assert_answered(&x);
	assert_int_equal(w.once, 1);
	assert_int_equal(info(w.gss).contexts, 2);
	assert_int_equal(w.refused, client ? 0 : 2);
	restore(NULL);
}

static void a_call_is_executed_once_across_an_expiry(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5; s <= RPCRDMA_GSS_KRB5P; s++) {
		lost_after_expiry(s, true);
		lost_after_expiry(s, false);
	}
}

/* -- GSS-API says no ------------------------------------------------------- */

static void gss_api_may_say_that_it_has_expired(void **state)
{
	static struct refusal *const where[] = {&client_mic, &client_wrap};

	for (unsigned i = 0; i < 2; i++) {
		struct wait x;
		struct rpcrdma_call_options o;

		start(RPCRDMA_GSS_KRB5P);
		assert_int_equal(run_null(w.gss), 0);
		refuse(where[i], 1, GSS_S_CONTEXT_EXPIRED);
		o = once(&x);
		assert_int_equal(run(&o), 0);
		assert_int_equal(info(w.gss).contexts, 2);
		refuse(where[i], 1, GSS_S_FAILURE);
		x.done = 0;
		assert_int_equal(run(&o), -EACCES);
		x.done = 0;
		assert_int_equal(run(&o), 0);
		assert_int_equal(info(w.gss).contexts, 2);
		/* Not for ever. */
		refuse(where[i], 1000, GSS_S_CONTEXT_EXPIRED);
		x.done = 0;
		assert_int_equal(run(&o), -EACCES);
		assert_int_equal(info(w.gss).contexts, 4);
		assert_int_equal(where[i]->left, 997);
		restore(NULL);
	}
}

/* Results that cannot be protected are not sent; nor is what they are of done twice. */
static void results_that_cannot_be_wrapped_close_the_connection(void **state)
{
	static const struct {
		int service;
		struct refusal *r;
	} t[] = {{RPCRDMA_GSS_KRB5P, &server_wrap}, {RPCRDMA_GSS_KRB5I, &server_mic}};

	for (unsigned i = 0; i < 2; i++) {
		struct wait x;

		start((enum rpcrdma_gss_service)t[i].service);
		park(&x); /* its verifier is there already */
		refuse(t[i].r, 1, GSS_S_CONTEXT_EXPIRED);
		answer_parked();
		assert_answered(&x);
		assert_int_equal(w.once, 1);
		assert_int_equal(t[i].r->left, 0);
		assert_int_equal(stats().retransmits, 1);
		assert_int_equal(stats().cache_hits, 1);
		restore(NULL);
	}
}

/* A handler's mistake: it is told, and can tell the caller. */
static void results_that_are_no_xdr_are_an_error(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5I; s <= RPCRDMA_GSS_KRB5P; s++) {
		start((enum rpcrdma_gss_service)s);
		w.impostor = true; /* it answers with these octets */
		w.answer_len = 3;
		assert_int_equal(run_null(w.gss), RPCRDMA_SYSTEM_ERR);
		assert_int_equal(w.mistakes, 1);
		w.answer_len = 4;
		assert_int_equal(run_null(w.gss), 0);
		assert_int_equal(info(w.gss).contexts, 1);
		assert_int_equal(stats().reconnects, 0);
		restore(NULL);
	}
}

/* [RFC 2203 §5.3.3.4.1] */
static void a_verifier_that_cannot_be_made_is_told(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	start(RPCRDMA_GSS_KRB5);
	assert_int_equal(run_null(w.gss), 0);
	refuse(&server_mic, 1, GSS_S_FAILURE);
	o = once(&x);
	assert_int_equal(run(&o), 0);
	assert_int_equal(w.once, 1);
	assert_int_equal(info(w.gss).contexts, 2);
	refuse(&server_verify, 1, GSS_S_FAILURE);
	x.done = 0;
	assert_int_equal(run(&o), 0);
	assert_int_equal(info(w.gss).contexts, 3);
	assert_int_equal(w.once, 2);
}

/* The reply is there, and cannot be read: the caller must know that. */
static void results_that_cannot_be_read_are_no_results(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	start(RPCRDMA_GSS_KRB5P);
	assert_int_equal(run_null(w.gss), 0);
	refuse(&client_unwrap, 1, GSS_S_CONTEXT_EXPIRED);
	o = once(&x);
	assert_int_equal(run(&o), RPCRDMA_AUTH_ERROR);
	assert_int_equal(x.auth_stat, AUTH_INVALIDRESP);
	assert_int_equal(w.once, 1);
}

/* Who answers knows the key, or the number is not what it has signed. */
static void numbers_that_were_changed_are_noticed(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5; s <= RPCRDMA_GSS_KRB5P; s++) {
		struct wait x;
		struct rpcrdma_call_options o;

		start((enum rpcrdma_gss_service)s);
		lies = 1; /* the window */
		assert_int_equal(run_null(w.gss), -EACCES);
		assert_non_null(
		        strstr(info(w.gss).reason, "did not prove its identity"));
		assert_int_equal(info(w.gss).contexts, 0);
		assert_int_equal(run_null(w.gss), 0);
		lies = 1; /* a call's */
		o = once(&x);
		assert_int_equal(run(&o), RPCRDMA_AUTH_ERROR);
		assert_int_equal(x.auth_stat, AUTH_INVALIDRESP);
		assert_int_equal(run_null(w.gss), 0);
		assert_int_equal(info(w.gss).contexts, 1);
		restore(NULL);
	}
}

/* Of a token that came twice the server knows nothing the second time; another one
 * is tried, and no third. */
static void a_refused_token_is_made_anew_once(void **state)
{
	start(RPCRDMA_GSS_KRB5);
	accept_fails = 1;
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 1);
	restore(NULL);
	start(RPCRDMA_GSS_KRB5);
	accept_fails = 2;
	assert_int_equal(run_null(w.gss), -EACCES);
	assert_non_null(strstr(info(w.gss).reason, "the server refuses"));
	assert_int_equal(accept_fails, 0);
	assert_int_equal(run_null(w.gss), 0);
}

/* What it says is of no use any more; who waits by then gets another one. */
static void a_thread_that_is_late_is_not_heard(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	start(RPCRDMA_GSS_KRB5);
	set_gate(true);
	arrived = 0;
	w.gss->timeout_ns = 100000000;
	assert_int_equal(run_null(w.gss), -EACCES);
	assert_non_null(strstr(info(w.gss).reason, "no answer from the KDC in time"));
	w.gss->timeout_ns = RR_SEC(60);
	o = call_to(P_NULL, &x);
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	while (!arrived)
		turn(1);
	turn(10);
	assert_int_equal(x.done, 0);
	assert_int_equal(arrived, 1); /* never two at once */
	set_gate(false);
	spin(&x.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(info(w.gss).contexts, 1);
	assert_int_equal(arrived, 3); /* once in vain; a token, and the answer to it */
}

/* Nobody else knows of it. */
static void a_call_that_waits_ends_with_its_connection(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	start(RPCRDMA_GSS_KRB5);
	set_gate(true);
	arrived = 0;
	o = call_to(P_NULL, &x);
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	while (!arrived)
		turn(1);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin(&x.done, 1);
	assert_int_equal(x.status, -ECANCELED);
}

static void what_waits_for_a_context_goes_at_once(void **state)
{
	struct wait x[8];

	start(RPCRDMA_GSS_KRB5I);
	for (unsigned i = 0; i < 8; i++) {
		struct rpcrdma_call_options o = call_to(P_NULL, &x[i]);

		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	for (unsigned i = 0; i < 8; i++) {
		spin(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
	assert_int_equal(w.most, 8);
}

/* -- the end of a context ---------------------------------------------------------- */

/* [RFC 2203 §5.3.3.1] */
static void numbers_that_are_used_up_end_a_context(void **state)
{
	start(RPCRDMA_GSS_KRB5I);
	assert_int_equal(run_null(w.gss), 0);
	w.gss->context->next_seq = RR_GSS_MAX_SEQ;
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 1);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).contexts, 2);
	assert_int_equal(w.refused, 0);
}

/* [RFC 2203 §5.4] */
static void the_server_is_told_of_the_end(void **state)
{
	struct rpcrdma_gss *other;
	unsigned calls;

	start(RPCRDMA_GSS_KRB5I);
	assert_int_equal(run_null(w.gss), 0);
	other = context("nfs@localhost", RPCRDMA_GSS_KRB5, 0);
	assert_int_equal(run_null(other), 0);
	calls = w.ended;
	rpcrdma_gss_free(other);
	spin(&w.ended, calls + 1);
	assert_int_equal(w.sent, calls + 1);
	assert_int_equal(w.refused, 0);
	/* One that is as good as gone anyway, or never was: nothing. */
	client_lifetime = 60;
	other = context("nfs@localhost", RPCRDMA_GSS_KRB5, 0);
	assert_int_equal(run_null(other), 0);
	calls = w.sent;
	pass(60);
	turn(2);
	rpcrdma_gss_free(other);
	rpcrdma_gss_free(context("nfs@localhost", RPCRDMA_GSS_KRB5, 0));
	turn(10);
	assert_int_equal(w.sent, calls);
	assert_int_equal(run_null(w.gss), 0);
}

/* -- whoever waits --------------------------------------------------------- */

/* What cannot be sealed ends, and what waits behind it goes. */
static void a_call_that_cannot_be_sealed_holds_up_nobody(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5I; s <= RPCRDMA_GSS_KRB5P; s++) {
		struct wait x[4];
		struct rpcrdma_call_options o[4];

		start((enum rpcrdma_gss_service)s);
		refuse(s == RPCRDMA_GSS_KRB5I ? &client_mic : &client_wrap, 2,
		       GSS_S_FAILURE);
		for (unsigned i = 0; i < 4; i++) {
			o[i] = call_to(P_NULL, &x[i]);
			assert_int_equal(rpcrdma_call(w.conn, &o[i], NULL), 0);
		}
		for (unsigned i = 0; i < 4; i++) {
			spin(&x[i].done, 1);
			assert_int_equal(x[i].status, i < 2 ? -EACCES : 0);
		}
		assert_int_equal(info(w.gss).contexts, 1);
		restore(NULL);
	}
}

#undef TEST
#define TEST(f) cmocka_unit_test_teardown(f, restore)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(a_context_is_renewed_before_it_expires),
	        TEST(a_ticket_of_a_second_is_enough),
	        TEST(one_without_an_end_is_kept),
	        TEST(calls_are_sent_again_under_another_context),
	        TEST(a_server_that_forgets_at_once_is_given_up),
	        TEST(a_call_that_is_out_outlives_its_context),
	        TEST(a_call_is_executed_once_across_an_expiry),
	        TEST(gss_api_may_say_that_it_has_expired),
	        TEST(results_that_cannot_be_wrapped_close_the_connection),
	        TEST(results_that_are_no_xdr_are_an_error),
	        TEST(a_verifier_that_cannot_be_made_is_told),
	        TEST(results_that_cannot_be_read_are_no_results),
	        TEST(numbers_that_were_changed_are_noticed),
	        TEST(a_refused_token_is_made_anew_once),
	        TEST(a_thread_that_is_late_is_not_heard),
	        TEST(a_call_that_waits_ends_with_its_connection),
	        TEST(what_waits_for_a_context_goes_at_once),
	        TEST(numbers_that_are_used_up_end_a_context),
	        TEST(the_server_is_told_of_the_end),
	        TEST(a_call_that_cannot_be_sealed_holds_up_nobody),
	};

	return cmocka_run_group_tests_name("gss_border", tests, NULL, NULL);
}
