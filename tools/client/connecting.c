/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connects; on failure reports the reason.  Until the first connection is up, any
 * failure is final, so that a mistyped address is reported without delay.  Later losses
 * are reported only with -v; whether they are failures depends on each call's result.
 */
#include "client/connecting.h"

#include "client/json.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void on_link_event(struct rpcrdma_conn *conn, int error, bool final, void *arg)
{
	struct link *k = arg;
	struct rpcrdma_conn_info info;

	if (!error) {
		if (k->was_up && !k->quiet && k->loop->common->verbose)
			tool_error("%s: connected again", k->host);
		k->up = k->was_up = true;
		k->error = 0;
		return;
	}
	rpcrdma_conn_get_info(conn, &info, sizeof(info));
	memcpy(k->reason, info.reason, sizeof(k->reason));
	k->reason[sizeof(k->reason) - 1] = 0;
	if (k->up && !k->quiet && k->loop->common->verbose)
		tool_error("%s: connection lost (%s)%s", k->host,
		           *k->reason ? k->reason : strerror(-error),
		           final ? "" : ", trying again");
	k->losses += k->up;
	k->up = false;
	k->over = final;
	k->error = error;
}

static void report_connect_failure(const struct link *k, const struct url *u)
{
	switch (-k->error) {
	case ECONNREFUSED:
		tool_error("%s: connection refused: is `rpcrdma nfsd` running on %s?",
		           k->host, k->host);
		break;
	case ENXIO:
		tool_error("%s: no address is known for the name '%s'", k->host,
		           u->host);
		break;
	case ETIMEDOUT:
		tool_error("%s: no answer%s%s: is the server up, and does it serve "
		           "RDMA on that port?",
		           k->host, *k->reason ? ", " : "", k->reason);
		break;
	case EHOSTUNREACH:
	case ENETUNREACH:
		tool_error("%s: the host is unreachable (%s)", k->host,
		           strerror(-k->error));
		break;
	case EPROTONOSUPPORT:
		tool_error("%s: no RPC-over-RDMA version in common%s%s", k->host,
		           *k->reason ? ": " : "", k->reason);
		break;
	case ENOPKG:
	case ENODEV:
		tool_error("%s: cannot connect: %s", k->host,
		           *k->reason ? k->reason : tool_provider_reason(k->error));
		break;
	case EINVAL:
		tool_error("%s: cannot connect with these options%s%s", k->host,
		           *k->reason ? ": " : "", k->reason);
		break;
	default:
		tool_error("%s: cannot connect: %s%s%s", k->host, strerror(-k->error),
		           *k->reason ? ": " : "", k->reason);
		break;
	}
}

int link_open(struct link *k, struct loop *l, const struct url *u,
              const struct rpcrdma_conn_options *options)
{
	int r;

	*k = (struct link){.loop = l};
	url_host_text(u, k->host, sizeof(k->host));
	r = rpcrdma_connect(l->engine, u->host, u->port, options, on_link_event, k,
	                    &k->conn);
	if (r) {
		k->error = r;
		report_connect_failure(k, u);
		return r;
	}
	while (!k->up && !k->error && !r)
		r = loop_wait(l, -1);
	if (!r && !k->up)
		r = k->error;
	if (!r)
		return 0;
	if (k->error)
		report_connect_failure(k, u);
	link_close(k);
	return r;
}

int link_secure(struct link *k, const struct url *u, uint32_t flavor, uint32_t program,
                uint32_t version)
{
	struct rpcrdma_gss_options o = RPCRDMA_OPTIONS(struct rpcrdma_gss_options);
	char principal[sizeof(u->host) + 4];
	int r;

	k->sec = flavor;
	o.service = sec_service(flavor);
	if (!o.service)
		return 0;
	snprintf(principal, sizeof(principal), "nfs@%s", u->host);
	o.principal = principal;
	o.program = program;
	o.version = version;
	r = rpcrdma_gss_new(k->conn, &o, &k->gss);
	if (r)
		tool_error("%s: %s", k->host, strerror(-r));
	return r;
}

void link_insecure(struct link *k)
{
	if (k->gss)
		rpcrdma_gss_free(k->gss);
	k->gss = NULL;
}

void link_close(struct link *k)
{
	if (k->gss) {
		link_insecure(k);
		/* Send RPCSEC_GSS_DESTROY only if the connection is up. */
		if (k->up)
			(void)rpcrdma_engine_process(k->loop->engine, 0);
	}
	if (k->conn)
		rpcrdma_conn_close(k->conn);
	k->conn = NULL;
}

/* Returns the reason why no security context could be made. */
static const char *gss_reason(const struct link *k)
{
	static struct rpcrdma_gss_info info;

	if (k->gss)
		rpcrdma_gss_get_info(k->gss, &info, sizeof(info));
	return k->gss && info.reason[0] ? info.reason : strerror(EACCES);
}

static const char *auth_reason(uint32_t auth_stat)
{
	enum { INVALIDRESP = 6, TOOWEAK = 5 };

	if (auth_stat == TOOWEAK)
		return "the server requires another security flavor (--sec)";
	if (auth_stat == INVALIDRESP)
		return "the reply is not authentic";
	return rpcrdma_strstatus(RPCRDMA_AUTH_ERROR);
}

const char *link_status_text(const struct link *k, int status)
{
	if (status == RPCRDMA_AUTH_ERROR)
		return auth_reason(k->auth_stat);
	if (status == RPCRDMA_TRANSPORT_ERROR)
		return rpcrdma_strerror_transport(k->transport_error);
	if (status >= 0)
		return rpcrdma_strstatus(status);
	switch (-status) {
	case ETIMEDOUT:
		return k->up ? "connected, but no answer within the time limit "
		               "(--timeout)"
		             : "no answer within the time limit (--timeout)";
	case EHOSTUNREACH:
		return "the server could not be reached again within the retry time "
		       "(--retry)";
	case ECONNRESET:
		return "the connection was lost";
	case EACCES:
		return gss_reason(k);
	case ECANCELED:
		return "cancelled";
	case EBADMSG:
		return "the server's answer is malformed";
	case ENODATA:
		return "the file was truncated while it was read";
	case EPROTO:
		return "the server's answer violates RPC-over-RDMA";
	case EPROTONOSUPPORT:
		return "no RPC-over-RDMA version in common with the server";
	case EOVERFLOW:
		return "the server's answer is too long";
	case EMSGSIZE:
		return "the call exceeds what the server accepts";
	default:
		return strerror(-status);
	}
}

/* Returns the peer's segment limits as text.  In version 1 these limits are unknown. */
static const char *format_segments(const struct rpcrdma_conn_info *i, char *ret,
                                   size_t size)
{
	if (!i->peer_max_segments)
		return "segments not limited by the server";
	snprintf(ret, size, "segments %" PRIu32 " of %s", i->peer_max_segments,
	         tool_human(i->peer_segment_bytes));
	return ret;
}

void link_describe(const struct link *k, FILE *f)
{
	struct rpcrdma_conn_info i;
	char segments[64], features[TOOL_FEATURES_BYTES];

	rpcrdma_conn_get_info(k->conn, &i, sizeof(i));
	fprintf(f,
	        "%s: provider %s, RPC-over-RDMA version %u, credits %" PRIu32
	        ", inline %" PRIu32 " out %" PRIu32 " in, %s"
	        ", remote invalidation %s%s%s%s%s%s%s\n",
	        k->host, i.provider, i.version, i.credits_granted, i.send_inline,
	        i.recv_inline, format_segments(&i, segments, sizeof(segments)),
	        i.remote_invalidate ? "yes" : "no", i.features ? ", features" : "",
	        tool_feature_names(i.features, features),
	        i.identity[0] ? ", server is " : "",
	        i.identity[0] ? tool_quote(i.identity) : "",
	        k->sec ? ", security " : "", k->sec ? sec_name(k->sec) : "");
}

void link_describe_json(const struct link *k, FILE *f)
{
	struct rpcrdma_conn_info i;
	char features[TOOL_FEATURES_BYTES], *next = features;

	rpcrdma_conn_get_info(k->conn, &i, sizeof(i));
	fprintf(f,
	        "\"provider\":\"%s\",\"rpcrdma_version\":%u,\"credits_granted\":"
	        "%" PRIu32 ",\"send_inline_bytes\":%" PRIu32
	        ",\"recv_inline_bytes\":%" PRIu32 ",\"peer_segment_bytes\":%" PRIu32
	        ",\"peer_max_segments\":%" PRIu32 ",\"remote_invalidate\":%s",
	        i.provider, i.version, i.credits_granted, i.send_inline, i.recv_inline,
	        i.peer_segment_bytes, i.peer_max_segments,
	        i.remote_invalidate ? "true" : "false");
	(void)tool_feature_names(i.features, features);
	fputs(",\"features\":[", f);
	for (const char *name; (name = strsep(&next, " "));)
		if (*name)
			fprintf(f, "%s\"%s\"", name > features + 1 ? "," : "", name);
	fputc(']', f);
	if (k->sec)
		fprintf(f, ",\"sec\":\"%s\"", sec_name(k->sec));
	if (i.identity[0]) {
		fputs(",\"identity\":", f);
		json_string(f, i.identity);
	}
}

int sec_take(void *to, const char *arg)
{
	uint32_t *flavor = to;

	*flavor = sec_from_name(arg, strlen(arg));
	if (*flavor)
		return 0;
	tool_error("--sec: '%s' is not one of sys, krb5, krb5i, krb5p", arg);
	return -EINVAL;
}
