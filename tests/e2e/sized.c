/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that were compiled with an older or a newer header: each structure that
 * grows, at each function that takes or fills it.  It ends where memory ends: one octet
 * read or written behind it is a fault, also without a sanitizer.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include <rpcrdma/extension.h>
#include <rpcrdma/gss.h>
#include <rpcrdma/relay.h>
#include <rpcrdma/hostauth.h>
#include <rpcrdma/tirpc.h>

enum { PROG = 0x20000d1e, ROOM = 2 * 4096 };

static char *edge; /* the first octet that nobody may touch */
static struct rpcrdma_engine *engine;
static struct rpcrdma_service *service;
static struct rpcrdma_conn *conn;
static struct rpcrdma_gss *gss;
static SVCXPRT *xprt;

static void done(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
}

/* To where nobody listens; the first attempt waits for the loop. */
static struct rpcrdma_conn *new_conn(void)
{
	struct rpcrdma_conn *c;

	assert_int_equal(
	        rpcrdma_connect(engine, "127.0.0.1", "1", NULL, NULL, NULL, &c), 0);
	return c;
}

static void run_until_idle(void)
{
	while (!rpcrdma_engine_idle(engine))
		assert_int_equal(rpcrdma_engine_process(engine, -1), 0);
}

/* -- what programs give ---------------------------------------------------- */

static int use_engine(const void *o)
{
	struct rpcrdma_engine *e;
	int err = rpcrdma_engine_new(o, &e);

	if (!err)
		rpcrdma_engine_free(e);
	return err;
}

static int use_connect(const void *o)
{
	struct rpcrdma_conn *c;
	int err = rpcrdma_connect(engine, "127.0.0.1", "1", o, NULL, NULL, &c);

	if (!err)
		rpcrdma_conn_close(c);
	return err;
}

static int use_listen(const void *o)
{
	struct rpcrdma_listener *l;
	int err = rpcrdma_listen(engine, "127.0.0.1:0", o, service, 0, &l);

	if (!err)
		rpcrdma_listener_close(l, 0);
	return err;
}

static int use_call(const void *o)
{
	struct rpcrdma_conn *c = new_conn();
	int err = rpcrdma_call(c, o, NULL);

	rpcrdma_conn_close(c);
	return err;
}

/* Nobody listens there, which is found out after the options were looked at. */
static int use_call_sync(const void *o)
{
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_conn *c;
	int err;

	co.no_reconnect = true;
	assert_int_equal(rpcrdma_connect(engine, "127.0.0.1", "1", &co, NULL, NULL, &c),
	                 0);
	err = rpcrdma_call_sync(c, o, NULL, 0, NULL, 0);
	rpcrdma_conn_close(c);
	return err == -ECONNREFUSED ? 0 : err;
}

static int use_gss(const void *o)
{
	struct rpcrdma_conn *c = new_conn();
	struct rpcrdma_gss *g;
	int err = rpcrdma_gss_new(c, o, &g);

	if (!err)
		rpcrdma_gss_free(g);
	rpcrdma_conn_close(c);
	return err;
}

/* There is no keytab. */
static int use_service_gss(const void *o)
{
	struct rpcrdma_service *s;
	int err;

	assert_int_equal(rpcrdma_service_new(&s), 0);
	err = rpcrdma_service_set_gss(s, o);
	rpcrdma_service_free(s);
	return err == -ENOKEY ? 0 : err;
}

static int use_place(const void *o)
{
	static const struct rpcrdma_program none = {.program = PROG, .version = 2};
	struct rpcrdma_service *s;
	int err;

	assert_int_equal(rpcrdma_service_new(&s), 0);
	assert_int_equal(rpcrdma_service_add(s, &none, NULL), 0);
	err = rpcrdma_service_set_place(s, PROG, 2, o);
	rpcrdma_service_free(s);
	return err;
}

static int use_relay(const void *o)
{
	struct rpcrdma_service *s;
	int err;

	assert_int_equal(rpcrdma_service_new(&s), 0);
	err = rpcrdma_service_set_relay(s, o);
	rpcrdma_service_free(s);
	return err;
}

static int use_call_message(const void *o)
{
	struct rpcrdma_conn *c = new_conn();
	int err = rpcrdma_call_message(c, o, NULL);

	rpcrdma_conn_close(c);
	return err;
}

static int use_hostauth(const void *o)
{
	struct rpcrdma_hostauth *h;
	int err = rpcrdma_hostauth_new(o, &h, NULL, 0);

	if (!err)
		rpcrdma_hostauth_free(h);
	return err;
}

static int use_extension_check(const void *e)
{
	const struct rpcrdma_extension *list[1] = {e};

	return rpcrdma_extensions_check(list, 1);
}

static int use_extension(const void *e)
{
	const struct rpcrdma_extension *list[1] = {e};
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	o.extensions = list;
	o.n_extensions = 1;
	return use_connect(&o);
}

static int use_client(const void *o)
{
	int err;

	assert_null(clnt_rdma_create("127.0.0.1:1", PROG, 1, o));
	err = rpc_createerr.cf_error.re_errno;
	return err == ECONNREFUSED ? 0 : -err;
}

static int use_server(const void *o)
{
	SVCXPRT *x = svc_rdma_create("127.0.0.1:0", o);

	if (!x)
		return -rpc_createerr.cf_error.re_errno;
	svc_destroy(x);
	return 0;
}

static int use_conn_of_client(const void *conn_options)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);

	o.conn = conn_options;
	return use_client(&o);
}

static int use_conn_of_server(const void *conn_options)
{
	struct rpcrdma_tirpc_options o = RPCRDMA_OPTIONS(struct rpcrdma_tirpc_options);

	o.conn = conn_options;
	return use_server(&o);
}

static const struct rpcrdma_call_options call_options = {
        .size = sizeof(call_options), .program = PROG, .version = 1, .done = done};
static const struct rpcrdma_call_options sync_options = {
        .size = sizeof(sync_options), .program = PROG, .version = 1};
static const struct rpcrdma_gss_options gss_options = {.size = sizeof(gss_options),
                                                       .principal = "nfs@localhost"};
static int place(const struct rpcrdma_call_info *a, struct iovec *ret, void **ret_token,
                 void *arg)
{
	return 0;
}

static void release(void *token, void *arg)
{
}

static const struct rpcrdma_place_options place_options = {
        .size = sizeof(place_options), .place = place, .release = release};

static void relay(struct rpcrdma_request *q, void *token, void *arg)
{
}

static const struct rpcrdma_relay_options relay_options = {
        .size = sizeof(relay_options), .call = relay};
/* A Call of procedure NULL. */
static const uint8_t null_call[40] = {[3] = 1, [11] = 2};
static const struct rpcrdma_piece null_piece = {null_call, sizeof(null_call), false};
static const struct rpcrdma_call_options message_options = {
        .size = sizeof(message_options),
        .args = &null_piece,
        .n_args = 1,
        .done = done};
static const struct rpcrdma_extension extension = {.size = sizeof(extension),
                                                   .name = "none"};

/* @least: up to the last member that must be given. */
#define UPTO(type, last)                                                               \
	(offsetof(struct type, last) + sizeof(((struct type *)0)->last))
#define TAKEN(use, type, least) #use, use, UPTO(type, least), sizeof(struct type)

static const struct taken {
	const char *name;
	int (*use)(const void *);
	size_t least, size;
	const void *full; /* NULL: all zero */
} taken[] = {
        {TAKEN(use_engine, rpcrdma_engine_options, size), NULL},
        {TAKEN(use_connect, rpcrdma_conn_options, size), NULL},
        {TAKEN(use_listen, rpcrdma_conn_options, size), NULL},
        {TAKEN(use_call, rpcrdma_call_options, arg), &call_options},
        {TAKEN(use_call_sync, rpcrdma_call_options, procedure), &sync_options},
        {TAKEN(use_gss, rpcrdma_gss_options, principal), &gss_options},
        {TAKEN(use_service_gss, rpcrdma_service_gss_options, size), NULL},
        {TAKEN(use_place, rpcrdma_place_options, release), &place_options},
        {TAKEN(use_relay, rpcrdma_relay_options, call), &relay_options},
        {TAKEN(use_call_message, rpcrdma_call_options, arg), &message_options},
        {TAKEN(use_hostauth, rpcrdma_hostauth_options, size), NULL},
        {TAKEN(use_extension_check, rpcrdma_extension, arg), &extension},
        {TAKEN(use_extension, rpcrdma_extension, arg), &extension},
        {TAKEN(use_client, rpcrdma_tirpc_options, size), NULL},
        {TAKEN(use_server, rpcrdma_tirpc_options, size), NULL},
        {TAKEN(use_conn_of_client, rpcrdma_conn_options, size), NULL},
        {TAKEN(use_conn_of_server, rpcrdma_conn_options, size), NULL},
};

/* Padding at the end would become a later version's member, and be anything. */
#define NO_PADDING(type, last)                                                         \
	_Static_assert(UPTO(type, last) == sizeof(struct type),                        \
	               #type " ends in padding")
NO_PADDING(rpcrdma_engine_options, spin_ns);
NO_PADDING(rpcrdma_conn_options, send_item_bytes);
NO_PADDING(rpcrdma_call_options, lend_results);
NO_PADDING(rpcrdma_gss_options, timeout_ns);
NO_PADDING(rpcrdma_service_gss_options, no_room_arg);
NO_PADDING(rpcrdma_hostauth_options, n_allow);
NO_PADDING(rpcrdma_extension, refused);
NO_PADDING(rpcrdma_place_options, arg);
NO_PADDING(rpcrdma_relay_options, arg);
NO_PADDING(rpcrdma_tirpc_options, reply_bytes);

/* The structure, of @present octets and then nothing, that says it has @size. */
static int use_sized(const struct taken *t, size_t present, size_t size, size_t poke)
{
	char *p = edge - present;
	int err;

	memset(p, 0, present);
	if (t->full)
		memcpy(p, t->full, present < t->size ? present : t->size);
	memcpy(p, &size, sizeof(size));
	if (poke)
		p[poke] = 1;
	err = t->use(p);
	run_until_idle();
	return err;
}

static void expect(const struct taken *t, int got, int want, size_t size)
{
	if (got != want)
		fail_msg("%s of %zu octets: %s, not %s", t->name, size, strerror(-got),
		         strerror(-want));
}

static void programs_of_an_older_header_go_on(void **state)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		for (size_t n = taken[i].least; n <= taken[i].size; n += 8)
			expect(&taken[i], use_sized(&taken[i], n, n, 0), 0, n);
}

static void what_must_be_given_is_missed(void **state)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		for (size_t n = 0; n < taken[i].least; n += 4)
			expect(&taken[i], use_sized(&taken[i], n < 8 ? 8 : n, n, 0),
			       -EINVAL, n);
}

static void programs_of_a_newer_header_go_on_without_its_members(void **state)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		const struct taken *t = &taken[i];

		for (size_t n = t->size + 8; n <= t->size + 64; n += 8) {
			expect(t, use_sized(t, n, n, 0), 0, n);
			expect(t, use_sized(t, n, n, n - 1), -E2BIG, n);
			expect(t, use_sized(t, n, n, t->size), -E2BIG, n);
		}
	}
}

static void a_size_that_cannot_be_is_not_believed(void **state)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		const struct taken *t = &taken[i];

		expect(t, use_sized(t, t->size, SIZE_MAX, 0), -E2BIG, SIZE_MAX);
		expect(t, use_sized(t, t->size, 4097, 0), -E2BIG, 4097);
	}
}

/* The last member of what an older program has. */
static void what_is_there_counts(void **state)
{
	struct rpcrdma_conn_options o = {.version = 9};
	const struct taken *t = &taken[1];
	struct taken with = *t;

	with.full = &o;
	expect(&with, use_sized(&with, 24, 24, 0), -EPROTONOSUPPORT, 24);
	expect(&with, use_sized(&with, 16, 16, 0), 0, 16);
}

/* -- what programs get ----------------------------------------------------- */

static void get_engine_stats(void *ret, size_t size)
{
	rpcrdma_engine_get_stats(engine, ret, size);
}

static void get_conn_stats(void *ret, size_t size)
{
	rpcrdma_conn_get_stats(conn, ret, size);
}

static void get_conn_info(void *ret, size_t size)
{
	rpcrdma_conn_get_info(conn, ret, size);
}

static void get_budget(void *ret, size_t size)
{
	rpcrdma_budget_get(ret, size);
}

static void get_proc_stats(void *ret, size_t size)
{
	assert_int_equal(rpcrdma_service_get_stats(service, PROG, 1, 0, ret, size), 0);
}

static void get_reply(void *ret, size_t size)
{
	assert_int_equal(rpcrdma_call_sync(NULL, NULL, NULL, 0, ret, size), -EINVAL);
}

static void get_gss_info(void *ret, size_t size)
{
	rpcrdma_gss_get_info(gss, ret, size);
}

static void get_tirpc_stats(void *ret, size_t size)
{
	assert_int_equal(rpcrdma_tirpc_get_stats(ret, size, NULL, 0), 0);
}

static void get_tirpc_transport(void *ret, size_t size)
{
	assert_int_equal(rpcrdma_tirpc_get_stats(NULL, 0, ret, size), 0);
}

/* rpcrdma_request_gss needs a KDC: see tests/gss. */
static const struct given {
	const char *name;
	void (*get)(void *, size_t);
	size_t size;
	bool varies; /* from one look to the next, if only in its padding */
} given[] = {
        {"engine_stats", get_engine_stats, sizeof(struct rpcrdma_stats), false},
        {"conn_stats", get_conn_stats, sizeof(struct rpcrdma_stats), false},
        {"conn_info", get_conn_info, sizeof(struct rpcrdma_conn_info), true},
        {"budget", get_budget, sizeof(struct rpcrdma_budget), true},
        {"service_stats", get_proc_stats, sizeof(struct rpcrdma_proc_stats), false},
        {"call_sync", get_reply, sizeof(struct rpcrdma_reply), false},
        {"gss_info", get_gss_info, sizeof(struct rpcrdma_gss_info), false},
        {"tirpc_stats", get_tirpc_stats, sizeof(struct rpcrdma_tirpc_stats), false},
        {"tirpc_transport", get_tirpc_transport, sizeof(struct rpcrdma_stats), true},
};

static void as_much_is_written_as_the_program_has(void **state)
{
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++) {
		const struct given *g = &given[i];
		char *all = calloc(1, g->size);

		assert_non_null(all);
		g->get(all, g->size);
		for (size_t n = 0; n <= g->size; n += 4) {
			char *p = edge - n;

			memset(p - 8, 0xa5, n + 8);
			g->get(p, n);
			for (size_t k = 1; k <= 8; k++)
				assert_int_equal((uint8_t)p[-(ptrdiff_t)k], 0xa5);
			if (!g->varies && memcmp(p, all, n) != 0)
				fail_msg("%s of %zu octets", g->name, n);
		}
		free(all);
	}
}

static void members_that_the_library_lacks_are_zero(void **state)
{
	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		for (size_t more = 8; more <= 64; more += 8) {
			size_t n = given[i].size + more;

			memset(edge - n, 0xa5, n);
			given[i].get(edge - n, n);
			for (size_t k = 1; k <= more; k++)
				assert_int_equal(edge[-(ptrdiff_t)k], 0);
		}
}

/* -- life ------------------------------------------------------------------ */

static const struct rpcrdma_procedure procs[1] = {{.name = "NULL"}};
static const struct rpcrdma_program program = {PROG, 1, procs, 1};

static int set_up(void **state)
{
	char *room = mmap(NULL, ROOM + 4096, PROT_READ | PROT_WRITE,
	                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(room, MAP_FAILED);
	edge = room + ROOM;
	assert_int_equal(mprotect(edge, 4096, PROT_NONE), 0);
	setenv("KRB5_KTNAME", "FILE:/nonexistent/keytab", 1);
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	assert_int_equal(rpcrdma_service_add(service, &program, NULL), 0);
	xprt = svc_rdma_create("127.0.0.1:0", NULL); /* so that there are statistics */
	assert_non_null(xprt);
	return 0;
}

static int open_conn(void **state)
{
	conn = new_conn();
	assert_int_equal(rpcrdma_gss_new(conn, &gss_options, &gss), 0);
	return 0;
}

static int close_conn(void **state)
{
	rpcrdma_gss_free(gss);
	rpcrdma_conn_close(conn);
	run_until_idle();
	return 0;
}

static int tear_down(void **state)
{
	svc_destroy(xprt);
	rpcrdma_engine_free(engine);
	rpcrdma_service_free(service);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(programs_of_an_older_header_go_on),
	        cmocka_unit_test(what_must_be_given_is_missed),
	        cmocka_unit_test(programs_of_a_newer_header_go_on_without_its_members),
	        cmocka_unit_test(a_size_that_cannot_be_is_not_believed),
	        cmocka_unit_test(what_is_there_counts),
	        cmocka_unit_test_setup_teardown(as_much_is_written_as_the_program_has,
	                                        open_conn, close_conn),
	        cmocka_unit_test_setup_teardown(members_that_the_library_lacks_are_zero,
	                                        open_conn, close_conn),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
