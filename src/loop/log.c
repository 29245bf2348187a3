/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats trace events as JSON, and as sentences with a level.  The sentence about a
 * connection's new state is written by the voice's rr_describe_state_fn. */
#include "loop/log.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "loop/engine.h"

enum { LINE_MAX_BYTES = 320, PEER_BYTES = INET6_ADDRSTRLEN + 12 };

struct event {
	const struct rr_voice *voice;
	enum rr_trace_point point;
	uint32_t conn, xid;
	uint64_t v[3];
};

/* -- sentences ------------------------------------------------------------- */

static const char *get_reason(uint64_t error)
{
	return rpcrdma_strstatus((int)(int64_t)error);
}

static void describe_args(const struct event *ev, char *s, size_t size)
{
	int n = snprintf(s, size, "%s conn=%" PRIu32 " xid=%" PRIu32,
	                 rr_trace_name(ev->point), ev->conn, ev->xid);

	for (unsigned i = 0; i < 3; i++)
		if (*rr_trace_arg(ev->point, i))
			n += snprintf(s + n, size - (size_t)n, " %s=%" PRId64,
			              rr_trace_arg(ev->point, i), (int64_t)ev->v[i]);
}

static void describe_state_event(const struct event *ev, char *s, size_t size)
{
	const struct rr_voice *v = ev->voice;

	if (!v->describe_state ||
	    v->describe_state(v, ev->v[1], s, size) == RPCRDMA_LOG_DEBUG)
		describe_args(ev, s, size);
}

static enum rpcrdma_log_level get_state_level(const struct event *ev)
{
	const struct rr_voice *v = ev->voice;

	return v->describe_state ? v->describe_state(v, ev->v[1], NULL, 0)
	                         : RPCRDMA_LOG_DEBUG;
}

static void describe_error_sent(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "sent an error: %s",
	         rpcrdma_strerror_transport((uint32_t)ev->v[0]));
}

static void describe_error_received(const struct event *ev, char *s, size_t size)
{
	if (ev->v[0] == RPCRDMA_ERR_VERS)
		snprintf(s, size,
		         "the server does not support the version requested, only "
		         "%" PRIu64 " to %" PRIu64,
		         ev->v[1], ev->v[2]);
	else
		snprintf(s, size, "the peer reports an error: %s",
		         rpcrdma_strerror_transport((uint32_t)ev->v[0]));
}

static void describe_retried(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "a call is retried in another way: %s",
	         rpcrdma_strerror_transport((uint32_t)ev->v[0]));
}

static void describe_fault(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size,
	         "a message of the peer violates the protocol (rdma_err %" PRIu64 ")",
	         ev->v[0]);
}

static void describe_overrun(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "the peer sends more messages than its credits allow");
}

static void describe_evicted(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size,
	         "closed to make room for another connection: idle for %" PRIu64
	         " ms; %" PRIu64 " connections from that address",
	         ev->v[2], ev->v[1]);
}

static void describe_reclaimed(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size,
	         "closed, since the peer makes no progress with requests that hold "
	         "%" PRIu64 " octets; others wait for %" PRIu64,
	         ev->v[0], ev->v[1]);
}

static void describe_reconnect(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "reconnecting in %" PRIu64 " ms, attempt %" PRIu64 ": %s",
	         ev->v[1], ev->v[0], get_reason(ev->v[2]));
}

static void describe_retransmit(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "call %08" PRIx32 " is retransmitted, attempt %" PRIu64,
	         ev->xid, ev->v[0]);
}

static void describe_abandoned(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size,
	         "call %08" PRIx32 " fails: %" PRIu64
	         " connections were lost while it was outstanding",
	         ev->xid, ev->v[0]);
}

static void describe_given_up(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "not reconnecting: %s", get_reason(ev->v[0]));
}

static void describe_refused(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size,
	         "a call is refused: its chunks do not match program %" PRIu64
	         " version %" PRIu64 " procedure %" PRIu64,
	         ev->v[0], ev->v[1], ev->v[2]);
}

static void describe_gss_failed(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "no security context: %s", get_reason(ev->v[0]));
}

static void describe_gss_refused(const struct event *ev, char *s, size_t size)
{
	snprintf(s, size, "a security context is refused (auth_stat %" PRIu64 ")",
	         ev->v[0]);
}

/* The events that have a sentence; all others have level RPCRDMA_LOG_DEBUG. */
static const struct sentence {
	enum rpcrdma_log_level level;
	void (*describe)(const struct event *, char *s, size_t size);
} sentences[RR_TRACE_COUNT] = {
        [RR_TRACE_CONN_STATE] = {RPCRDMA_LOG_WARNING, describe_state_event},
        [RR_TRACE_RPC_GIVEN_UP] = {RPCRDMA_LOG_ERROR, describe_given_up},
        [RR_TRACE_RPC_ABANDONED] = {RPCRDMA_LOG_ERROR, describe_abandoned},
        [RR_TRACE_GSS_FAILED] = {RPCRDMA_LOG_ERROR, describe_gss_failed},
        [RR_TRACE_GSS_REFUSED] = {RPCRDMA_LOG_WARNING, describe_gss_refused},
        [RR_TRACE_RPC_REFUSED] = {RPCRDMA_LOG_WARNING, describe_refused},
        [RR_TRACE_PEER_FAULT] = {RPCRDMA_LOG_WARNING, describe_fault},
        [RR_TRACE_CREDIT_OVERRUN] = {RPCRDMA_LOG_WARNING, describe_overrun},
        [RR_TRACE_CONN_EVICTED] = {RPCRDMA_LOG_WARNING, describe_evicted},
        [RR_TRACE_MEMORY_RECLAIMED] = {RPCRDMA_LOG_WARNING, describe_reclaimed},
        [RR_TRACE_ERROR_SENT] = {RPCRDMA_LOG_INFO, describe_error_sent},
        [RR_TRACE_ERROR_RECEIVED] = {RPCRDMA_LOG_INFO, describe_error_received},
        [RR_TRACE_CALL_RETRIED] = {RPCRDMA_LOG_INFO, describe_retried},
        [RR_TRACE_RPC_RECONNECT] = {RPCRDMA_LOG_INFO, describe_reconnect},
        [RR_TRACE_RPC_RETRANSMIT] = {RPCRDMA_LOG_INFO, describe_retransmit},
};

static enum rpcrdma_log_level get_level(const struct event *ev)
{
	const struct sentence *s = &sentences[ev->point];

	if (ev->point == RR_TRACE_CONN_STATE)
		return get_state_level(ev);
	return s->describe ? s->level : RPCRDMA_LOG_DEBUG;
}

/* -- output ---------------------------------------------------------------- */

/* Writes an IPv4 or IPv6 address to @s, such as "192.0.2.1:20049: ".  For other
 * families writes an empty string.  Returns the length. */
static int write_peer(const struct sockaddr_storage *ss, char *s, size_t size)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)ss;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)ss;
	char ip[INET6_ADDRSTRLEN];

	s[0] = '\0';
	if (ss->ss_family == AF_INET &&
	    inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip)))
		return snprintf(s, size, "%s:%u: ", ip, ntohs(in->sin_port));
	if (ss->ss_family == AF_INET6 &&
	    inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip)))
		return snprintf(s, size, "[%s]:%u: ", ip, ntohs(in6->sin6_port));
	return 0;
}

static void write_line(const struct event *ev, enum rpcrdma_log_level level)
{
	const struct rpcrdma_engine *e = ev->voice->engine;
	const struct sentence *s = &sentences[ev->point];
	char line[PEER_BYTES + LINE_MAX_BYTES];
	int n = write_peer(&ev->voice->peer, line, sizeof(line));

	(s->describe ? s->describe : describe_args)(ev, line + n,
	                                            sizeof(line) - (size_t)n);
	e->log(level, line, e->log_arg);
}

static void write_json(const struct event *ev)
{
	const struct rpcrdma_engine *e = ev->voice->engine;
	char line[LINE_MAX_BYTES];
	int n;

	n = snprintf(line, sizeof(line),
	             "{\"t\":%.6f,\"conn\":%" PRIu32
	             ",\"point\":\"%s\",\"xid\":%" PRIu32,
	             (double)rr_engine_clock() / 1e9, ev->conn,
	             rr_trace_name(ev->point), ev->xid);
	for (unsigned i = 0; i < 3; i++) {
		const char *arg = rr_trace_arg(ev->point, i);

		if (*arg)
			n += snprintf(line + n, sizeof(line) - (size_t)n,
			              ",\"%s\":%" PRId64, arg, (int64_t)ev->v[i]);
	}
	snprintf(line + n, sizeof(line) - (size_t)n, "}");
	e->trace(e->trace_arg, line);
}

static void emit_event(void *ctx, enum rr_trace_point p, uint32_t conn, uint32_t xid,
                       uint64_t a, uint64_t b, uint64_t c)
{
	struct rr_voice *v = ctx;
	const struct event ev = {v, p, conn, xid, {a, b, c}};
	enum rpcrdma_log_level level;

	if (v->engine->trace)
		write_json(&ev);
	if (!v->engine->log)
		return;
	level = get_level(&ev);
	if (level <= v->engine->log_level)
		write_line(&ev, level);
}

/* -- voices ---------------------------------------------------------------- */

static void set_sink(struct rr_voice *v)
{
	v->sink.emit = v->engine->trace || v->engine->log ? emit_event : NULL;
}

void rr_voice_init(struct rr_voice *v, struct rpcrdma_engine *e,
                   rr_describe_state_fn *describe_state)
{
	v->sink.ctx = v;
	v->engine = e;
	v->describe_state = describe_state;
	rr_list_init(&v->all);
	rr_list_push(&e->voices, &v->all);
	set_sink(v);
}

void rr_voice_fini(struct rr_voice *v)
{
	if (v->engine)
		rr_list_del(&v->all);
}

void rr_voice_set_peer(struct rr_voice *v, const struct sockaddr *sa, socklen_t len)
{
	memcpy(&v->peer, sa, RR_MIN((size_t)len, sizeof(v->peer)));
}

void rr_voices_listen(struct rpcrdma_engine *e)
{
	struct rr_list *n;

	rr_list_for_each (n, &e->voices)
		set_sink(rr_container_of(n, struct rr_voice, all));
}

void rpcrdma_engine_set_log(struct rpcrdma_engine *e, enum rpcrdma_log_level most,
                            rpcrdma_log_fn *log, void *arg)
{
	e->log = most > RPCRDMA_LOG_NONE ? log : NULL;
	e->log_level = most;
	e->log_arg = arg;
	rr_voices_listen(e);
}
