/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma ping: makes NULL calls, one at a time, as ping(8) sends requests.  The time
 * to connect is not measured.
 */
#include "client/connecting.h"
#include "client/json.h"
#include "client/netid.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <rpcrdma/nfs.h>

#define NO_PROGRAM UINT64_MAX

struct ping {
	struct tool_common common;
	struct loop loop;
	struct link link;
	struct url url;
	uint64_t asked; /* the program that the user gave, or NO_PROGRAM */
	uint32_t program, version;
	uint64_t count, interval_ns, timeout_ns; /* count 0: until a signal */
	uint32_t sec;
	bool quiet;
	const char *netids; /* NULL: RDMA only */
	CLIENT *tcp;        /* NULL: RDMA is used */

	uint64_t sent, received, sent_ns;
	bool waiting,
	        final_error; /* waiting: a call is in flight; final_error: further calls
				would fail, too */
	bool described;
	double min_us, max_us, sum_us, sum2_us;
};

/* Describes the connection when called for the first time.  This is after the first
 * reply, because in version 1 the credits are unknown before a reply. */
static void describe_once(struct ping *p)
{
	if (p->common.verbose && !p->common.json && !p->described) {
		if (p->tcp)
			printf("%s: TCP, no RDMA\n", p->link.host);
		else
			link_describe(&p->link, stdout);
	}
	p->described = true;
}

static void count_answer(struct ping *p, uint32_t xid, double us)
{
	p->received++;
	p->sum_us += us;
	p->sum2_us += us * us;
	if (p->received == 1 || us < p->min_us)
		p->min_us = us;
	if (us > p->max_us)
		p->max_us = us;
	if (!p->quiet && !p->common.json)
		printf("reply from %s: seq=%" PRIu64 " xid=0x%08" PRIx32
		       " time=%.3f ms\n",
		       p->link.host, p->sent, xid, us / 1000);
}

static void report_mismatch(const struct ping *p, uint32_t low, uint32_t high)
{
	if (low == high)
		tool_error("%s: the server has program %" PRIu32 " in version %" PRIu32
		           " only",
		           p->link.host, p->program, low);
	else
		tool_error("%s: the server has program %" PRIu32 " in versions %" PRIu32
		           " to %" PRIu32 " only",
		           p->link.host, p->program, low, high);
}

static void report_reply(struct ping *p, const struct rpcrdma_reply *reply)
{
	switch (reply->status) {
	case RPCRDMA_PROG_UNAVAIL:
		tool_error("%s: the server answers but has no program %" PRIu32,
		           p->link.host, p->program);
		p->final_error = true;
		break;
	case RPCRDMA_PROG_MISMATCH:
		report_mismatch(p, reply->low, reply->high);
		p->final_error = true;
		break;
	case -ECANCELED:
		break;
	default:
		p->link.auth_stat = reply->auth_stat;
		tool_error("%s: seq=%" PRIu64 ": %s", p->link.host, p->sent,
		           link_status_text(&p->link, reply->status));
		p->final_error =
		        reply->status == -EPROTONOSUPPORT || reply->status == -EACCES;
		break;
	}
}

static void on_ping_done(struct rpcrdma_call *call, const struct rpcrdma_reply *reply,
                         void *arg)
{
	struct ping *p = arg;

	p->waiting = false;
	if (reply->status >= 0)
		describe_once(p);
	if (reply->status)
		report_reply(p, reply);
	else
		count_answer(p, reply->xid,
		             (double)(tool_now_ns() - p->sent_ns) / 1000);
}

/* Calls over TCP and waits for the reply or the timeout.  Signals do not interrupt it.
 */
static int ping_once_tcp(struct ping *p)
{
	enum clnt_stat stat;
	uint32_t xid;

	p->sent_ns = tool_now_ns();
	stat = netid_null(p->tcp, p->timeout_ns, &xid);
	p->sent++;
	if (stat != RPC_SUCCESS) {
		tool_error("%s", clnt_sperror(p->tcp, p->link.host));
		p->final_error =
		        stat != RPC_TIMEDOUT; /* a TCP CLIENT does not reconnect */
	} else {
		describe_once(p);
		count_answer(p, xid, (double)(tool_now_ns() - p->sent_ns) / 1000);
	}
	return loop_signal() ? -EINTR : 0;
}

static int ping_once(struct ping *p)
{
	struct rpcrdma_call_options o = RPCRDMA_OPTIONS(struct rpcrdma_call_options);
	struct rpcrdma_call *call;
	int r;

	o.program = p->program;
	o.version = p->version;
	o.timeout_ns = p->timeout_ns;
	o.gss = p->link.gss;
	o.done = on_ping_done;
	o.arg = p;
	p->sent_ns = tool_now_ns();
	r = rpcrdma_call(p->link.conn, &o, &call);
	if (r) {
		tool_error("%s: %s", p->link.host, strerror(-r));
		return r;
	}
	p->sent++;
	p->waiting = true;
	while (p->waiting && !r)
		r = loop_wait(&p->loop, -1);
	if (p->waiting) {
		p->sent--; /* the call is not counted */
		rpcrdma_call_cancel(call);
		while (p->waiting)
			(void)rpcrdma_engine_process(p->loop.engine, 100); /* bounded */
	}
	return r;
}

static int pause_until(struct ping *p, uint64_t when)
{
	uint64_t now;
	int r = 0;

	while (!r && (now = tool_now_ns()) < when)
		r = loop_wait(&p->loop, (int)((when - now) / 1000000 + 1));
	return r;
}

static void run_pings(struct ping *p)
{
	int r = 0;

	while (!r && !p->final_error) {
		uint64_t next = tool_now_ns() + p->interval_ns;

		r = p->tcp ? ping_once_tcp(p) : ping_once(p);
		if (p->count && p->sent >= p->count)
			break;
		if (!r && !p->final_error)
			r = pause_until(p, next);
		fflush(stdout);
	}
}

/* Newton's method avoids linking with libm. */
static double square_root(double v)
{
	double x = v > 1 ? v : 1;

	if (!(v > 0))
		return 0;
	for (int i = 0; i < 64; i++)
		x = (x + v / x) / 2;
	return x;
}

static void print_summary(const struct ping *p, uint64_t elapsed_ns)
{
	double n = p->received ? (double)p->received : 1, avg = p->sum_us / n;
	double mdev = square_root(p->sum2_us / n - avg * avg);
	uint64_t lost = p->sent - p->received;

	if (p->common.json) {
		fputs("{\"host\":", stdout);
		json_string(stdout, p->link.host);
		printf(",\"program\":%" PRIu32 ",\"version\":%" PRIu32
		       ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64
		       ",\"elapsed_s\":%.6f",
		       p->program, p->version, p->sent, p->received,
		       (double)elapsed_ns / 1e9);
		if (p->received)
			printf(",\"min_us\":%.3f,\"avg_us\":%.3f,\"max_us\":%.3f"
			       ",\"mdev_us\":%.3f",
			       p->min_us, avg, p->max_us, mdev);
		fputs(",\"negotiated\":{", stdout);
		if (p->tcp)
			fputs("\"netid\":\"tcp\"", stdout);
		else
			link_describe_json(&p->link, stdout);
		fputs("}}\n", stdout);
		return;
	}
	printf("\n--- %s program %" PRIu32 " version %" PRIu32 " ---\n", p->link.host,
	       p->program, p->version);
	printf("%" PRIu64 " calls, %" PRIu64 " replies, %.0f%% lost, time %.0f ms\n",
	       p->sent, p->received, p->sent ? (double)lost * 100 / (double)p->sent : 0,
	       (double)elapsed_ns / 1e6);
	if (p->received)
		printf("rtt min/avg/max/mdev = %.3f/%.3f/%.3f/%.3f ms\n",
		       p->min_us / 1000, avg / 1000, p->max_us / 1000, mdev / 1000);
}

/* Returns the reason, as text, for a failed port look-up. */
static const char *lookup_reason(int error)
{
	switch (error) {
	case -ENOENT:
		return "the program is not registered with rpcbind for RDMA";
	case -ECONNREFUSED:
		return "rpcbind is not running";
	case -ENXIO:
		return "no address is known for the name";
	case -ETIMEDOUT:
		return "rpcbind does not answer";
	case -EACCES:
	case -EPROTO:
		return "rpcbind refuses the request";
	case -EPROTONOSUPPORT:
		return "rpcbind supports neither version 4 nor version 3";
	case -EBADMSG:
	case -EMSGSIZE:
		return "rpcbind sent a malformed answer";
	default:
		return strerror(-error);
	}
}

/* Asks rpcbind for the port.  Only NFS has a default port. */
static int look_up_rdma_port(struct ping *p)
{
	char port[RPCRDMA_SERVICE_BYTES];
	bool nfs = p->program == RPCRDMA_NFS_PROGRAM;
	int r = rpcrdma_lookup(p->url.host, p->program, p->version, p->timeout_ns,
	                       port);

	if (!r) {
		memcpy(p->url.port, port, sizeof(port));
		return 0;
	}
	tool_error("%s: program %" PRIu32 " version %" PRIu32 ": %s%s", p->url.host,
	           p->program, p->version, lookup_reason(r),
	           nfs ? "; trying port 20049" : "; specify the port as HOST:PORT");
	return nfs && r != -ENXIO ? 0 : r;
}

/* Connects.  Returns 0 for RDMA and 1 for TCP.  On failure prints a message and returns
 * a negative value. */
static int reach_host(struct ping *p, const struct rpcrdma_conn_options *co)
{
	const struct netid_request w = {p->netids, p->program, p->version,
	                                p->timeout_ns, co};
	int r = p->netids ? netid_open(&w, &p->url, &p->tcp) : 0;

	if (!p->netids && !p->url.has_port && p->asked != NO_PROGRAM)
		r = look_up_rdma_port(p);
	if (r > 0)
		url_host_text(&p->url, p->link.host, sizeof(p->link.host));
	return r ? r : link_open(&p->link, &p->loop, &p->url, co);
}

static int secure_link(struct ping *p)
{
	if (!p->tcp)
		return link_secure(&p->link, &p->url, p->sec, p->program, p->version);
	if (!sec_service(p->sec))
		return 0;
	tool_error("%s: --sec %s needs RDMA", p->link.host, sec_name(p->sec));
	return -EPROTONOSUPPORT;
}

static void close_transport(struct ping *p)
{
	if (p->tcp)
		clnt_destroy(p->tcp);
	else
		link_close(&p->link);
}

static int ping_host(struct ping *p)
{
	struct rpcrdma_conn_options co;
	uint64_t started;

	tool_conn_options(&p->common, &co);
	co.handshake_ns = p->timeout_ns;
	if (reach_host(p, &co) < 0)
		return TOOL_FAILED;
	if (secure_link(p)) {
		close_transport(p);
		return TOOL_FAILED;
	}
	started = tool_now_ns();
	run_pings(p);
	describe_once(p); /* no call was answered */
	print_summary(p, tool_now_ns() - started);
	close_transport(p);
	return p->received ? TOOL_OK : TOOL_FAILED;
}

static const struct tool_option options[] = {
        {"count", "c", "N", "stop after N calls (default: at SIGINT)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct ping, count, 1, UINT32_MAX)},
        {"interval", "i", "SECONDS", "time between calls (1); 0: no pause", NULL,
         TOOL_AT(TOOL_SECONDS, struct ping, interval_ns)},
        {"quiet", "q", NULL, "print only the summary", NULL,
         TOOL_AT(TOOL_SET, struct ping, quiet)},
        {"program", NULL, "N", "RPC program (100003: NFS)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct ping, asked, 0, UINT32_MAX)},
        {"version", NULL, "N", "version of the program (3)", NULL,
         TOOL_RANGE(TOOL_NUMBER, struct ping, version, 0, UINT32_MAX)},
        {"netid", NULL, "LIST", "transports to try: rdma, rdma6, tcp, tcp6 (rdma)",
         "rdma rdma6 tcp tcp6", TOOL_CALL(netid_take, struct ping, netids)},
        {"sec", NULL, "FLAVOR",
         "call under krb5, krb5i or krb5p (default: no authentication)",
         "sys krb5 krb5i krb5p", TOOL_CALL(sec_take, struct ping, sec)},
        {"timeout", NULL, "SECONDS", "limit for one call (10)", NULL,
         TOOL_AT(TOOL_SECONDS, struct ping, timeout_ns)},
        TOOL_COMMON_ROWS(struct ping, common),
};

static int run_ping(int argc, char **argv)
{
	struct ping p = {.asked = NO_PROGRAM,
	                 .version = 3,
	                 .interval_ns = 1000000000u,
	                 .timeout_ns = 10000000000u};
	const char *reason;
	int r;

	r = tool_read_options(&tool_ping, &p, &p.common, argc, argv);
	if (r != TOOL_GO_ON)
		return r;
	p.program = p.asked == NO_PROGRAM ? RPCRDMA_NFS_PROGRAM : (uint32_t)p.asked;
	if (optind + 1 != argc) {
		if (optind == argc)
			tool_error("missing host operand");
		else
			tool_error("extra operand %s",
			           tool_quote_always(argv[optind + 1]));
		return tool_usage();
	}
	if (url_parse_host(argv[optind], &p.url, &reason)) {
		tool_error("%s: %s", argv[optind], reason);
		return tool_usage();
	}
	if (loop_init(&p.loop, &p.common))
		return TOOL_FAILED;
	r = ping_host(&p);
	loop_fini(&p.loop);
	return loop_signal() == SIGINT ? r : loop_exit_code(r);
}

const struct tool_command tool_ping = {
        .name = "ping",
        .summary = "measure NULL calls and show what was negotiated",
        .usage = "usage: rpcrdma ping [OPTION]... HOST[:PORT]\n"
                 "Calls the NULL procedure of an RPC service and shows how long each "
                 "call takes.  Without PORT, the rpcbind of HOST is asked for the port "
                 "of --program; without both, the port is 20049.  An IPv6 address is "
                 "written in [brackets].",
        .notes = "-v shows what was negotiated, after the first reply; --json prints "
                 "one object at the end.\n\n"
                 "exit status: 0 answered, 1 no answer, 2 usage error",
        .options = options,
        .n_options = TOOL_N(options),
        .main = run_ping,
};
