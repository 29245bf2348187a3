/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for exposed replies, of all connections: how much there is, that it is
 * released, and who loses it when others wait for memory.  A lazy client is one whose
 * engine stops when the server has exposed its reply: it neither reads nor confirms.
 *                                                                       [RR-5.4.3-05]
 */
#include "test_octets.h"
#include "test_raw_peer.h"

enum { PROGRAM = 0x20049003, MIB = 1 << 20, LIMIT = 16 * MIB, LAZY = 3 };
enum { P_LONG, P_PLACED };
#define MS UINT64_C(1000000)

struct lazy {
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn;
	unsigned done, lost;
};

static struct {
	struct rpcrdma_engine *engine;
	struct rpcrdma_service *service;
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *conn; /* an honest client in the server's engine */
	struct lazy lazy[LAZY];
	char port[16];
	unsigned exposed; /* replies that the server has exposed */
} w;

struct done {
	unsigned n;
	int status;
	size_t len;
};

/* -- the server ------------------------------------------------------------ */

/* Answers with as many octets as the argument says. */
static void answer(struct rpcrdma_request *q, bool item)
{
	const struct rpcrdma_piece *p;
	uint8_t *m;
	uint32_t len;

	assert_int_equal(rpcrdma_request_args(q, &p), 1);
	len = be32(p[0].base);
	m = rpcrdma_request_alloc(q, 4 + (size_t)len);
	assert_non_null(m);
	put32(m, len);
	memset(m + 4, 7, len);
	assert_int_equal(
	        rpcrdma_request_reply(
	                q, (struct rpcrdma_piece[]){{m, 4, false}, {m + 4, len, item}},
	                2, NULL, NULL),
	        0);
}

static void answer_long(struct rpcrdma_request *q, void *arg)
{
	answer(q, false);
}

static void answer_placed(struct rpcrdma_request *q, void *arg)
{
	answer(q, true);
}

static const struct rpcrdma_procedure procs[] = {
        [P_LONG] = {.name = "LONG", .handler = answer_long},
        [P_PLACED] = {.name = "PLACED", .handler = answer_placed, .max_write_items = 1},
};
static const struct rpcrdma_program program = {PROGRAM, 1, procs, 2};

static void connect_to(struct rpcrdma_engine *e, rpcrdma_conn_event_fn *event,
                       void *arg, struct rpcrdma_conn **ret)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);

	o.features = "rprc,rprc-pull=8388608";
	o.max_message_bytes = 8 * MIB;
	o.no_reconnect = true;
	assert_int_equal(rpcrdma_connect(e, "127.0.0.1", w.port, &o, event, arg, ret),
	                 0);
}

static void start(const char *server_features)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct sockaddr_storage sa;

	o.features = server_features;
	o.max_message_bytes = 8 * MIB;
	o.provider = "iwarp";
	assert_int_equal(
	        rpcrdma_listen(w.engine, "127.0.0.1:0", &o, w.service, 0, &w.listener),
	        0);
	assert_int_equal(rpcrdma_listener_addr(w.listener, &sa), 0);
	snprintf(w.port, sizeof(w.port), "%u",
	         ntohs(((struct sockaddr_in *)&sa)->sin_port));
	connect_to(w.engine, NULL, NULL, &w.conn);
}

static struct rpcrdma_stats server_stats(void)
{
	struct rpcrdma_stats s;

	rpcrdma_engine_get_stats(w.engine, &s, sizeof(s));
	return s;
}

static uint64_t exposed_bytes(void)
{
	struct rpcrdma_budget b;

	rpcrdma_budget_get(&b, sizeof(b));
	assert_true(b.exposed_bytes <= b.used_bytes);
	return b.exposed_bytes;
}

static uint64_t ended_connections(void)
{
	struct rpcrdma_budget b;

	rpcrdma_budget_get(&b, sizeof(b));
	return b.ended;
}

static void spin_server(unsigned ms)
{
	for (uint64_t end = now_ns() + ms * MS; now_ns() < end;)
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
}

/* -- clients --------------------------------------------------------------- */

static void on_done(struct rpcrdma_call *c, const struct rpcrdma_reply *r, void *arg)
{
	struct done *d = arg;

	d->n++;
	d->status = r->status;
	d->len = r->len;
}

static void call(struct rpcrdma_conn *c, uint32_t len, struct rpcrdma_dest *dest,
                 rpcrdma_done_fn *done, void *arg)
{
	static uint8_t args[16][4];
	static unsigned next;
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_piece p = {args[next % 16], 4, false};

	put32(args[next++ % 16], len);
	o.program = PROGRAM;
	o.version = 1;
	o.procedure = dest ? P_PLACED : P_LONG;
	o.args = &p;
	o.n_args = 1;
	o.dests = dest;
	o.n_dests = dest != NULL;
	o.done = done;
	o.arg = arg;
	assert_int_equal(rpcrdma_call(c, &o, NULL), 0);
}

/* Calls of the honest client; runs the server's engine until the call has ended. */
static void fetch(uint32_t len, struct rpcrdma_dest *dest, uint64_t most_ms)
{
	uint64_t end = now_ns() + most_ms * MS;
	struct done d = {0};

	call(w.conn, len, dest, on_done, &d);
	while (!d.n && now_ns() < end)
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.status, 0);
	assert_int_equal(dest ? dest->ret_len : d.len - 4, len);
}

static void lazy_done(struct rpcrdma_call *c, const struct rpcrdma_reply *r, void *arg)
{
	((struct lazy *)arg)->done++;
}

static void lazy_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	((struct lazy *)arg)->lost += error != 0;
}

/* Has a lazy client call until the server has exposed one more reply for it. */
static void lazy_call(struct lazy *z, uint32_t len)
{
	uint64_t end = now_ns() + 10000 * MS;

	if (!z->engine) {
		assert_int_equal(rpcrdma_engine_new(NULL, &z->engine), 0);
		connect_to(z->engine, lazy_event, z, &z->conn);
	}
	call(z->conn, len, NULL, lazy_done, z);
	w.exposed++;
	for (;;) {
		assert_int_equal(rpcrdma_engine_process(w.engine, 0), 0);
		if (server_stats().rprc_exposed >= w.exposed)
			return;
		assert_true(now_ns() < end);
		assert_int_equal(rpcrdma_engine_process(z->engine, 0), 0);
	}
}

/* Runs a lazy client until @done of its calls have ended, its connection has been lost
 * @lost times, and no more than @most octets are exposed. */
static void wake_lazy(struct lazy *z, unsigned done, unsigned lost, uint64_t most)
{
	uint64_t end = now_ns() + 20000 * MS;

	while (z->done < done || z->lost < lost || exposed_bytes() > most) {
		assert_true(now_ns() < end);
		assert_int_equal(rpcrdma_engine_process(z->engine, 5), 0);
		assert_int_equal(rpcrdma_engine_process(w.engine, 5), 0);
	}
	assert_int_equal(z->done, done);
	assert_int_equal(z->lost, lost);
}

/* -- life ------------------------------------------------------------------ */

static int set_up(void **state)
{
	memset(&w, 0, sizeof(w));
	assert_int_equal(rpcrdma_budget_set(LIMIT), 0);
	assert_int_equal(rpcrdma_engine_new(NULL, &w.engine), 0);
	assert_int_equal(rpcrdma_service_new(&w.service), 0);
	assert_int_equal(rpcrdma_service_add(w.service, &program, NULL), 0);
	return 0;
}

/* Everything ends, and nothing is held any more. */
static int tear_down(void **state)
{
	struct rpcrdma_budget b;

	rpcrdma_engine_free(w.engine);
	for (unsigned i = 0; i < LAZY; i++)
		rpcrdma_engine_free(w.lazy[i].engine);
	rpcrdma_service_free(w.service);
	rpcrdma_budget_get(&b, sizeof(b));
	assert_int_equal(b.exposed_bytes, 0);
	assert_int_equal(b.used_bytes, 0);
	assert_int_equal(b.waiting, 0);
	return 0;
}

/* -- tests ----------------------------------------------------------------- */

/* A reply reserves memory while it is exposed, and no longer. */
static void exposed_replies_are_in_the_budget(void **state)
{
	uint64_t end;

	start("rprc,rprc-lifetime=4000");
	lazy_call(&w.lazy[0], MIB);
	assert_in_range(exposed_bytes(), MIB, MIB + 256);
	lazy_call(&w.lazy[1], MIB);
	assert_in_range(exposed_bytes(), 2 * MIB, 2 * MIB + 512);
	wake_lazy(&w.lazy[0], 1, 0, MIB + 256); /* reads it */
	assert_in_range(exposed_bytes(), MIB, MIB + 256);
	end = now_ns() + 20000 * MS;
	while (exposed_bytes() && now_ns() < end)
		spin_server(20);
	assert_int_equal(server_stats().rprc_expired, 1);
	assert_int_equal(exposed_bytes(), 0);
}

/* Memory comes back when the connection is lost. */
static void lost_connections_expose_nothing(void **state)
{
	start("rprc,rprc-lifetime=0");
	lazy_call(&w.lazy[0], MIB);
	assert_in_range(exposed_bytes(), MIB, MIB + 256);
	rpcrdma_engine_free(w.lazy[0].engine);
	w.lazy[0].engine = NULL;
	for (uint64_t end = now_ns() + 20000 * MS; exposed_bytes() && now_ns() < end;)
		spin_server(20);
	assert_int_equal(exposed_bytes(), 0);
}

/* The sum over all connections has a limit; replies beyond it are sent in messages. */
static void the_sum_is_limited(void **state)
{
	struct rpcrdma_stats s;

	start("rprc,rprc-lifetime=0,rprc-total=1500000");
	lazy_call(&w.lazy[0], MIB);
	fetch(MIB, NULL, 20000);
	s = server_stats();
	assert_int_equal(s.rprc_exposed, 1);
	assert_true(s.bytes_continued >= MIB);
	wake_lazy(&w.lazy[0], 1, 0, 0);
	fetch(MIB, NULL, 20000);
	assert_int_equal(server_stats().rprc_exposed, 2);
}

/* So has the process's budget: beside 9 MiB of exposed replies and the fixed amounts of
 * the connections there is memory for one result of 3.5 MiB, but not for a copy. */
static void the_budget_is_a_limit(void **state)
{
	start("rprc,rprc-lifetime=0");
	for (unsigned i = 0; i < LAZY; i++)
		lazy_call(&w.lazy[i], 3 * MIB);
	assert_in_range(exposed_bytes(), 9 * MIB, 9 * MIB + 4096);
	fetch(3500000, NULL, 20000);
	assert_int_equal(server_stats().rprc_exposed, 3);
	assert_int_equal(exposed_bytes() >> 20, 9);
	wake_lazy(&w.lazy[0], 1, 0, 6 * MIB + 4096);
	fetch(3500000, NULL, 20000);
	assert_int_equal(server_stats().rprc_exposed, 4);
}

/* The first lazy client has the oldest exposure, the second one the most memory.  A
 * request that waits for memory ends the first one's connection and no other. */
static void the_oldest_exposure_is_ended_first(void **state)
{
	enum { FIRST = 4930000, SECOND = 5138000, WANTED = 4820000 };
	static uint8_t room[WANTED];
	struct rpcrdma_dest dest = {.base = room, .len = sizeof(room)};
	uint64_t from, was = ended_connections();

	start("rprc,rprc-lifetime=0");
	fetch(1000, NULL, 20000);
	lazy_call(&w.lazy[0], FIRST);
	lazy_call(&w.lazy[1], SECOND);
	spin_server(50); /* nothing more moves to either of them */
	from = now_ns();
	fetch(sizeof(room), &dest, 20000);
	assert_true(dest.ret_used);
	assert_true(now_ns() - from >= 900 * MS);
	assert_int_equal(ended_connections(), was + 1);
	wake_lazy(&w.lazy[0], 1, 1, UINT64_MAX); /* no_reconnect: its call has failed */
	wake_lazy(&w.lazy[1], 1, 0, 0);
}

/* A client on a plain socket that offers to read replies, with one reply exposed. */
static void open_raw_reader(struct raw_peer *p, struct raw_msg *msg, uint32_t len)
{
	enum { CONNPROP = 5, NOMSG = 1 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in sa = {.sin_family = AF_INET,
	                         .sin_port = htons((uint16_t)atoi(w.port)),
	                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	raw_init(p, w.engine, fd);
	raw_send_mpa(p, "MPA ID Req Frame", NULL, 0);
	raw_receive_mpa(p, "MPA ID Rep Frame");
	raw_send_rtr(p);
	RAW_SEND(p, 0x77, 2, 0x00200020, CONNPROP, 0, 1, 0xffffff21, 12, 1, 0, 0);
	raw_receive_msg(p, msg);
	assert_int_equal(msg->word[3], CONNPROP);
	RAW_SEND(p, 0x66, 2, 0x00200001, 0, 0, 0, 0, 0, 0, 0x66, 0, 2, PROGRAM, 1,
	         P_LONG, 0, 0, 0, 0, len);
	raw_receive_msg(p, msg);
	assert_int_equal(msg->word[0], 0x66);
	assert_int_equal(msg->word[3], NOMSG);
	assert_int_equal(msg->word[6], 1); /* a Read chunk */
}

/* Sends an RDMA Read Request for the first 8 KiB of the reply that @msg exposes. */
static void raw_read(struct raw_peer *p, const struct raw_msg *msg, uint32_t sequence)
{
	uint8_t f[64] = {0};

	raw_put(f + 2, 0x4141, 2);        /* untagged, last; Read Request */
	raw_put(f + 8, 1, 4);             /* queue */
	raw_put(f + 12, sequence, 4);     /* message sequence number */
	raw_put(f + 20, 0x1234, 4);       /* sink STag, offset 0 */
	raw_put(f + 32, 8192, 4);         /* length */
	raw_put(f + 36, msg->word[8], 4); /* source: STag, offset */
	raw_put(f + 40, msg->word[10], 4);
	raw_put(f + 44, msg->word[11], 4);
	raw_fpdu(p, f, 46);
}

/* A peer that reads a reply again and again, but does not confirm it, is ended when the
 * reply has been exposed for five seconds and others wait for memory. */
static void exposures_of_busy_peers_end_too(void **state)
{
	enum { EXPOSED = 7600000, WANTED = 7800000 };
	static uint8_t room[WANTED];
	static struct raw_peer p;
	static struct raw_msg msg;
	struct rpcrdma_dest dest = {.base = room, .len = sizeof(room)};
	uint64_t from, was = ended_connections();
	struct done d = {0};

	start("rprc,rprc-lifetime=0");
	fetch(1000, NULL, 20000);
	open_raw_reader(&p, &msg, EXPOSED);
	from = now_ns();
	call(w.conn, WANTED, &dest, on_done, &d);
	for (uint32_t i = 1; ended_connections() == was; i++) {
		raw_read(&p, &msg, i);
		raw_step(&p, 20);
		p.len = 0; /* what was read does not matter */
		assert_true(now_ns() - from < 20000 * MS);
	}
	assert_true(now_ns() - from >= 4500 * MS);
	raw_close(&p);
	for (uint64_t end = now_ns() + 5000 * MS; !d.n && now_ns() < end;)
		assert_int_equal(rpcrdma_engine_process(w.engine, 20), 0);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.status, 0);
	assert_int_equal(ended_connections(), was + 1);
}

/* Each connection exposes so many replies. */
static void the_number_is_limited(void **state)
{
	start("rprc,rprc-lifetime=0,rprc-pending=1");
	lazy_call(&w.lazy[0], 100000);
	call(w.lazy[0].conn, 100000, NULL, lazy_done, &w.lazy[0]);
	assert_int_equal(rpcrdma_engine_process(w.lazy[0].engine, 0), 0);
	spin_server(50);
	assert_int_equal(server_stats().rprc_exposed, 1);
	lazy_call(&w.lazy[1], 100000); /* another connection */
	wake_lazy(&w.lazy[0], 2, 0, UINT64_MAX);
	assert_true(server_stats().bytes_continued >= 100000);
}

/* A listener that is closed waits until its replies have been read. */
static void closing_waits_for_the_readers(void **state)
{
	start("rprc");
	lazy_call(&w.lazy[0], MIB);
	rpcrdma_listener_close(w.listener, 20000 * MS);
	spin_server(1500); /* longer than a disconnect waits for the peer */
	assert_in_range(exposed_bytes(), MIB, MIB + 256);
	/* Then the server closes it. */
	wake_lazy(&w.lazy[0], 1, 1, 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEST(exposed_replies_are_in_the_budget),
	        TEST(lost_connections_expose_nothing),
	        TEST(the_sum_is_limited),
	        TEST(the_budget_is_a_limit),
	        TEST(the_oldest_exposure_is_ended_first),
	        TEST(exposures_of_busy_peers_end_too),
	        TEST(the_number_is_limited),
	        TEST(closing_waits_for_the_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
