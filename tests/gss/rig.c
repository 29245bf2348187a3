/* SPDX-License-Identifier: BSD-3-Clause */
#include "rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct sockaddr_in from = {.sin_family = AF_INET};
struct sockaddr_in6 *from6;
rr_time now = RR_SEC(1000);
char service[300], big[BIG];
uint32_t last_minor;

struct rr_gss *table(const struct rr_gss_options *o)
{
	struct rr_gss *g;

	assert_int_equal(rr_gss_new(o, &g), 0);
	return g;
}

/* -- talking -------------------------------------------------------------------- */

struct rr_gss_call call_of(const struct said *s, uint32_t xid, uint32_t procedure)
{
	static struct rpcrdma_piece none;

	return (struct rr_gss_call){.xid = xid,
	                            .program = PROGRAM,
	                            .version = VERSION,
	                            .procedure = procedure,
	                            .cred = s->cred,
	                            .verf = s->verf,
	                            .args = &none,
	                            .peer = from6 ? (struct sockaddr *)from6
	                                          : (struct sockaddr *)&from,
	                            .now = now};
}

enum rr_gss_verdict tell(struct rr_gss *g, const struct said *s, uint32_t xid,
                         uint32_t procedure, struct rr_gss_request *r)
{
	/* In two pieces, at an odd place, as it may come. */
	struct rpcrdma_piece p[2] = {
	        {s->args, s->args_len / 2, false},
	        {s->args + s->args_len / 2, s->args_len - s->args_len / 2, false}};
	struct rr_gss_call k = call_of(s, xid, procedure);

	k.args = p;
	k.n_args = 2;
	return rr_gss_accept(g, &k, r);
}

/* What a Reply says; -1: it is no accepted one. */
int accept_stat(const struct rr_gss_request *r, struct rpcrdma_auth *ret_verf,
                struct rr_cursor *ret)
{
	struct rr_cursor c = rr_cursor_over(r->reply, r->reply_len);

	(void)rr_get_u32(&c);
	assert_int_equal(rr_get_u32(&c), 1);
	if (rr_get_u32(&c) != 0)
		return -1;
	ret_verf->flavor = rr_get_u32(&c);
	ret_verf->len = rr_get_u32(&c);
	ret_verf->body = rr_get_bytes(&c, ret_verf->len + rr_pad(ret_verf->len));
	*ret = c;
	return (int)rr_get_u32(ret);
}

void assert_denied(const struct rr_gss_request *r, uint32_t xid, uint32_t why)
{
	uint8_t want[20];

	rr_store_u32(want, xid);
	rr_store_u32(want + 4, 1);
	rr_store_u32(want + 8, 1);
	rr_store_u32(want + 12, 1);
	rr_store_u32(want + 16, why);
	assert_int_equal(r->verdict, RR_GSS_ANSWER);
	assert_int_equal(r->auth_stat, why);
	assert_int_equal(r->reply_len, sizeof(want));
	assert_memory_equal(r->reply, want, sizeof(want));
	assert_null(r->context);
}

/* The first message, with the token that @p has. */
void say_init(struct peer *p, const struct saying *s, struct said *m)
{
	struct rr_writer w;

	peer_credential(p, s, m);
	m->args = malloc(p->token.length + 8);
	assert_non_null(m->args);
	w = rr_writer_over(m->args, p->token.length + 8);
	rr_put_u32(&w, (uint32_t)p->token.length);
	rr_put_padded(&w, p->token.value, p->token.length);
	m->args_len = rr_writer_used(&w);
}

const struct saying init = {.version = 1, .proc = RR_GSS_INIT};

/* gss_major of the Reply; completes @p if that is COMPLETE. */
uint32_t take_init(struct peer *p, const struct rr_gss_request *r)
{
	struct rpcrdma_auth verf;
	struct rr_cursor c;
	const void *handle, *token;
	uint32_t major, len;

	assert_int_equal(r->verdict, RR_GSS_ANSWER);
	assert_int_equal(accept_stat(r, &verf, &c), 0);
	p->handle_len = rr_get_u32(&c);
	handle = rr_get_bytes(&c, p->handle_len);
	major = rr_get_u32(&c);
	last_minor = rr_get_u32(&c);
	p->window = rr_get_u32(&c);
	len = rr_get_u32(&c);
	token = rr_get_bytes(&c, len);
	(void)rr_get_bytes(&c, rr_pad(len));
	assert_false(rr_cursor_bad(&c));
	assert_int_equal(rr_cursor_left(&c), 0);
	if (major) { /* [RFC 2203 §5.2.3.1] */
		assert_int_equal(
		        p->handle_len + len + p->window + verf.flavor + verf.len, 0);
		return major;
	}
	memcpy(p->handle, handle, p->handle_len);
	peer_complete(p, token, len);
	assert_true(peer_verifies(p, &verf, p->window));
	return 0;
}

uint32_t establish(struct rr_gss *g, struct peer *p)
{
	struct rr_gss_request r;
	struct said m;
	uint32_t major;

	peer_begin(p, service);
	say_init(p, &init, &m);
	tell(g, &m, 1, 0, &r);
	major = take_init(p, &r);
	rr_gss_release(&r);
	said_free(&m);
	return major;
}

struct saying data(uint32_t service_, uint32_t seq)
{
	return (struct saying){.version = 1, .service = service_, .seq = seq};
}

/* A request with the next number. */
enum rr_gss_verdict ask(struct rr_gss *g, struct peer *p, uint32_t service_,
                        const void *plain, size_t len, struct rr_gss_request *r)
{
	const struct saying s = data(service_, ++p->seq);
	enum rr_gss_verdict v;
	struct said m;

	peer_say(p, &s, 77, PROGRAM, VERSION, 5, plain, len, &m);
	v = tell(g, &m, 77, 5, r);
	if (v == RR_GSS_PROCEED && !r->args)
		assert_int_equal(service_, RR_GSS_NONE);
	/* Arguments are copies when they came in two pieces. */
	said_free(&m);
	return v;
}

void assert_works(struct rr_gss *g, struct peer *p)
{
	struct rr_gss_request r;

	assert_int_equal(ask(g, p, RR_GSS_INTEGRITY, "abcd", 4, &r), RR_GSS_PROCEED);
	assert_memory_equal(r.args, "abcd", 4);
	rr_gss_release(&r);
}

void assert_gone(struct rr_gss *g, struct peer *p, uint32_t why)
{
	struct rr_gss_request r;

	ask(g, p, RR_GSS_NONE, "abcd", 4, &r);
	assert_denied(&r, 77, why);
	rr_gss_release(&r);
}

void results_come_back(struct peer *p, struct rr_gss_request *r, size_t len)
{
	const struct rpcrdma_piece pieces[] = {{big, 8, false},
	                                       {big + 8, len - 8, true}};
	size_t wrapped_len, plain_len;
	void *wrapped, *plain;

	assert_int_equal(rr_gss_wrap(r, pieces, 2, &wrapped, &wrapped_len), 0);
	assert_int_equal(wrapped_len % 4, 0);
	assert_true(wrapped_len - len <= RR_GSS_OVERHEAD);
	plain = peer_unwrap(p, r->service, r->seq, wrapped, wrapped_len, &plain_len);
	assert_non_null(plain);
	assert_int_equal(plain_len, (len + 3) & ~(size_t)3);
	assert_memory_equal(plain, big, len);
	free(plain);
	/* Under another number it is not what was asked for. */
	assert_null(peer_unwrap(p, r->service, r->seq + 1, wrapped, wrapped_len,
	                        &plain_len));
	free(wrapped);
}

void rig_init(void)
{
	snprintf(service, sizeof(service), "nfs@%s", getenv("KDC_HOST"));
	for (unsigned i = 0; i < sizeof(big); i++)
		big[i] = (char)(i * 7 + i / 251);
}
