/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the calls of a CLIENT; see clnt.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "oncrpc/rpc_header.h"
#include "gss/contexts.h"
#include "tirpc/clnt.h"

enum {
	SMALL_REPLY = 1024,
	COPIED_REPLY = 65536, /* longest Reply that is copied, octets */
	REFRESHES = 2,        /* limit on attempts to refresh a call's credential */
};

/* Actual timeout of a call that was made with a zero timeout.  No thread waits for its
 * Reply. */
#define ONE_WAY_NS RR_SEC(60)

struct call {
	struct rr_post post;
	struct rr_rpc_wait wait;
	struct rr_rpc_client *client; /* NULL: the CLIENT was destroyed */
	struct rr_list of_client;     /* used by the engine: link in client->calls or
					 client->one_way */
	struct rpcrdma_call *made;    /* used by the engine: the outstanding call, or
					 NULL */
	bool one_way;                 /* no thread waits; freed when the call ends */
	bool aborted;                 /* clnt_abort has canceled the call */
	struct rr_xdr_out out;
	size_t header_len;
	bool no_reduce, gss;
	bool whole;              /* send the Call by a Position Zero Read chunk */
	struct rr_rpc_room room; /* Reply chunk, if the procedure has no binding */
	uint32_t protected;      /* RPCSEC_GSS integrity or privacy service; or 0 */
	uint64_t timeout_ns;
	size_t reply_bytes;
	struct rr_xdr_items results;
	struct rr_xdr_item items[RR_XDR_MAX_ITEMS];
	struct rpcrdma_dest dests[RR_XDR_MAX_ITEMS];
	unsigned n_dests;
	int status; /* the transport's status: 0, a negative errno, or
		       RPCRDMA_TRANSPORT_ERROR */
	uint32_t transport_error;
	void *reply; /* @small, memory from malloc, or within @taken */
	void *taken; /* memory from the engine's pool, or NULL */
	size_t reply_len, taken_bytes;
	uint8_t small[SMALL_REPLY] __attribute__((aligned(8)));
};

/* The arguments of clnt_call, and the Call's XID, program and version. */
struct clnt_request {
	bool whole; /* the server refused the chunks: send items inline */
	rpcproc_t proc;
	xdrproc_t xargs, xres;
	void *args, *res;
	struct timeval timeout;
	uint32_t xid;
	rpcprog_t prog;
	rpcvers_t vers;
};

static void init_clnt_call(struct call *k, struct rr_rpc_client *c)
{
	memset(k, 0, offsetof(struct call, out));
	memset(&k->header_len, 0,
	       offsetof(struct call, small) - offsetof(struct call, header_len));
	k->client = c;
	rr_list_init(&k->of_client);
	rr_rpc_wait_init(&k->wait);
}

/* Memory to be returned to the engine's pool. */
struct returned {
	struct rr_post post;
	struct rpcrdma_engine *engine;
	void *memory;
	size_t bytes;
};

static void return_pool_memory(void *arg)
{
	struct returned *r = arg;

	rr_pool_put(&r->engine->pool, r->memory, r->bytes);
}

static void return_posted_memory(struct rr_post *p)
{
	struct returned *r = rr_container_of(p, struct returned, post);

	return_pool_memory(r);
	free(r);
}

static void return_reply_memory(struct call *k)
{
	struct returned here = {.engine = k->client->engine,
	                        .memory = k->taken,
	                        .bytes = k->taken_bytes};
	struct returned *r = malloc(sizeof(*r));

	if (!r) {
		rr_rpc_in_engine(here.engine, return_pool_memory, &here);
		return;
	}
	*r = here;
	r->post.fn = return_posted_memory;
	rr_engine_post(r->engine, &r->post);
}

static void fini_clnt_call(struct call *k)
{
	rr_rpc_count(&k->out.count);
	rr_xdr_out_fini(&k->out);
	for (unsigned i = 0; i < RR_XDR_MAX_ITEMS; i++)
		if (k->items[i].mine)
			free(k->items[i].base);
	if (k->taken)
		return_reply_memory(k);
	else if (k->reply != k->small)
		free(k->reply);
	rr_rpc_wait_fini(&k->wait);
}

/* -- in the engine --------------------------------------------------------- */

static void finish_clnt_call(struct call *k, int status)
{
	struct rr_rpc_client *c = k->client;

	rr_list_del(&k->of_client);
	k->made = NULL;
	k->status = status;
	if (!k->one_way) {
		rr_rpc_wait_wake(&k->wait);
		return;
	}
	if (c && c->lingers && rr_list_empty(&c->one_way))
		rr_rpc_wait_wake(c->lingers);
	fini_clnt_call(k);
	free(k);
}

void rr_rpc_client_forget(struct rr_rpc_client *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->one_way)))
		rr_container_of(n, struct call, of_client)->client = NULL;
}

/* Keeps the Reply, whose memory the engine will reuse: copies the Reply, or takes over
 * the memory if the Reply is long. */
static int keep_reply(struct call *k, struct rpcrdma_call *made)
{
	const void *m = rr_call_message(made, &k->reply_len);

	if (k->reply_len > COPIED_REPLY &&
	    rr_call_take_message(made, &k->taken, &k->taken_bytes)) {
		k->reply = (void *)(uintptr_t)m;
	} else {
		k->reply = k->reply_len > sizeof(k->small) ? malloc(k->reply_len)
		                                           : k->small;
		if (!k->reply)
			return -ENOMEM;
		memcpy(k->reply, m, k->reply_len);
	}
	for (unsigned i = 0; i < k->n_dests; i++) {
		k->items[i].came = k->dests[i].ret_used;
		k->items[i].len = k->dests[i].ret_len;
	}
	return 0;
}

static void on_clnt_call_done(struct rpcrdma_call *made, const struct rpcrdma_reply *r,
                              void *arg)
{
	struct call *k = arg;
	int status = r->status;

	k->transport_error = r->transport_error;
	if (!status && !k->one_way)
		status = keep_reply(k, made);
	finish_clnt_call(k, status);
}

/* Returns true if the connection uses version 1, or is not established yet. */
static bool is_first_version(const struct rpcrdma_conn *conn)
{
	struct rr_conn_info info;

	if (!conn->link || !rr_link_was_ready(conn->link))
		return true;
	rr_conn_info(conn->link->conn, &info);
	return info.version == 1;
}

static void set_reply_bytes(const struct call *k, const struct rpcrdma_conn *conn,
                            struct rpcrdma_call_options *o,
                            struct rr_call_passthrough *pass)
{
	size_t room = is_first_version(conn) ? k->room.v1 : k->room.v2;

	o->reply_bytes = k->reply_bytes ? k->reply_bytes : room;
	pass->room = room && !k->reply_bytes;
}

static void submit_clnt_call(struct rr_post *p)
{
	struct call *k = rr_container_of(p, struct call, post);
	struct rpcrdma_piece pieces[RPCRDMA_MAX_PIECES];
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rr_call_passthrough pass = {
	        .header = k->out.buf,
	        .len = k->header_len,
	        .no_reduce = k->no_reduce,
	        .bound = k->gss,
	        .whole = k->whole,
	};
	struct rpcrdma_conn *conn;
	int err = rr_rpc_client_conn(k->client, &conn);

	o.args = pieces;
	o.n_args = rr_xdr_out_pieces(&k->out, k->header_len, pieces);
	o.dests = k->dests;
	o.n_dests = k->n_dests;
	if (!err)
		set_reply_bytes(k, conn, &o, &pass);
	o.timeout_ns = k->timeout_ns;
	o.done = on_clnt_call_done;
	o.arg = k;
	if (!err)
		err = rr_calls_make(conn, &o, &pass, &k->made);
	if (err)
		finish_clnt_call(k, err);
	else
		rr_list_push(k->one_way ? &k->client->one_way : &k->client->calls,
		             &k->of_client);
}

static void cancel_clnt_call(void *arg)
{
	struct call *k = arg;

	if (k->made)
		rpcrdma_call_cancel(k->made);
}

static void abort_calls(void *arg)
{
	struct rr_rpc_client *c = arg;
	const struct rr_list *n;

	/* The event loop ends the calls later, so the list does not change here. */
	rr_list_for_each (n, &c->calls) {
		struct call *k = rr_container_of(n, struct call, of_client);

		k->aborted = true;
		rpcrdma_call_cancel(k->made);
	}
}

void rr_rpc_client_abort(CLIENT *clnt)
{
	struct rr_rpc_client *c = rr_rpc_client_of(clnt);

	if (rr_rpc_engine_runs(c->engine))
		rr_rpc_in_engine(c->engine, abort_calls, c);
}

/* -- encoding -------------------------------------------------------------- */

/* Encodes the first six words of a Call. */
static bool put_call_header(XDR *x, const struct clnt_request *w)
{
	const long words[] = {(long)w->xid,  RR_RPC_CALL,   RPC_MSG_VERSION,
	                      (long)w->prog, (long)w->vers, (long)w->proc};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(words); i++)
		if (!XDR_PUTLONG(x, &words[i]))
			return false;
	return true;
}

/* Allocates memory for results that may arrive by Write chunks. */
static void make_result_dests(struct call *k)
{
	for (unsigned i = 0; i < k->results.n; i++) {
		const struct rpcrdma_tirpc_item *t = &k->results.item[i];
		char *given = *rr_xdr_slot(&k->results, i);

		k->items[i].base = given ? given : rr_xdr_item_alloc(t->max_bytes);
		k->items[i].mine = !given;
		if (!k->items[i].base) {
			k->items[i].mine = false;
			return; /* this item and later ones arrive inline */
		}
		k->dests[i].base = k->items[i].base;
		k->dests[i].len = t->max_bytes;
		k->n_dests++;
	}
}

static uint32_t get_gss_service(const struct rpcrdma_auth *cred)
{
	const uint8_t *p = cred->body;
	uint32_t service;

	if (cred->flavor != RPCSEC_GSS || cred->len < 16 ||
	    rr_load_u32(p + 4) != RR_GSS_DATA)
		return 0;
	service = rr_load_u32(p + 12);
	return service == RR_GSS_NONE ? 0 : service;
}

/* Returns the maximum length of the Reply.  If results cannot be reduced, the length
 * includes them and their RPCSEC_GSS tokens.                      [v2 §11.2.2.2] */
static size_t bound_reply_bytes(const struct call *k,
                                const struct rpcrdma_tirpc_procedure *p)
{
	size_t n = p->reply_bytes;

	for (unsigned i = 0; k->no_reduce && i < p->n_results; i++)
		n += p->results[i].max_bytes + 4;
	if (k->no_reduce && n)
		n += RR_GSS_OVERHEAD;
	return n;
}

/* Returns the number of octets in the Call, without its items. */
static size_t count_plain_bytes(const struct rr_xdr_out *o)
{
	size_t n = o->len;

	for (unsigned i = 0; i < o->n_refs; i++)
		n += o->refs[i].item ? 0 : o->refs[i].len;
	return n;
}

/* Decides whether the Call and its Reply are sent by chunks.  A call with a zero
 * timeout uses no chunks, so that such calls arrive in the order in which they were
 * made. */
static void choose_chunks(struct call *k, const struct clnt_request *w, bool bound)
{
	struct rr_rpc_client *c = k->client;

	if (k->one_way)
		return;
	k->whole = count_plain_bytes(&k->out) > c->o.chunk_bytes;
	if (!bound && w->xres && w->xres != RR_XDR_VOID)
		k->room = rr_rpc_room(c, w->proc);
}

/* Encodes the Call, with c->auth_lock held. */
static bool encode_call(struct call *k, const struct clnt_request *w)
{
	AUTH *auth = k->client->clnt.cl_auth;
	const struct rpcrdma_tirpc_procedure *p =
	        rr_rpc_binding(&k->client->o, w->prog, w->vers, w->proc);
	struct rr_xdr_items args = {.object = w->args};
	XDR *x = &k->out.xdr;
	struct rr_rpc_call h;

	k->gss = auth->ah_cred.oa_flavor == RPCSEC_GSS;
	rr_xdr_out_init(&k->out, true);
	if (!put_call_header(x, w) || !AUTH_MARSHALL(auth, x))
		return false;
	k->header_len = k->out.len;
	if (rr_rpc_get_call(k->out.buf, k->out.len, &h) < 0)
		return false;
	k->no_reduce = rr_rpc_unreducible(&h.cred);
	k->protected = get_gss_service(&h.cred);
	k->out.plain = k->no_reduce || k->one_way;
	if (p && w->res && !k->one_way)
		k->results = (struct rr_xdr_items){p->results, p->n_results, w->res};
	if (w->whole)
		p = NULL;
	if (p) {
		args.item = p->args;
		args.n = p->n_args;
		k->reply_bytes = bound_reply_bytes(k, p);
	}
	rr_xdr_out_items(&k->out, &args);
	if (!AUTH_WRAP(auth, x, w->xargs, w->args))
		return false;
	if (p && !k->no_reduce)
		make_result_dests(k);
	choose_chunks(k, w, p);
	return true;
}

/* -- decoding -------------------------------------------------------------- */

/* Translates an error that the peer's transport has reported.  Returns true if the call
 * must be repeated without items, because the server refused the items' chunks and did
 * not execute the call. */
static bool take_transport_error(const struct call *k, struct clnt_request *w,
                                 struct rpc_err *e)
{
	bool answered = k->transport_error == RPCRDMA_ERR_WRITE_RESOURCE ||
	                k->transport_error == RPCRDMA_ERR_REPLY_RESOURCE ||
	                k->transport_error == RPCRDMA_ERR_CHUNK;

	if (!w->whole && (k->transport_error == RPCRDMA_ERR_READ_CHUNKS ||
	                  k->transport_error == RPCRDMA_ERR_WRITE_CHUNKS)) {
		w->whole = true;
		return true;
	}
	memset(e, 0, sizeof(*e));
	e->re_status = answered ? RPC_CANTRECV : RPC_CANTSEND;
	e->re_errno = answered || (k->transport_error >= RPCRDMA_ERR_INVAL_CONT &&
	                           k->transport_error <= RPCRDMA_ERR_SEGMENTS)
	                      ? EMSGSIZE
	                      : EREMOTEIO;
	return false;
}

/* Returns false if a length in the protected results exceeds the number of octets
 * received.  libtirpc does not check these lengths.   [RFC 2203 §5.3.2.2, §5.3.2.3] */
static bool check_gss_lengths(const struct call *k, const struct rr_xdr_in *in)
{
	const struct rpcrdma_piece *p = in->pieces;
	struct rr_cursor c = rr_cursor_over(NULL, 0);
	uint32_t len;

	if (!k->protected)
		return true;
	if (in->at < in->n) /* the Reply is one piece */
		c = rr_cursor_over((const uint8_t *)p->base + in->pos,
		                   p->len - in->pos);
	for (unsigned i = k->protected == RR_GSS_INTEGRITY ? 0 : 1; i < 2; i++) {
		len = rr_get_u32(&c);
		(void)rr_get_bytes(&c, len); /* if @len is too large, this makes @c
						bad */
		(void)rr_get_bytes(&c, rr_pad(len));
	}
	return !rr_cursor_bad(&c);
}

/* Decodes the results in a Reply with SUCCESS. */
static void get_results(struct call *k, const struct clnt_request *w, struct rpc_msg *m,
                        struct rr_xdr_in *in, struct rpc_err *e)
{
	AUTH *auth = k->client->clnt.cl_auth;

	if (!AUTH_VALIDATE(auth, &m->acpted_rply.ar_verf)) {
		e->re_status = RPC_AUTHERROR;
		e->re_why = AUTH_INVALIDRESP;
		return;
	}
	if (!w->xres)
		return;
	rr_xdr_in_items(in, &k->results);
	in->dests = k->n_dests ? k->items : NULL;
	if (!check_gss_lengths(k, in) ||
	    !AUTH_UNWRAP(auth, &in->xdr, w->xres, w->res) || !rr_xdr_in_complete(in))
		e->re_status = RPC_CANTDECODERES;
	rr_xdr_in_settle(in);
}

/* Frees the verifier, which xdr_replymsg may have allocated even if it failed. */
static void free_verifier(XDR *x, struct rpc_msg *m)
{
	if (m->rm_reply.rp_stat != MSG_ACCEPTED || !m->acpted_rply.ar_verf.oa_base)
		return;
	x->x_op = XDR_FREE;
	(void)xdr_opaque_auth(x, &m->acpted_rply.ar_verf);
}

/* Decodes the Reply, with c->auth_lock held.  Returns true if the credential was
 * refreshed, so that the call must be repeated. */
static bool decode_reply(struct call *k, const struct clnt_request *w,
                         unsigned *refreshes, struct rpc_err *e)
{
	struct rpcrdma_piece piece = {k->reply, k->reply_len, false};
	struct rr_xdr_in in;
	struct rpc_msg m;
	bool again = false;

	memset(&m, 0, sizeof(m));
	m.acpted_rply.ar_verf = _null_auth;
	m.acpted_rply.ar_results.proc = RR_XDR_VOID;
	rr_xdr_in_init(&in, &piece, 1);
	if (!xdr_replymsg(&in.xdr, &m)) {
		rr_rpc_error_from(-EBADMSG, e);
		e->re_status = RPC_CANTDECODERES;
		free_verifier(&in.xdr, &m);
		return false;
	}
	_seterr_reply(&m, e);
	if (e->re_status == RPC_SUCCESS)
		get_results(k, w, &m, &in, e);
	else if (*refreshes && (*refreshes)--)
		again = AUTH_REFRESH(k->client->clnt.cl_auth, &m);
	free_verifier(&in.xdr, &m);
	rr_rpc_count(&in.count);
	return again;
}

/* -- the call -------------------------------------------------------------- */

/* Cleans up if the thread is cancelled while it waits. */
static void wait_for_cancelled(void *arg)
{
	struct call *k = arg;

	rr_rpc_in_engine(k->client->engine, cancel_clnt_call, k);
	rr_rpc_wait_until(&k->wait, RR_TIME_NEVER);
	if (k->gss)
		pthread_mutex_unlock(&k->client->auth_lock);
	fini_clnt_call(k);
}

/* Sends the Call and waits until it has ended.  @old is the user's cancellation state,
 * which is in effect only during the wait. */
static void send_and_wait(struct call *k, int old)
{
	k->post.fn = submit_clnt_call;
	rr_engine_post(k->client->engine, &k->post);
	pthread_cleanup_push(wait_for_cancelled, k);
	pthread_setcancelstate(old, NULL);
	rr_rpc_wait_until(&k->wait, RR_TIME_NEVER);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
}

static uint32_t choose_xid(struct rr_rpc_client *c)
{
	uint32_t xid;

	pthread_mutex_lock(&c->lock);
	xid = c->chosen_xid ? c->chosen_xid : rr_rpc_new_xid();
	c->chosen_xid = 0;
	c->last_xid = xid;
	pthread_mutex_unlock(&c->lock);
	return xid;
}

/* Makes one attempt.  Returns true if another attempt must follow. */
static bool attempt_call(struct rr_rpc_client *c, struct clnt_request *w,
                         unsigned *refreshes, struct rpc_err *e, int old)
{
	struct call k;
	bool again = false;

	init_clnt_call(&k, c);
	k.timeout_ns = RR_SEC(w->timeout.tv_sec) + (rr_time)w->timeout.tv_usec * 1000;
	memset(e, 0, sizeof(*e));
	w->xid = choose_xid(c);
	pthread_mutex_lock(&c->auth_lock);
	if (!encode_call(&k, w)) {
		pthread_mutex_unlock(&c->auth_lock);
		fini_clnt_call(&k);
		e->re_status = RPC_CANTENCODEARGS;
		return false;
	}
	if (!k.gss)
		pthread_mutex_unlock(&c->auth_lock);
	send_and_wait(&k, old);
	if (!k.gss)
		pthread_mutex_lock(&c->auth_lock);
	if (k.status == RPCRDMA_TRANSPORT_ERROR)
		again = take_transport_error(&k, w, e);
	else if (k.status)
		rr_rpc_error_from(k.status, e);
	else
		again = decode_reply(&k, w, refreshes, e);
	if (!k.status)
		rr_rpc_room_note(c, w->proc, k.reply_len);
	if (k.status == -ECANCELED && k.aborted)
		e->re_status = RPC_INTR;
	pthread_mutex_unlock(&c->auth_lock);
	fini_clnt_call(&k);
	return again;
}

/* Sends a Call without waiting for the Reply.  The arguments are copied. */
static void send_only(struct rr_rpc_client *c, struct clnt_request *w,
                      struct rpc_err *e)
{
	struct call *k = malloc(sizeof(*k));
	bool ok;

	memset(e, 0, sizeof(*e));
	if (!k) {
		rr_rpc_error_from(-ENOMEM, e);
		return;
	}
	init_clnt_call(k, c);
	k->one_way = true;
	k->timeout_ns = ONE_WAY_NS;
	w->xid = choose_xid(c);
	pthread_mutex_lock(&c->auth_lock);
	ok = encode_call(k, w);
	pthread_mutex_unlock(&c->auth_lock);
	if (!ok) {
		fini_clnt_call(k);
		free(k);
		e->re_status = RPC_CANTENCODEARGS;
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->had_one_way = true;
	pthread_mutex_unlock(&c->lock);
	k->post.fn = submit_clnt_call;
	rr_engine_post(c->engine, &k->post);
	if (w->xres)
		e->re_status = RPC_TIMEDOUT;
}

/* Completes the request.  As in libtirpc, the timeout set by CLSET_TIMEOUT overrides
 * the call's, and an invalid timeout is replaced with the last valid one. */
static void fill_request(struct rr_rpc_client *c, struct clnt_request *w)
{
	const struct timeval *t = &w->timeout;

	pthread_mutex_lock(&c->lock);
	w->prog = c->prog;
	w->vers = c->vers;
	if (!c->timeout_set && t->tv_sec >= 0 && t->tv_sec <= 100000000 &&
	    t->tv_usec >= 0 && t->tv_usec <= 1000000)
		c->timeout = w->timeout;
	w->timeout = c->timeout;
	pthread_mutex_unlock(&c->lock);
}

enum clnt_stat rr_rpc_client_call(CLIENT *clnt, rpcproc_t proc, xdrproc_t xargs,
                                  void *args, xdrproc_t xres, void *res,
                                  struct timeval timeout)
{
	struct rr_rpc_client *c = rr_rpc_client_of(clnt);
	struct clnt_request w = {.proc = proc,
	                         .xargs = xargs,
	                         .args = args,
	                         .xres = xres,
	                         .res = res,
	                         .timeout = timeout};
	/* As in libtirpc, only the argument determines whether to wait, not
	 * CLSET_TIMEOUT. */
	bool wait = timeout.tv_sec || timeout.tv_usec;
	unsigned refreshes = REFRESHES;
	sigset_t all, mask;
	struct rpc_err e;
	int old;

	/* A child of fork() must not acquire the lock: the thread that held the lock at
	 * fork() does not exist in the child. */
	if (!rr_rpc_engine_runs(c->engine))
		return RPC_CANTSEND;
	/* Signals are blocked, as in libtirpc, because the engine uses objects on this
	 * stack, and a signal handler must not leave this function by longjmp(). */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	rr_rpc_count_call();
	fill_request(c, &w);
	if (wait) {
		if (!w.timeout.tv_sec && !w.timeout.tv_usec)
			w.timeout.tv_usec = 1; /* 0 would mean no time limit */
		while (attempt_call(c, &w, &refreshes, &e, old))
			;
	} else {
		send_only(c, &w, &e);
	}
	pthread_mutex_lock(&c->lock);
	c->error = e;
	pthread_mutex_unlock(&c->lock);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	pthread_setcancelstate(old, NULL);
	return e.re_status;
}
