/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/service.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/sized.h"

enum { CACHE_LINE = 64 };

static int init_reply_cache(struct rr_reply_cache *d, size_t bytes)
{
	struct rr_reply_cache_options o = {.bytes = bytes};

	/* For so few octets, getrandom never returns a short count. */
	if (getrandom(o.key, sizeof(o.key), 0) < 0)
		return -errno;
	return rr_reply_cache_init(d, &o);
}

int rpcrdma_service_new(struct rpcrdma_service **ret)
{
	struct rpcrdma_service *s = calloc(1, sizeof(*s));
	int err;

	if (!s)
		return -ENOMEM;
	err = init_reply_cache(&s->cache, RR_REPLY_CACHE_DEFAULT_BYTES);
	if (err) {
		free(s);
		return err;
	}
	*ret = s;
	return 0;
}

int rpcrdma_service_set_reply_cache(struct rpcrdma_service *s, size_t bytes)
{
	return s ? rr_reply_cache_set_bytes(&s->cache, bytes) : -EINVAL;
}

int rpcrdma_service_set_gss(struct rpcrdma_service *s,
                            const struct rpcrdma_service_gss_options *o)
{
	struct rpcrdma_service_gss_options own;
	int err = s && o ? RR_SIZED_TAKE(&own, size, o) : -EINVAL;

	if (!err)
		err = s->acceptor ? -EEXIST : rr_acceptor_new(&own, &s->acceptor);
	return err;
}

void rpcrdma_service_free(struct rpcrdma_service *s)
{
	if (!s)
		return;
	rr_acceptor_free(s->acceptor);
	for (unsigned i = 0; i < s->count; i++)
		free(s->entries[i].stats);
	rr_reply_cache_fini(&s->cache);
	free(s);
}

/* Returns the number of elements in a table of statistics.  No cache line contains
 * counters of two tables. */
static size_t table_size(const struct rpcrdma_program *p)
{
	return p->n_procs + CACHE_LINE / sizeof(struct rpcrdma_proc_stats);
}

int rpcrdma_service_add(struct rpcrdma_service *s, const struct rpcrdma_program *p,
                        void *arg)
{
	uint32_t low, high;
	struct rpcrdma_proc_stats *stats;

	if (!s || !p || (p->n_procs && !p->procs))
		return -EINVAL;
	if (rr_service_find(s, p->program, p->version, &low, &high))
		return -EEXIST;
	if (s->count == RR_SERVICE_MAX_PROGRAMS)
		return -ENOSPC;
	stats = calloc(RR_SERVICE_TABLES * table_size(p), sizeof(*stats));
	if (!stats)
		return -ENOMEM;
	s->entries[s->count++] =
	        (struct rr_service_entry){.program = p, .arg = arg, .stats = stats};
	return 0;
}

const struct rr_service_entry *rr_service_find(const struct rpcrdma_service *s,
                                               uint32_t program, uint32_t version,
                                               uint32_t *ret_low, uint32_t *ret_high)
{
	*ret_low = UINT32_MAX;
	*ret_high = 0;
	for (unsigned i = 0; i < s->count; i++) {
		const struct rpcrdma_program *p = s->entries[i].program;

		if (p->program != program)
			continue;
		if (p->version == version)
			return &s->entries[i];
		*ret_low = RR_MIN(*ret_low, p->version);
		*ret_high = RR_MAX(*ret_high, p->version);
	}
	return NULL;
}

const struct rr_service_entry *rr_service_for(const struct rpcrdma_service *s,
                                              const struct rr_rpc_call *c,
                                              struct rr_rpc_reply *ret)
{
	const struct rr_service_entry *e =
	        rr_service_find(s, c->program, c->version, &ret->low, &ret->high);

	if (!e)
		ret->status = ret->low > ret->high ? RPCRDMA_PROG_UNAVAIL
		                                   : RPCRDMA_PROG_MISMATCH;
	return e;
}

static void answer_null(struct rpcrdma_request *q, void *arg)
{
	(void)!rpcrdma_request_reply(q, NULL, 0, NULL, NULL);
}

/* Every program has a NULL procedure, whether or not the user provides a handler.
 * [RFC 5531 §12.1] */
static const struct rpcrdma_procedure null_procedure = {"NULL", answer_null};

const struct rpcrdma_procedure *rr_service_proc(const struct rr_service_entry *e,
                                                uint32_t proc)
{
	if (proc >= e->program->n_procs || !e->program->procs[proc].handler)
		return proc ? NULL : &null_procedure;
	return &e->program->procs[proc];
}

/* Adds to a counter that several threads may share. */
static void add_counter(uint64_t *counter, uint64_t n)
{
	if (n) /* an atomic addition takes longer than the test */
		__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Returns the statistics of a procedure in one of its tables. */
static struct rpcrdma_proc_stats *stats_in_table(const struct rr_service_entry *e,
                                                 unsigned table, uint32_t proc)
{
	return &e->stats[table * table_size(e->program) + proc];
}

void rr_service_count(const struct rr_service_entry *e, unsigned hall, uint32_t proc,
                      bool error, uint64_t args_bytes, uint64_t results_bytes)
{
	struct rpcrdma_proc_stats *s =
	        stats_in_table(e, hall % RR_SERVICE_TABLES, proc);

	add_counter(&s->calls, 1);
	add_counter(&s->errors, error);
	add_counter(&s->args_bytes, args_bytes);
	add_counter(&s->results_bytes, results_bytes);
}

int rpcrdma_service_get_stats(const struct rpcrdma_service *s, uint32_t program,
                              uint32_t version, uint32_t procedure,
                              struct rpcrdma_proc_stats *ret, size_t size)
{
	struct rpcrdma_proc_stats one = {0};
	uint32_t low, high;
	const struct rr_service_entry *e =
	        rr_service_find(s, program, version, &low, &high);

	if (!e || procedure >= e->program->n_procs)
		return -ENOENT;
	for (unsigned i = 0; i < RR_SERVICE_TABLES; i++) {
		const struct rpcrdma_proc_stats *t = stats_in_table(e, i, procedure);

		one.calls += __atomic_load_n(&t->calls, __ATOMIC_RELAXED);
		one.errors += __atomic_load_n(&t->errors, __ATOMIC_RELAXED);
		one.args_bytes += __atomic_load_n(&t->args_bytes, __ATOMIC_RELAXED);
		one.results_bytes +=
		        __atomic_load_n(&t->results_bytes, __ATOMIC_RELAXED);
	}
	rr_sized_give(ret, size, &one, sizeof(one));
	return 0;
}
