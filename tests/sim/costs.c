/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What each way to move 8 KiB costs, in operations and in time.           [ext §2.8]
 *
 * Each way over the wire takes L, octets take no time, and whoever sleeps is woken I
 * after something has arrived.  So the time of a call shows how many trips and wake-ups
 * are on its critical path.
 */
#include "timed.h"

enum {
	L = 1000000,
	I = 3000,
	FENCE = 500,
	HEAD = 64,
	BULK = 8192,
	BULK_64K = 65536,
	LONG = 100000
};

enum argument {
	ARG_INLINE,
	ARG_READ_CHUNK,
	ARG_CONTINUED,
	ARG_SHORT_SPECIAL,
	ARG_SPECIAL,
	ARG_BY_SEND,
	ARG_LONG_BY_SEND,
	ARG_GROUP,
};
enum result { RES_INLINE, RES_WRITE_CHUNK, RES_CHUNK, RES_EXPOSED, RES_BY_SEND };

/* One row of the table. */
struct way {
	const char *name;
	enum argument argument;
	enum result result;
	unsigned trips;  /* L on the critical path */
	unsigned server; /* wake-ups on the critical path */
	unsigned client;
	unsigned later_server;         /* wake-ups off that path */
	unsigned registered, exposed;  /* by the client, by the server */
	unsigned sends, reads, writes; /* of both ends */
};

static const struct way ways[] = {
        {"short call", ARG_INLINE, RES_INLINE, 2, 1, 1, .sends = 2},
        {
                "WRITE, Read chunk",
                ARG_READ_CHUNK,
                RES_INLINE,
                4,
                2,
                1,
                .registered = 1,
                .sends = 2,
                .reads = 1,
        },
        {
                "READ, Write chunk",
                ARG_INLINE,
                RES_WRITE_CHUNK,
                2,
                1,
                1,
                .registered = 1,
                .sends = 2,
                .writes = 1,
        },
        {"Call of three messages", ARG_CONTINUED, RES_INLINE, 2, 1, 1, .sends = 4},
        {
                "short Special Call",
                ARG_SHORT_SPECIAL,
                RES_INLINE,
                4,
                2,
                1,
                .registered = 1,
                .sends = 2,
                .reads = 1,
        },
        /* The Responder first reads 4096 octets, and admits the Call by its RPC header. */
        {
                "long Special Call",
                ARG_SPECIAL,
                RES_INLINE,
                6,
                3,
                1,
                .registered = 1,
                .sends = 2,
                .reads = 2,
        },
        {
                "Reply in a Reply chunk",
                ARG_INLINE,
                RES_CHUNK,
                2,
                1,
                1,
                .registered = 1,
                .sends = 2,
                .writes = 1,
        },
        {
                "Reply as a Read chunk",
                ARG_INLINE,
                RES_EXPOSED,
                4,
                1,
                2,
                .later_server = 1,
                .exposed = 1,
                .sends = 3,
                .reads = 1,
        },
        {"WRITE by Send", ARG_BY_SEND, RES_INLINE, 2, 1, 1, .sends = 2},
        {"READ by Send", ARG_INLINE, RES_BY_SEND, 2, 1, 1, .sends = 2},
        {"WRITE of 64 KiB by Send", ARG_LONG_BY_SEND, RES_INLINE, 2, 1, 1, .sends = 9},
        {"Call of a group of two", ARG_GROUP, RES_INLINE, 2, 1, 1, .sends = 3},
};

/* Returns true if the feature RTR is needed. */
static bool uses_groups(const struct way *k)
{
	return k->argument >= ARG_BY_SEND || k->result == RES_BY_SEND;
}

static const uint8_t call_head[HEAD] = {0, 0, 0, 9};
static const uint8_t reply_head[HEAD] = {0, 0, 0, 9, 0, 0, 0, 1};

struct counts {
	struct rr_conn_counters conn;
	struct rr_prov_counters prov;
	unsigned wakeups;
};

static void take_counts(const struct timed_side *s, struct counts *ret)
{
	rr_conn_counters(s->pump.conn, &ret->conn);
	rr_sim_ops.counters(s->ep, &ret->prov);
	ret->wakeups = s->wakeups;
}

static struct timed *open_pair(bool inv, bool groups)
{
	const struct rr_sim_options o = {
	        .dir = {{.delay = {L, L}}, {.delay = {L, L}}},
	        .inv_done = {FENCE, FENCE},
	        .batch = {I, I},
	};
	struct rr_conn_config cfg = {
	        .remote_invalidate = inv,
	        .features = {.on = 1u << RR_FEATURE_RPRC, .cont_max_sends = 1},
	};
	struct timed *p = timed_new(&o);

	if (groups) {
		cfg.features.on |= 1u << RR_FEATURE_RTR;
		cfg.features.rtr_segments = 1;
		cfg.features.rtr_segment_bytes = BULK;
	}
	timed_connect(p, (struct rr_conn_config[]){cfg, cfg});
	return p;
}

static unsigned lay_out_call(struct timed *p, const struct way *k, struct rr_dest *dest,
                             struct rr_piece pieces[2])
{
	bool item = k->argument != ARG_INLINE;

	pieces[0] = (struct rr_piece){call_head, HEAD, false};
	pieces[1] = (struct rr_piece){p->mem[0], BULK, true};
	p->call = (struct rr_call){.xid = 9};
	if (uses_groups(k))
		p->call.reply_bytes = 2 * HEAD;
	if (k->argument == ARG_LONG_BY_SEND)
		pieces[1].len = BULK_64K;
	if (k->argument == ARG_GROUP) {
		p->call.flags = RR_CALL_NO_REDUCE;
		pieces[1].len = 12000;
	}
	if (k->argument == ARG_CONTINUED)
		p->call.flags = RR_CALL_NO_REDUCE;
	if (k->argument == ARG_SHORT_SPECIAL)
		pieces[1].len = 4000;
	if (k->argument == ARG_SHORT_SPECIAL || k->argument == ARG_SPECIAL)
		p->call.flags = RR_CALL_NO_REDUCE | RR_CALL_SPECIAL;
	if (k->result == RES_WRITE_CHUNK || k->result == RES_BY_SEND) {
		dest->direct =
		        k->result == RES_BY_SEND ? RR_DIRECT_SEND : RR_DIRECT_NONE;
		p->call.dests = dest;
		p->call.n_dests = 1;
	}
	if (k->result == RES_CHUNK) {
		p->call.reply_bytes = HEAD + LONG;
		p->call.flags |= RR_CALL_LARGE_REPLY;
	}
	return 1 + item;
}

static void lay_out_reply(struct timed *p, const struct way *k)
{
	p->reply[0] = (struct rr_piece){reply_head, HEAD, false};
	p->reply[1] = (struct rr_piece){p->mem[1], 0, false};
	if (k->result == RES_WRITE_CHUNK || k->result == RES_BY_SEND)
		p->reply[1] = (struct rr_piece){p->mem[1], BULK, true};
	if (k->result == RES_CHUNK || k->result == RES_EXPOSED)
		p->reply[1] = (struct rr_piece){p->mem[1], LONG, false};
}

#define GREW(end, part, field) (after[end].part.field - before[end].part.field)
#define BOTH(part, field)      (GREW(0, part, field) + GREW(1, part, field))

/* Makes the call once and compares. */
static void cost(const struct way *k, bool inv)
{
	struct timed *p = open_pair(inv, uses_groups(k));
	struct rr_dest dest = {.base = p->mem[0], .len = BULK};
	struct counts before[2], after[2];
	struct rr_piece pieces[2];
	unsigned n = lay_out_call(p, k, &dest, pieces);
	unsigned local = inv ? 0 : k->registered;
	rr_time took;

	print_message("    %s, %s\n", k->name,
	              inv ? "invalidated by the peer" : "locally");
	lay_out_reply(p, k);
	for (unsigned i = 0; i < 2; i++)
		take_counts(&p->side[i], &before[i]);
	took = timed_call(p, pieces, n);
	assert_int_equal(took, (rr_time)k->trips * L +
	                               (rr_time)(k->server + k->client) * I +
	                               (rr_time)local * (FENCE + I));
	while (timed_step(p, rr_sim_now(p->w) + RR_SEC(1)))
		;
	for (unsigned i = 0; i < 2; i++)
		take_counts(&p->side[i], &after[i]);
	assert_int_equal(GREW(0, conn, registrations), k->registered);
	assert_int_equal(GREW(1, conn, registrations), k->exposed);
	assert_int_equal(GREW(0, prov, local_invalidations), local);
	assert_int_equal(GREW(0, prov, remote_invalidations),
	                 inv && k->registered ? 1 : 0);
	assert_int_equal(BOTH(prov, sends), k->sends);
	assert_int_equal(BOTH(prov, reads), k->reads);
	assert_int_equal(BOTH(prov, writes), k->writes);
	assert_int_equal(after[0].wakeups - before[0].wakeups, k->client + local);
	assert_int_equal(after[1].wakeups - before[1].wakeups,
	                 k->server + k->later_server + (inv ? 0 : k->exposed));
	timed_end(p);
}

static void every_way_costs_what_it_must(void **state)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(ways); i++)
		for (unsigned inv = 0; inv < 2; inv++)
			cost(&ways[i], inv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(every_way_costs_what_it_must),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
