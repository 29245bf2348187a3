/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The world refuses: every allocation of a conversation fails in turn, then every
 * system call of the provider and of the loop.
 *
 * The conversation has both ends in one process, over software iWARP: calls of
 * every format both ways, some of them to be executed once, a lost connection, an
 * orderly end.  Whatever fails, each call that was taken ends once, in bounded
 * time; what is said to have succeeded has the octets that both sides compute by
 * themselves; all memory comes back; and what is tried without faults right after
 * succeeds.  [v2 §4.5.5; V2-4.5.5-01]
 *
 * With a KDC (tests/gss/with_kdc.sh) the same conversation is under RPCSEC_GSS, and
 * each function of GSS-API fails in turn too.
 *
 * The linker puts the functions below in front of the real ones.
 */
#include "test_mixed_calls.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <gssapi/gssapi_ext.h>
#include <pthread.h>

#include <rpcrdma/gss.h>

#include "prov/iwarp/sock.h"
#include "test_memory.h"

enum { HANG_MS = 30000 }; /* a loaded machine is slow, not hung */

static struct fault calls, peers;
static unsigned long at_event; /* for messages */

/* -- system calls ---------------------------------------------------------------- */

static size_t most_octets; /* a read or write moves; 0: any */
static unsigned storm;     /* of so many reads and writes one is made */
static unsigned long n_storm, n_pauses;

#define WRAP(ret, name, params, args, error)                                           \
	ret __real_##name params;                                                      \
	ret __wrap_##name params;                                                      \
	ret __wrap_##name params                                                       \
	{                                                                              \
		return fault_hit(&calls) ? (error) : __real_##name args;               \
	}

WRAP(int, rr_sock_connect,
     (const struct sockaddr *sa, socklen_t l, const struct rr_sock_opts *o, int *fd),
     (sa, l, o, fd), -ENETUNREACH)
WRAP(int, rr_sock_connected, (int fd), (fd), -ECONNREFUSED)
WRAP(int, rr_sock_listen,
     (const struct sockaddr *sa, socklen_t l, struct sockaddr_storage *a, int *fd),
     (sa, l, a, fd), -EADDRINUSE)
WRAP(int, rr_sock_accept, (int fd, const struct rr_sock_opts *o, int *ret),
     (fd, o, ret), (n_pauses++, -EMFILE))
WRAP(int, rr_sock_local, (int fd, struct sockaddr_storage *sa), (fd, sa), -ENOTCONN)
WRAP(int, rr_sock_random, (void *p, size_t n), (p, n), -EIO)

static int refused(int error)
{
	errno = error;
	return -1;
}

WRAP(int, eventfd, (unsigned n, int flags), (n, flags), refused(EMFILE))
WRAP(int, epoll_create1, (int flags), (flags), refused(EMFILE))
WRAP(int, poll, (struct pollfd * p, nfds_t n, int ms), (p, n, ms), refused(EINTR))
WRAP(int, epoll_wait, (int fd, struct epoll_event *v, int n, int ms), (fd, v, n, ms),
     refused(EINTR))

int __real_epoll_ctl(int fd, int op, int on, struct epoll_event *ev);
int __wrap_epoll_ctl(int fd, int op, int on, struct epoll_event *ev);
int __wrap_epoll_ctl(int fd, int op, int on, struct epoll_event *ev)
{
	/* The kernel needs memory to add only. */
	if (op == EPOLL_CTL_ADD && fault_hit(&calls))
		return refused(ENOSPC);
	return __real_epoll_ctl(fd, op, on, ev);
}

int __real_rr_sock_peer(int fd, struct sockaddr_storage *sa);
int __wrap_rr_sock_peer(int fd, struct sockaddr_storage *sa);
int __wrap_rr_sock_peer(int fd, struct sockaddr_storage *sa)
{
	bool gone = fault_hit(&peers);

	return fault_hit(&calls) || gone ? -ENOTCONN : __real_rr_sock_peer(fd, sa);
}

/* -- GSS-API, and what comes with it ----------------------------------------------- */

static struct fault gss;

#define GSS(name, params, args)                                                        \
	OM_uint32 __real_gss_##name params;                                            \
	OM_uint32 __wrap_gss_##name params;                                            \
	OM_uint32 __wrap_gss_##name params                                             \
	{                                                                              \
		if (!fault_hit(&gss))                                                  \
			return __real_gss_##name args;                                 \
		*minor = 0;                                                            \
		return GSS_S_FAILURE;                                                  \
	}

GSS(get_mic,
    (OM_uint32 * minor, gss_ctx_id_t id, gss_qop_t qop, gss_buffer_t in,
     gss_buffer_t mic),
    (minor, id, qop, in, mic))
GSS(verify_mic,
    (OM_uint32 * minor, gss_ctx_id_t id, gss_buffer_t in, gss_buffer_t mic,
     gss_qop_t *qop),
    (minor, id, in, mic, qop))
GSS(wrap,
    (OM_uint32 * minor, gss_ctx_id_t id, int conf, gss_qop_t qop, gss_buffer_t in,
     int *state, gss_buffer_t out),
    (minor, id, conf, qop, in, state, out))
GSS(unwrap,
    (OM_uint32 * minor, gss_ctx_id_t id, gss_buffer_t in, gss_buffer_t out, int *state,
     gss_qop_t *qop),
    (minor, id, in, out, state, qop))
GSS(import_name, (OM_uint32 * minor, gss_buffer_t text, gss_OID type, gss_name_t *name),
    (minor, text, type, name))
GSS(display_name,
    (OM_uint32 * minor, gss_name_t name, gss_buffer_t text, gss_OID *type),
    (minor, name, text, type))
GSS(display_status,
    (OM_uint32 * minor, OM_uint32 status, int type, gss_OID mech, OM_uint32 *more,
     gss_buffer_t text),
    (minor, status, type, mech, more, text))
GSS(inquire_context,
    (OM_uint32 * minor, gss_ctx_id_t id, gss_name_t *from, gss_name_t *to,
     OM_uint32 *seconds, gss_OID *mech, OM_uint32 *flags, int *ours, int *open),
    (minor, id, from, to, seconds, mech, flags, ours, open))
GSS(pname_to_uid, (OM_uint32 * minor, gss_name_t name, gss_OID mech, uid_t *uid),
    (minor, name, mech, uid))
GSS(acquire_cred,
    (OM_uint32 * minor, gss_name_t name, OM_uint32 seconds, gss_OID_set mechs,
     gss_cred_usage_t usage, gss_cred_id_t *cred, gss_OID_set *ret, OM_uint32 *left),
    (minor, name, seconds, mechs, usage, cred, ret, left))
GSS(init_sec_context,
    (OM_uint32 * minor, gss_cred_id_t cred, gss_ctx_id_t *id, gss_name_t name,
     gss_OID mech, OM_uint32 flags, OM_uint32 want, gss_channel_bindings_t cb,
     gss_buffer_t in, gss_OID *ret, gss_buffer_t out, OM_uint32 *ret_flags,
     OM_uint32 *seconds),
    (minor, cred, id, name, mech, flags, want, cb, in, ret, out, ret_flags, seconds))
GSS(accept_sec_context,
    (OM_uint32 * minor, gss_ctx_id_t *id, gss_cred_id_t cred, gss_buffer_t in,
     gss_channel_bindings_t cb, gss_name_t *name, gss_OID *mech, gss_buffer_t out,
     OM_uint32 *flags, OM_uint32 *seconds, gss_cred_id_t *deleg),
    (minor, id, cred, in, cb, name, mech, out, flags, seconds, deleg))

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                          void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *),
                          void *);
int __wrap_pthread_create(pthread_t *ret, const pthread_attr_t *a, void *(*fn)(void *),
                          void *arg)
{
	return fault_hit(&gss) ? EAGAIN : __real_pthread_create(ret, a, fn, arg);
}

ssize_t __real_rr_sock_writev(int fd, const struct iovec *v, unsigned n);
ssize_t __wrap_rr_sock_writev(int fd, const struct iovec *v, unsigned n);
ssize_t __real_rr_sock_readv(int fd, const struct iovec *v, unsigned n);
ssize_t __wrap_rr_sock_readv(int fd, const struct iovec *v, unsigned n);

/* Scattered: in step with the loop one end would never get through. */
static bool stormy(void)
{
	return storm && ((uint32_t)++n_storm * 2654435761u >> 12) % storm;
}

/* The first piece that has octets, cut short. */
static struct iovec shortened(const struct iovec *v, unsigned n)
{
	while (n > 1 && !v->iov_len) {
		v++;
		n--;
	}
	return (struct iovec){v->iov_base,
	                      v->iov_len < most_octets ? v->iov_len : most_octets};
}

ssize_t __wrap_rr_sock_writev(int fd, const struct iovec *v, unsigned n)
{
	struct iovec one;

	if (fault_hit(&calls))
		return calls.n % 2 ? -ECONNRESET : -EPIPE;
	if (stormy())
		return -EAGAIN;
	if (!most_octets)
		return __real_rr_sock_writev(fd, v, n);
	one = shortened(v, n);
	return __real_rr_sock_writev(fd, &one, 1);
}

ssize_t __wrap_rr_sock_readv(int fd, const struct iovec *v, unsigned n)
{
	struct iovec one;

	if (fault_hit(&calls))
		return calls.n % 3 ? -ECONNRESET : -ETIMEDOUT;
	if (stormy())
		return -EAGAIN;
	if (!most_octets)
		return __real_rr_sock_readv(fd, v, n);
	one = shortened(v, n);
	return __real_rr_sock_readv(fd, &one, 1);
}

/* -- the conversation ------------------------------------------------------------ */

static void stuck(const char *what)
{
	for (unsigned i = 0; i < mixed.n_calls; i++)
		if (!mixed_calls[i].done)
			print_error("call %u has not ended\n", i);
	fail_msg("%s: a hang, fault at event %lu", what, at_event);
}

/* Each call ends, in bounded time. */
static void finish(void)
{
	uint64_t end = now_ms() + HANG_MS;

	while (mixed.n_done < mixed.n_calls) {
		assert_int_equal(rpcrdma_engine_process(mixed.engine, 20), 0);
		if (now_ms() > end)
			stuck("calls");
	}
}

static const struct shape shapes[] = {
        {16, 16, false, false, false},  {BIG, 0, true, false, false},
        {0, BIG, false, true, false},   {9000, 0, false, false, false},
        {0, 9000, false, false, false}, {60000, 16, false, false, true},
        {16, BIG, false, false, false}, {70001, 70002, true, true, false},
};

static void burst(struct rpcrdma_conn *c, uint32_t proc, unsigned each)
{
	if (!c)
		return;
	for (unsigned k = 0; k < each; k++)
		for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
			mixed_begin(c, proc, shapes[i]);
	finish();
}

static enum rpcrdma_gss_service service; /* 0: AUTH_NONE */

static int server_gss(void)
{
	struct rpcrdma_service_gss_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_service_gss_options);

	return service ? rpcrdma_service_set_gss(mixed.service, &o) : 0;
}

static int client_gss(void)
{
	struct rpcrdma_gss_options o = RPCRDMA_OPTIONS(struct rpcrdma_gss_options);

	o.principal = "nfs@localhost";
	o.service = service;
	o.program = PROG;
	o.version = VERS;
	return rpcrdma_gss_new(mixed.conn, &o, &mixed.gss);
}

static int set_up(void)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;
	char port[16];
	int err;

	o.reconnect_min_ns = 2 * MS;
	o.reconnect_max_ns = 8 * MS;
	o.handshake_ns = 400ull * MS;
	o.first_answer_ns = 400ull * MS;
	o.retry_ns = 700ull * MS;
	o.version_cache_ns = 1; /* no conversation learns from another */
	o.callbacks = mixed.callbacks;
	err = rpcrdma_listen(mixed.engine, "127.0.0.1:0", &o, mixed.service, 8,
	                     &mixed.listener);
	if (err)
		return err;
	assert_int_equal(rpcrdma_listener_addr(mixed.listener, &sa), 0);
	mixed.port = ntohs(((struct sockaddr_in *)&sa)->sin_port);
	snprintf(port, sizeof(port), "%u", mixed.port);
	err = rpcrdma_connect(mixed.engine, "127.0.0.1", port, &o, NULL, NULL,
	                      &mixed.conn);
	return err || !service ? err : client_gss();
}

static int foundations(void)
{
	int err = rpcrdma_engine_new(NULL, &mixed.engine);

	if (!err)
		err = rpcrdma_service_new(&mixed.service);
	if (!err)
		err = rpcrdma_service_new(&mixed.callbacks);
	if (!err)
		err = rpcrdma_service_add(mixed.service, &mixed_program, NULL);
	if (!err)
		err = rpcrdma_service_add(mixed.callbacks, &mixed_program, NULL);
	if (!err)
		err = server_gss();
	return err;
}

/* The network takes all that goes to the server. */
static void cut(void)
{
	struct sockaddr_in sa;

	for (int fd = 3; fd < 64; fd++) {
		socklen_t len = sizeof(sa);

		if (getpeername(fd, (struct sockaddr *)&sa, &len) == 0 &&
		    sa.sin_family == AF_INET && ntohs(sa.sin_port) == mixed.port)
			(void)shutdown(fd, SHUT_RDWR); /* gone is as good */
	}
}

static void end(void)
{
	uint64_t limit = now_ms() + HANG_MS;

	mixed.ending = true;
	rpcrdma_gss_free(mixed.gss);
	rpcrdma_conn_close(mixed.back);
	rpcrdma_conn_close(mixed.conn);
	rpcrdma_listener_close(mixed.listener, 20ull * MS);
	while (mixed.engine && !rpcrdma_engine_idle(mixed.engine)) {
		assert_int_equal(rpcrdma_engine_process(mixed.engine, 10), 0);
		if (now_ms() > limit)
			stuck("the end");
	}
	rpcrdma_engine_free(mixed.engine);
	rpcrdma_service_free(mixed.service);
	rpcrdma_service_free(mixed.callbacks);
	for (unsigned i = 0; i < mixed.n_calls; i++)
		assert_int_equal(mixed_calls[i].done, 1);
}

/* @faults: how many may happen; many: what times out may. */
static void talk(unsigned long faults)
{
	bool small = mixed.small;

	for (size_t i = 0; i < BIG; i++)
		mixed_octets[i] = mixed_pattern(i);
	memset(&mixed, 0, sizeof(mixed));
	mixed.small = small;
	mixed.retry_ns = 300ull * MS;
	mixed.timeout_ns = (faults > 20 ? 200ull : HANG_MS / 2ull) * MS;
	if (foundations() || set_up()) {
		assert_true(faults > 0);
	} else {
		burst(mixed.conn, P_WORK, small ? 1 : 5);
		mixed_begin(mixed.conn, P_BIND, (struct shape){0});
		finish();
		if (mixed.back)
			burst(mixed.back, P_WORK, 1);
		mixed.reversed = mixed.n_done;
		cut();
		burst(mixed.conn, P_ONCE, small ? 1 : 2);
		mixed_begin(mixed.conn, P_BIND, (struct shape){0});
		mixed_begin(mixed.conn, P_WORK, shapes[2]);
	}
	end(); /* with calls under way */
	for (unsigned i = 0; faults <= 20 && i < mixed.n_calls; i++)
		if (mixed_calls[i].status == -ETIMEDOUT)
			fail_msg("call %u was forgotten, fault at event %lu", i,
			         at_event);
}

/* -- runs ------------------------------------------------------------------------ */

static void none(struct fault *f)
{
	*f = (struct fault){0};
}

/* A thread that sets up a context may outlive its engine by a while. */
static bool all_back(long before)
{
	uint64_t limit = now_ms() + HANG_MS;

	while (live_blocks != before && now_ms() < limit)
		(void)usleep(1000);
	return live_blocks == before;
}

/* One conversation with @f from the @from-th on, then one without; how many
 * events the first had. */
static unsigned long try(struct fault *f, unsigned long from, unsigned long len)
{
	long before = live_blocks;
	unsigned long n;

	*f = (struct fault){.on = true, .from = from, .len = len};
	talk(len);
	n = f->n;
	none(f);
	if (!all_back(before))
		fail_msg("%ld blocks are left, with %lu faults from event %lu on",
		         live_blocks - before, len, from);
	return n;
}

/* Nothing failed: all must have succeeded. */
static void undisturbed(void)
{
	long before = live_blocks;

	talk(0);
	assert_int_equal(mixed.failed, 0);
	assert_int_equal(mixed.succeeded + mixed.cancelled, mixed.wanted);
	assert_in_range(mixed.cancelled, 0, 2);
	assert_true(all_back(before));
}

/* All of the first @dense, then every @stride-th; @len in a row. */
static void sweep(struct fault *f, unsigned long dense, unsigned long stride,
                  unsigned long len)
{
	unsigned long runs = 0;

	for (at_event = 1; try(f, at_event, len) >= at_event; runs++) {
		if (runs % 16 == 0)
			undisturbed();
		at_event += at_event < dense ? 1 : stride;
	}
	undisturbed();
	assert_true(runs > 10);
}

/* V2-4.5.5-01: nothing is wrong with the conversation itself. */
static void nothing_fails(void **state)
{
	undisturbed();
	undisturbed();
	assert_true(mixed.reversed > 0);
	assert_true(mixed.succeeded > 60);
}

static void nothing_fails_under_gss(void **state)
{
	undisturbed();
	undisturbed();
	assert_true(mixed.reversed > 0);
	assert_true(mixed.succeeded > 20);
}

static void each_allocation_fails(void **state)
{
	sweep(&fault_memory, 60, 4, 1);
}

static void allocations_fail_in_a_row(void **state)
{
	sweep(&fault_memory, 0, 17, 12);
}

static void all_allocations_fail_from_there_on(void **state)
{
	sweep(&fault_memory, 0, 37, 1ul << 40);
}

static void each_system_call_fails(void **state)
{
	sweep(&calls, 60, 5, 1);
}

static void system_calls_fail_in_a_row(void **state)
{
	sweep(&calls, 0, 5, 5);
}

static void never(void *arg)
{
}

/* With @n timers of the user's running, memory goes and a call is cancelled. */
static void cancel_beside_timers(unsigned n)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_call_options c = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_call *call;

	memset(&mixed, 0, sizeof(mixed));
	mixed.ending = true;
	mixed_calls[0] = (struct mixed_call){.wanted = true};
	c.done = mixed_on_done;
	c.arg = &mixed_calls[0];
	o.reconnect_min_ns = o.reconnect_max_ns = 1000ull * MS;
	assert_int_equal(rpcrdma_engine_new(NULL, &mixed.engine), 0);
	assert_int_equal(rpcrdma_connect(mixed.engine, "127.0.0.1", "1", &o, NULL, NULL,
	                                 &mixed.conn),
	                 0);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rpcrdma_engine_process(mixed.engine, 1), 0);
	assert_int_equal(rpcrdma_call(mixed.conn, &c, &call), 0);
	for (unsigned i = 0; i < n; i++)
		assert_int_equal(rpcrdma_timer_start(mixed.engine, 3600000ull * MS,
		                                     never, NULL, NULL),
		                 0);
	fault_memory = (struct fault){.on = true, .from = 1, .len = 1ul << 40};
	rpcrdma_call_cancel(call);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(rpcrdma_engine_process(mixed.engine, 1), 0);
	none(&fault_memory);
	if (mixed.cancelled != 1)
		fail_msg("a call has not ended, beside %u timers", n);
	rpcrdma_conn_close(mixed.conn);
	rpcrdma_engine_free(mixed.engine);
}

/* However full the engine's timers are: an end takes no memory. */
static void ends_take_no_memory(void **state)
{
	long before = live_blocks;

	for (unsigned n = 0; n < 70; n++)
		cancel_beside_timers(n);
	assert_int_equal(live_blocks, before);
}

/* Calls to be executed once cannot be known again: they are not left hanging. */
static void callers_have_no_address(void **state)
{
	for (at_event = 1; at_event <= 2; at_event++) {
		assert_true(try(&peers, at_event, 1) >= at_event);
		assert_int_equal(mixed.failed, 0);
	}
	undisturbed();
}

/* Only the first octet of what could be moved is. */
static void octets_move_one_by_one(void **state)
{
	most_octets = 1;
	mixed.small = true;
	undisturbed();
	most_octets = 0;
	mixed.small = false;
}

static void descriptors_say_again_and_again(void **state)
{
	storm = 10;
	undisturbed();
	assert_true(n_storm > 1000);
	storm = 0;
}

/* -- the same under RPCSEC_GSS --------------------------------------------- */

static int krb5(void **state)
{
	service = RPCRDMA_GSS_KRB5;
	mixed.small = true;
	return 0;
}

static int krb5i(void **state)
{
	service = RPCRDMA_GSS_KRB5I;
	mixed.small = true;
	return 0;
}

static int krb5p(void **state)
{
	service = RPCRDMA_GSS_KRB5P;
	mixed.small = true;
	return 0;
}

static void allocations_fail_here_and_there(void **state)
{
	sweep(&fault_memory, 0, 7, 1);
}

static void each_call_of_gss_api_fails(void **state)
{
	sweep(&gss, 40, 3, 1);
}

static void calls_of_gss_api_fail_in_a_row(void **state)
{
	sweep(&gss, 0, 7, 6);
}

static void all_calls_of_gss_api_fail_from_there_on(void **state)
{
	sweep(&gss, 0, 11, 1ul << 40);
}

static int with_kdc(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_setup(nothing_fails_under_gss, krb5),
	        cmocka_unit_test_setup(nothing_fails_under_gss, krb5i),
	        cmocka_unit_test_setup(nothing_fails_under_gss, krb5p),
	        cmocka_unit_test_setup(allocations_fail_here_and_there, krb5),
	        cmocka_unit_test_setup(allocations_fail_here_and_there, krb5i),
	        cmocka_unit_test_setup(allocations_fail_here_and_there, krb5p),
	        cmocka_unit_test_setup(allocations_fail_in_a_row, krb5p),
	        cmocka_unit_test_setup(all_allocations_fail_from_there_on, krb5p),
	        cmocka_unit_test_setup(each_call_of_gss_api_fails, krb5),
	        cmocka_unit_test_setup(each_call_of_gss_api_fails, krb5i),
	        cmocka_unit_test_setup(each_call_of_gss_api_fails, krb5p),
	        cmocka_unit_test_setup(calls_of_gss_api_fail_in_a_row, krb5p),
	        cmocka_unit_test_setup(all_calls_of_gss_api_fail_from_there_on, krb5p),
	};

	return cmocka_run_group_tests_name("faults_gss", tests, NULL, NULL);
}

/* A name, with *, chooses tests. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(nothing_fails),
	        cmocka_unit_test(each_allocation_fails),
	        cmocka_unit_test(allocations_fail_in_a_row),
	        cmocka_unit_test(all_allocations_fail_from_there_on),
	        cmocka_unit_test(each_system_call_fails),
	        cmocka_unit_test(system_calls_fail_in_a_row),
	        cmocka_unit_test(ends_take_no_memory),
	        cmocka_unit_test(callers_have_no_address),
	        cmocka_unit_test(octets_move_one_by_one),
	        cmocka_unit_test(descriptors_say_again_and_again),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (getenv("KDC_DIR"))
		return with_kdc();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
