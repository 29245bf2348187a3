/* SPDX-License-Identifier: BSD-3-Clause */
/* One call of a CLIENT: see clnt.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "rpcbind/rpc_header.h"
#include "gss/contexts.h"
#include "tirpc/clnt.h"

enum {
	SMALL_REPLY = 1024,
	COPIED_REPLY = 65536, /* longer ones stay where they came */
	REFRESHES = 2,
};

/* How long one of which nobody wants the answer is kept. */
#define ONE_WAY_NS RR_SEC(60)

struct call {
	struct rr_post post;
	struct rr_rpc_wait wait;
	struct rr_rpc_client *client; /* NULL: it is gone */
	struct rr_list of_client;     /* the engine's */
	struct rpcrdma_call *made;    /* the engine's: out */
	bool one_way;                 /* from malloc, frees itself */
	bool aborted;
	struct rr_xdr_out out;
	size_t header_len;
	bool no_reduce, gss;
	bool whole;              /* long enough to be pulled */
	struct rr_rpc_room room; /* for the Reply, where no binding says */
	uint32_t protected;      /* the service, if it is more than krb5; or 0 */
	uint64_t timeout_ns;
	size_t reply_bytes;
	struct rr_xdr_items results;
	struct rr_xdr_item items[RR_XDR_MAX_ITEMS];
	struct rpcrdma_dest dests[RR_XDR_MAX_ITEMS];
	unsigned n_dests;
	int status; /* of the transport: 0, a negative errno, or of enum rpcrdma_status
	             */
	uint32_t transport_error;
	void *reply; /* small, from malloc, or in: */
	void *taken; /* of the engine's pool; or NULL */
	size_t reply_len, taken_bytes;
	uint8_t small[SMALL_REPLY] __attribute__((aligned(8)));
};

/* What the user asks for. */
struct wish {
	bool whole; /* the server has no such binding: nothing on its own */
	rpcproc_t proc;
	xdrproc_t xargs, xres;
	void *args, *res;
	struct timeval timeout;
	uint32_t xid;
	rpcprog_t prog;
	rpcvers_t vers;
};

static void call_init(struct call *k, struct rr_rpc_client *c)
{
	memset(k, 0, offsetof(struct call, out));
	memset(&k->header_len, 0,
	       offsetof(struct call, small) - offsetof(struct call, header_len));
	k->client = c;
	rr_list_init(&k->of_client);
	rr_rpc_wait_init(&k->wait);
}

/* Memory on its way back to the engine's pool. */
struct returned {
	struct rr_post post;
	struct rpcrdma_engine *engine;
	void *memory;
	size_t bytes;
};

static void give_back(void *arg)
{
	struct returned *r = arg;

	rr_pool_put(&r->engine->pool, r->memory, r->bytes);
}

static void give_back_posted(struct rr_post *p)
{
	struct returned *r = rr_container_of(p, struct returned, post);

	give_back(r);
	free(r);
}

static void return_taken(struct call *k)
{
	struct returned here = {.engine = k->client->engine,
	                        .memory = k->taken,
	                        .bytes = k->taken_bytes};
	struct returned *r = malloc(sizeof(*r));

	if (!r) {
		rr_rpc_in_engine(here.engine, give_back, &here);
		return;
	}
	*r = here;
	r->post.fn = give_back_posted;
	rr_engine_post(r->engine, &r->post);
}

static void call_fini(struct call *k)
{
	rr_rpc_count(&k->out.count);
	rr_xdr_out_fini(&k->out);
	for (unsigned i = 0; i < RR_XDR_MAX_ITEMS; i++)
		if (k->items[i].mine)
			free(k->items[i].base);
	if (k->taken)
		return_taken(k);
	else if (k->reply != k->small)
		free(k->reply);
	rr_rpc_wait_fini(&k->wait);
}

/* -- in the engine --------------------------------------------------------- */

static void end(struct call *k, int status)
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
	call_fini(k);
	free(k);
}

void rr_rpc_client_forget(struct rr_rpc_client *c)
{
	struct rr_list *n;

	while ((n = rr_list_pop(&c->one_way)))
		rr_container_of(n, struct call, of_client)->client = NULL;
}

/* The message is the library's until this returns, unless it is taken. */
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

static void on_done(struct rpcrdma_call *made, const struct rpcrdma_reply *r, void *arg)
{
	struct call *k = arg;
	int status = r->status;

	k->transport_error = r->transport_error;
	if (!status && !k->one_way)
		status = keep_reply(k, made);
	end(k, status);
}

/* Of which version is the connection?  Before there is one, of the first. */
static bool is_first_version(const struct rpcrdma_conn *conn)
{
	struct rr_conn_info info;

	if (!conn->link || !conn->link->ready)
		return true;
	rr_conn_info(conn->link->conn, &info);
	return info.version == 1;
}

static void set_room(const struct call *k, const struct rpcrdma_conn *conn,
                     struct rpcrdma_call_options *o, struct rr_call_raw *raw)
{
	size_t room = is_first_version(conn) ? k->room.v1 : k->room.v2;

	o->reply_bytes = k->reply_bytes ? k->reply_bytes : room;
	raw->room = room && !k->reply_bytes;
}

static void begin(struct rr_post *p)
{
	struct call *k = rr_container_of(p, struct call, post);
	struct rpcrdma_piece pieces[RPCRDMA_MAX_PIECES];
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rr_call_raw raw = {
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
		set_room(k, conn, &o, &raw);
	o.timeout_ns = k->timeout_ns;
	o.done = on_done;
	o.arg = k;
	if (!err)
		err = rr_calls_make(conn, &o, &raw, &k->made);
	if (err)
		end(k, err);
	else
		rr_list_push(k->one_way ? &k->client->one_way : &k->client->calls,
		             &k->of_client);
}

static void cancel(void *arg)
{
	struct call *k = arg;

	if (k->made)
		rpcrdma_call_cancel(k->made);
}

static void abort_all(void *arg)
{
	struct rr_rpc_client *c = arg;
	const struct rr_list *n;

	/* Their ends come from the loop. */
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
		rr_rpc_in_engine(c->engine, abort_all, c);
}

/* -- encoding -------------------------------------------------------------- */

/* The six words that begin a Call. */
static bool put_head(XDR *x, const struct wish *w)
{
	const long words[] = {(long)w->xid,  RR_RPC_CALL,   RPC_MSG_VERSION,
	                      (long)w->prog, (long)w->vers, (long)w->proc};

	for (unsigned i = 0; i < RR_ARRAY_SIZE(words); i++)
		if (!XDR_PUTLONG(x, &words[i]))
			return false;
	return true;
}

/* Memory for the results that may come on their own. */
static void make_dests(struct call *k)
{
	for (unsigned i = 0; i < k->results.n; i++) {
		const struct rpcrdma_tirpc_item *t = &k->results.item[i];
		char *given = *rr_xdr_slot(&k->results, i);

		k->items[i].base = given ? given : rr_xdr_item_alloc(t->max_bytes);
		k->items[i].mine = !given;
		if (!k->items[i].base) {
			k->items[i].mine = false;
			return; /* those from here on come inline */
		}
		k->dests[i].base = k->items[i].base;
		k->dests[i].len = t->max_bytes;
		k->n_dests++;
	}
}

static uint32_t service_of(const struct rpcrdma_auth *cred)
{
	const uint8_t *p = cred->body;
	uint32_t service;

	if (cred->flavor != RPCSEC_GSS || cred->len < 16 ||
	    rr_load_u32(p + 4) != RR_GSS_DATA)
		return 0;
	service = rr_load_u32(p + 12);
	return service == RR_GSS_NONE ? 0 : service;
}

/* Results that do not come on their own are part of the Reply, and what protects them
 * is.                                                              [v2 §11.2.2.2] */
static size_t reply_bound(const struct call *k, const struct rpcrdma_tirpc_procedure *p)
{
	size_t n = p->reply_bytes;

	for (unsigned i = 0; k->no_reduce && i < p->n_results; i++)
		n += p->results[i].max_bytes + 4;
	if (k->no_reduce && n)
		n += RR_GSS_OVERHEAD;
	return n;
}

/* Octets that go along with the message unless they are pulled. */
static size_t plain_bytes(const struct rr_xdr_out *o)
{
	size_t n = o->len;

	for (unsigned i = 0; i < o->n_refs; i++)
		n += o->refs[i].item ? 0 : o->refs[i].len;
	return n;
}

/* What moves as a whole.  Calls that nobody waits for keep their order in messages. */
static void choose_chunks(struct call *k, const struct wish *w, bool bound)
{
	struct rr_rpc_client *c = k->client;

	if (k->one_way)
		return;
	k->whole = plain_bytes(&k->out) > c->o.chunk_bytes;
	if (!bound && w->xres && w->xres != RR_XDR_VOID)
		k->room = rr_rpc_room(c, w->proc);
}

/* c->auth_lock is held. */
static bool encode(struct call *k, const struct wish *w)
{
	AUTH *auth = k->client->clnt.cl_auth;
	const struct rpcrdma_tirpc_procedure *p =
	        rr_rpc_binding(&k->client->o, w->prog, w->vers, w->proc);
	struct rr_xdr_items args = {.object = w->args};
	XDR *x = &k->out.xdr;
	struct rr_rpc_call h;

	k->gss = auth->ah_cred.oa_flavor == RPCSEC_GSS;
	rr_xdr_out_init(&k->out, true);
	if (!put_head(x, w) || !AUTH_MARSHALL(auth, x))
		return false;
	k->header_len = k->out.len;
	if (rr_rpc_get_call(k->out.buf, k->out.len, &h) < 0)
		return false;
	k->no_reduce = rr_rpc_unreducible(&h.cred);
	k->protected = service_of(&h.cred);
	k->out.plain = k->no_reduce || k->one_way;
	if (p && w->res && !k->one_way)
		k->results = (struct rr_xdr_items){p->results, p->n_results, w->res};
	if (w->whole)
		p = NULL;
	if (p) {
		args.item = p->args;
		args.n = p->n_args;
		k->reply_bytes = reply_bound(k, p);
	}
	rr_xdr_out_items(&k->out, &args);
	if (!AUTH_WRAP(auth, x, w->xargs, w->args))
		return false;
	if (p && !k->no_reduce)
		make_dests(k);
	choose_chunks(k, w, p);
	return true;
}

/* -- decoding -------------------------------------------------------------- */

/* Of what the peer's transport refused.  True: ask again, without items, which the
 * server says that it does not know; it has executed nothing. */
static bool refused(const struct call *k, struct wish *w, struct rpc_err *e)
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

/* libtirpc believes the lengths of what was protected, so they are compared with what
 * is there before.                                   [RFC 2203 §5.3.2.2, §5.3.2.3] */
static bool lengths_fit(const struct call *k, const struct rr_xdr_in *in)
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
		(void)rr_get_bytes(&c, len); /* marks the cursor */
		(void)rr_get_bytes(&c, rr_pad(len));
	}
	return !rr_cursor_bad(&c);
}

/* The results of a Reply that says SUCCESS. */
static void get_results(struct call *k, const struct wish *w, struct rpc_msg *m,
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
	if (!lengths_fit(k, in) || !AUTH_UNWRAP(auth, &in->xdr, w->xres, w->res) ||
	    !rr_xdr_in_complete(in))
		e->re_status = RPC_CANTDECODERES;
	rr_xdr_in_settle(in);
}

/* Also of a Reply that goes wrong behind it. */
static void free_verifier(XDR *x, struct rpc_msg *m)
{
	if (m->rm_reply.rp_stat != MSG_ACCEPTED || !m->acpted_rply.ar_verf.oa_base)
		return;
	x->x_op = XDR_FREE;
	(void)xdr_opaque_auth(x, &m->acpted_rply.ar_verf);
}

/* c->auth_lock is held.  True: the credential was refreshed, ask again. */
static bool decode(struct call *k, const struct wish *w, unsigned *refreshes,
                   struct rpc_err *e)
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

/* A thread is cancelled while it waits. */
static void cancelled(void *arg)
{
	struct call *k = arg;

	rr_rpc_in_engine(k->client->engine, cancel, k);
	rr_rpc_wait_until(&k->wait, RR_TIME_NEVER);
	if (k->gss)
		pthread_mutex_unlock(&k->client->auth_lock);
	call_fini(k);
}

/* @old: cancelling is as the user wants it while nothing else can be interrupted. */
static void send_and_wait(struct call *k, int old)
{
	k->post.fn = begin;
	rr_engine_post(k->client->engine, &k->post);
	pthread_cleanup_push(cancelled, k);
	pthread_setcancelstate(old, NULL);
	rr_rpc_wait_until(&k->wait, RR_TIME_NEVER);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	pthread_cleanup_pop(0);
}

static uint32_t next_xid(struct rr_rpc_client *c)
{
	uint32_t xid;

	pthread_mutex_lock(&c->lock);
	xid = c->chosen_xid ? c->chosen_xid : rr_rpc_new_xid();
	c->chosen_xid = 0;
	c->last_xid = xid;
	pthread_mutex_unlock(&c->lock);
	return xid;
}

/* One attempt; true: another one, with new credentials. */
static bool attempt(struct rr_rpc_client *c, struct wish *w, unsigned *refreshes,
                    struct rpc_err *e, int old)
{
	struct call k;
	bool again = false;

	call_init(&k, c);
	k.timeout_ns = RR_SEC(w->timeout.tv_sec) + (rr_time)w->timeout.tv_usec * 1000;
	memset(e, 0, sizeof(*e));
	w->xid = next_xid(c);
	pthread_mutex_lock(&c->auth_lock);
	if (!encode(&k, w)) {
		pthread_mutex_unlock(&c->auth_lock);
		call_fini(&k);
		e->re_status = RPC_CANTENCODEARGS;
		return false;
	}
	if (!k.gss)
		pthread_mutex_unlock(&c->auth_lock);
	send_and_wait(&k, old);
	if (!k.gss)
		pthread_mutex_lock(&c->auth_lock);
	if (k.status == RPCRDMA_TRANSPORT_ERROR)
		again = refused(&k, w, e);
	else if (k.status)
		rr_rpc_error_from(k.status, e);
	else
		again = decode(&k, w, refreshes, e);
	if (!k.status)
		rr_rpc_room_note(c, w->proc, k.reply_len);
	if (k.status == -ECANCELED && k.aborted)
		e->re_status = RPC_INTR;
	pthread_mutex_unlock(&c->auth_lock);
	call_fini(&k);
	return again;
}

/* Sends and forgets: what it needs is copied. */
static void send_only(struct rr_rpc_client *c, struct wish *w, struct rpc_err *e)
{
	struct call *k = malloc(sizeof(*k));
	bool ok;

	memset(e, 0, sizeof(*e));
	if (!k) {
		rr_rpc_error_from(-ENOMEM, e);
		return;
	}
	call_init(k, c);
	k->one_way = true;
	k->timeout_ns = ONE_WAY_NS;
	w->xid = next_xid(c);
	pthread_mutex_lock(&c->auth_lock);
	ok = encode(k, w);
	pthread_mutex_unlock(&c->auth_lock);
	if (!ok) {
		call_fini(k);
		free(k);
		e->re_status = RPC_CANTENCODEARGS;
		return;
	}
	pthread_mutex_lock(&c->lock);
	c->had_one_way = true;
	pthread_mutex_unlock(&c->lock);
	k->post.fn = begin;
	rr_engine_post(c->engine, &k->post);
	if (w->xres)
		e->re_status = RPC_TIMEDOUT;
}

/* The user's timeout, if it is one; else the last that was. */
static void settle(struct rr_rpc_client *c, struct wish *w)
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
	struct wish w = {.proc = proc,
	                 .xargs = xargs,
	                 .args = args,
	                 .xres = xres,
	                 .res = res,
	                 .timeout = timeout};
	/* As libtirpc has it: what the call says, not what was set. */
	bool wait = timeout.tv_sec || timeout.tv_usec;
	unsigned refreshes = REFRESHES;
	sigset_t all, mask;
	struct rpc_err e;
	int old;

	/* Before any lock: who held it when the process forked is not in the child. */
	if (!rr_rpc_engine_runs(c->engine))
		return RPC_CANTSEND;
	/* Neither may a handler jump away from what the engine has of this stack: as
	 * libtirpc has it, signals wait. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	rr_rpc_count_call();
	settle(c, &w);
	if (wait) {
		if (!w.timeout.tv_sec && !w.timeout.tv_usec)
			w.timeout.tv_usec = 1; /* 0 would mean for ever */
		while (attempt(c, &w, &refreshes, &e, old))
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
