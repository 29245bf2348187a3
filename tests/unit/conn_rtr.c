/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Send-based placement and counted continuation between two connections: requests and
 * responses by each way, what each end's properties allow, credits and reservations.
 * What arrives is compared octet by octet with a stream that the test lays out by
 * itself.
 */
#include "test_conn_jobs.h"

enum {
	REQ = 0xffffff15,
	RESP = 0xffffff16,
	CONT = 0xffffff17,
	MAX_SENT = 256,
	HEAD = 1024, /* octets before the segments of a buffer */
};

/* -- what was sent --------------------------------------------------------- */

struct sent {
	uint32_t xid, htype;
	size_t len;
	uint32_t inv;
};

static struct sent sent[MAX_SENT];
static unsigned n_sent, n_pads;

/* Checks that the octets between the Payload stream and the first segment are zero. */
static void check_pad(const struct side_msg *m, size_t header, uint32_t pslen)
{
	if (m->len <= HEAD || header + pslen >= HEAD)
		return;
	for (size_t i = header + pslen; i < HEAD; i++)
		assert_int_equal(m->p[i], 0);
	n_pads++;
}

/* The last message of each end. */
static struct last {
	uint32_t xid, htype, number;
} last[2];

/* Checks that a continuation follows the transmission before it, with no other message
 * of its sender in between.                                               NS-s19-05 */
static void check_order(struct last *l, const struct side_msg *m)
{
	struct last now = {rr_load_u32(m->p), rr_load_u32(m->p + 12), 0};

	if (now.htype == CONT) {
		now.number = rr_load_u32(m->p + 20);
		assert_int_equal(now.xid, l->xid);
		assert_true(l->htype == REQ || l->htype == RESP || l->htype == CONT);
		assert_int_equal(now.number, l->number + 1);
	}
	*l = now;
}

static void note_sent(struct side *s, const struct side_msg *m)
{
	check_order(&last[s->cfg.role == RR_CONN_SERVER], m);
	assert_true(n_sent < MAX_SENT);
	sent[n_sent++] = (struct sent){rr_load_u32(m->p), rr_load_u32(m->p + 12),
	                               m->len, m->inv};
	if (rr_load_u32(m->p + 12) == CONT)
		check_pad(m, 32, rr_load_u32(m->p + 28));
}

static unsigned count_sent(uint32_t htype)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_sent; i++)
		n += sent[i].htype == htype;
	return n;
}

/* Returns the number of messages that are neither grants nor properties. */
static unsigned count_rpc(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_sent; i++)
		n += sent[i].htype != 5 && sent[i].xid != 0;
	return n;
}

/* -- pairs ----------------------------------------------------------------- */

/* Both ends have @n targetable segments of @bytes octets. */
static struct workload *new_rtr(uint32_t n, uint32_t bytes)
{
	struct workload *w = workload_new();
	struct side *both[] = {&w->p.cl, &w->p.sv};

	workload_configure(w, 32, 4096, 1 << 20, true);
	for (unsigned i = 0; i < 2; i++) {
		both[i]->cfg.features.on = 1u << RR_FEATURE_RTR;
		both[i]->cfg.features.rtr_segments = n;
		both[i]->cfg.features.rtr_segment_bytes = bytes;
		both[i]->on_sent = note_sent;
	}
	return w;
}

static void start_pair(struct workload *w)
{
	pair_new(&w->p, 1);
	pair_run(&w->p);
	n_sent = 0;
}

static void settle_pair(struct workload *w)
{
	do
		pair_run(&w->p);
	while (pair_wait(&w->p, w->p.cl.now + RR_MS(50)));
}

static struct rr_conn_counters counters(const struct side *s)
{
	struct rr_conn_counters k;

	rr_conn_counters(s->c, &k);
	return k;
}

/* Runs one call of the client. */
static struct job *run_job(struct workload *w, const struct job *shape)
{
	struct job *j = workload_add(w, shape);

	job_start(&w->p.cl, j);
	settle_pair(w);
	assert_true(j->done);
	assert_int_equal(j->call.status, RR_CALL_OK);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_int_equal(side_valid_regions(&w->p.cl), 0);
	return j;
}

static const struct job write_8k = {
        .filler = 168, .n_items = 1, .item = {8192}, .reply_bytes = 200};

static struct job read_of(size_t len, enum rr_direct direct)
{
	return (struct job){.filler = 40,
	                    .n_results = 1,
	                    .result = {len},
	                    .n_dests = 1,
	                    .dest = {len ? len : 100},
	                    .direct = direct,
	                    .reply_filler = 80,
	                    .reply_bytes = 200};
}

/* -- placement by Send ----------------------------------------------------- */

static uintptr_t item_at;
static side_request_fn *next_on_request;

static void note_item(struct side *s, struct rr_request *r)
{
	for (unsigned i = 0; i < r->n_pieces; i++)
		if (r->pieces[i].item)
			item_at = (uintptr_t)r->pieces[i].base;
	next_on_request(s, r);
}

/* NS-s03-02, NS-s06-02, NS-s06-05, NS-s08-02, NS-s08-03, NS-s11-01, NS-s12-01: one Send,
 * no registration, no RDMA, no copy, and the item is aligned. */
static void a_write_of_8k_is_one_send(void **state)
{
	struct workload *w = new_rtr(1, 8192);

	(void)state;
	next_on_request = w->p.sv.on_request;
	w->p.sv.on_request = note_item;
	start_pair(w);
	run_job(w, &write_8k);
	assert_int_equal(count_rpc(), 2);
	assert_int_equal(sent[0].htype, REQ);
	assert_int_equal(sent[0].len, 9216);
	assert_int_equal(sent[1].htype, RESP);
	assert_int_equal(item_at % 4096, 0);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	assert_int_equal(counters(&w->p.cl).bytes_copied, 0);
	assert_int_equal(counters(&w->p.sv).bytes_copied, 0);
	assert_int_equal(counters(&w->p.sv).bytes_placed, 8192);
	assert_int_equal(w->p.sv.n_reads, 0);
	workload_end(w);
}

/* NS-s07-02, NS-s11-06, NS-s17-01, NS-s18-04: one Send back, no registration and no RDMA
 * Write; the caller's copy is the only one. */
static void a_read_of_8k_is_one_send(void **state)
{
	struct workload *w = new_rtr(1, 8192);
	const struct job shape = read_of(8192, RR_DIRECT_SEND);
	struct job *j;

	(void)state;
	start_pair(w);
	j = run_job(w, &shape);
	assert_true(j->dests[0].ret_used);
	assert_int_equal(count_rpc(), 2);
	assert_int_equal(sent[1].htype, RESP);
	assert_int_equal(sent[1].len, 9216);
	assert_int_equal(w->p.sv.n_writes, 0);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	assert_int_equal(counters(&w->p.cl).bytes_copied, 8192);
	assert_int_equal(counters(&w->p.sv).bytes_copied, 0);
	workload_end(w);
}

/* NS-s12-02, NS-s11-05: WRITE and READ of each length with each structure, also unlike
 * ones at the two ends. */
static void every_structure_takes_every_length(void **state)
{
	static const struct {
		uint32_t n, bytes;
	} structures[] = {{1, 8192}, {1, 4096}, {4, 4096}, {3, 1024}};
	static const size_t lengths[] = {0,    1,    511,  512,   1023,  4095, 4096,
	                                 4097, 8191, 8192, 12000, 16384, 40000};

	(void)state;
	for (unsigned a = 0; a < RR_ARRAY_SIZE(structures); a++)
		for (unsigned b = 0; b < RR_ARRAY_SIZE(structures); b++) {
			struct workload *w =
			        new_rtr(structures[a].n, structures[a].bytes);

			w->p.sv.cfg.features.rtr_segments = structures[b].n;
			w->p.sv.cfg.features.rtr_segment_bytes = structures[b].bytes;
			w->p.cl.cfg.send_bytes = w->p.sv.cfg.send_bytes = 32768;
			start_pair(w);
			for (unsigned i = 0; i < RR_ARRAY_SIZE(lengths); i++) {
				struct job shape =
				        read_of(lengths[i], RR_DIRECT_CHOICE);

				n_sent = 0;
				shape.n_items = 1;
				shape.item[0] = lengths[i];
				run_job(w, &shape);
			}
			assert_true(counters(&w->p.sv).bytes_placed > 8192);
			workload_end(w);
		}
	assert_true(n_pads > 10);
}

/* NS-s12-03 */
static void two_buffers_of_4k_take_8k(void **state)
{
	struct workload *w = new_rtr(1, 4096);

	(void)state;
	start_pair(w);
	run_job(w, &write_8k);
	assert_int_equal(count_rpc(), 3);
	assert_int_equal(sent[0].htype, REQ);
	assert_int_equal(sent[0].len, 5120);
	assert_int_equal(sent[1].htype, CONT);
	assert_int_equal(sent[1].len, 5120);
	workload_end(w);
}

/* NS-s19-02, NS-s10-01: 64 KiB each way in eight Sends, and nothing else. */
static void io_of_64k_is_eight_sends(void **state)
{
	struct workload *w = new_rtr(1, 8192);
	struct job shape = read_of(65536, RR_DIRECT_SEND);

	(void)state;
	start_pair(w);
	run_job(w, &shape);
	assert_int_equal(count_rpc(), 1 + 8);
	shape = write_8k;
	shape.item[0] = 65536;
	n_sent = 0;
	run_job(w, &shape);
	assert_int_equal(count_rpc(), 8 + 1);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(sent[i].len, 9216);
	assert_int_equal(w->p.sv.n_reads + w->p.sv.n_writes, 0);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	workload_end(w);
}

/* NS-s19-01: neither message has an item. */
static void long_messages_are_groups(void **state)
{
	struct workload *w = new_rtr(2, 4096);
	const struct job shape = {
	        .filler = 65536, .reply_filler = 65536, .reply_bytes = 65600};

	(void)state;
	start_pair(w);
	run_job(w, &shape);
	assert_int_equal(count_sent(REQ), 1);
	assert_int_equal(count_sent(RESP), 1);
	assert_int_equal(count_sent(CONT), 14);
	assert_int_equal(count_rpc(), 16);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	workload_end(w);
}

/* NS-s11-03, NS-s11-04, NS-s14-01: items in the middle of the stream. */
static void several_items_are_placed(void **state)
{
	struct workload *w = new_rtr(4, 8192);
	const struct job shape = {.filler = 100,
	                          .n_items = 3,
	                          .item = {8192, 4096, 1024},
	                          .n_results = 3,
	                          .result = {8192, 70, 4099},
	                          .n_dests = 3,
	                          .dest = {8192, 100, 5000},
	                          .direct = RR_DIRECT_SEND,
	                          .reply_bytes = 200};

	(void)state;
	start_pair(w);
	run_job(w, &shape);
	assert_int_equal(count_rpc(), 2);
	assert_int_equal(w->p.sv.n_reads + w->p.sv.n_writes, 0);
	assert_int_equal(counters(&w->p.sv).bytes_placed,
	                 8192 + 4096 + 1024 + 8192 + 70 + 4099);
	workload_end(w);
}

/* NS-s09-01: what NFS clients ask for most needs no explicit RDMA. */
static void a_mix_needs_no_explicit_rdma(void **state)
{
	struct workload *w = new_rtr(2, 8192);
	const struct job read = read_of(8192, RR_DIRECT_SEND);
	const struct job lookup = {.filler = 120, .reply_filler = 200};
	const struct job getattr = {.filler = 80, .reply_filler = 92};
	const struct job *const mix[] = {&read, &write_8k, &lookup, &getattr};

	(void)state;
	start_pair(w);
	for (unsigned i = 0; i < 40; i++)
		job_start(&w->p.cl, workload_add(w, mix[i % 4]));
	settle_pair(w);
	assert_int_equal(w->p.sv.n_reads + w->p.sv.n_writes, 0);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	for (unsigned i = 0; i < 40; i++)
		assert_int_equal(w->job[i].call.status, RR_CALL_OK);
	workload_end(w);
}

/* NS-s04-02: without any feature, larger Receive buffers take longer messages. */
static void larger_buffers_take_longer_messages(void **state)
{
	const struct job shape = {.filler = 8192};

	(void)state;
	for (unsigned large = 0; large < 2; large++) {
		struct workload *w = new_rtr(0, 4096);

		workload_configure(w, 32, large ? 16384 : 4096, 1 << 20, true);
		w->p.cl.cfg.features.on = w->p.sv.cfg.features.on = 0;
		start_pair(w);
		run_job(w, &shape);
		assert_int_equal(count_rpc(), large ? 2 : 4);
		workload_end(w);
	}
}

/* -- directions ------------------------------------------------------------ */

static struct job *run_read(struct workload *w, size_t len, enum rr_direct direct,
                            uint32_t min_len, uint32_t above)
{
	struct job shape = read_of(len, direct);

	shape.dest[0] = 20000;
	shape.min_len = min_len;
	shape.above = above;
	n_sent = 0;
	w->p.sv.n_writes = 0;
	return run_job(w, &shape);
}

/* NS-s18-01, NS-s18-03, NS-s18-06: strictly above the length the result is written, and
 * the memory that was advertised is fenced in any case. */
static void by_size_is_strict(void **state)
{
	struct workload *w = new_rtr(2, 8192);
	struct rr_conn_counters k;

	(void)state;
	start_pair(w);
	run_read(w, 5000, RR_DIRECT_BY_SIZE, 0, 5000);
	assert_int_equal(w->p.sv.n_writes, 0);
	run_read(w, 5001, RR_DIRECT_BY_SIZE, 0, 5000);
	assert_int_equal(w->p.sv.n_writes, 1);
	run_read(w, 8192, RR_DIRECT_WRITE, 0, 0);
	assert_int_equal(w->p.sv.n_writes, 1);
	k = counters(&w->p.cl);
	assert_int_equal(k.registrations, 3);
	assert_int_equal(k.local_invalidations + k.remote_invalidations, 3);
	workload_end(w);
}

/* NS-s18-02, NS-s18-06 */
static void the_responder_chooses_by_length(void **state)
{
	struct workload *w = new_rtr(2, 8192);
	struct rr_conn_counters k;

	(void)state;
	w->p.sv.cfg.features.tbsn_max = 6000;
	start_pair(w);
	run_read(w, 6000, RR_DIRECT_CHOICE, 0, 0);
	assert_int_equal(w->p.sv.n_writes, 0);
	run_read(w, 6001, RR_DIRECT_CHOICE, 0, 0);
	assert_int_equal(w->p.sv.n_writes, 1);
	k = counters(&w->p.cl);
	assert_int_equal(k.registrations, 2);
	assert_int_equal(k.local_invalidations + k.remote_invalidations, 2);
	workload_end(w);
}

/* NS-s16-04, NS-s17-05 */
static void short_results_stay_inline(void **state)
{
	struct workload *w = new_rtr(2, 8192);

	(void)state;
	start_pair(w);
	assert_false(run_read(w, 1023, RR_DIRECT_SEND, 1024, 0)->dests[0].ret_used);
	assert_true(run_read(w, 1024, RR_DIRECT_SEND, 1024, 0)->dests[0].ret_used);
	assert_false(run_read(w, 100, RR_DIRECT_CHOICE, 1024, 0)->dests[0].ret_used);
	workload_end(w);
}

/* NS-rtrext-18: whatever the direction and the length, each registration ends. */
static void all_memory_is_fenced(void **state)
{
	static const size_t lengths[] = {0, 400, 3000, 9000};
	struct workload *w = new_rtr(2, 8192);
	struct rr_conn_counters k;

	(void)state;
	start_pair(w);
	for (unsigned direct = RR_DIRECT_NONE; direct <= RR_DIRECT_BY_SIZE; direct++)
		for (unsigned i = 0; i < RR_ARRAY_SIZE(lengths); i++)
			run_read(w, lengths[i], (enum rr_direct)direct, 1000, 4000);
	k = counters(&w->p.cl);
	assert_true(k.registrations > 10);
	assert_int_equal(k.registrations,
	                 k.local_invalidations + k.remote_invalidations);
	workload_end(w);
}

/* -- properties ------------------------------------------------------------ */

/* NS-s10-02, NS-s15-02, NS-s22-02, NS-rtissues-04, NS-rtrext-17: every combination works,
 * and the header types appear only if both ends have the feature. */
static void every_combination_works(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits < 256; bits++) {
		struct workload *w = new_rtr(2, 4096);
		struct side *both[] = {&w->p.cl, &w->p.sv};
		struct job shape = read_of(6000, (enum rr_direct)(1 + bits % 4));

		for (unsigned i = 0; i < 2; i++) {
			struct rr_feature_config *g = &both[i]->cfg.features;
			unsigned mine = bits >> 4 * i & 15;

			g->on = mine & 1 ? 1u << RR_FEATURE_RTR : 0;
			g->rtr_segments = mine & 2 ? 2 : 0;
			g->rtr_no_continuation = mine & 4;
			g->rtr_no_send_results = mine & 8;
		}
		shape.n_items = 1;
		shape.item[0] = 9000;
		shape.filler = 8000;
		shape.above = 3000;
		start_pair(w);
		run_job(w, &shape);
		if ((bits & 0x11) != 0x11)
			assert_int_equal(count_sent(REQ) + count_sent(RESP), 0);
		else
			assert_int_equal(count_sent(RESP), count_sent(REQ));
		if ((bits & 0x44))
			assert_int_equal(count_sent(CONT), 0);
		workload_end(w);
	}
}

/* NS-rtissues-05: the Responder does not place results, so they are written. */
static void results_are_written_if_the_peer_cannot_place(void **state)
{
	struct workload *w = new_rtr(2, 8192);

	(void)state;
	w->p.sv.cfg.features.rtr_no_send_results = true;
	start_pair(w);
	run_read(w, 8192, RR_DIRECT_SEND, 0, 0);
	assert_int_equal(count_sent(REQ), 1);
	assert_int_equal(w->p.sv.n_writes, 1);
	workload_end(w);
}

/* NS-rtrext-23: no Send is longer than the sender's own limit. */
static void the_senders_limit_holds(void **state)
{
	struct workload *w = new_rtr(1, 8192);

	(void)state;
	w->p.cl.cfg.features.rtr_segments = 1;
	w->p.cl.cfg.features.rtr_segment_bytes = 4096;
	w->p.cl.cfg.send_bytes = 5120;
	start_pair(w);
	run_job(w, &write_8k);
	for (unsigned i = 0; i < n_sent; i++)
		assert_true(sent[i].len <= 5120);
	assert_int_equal(w->p.sv.n_reads, 1);
	workload_end(w);
}

/* NS-rtrext-22: as RPCSEC_GSS integrity and privacy ask for. */
static void protected_calls_are_only_continued(void **state)
{
	struct workload *w = new_rtr(2, 4096);
	const struct job shape = {.filler = 40,
	                          .n_items = 1,
	                          .item = {65536},
	                          .flags = RR_CALL_NO_REDUCE | RR_CALL_NO_WRITES,
	                          .reply_bytes = 200};

	(void)state;
	start_pair(w);
	run_job(w, &shape);
	assert_int_equal(count_sent(REQ), 1);
	assert_true(count_sent(CONT) > 5);
	assert_int_equal(counters(&w->p.sv).bytes_placed, 0);
	assert_int_equal(w->p.sv.n_reads, 0);
	workload_end(w);
}

/* NS-s11-02: what is not an item stays in the Payload stream. */
static void only_items_are_excised(void **state)
{
	struct workload *w = new_rtr(2, 8192);
	const struct job shape = {.filler = 16000, .reply_bytes = 200};

	(void)state;
	start_pair(w);
	run_job(w, &shape);
	assert_int_equal(count_sent(REQ), 1);
	assert_int_equal(counters(&w->p.sv).bytes_placed, 0);
	workload_end(w);
}

/* -- credits --------------------------------------------------------------- */

/* NS-s20-03, NS-rtrext-05: the Payload stream of a Call that needs too many
 * transmissions is pulled, after one Send. */
static void too_long_a_group_is_pulled(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct workload *w = new_rtr(0, 4096);
		struct job shape = {.filler = i == 1 ? 14000 : 21000,
		                    .reply_bytes = 200};

		if (i == 2)
			w->p.sv.cfg.features.rtr_requests = 4;
		else
			workload_configure(w, 4, 4096, 1 << 20, true);
		start_pair(w);
		run_job(w, &shape);
		assert_int_equal(count_rpc(), 2);
		assert_int_equal(sent[0].htype, REQ);
		assert_int_equal(w->p.sv.n_reads, 1 + (shape.filler > 4096));
		assert_int_equal(counters(&w->p.cl).registrations, 1);
		workload_end(w);
	}
}

/* NS-s20-01: as many transmissions as there are credits less one. */
static void each_transmission_uses_a_credit(void **state)
{
	struct workload *w = new_rtr(1, 8192);
	struct rr_conn_info before, after;
	struct job shape = write_8k, *j;

	(void)state;
	workload_configure(w, 9, 4096, 1 << 20, true);
	shape.item[0] = 65536;
	start_pair(w);
	settle_pair(w);
	rr_conn_info(w->p.cl.c, &before);
	j = workload_add(w, &shape);
	job_start(&w->p.cl, j);
	rr_conn_info(w->p.cl.c, &after);
	assert_int_equal(before.avail - after.avail, 8);
	settle_pair(w);
	assert_int_equal(j->call.status, RR_CALL_OK);
	workload_end(w);
}

/* NS-s20-02, NS-s21-07, NS-s19-05: groups of both peers cross, with few credits and
 * nothing else to send; no message comes between the transmissions of a group. */
static void crossing_groups_complete(void **state)
{
	(void)state;
	for (unsigned ceiling = 2; ceiling < 10; ceiling++) {
		struct workload *w = new_rtr(1, 4096);
		rr_time from;

		workload_configure(w, ceiling, 4096, 1 << 20, true);
		start_pair(w);
		from = w->p.cl.now;
		for (unsigned i = 0; i < 12; i++) {
			struct job shape =
			        read_of(i % 3 ? 8192 : 12288, RR_DIRECT_CHOICE);

			shape.n_items = i & 1;
			shape.item[0] = 8192;
			job_start(&w->p.cl, workload_add(w, &shape));
		}
		settle_pair(w);
		for (unsigned i = 0; i < 12; i++)
			assert_int_equal(w->job[i].call.status, RR_CALL_OK);
		assert_true(w->p.cl.now - from < RR_MS(900)); /* no group_wait */
		workload_end(w);
	}
}

/* NS-s21-01: reservations of outstanding calls stay within the ceiling less two, and the
 * responses need no more Receives than there are. */
static void reservations_are_limited(void **state)
{
	struct workload *w = new_rtr(1, 8192);
	const struct job shape = read_of(65536, RR_DIRECT_SEND);

	(void)state;
	w->hold = true;
	start_pair(w);
	for (unsigned i = 0; i < 16; i++)
		job_start(&w->p.cl, workload_add(w, &shape));
	for (unsigned served = 0; served < 16;) {
		settle_pair(w);
		assert_true(w->n_held >= 1 && w->n_held <= 3);
		served += w->n_held;
		workload_answer_held(w);
		n_sent = 0;
	}
	settle_pair(w);
	assert_int_equal(counters(&w->p.cl).overruns, 0);
	assert_int_equal(counters(&w->p.cl).bytes_placed, 16 * 65536);
	workload_end(w);
}

/* NS-s13-02, NS-s21-02, NS-rtrext-06: a response that may be too long gets a Reply
 * chunk, and comes in it. */
static void too_long_a_response_is_written(void **state)
{
	for (unsigned i = 0; i < 2; i++) {
		struct workload *w = new_rtr(1, 8192);
		struct job shape = write_8k;

		(void)state;
		w->p.sv.cfg.features.rtr_responses = 2;
		w->p.cl.cfg.features.rtr_no_continuation = i;
		shape.reply_filler = 20000;
		shape.reply_bytes = 20100;
		start_pair(w);
		run_job(w, &shape);
		assert_int_equal(count_sent(REQ), 1);
		assert_int_equal(count_sent(RESP), 1);
		assert_int_equal(counters(&w->p.cl).reply_chunks_offered, 1);
		assert_int_equal(counters(&w->p.cl).reply_chunks_used, 1);
		workload_end(w);
	}
}

/* NS-s19-03: a long response that is just possible costs no registration. */
static void a_response_that_may_be_long_is_one_send(void **state)
{
	struct workload *w = new_rtr(1, 8192);
	struct job shape = write_8k;

	(void)state;
	shape.reply_filler = 300;
	shape.reply_bytes = 20480;
	start_pair(w);
	run_job(w, &shape);
	assert_int_equal(count_rpc(), 2);
	assert_int_equal(counters(&w->p.cl).registrations, 0);
	workload_end(w);
}

/* -- ends ------------------------------------------------------------------ */

/* A call is cancelled, or the connection lost, after any number of events. */
static void ends_at_every_step(void **state)
{
	(void)state;
	for (unsigned lose = 0; lose < 2; lose++)
		for (unsigned steps = 0; steps < 40; steps++) {
			struct workload *w = new_rtr(1, 4096);
			struct job shape = read_of(8192, RR_DIRECT_CHOICE), *j;

			workload_configure(w, 6, 4096, 1 << 20, true);
			shape.n_items = 1;
			shape.item[0] = 8192;
			start_pair(w);
			j = workload_add(w, &shape);
			job_start(&w->p.cl, j);
			workload_steps(w, steps);
			if (lose)
				pair_lose(&w->p, -ECONNRESET);
			else if (!j->done)
				rr_conn_cancel(w->p.cl.c, &j->call, w->p.cl.now);
			side_drain(&w->p.cl);
			settle_pair(w);
			if (!lose)
				assert_int_equal(side_valid_regions(&w->p.cl), 0);
			workload_end(w);
		}
}

/* The n-th allocation of either end fails. */
static void memory_runs_out_anywhere(void **state)
{
	(void)state;
	for (unsigned at = 1; at < 30; at++)
		for (unsigned end = 0; end < 2; end++) {
			struct workload *w = new_rtr(1, 4096);
			struct job shape = read_of(8192, RR_DIRECT_CHOICE), *j;
			struct side *s = end ? &w->p.sv : &w->p.cl;

			shape.n_items = 2;
			shape.item[0] = 8192;
			shape.item[1] = 600;
			shape.reply_filler = 2000;
			shape.reply_bytes = 4000;
			start_pair(w);
			j = workload_add(w, &shape);
			s->mem_fail_at = at;
			if (rr_conn_call(w->p.cl.c, &j->call, 0)) {
				w->n_jobs--;
				job_free(j);
			}
			side_drain(&w->p.cl);
			settle_pair(w);
			s->mem_fail_at = 0;
			workload_end(w);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_write_of_8k_is_one_send),
	        cmocka_unit_test(a_read_of_8k_is_one_send),
	        cmocka_unit_test(every_structure_takes_every_length),
	        cmocka_unit_test(two_buffers_of_4k_take_8k),
	        cmocka_unit_test(io_of_64k_is_eight_sends),
	        cmocka_unit_test(long_messages_are_groups),
	        cmocka_unit_test(several_items_are_placed),
	        cmocka_unit_test(a_mix_needs_no_explicit_rdma),
	        cmocka_unit_test(larger_buffers_take_longer_messages),
	        cmocka_unit_test(by_size_is_strict),
	        cmocka_unit_test(the_responder_chooses_by_length),
	        cmocka_unit_test(short_results_stay_inline),
	        cmocka_unit_test(all_memory_is_fenced),
	        cmocka_unit_test(every_combination_works),
	        cmocka_unit_test(results_are_written_if_the_peer_cannot_place),
	        cmocka_unit_test(the_senders_limit_holds),
	        cmocka_unit_test(protected_calls_are_only_continued),
	        cmocka_unit_test(only_items_are_excised),
	        cmocka_unit_test(too_long_a_group_is_pulled),
	        cmocka_unit_test(each_transmission_uses_a_credit),
	        cmocka_unit_test(crossing_groups_complete),
	        cmocka_unit_test(reservations_are_limited),
	        cmocka_unit_test(too_long_a_response_is_written),
	        cmocka_unit_test(a_response_that_may_be_long_is_one_send),
	        cmocka_unit_test(ends_at_every_step),
	        cmocka_unit_test(memory_runs_out_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
