/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_conn_jobs.h"

static uint8_t pattern(uint32_t salt, size_t i)
{
	return (uint8_t)((salt * 31 + i * 7 + (i >> 8) * 13) ^ (i >> 16));
}

static uint8_t *make_pattern(uint32_t salt, size_t len)
{
	uint8_t *p = malloc(len + 1);

	for (size_t i = 0; i < len; i++)
		p[i] = pattern(salt, i);
	return p;
}

size_t job_padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Lays out a header piece (XID, type, filler and the first count word), an item, a
 * count word, an item and so on, and the flat stream of all. */
static unsigned lay_out(uint32_t xid, uint32_t type, size_t filler, unsigned n,
                        const size_t *len, struct rr_piece *piece, uint8_t **mem,
                        uint8_t **flat, size_t *flat_len)
{
	size_t total = 8 + filler, at = 0, word = 0;
	unsigned k = 0;

	for (unsigned i = 0; i < n; i++)
		total += 4 + job_padded(len[i]);
	*flat = calloc(1, total);
	*mem = calloc(1, 8 + filler + 4 * n + n + 8);
	for (unsigned i = 0; i < n; i++)
		assert_non_null(piece);
	rr_store_u32(*mem, xid);
	rr_store_u32(*mem + 4, type);
	for (size_t i = 0; i < filler; i++)
		(*mem)[8 + i] = pattern(xid + type, i);
	word = 8 + filler;
	memcpy(*flat, *mem, word);
	piece[k++] = (struct rr_piece){*mem, word, false};
	at = word;
	for (unsigned i = 0; i < n; i++) {
		uint8_t *data = make_pattern(xid * 10 + type * 5 + i, len[i]);

		rr_store_u32(*mem + word, (uint32_t)len[i]);
		memcpy(*flat + at, *mem + word, 4);
		if (i == 0)
			piece[0].len += 4;
		else
			piece[k++] = (struct rr_piece){*mem + word, 4, false};
		word += 4;
		at += 4;
		memcpy(*flat + at, data, len[i]);
		at += job_padded(len[i]);
		piece[k++] = (struct rr_piece){data, len[i], true};
	}
	assert_int_equal(at, total);
	*flat_len = total;
	return k;
}

static void free_pieces(struct rr_piece *piece, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (piece[i].item)
			free((void *)(uintptr_t)piece[i].base);
}

static struct job *find_job(struct workload *w, uint32_t xid)
{
	for (unsigned i = 0; i < w->n_jobs; i++)
		if (w->job[i].xid == xid)
			return &w->job[i];
	fail_msg("no job %#x", xid);
	return NULL;
}

/* -- the server's user ----------------------------------------------------- */

static void on_admit(struct side *s, struct rr_request *r)
{
	struct job *j = find_job(s->app, r->xid);
	struct rr_sge sinks[RR_REQUEST_MAX_READS] = {{0}};

	assert_int_equal(r->n_pieces, 1);
	assert_int_equal(rr_load_u32(r->pieces[0].base), j->xid);
	assert_int_equal(r->user, 0);
	if (j->user_sinks) {
		assert_true(r->n_reads <= MAX_ITEMS);
		for (unsigned i = 0; i < r->n_reads; i++) {
			free(j->sink[i]);
			j->sink[i] = malloc((size_t)r->read_bytes);
			sinks[i] =
			        (struct rr_sge){j->sink[i], (uint32_t)r->read_bytes, 0};
		}
	}
	rr_conn_admit(s->c, r, j->user_sinks ? sinks : NULL, s->now);
}

static void check_request(const struct job *j, const struct rr_request *r)
{
	uint8_t *all = calloc(1, j->flat_len + 64);
	size_t at = 0;

	for (unsigned i = 0; i < r->n_pieces; i++) {
		const struct rr_piece *k = &r->pieces[i];

		assert_true(at + k->len <= j->flat_len);
		memcpy(all + at, k->base, k->len);
		at += k->item ? job_padded(k->len) : k->len;
	}
	assert_int_equal(at, j->flat_len);
	assert_memory_equal(all, j->flat, j->flat_len);
	free(all);
}

static void answer(struct side *s, struct rr_request *r)
{
	struct job *j = find_job(s->app, r->xid);
	uint8_t *flat;
	size_t len;

	if (!j->n_reply_pieces) {
		j->n_reply_pieces =
		        lay_out(j->xid, 1, j->reply_filler, j->n_results, j->result,
		                j->reply_piece, &j->reply_parts, &flat, &len);
		free(flat);
	}
	j->served = true;
	rr_conn_reply(s->c, r, j->reply_piece, j->n_reply_pieces, s->now);
}

static void on_request(struct side *s, struct rr_request *r)
{
	struct workload *w = s->app;

	check_request(find_job(w, r->xid), r);
	if (w->hold)
		w->held[w->n_held++] = r;
	else
		answer(s, r);
}

/* -- the client's user ----------------------------------------------------- */

static void check_reply(struct job *j)
{
	uint8_t *flat, *mem, *want;
	struct rr_piece piece[2 * MAX_ITEMS + 2];
	size_t flat_len, at = 8 + j->reply_filler, n = at;
	unsigned k = lay_out(j->xid, 1, j->reply_filler, j->n_results, j->result, piece,
	                     &mem, &flat, &flat_len);

	want = calloc(1, flat_len);
	memcpy(want, flat, n);
	for (unsigned i = 0; i < j->n_results; i++) {
		size_t len = j->result[i];
		bool lent;
		bool by_chunk =
		        i < j->n_dests && j->dest[i] &&
		        (!j->min_len || len >= j->min_len || j->dests[i].ret_used);

		memcpy(want + n, flat + at, 4);
		n += 4;
		at += 4;
		if (by_chunk) {
			assert_int_equal(j->dests[i].ret_used, len > 0);
			assert_int_equal(j->dests[i].ret_len, len);
			lent = j->dests[i].ret_base != j->dests[i].base;
			assert_true(j->lend || !lent);
			j->n_lent += lent;
			assert_memory_equal(j->dests[i].ret_base, flat + at, len);
			/* not an octet beyond [V2-4.3.6.2-02] */
			for (size_t x = lent ? 0 : len; x < j->dest[i]; x++)
				assert_int_equal(((uint8_t *)j->dests[i].base)[x],
				                 0xcc);
		} else {
			memcpy(want + n, flat + at, len);
			n += job_padded(len);
		}
		at += job_padded(len);
	}
	assert_int_equal(j->call.reply_len, n);
	assert_memory_equal(j->call.reply, want, n);
	free(want);
	free(flat);
	free(mem);
	free_pieces(piece, k);
}

/* The memory of a Reply belongs to the user, also after the call was released. */
static void take_reply(struct side *s, struct job *j)
{
	const void *reply = j->call.reply;
	size_t bytes = 0;
	void *p = NULL;

	j->taken = rr_conn_call_take(&j->call, &p, &bytes);
	rr_conn_call_release(s->c, &j->call, s->now);
	if (!j->taken)
		return;
	assert_ptr_equal(p, reply);
	check_reply(j);
	side_put(s, p, bytes);
}

static void on_call_done(struct side *s, struct rr_call *call)
{
	struct job *j = rr_container_of(call, struct job, call);

	j->done = true;
	j->ended++;
	assert_int_equal(j->ended, 1);
	if (call->status == RR_CALL_OK) {
		check_reply(j);
		if (j->take)
			take_reply(s, j);
		else
			rr_conn_call_release(s->c, call, s->now);
	} else {
		assert_null(call->reply);
		assert_null(call->priv);
	}
}

/* -- workloads ------------------------------------------------------------- */

struct workload *workload_new(void)
{
	struct workload *w = calloc(1, sizeof(*w));

	w->p.cl.app = w->p.sv.app = w;
	w->p.cl.on_call_done = on_call_done;
	w->p.sv.on_call_done = on_call_done;
	w->p.cl.on_request = w->p.sv.on_request = on_request;
	w->p.cl.on_admit = w->p.sv.on_admit = on_admit;
	return w;
}

void job_free(struct job *j)
{
	free_pieces(j->piece, j->call.n_pieces);
	free_pieces(j->reply_piece, j->n_reply_pieces);
	free(j->parts);
	free(j->reply_parts);
	free(j->flat);
	for (unsigned i = 0; i < MAX_ITEMS; i++) {
		free(j->dests[i].base);
		free(j->sink[i]);
	}
}

void workload_answer_held(struct workload *w)
{
	while (w->n_held)
		answer(&w->p.sv, w->held[--w->n_held]);
	side_drain(&w->p.sv);
}

void workload_end(struct workload *w)
{
	pair_lose(&w->p, 0);
	workload_answer_held(w);
	pair_end(&w->p);
	assert_int_equal(w->p.sv.requests_done, w->p.sv.admitted);
	for (unsigned i = 0; i < w->n_jobs; i++) {
		assert_true(w->job[i].done);
		job_free(&w->job[i]);
	}
	free(w);
}

struct job *workload_add(struct workload *w, const struct job *shape)
{
	struct job *j = &w->job[w->n_jobs++];
	uint8_t *flat;

	*j = *shape;
	j->xid = 0x40000000u + w->n_jobs;
	j->call.n_pieces = lay_out(j->xid, 0, j->filler, j->n_items, j->item, j->piece,
	                           &j->parts, &flat, &j->flat_len);
	j->flat = flat;
	for (unsigned i = 0; i < j->n_dests; i++) {
		j->dests[i].direct = j->direct;
		j->dests[i].lend = j->lend;
		j->dests[i].min_len = j->min_len;
		j->dests[i].above = j->above;
		if (!j->dest[i])
			continue;
		j->dests[i].base = malloc(j->dest[i]);
		memset(j->dests[i].base, 0xcc, j->dest[i]);
		j->dests[i].len = j->dest[i];
	}
	j->call.xid = j->xid;
	j->call.flags = j->flags;
	j->call.pieces = j->piece;
	j->call.dests = j->dests;
	j->call.n_dests = j->n_dests;
	j->call.reply_bytes = j->reply_bytes;
	return j;
}

int workload_run(struct workload *w, const struct job *shape)
{
	struct job *j = workload_add(w, shape);

	if (w->n_jobs == 1) {
		pair_new(&w->p, 7);
		pair_run(&w->p);
	}
	job_start(&w->p.cl, j);
	pair_run(&w->p);
	assert_false(w->p.cl.misuse || w->p.sv.misuse);
	assert_true(j->done);
	return j->call.status;
}

void job_start(struct side *s, struct job *j)
{
	assert_int_equal(rr_conn_call(s->c, &j->call, s->now), 0);
	side_drain(s);
}

void workload_configure(struct workload *w, uint32_t credits, uint32_t recv,
                        uint32_t segment, bool inv)
{
	struct rr_conn_config *g[2] = {&w->p.cl.cfg, &w->p.sv.cfg};

	for (int i = 0; i < 2; i++) {
		g[i]->credits = credits;
		g[i]->recv_bytes = g[i]->send_bytes = recv;
		g[i]->segment_bytes = segment;
		g[i]->max_segments = 64;
		g[i]->remote_invalidate = inv;
	}
}

void workload_steps(struct workload *w, unsigned n)
{
	while (n-- && pair_step(&w->p))
		;
}
