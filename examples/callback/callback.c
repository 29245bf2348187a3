/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server that calls its clients.
 *
 *	callback serve ADDRESS[:PORT] CHANGES	reports CHANGES changes to one client
 *	callback watch HOST PORT		subscribes, and serves the server's calls
 *
 * The client offers a program of its own (options.callbacks) and subscribes by an
 * ordinary call with an identity of its choice.  From that request the server makes a
 * connection object for calls in reverse.  When the connection is lost, the client
 * connects and subscribes again with the same identity.  The server moves its object to
 * the new connection, and the waiting call is sent.  Each change has a longer text than
 * the one before: short texts travel inline, long ones the client fetches by RDMA.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rpcrdma/cursor.h>

enum {
	PROGRAM = 0x20000777,
	VERSION = 1,
	SUBSCRIBE = 1,
	CHANGED = 1,
	STEP = 10000,
	MOST = 100
};

static uint32_t put32(uint32_t v)
{
	return htonl(v);
}

static void fail(const char *what, int err)
{
	fprintf(stderr, "callback: %s: %s\n", what, rpcrdma_strstatus(err));
	exit(1);
}

/* -- the server ------------------------------------------------------------ */

struct server {
	struct rpcrdma_listener *listener;
	struct rpcrdma_conn *client; /* for calls in reverse */
	uint32_t identity;
	uint32_t change, changes;
	uint32_t head[3]; /* number, whether it is the last, length of the text */
	char *text;
	int status;
};

static void tell(struct server *s);

static void told(struct rpcrdma_call *call, const struct rpcrdma_reply *r, void *arg)
{
	struct server *s = arg;

	(void)call;
	if (r->status)
		fprintf(stderr, "callback: change %u: %s\n", (unsigned)s->change,
		        rpcrdma_strstatus(r->status));
	s->status = r->status;
	if (!r->status && s->change < s->changes) {
		tell(s);
		return;
	}
	rpcrdma_conn_close(s->client);
	rpcrdma_listener_close(s->listener, 1000000000);
}

/* Reports the next change.  The text is an item: the client may fetch it by RDMA Read. */
static void tell(struct server *s)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	uint32_t n = ++s->change, len = n * n * STEP;
	struct rpcrdma_piece args[2] = {{s->head, sizeof(s->head), false},
	                                {s->text, len, true}};
	int err;

	memset(s->text, 'a' + (int)(n % 26), len);
	s->head[0] = put32(n);
	s->head[1] = put32(n == s->changes);
	s->head[2] = put32(len);
	o.program = PROGRAM;
	o.version = VERSION;
	o.procedure = CHANGED;
	o.args = args;
	o.n_args = 2;
	o.done = told;
	o.arg = s;
	err = rpcrdma_call(s->client, &o, NULL);
	if (err)
		fail("calling the client", err);
}

static void subscribe(struct rpcrdma_request *q, void *arg)
{
	struct server *s = arg;
	struct rpcrdma_cursor c;
	bool first = !s->client;
	uint32_t identity;
	int err;

	rpcrdma_request_cursor(q, &c);
	identity = rpcrdma_cursor_u32(&c);
	if (rpcrdma_cursor_end(&c)) {
		(void)rpcrdma_request_error(q, RPCRDMA_GARBAGE_ARGS, 0);
		return;
	}
	if (first) {
		s->identity = identity;
		err = rpcrdma_request_reverse(q, 30000000000, &s->client);
	} else if (s->identity == identity) {
		err = rpcrdma_conn_rebind(s->client, q); /* reconnected */
	} else {
		err = -EBUSY;
	}
	if (err) {
		(void)rpcrdma_request_error(q, RPCRDMA_SYSTEM_ERR, 0);
		return;
	}
	(void)rpcrdma_request_reply(q, NULL, 0, NULL, NULL);
	if (first)
		tell(s);
}

static const struct rpcrdma_procedure server_procs[] = {
        [SUBSCRIBE] = {.name = "SUBSCRIBE", .handler = subscribe},
};
static const struct rpcrdma_program server_program = {PROGRAM, VERSION, server_procs,
                                                      2};

static void run_until_idle(struct rpcrdma_engine *e)
{
	int err = 0;

	while (!err && !rpcrdma_engine_idle(e))
		err = rpcrdma_engine_process(e, -1);
	if (err)
		fail("waiting", err);
}

static int serve(struct rpcrdma_engine *e, struct rpcrdma_service *service,
                 const char *address, unsigned changes)
{
	struct server s = {.changes = changes};
	struct sockaddr_storage sa;
	int err;

	if (changes < 1 || changes > MOST)
		fail("changes", -EINVAL);
	s.text = malloc((size_t)changes * changes * STEP);
	if (!s.text)
		fail("memory", -ENOMEM);
	err = rpcrdma_service_add(service, &server_program, &s);
	if (!err)
		err = rpcrdma_listen(e, address, NULL, service, 0, &s.listener);
	if (!err)
		err = rpcrdma_listener_addr(s.listener, &sa);
	if (err)
		fail("listening", err);
	printf("listening %u\n", ntohs(((struct sockaddr_in *)&sa)->sin_port));
	fflush(stdout);
	run_until_idle(e);
	free(s.text);
	return s.status ? 1 : 0;
}

/* -- the client ------------------------------------------------------------ */

struct watcher {
	struct rpcrdma_conn *conn;
	uint32_t identity;
	struct rpcrdma_piece identity_piece;
	bool bad;
};

/* The reply to the last call has been sent; the server makes no further calls. */
static void answered(void *arg)
{
	struct watcher *w = arg;

	rpcrdma_conn_close(w->conn);
}

/* Returns whether the text has the right octets, whether inline or by RDMA. */
static bool text_is(const char *text, uint32_t len, char letter)
{
	for (uint32_t i = 0; i < len; i++)
		if (text[i] != letter)
			return false;
	return true;
}

static void changed(struct rpcrdma_request *q, void *arg)
{
	struct watcher *w = arg;
	const struct rpcrdma_piece *args;
	unsigned n = rpcrdma_request_args(q, &args);
	struct rpcrdma_cursor c;
	uint32_t number, last, len;
	const char *text;

	rpcrdma_request_cursor(q, &c);
	number = rpcrdma_cursor_u32(&c);
	last = rpcrdma_cursor_u32(&c);
	text = rpcrdma_cursor_opaque(&c, NULL, MOST * MOST * STEP, &len);
	if (rpcrdma_cursor_end(&c)) {
		(void)rpcrdma_request_error(q, RPCRDMA_GARBAGE_ARGS, 0);
		return;
	}
	if (!text_is(text, len, (char)('a' + (int)(number % 26))))
		w->bad = true;
	printf("change %u: %u octets, %s, %s\n", (unsigned)number, (unsigned)len,
	       n > 1 && args[1].item ? "by RDMA" : "inline", w->bad ? "bad" : "good");
	(void)rpcrdma_request_reply(q, NULL, 0, last ? answered : NULL, w);
}

static const struct rpcrdma_procedure client_procs[] = {
        [CHANGED] = {.name = "CHANGED", .handler = changed, .max_read_items = 1},
};
static const struct rpcrdma_program client_program = {PROGRAM, VERSION, client_procs,
                                                      2};

static void subscribed(struct rpcrdma_call *c, const struct rpcrdma_reply *r, void *arg)
{
	(void)c;
	(void)arg;
	if (r->status && r->status != -ECANCELED)
		fail("subscribing", r->status);
}

/* Subscribes each time the connection is up. */
static void on_event(struct rpcrdma_conn *c, int error, bool final, void *arg)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct watcher *w = arg;
	int err;

	if (final)
		fail("connecting", error);
	if (error)
		return;
	o.program = PROGRAM;
	o.version = VERSION;
	o.procedure = SUBSCRIBE;
	o.args = &w->identity_piece;
	o.n_args = 1;
	o.done = subscribed;
	err = rpcrdma_call(c, &o, NULL);
	if (err)
		fail("subscribing", err);
}

static int watch(struct rpcrdma_engine *e, struct rpcrdma_service *service,
                 const char *host, const char *port)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct watcher w = {.identity = put32((uint32_t)getpid())};
	int err;

	w.identity_piece = (struct rpcrdma_piece){&w.identity, 4, false};
	err = rpcrdma_service_add(service, &client_program, &w);
	o.callbacks = service;
	if (!err)
		err = rpcrdma_connect(e, host, port, &o, on_event, &w, &w.conn);
	if (err)
		fail("connecting", err);
	run_until_idle(e);
	return w.bad ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct rpcrdma_engine *e;
	struct rpcrdma_service *service = NULL;
	int status, err;

	if (argc != 4 || (strcmp(argv[1], "serve") && strcmp(argv[1], "watch"))) {
		fprintf(stderr, "usage: callback serve ADDRESS[:PORT] CHANGES\n"
		                "       callback watch HOST PORT\n");
		return 2;
	}
	err = rpcrdma_engine_new(NULL, &e);
	if (!err)
		err = rpcrdma_service_new(&service);
	if (err)
		fail("starting", err);
	if (!strcmp(argv[1], "serve"))
		status = serve(e, service, argv[2], (unsigned)atoi(argv[3]));
	else
		status = watch(e, service, argv[2], argv[3]);
	rpcrdma_engine_free(e);
	rpcrdma_service_free(service);
	return status;
}
