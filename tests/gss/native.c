/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of the native API under RPCSEC_GSS: what moves, who calls, what may go wrong.
 */
#include "world.h"

enum { BIG = 300001, MANY = 1500 };

/* -- what moves ------------------------------------------------------------ */

/* V2-11.2.2.2-01 */
static void items_move_by_rdma_under_krb5(void **state)
{
	start(RPCRDMA_GSS_KRB5);
	assert_true(echo(BIG));
	assert_int_equal(stats().bytes_read_chunk, 2 * BIG); /* counted by both ends */
	assert_int_equal(stats().bytes_write_chunk, 2 * BIG);
	assert_true(info(w.gss).established);
}

/* V2-11.2.2.3-01, -02, V2-11.2.2.2-02 */
static void protected(enum rpcrdma_gss_service service)
{
	static const uint32_t sizes[] = {1,    100,   1000, 3000,   3999,
	                                 4000, 20000, BIG,  1 << 20};

	start(service);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		assert_false(echo(sizes[i]));
	assert_int_equal(stats().bytes_read_chunk + stats().bytes_write_chunk, 0);
	assert_true(stats().bytes_continued + stats().bytes_reply_pulled +
	                    stats().bytes_reply_chunk >=
	            2u << 20);
	assert_int_equal(stats().call_errors + stats().recoveries, 0);
}

static void nothing_is_reduced_under_krb5i(void **state)
{
	protected(RPCRDMA_GSS_KRB5I);
}

static void nothing_is_reduced_under_krb5p(void **state)
{
	protected(RPCRDMA_GSS_KRB5P);
}

/* Where a reply that is longer than said has no way to come: version 1 does not
 * continue.  (The header's allowance alone would do for Kerberos.)  V2-11.2.2.2-02 */
static void replies_have_room_for_what_protects_them(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5; s <= RPCRDMA_GSS_KRB5P; s++) {
		w.version = 1;
		w.exact = true;
		start((enum rpcrdma_gss_service)s);
		for (uint32_t len = 100; len < 4400; len += 60)
			assert_false(echo(len));
		assert_int_equal(stats().call_errors + stats().recoveries, 0);
		clean_up(NULL);
	}
}

/* Of what is no success there is nothing to protect.   [RFC 2203 §5.3.3.4] */
static void errors_have_a_verifier_and_no_results(void **state)
{
	for (int s = RPCRDMA_GSS_KRB5; s <= RPCRDMA_GSS_KRB5P; s++) {
		struct wait x;
		struct rpcrdma_call_options o;

		start((enum rpcrdma_gss_service)s);
		o = call_to(N_PROCS, &x);
		assert_int_equal(run(&o), RPCRDMA_PROC_UNAVAIL);
		assert_int_equal(x.reply_len, 0);
		o = call_to(P_NULL, &x);
		o.version = VERS + 1;
		assert_int_equal(run(&o), RPCRDMA_PROG_MISMATCH);
		assert_int_equal(x.reply_len, 0);
		clean_up(NULL);
	}
}

/* More than the server's window. */
static void many_calls_are_in_flight_at_once(void **state)
{
	static struct wait x[MANY];
	uint8_t args[MANY][8];
	unsigned done = 0;

	start(RPCRDMA_GSS_KRB5I);
	for (unsigned i = 0; i < MANY; i++) {
		struct rpcrdma_call_options o = call_to(P_ECHO, &x[i]);
		struct rpcrdma_piece p = {args[i], 8, false};
		uint32_t n[2] = {htonl(4), htonl(i)};

		memcpy(args[i], n, 8);
		x[i].expect = args[i] + 4;
		x[i].len = 4;
		o.args = &p;
		o.n_args = 1;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	assert_true(MANY > 1024); /* whatever the window is: */
	for (unsigned i = 0; i < MANY; i++) {
		spin(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
		assert_true(x[i].right);
		done++;
	}
	assert_true(info(w.gss).window < MANY);
	assert_int_equal(done, MANY);
	assert_int_equal(w.contexts, 1);
}

/* RFC 2203 §5.3.3.1: a server with a small one would drop what is behind it. */
static void the_window_of_the_server_is_kept(void **state)
{
	static struct wait x[100];

	start(RPCRDMA_GSS_KRB5);
	assert_int_equal(run_null(w.gss), 0);
	w.gss->context->window = 4;
	w.sent = w.ended = w.most = 0;
	for (unsigned i = 0; i < 100; i++) {
		struct rpcrdma_call_options o = call_to(P_NULL, &x[i]);

		if (i == 50)
			o.timeout_ns = 1; /* one that goes while it waits */
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	for (unsigned i = 0; i < 100; i++) {
		spin(&x[i].done, 1);
		assert_int_equal(x[i].status, i == 50 ? -ETIMEDOUT : 0);
	}
	assert_int_equal(w.sent, 99);
	assert_int_equal(w.most, 4);
	assert_int_equal(info(w.gss).contexts, 1);
}

/* -- who calls ------------------------------------------------------------- */

static void the_server_knows_who_calls(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;
	struct rpcrdma_gss *bob;

	start(RPCRDMA_GSS_KRB5P);
	o = call_to(P_WHO, &x);
	assert_int_equal(run(&o), 0);
	assert_string_equal(w.principal, "alice@RPCRDMA.TEST");
	assert_int_equal(w.caller.service, RPCRDMA_GSS_KRB5P);
	assert_true(w.caller.mapped);
	assert_int_equal(w.caller.uid, 1); /* daemon, by auth_to_local */
	assert_int_equal(w.caller.gid, 1);

	setenv("KRB5CCNAME", getenv("BOB_CC"), 1);
	bob = context("nfs@localhost", RPCRDMA_GSS_KRB5, 0);
	o.gss = bob;
	x.done = 0;
	assert_int_equal(run(&o), 0);
	assert_string_equal(w.principal, "bob@RPCRDMA.TEST");
	assert_int_equal(w.caller.service, RPCRDMA_GSS_KRB5);
	assert_false(w.caller.mapped);
	rpcrdma_gss_free(bob);

	o.gss = NULL; /* anybody */
	x.done = 0;
	assert_int_equal(run(&o), RPCRDMA_AUTH_ERROR);
	assert_int_equal(x.auth_stat, 5);
	assert_int_equal(w.weak, 1);
}

/* -- no context ------------------------------------------------------------ */

static void without_a_ticket_calls_end_with_the_reason(void **state)
{
	start(RPCRDMA_GSS_KRB5);
	setenv("KRB5CCNAME", getenv("EMPTY_CC"), 1);
	assert_int_equal(run_null(w.gss), -EACCES);
	assert_non_null(strstr(info(w.gss).reason, "nfs@localhost: "));
	assert_non_null(
	        strstr(info(w.gss).reason, "No Kerberos credentials available"));
	assert_int_equal(info(w.gss).error, -EACCES);
	assert_true(info(w.gss).major && !info(w.gss).established);
	/* kinit, meanwhile. */
	setenv("KRB5CCNAME", getenv("ALICE_CC"), 1);
	assert_int_equal(run_null(w.gss), 0);
	assert_int_equal(info(w.gss).error, 0);
	assert_string_equal(info(w.gss).reason, "");
}

static void a_server_that_nobody_knows_is_named(void **state)
{
	struct rpcrdma_gss *g;

	start(RPCRDMA_GSS_KRB5);
	g = context("nfs@elsewhere.example", RPCRDMA_GSS_KRB5, 0);
	assert_int_equal(run_null(g), -EACCES);
	assert_non_null(strstr(info(g).reason, "elsewhere.example"));
	rpcrdma_gss_free(g);
	/* Another service's ticket is none of this one. */
	g = context("host@localhost", RPCRDMA_GSS_KRB5, 0);
	assert_int_equal(run_null(g), -EACCES);
	assert_non_null(strstr(info(g).reason, "the server refuses"));
	rpcrdma_gss_free(g);
	assert_int_equal(run_null(w.gss), 0);
}

/* A KDC that takes connections and says nothing is the one of the configuration. */
static int silent_kdc(void)
{
	struct sockaddr_in in = {.sin_family = AF_INET,
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	FILE *f;

	assert_int_equal(bind(fd, (struct sockaddr *)&in, len), 0);
	assert_int_equal(listen(fd, 16), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&in, &len), 0);
	f = fopen(getenv("KRB5_CONFIG"), "w");
	assert_non_null(f);
	fprintf(f,
	        "[libdefaults]\ndefault_realm = RPCRDMA.TEST\nudp_preference_limit = "
	        "1\n"
	        "dns_lookup_kdc = false\ndns_canonicalize_hostname = false\n"
	        "[realms]\nRPCRDMA.TEST = {\nkdc = 127.0.0.1:%u\n}\n"
	        "[domain_realm]\nnowhere = RPCRDMA.TEST\n",
	        ntohs(in.sin_port));
	assert_int_equal(fclose(f), 0);
	return fd;
}

/* The engine goes on, and the thread that waits is nobody's concern.  The last test:
 * the thread reads the environment, which nobody may change from here on. */
static void a_silent_kdc_does_not_hold_the_engine(void **state)
{
	struct rpcrdma_gss *g;
	struct timespec a, b;
	int fd;

	start(RPCRDMA_GSS_KRB5);
	assert_int_equal(run_null(w.gss), 0);
	fd = silent_kdc();
	g = context("nfs@nowhere", RPCRDMA_GSS_KRB5, 1000000000);
	clock_gettime(CLOCK_MONOTONIC, &a);
	assert_int_equal(run_null(g), -EACCES);
	clock_gettime(CLOCK_MONOTONIC, &b);
	assert_in_range(b.tv_sec - a.tv_sec, 0, 5);
	assert_non_null(strstr(info(g).reason, "no answer from the KDC in time"));
	/* Again, while the first thread still waits; then it is left behind. */
	assert_int_equal(run_null(g), -EACCES);
	assert_int_equal(run_null(w.gss), 0);
	rpcrdma_gss_free(g);
	close(fd);
}

/* Freed and closed in the middle of it. */
static void a_set_up_may_be_abandoned(void **state)
{
	for (unsigned steps = 0; steps < 12; steps++) {
		struct wait x;
		struct rpcrdma_call_options o;

		start(RPCRDMA_GSS_KRB5I);
		o = call_to(P_NULL, &x);
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
		turn(steps);
		if (steps % 3 == 0) {
			rpcrdma_conn_close(w.conn);
			w.conn = NULL;
			spin(&x.done, 1);
			assert_true(x.status == -ECANCELED || x.status == 0);
		} else if (steps % 3 == 1) {
			rpcrdma_gss_free(w.gss);
			w.gss = NULL;
			spin(&x.done, 1);
			assert_int_equal(x.status, 0);
		} else {
			rpcrdma_engine_free(w.engine);
			assert_int_equal(x.done, 1);
			w.engine = NULL;
			w.conn = NULL;
			w.listener = NULL;
		}
		clean_up(NULL);
	}
}

/* -- losses ---------------------------------------------------------------- */

/* The contexts go with the service. */
static void a_restarted_server_gets_a_new_context(void **state)
{
	static struct wait x[40];

	start(RPCRDMA_GSS_KRB5I);
	assert_false(echo(1000));
	rpcrdma_listener_close(w.listener, 0);
	turn(20);
	rpcrdma_service_free(w.service);
	start_service();
	start_listener();
	for (unsigned i = 0; i < 40; i++) {
		struct rpcrdma_call_options o = call_to(P_NULL, &x[i]);

		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	}
	for (unsigned i = 0; i < 40; i++) {
		spin(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
	assert_int_equal(info(w.gss).contexts, 2);
	assert_int_equal(w.contexts, 2);
}

/* The connection is lost while it is executed; the Call comes again under another
 * sequence number, and gets the first one's result. */
static void a_repeated_call_is_executed_once(void **state)
{
	static const uint8_t word[4] = {0, 0, 0, 42};
	struct rpcrdma_piece p = {word, 4, false};

	for (int service = RPCRDMA_GSS_KRB5; service <= RPCRDMA_GSS_KRB5P; service++) {
		struct wait x;
		struct rpcrdma_call_options o;
		uint8_t args[4] = {1, 2, 3, 4};
		struct rpcrdma_piece a = {args, 4, false};
		time_t end = time(NULL) + 30;

		start((enum rpcrdma_gss_service)service);
		w.park = true;
		o = call_to(P_ONCE, &x);
		o.args = &a;
		o.n_args = 1;
		assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
		spin(&w.once, 1);
		rpcrdma_listener_close(w.listener, 1); /* cut off at once */
		turn(10);
		w.park = false;
		start_listener();
		while (!stats().cache_waits && time(NULL) < end)
			assert_int_equal(rpcrdma_engine_process(w.engine, 50), 0);
		assert_int_equal(stats().cache_waits, 1);
		assert_int_equal(x.done, 0);
		assert_int_equal(rpcrdma_request_reply(w.parked, &p, 1, NULL, NULL), 0);
		spin(&x.done, 1);
		assert_int_equal(x.status, 0);
		assert_int_equal(x.word, 42);
		assert_int_equal(w.once, 1);
		assert_int_equal(stats().retransmits, 1);
		/* Another one under the same arguments is another one. */
		x.done = 0;
		assert_int_equal(run(&o), 0);
		assert_int_equal(w.once, 2);
		clean_up(NULL);
	}
}

/* -- impostors ------------------------------------------------------------- */

static size_t put(uint8_t *p, uint32_t handle, uint32_t major, uint32_t window,
                  uint32_t token)
{
	uint32_t words[] = {htonl(handle), htonl(7),      htonl(major),
	                    htonl(0),      htonl(window), htonl(token)};

	memcpy(p, words, sizeof(words));
	return sizeof(words);
}

/* Whoever answers without the server's key. */
static void an_impostor_is_not_believed(void **state)
{
	static const struct {
		uint32_t handle, major, window, token;
		size_t len;
		int status;
		const char *why;
	} t[] = {
	        {4, 0, 128, 0, 24, -EBADMSG, "the server's reply"}, /* no token */
	        {4, 0, 128, 0, 20, -EBADMSG, "the server's reply"},
	        {UINT32_MAX, 0, 128, 0, 24, -EBADMSG, "the server's reply"},
	        {4, 0, 128, UINT32_MAX, 24, -EBADMSG, "the server's reply"},
	        {4, 1, 128, 0, 24, -EBADMSG, "the server's reply"}, /* continue */
	        {4, 0xd0000, 128, 0, 24, -EACCES, "the server refuses"},
	        {4, 0, 128, 4, 28, -EACCES, "nfs@localhost"}, /* a token of nonsense */
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		w.impostor = true;
		start(RPCRDMA_GSS_KRB5);
		put(w.answer, t[i].handle, t[i].major, t[i].window, t[i].token);
		w.answer_len = t[i].len;
		assert_int_equal(run_null(w.gss), t[i].status);
		assert_non_null(strstr(info(w.gss).reason, t[i].why));
		assert_int_equal(w.contexts, 0);
		clean_up(NULL);
	}
}

/* Whoever takes the server's place: it cannot sign the sequence number. */
static void a_reply_of_another_server_is_not_believed(void **state)
{
	for (int service = RPCRDMA_GSS_KRB5; service <= RPCRDMA_GSS_KRB5P; service++) {
		struct wait x;
		struct rpcrdma_call_options o;

		start((enum rpcrdma_gss_service)service);
		assert_int_equal(run_null(w.gss), 0);
		rpcrdma_listener_close(w.listener, 0);
		turn(20);
		rpcrdma_service_free(w.service);
		w.impostor = true;
		start_service();
		start_listener();
		o = call_to(P_NULL, &x);
		assert_int_equal(run(&o), RPCRDMA_AUTH_ERROR);
		assert_int_equal(x.auth_stat, 6); /* AUTH_INVALIDRESP */
		clean_up(NULL);
	}
}

static void options_are_checked(void **state)
{
	struct rpcrdma_gss_options o = RPCRDMA_OPTIONS(struct rpcrdma_gss_options);
	struct rpcrdma_service_gss_options s =
	        RPCRDMA_OPTIONS(struct rpcrdma_service_gss_options);
	struct rpcrdma_service *service;
	struct rpcrdma_gss *g;
	struct rpcrdma_auth none = {0};
	struct rpcrdma_conn_options c = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_conn *other;
	struct wait x;
	struct rpcrdma_call_options k;
	char why[256] = "", principal[257] = "";

	start(RPCRDMA_GSS_KRB5);
	assert_int_equal(rpcrdma_gss_new(w.conn, &o, &g), -EINVAL);
	o.principal = "nfs@localhost";
	o.service = (enum rpcrdma_gss_service)4;
	assert_int_equal(rpcrdma_gss_new(w.conn, &o, &g), -EINVAL);
	o.service = RPCRDMA_GSS_KRB5;
	memset(principal, 'x', sizeof(principal) - 1);
	o.principal = principal; /* too long by one */
	assert_int_equal(rpcrdma_gss_new(w.conn, &o, &g), -EINVAL);
	principal[255] = '\0';
	assert_int_equal(rpcrdma_gss_new(w.conn, &o, &g), 0);
	assert_int_equal(run_null(g), -EACCES);
	assert_true(strlen(info(g).reason) < sizeof(info(g).reason));
	rpcrdma_gss_free(g);
	o.principal = "";
	assert_int_equal(rpcrdma_gss_new(w.conn, &o, &g), -EINVAL);
	k = call_to(P_NULL, &x);
	k.cred = &none;
	assert_int_equal(rpcrdma_call(w.conn, &k, NULL), -EINVAL);
	assert_int_equal(
	        rpcrdma_connect(w.engine, "127.0.0.1", w.port, &c, NULL, NULL, &other),
	        0);
	k.cred = NULL;
	assert_int_equal(rpcrdma_call(other, &k, NULL), -EINVAL);
	rpcrdma_conn_close(other);
	assert_int_equal(rpcrdma_service_set_gss(w.service, &s), -EEXIST);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	s.principal = "imap@localhost";
	s.ret_reason = why;
	assert_int_equal(rpcrdma_service_set_gss(service, &s), -ENOKEY);
	assert_true(why[0]);
	rpcrdma_service_free(service);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(items_move_by_rdma_under_krb5),
	        TEST(nothing_is_reduced_under_krb5i),
	        TEST(nothing_is_reduced_under_krb5p),
	        TEST(replies_have_room_for_what_protects_them),
	        TEST(errors_have_a_verifier_and_no_results),
	        TEST(many_calls_are_in_flight_at_once),
	        TEST(the_window_of_the_server_is_kept),
	        TEST(the_server_knows_who_calls),
	        TEST(without_a_ticket_calls_end_with_the_reason),
	        TEST(a_server_that_nobody_knows_is_named),
	        TEST(a_set_up_may_be_abandoned),
	        TEST(a_restarted_server_gets_a_new_context),
	        TEST(a_repeated_call_is_executed_once),
	        TEST(an_impostor_is_not_believed),
	        TEST(a_reply_of_another_server_is_not_believed),
	        TEST(options_are_checked),
	        TEST(a_silent_kdc_does_not_hold_the_engine),
	};

	return cmocka_run_group_tests_name("gss_native", tests, NULL, NULL);
}
