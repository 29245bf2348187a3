/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sets up a client's context.                                  [RFC 2203 §5.2.2]
 *
 *   thread   gss_init_sec_context --> token
 *   engine   Call of procedure 0, INIT or CONTINUE_INIT --> the server's token, handle,
 *            window, and the MIC of the window
 *   thread   gss_init_sec_context --> complete, or another round
 *
 * The thread uses only struct job.  While the thread runs, only @orphan is accessed by
 * other threads: if it is set, the thread frees the job.  The thread waits for the KDC
 * as long as the Kerberos library does.  When the deadline has passed, the set-up fails
 * without waiting for the thread, but the object starts no other thread until that
 * thread has ended.
 *
 * If the server refuses a token, one more attempt is made with a new token.  A possible
 * reason is that the Call was sent again after its connection was lost: a token is
 * valid only once.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "gss/gss_client.h"

enum { MAX_STEPS = 8, MAX_ATTEMPTS = 2, REPLY_BYTES = 2048 };
#define RENEW_NS RR_SEC(5)

struct job {
	struct rr_post post;
	struct rpcrdma_engine *engine;
	struct rr_gss_setup *setup; /* used by the engine only */
	pthread_mutex_t lock;
	bool orphan, posted; /* guarded by @lock */
	char principal[256];
	gss_name_t name;
	gss_ctx_id_t id;
	gss_buffer_desc in, out; /* tokens; @in has memory from malloc, @out from
				    GSS-API */
	OM_uint32 major, minor, lifetime;
	/* The reason for a failure.  libkrb5 makes it available only in the thread that
	 * failed. */
	char reason[200];
};

struct rr_gss_setup {
	struct rpcrdma_gss *gss;
	struct job *job;
	bool running; /* a thread uses the job */
	bool stale;   /* the set-up ended before the thread did */
	struct rr_timer timer;
	rr_time deadline;
	struct rpcrdma_call *call;
	unsigned steps, attempts;
	bool begun;    /* the server has replied */
	bool complete; /* the server has replied with GSS_S_COMPLETE */
	uint32_t handle_len, window, mic_len;
	uint8_t handle[RR_GSS_HANDLE_MAX], mic[RR_RPC_AUTH_MAX];
	uint8_t length[4]; /* length word that precedes the token sent */
};

/* The object identifier of Kerberos V5, 1.2.840.113554.1.2.2.      [RFC 1964 §1] */
static gss_OID_desc krb5 = {9, (void *)"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02"};

/* -- in the thread --------------------------------------------------------- */

static void free_job(struct job *j)
{
	OM_uint32 minor;

	if (j->name)
		(void)gss_release_name(&minor, &j->name);
	if (j->id)
		(void)gss_delete_sec_context(&minor, &j->id, GSS_C_NO_BUFFER);
	(void)gss_release_buffer(&minor, &j->out);
	free(j->in.value);
	pthread_mutex_destroy(&j->lock);
	free(j);
}

static void import_principal(struct job *j)
{
	gss_buffer_desc text = {.length = strlen(j->principal), .value = j->principal};

	j->major =
	        gss_import_name(&j->minor, &text, GSS_C_NT_HOSTBASED_SERVICE, &j->name);
}

static void *run_job(void *arg)
{
	struct job *j = arg;
	bool orphan;

	(void)gss_release_buffer(&j->minor, &j->out);
	j->major = GSS_S_COMPLETE;
	if (!j->name)
		import_principal(j);
	if (j->major == GSS_S_COMPLETE)
		j->major = gss_init_sec_context(
		        &j->minor, GSS_C_NO_CREDENTIAL, &j->id, j->name, &krb5,
		        GSS_C_MUTUAL_FLAG | GSS_C_INTEG_FLAG | GSS_C_CONF_FLAG, 0,
		        GSS_C_NO_CHANNEL_BINDINGS, &j->in, NULL, &j->out, NULL,
		        &j->lifetime);
	if (GSS_ERROR(j->major))
		rr_gss_msg_reason(j->major, j->minor, &krb5, j->reason,
		                  sizeof(j->reason));
	pthread_mutex_lock(&j->lock);
	orphan = j->orphan;
	if (!orphan) { /* the engine is not freed while this thread has the lock */
		j->posted = true;
		rr_engine_post(j->engine, &j->post);
	}
	pthread_mutex_unlock(&j->lock);
	if (orphan)
		free_job(j);
	return NULL;
}

/* -- steps ----------------------------------------------------------------- */

static int start_job(struct rr_gss_setup *s)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t t;
	int err;

	s->job->posted = false; /* no lock needed: no thread uses the job */
	err = -pthread_attr_init(&attr);

	if (err)
		return err;
	/* Cannot fail. */
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = -pthread_create(&t, &attr, run_job, s->job);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	s->running = !err;
	return err ? -ENOMEM : 0;
}

static void job_ended(struct rr_post *);

static struct job *new_job(struct rr_gss_setup *s)
{
	struct job *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	j->post.fn = job_ended;
	rr_list_init(&j->post.link);
	j->engine = s->gss->auth.host->engine;
	j->setup = s;
	strcpy(j->principal, s->gss->principal);
	j->major = GSS_S_COMPLETE;
	pthread_mutex_init(&j->lock, NULL);
	return j;
}

/* Starts from the beginning with a new token, and the same deadline. */
static int start_attempt(struct rr_gss_setup *s)
{
	int err;

	s->attempts++;
	s->steps = 0;
	s->begun = s->complete = false;
	s->handle_len = s->mic_len = 0;
	s->job = new_job(s);
	err = s->job ? start_job(s) : -ENOMEM;
	if (err && s->job) {
		free_job(s->job);
		s->job = NULL;
	}
	return err;
}

static void stop_setup(struct rr_gss_setup *s)
{
	rr_timer_stop(&s->gss->auth.host->engine->timers, &s->timer);
	if (s->running) {
		s->stale = true;
		return;
	}
	if (s->job)
		free_job(s->job);
	s->job = NULL;
}

/* Ends the set-up with @error and the text "@what: @reason". */
static void fail_setup(struct rr_gss_setup *s, int error, uint32_t major,
                       uint32_t minor, const char *what, const char *reason)
{
	struct rpcrdma_gss_info *i = &s->gss->info;
	int n = snprintf(i->reason, sizeof(i->reason), "%s%s%s", what,
	                 *reason ? ": " : "", reason);

	if (n >= (int)sizeof(i->reason)) /* truncated: the principal is long */
		memcpy(i->reason + sizeof(i->reason) - 4, "...", 4);
	i->major = major;
	i->minor = minor;
	stop_setup(s);
	rr_gss_failed(s->gss, error);
}

static void fail_in_gssapi(struct rr_gss_setup *s)
{
	const struct job *j = s->job;

	fail_setup(s, -EACCES, j->major, j->minor, j->principal, j->reason);
}

/* -- the server's reply ---------------------------------------------------- */

static void token_refused(struct rr_gss_setup *s, uint32_t major, const char *reason)
{
	if (s->attempts < MAX_ATTEMPTS && s->job) {
		free_job(s->job);
		s->job = NULL;
		if (!start_attempt(s))
			return;
	}
	fail_setup(s, -EACCES, major, 0, "the server refuses", reason);
}

static void take_next_step(struct rr_gss_setup *s);

/* Copies the server's results to the set-up and its job.  Returns 0 or -ENOMEM. */
static int keep_results(struct rr_gss_setup *s, const struct rr_rpc_reply *h,
                        const struct rr_gss_init_res *m)
{
	struct job *j = s->job;

	s->begun = true;
	s->complete = m->major == GSS_S_COMPLETE;
	s->handle_len = m->handle_len;
	memcpy(s->handle, m->handle, m->handle_len);
	s->window = m->window;
	s->mic_len = h->verf.flavor == RR_GSS_FLAVOR ? h->verf.len : 0;
	if (s->mic_len)
		memcpy(s->mic, h->verf.body, s->mic_len);
	free(j->in.value);
	j->in = (gss_buffer_desc)GSS_C_EMPTY_BUFFER;
	if (!m->token_len)
		return 0;
	j->in.value = malloc(m->token_len);
	if (!j->in.value)
		return -ENOMEM;
	memcpy(j->in.value, m->token, m->token_len);
	j->in.length = m->token_len;
	return 0;
}

static void read_setup_reply(struct rr_gss_setup *s, const void *message, size_t len)
{
	struct rr_rpc_reply h;
	struct rr_gss_init_res m;
	char text[160];
	int n = rr_rpc_get_reply(message, len, &h), err = n < 0 ? n : 0;

	if (!err && h.status) {
		snprintf(text, sizeof(text), "%s (%u)", rpcrdma_strstatus(h.status),
		         (unsigned)h.auth_stat);
		token_refused(s, 0, text);
		return;
	}
	if (!err)
		err = rr_gss_msg_get_init_res((const uint8_t *)message + n,
		                              len - (size_t)n, &m);
	if (!err && m.major != GSS_S_COMPLETE && m.major != GSS_S_CONTINUE_NEEDED) {
		rr_gss_msg_reason(m.major, 0, GSS_C_NO_OID, text, sizeof(text));
		token_refused(s, m.major, text);
		return;
	}
	if (!err)
		err = keep_results(s, &h, &m);
	if (err)
		fail_setup(s, err, 0, 0, "the server's reply", strerror(-err));
	else
		take_next_step(s);
}

static void setup_call_done(struct rpcrdma_call *k, const struct rpcrdma_reply *r,
                            void *arg)
{
	struct rpcrdma_gss *g = arg;
	struct rr_gss_setup *s = g->setup;
	const void *message;
	size_t len;

	if (s && s->call == k) {
		s->call = NULL;
		if (r->status) {
			fail_setup(s, r->status < 0 ? r->status : -EACCES, 0, 0,
			           "no answer to the set-up",
			           r->status < 0 ? strerror(-r->status)
			                         : rpcrdma_strstatus(r->status));
		} else {
			message = g->auth.host->ops->reply(k, &len);
			read_setup_reply(s, message, len);
		}
	}
	rr_gss_put(g);
}

static uint64_t setup_time_left(const struct rr_gss_setup *s)
{
	rr_time now = rr_engine_clock();

	return s->deadline > now ? s->deadline - now : 1;
}

/* Sends the token to the server. */
static int send_token(struct rr_gss_setup *s)
{
	static const uint8_t zero[4];
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_gss *g = s->gss;
	struct rr_gss_cred cred = {.proc = s->begun ? RR_GSS_CONTINUE_INIT
	                                            : RR_GSS_INIT,
	                           .service = g->service,
	                           .handle_len = s->handle_len};
	struct rr_auth_host *host = g->auth.host;
	struct rr_rpc_call h = {.xid = rr_engine_new_xid(host->engine),
	                        .program = g->program,
	                        .version = g->version};
	const gss_buffer_desc *out = &s->job->out;
	uint8_t header[RR_RPC_HEADER_MAX];
	struct rpcrdma_piece p[3];
	int n, err;

	memcpy(cred.handle, s->handle, s->handle_len);
	n = rr_gss_header(GSS_C_NO_CONTEXT, &h, &cred, header);
	if (n < 0 || out->length > RR_GSS_MAX_TOKEN)
		return -EMSGSIZE;
	rr_store_u32(s->length, (uint32_t)out->length);
	p[0] = (struct rpcrdma_piece){s->length, sizeof(s->length), false};
	p[1] = (struct rpcrdma_piece){out->value, out->length, false};
	p[2] = (struct rpcrdma_piece){zero, rr_pad(out->length), false};
	o.args = p;
	o.n_args = p[2].len ? 3 : 2;
	o.reply_bytes = REPLY_BYTES;
	o.timeout_ns = setup_time_left(s);
	o.done = setup_call_done;
	o.arg = g;
	err = host->ops->call(host, &o, header, (size_t)n, &s->call);
	if (!err)
		g->refs++;
	return err;
}

/* -- sequence of the steps ------------------------------------------------- */

/* Returns the time at which to replace the context, shortly before its ticket expires.
 * The context is used for at least half of its lifetime: a new context made with the
 * same short-lived ticket would expire at the same time. */
static rr_time renewal_time(rr_time now, OM_uint32 seconds)
{
	uint64_t lifetime = RR_SEC(seconds);

	if (seconds == GSS_C_INDEFINITE)
		return RR_TIME_NEVER;
	return rr_after(now, lifetime - RR_MIN(RENEW_NS, lifetime / 2));
}

/* Completes the set-up if the server's MIC of the window is valid; the MIC
 * authenticates the server. */
static void finish_setup(struct rr_gss_setup *s)
{
	struct rpcrdma_gss *g = s->gss;
	struct rr_gss_client_context *x;
	struct job *j = s->job;
	rr_time now = g->auth.host->engine->now;

	if (!s->window ||
	    rr_gss_msg_check_number(j->id, s->window, s->mic, s->mic_len)) {
		fail_setup(s, -EACCES, 0, 0, "the server did not prove its identity",
		           "");
		return;
	}
	if (!j->lifetime) {
		fail_setup(s, -EACCES, 0, 0, j->principal, "the ticket has expired");
		return;
	}
	x = calloc(1, sizeof(*x));
	if (!x) {
		fail_setup(s, -ENOMEM, 0, 0, strerror(ENOMEM), "");
		return;
	}
	x->refs = 1;
	x->id = j->id;
	j->id = GSS_C_NO_CONTEXT;
	x->window = s->window;
	x->next_seq = 1;
	x->handle_len = s->handle_len;
	memcpy(x->handle, s->handle, s->handle_len);
	x->renew = renewal_time(now, j->lifetime);
	rr_list_init(&x->attempts);
	rr_trace(g->auth.host->trace, RR_TRACE_GSS_READY, 0, 0, g->service, x->window,
	         j->lifetime);
	stop_setup(s);
	rr_gss_ready(g, x);
}

/* Takes the next step after a reply from the server, or after a step that produced no
 * token to send. */
static void take_next_step(struct rr_gss_setup *s)
{
	struct job *j = s->job;
	int err = 0;

	if (j->in.length)
		err = start_job(s);
	else if (s->complete && j->major == GSS_S_COMPLETE)
		finish_setup(s);
	else
		err = -EBADMSG;
	if (err)
		fail_setup(s, err, 0, 0, "the server's reply", strerror(-err));
}

static void take_job_result(struct rr_gss_setup *s)
{
	struct job *j = s->job;
	int err;

	rr_trace(s->gss->auth.host->trace, RR_TRACE_GSS_STEP, 0, 0, ++s->steps,
	         j->in.length, j->out.length);
	free(j->in.value);
	j->in = (gss_buffer_desc)GSS_C_EMPTY_BUFFER;
	if (GSS_ERROR(j->major)) {
		fail_in_gssapi(s);
		return;
	}
	if (!j->out.length) {
		take_next_step(s);
		return;
	}
	err = s->complete || s->steps > MAX_STEPS ? -EBADMSG : send_token(s);
	if (err)
		fail_setup(s, err, 0, 0, "sending the token", strerror(-err));
}

static void job_ended(struct rr_post *p)
{
	struct job *j = rr_container_of(p, struct job, post);
	struct rr_gss_setup *s = j->setup;

	pthread_mutex_lock(&j->lock); /* waits until the thread no longer uses @j */
	pthread_mutex_unlock(&j->lock);
	s->running = false;
	if (!s->stale) {
		take_job_result(s);
		return;
	}
	s->stale = false;
	free_job(j);
	s->job = NULL;
	if (s->gss->state == RR_GSS_SETUP && start_attempt(s))
		fail_setup(s, -ENOMEM, 0, 0, strerror(ENOMEM), "");
}

static void setup_timed_out(struct rr_timer *t)
{
	struct rr_gss_setup *s = rr_container_of(t, struct rr_gss_setup, timer);

	if (!s->call) /* if a call is outstanding, its timeout ends the set-up */
		fail_setup(s, -EACCES, 0, 0, s->gss->principal,
		           "no answer from the KDC in time");
}

/* -- interface for gss_client.c -------------------------------------------- */

int rr_gss_setup_begin(struct rpcrdma_gss *g)
{
	struct rr_gss_setup *s = g->setup;
	int err = 0;

	if (!s) {
		s = calloc(1, sizeof(*s));
		if (!s)
			return -ENOMEM;
		s->gss = g;
		s->timer.fire = setup_timed_out;
		g->setup = s;
	}
	s->deadline = rr_after(rr_engine_clock(), g->timeout_ns);
	s->attempts = 0;
	err = rr_timer_set(&g->auth.host->engine->timers, &s->timer, s->deadline);
	if (err)
		return err;
	if (!s->running) /* if the old thread runs, the attempt starts after it has
			    ended */
		err = start_attempt(s);
	if (err)
		rr_timer_stop(&g->auth.host->engine->timers, &s->timer);
	else
		g->state = RR_GSS_SETUP;
	return err;
}

/* Frees the job if its thread has ended; otherwise has the thread free it. */
static void leave_job(struct job *j)
{
	bool posted;

	pthread_mutex_lock(&j->lock);
	posted = j->posted;
	j->orphan = !posted;
	pthread_mutex_unlock(&j->lock);
	if (!posted)
		return; /* the thread frees the job */
	rr_engine_unpost(j->engine, &j->post);
	free_job(j);
}

void rr_gss_setup_end(struct rpcrdma_gss *g)
{
	struct rr_gss_setup *s = g->setup;

	if (!s)
		return;
	rr_timer_stop(&g->auth.host->engine->timers, &s->timer);
	if (s->job && s->running)
		leave_job(s->job);
	else if (s->job)
		free_job(s->job);
	free(s);
	g->setup = NULL;
}
