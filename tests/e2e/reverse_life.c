/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a server's object for calls to a client: connections that are
 * lost and come back, moves to another one, and ends in any order.
 */
#include <netinet/tcp.h>

#include "test_both_ends.h"

/* -- loss ------------------------------------------------------------------ */

/* V2-4.5.5-03, -05: sent again, under its old XID, when the client has said that
 * it is back; the client comes back without traffic of its own. */
static void calls_wait_for_the_client_and_keep_their_xid(void **state)
{
	struct rpcrdma_stats st;
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	both_cut();
	both_spin_until(&both.ups, 2);
	o = both_call(P_PARK, &y); /* made meanwhile: waits as well */
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_for(50);
	assert_int_equal(both.client.n_parked, 1); /* nobody said who came */
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	both_spin_until(&both.client.n_parked, 3);
	assert_int_equal(both.client.xids[1], both.client.xids[0]);
	assert_true(both.client.xids[2] != both.client.xids[0]);
	assert_int_equal(x.done + y.done, 0);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
	both_spin_until(&y.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(y.status, 0);
	assert_int_equal(x.reply.xid, both.client.xids[0]);
	rpcrdma_conn_get_stats(both.back, &st, sizeof(st));
	assert_int_equal(st.retransmits, 1);
}

/* V2-4.5.5-04 */
static void a_client_that_stays_away_is_given_up(void **state)
{
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);
	uint64_t begin;

	both.retry_ns = 80 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_answer_parked(&both.client); /* too late */
	begin = now_ns();
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 60 * MS);
	o = both_call(P_NULL, &y); /* another chance, as long again */
	begin = now_ns();
	assert_int_equal(both_run(both.back, &o, &y), -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 60 * MS);
	both_connect(&both.conn); /* and a client after all */
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	o = both_call(P_NULL, &y);
	assert_int_equal(both_run(both.back, &o, &y), 0);
}

/* Each waits as long, whenever others began to; and in the end its own timeout counts,
 * if that comes first. */
static void each_waiting_call_has_its_own_time(void **state)
{
	struct wait x, y, z;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);
	uint64_t begin, y_begin;

	both.retry_ns = 500 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	begin = now_ns();
	both_spin_for(300);
	o = both_call(P_NULL, &y);
	y_begin = now_ns();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	o = both_call(P_NULL, &z);
	o.timeout_ns = 450 * MS;
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 480 * MS);
	both_spin_until(&z.done, 1);
	assert_int_equal(z.status, -ETIMEDOUT);
	assert_true(now_ns() - y_begin >= 430 * MS);
	both_spin_until(&y.done, 1);
	assert_int_equal(y.status, -EHOSTUNREACH);
	assert_true(now_ns() - y_begin >= 480 * MS);
}

/* A client that comes back stops the time of all that wait, and they are sent in the
 * order in which they were made. */
static void calls_that_a_client_came_back_for_wait_no_longer(void **state)
{
	struct wait x[3];
	struct rpcrdma_call_options o;

	both.retry_ns = 1500 * MS;
	both_start();
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_for(30);
	for (unsigned i = 0; i < 3; i++) {
		o = both_call(P_PARK, &x[i]);
		assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	}
	both_connect(&both.conn);
	both_bind(both.conn);
	both_spin_until(&both.client.n_parked, 3);
	assert_int_equal(both.client.xids[1], both.client.xids[0] + 1);
	assert_int_equal(both.client.xids[2], both.client.xids[0] + 2);
	both_spin_for(1600);
	assert_int_equal(x[0].done + x[1].done + x[2].done, 0);
	both_answer_parked(&both.client);
	for (unsigned i = 0; i < 3; i++) {
		both_spin_until(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
}

/* The wait is for one absence, not a sum over all. */
static void each_loss_begins_the_wait_anew(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);
	uint64_t begin;

	both.retry_ns = 800 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	both_cut();
	both_spin_until(&both.ups, 2);
	both_spin_for(450);
	assert_int_equal(x.done, 0);
	both_bind(both.conn);
	both_spin_until(&both.client.n_parked, 2);
	both_cut();
	begin = now_ns();
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_true(now_ns() - begin >= 720 * MS);
}

/* A call has its own limit, with or without a connection. */
static void waiting_calls_time_out_and_are_cancelled(void **state)
{
	struct rpcrdma_call *k;
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	o.timeout_ns = 30 * MS;
	assert_int_equal(both_run(both.back, &o, &x), -ETIMEDOUT);
	assert_int_equal(both.client.n_parked, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_for(30);
	o = both_call(P_PARK, &x);
	o.timeout_ns = 30 * MS;
	assert_int_equal(both_run(both.back, &o, &x), -ETIMEDOUT);
	o = both_call(P_PARK, &y);
	assert_int_equal(rpcrdma_call(both.back, &o, &k), 0);
	rpcrdma_call_cancel(k);
	assert_int_equal(y.done, 0);
	both_spin_until(&y.done, 1);
	assert_int_equal(y.status, -ECANCELED);
	assert_int_equal(both.client.n_parked, 1);
}

/* A handler that holds a Call does not keep the client from its next connection,
 * on which that handler may depend. */
static void a_held_callback_does_not_delay_the_next_connection(void **state)
{
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	for (unsigned i = 0; i < 3; i++) {
		both_cut();
		both_spin_until(&both.downs, i + 1);
		both_spin_until(&both.ups, i + 2);
		o = both_call(P_NULL, &y);
		assert_int_equal(both_run(both.conn, &o, &y), 0);
	}
	both_bind(both.conn);
	both_spin_until(&both.client.n_parked, 2);
	both_answer_parked(&both.client); /* the first answer goes nowhere */
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(both.client.executed, 0);
}

/* Nor does a request that the server's handler holds: it may wait for that very
 * call, as one that must recall something first does.  V2-4.5.5-04 */
static void a_held_request_does_not_keep_calls_from_ending(void **state)
{
	struct wait x, y, z;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both.retry_ns = 80 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&both.server.n_parked, 1);
	o = both_call(P_PARK, &y);
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_answer_parked(&both.client); /* too late */
	o = both_call(P_NULL, &z);
	o.timeout_ns = 0;
	both_spin_until(&y.done, 1);
	assert_int_equal(y.status, -EHOSTUNREACH);
	assert_int_equal(both_run(both.back, &o, &z), -EHOSTUNREACH);
	assert_int_equal(both.server.n_parked, 1);
}

/* A server that calls, hangs up and calls again fills no memory: in the end the
 * client waits for its handlers. */
static void a_server_that_keeps_hanging_up_is_waited_for(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o;
	struct rpcrdma_call *k;

	both_start();
	for (unsigned i = 1; i <= 8; i++) { /* one call would be given up */
		o = both_call(P_PARK, &x);
		assert_int_equal(rpcrdma_call(both.back, &o, &k), 0);
		both_spin_until(&both.client.n_parked, i);
		both_cut();
		both_spin_until(&both.ups, i + 1);
		rpcrdma_call_cancel(k);
		both_spin_until(&x.done, 1);
		both_bind(both.conn);
	}
	o = both_call(P_PARK, &x);
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 9);
	both_cut();
	both_spin_for(200);
	assert_int_equal(both.ups, 9);
	both_answer_parked(&both.client); /* all too late */
	both_spin_until(&both.ups, 10);
	both_bind(both.conn);
	both_spin_until(&both.client.n_parked, 1);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* The client closes while a callback of its is being executed. */
static void a_client_may_close_under_a_callback(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both.retry_ns = 50 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, -EHOSTUNREACH);
	assert_false(rpcrdma_engine_idle(both.engine)); /* the request lives */
	both_answer_parked(&both.client);
	both_spin_for(20);
}

static void h_close(struct rpcrdma_request *q, void *arg)
{
	rpcrdma_conn_close(arg == &both.client ? both.conn : both.back);
	if (arg == &both.client)
		both.conn = NULL;
	else
		both.back = NULL;
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

	assert_int_equal(
	        rpcrdma_service_add(both.service, &close_program, &both.server), 0);
	assert_int_equal(
	        rpcrdma_service_add(both.callbacks, &close_program, &both.client), 0);
	both.retry_ns = 50 * MS;
	both_start();
	o = both_call(0, &x);
	o.version = 3;
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_null(both.back);
	both_bind(both.conn);
	o = both_call(0, &x);
	o.version = 3;
	assert_int_equal(both_run(both.back, &o, &x), -EHOSTUNREACH);
	assert_null(both.conn);
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
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	o = both_call(P_PARK, &z);
	assert_int_equal(rpcrdma_call(both.back, &o, &other), 0);
	both_spin_until(&both.client.n_parked, 2);
	both_connect(&second);
	both_bind(second);
	assert_int_equal(both.bind_status, 0);
	rpcrdma_conn_get_info(second, &a, sizeof(a));
	rpcrdma_conn_get_info(both.back, &b, sizeof(b));
	assert_memory_equal(&b.peer, &a.local, sizeof(struct sockaddr_in));
	both_spin_for(20);
	assert_int_equal(both.client.n_parked, 2);
	o = both_call(P_NULL, &y);
	assert_int_equal(both_run(both.back, &o, &y), 0);
	rpcrdma_call_cancel(other); /* where it is, not where the object is */
	both_spin_until(&z.done, 1);
	assert_int_equal(z.status, -ECANCELED);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	both_bind(second); /* where it is already */
	assert_int_equal(both.bind_status, 0);
	rpcrdma_conn_close(both.conn);
	both.conn = second;
	both_spin_for(20);
	o = both_call(P_NULL, &y);
	assert_int_equal(both_run(both.back, &o, &y), 0);
}

/* The old connection goes after the move: its call follows. */
static void a_call_left_behind_follows_when_the_old_connection_ends(void **state)
{
	struct rpcrdma_conn *second;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	both_connect(&second);
	both_bind(second);
	rpcrdma_conn_close(both.conn);
	both.conn = second;
	both_spin_until(&both.client.n_parked, 2);
	assert_int_equal(both.client.xids[1], both.client.xids[0]);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* ... and if there is no newer one any more, it waits for its own time. */
static void a_call_left_behind_is_given_up_as_others_are(void **state)
{
	struct rpcrdma_conn *second;
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both.retry_ns = 50 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	both_connect(&second);
	both_bind(second);
	rpcrdma_conn_close(second);
	o = both_call(P_NULL, &y);
	while (both_run(both.back, &o, &y) != -EHOSTUNREACH)
		; /* until the server has noticed that the second is gone */
	assert_int_equal(x.done, 0);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_until(&x.done, 1);
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
	assert_int_equal(rpcrdma_service_add(both.callbacks, &hold_program, NULL), 0);
	both_start();
	for (unsigned i = 0; i < MANY; i++) {
		o = both_call(0, &x[i]);
		o.version = HOLD_VERS;
		assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	}
	both_spin_until(&n_held, 150);
	both_spin_for(50);
	sent = n_held; /* as many as go out at once */
	both_connect(&second);
	both_bind(second);
	both_spin_until(&n_held, MANY); /* the rest of them goes there */
	assert_true(sent < MANY);
	o = both_call(P_NULL, &y);
	o.timeout_ns = 2000ull * MS;
	assert_int_equal(both_run(both.back, &o, &y), 0);
	both_bind(both.conn); /* there and back */
	answer_held();
	for (unsigned i = 0; i < MANY; i++) {
		both_spin_until(&x[i].done, 1);
		assert_int_equal(x[i].status, 0);
	}
	o = both_call(P_NULL, &y);
	assert_int_equal(both_run(both.back, &o, &y), 0);
	rpcrdma_conn_close(second);
}

static struct rpcrdma_conn *other_object;
static int misuse[4];

static void h_misuse(struct rpcrdma_request *q, void *arg)
{
	misuse[0] = rpcrdma_request_reverse(NULL, 0, &other_object);
	misuse[1] = rpcrdma_request_reverse(q, 0, NULL);
	misuse[2] = rpcrdma_conn_rebind(both.conn, q); /* a client's own */
	misuse[3] = arg == &both.client ? rpcrdma_request_reverse(q, 0, &other_object)
	                                : rpcrdma_conn_rebind(NULL, q);
	assert_int_equal(rpcrdma_request_reply(q, NULL, 0, NULL, NULL), 0);
}

static const struct rpcrdma_procedure misuse_procs[] = {
        {"MISUSE", h_misuse, 0, 0, 0, false}};
static const struct rpcrdma_program misuse_program = {PROG, 2, misuse_procs, 1};

static void only_a_servers_requests_make_objects(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(0, &x);

	assert_int_equal(
	        rpcrdma_service_add(both.service, &misuse_program, &both.server), 0);
	assert_int_equal(
	        rpcrdma_service_add(both.callbacks, &misuse_program, &both.client), 0);
	both_start();
	for (unsigned i = 0; i < 2; i++) {
		o = both_call(0, &x);
		o.version = 2;
		memset(misuse, 0, sizeof(misuse));
		assert_int_equal(both_run(i ? both.conn : both.back, &o, &x), 0);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(misuse[k], -EINVAL);
	}
}

/* Objects belong to an engine, and so do requests. */
static void objects_do_not_change_their_engine(void **state)
{
	struct rpcrdma_engine *mine = both.engine, *other;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_BIND, &x);

	both_start();
	listener = both.listener;
	conn = both.conn;
	assert_int_equal(rpcrdma_engine_new(NULL, &other), 0);
	both.engine = other;
	both_listen("127.0.0.1:0");
	both_connect(&both.conn);
	assert_int_equal(both_run(both.conn, &o, &x), 0);
	assert_int_equal(both.bind_status, -EXDEV);
	rpcrdma_engine_free(other);
	both.engine = mine;
	both.listener = listener;
	both.conn = conn;
	o = both_call(P_NULL, &x);
	assert_int_equal(both_run(both.back, &o, &x), 0);
}

/* A request whose connection is gone names no client any more. */
static void a_lost_request_makes_no_object(void **state)
{
	struct rpcrdma_conn *none;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&both.server.n_parked, 1);
	both_cut();
	both_spin_until(&both.downs, 1);
	both_spin_until(&both.ups, 2);
	assert_int_equal(rpcrdma_request_reverse(both.server.parked[0], 0, &none),
	                 -ENOTCONN);
	assert_int_equal(rpcrdma_conn_rebind(both.back, both.server.parked[0]),
	                 -ENOTCONN);
	both_spin_until(&both.server.n_parked, 2);
	rpcrdma_listener_close(both.listener, 0); /* and one that is about to go */
	both.listener = NULL;
	assert_int_equal(rpcrdma_engine_process(both.engine, 0), 0);
	assert_int_equal(both.downs, 1);
	assert_int_equal(rpcrdma_request_reverse(both.server.parked[1], 0, &none),
	                 -ENOTCONN);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_until(&x.done, 1);
}

/* -- ends ------------------------------------------------------------------ */

/* V2-4.5.5-05, seen from the server: idle, but in use. */
static void a_connection_in_use_is_not_closed_for_being_idle(void **state)
{
	uint64_t begin;

	both.listen_options.idle_ns = 40 * MS;
	both_start();
	both_spin_for(180); /* between two looks at the clock */
	assert_int_equal(both.downs, 0);
	rpcrdma_conn_close(both.back);
	both.back = NULL;
	begin = now_ns();
	both_spin_until(&both.downs, 1);
	assert_true(now_ns() - begin >= 36 * MS); /* idle since then */
}

/* Its object has moved to another connection, but the call has not: sent there as well
 * it would be executed twice. */
static void nor_is_one_with_a_call_out_whose_object_has_left(void **state)
{
	struct rpcrdma_conn *second;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both.listen_options.idle_ns = 100 * MS;
	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	both_connect(&second);
	both_bind(second);
	both_spin_for(400);
	assert_int_equal(both.downs, 0);
	assert_int_equal(both.client.n_parked, 1);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
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

	both_start();
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
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	o = both_call(P_SUM, &y); /* queued in this very moment */
	assert_int_equal(rpcrdma_call(both.back, &o, &k), 0);
	rpcrdma_conn_close(both.back);
	both.back = NULL;
	assert_int_equal(x.done + y.done, 0);
	both_spin_until(&x.done, 1);
	both_spin_until(&y.done, 1);
	assert_int_equal(x.status, -ECANCELED);
	assert_int_equal(y.status, -ECANCELED);
	o = both_call(P_NULL, &z);
	assert_int_equal(both_run(both.conn, &o, &z), 0);
	assert_int_equal(both.downs, 0);
	both_answer_parked(&both.client); /* to nobody */
	both_bind(both.conn);
	o = both_call(P_NULL, &z);
	assert_int_equal(both_run(both.back, &o, &z), 0);
	assert_int_equal(both.downs, 0);
}

static void close_in_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                          void *arg)
{
	rpcrdma_conn_close(both.back);
	both.back = NULL;
	both_on_done(k, r, arg);
}

static void the_object_may_be_closed_within_done(void **state)
{
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	both_start();
	o.done = close_in_done;
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	o = both_call(P_PARK, &y);
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&x.done, 1);
	both_spin_until(&y.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(y.status, -ECANCELED);
}

static void close_back(void *arg)
{
	rpcrdma_conn_close(both.back);
	both.back = NULL;
}

/* Its call ends later than the close itself: it is freed all the same. */
static void the_object_may_be_closed_by_a_timer(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	assert_int_equal(rpcrdma_timer_start(both.engine, 0, close_back, NULL, NULL),
	                 0);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, -ECANCELED);
	assert_null(both.back); /* the rest is both_tear_down's: an idle engine */
}

/* A call out is work that the listener's close waits for, up to its limit. */
static void the_listener_drains_calls_in_reverse(void **state)
{
	uint64_t begin;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	rpcrdma_listener_close(both.listener, 10000ull * MS);
	both.listener = NULL;
	both_spin_for(50);
	assert_int_equal(both.downs, 0);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	begin = now_ns();
	both_spin_until(&both.downs, 1);
	assert_true(now_ns() - begin < 5000ull * MS); /* not by the limit */
}

/* The object outlives the listener that its client came by. */
static void calls_move_to_another_listener(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	both_start();
	assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
	both_spin_until(&both.client.n_parked, 1);
	rpcrdma_listener_close(both.listener, 0);
	both_spin_until(&both.downs, 1);
	rpcrdma_conn_close(both.conn);
	both_listen("127.0.0.1:0");
	both_connect(&both.conn);
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	both_spin_until(&both.client.n_parked, 2);
	assert_int_equal(both.client.xids[1], both.client.xids[0]);
	both_answer_parked(&both.client);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* Nothing leaks and every call ends, whatever is out: on a connection, waiting
 * for one, or being executed by the client. */
static void an_engine_with_calls_in_reverse_can_be_freed(void **state)
{
	for (unsigned lost = 0; lost < 2; lost++) {
		struct wait x, y;
		struct rpcrdma_call_options o = both_call(P_PARK, &x);

		both_start();
		assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
		both_spin_until(&both.client.n_parked, 1);
		if (lost) {
			both_cut();
			both_spin_until(&both.ups, 2);
		}
		o = both_call(P_NULL, &y);
		assert_int_equal(rpcrdma_call(both.back, &o, NULL), 0);
		rpcrdma_engine_free(both.engine);
		assert_int_equal(x.done, 1);
		assert_int_equal(y.done, 1);
		assert_int_equal(x.status, -ECANCELED);
		assert_int_equal(y.status, -ECANCELED);
		rpcrdma_service_free(both.service);
		rpcrdma_service_free(both.callbacks);
		both_set_up(state);
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
