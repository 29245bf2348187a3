/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RPCSEC_GSS through libtirpc over RDMA, with tickets of a real KDC
 * (../gss/with_kdc.sh): AUTHs as programs make them, many at once, at any size, with a
 * binding and without; what moves on its own and what must not; and, by an AUTH that
 * says what we like
 * (../gss/peer.h), what a server answers to those who tamper.       [v2 §11.2.2]
 */
#include "rig.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <gssapi/gssapi_krb5.h>
#include <rpc/auth_gss.h>
#include <rpc/rpcsec_gss.h>
#include <rpc/svc_auth_gss.h>
#include <rpc/svc_mt.h>

#include "../gss/peer.h"
#include "base/cursor.h"
#include "tirpc/svc_gss.h"

#undef rpc_createerr /* the structure is meant */
#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

enum { WHO_PROG = 0x20000abd, WHO = 1, WHO_SILENT = 2, WHO_LEN = 300 };
enum { BIG = 1 << 20, THREADS = 6, ROUNDS = 20 };

static const struct timeval long_time = {.tv_sec = 60};
static const struct rpcrdma_tirpc_options bound = {
        .size = sizeof(bound), .bindings = rig_bindings, .n_bindings = 1};
static struct rig rig;
static char service[300], *octets;

/* What libtirpc 1.3 loses of an AUTH that could not be made. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:authgss_create\nleak:rpc_gss_seccreate\n";
}

/* -- the server's part ----------------------------------------------------- */

/* Who that is, by each of libtirpc's functions. */
static void tell_who(struct svc_req *r, SVCXPRT *x)
{
	const struct rpc_gss_cred *c = r->rq_clntcred;
	static char text[WHO_LEN], *p = text;
	rpc_gss_rawcred_t *raw = NULL;
	rpc_gss_ucred_t *u = NULL;
	char *name;

	if (r->rq_cred.oa_flavor != RPCSEC_GSS || !rpc_gss_getcred(r, &raw, &u, NULL)) {
		svcerr_weakauth(x);
		return;
	}
	name = svcauth_gss_get_principal(&SVC_XP_AUTH(x));
	snprintf(text, sizeof(text), "%s %.*s %s %s %d %d %u %d", name,
	         raw->client_principal->len, raw->client_principal->name,
	         raw->svc_principal, raw->mechanism, (int)raw->service, (int)c->gc_svc,
	         (unsigned)u->uid, rpc_gss_svc_max_data_length(r, 10000) > 9000);
	free(name);
	svc_sendreply(x, (xdrproc_t)xdr_wrapstring, (char *)&p);
}

static void who_prog(struct svc_req *r, SVCXPRT *x)
{
	if (r->rq_proc == WHO)
		tell_who(r, x);
	else if (r->rq_proc != WHO_SILENT)
		svc_sendreply(x, VOID, NULL);
}

static void add_who(SVCXPRT *x)
{
	assert_true(svc_reg(x, WHO_PROG, 1, who_prog, NULL));
}

/* -- the client's ---------------------------------------------------------- */

static AUTH *gss_auth(CLIENT *c, rpc_gss_svc_t svc)
{
	struct rpc_gss_sec sec = {.mech = gss_mech_krb5,
	                          .qop = GSS_C_QOP_DEFAULT,
	                          .svc = svc,
	                          .cred = GSS_C_NO_CREDENTIAL,
	                          .req_flags = GSS_C_MUTUAL_FLAG};

	return authgss_create_default(c, service, &sec);
}

static CLIENT *gss_client(const struct rig *g, const struct rpcrdma_tirpc_options *o,
                          rpc_gss_svc_t svc)
{
	CLIENT *c = rig_client(g, o);

	c->cl_auth = gss_auth(c, svc);
	assert_non_null(c->cl_auth);
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&long_time));
	return c;
}

static void end_client(CLIENT *c)
{
	auth_destroy(c->cl_auth);
	clnt_destroy(c);
}

static u_int sum(u_int len)
{
	u_int n = 0;

	for (u_int i = 0; i < len; i++)
		n += (u_char)octets[i];
	return n;
}

static bool both_ways(CLIENT *c, u_int len)
{
	blob_args a = {.id = 1, .data = {len, octets}, .tail = 2};
	blob_res r = {0};
	blob_got g = {0};
	u_int n = 0;
	bool ok;

	ok = clnt_call(c, BLOB_PUT, (xdrproc_t)xdr_blob_args, (char *)&a,
	               (xdrproc_t)xdr_u_int, (char *)&n, long_time) == RPC_SUCCESS &&
	     n == sum(len) + 3;
	ok = ok &&
	     clnt_call(c, BLOB_GET, (xdrproc_t)xdr_u_int, (char *)&len,
	               (xdrproc_t)xdr_blob_got, (char *)&g, long_time) == RPC_SUCCESS &&
	     g.blob_got_u.ok.data.data_len == len && g.blob_got_u.ok.tail == 99 &&
	     rig_filled(g.blob_got_u.ok.data.data_val, len, len);
	ok = ok &&
	     clnt_call(c, BLOB_ECHO, (xdrproc_t)xdr_blob_args, (char *)&a,
	               (xdrproc_t)xdr_blob_res, (char *)&r, long_time) == RPC_SUCCESS &&
	     r.data.data_len == len &&
	     (!len || memcmp(r.data.data_val, octets, len) == 0);
	if (!ok)
		clnt_perror(c, "both_ways");
	xdr_free((xdrproc_t)xdr_blob_got, &g);
	xdr_free((xdrproc_t)xdr_blob_res, &r);
	return ok;
}

static enum clnt_stat null_call(CLIENT *c)
{
	return clnt_call(c, BLOB_NULL, VOID, NULL, VOID, NULL, long_time);
}

static struct rpcrdma_stats stats(void)
{
	struct rpcrdma_stats s;

	assert_int_equal(rpcrdma_tirpc_get_stats(NULL, 0, &s, sizeof(s)), 0);
	return s;
}

/* -- what it is for -------------------------------------------------------- */

static void any_size_under_each_service(void **state)
{
	const u_int sizes[] = {0, 1, 3, 1000, 16384, 65537, BIG, 5 * BIG + 1};

	for (rpc_gss_svc_t v = RPCSEC_GSS_SVC_NONE; v <= RPCSEC_GSS_SVC_PRIVACY; v++) {
		CLIENT *c = gss_client(&rig, NULL, v), *b = gss_client(&rig, &bound, v);

		for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
			assert_true(both_ways(c, sizes[i]));
			assert_true(both_ways(b, sizes[i]));
		}
		end_client(c);
		end_client(b);
	}
}

/* V2-11.2.2.2-01, V2-11.2.2.3-01, -02, -03 */
static void items_move_under_authentication_alone(void **state)
{
	for (rpc_gss_svc_t v = RPCSEC_GSS_SVC_NONE; v <= RPCSEC_GSS_SVC_PRIVACY; v++) {
		CLIENT *c = gss_client(&rig, &bound, v);
		struct rpcrdma_stats a = stats(), b;
		uint64_t items, whole;

		assert_true(both_ways(c, BIG));
		b = stats();
		items = b.bytes_read_chunk + b.bytes_write_chunk - a.bytes_read_chunk -
		        a.bytes_write_chunk;
		whole = b.bytes_continued + b.bytes_special_call + b.bytes_reply_chunk +
		        b.bytes_reply_pulled - a.bytes_continued -
		        a.bytes_special_call - a.bytes_reply_chunk -
		        a.bytes_reply_pulled;
		if (v == RPCSEC_GSS_SVC_NONE) {
			assert_int_equal(items, 4ull * BIG); /* PUT, GET, ECHO */
			assert_int_equal(whole, 0);
		} else {
			assert_int_equal(items, 0);
			assert_true(whole >= 4ull * BIG);
		}
		end_client(c);
	}
}

/* V2-11.2.2.2-02: version 1 cannot continue a Reply: the estimate is what there is room
 * for, to the octet. */
static void replies_have_room_for_what_protects_them(void **state)
{
	const u_int sizes[] = {1, 900, 4000, 65536, BIG};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const struct rpcrdma_tirpc_item item = RPCRDMA_TIRPC_ITEM(
		        blob_got, blob_got_u.ok.data.data_val, sizes[i]);
		const struct rpcrdma_tirpc_procedure get = {.procedure = BLOB_GET,
		                                            .results = &item,
		                                            .n_results = 1,
		                                            .reply_bytes = 12};
		const struct rpcrdma_tirpc_binding tight = {BLOB_PROG, BLOB_VERS, &get,
		                                            1};
		const struct rpcrdma_tirpc_binding *const list[1] = {&tight};
		struct rpcrdma_conn_options conn =
		        RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
		const struct rpcrdma_tirpc_options o = {.size = sizeof(o),
		                                        .conn = &conn,
		                                        .bindings = list,
		                                        .n_bindings = 1};

		conn.version = 1;
		for (rpc_gss_svc_t v = 1; v <= 3; v++) {
			CLIENT *c = gss_client(&rig, &o, v);
			u_int len = sizes[i];
			blob_got *g = blob_get_1(&len, c);

			if (!g)
				clnt_perror(c, "get");
			assert_non_null(g);
			assert_true(
			        rig_filled(g->blob_got_u.ok.data.data_val, len, len));
			assert_true(clnt_freeres(c, (xdrproc_t)xdr_blob_got, g));
			end_client(c);
		}
	}
}

static void check_who(AUTH *auth, int svc)
{
	CLIENT *c = clnt_rdma_create(rig.address, WHO_PROG, 1, NULL);
	char *text = NULL, want[WHO_LEN];

	assert_non_null(c);
	if (!auth)
		auth = gss_auth(c, (rpc_gss_svc_t)svc);
	assert_non_null(auth);
	c->cl_auth = auth;
	assert_int_equal(clnt_call(c, WHO, VOID, NULL, (xdrproc_t)xdr_wrapstring,
	                           (char *)&text, long_time),
	                 RPC_SUCCESS);
	snprintf(want, sizeof(want),
	         "alice@RPCRDMA.TEST alice@RPCRDMA.TEST nfs/%s@RPCRDMA.TEST "
	         "kerberos_v5 %d %d 1 1",
	         getenv("KDC_HOST"), svc, svc);
	assert_string_equal(text, want);
	free(text);
	assert_int_equal(clnt_call(c, WHO_SILENT, VOID, NULL, VOID, NULL, long_time),
	                 RPC_SYSTEMERROR);
	assert_int_equal(null_call(c), RPC_SUCCESS);
	end_client(c);
}

static void dispatch_functions_know_who_calls(void **state)
{
	for (int v = 1; v <= 3; v++)
		check_who(NULL, v);
}

static void contexts_of_rpc_gss_seccreate(void **state)
{
	CLIENT *c = clnt_rdma_create(rig.address, WHO_PROG, 1, NULL);
	rpc_gss_options_ret_t ret;
	char krb5[] = "kerberos_v5", *text = NULL;
	AUTH *auth;

	assert_non_null(c);
	auth = rpc_gss_seccreate(c, service, krb5, rpcsec_gss_svc_integrity, NULL, NULL,
	                         &ret);
	assert_non_null(auth);
	assert_string_equal(ret.actual_mechanism, krb5);
	c->cl_auth = auth;
	assert_int_equal(clnt_call(c, WHO, VOID, NULL, (xdrproc_t)xdr_wrapstring,
	                           (char *)&text, long_time),
	                 RPC_SUCCESS);
	assert_non_null(strstr(text, "kerberos_v5 2 2 1"));
	free(text);
	/* The service of later calls. */
	assert_true(rpc_gss_set_defaults(auth, rpcsec_gss_svc_privacy, NULL));
	text = NULL;
	assert_int_equal(clnt_call(c, WHO, VOID, NULL, (xdrproc_t)xdr_wrapstring,
	                           (char *)&text, long_time),
	                 RPC_SUCCESS);
	assert_non_null(strstr(text, "kerberos_v5 3 3 1"));
	free(text);
	end_client(c);
}

/* -- many ------------------------------------------------------------------ */

static void *one_of_many(void *arg)
{
	const unsigned i = (unsigned)(uintptr_t)arg;
	CLIENT *c = rig_client(&rig, i % 2 ? &bound : NULL);

	if (i == THREADS)
		c->cl_auth = authunix_create_default();
	else
		c->cl_auth = gss_auth(c, (rpc_gss_svc_t)(1 + i % 3));
	if (!c->cl_auth)
		return "no context";
	for (u_int n = 0; n < ROUNDS; n++) {
		/* Whole words: libtirpc's own streams race for where roundup goes. */
		if (!both_ways(c, (n * 7920) % 40000))
			return "a call failed";
		if (n == ROUNDS / 2 && i < THREADS) { /* and another context */
			auth_destroy(c->cl_auth);
			c->cl_auth = gss_auth(c, (rpc_gss_svc_t)(1 + (i + 1) % 3));
			if (!c->cl_auth)
				return "no second context";
		}
	}
	end_client(c);
	return NULL;
}

static void many_contexts_at_once(void **state)
{
	pthread_t t[THREADS + 1];
	void *why;

	for (unsigned i = 0; i <= THREADS; i++)
		assert_int_equal(
		        pthread_create(&t[i], NULL, one_of_many, (void *)(uintptr_t)i),
		        0);
	for (unsigned i = 0; i <= THREADS; i++) {
		pthread_join(t[i], &why);
		if (why)
			fail_msg("thread %u: %s", i, (char *)why);
	}
}

static void *share(void *arg)
{
	for (u_int n = 0; n < ROUNDS; n++)
		if (!both_ways(arg, 1000 * n))
			return arg;
	return NULL;
}

static void threads_share_a_client(void **state)
{
	CLIENT *c = gss_client(&rig, NULL, RPCSEC_GSS_SVC_INTEGRITY);
	pthread_t t[3];
	void *bad;

	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&t[i], NULL, share, c), 0);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(t[i], &bad);
		assert_null(bad);
	}
	end_client(c);
}

/* As after a restart: the server does not know the context.  The client is told so,
 * and goes on with a new AUTH. */
static void a_context_that_the_server_lost(void **state)
{
	struct rig own = {0};
	CLIENT *before = gss_client(&rig, NULL, RPCSEC_GSS_SVC_INTEGRITY), *c;
	struct rpc_err e;

	rig_start(&own);
	c = rig_client(&own, NULL);
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&long_time));
	c->cl_auth = before->cl_auth;
	assert_int_equal(null_call(c), RPC_AUTHERROR);
	clnt_geterr(c, &e);
	assert_int_equal(e.re_why, RPCSEC_GSS_CREDPROBLEM);
	end_client(before);
	c->cl_auth = gss_auth(c, RPCSEC_GSS_SVC_INTEGRITY);
	assert_non_null(c->cl_auth);
	assert_true(both_ways(c, 1000));
	end_client(c);
	assert_int_equal(rig_stop(&own), 0);
}

/* -- who must not ---------------------------------------------------------- */

static void without_a_ticket_there_is_no_context(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	rpc_gss_options_ret_t ret = {0};
	char krb5[] = "kerberos_v5", word[200] = "";
	gss_buffer_desc b = GSS_C_EMPTY_BUFFER;
	OM_uint32 minor, more = 0;

	setenv("KRB5CCNAME", getenv("EMPTY_CC"), 1);
	assert_null(rpc_gss_seccreate(c, service, krb5, rpcsec_gss_svc_none, NULL, NULL,
	                              &ret));
	assert_int_equal(__rpc_createerr()->cf_stat, RPC_AUTHERROR);
	assert_int_not_equal(ret.major_status, 0);
	gss_display_status(&minor, (OM_uint32)ret.minor_status, GSS_C_MECH_CODE,
	                   gss_mech_krb5, &more, &b);
	snprintf(word, sizeof(word), "%.*s", (int)b.length, (char *)b.value);
	gss_release_buffer(&minor, &b);
	assert_non_null(strstr(word, "No Kerberos credentials available"));
	setenv("KRB5CCNAME", getenv("ALICE_CC"), 1);
	assert_int_equal(null_call(c), RPC_SUCCESS); /* AUTH_NONE, as before */
	clnt_destroy(c);
}

static void a_key_of_another_service_is_refused(void **state)
{
	char principal[300];
	const struct rpcrdma_tirpc_options o = {.size = sizeof(o),
	                                        .gss_principal = principal};
	struct rig own = {.options = &o};
	CLIENT *c;

	snprintf(principal, sizeof(principal), "host@%s", getenv("KDC_HOST"));
	rig_start(&own);
	c = rig_client(&own, NULL);
	assert_null(gss_auth(c, RPCSEC_GSS_SVC_NONE));
	assert_int_equal(null_call(c), RPC_SUCCESS);
	clnt_destroy(c);
	assert_int_equal(rig_stop(&own), 0);
}

/* -- an AUTH that says what we like ---------------------------------------- */

static struct {
	struct said m;
	uint8_t results[4096];
	u_int len;
} say;

static int say_marshal(AUTH *a, XDR *x)
{
	struct opaque_auth cred = {(enum_t)say.m.cred.flavor,
	                           (caddr_t)(uintptr_t)say.m.cred.body, say.m.cred.len};
	struct opaque_auth verf = {(enum_t)say.m.verf.flavor,
	                           (caddr_t)(uintptr_t)say.m.verf.body, say.m.verf.len};

	return xdr_opaque_auth(x, &cred) && xdr_opaque_auth(x, &verf);
}

static int say_wrap(AUTH *a, XDR *x, xdrproc_t proc, caddr_t where)
{
	return (*proc)(x, where);
}

static int say_validate(AUTH *a, struct opaque_auth *v)
{
	return TRUE;
}

static int say_refresh(AUTH *a, void *m)
{
	return FALSE;
}

static void say_nothing(AUTH *a)
{
}

static struct auth_ops say_ops = {
        .ah_nextverf = say_nothing,
        .ah_marshal = say_marshal,
        .ah_validate = say_validate,
        .ah_refresh = say_refresh,
        .ah_destroy = say_nothing,
        .ah_wrap = say_wrap,
        .ah_unwrap = say_wrap,
};
static AUTH say_auth = {.ah_cred.oa_flavor = RPCSEC_GSS, .ah_ops = &say_ops};

static bool_t put_said(XDR *x, ...)
{
	return xdr_opaque(x, (char *)say.m.args, (u_int)say.m.args_len);
}

static bool_t keep_words(XDR *x, ...)
{
	long v;

	for (say.len = 0; say.len < sizeof(say.results) && XDR_GETLONG(x, &v);
	     say.len += 4)
		rr_store_u32(say.results + say.len, (uint32_t)v);
	return TRUE;
}

static enum clnt_stat send_said(CLIENT *c, uint32_t xid, rpcproc_t proc, u_int *ret_why)
{
	enum clnt_stat stat;
	struct rpc_err e;

	assert_true(clnt_control(c, CLSET_XID, (char *)&xid));
	stat = clnt_call(c, proc, (xdrproc_t)put_said, NULL, (xdrproc_t)keep_words,
	                 NULL, long_time);
	clnt_geterr(c, &e);
	*ret_why = (u_int)e.re_why;
	return stat;
}

/* A context of @p's, by hand. */
static CLIENT *by_hand(struct peer *p)
{
	static const struct saying init = {.version = 1, .proc = RPCSEC_GSS_INIT};
	CLIENT *c = rig_client(&rig, NULL);
	struct rr_writer w;
	struct rr_cursor r;
	const void *token;
	uint32_t len;
	u_int why;

	c->cl_auth = &say_auth;
	peer_begin(p, service);
	peer_credential(p, &init, &say.m);
	say.m.args = malloc(p->token.length + 8);
	assert_non_null(say.m.args);
	w = rr_writer_over(say.m.args, p->token.length + 8);
	rr_put_u32(&w, (uint32_t)p->token.length);
	rr_put_padded(&w, p->token.value, p->token.length);
	say.m.args_len = rr_writer_used(&w);
	assert_int_equal(send_said(c, 1001, 0, &why), RPC_SUCCESS);
	said_free(&say.m);
	r = rr_cursor_over(say.results, say.len);
	p->handle_len = rr_get_u32(&r);
	assert_int_equal(p->handle_len, 16);
	memcpy(p->handle, rr_get_bytes(&r, 16), 16);
	assert_int_equal(rr_get_u32(&r), GSS_S_COMPLETE);
	(void)rr_get_u32(&r);
	p->window = rr_get_u32(&r);
	len = rr_get_u32(&r);
	token = rr_get_bytes(&r, len);
	assert_false(rr_cursor_bad(&r));
	peer_complete(p, token, len);
	return c;
}

/* The next request for BLOB_PUT, whose answer is 3. */
static void say_put(struct peer *p, uint32_t svc, uint32_t xid)
{
	const struct saying s = {.version = 1, .service = svc, .seq = ++p->seq};
	uint8_t args[12];

	rr_store_u32(args, 1);
	rr_store_u32(args + 4, 0);
	rr_store_u32(args + 8, 2);
	peer_say(p, &s, xid, BLOB_PROG, BLOB_VERS, BLOB_PUT, args, 12, &say.m);
}

static void what_was_changed_is_refused(void **state)
{
	struct peer p;
	CLIENT *c = by_hand(&p);
	u_int why;

	for (uint32_t svc = 1; svc <= 3; svc++) {
		say_put(&p, svc, 2000 + svc);
		assert_int_equal(send_said(c, 2000 + svc, BLOB_PUT, &why), RPC_SUCCESS);
		said_free(&say.m);
		if (svc == 1)
			assert_int_equal(rr_load_u32(say.results), 3);
		say_put(&p, svc, 2100 + svc);
		say.m.verf_body[say.m.verf.len / 2] ^= 4;
		assert_int_equal(send_said(c, 2100 + svc, BLOB_PUT, &why),
		                 RPC_AUTHERROR);
		assert_int_equal(why, RPCSEC_GSS_CREDPROBLEM);
		said_free(&say.m);
		say_put(&p, svc, 2200 + svc); /* the XID is signed, too */
		assert_int_equal(send_said(c, 2300 + svc, BLOB_PUT, &why),
		                 RPC_AUTHERROR);
		assert_int_equal(why, RPCSEC_GSS_CREDPROBLEM);
		said_free(&say.m);
		if (svc == 1)
			continue;
		say_put(&p, svc, 2400 + svc);
		say.m.args[say.m.args_len - 5] ^= 4;
		assert_int_equal(send_said(c, 2400 + svc, BLOB_PUT, &why),
		                 RPC_CANTDECODEARGS);
		said_free(&say.m);
	}
	peer_end(&p);
	clnt_destroy(c);
}

static void what_was_recorded_ends_the_connection(void **state)
{
	struct peer p;
	CLIENT *c = by_hand(&p), *thief = rig_client(&rig, NULL);
	u_int why;

	thief->cl_auth = &say_auth;
	say_put(&p, 3, 3001);
	assert_int_equal(send_said(c, 3001, BLOB_PUT, &why), RPC_SUCCESS);
	assert_int_equal(send_said(thief, 3001, BLOB_PUT, &why), RPC_CANTRECV);
	said_free(&say.m);
	say_put(&p, 3, 3002); /* the owner's is another one */
	assert_int_equal(send_said(c, 3002, BLOB_PUT, &why), RPC_SUCCESS);
	said_free(&say.m);
	peer_end(&p);
	clnt_destroy(c);
	clnt_destroy(thief);
}

/* What stands for RPCSEC_GSS within the server may be sent by anybody. */
static void the_flavor_within_is_refused_from_outside(void **state)
{
	CLIENT *c = rig_client(&rig, NULL);
	struct peer p;
	u_int why;

	c->cl_auth = &say_auth;
	memset(&say.m, 0, sizeof(say.m));
	say.m.cred = (struct rpcrdma_auth){RR_RPC_GSS, say.m.cred_body, 0};
	say.m.verf = (struct rpcrdma_auth){0, say.m.verf_body, 0};
	assert_int_equal(send_said(c, 5001, 0, &why), RPC_AUTHERROR);
	assert_int_equal(why, AUTH_REJECTEDCRED);
	say.m.cred.len = 400;
	assert_int_equal(send_said(c, 5002, 0, &why), RPC_AUTHERROR);
	assert_int_equal(why, AUTH_REJECTEDCRED);
	clnt_destroy(c);
	c = by_hand(&p); /* it is still there */
	say_put(&p, 1, 5003);
	assert_int_equal(send_said(c, 5003, BLOB_PUT, &why), RPC_SUCCESS);
	said_free(&say.m);
	peer_end(&p);
	clnt_destroy(c);
}

static void a_context_ends_when_it_is_said(void **state)
{
	const struct saying s = {.version = 1, .proc = 3, .service = 2, .seq = 50};
	struct peer p, wrong;
	CLIENT *c = by_hand(&p);
	u_int why;

	wrong = p;
	wrong.handle[3] ^= 1;
	say_put(&wrong, 1, 4001);
	assert_int_equal(send_said(c, 4001, BLOB_PUT, &why), RPC_AUTHERROR);
	assert_int_equal(why, RPCSEC_GSS_CREDPROBLEM);
	said_free(&say.m);
	peer_say(&p, &s, 4002, BLOB_PROG, BLOB_VERS, 0, NULL, 0, &say.m);
	assert_int_equal(send_said(c, 4002, 0, &why), RPC_SUCCESS);
	said_free(&say.m);
	p.seq = 60;
	say_put(&p, 1, 4003);
	assert_int_equal(send_said(c, 4003, BLOB_PUT, &why), RPC_AUTHERROR);
	assert_int_equal(why, RPCSEC_GSS_CREDPROBLEM);
	said_free(&say.m);
	peer_end(&p);
	clnt_destroy(c);
}

/* A call that is out is signed, and its number has been seen: never sent twice. */
static void nothing_signed_is_sent_again(void **state)
{
	const struct rpcrdma_tirpc_options o = {.size = sizeof(o), .resend = true};
	const struct timeval short_time = {.tv_usec = 200000};
	struct rig own = {0};
	CLIENT *c;

	rig_start(&own);
	c = gss_client(&own, &o, RPCSEC_GSS_SVC_INTEGRITY);
	assert_int_equal(clnt_call(c, BLOB_DIE, VOID, NULL, VOID, NULL, long_time),
	                 RPC_CANTRECV);
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&short_time));
	end_client(c); /* tells a server that is gone */
	assert_int_equal(rig_stop(&own), 0);
}

static int stop(void **state)
{
	free(octets);
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(any_size_under_each_service),
	        cmocka_unit_test(items_move_under_authentication_alone),
	        cmocka_unit_test(replies_have_room_for_what_protects_them),
	        cmocka_unit_test(dispatch_functions_know_who_calls),
	        cmocka_unit_test(contexts_of_rpc_gss_seccreate),
	        cmocka_unit_test(many_contexts_at_once),
	        cmocka_unit_test(threads_share_a_client),
	        cmocka_unit_test(a_context_that_the_server_lost),
	        cmocka_unit_test(without_a_ticket_there_is_no_context),
	        cmocka_unit_test(a_key_of_another_service_is_refused),
	        cmocka_unit_test(what_was_changed_is_refused),
	        cmocka_unit_test(what_was_recorded_ends_the_connection),
	        cmocka_unit_test(a_context_ends_when_it_is_said),
	        cmocka_unit_test(the_flavor_within_is_refused_from_outside),
	        cmocka_unit_test(nothing_signed_is_sent_again),
	};

	snprintf(service, sizeof(service), "nfs@%s", getenv("KDC_HOST"));
	octets = malloc(5 * BIG + 1);
	if (!octets)
		return 1;
	rig_fill(octets, 5 * BIG + 1, 3);
	rig.options = &bound;
	rig.more = add_who;
	rig_start(&rig);
	return cmocka_run_group_tests(tests, NULL, stop);
}
