/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"

#include <gssapi/gssapi_krb5.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/cursor.h"

static void step(struct peer *p, const char *service, gss_buffer_desc *in,
                 OM_uint32 want)
{
	OM_uint32 major, minor;

	if (service) {
		gss_buffer_desc b = {strlen(service), (void *)(uintptr_t)service};

		major = gss_import_name(&minor, &b, GSS_C_NT_HOSTBASED_SERVICE,
		                        &p->name);
		RR_ASSERT(major == GSS_S_COMPLETE);
	}
	major = gss_init_sec_context(&minor, GSS_C_NO_CREDENTIAL, &p->id, p->name,
	                             gss_mech_krb5, GSS_C_MUTUAL_FLAG, 0,
	                             GSS_C_NO_CHANNEL_BINDINGS, in, NULL, &p->token,
	                             NULL, NULL);
	RR_ASSERT(major == want);
}

void peer_begin(struct peer *p, const char *service)
{
	memset(p, 0, sizeof(*p));
	p->id = GSS_C_NO_CONTEXT;
	p->name = GSS_C_NO_NAME;
	step(p, service, NULL, GSS_S_CONTINUE_NEEDED);
}

void peer_complete(struct peer *p, const void *token, size_t len)
{
	gss_buffer_desc in = {len, (void *)(uintptr_t)token};
	OM_uint32 minor;

	(void)gss_release_buffer(&minor, &p->token);
	step(p, NULL, &in, GSS_S_COMPLETE);
}

void peer_end(struct peer *p)
{
	OM_uint32 minor;

	(void)gss_release_buffer(&minor, &p->token);
	(void)gss_release_name(&minor, &p->name);
	(void)gss_delete_sec_context(&minor, &p->id, GSS_C_NO_BUFFER);
}

void peer_credential(const struct peer *p, const struct saying *s, struct said *ret)
{
	struct rr_writer w = rr_writer_over(ret->cred_body, sizeof(ret->cred_body));

	rr_put_u32(&w, s->version);
	rr_put_u32(&w, s->proc);
	rr_put_u32(&w, s->seq);
	rr_put_u32(&w, s->service);
	rr_put_u32(&w, p->handle_len);
	rr_put_padded(&w, p->handle, p->handle_len);
	RR_ASSERT(!rr_writer_bad(&w));
	ret->cred =
	        (struct rpcrdma_auth){6, ret->cred_body, (uint32_t)rr_writer_used(&w)};
	ret->verf = (struct rpcrdma_auth){0, ret->verf_body, 0};
}

static void sign_header(struct peer *p, uint32_t xid, uint32_t program,
                        uint32_t version, uint32_t procedure, struct said *ret)
{
	uint8_t head[32 + 400];
	struct rr_writer w = rr_writer_over(head, sizeof(head));
	const uint32_t words[] = {xid,     0,         2, program,
	                          version, procedure, 6, ret->cred.len};
	gss_buffer_desc text, mic;
	OM_uint32 minor;

	for (unsigned i = 0; i < 8; i++)
		rr_put_u32(&w, words[i]);
	rr_put_padded(&w, ret->cred.body, ret->cred.len);
	text = (gss_buffer_desc){rr_writer_used(&w), head};
	RR_ASSERT(gss_get_mic(&minor, p->id, 0, &text, &mic) == GSS_S_COMPLETE);
	RR_ASSERT(mic.length <= sizeof(ret->verf_body));
	memcpy(ret->verf_body, mic.value, mic.length);
	ret->verf = (struct rpcrdma_auth){6, ret->verf_body, (uint32_t)mic.length};
	(void)gss_release_buffer(&minor, &mic);
}

static void protect(struct peer *p, const struct saying *s, const void *plain,
                    size_t len, struct said *ret)
{
	uint8_t *body = malloc(len + 4);
	gss_buffer_desc text = {len + 4, body}, out = GSS_C_EMPTY_BUFFER;
	struct rr_writer w;
	OM_uint32 minor;
	int private;

	ret->args = malloc(len + 1024);
	RR_ASSERT(body && ret->args);
	w = rr_writer_over(ret->args, len + 1024);
	rr_store_u32(body, s->seq);
	if (len)
		memcpy(body + 4, plain, len);
	if (s->service == 2) {
		RR_ASSERT(!gss_get_mic(&minor, p->id, 0, &text, &out));
		rr_put_u32(&w, (uint32_t)len + 4);
		rr_put_padded(&w, body, len + 4);
	} else {
		RR_ASSERT(!gss_wrap(&minor, p->id, 1, 0, &text, &private, &out));
	}
	rr_put_u32(&w, (uint32_t)out.length);
	rr_put_padded(&w, out.value, out.length);
	RR_ASSERT(!rr_writer_bad(&w));
	ret->args_len = rr_writer_used(&w);
	(void)gss_release_buffer(&minor, &out);
	free(body);
}

void peer_say(struct peer *p, const struct saying *s, uint32_t xid, uint32_t program,
              uint32_t version, uint32_t procedure, const void *plain, size_t len,
              struct said *ret)
{
	peer_credential(p, s, ret);
	sign_header(p, xid, program, version, procedure, ret);
	if (s->service == 2 || s->service == 3) {
		protect(p, s, plain, len, ret);
		return;
	}
	ret->args = malloc(len + 1);
	RR_ASSERT(ret->args);
	if (len)
		memcpy(ret->args, plain, len);
	ret->args_len = len;
}

void said_free(struct said *s)
{
	free(s->args);
	s->args = NULL;
}

int peer_verifies(struct peer *p, const struct rpcrdma_auth *a, uint32_t word)
{
	uint8_t be[4];
	gss_buffer_desc text = {4, be}, mic = {a->len, (void *)(uintptr_t)a->body};
	OM_uint32 minor;

	rr_store_u32(be, word);
	return a->flavor == 6 &&
	       gss_verify_mic(&minor, p->id, &text, &mic, NULL) == GSS_S_COMPLETE;
}

void *peer_unwrap(struct peer *p, uint32_t service, uint32_t seq, const void *from,
                  size_t len, size_t *ret_len)
{
	struct rr_cursor c = rr_cursor_over(from, len);
	gss_buffer_desc a, b, plain = GSS_C_EMPTY_BUFFER;
	OM_uint32 major, minor;
	uint8_t *ret = NULL;
	int private = 1;

	a.length = rr_get_u32(&c);
	a.value = (void *)(uintptr_t)rr_get_bytes(&c, a.length + rr_pad(a.length));
	if (service == 2) {
		b.length = rr_get_u32(&c);
		b.value = (void *)(uintptr_t)rr_get_bytes(&c,
		                                          b.length + rr_pad(b.length));
	}
	if (rr_cursor_bad(&c) || rr_cursor_left(&c))
		return NULL;
	if (service == 2) {
		major = gss_verify_mic(&minor, p->id, &a, &b, NULL);
		plain = a;
	} else {
		major = gss_unwrap(&minor, p->id, &a, &plain, &private, NULL);
	}
	if (major == GSS_S_COMPLETE && private && plain.length >= 4 &&
	    rr_load_u32(plain.value) == seq) {
		*ret_len = plain.length - 4;
		ret = malloc(*ret_len + 1);
		RR_ASSERT(ret);
		memcpy(ret, (uint8_t *)plain.value + 4, *ret_len);
	}
	if (service == 3)
		(void)gss_release_buffer(&minor, &plain);
	return ret;
}
