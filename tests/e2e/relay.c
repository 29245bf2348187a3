/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Complete RPC messages by <rpcrdma/relay.h>: a relay stands between the client and the
 * server of test_both_ends.h.  The oracle is the octet pattern that client and server
 * compute by themselves, and what each of them sees of the other.
 */
#include "test_both_ends.h"

#include <rpcrdma/relay.h>

/* The relay.  It has one client. */
static struct relay {
	struct rpcrdma_service *service, *callbacks;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *down, *up;
	struct rpcrdma_request *held[16];
	unsigned n_held, calls, accepted, lost, failed;
	uint32_t xids[64]; /* of the Calls */
	int failure;       /* status of the last Call that failed */
	int refuse;
	bool hold;       /* keep Calls */
	bool reconnects; /* to the server, by itself */
} relay;

/* One Call on its way. */
struct passing {
	struct rpcrdma_request *request;
	struct rpcrdma_dest dest;
	uint8_t *reply;
};

static void free_passing(void *arg)
{
	struct passing *p = arg;

	free(p->dest.base);
	free(p->reply);
	free(p);
}

static void on_passed(struct rpcrdma_call *k, const struct rpcrdma_reply *r, void *arg)
{
	struct passing *p = arg;
	struct rpcrdma_piece out[2];

	if (r->status) {
		relay.failed++;
		relay.failure = r->status;
		assert_int_equal(rpcrdma_request_drop(p->request), 0);
		assert_int_equal(rpcrdma_request_drop(NULL), -EINVAL);
		free_passing(p);
		return;
	}
	p->reply = malloc(r->len);
	memcpy(p->reply, r->results, r->len);
	out[0] = (struct rpcrdma_piece){p->reply, r->len, false};
	out[1] = (struct rpcrdma_piece){p->dest.ret_base, p->dest.ret_len, true};
	assert_int_equal(rpcrdma_request_reply_message(
	                         p->request, out, 1 + (r->n_dests && p->dest.ret_used),
	                         free_passing, p),
	                 0);
}

static void pass_call(struct rpcrdma_request *q, struct rpcrdma_conn *to)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct passing *p = calloc(1, sizeof(*p));

	p->request = q;
	o.n_args = rpcrdma_request_args(q, &o.args);
	p->dest.len = rpcrdma_request_result_room(q, 0);
	p->dest.base = malloc(p->dest.len + 1);
	o.dests = &p->dest;
	o.n_dests = p->dest.len != 0;
	o.done = on_passed;
	o.arg = p;
	assert_int_equal(rpcrdma_call_message(to, &o, NULL), 0);
}

static void on_relayed(struct rpcrdma_request *q, void *token, void *arg)
{
	const struct rpcrdma_piece *p;

	assert_ptr_equal(arg, &relay);
	assert_true(rpcrdma_request_args(q, &p) > 0);
	assert_int_equal(be32(p[0].base), rpcrdma_request_xid(q));
	assert_int_equal(be32((const uint8_t *)p[0].base + 4), 0); /* a Call */
	relay.xids[relay.calls++ % 64] = rpcrdma_request_xid(q);
	if (relay.hold)
		relay.held[relay.n_held++] = q;
	else
		pass_call(q, token == &relay.down ? relay.up : relay.down);
}

static void on_up_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	if (!final)
		return;
	rpcrdma_conn_close(relay.up);
	relay.up = NULL;
	rpcrdma_conn_close(relay.down);
	relay.down = NULL;
}

static int on_accept(struct rpcrdma_conn *c, void *arg, void **ret_token)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	relay.accepted++;
	if (relay.refuse)
		return relay.refuse;
	o.callbacks = relay.callbacks;
	o.no_reconnect = !relay.reconnects;
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", both.port, &o,
	                                 on_up_event, &relay.up, &relay.up),
	                 0);
	relay.down = c;
	*ret_token = &relay.down;
	return 0;
}

static void drop_held(void)
{
	while (relay.n_held)
		assert_int_equal(rpcrdma_request_drop(relay.held[--relay.n_held]), 0);
}

static void on_lost(void *token, int error, const char *reason, void *arg)
{
	assert_ptr_equal(token, &relay.down);
	assert_true(error < 0);
	relay.lost++;
	rpcrdma_conn_close(relay.down);
	relay.down = NULL;
	rpcrdma_conn_close(relay.up);
	relay.up = NULL;
	drop_held();
}

/* Connects a client to the server through the relay. */
static void start_relay(void)
{
	static const struct rpcrdma_procedure limits[N_PROCS] = {
	        [P_SUM] = {.name = "SUM", .max_read_items = 1},
	        [P_FILL] = {.name = "FILL", .max_write_items = 1},
	};
	static const struct rpcrdma_program program = {PROG, VERS, limits, N_PROCS};
	struct rpcrdma_relay_options o = RPCRDMA_OPTIONS(struct rpcrdma_relay_options);
	struct rpcrdma_conn_options c = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	char port[16];

	o.call = on_relayed;
	o.arg = &relay;
	assert_int_equal(rpcrdma_service_set_relay(relay.callbacks, &o), 0);
	assert_int_equal(rpcrdma_service_add(relay.callbacks, &program, NULL), 0);
	o.accept = on_accept;
	o.lost = on_lost;
	assert_int_equal(rpcrdma_service_set_relay(relay.service, &o), 0);
	assert_int_equal(rpcrdma_service_add(relay.service, &program, NULL), 0);
	both_listen("127.0.0.1:0");
	assert_int_equal(rpcrdma_listen(both.engine, "127.0.0.1:0", &c, relay.service,
	                                8, &relay.listener),
	                 0);
	both_port(relay.listener, port);
	assert_int_equal(rpcrdma_connect(both.engine, "127.0.0.1", port, &both.options,
	                                 both_on_event, NULL, &both.conn),
	                 0);
}

static int set_up_relay(void **state)
{
	memset(&relay, 0, sizeof(relay));
	both_set_up(state);
	assert_int_equal(rpcrdma_service_new(&relay.service), 0);
	assert_int_equal(rpcrdma_service_new(&relay.callbacks), 0);
	return 0;
}

static int tear_down_relay(void **state)
{
	rpcrdma_listener_close(relay.listener, 0);
	rpcrdma_conn_close(relay.down);
	rpcrdma_conn_close(relay.up);
	relay.down = relay.up = NULL;
	drop_held();
	both_tear_down(state);
	rpcrdma_service_free(relay.service);
	rpcrdma_service_free(relay.callbacks);
	return 0;
}

static int fill_through(struct rpcrdma_conn *c, uint32_t len, bool item)
{
	uint8_t args[12];
	struct rpcrdma_piece a = {args, 12, false};
	struct rpcrdma_dest d = {.base = malloc(len), .len = len};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_FILL, &x);
	int status;

	put32(args, 5);
	put32(args + 4, len);
	put32(args + 8, item);
	o.args = &a;
	o.n_args = 1;
	o.dests = &d;
	o.n_dests = item;
	o.reply_bytes = item ? 4 : 4 + (size_t)len + 3;
	status = both_run(c, &o, &x);
	if (!status && item) {
		assert_true(d.ret_used);
		for (uint32_t i = 0; i < len; i++)
			assert_int_equal(((uint8_t *)d.base)[i], both_pattern(5, i));
	}
	free(d.base);
	return status;
}

/* -- what passes ----------------------------------------------------------- */

/* The XIDs of parked requests are those of the client's calls. */
static void calls_pass_under_their_xids(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	start_relay();
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&both.server.n_parked, 1);
	assert_int_equal(both.server.xids[0], relay.xids[0]);
	both_answer_parked(&both.server);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(x.reply.xid, relay.xids[0]);
	assert_int_equal(relay.accepted, 1);
}

static void items_pass_both_ways(void **state)
{
	start_relay();
	for (unsigned i = 0; i < 3; i++) {
		static const uint32_t lengths[] = {1, 5001, BIG};

		assert_int_equal(both_sum(both.conn, lengths[i], true), 0);
		assert_int_equal(both_sum(both.conn, lengths[i], false), 0);
		assert_int_equal(fill_through(both.conn, lengths[i], true), 0);
		assert_int_equal(fill_through(both.conn, lengths[i], false), 0);
	}
}

static void errors_of_the_server_pass(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(99, &x);

	start_relay();
	assert_int_equal(both_run(both.conn, &o, &x), RPCRDMA_PROC_UNAVAIL);
	o = both_call(P_NULL, &x);
	o.version = 7;
	assert_int_equal(both_run(both.conn, &o, &x), RPCRDMA_PROG_MISMATCH);
	assert_int_equal(x.reply.low, VERS);
	o = both_call(P_NULL, &x);
	o.program++;
	assert_int_equal(both_run(both.conn, &o, &x), RPCRDMA_PROG_UNAVAIL);
}

static void calls_of_the_server_pass(void **state)
{
	uint8_t depth[4];
	struct rpcrdma_piece a = {depth, 4, false};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	start_relay();
	both_bind(both.conn);
	assert_int_equal(both.bind_status, 0);
	assert_int_equal(both_run(both.back, &o, &x), 0);
	assert_int_equal(both.client.executed, 1);
	assert_int_equal(both_sum(both.back, BIG, true), 0);
	assert_int_equal(fill_through(both.back, BIG, true), 0);
	o = both_call(P_NEST, &x);
	put32(depth, 6);
	o.args = &a;
	o.n_args = 1;
	assert_int_equal(both_run(both.conn, &o, &x), 0);
}

/* -- ends ------------------------------------------------------------------ */

static void the_relay_learns_that_its_client_is_gone(void **state)
{
	start_relay();
	assert_int_equal(both_sum(both.conn, 4, false), 0);
	relay.hold = true;
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&relay.n_held, 1);
	rpcrdma_conn_close(both.conn);
	both.conn = NULL;
	both_spin_until(&relay.lost, 1);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, -ECANCELED);
	assert_int_equal(relay.lost, 1);
}

static void the_relay_closes_its_clients_connection(void **state)
{
	both.options.no_reconnect = true;
	start_relay();
	assert_int_equal(both_sum(both.conn, 4, false), 0);
	rpcrdma_conn_close(relay.down);
	relay.down = NULL;
	both_spin_until(&both.downs, 1);
	both_spin_for(20);
	assert_int_equal(relay.lost, 0); /* the relay knows */
}

static void a_client_may_be_refused(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);

	both.options.no_reconnect = true;
	relay.refuse = -EACCES;
	start_relay();
	assert_int_equal(both_run(both.conn, &o, &x), -ECONNRESET);
	assert_int_equal(relay.accepted, 1);
	assert_int_equal(relay.calls, 0);
	assert_int_equal(relay.lost, 0);
}

/* The relay does not send a lost Call again.  The client sends it again, with the same
 * XID. */
static void a_lost_call_is_left_to_the_client(void **state)
{
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_PARK, &x);

	start_relay();
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&both.server.n_parked, 1);
	both_cut();
	both_spin_until(&relay.failed, 1);
	assert_true(relay.failure < 0);
	both_spin_until(&both.server.n_parked, 2);
	assert_int_equal(relay.calls, 2);
	assert_int_equal(relay.failed, 1);
	assert_int_equal(both.server.xids[1], both.server.xids[0]);
	both_answer_parked(&both.server);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

/* A connection that reconnects does not send a relayed Call again. */
static void a_lost_call_is_not_sent_again(void **state)
{
	relay.reconnects = true;
	a_lost_call_is_left_to_the_client(state);
}

/* -- misuse ---------------------------------------------------------------- */

static void a_reply_must_be_a_reply(void **state)
{
	uint8_t reply[24] = {0};
	struct rpcrdma_piece p = {reply, sizeof(reply), false};
	struct wait x;
	struct rpcrdma_call_options o = both_call(P_NULL, &x);
	struct rpcrdma_request *q;

	start_relay();
	relay.hold = true;
	assert_int_equal(rpcrdma_call(both.conn, &o, NULL), 0);
	both_spin_until(&relay.n_held, 1);
	q = relay.held[0];
	put32(reply, rpcrdma_request_xid(q) + 1);
	put32(reply + 4, 1);
	assert_int_equal(rpcrdma_request_reply_message(q, &p, 1, NULL, NULL), -EINVAL);
	put32(reply, rpcrdma_request_xid(q));
	p.len = 22;
	assert_int_equal(rpcrdma_request_reply_message(q, &p, 1, NULL, NULL), -EINVAL);
	p.len = 24;
	p.item = true;
	assert_int_equal(rpcrdma_request_reply_message(q, &p, 1, NULL, NULL), -EINVAL);
	p.item = false;
	assert_int_equal(rpcrdma_request_reply_message(q, &p, 0, NULL, NULL), -EINVAL);
	assert_int_equal(rpcrdma_request_reply_message(q, NULL, 1, NULL, NULL),
	                 -EINVAL);
	assert_int_equal(rpcrdma_request_reply_message(NULL, &p, 1, NULL, NULL),
	                 -EINVAL);
	assert_int_equal(rpcrdma_request_reply_message(q, &p, 1, NULL, NULL), 0);
	relay.n_held = 0;
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
}

static void a_call_must_be_a_call(void **state)
{
	uint8_t call[40] = {0};
	struct rpcrdma_piece p = {call, sizeof(call), false};
	struct wait x, y;
	struct rpcrdma_call_options o = both_call(0, &x);

	start_relay();
	assert_int_equal(both_sum(both.conn, 4, false), 0);
	o.args = &p;
	o.n_args = 1;
	put32(call, 77);
	put32(call + 8, 2);
	put32(call + 12, PROG);
	put32(call + 16, VERS);
	put32(call + 20, P_PARK);
	assert_int_equal(rpcrdma_call_message(both.conn, &o, NULL), -EINVAL);
	o.program = o.version = 0;
	o.timeout_ns = 0;
	p.len = 36;
	assert_int_equal(rpcrdma_call_message(both.conn, &o, NULL), -EBADMSG);
	p.len = 40;
	o.n_args = 0;
	assert_int_equal(rpcrdma_call_message(both.conn, &o, NULL), -EINVAL);
	o.n_args = 1;
	assert_int_equal(rpcrdma_call_message(both.conn, NULL, NULL), -EINVAL);
	assert_int_equal(rpcrdma_call_message(both.conn, &o, NULL), 0);
	y = (struct wait){0};
	o.arg = &y; /* the same XID again */
	assert_int_equal(rpcrdma_call_message(both.conn, &o, NULL), 0);
	both_spin_until(&y.done, 1);
	assert_int_equal(y.status, -EINVAL);
	both_spin_until(&both.server.n_parked, 1);
	assert_int_equal(both.server.xids[0], 77);
	both_answer_parked(&both.server);
	both_spin_until(&x.done, 1);
	assert_int_equal(x.status, 0);
	assert_int_equal(x.reply.len, 24);
	assert_int_equal(be32(x.results), 77);
}

static void a_relay_is_complete(void **state)
{
	struct rpcrdma_relay_options o = RPCRDMA_OPTIONS(struct rpcrdma_relay_options);

	assert_int_equal(rpcrdma_service_set_relay(relay.service, &o), -EINVAL);
	o.call = on_relayed;
	o.accept = on_accept;
	assert_int_equal(rpcrdma_service_set_relay(relay.service, &o), -EINVAL);
	o.lost = on_lost;
	assert_int_equal(rpcrdma_service_set_relay(NULL, &o), -EINVAL);
	assert_int_equal(rpcrdma_service_set_relay(relay.service, NULL), -EINVAL);
	assert_int_equal(rpcrdma_service_set_relay(relay.service, &o), 0);
	assert_int_equal(rpcrdma_service_set_relay(relay.service, &o), -EEXIST);
}

#define RELAY_TEST(f) cmocka_unit_test_setup_teardown(f, set_up_relay, tear_down_relay)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        RELAY_TEST(calls_pass_under_their_xids),
	        RELAY_TEST(items_pass_both_ways),
	        RELAY_TEST(errors_of_the_server_pass),
	        RELAY_TEST(calls_of_the_server_pass),
	        RELAY_TEST(the_relay_learns_that_its_client_is_gone),
	        RELAY_TEST(the_relay_closes_its_clients_connection),
	        RELAY_TEST(a_client_may_be_refused),
	        RELAY_TEST(a_lost_call_is_left_to_the_client),
	        RELAY_TEST(a_lost_call_is_not_sent_again),
	        RELAY_TEST(a_reply_must_be_a_reply),
	        RELAY_TEST(a_call_must_be_a_call),
	        RELAY_TEST(a_relay_is_complete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
