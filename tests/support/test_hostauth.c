/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "test_hostauth.h"

struct certs certs;

const char *dialogue_file(const char *name, const char *suffix)
{
	return certs_file(&certs, name, suffix);
}

void dialogue_open_end(struct end *e, bool server)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	char why[128];

	o.allow = e->allow;
	o.n_allow = !!e->allow[0] + !!e->allow[1];
	if (e->psk) {
		o.psk_file = dialogue_file(e->psk, "");
	} else {
		o.cert_file = e->cert ? dialogue_file(e->cert, ".pem") : NULL;
		o.key_file = e->cert ? dialogue_file(e->cert, ".key") : NULL;
		o.ca_file = dialogue_file(e->ca ? e->ca : "ca", ".pem");
	}
	if (rpcrdma_hostauth_new(&o, &e->creds, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(rr_hostauth_new(e->creds, server, e->name, e->must, &e->h), 0);
}

void dialogue_begin(struct dialogue *t)
{
	dialogue_open_end(&t->end[CLIENT], false);
	dialogue_open_end(&t->end[SERVER], true);
}

bool hostauth_is_done(const struct rr_hostauth *h)
{
	uint8_t binding[RR_HOSTAUTH_BINDING];

	return rr_hostauth_binding(h, binding) == 0;
}

int dialogue_run(struct dialogue *t)
{
	const void *in = NULL;
	size_t in_len = 0;
	unsigned who = CLIENT;

	for (t->n = 0; t->n < ROUNDS; who ^= 1) {
		struct end *e = &t->end[who];
		struct word *w = &t->word[t->n];
		const void *out = NULL;
		size_t len = 0;

		e->verdict = rr_hostauth_step(e->h, in, in_len, &out, &len);
		if (e->verdict < 0 && !len)
			return -1;
		if (e->verdict == 1 && !len)
			return t->end[who ^ 1].verdict;
		w->p = malloc(len + 1);
		memcpy(w->p, out, len);
		w->len = len;
		if (t->meddle)
			t->meddle(t, t->n, w->p, len);
		in = w->p;
		in_len = w->len;
		t->n++;
	}
	fail_msg("it never ends");
	return -1;
}

void dialogue_end(struct dialogue *t)
{
	for (unsigned i = 0; i < 2; i++) {
		rr_hostauth_free(t->end[i].h);
		rpcrdma_hostauth_free(t->end[i].creds);
	}
	for (unsigned i = 0; i < t->n; i++)
		free(t->word[i].p);
}

struct dialogue dialogue_usual(void)
{
	return (struct dialogue){
	        .end = {{.cert = "client", .name = "127.0.0.1", .must = true},
	                {.cert = "server", .must = true}}};
}

int dialogue_set_up(void **state)
{
	certs_begin(&certs);
	return 0;
}

int dialogue_tear_down(void **state)
{
	certs_end(&certs);
	return 0;
}
