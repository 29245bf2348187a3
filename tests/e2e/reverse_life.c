/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a server's object for calls to a client: connections that are
 * lost and come back, moves to another one, and ends in any order.
 */
#include <netinet/tcp.h>

#include "reverse_rig.h"

/* -- loss ------------------------------------------------------------------ */

/* V2-4.5.5-03, -05: sent again, under its old XID, when the client has said that
 * it is back; the client comes back without traffic of its own. */
static void calls_wait_for_the_client_and_keep_their_xid(void **state)
{
	struct rpcrdma_stats st;
	struct wait x, y;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	cut();
	spin_until(&w.ups, 2);
	o = call_to(P_PARK, &y); /* made meanwhile: waits as well */
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_for(50);
	assert_int_equal(w.client.n_parked, 1); /* nobody said who came */
	bind_over(w.conn);
	assert_int_equal(w.bind_status, 0);
	spin_until(&w.client.n_parked, 3);
	assert_int_equal(w.client.xids[1], w.client.xids[0]);
	assert_true(w.client.xids[2] != w.client.xids[0]);
	assert_int_equal(x.done + y.done, 0);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	spin_until(&y.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(y.status, 0);
	assert_int_equal(x.reply.xid, w.client.xids[0]);
	rpcrdma_conn_get_stats(w.back, &st, sizeof(st));
	assert_int_equal(st.retransmits, 1);
}

/* V2-4.5.5-04 */
static void a_client_that_stays_away_is_given_up(void **state)
{
	struct wait x, y;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);
	uint64_t begin;

	w.retry_ns = 80 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	answer_parked(&w.client); /* too late */
	begin = now_ns();
	spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 60 * MS);
	o = call_to(P_NULL, &y); /* another chance, as long again */
	begin = now_ns();
	assert_int_equal(run(w.back, &o, &y), -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 60 * MS);
	connect_client(&w.conn); /* and a client after all */
	bind_over(w.conn);
	assert_int_equal(w.bind_status, 0);
	o = call_to(P_NULL, &y);
	assert_int_equal(run(w.back, &o, &y), 0);
}

/* Each waits as long, whenever others began to; and in the end its own timeout counts,
 * if that comes first. */
static void each_waiting_call_has_its_own_time(void **state)
{
	struct wait x, y, z;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);
	uint64_t begin, y_begin;

	w.retry_ns = 500 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	begin = now_ns();
	spin_for(300);
	o = call_to(P_NULL, &y);
	y_begin = now_ns();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	o = call_to(P_NULL, &z);
	o.timeout_ns = 450 * MS;
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 480 * MS);
	spin_until(&z.done, 1);
	assert_int_equal(z.status, -ETIMEDOUT);
	assert_true(now_ns() - y_begin >= 430 * MS);
	spin_until(&y.done, 1);
	assert_int_equal(y.status, -EHOSTUNREACH);
	assert_true(now_ns() - y_begin >= 480 * MS);
}

/* A client that comes back stops the time of all that wait, and they are sent in the
 * order in which they were made. */
static void calls_that_a_client_came_back_for_wait_no_longer(void **state)
{
	struct wait x[3];
	struct rpcrdma_call_options o;

	w.retry_ns = 1500 * MS;
	start();
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin_for(30);
	for (unsigned i = 0; i < 3; i++) {
		o = call_to(P_PARK, &x[i]);
		assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	}
	connect_client(&w.conn);
	bind_over(w.conn);
	spin_until(&w.client.n_parked, 3);
	assert_int_equal(w.client.xids[1], w.client.xids[0] + 1);
	assert_int_equal(w.client.xids[2], w.client.xids[0] + 2);
	spin_for(1600);
	assert_int_equal(x[0].done + x[1].done + x[2].done, 0);
	answer_parked(&w.client);
	for (unsigned i = 0; i < 3; i++) {
		spin_until(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
}

/* The wait is for one absence, not a sum over all. */
static void each_loss_begins_the_wait_anew(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);
	uint64_t begin;

	w.retry_ns = 800 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	cut();
	spin_until(&w.ups, 2);
	spin_for(450);
	assert_int_equal(x.done, 0);
	bind_over(w.conn);
	spin_until(&w.client.n_parked, 2);
	cut();
	begin = now_ns();
	spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 720 * MS);
}

/* A call has its own limit, with or without a connection. */
static void waiting_calls_time_out_and_are_cancelled(void **state)
{
	struct rpcrdma_call *k;
	struct wait x, y;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	o.timeout_ns = 30 * MS;
	assert_int_equal(run(w.back, &o, &x), -ETIMEDOUT);
	assert_int_equal(w.client.n_parked, 1);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin_for(30);
	o = call_to(P_PARK, &x);
	o.timeout_ns = 30 * MS;
	assert_int_equal(run(w.back, &o, &x), -ETIMEDOUT);
	o = call_to(P_PARK, &y);
	assert_int_equal(rpcrdma_call(w.back, &o, &k), 0);
	rpcrdma_call_cancel(k);
	assert_int_equal(y.done, 0);
	spin_until(&y.done, 1);
	assert_int_equal(y.status, -ECANCELED);
	assert_int_equal(w.client.n_parked, 1);
}

/* A handler that holds a Call does not keep the client from its next connection,
 * on which that handler may depend. */
static void a_held_callback_does_not_delay_the_next_connection(void **state)
{
	struct wait x, y;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	for (unsigned i = 0; i < 3; i++) {
		cut();
		spin_until(&w.downs, i + 1);
		spin_until(&w.ups, i + 2);
		o = call_to(P_NULL, &y);
		assert_int_equal(run(w.conn, &o, &y), 0);
	}
	bind_over(w.conn);
	spin_until(&w.client.n_parked, 2);
	answer_parked(&w.client); /* the first answer goes nowhere */
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(w.client.executed, 0);
}

/* Nor does a request that the server's handler holds: it may wait for that very
 * call, as one that must recall something first does.  V2-4.5.5-04 */
static void a_held_request_does_not_keep_calls_from_ending(void **state)
{
	struct wait x, y, z;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	w.retry_ns = 80 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.server.n_parked, 1);
	o = call_to(P_PARK, &y);
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	answer_parked(&w.client); /* too late */
	o = call_to(P_NULL, &z);
	o.timeout_ns = 0;
	spin_until(&y.done, 1);
	assert_int_equal(y.status, -EHOSTUNREACH);
	assert_int_equal(run(w.back, &o, &z), -EHOSTUNREACH);
	assert_int_equal(w.server.n_parked, 1);
}

/* A server that calls, hangs up and calls again fills no memory: in the end the
 * client waits for its handlers. */
static void a_server_that_keeps_hanging_up_is_waited_for(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;
	struct rpcrdma_call *k;

	start();
	for (unsigned i = 1; i <= 8; i++) { /* one call would be given up */
		o = call_to(P_PARK, &x);
		assert_int_equal(rpcrdma_call(w.back, &o, &k), 0);
		spin_until(&w.client.n_parked, i);
		cut();
		spin_until(&w.ups, i + 1);
		rpcrdma_call_cancel(k);
		spin_until(&x.done, 1);
		bind_over(w.conn);
	}
	o = call_to(P_PARK, &x);
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 9);
	cut();
	spin_for(200);
	assert_int_equal(w.ups, 9);
	answer_parked(&w.client); /* all too late */
	spin_until(&w.ups, 10);
	bind_over(w.conn);
	spin_until(&w.client.n_parked, 1);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* The client closes while a callback of its is being executed. */
static void a_client_may_close_under_a_callback(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	w.retry_ns = 50 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_false(rpcrdma_engine_idle(w.engine)); /* the request lives */
	answer_parked(&w.client);
	spin_for(20);
}

static void h_close(struct rpcrdma_request *q, void *arg)
{
	rpcrdma_conn_close(arg == &w.client ? w.conn : w.back);
	if (arg == &w.client)
		w.conn = NULL;
	else
		w.back = NULL;
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure close_procs[] = {
        {"CLOSE", h_close, 0, 0, 0, false}};
static const struct rpcrdma_program close_program = {PROG, 3, close_procs, 1};

/* Each end's handler closes the object that its caller waits for. */
static void handlers_may_close_what_they_are_served_by(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;

	assert_int_equal(rpcrdma_service_add(w.service, &close_program, &w.server), 0);
	assert_int_equal(rpcrdma_service_add(w.callbacks, &close_program, &w.client),
	                 0);
	w.retry_ns = 50 * MS;
	start();
	o = call_to(0, &x);
	o.version = 3;
	assert_int_equal(run(w.conn, &o, &x), 0);
	assert_null(w.back);
	bind_over(w.conn);
	o = call_to(0, &x);
	o.version = 3;
	assert_int_equal(run(w.back, &o, &x), -EHOSTUNREACH);
	assert_null(w.conn);
}

/* -- rebinding ------------------------------------------------------------- */

/* New calls go to the connection named last; one that is out stays where it is
 * while that one lives. */
static void rebinding_moves_new_calls(void **state)
{
	struct rpcrdma_conn *second;
	struct rpcrdma_conn_info a, b;
	struct rpcrdma_call *other;
	struct wait x, y, z;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	o = call_to(P_PARK, &z);
	assert_int_equal(rpcrdma_call(w.back, &o, &other), 0);
	spin_until(&w.client.n_parked, 2);
	connect_client(&second);
	bind_over(second);
	assert_int_equal(w.bind_status, 0);
	rpcrdma_conn_get_info(second, &a, sizeof(a));
	rpcrdma_conn_get_info(w.back, &b, sizeof(b));
	assert_memory_equal(&b.peer, &a.local, sizeof(struct sockaddr_in));
	spin_for(20);
	assert_int_equal(w.client.n_parked, 2);
	o = call_to(P_NULL, &y);
	assert_int_equal(run(w.back, &o, &y), 0);
	rpcrdma_call_cancel(other); /* where it is, not where the object is */
	spin_until(&z.done, 1);
	assert_int_equal(z.status, -ECANCELED);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	bind_over(second); /* where it is already */
	assert_int_equal(w.bind_status, 0);
	rpcrdma_conn_close(w.conn);
	w.conn = second;
	spin_for(20);
	o = call_to(P_NULL, &y);
	assert_int_equal(run(w.back, &o, &y), 0);
}

/* The old connection goes after the move: its call follows. */
static void a_call_left_behind_follows_when_the_old_connection_ends(void **state)
{
	struct rpcrdma_conn *second;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	connect_client(&second);
	bind_over(second);
	rpcrdma_conn_close(w.conn);
	w.conn = second;
	spin_until(&w.client.n_parked, 2);
	assert_int_equal(w.client.xids[1], w.client.xids[0]);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* ... and if there is no newer one any more, it waits for its own time. */
static void a_call_left_behind_is_given_up_as_others_are(void **state)
{
	struct rpcrdma_conn *second;
	struct wait x, y;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	w.retry_ns = 50 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	connect_client(&second);
	bind_over(second);
	rpcrdma_conn_close(second);
	o = call_to(P_NULL, &y);
	while (run(w.back, &o, &y) != -EHOSTUNREACH)
		; /* until the server has noticed that the second is gone */
	assert_int_equal(x.done, 0);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
}

enum { MANY = 200, HOLD_VERS = 4 };
static struct rpcrdma_request *held[MANY];
static unsigned n_held;

static void h_hold(struct rpcrdma_request *q, void *arg)
{
	assert_true(n_held < MANY);
	held[n_held++] = q;
}

static void answer_held(void)
{
	while (n_held)
		assert_int_equal(
		        rpcrdma_request_reply(held[--n_held], NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure hold_procs[] = {{"HOLD", h_hold, 0, 0, 0, false}};
static const struct rpcrdma_program hold_program = {PROG, HOLD_VERS, hold_procs, 1};

/* However many stay behind: they have that connection to themselves. */
static void calls_left_behind_do_not_hold_up_others(void **state)
{
	static struct wait x[MANY];
	struct rpcrdma_conn *second;
	struct rpcrdma_call_options o;
	struct wait y;
	unsigned sent;

	n_held = 0;
	assert_int_equal(rpcrdma_service_add(w.callbacks, &hold_program, NULL), 0);
	start();
	for (unsigned i = 0; i < MANY; i++) {
		o = call_to(0, &x[i]);
		o.version = HOLD_VERS;
		assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	}
	spin_until(&n_held, 150);
	spin_for(50);
	sent = n_held; /* as many as go out at once */
	connect_client(&second);
	bind_over(second);
	spin_until(&n_held, MANY); /* the rest of them goes there */
	assert_true(sent < MANY);
	o = call_to(P_NULL, &y);
	o.timeout_ns = 2000ull * MS;
	assert_int_equal(run(w.back, &o, &y), 0);
	bind_over(w.conn); /* there and back */
	answer_held();
	for (unsigned i = 0; i < MANY; i++) {
		spin_until(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
	o = call_to(P_NULL, &y);
	assert_int_equal(run(w.back, &o, &y), 0);
	rpcrdma_conn_close(second);
}

static struct rpcrdma_conn *other_object;
static int misuse[4];

static void h_misuse(struct rpcrdma_request *q, void *arg)
{
	misuse[0] = rpcrdma_request_reverse(NULL, 0, &other_object);
	misuse[1] = rpcrdma_request_reverse(q, 0, NULL);
	misuse[2] = rpcrdma_conn_rebind(w.conn, q); /* a client's own */
	misuse[3] = arg == &w.client ? rpcrdma_request_reverse(q, 0, &other_object)
	                             : rpcrdma_conn_rebind(NULL, q);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure misuse_procs[] = {
        {"MISUSE", h_misuse, 0, 0, 0, false}};
static const struct rpcrdma_program misuse_program = {PROG, 2, misuse_procs, 1};

static void only_a_servers_requests_make_objects(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(0, &x);

	assert_int_equal(rpcrdma_service_add(w.service, &misuse_program, &w.server), 0);
	assert_int_equal(rpcrdma_service_add(w.callbacks, &misuse_program, &w.client),
	                 0);
	start();
	for (unsigned i = 0; i < 2; i++) {
		o = call_to(0, &x);
		o.version = 2;
		memset(misuse, 0, sizeof(misuse));
		assert_int_equal(run(i ? w.conn : w.back, &o, &x), 0);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(misuse[k], -EINVAL);
	}
}

/* Objects belong to an engine, and so do requests. */
static void objects_do_not_change_their_engine(void **state)
{
	struct rpcrdma_engine *mine = w.engine, *other;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_BIND, &x);

	start();
	listener = w.listener;
	conn = w.conn;
	assert_int_equal(rpcrdma_engine_new(NULL, &other), 0);
	w.engine = other;
	listen_at("127.0.0.1:0");
	connect_client(&w.conn);
	assert_int_equal(run(w.conn, &o, &x), 0);
	assert_int_equal(w.bind_status, -EXDEV);
	rpcrdma_engine_free(other);
	w.engine = mine;
	w.listener = listener;
	w.conn = conn;
	o = call_to(P_NULL, &x);
	assert_int_equal(run(w.back, &o, &x), 0);
}

/* A request whose connection is gone names no client any more. */
static void a_lost_request_makes_no_object(void **state)
{
	struct rpcrdma_conn *none;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.conn, &o, NULL), 0);
	spin_until(&w.server.n_parked, 1);
	cut();
	spin_until(&w.downs, 1);
	spin_until(&w.ups, 2);
	assert_int_equal(rpcrdma_request_reverse(w.server.parked[0], 0, &none),
	                 -ENOTCONN);
	assert_int_equal(rpcrdma_conn_rebind(w.back, w.server.parked[0]), -ENOTCONN);
	spin_until(&w.server.n_parked, 2);
	rpcrdma_listener_close(w.listener, 0); /* and one that is about to go */
	w.listener = NULL;
	assert_int_equal(rpcrdma_engine_process(w.engine, 0), 0);
	assert_int_equal(w.downs, 1);
	assert_int_equal(rpcrdma_request_reverse(w.server.parked[1], 0, &none),
	                 -ENOTCONN);
	rpcrdma_conn_close(w.conn);
	w.conn = NULL;
	spin_until(&x.done, 1);
}

/* -- ends ------------------------------------------------------------------ */

/* V2-4.5.5-05, seen from the server: idle, but in use. */
static void a_connection_in_use_is_not_closed_for_being_idle(void **state)
{
	uint64_t begin;

	w.listen_options.idle_ns = 40 * MS;
	start();
	spin_for(180); /* between two looks at the clock */
	assert_int_equal(w.downs, 0);
	rpcrdma_conn_close(w.back);
	w.back = NULL;
	begin = now_ns();
	spin_until(&w.downs, 1);
	assert_true(now_ns() - begin >= 36 * MS); /* idle since then */
}

/* Its object has moved to another connection, but the call has not: sent there as well
 * it would be executed twice. */
static void nor_is_one_with_a_call_out_whose_object_has_left(void **state)
{
	struct rpcrdma_conn *second;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	w.listen_options.idle_ns = 100 * MS;
	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	connect_client(&second);
	bind_over(second);
	spin_for(400);
	assert_int_equal(w.downs, 0);
	assert_int_equal(w.client.n_parked, 1);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	rpcrdma_conn_close(second);
}

static int option_of(int fd, int level, int name)
{
	int v = -1;
	socklen_t len = sizeof(v);

	assert_int_equal(getsockopt(fd, level, name, &v, &len), 0);
	return v;
}

/* One that does not even say that it is gone is noticed by TCP, which is looked at
 * and not waited for: within minutes, whether something is on its way or not. */
static void hosts_that_vanish_are_noticed(void **state)
{
	struct sockaddr_in sa;
	unsigned found = 0;

	start();
	for (int fd = 3; fd < 256; fd++) {
		socklen_t len = sizeof(sa);

		if (getpeername(fd, (struct sockaddr *)&sa, &len) ||
		    sa.sin_family != AF_INET)
			continue;
		found++;
		assert_int_equal(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
		assert_in_range(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE) +
		                        option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL) *
		                                option_of(fd, IPPROTO_TCP, TCP_KEEPCNT),
		                60, 180);
		assert_in_range(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 60000,
		                180000);
	}
	assert_int_equal(found, 2); /* both ends */
}

/* Calls out and calls waiting end with -ECANCELED, the connection lives on. */
static void closing_the_object_cancels_its_calls_only(void **state)
{
	struct rpcrdma_call *k;
	struct wait x, y, z;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	o = call_to(P_SUM, &y); /* queued in this very moment */
	assert_int_equal(rpcrdma_call(w.back, &o, &k), 0);
	rpcrdma_conn_close(w.back);
	w.back = NULL;
	assert_int_equal(x.done + y.done, 0);
	spin_until(&x.done, 1);
	spin_until(&y.done, 1);
	assert_int_equal(x.status, -ECANCELED);
	assert_int_equal(y.status, -ECANCELED);
	o = call_to(P_NULL, &z);
	assert_int_equal(run(w.conn, &o, &z), 0);
	assert_int_equal(w.downs, 0);
	answer_parked(&w.client); /* to nobody */
	bind_over(w.conn);
	o = call_to(P_NULL, &z);
	assert_int_equal(run(w.back, &o, &z), 0);
	assert_int_equal(w.downs, 0);
}

static void close_in_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                          void *arg)
{
	rpcrdma_conn_close(w.back);
	w.back = NULL;
	on_done(k, r, arg);
}

static void the_object_may_be_closed_within_done(void **state)
{
	struct wait x, y;
	struct rpcrdma_call_options o = call_to(P_NULL, &x);

	start();
	o.done = close_in_done;
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	o = call_to(P_PARK, &y);
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&x.done, 1);
	spin_until(&y.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(y.status, -ECANCELED);
}

static void close_back(void *arg)
{
	rpcrdma_conn_close(w.back);
	w.back = NULL;
}

/* Its call ends later than the close itself: it is freed all the same. */
static void the_object_may_be_closed_by_a_timer(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	assert_int_equal(rpcrdma_timer_start(w.engine, 0, close_back, NULL, NULL), 0);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, -ECANCELED);
	assert_null(w.back); /* the rest is tear_down's: an idle engine */
}

/* A call out is work that the listener's close waits for, up to its limit. */
static void the_listener_drains_calls_in_reverse(void **state)
{
	uint64_t begin;
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	rpcrdma_listener_close(w.listener, 10000ull * MS);
	w.listener = NULL;
	spin_for(50);
	assert_int_equal(w.downs, 0);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	begin = now_ns();
	spin_until(&w.downs, 1);
	assert_true(now_ns() - begin < 5000ull * MS); /* not by the limit */
}

/* The object outlives the listener that its client came by. */
static void calls_move_to_another_listener(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = call_to(P_PARK, &x);

	start();
	assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
	spin_until(&w.client.n_parked, 1);
	rpcrdma_listener_close(w.listener, 0);
	spin_until(&w.downs, 1);
	rpcrdma_conn_close(w.conn);
	listen_at("127.0.0.1:0");
	connect_client(&w.conn);
	bind_over(w.conn);
	assert_int_equal(w.bind_status, 0);
	spin_until(&w.client.n_parked, 2);
	assert_int_equal(w.client.xids[1], w.client.xids[0]);
	answer_parked(&w.client);
	spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* Nothing leaks and every call ends, whatever is out: on a connection, waiting
 * for one, or being executed by the client. */
static void an_engine_with_calls_in_reverse_can_be_freed(void **state)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		struct wait x, y;
		struct rpcrdma_call_options o = call_to(P_PARK, &x);

		start();
		assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
		spin_until(&w.client.n_parked, 1);
		if (lost) {
			cut();
			spin_until(&w.ups, 2);
		}
		o = call_to(P_NULL, &y);
		assert_int_equal(rpcrdma_call(w.back, &o, NULL), 0);
		rpcrdma_engine_free(w.engine);
		assert_int_equal(x.done, 1);
		assert_int_equal(y.done, 1);
		assert_int_equal(x.status, -ECANCELED);
		assert_int_equal(y.status, -ECANCELED);
		rpcrdma_service_free(w.service);
		rpcrdma_service_free(w.callbacks);
		set_up(state);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(calls_wait_for_the_client_and_keep_their_xid),
	        TEST(a_client_that_stays_away_is_given_up),
	        TEST(each_waiting_call_has_its_own_time),
	        TEST(calls_that_a_client_came_back_for_wait_no_longer),
	        TEST(each_loss_begins_the_wait_anew),
	        TEST(waiting_calls_time_out_and_are_cancelled),
	        TEST(a_held_callback_does_not_delay_the_next_connection),
	        TEST(a_held_request_does_not_keep_calls_from_ending),
	        TEST(a_server_that_keeps_hanging_up_is_waited_for),
	        TEST(a_client_may_close_under_a_callback),
	        TEST(handlers_may_close_what_they_are_served_by),
	        TEST(rebinding_moves_new_calls),
	        TEST(a_call_left_behind_follows_when_the_old_connection_ends),
	        TEST(a_call_left_behind_is_given_up_as_others_are),
	        TEST(calls_left_behind_do_not_hold_up_others),
	        TEST(only_a_servers_requests_make_objects),
	        TEST(objects_do_not_change_their_engine),
	        TEST(a_lost_request_makes_no_object),
	        TEST(a_connection_in_use_is_not_closed_for_being_idle),
	        TEST(nor_is_one_with_a_call_out_whose_object_has_left),
	        TEST(hosts_that_vanish_are_noticed),
	        TEST(closing_the_object_cancels_its_calls_only),
	        TEST(the_object_may_be_closed_within_done),
	        TEST(the_object_may_be_closed_by_a_timer),
	        TEST(the_listener_drains_calls_in_reverse),
	        TEST(calls_move_to_another_listener),
	        TEST(an_engine_with_calls_in_reverse_can_be_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
