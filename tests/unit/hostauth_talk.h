/* SPDX-License-Identifier: BSD-3-Clause */
/* The dialogue of host authentication between two ends, words passed by hand. */
#ifndef TESTS_UNIT_HOSTAUTH_TALK_H
#define TESTS_UNIT_HOSTAUTH_TALK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hostauth/hostauth.h"

#include "../e2e/support/certs.h"

enum { CLIENT, SERVER, ROUNDS = 12 };

static struct certs certs;

/* What one end has, and what became of it. */
struct end {
	const char *cert, *ca, *psk, *name;
	const char *allow[2]; /* NULL: none */
	bool must;
	struct rpcrdma_hostauth *creds;
	struct rr_hostauth *h;
	int verdict;
};

struct word {
	uint8_t *p;
	size_t len;
};

/* A talk, with hooks for what somebody between does. */
struct talk {
	struct end end[2];
	struct word word[ROUNDS];
	unsigned n;
	void (*meddle)(struct talk *, unsigned round, uint8_t *p, size_t len);
};

static inline const char *file(const char *name, const char *suffix)
{
	return certs_file(&certs, name, suffix);
}

static inline void open_end(struct end *e, bool server)
{
	struct rpcrdma_hostauth_options o =
	        RPCRDMA_OPTIONS(struct rpcrdma_hostauth_options);
	char why[128];

	o.allow = e->allow;
	o.n_allow = !!e->allow[0] + !!e->allow[1];
	if (e->psk) {
		o.psk_file = file(e->psk, "");
	} else {
		o.cert_file = e->cert ? file(e->cert, ".pem") : NULL;
		o.key_file = e->cert ? file(e->cert, ".key") : NULL;
		o.ca_file = file(e->ca ? e->ca : "ca", ".pem");
	}
	if (rpcrdma_hostauth_new(&o, &e->creds, why, sizeof(why)))
		fail_msg("%s", why);
	assert_int_equal(rr_hostauth_new(e->creds, server, e->name, e->must, &e->h), 0);
}

static inline void begin(struct talk *t)
{
	open_end(&t->end[CLIENT], false);
	open_end(&t->end[SERVER], true);
}

/* An end that is not done has no channel binding. */
static inline bool is_done(const struct rr_hostauth *h)
{
	uint8_t binding[RR_HOSTAUTH_BINDING];

	return rr_hostauth_binding(h, binding) == 0;
}

/* Until an end has had enough; 1: both are satisfied. */
static inline int converse(struct talk *t)
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

static inline void end(struct talk *t)
{
	for (unsigned i = 0; i < 2; i++) {
		rr_hostauth_free(t->end[i].h);
		rpcrdma_hostauth_free(t->end[i].creds);
	}
	for (unsigned i = 0; i < t->n; i++)
		free(t->word[i].p);
}

static inline struct talk usual(void)
{
	return (struct talk){
	        .end = {{.cert = "client", .name = "127.0.0.1", .must = true},
	                {.cert = "server", .must = true}}};
}

static inline int set_up(void **state)
{
	certs_begin(&certs);
	return 0;
}

static inline int tear_down(void **state)
{
	certs_end(&certs);
	return 0;
}

#endif
