/* SPDX-License-Identifier: BSD-3-Clause */
/* The dialogue of host authentication between two ends, tokens passed by hand. */
#ifndef RR_TEST_HOSTAUTH_H
#define RR_TEST_HOSTAUTH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "hostauth/hostauth.h"

#include "test_certs.h"

enum { CLIENT, SERVER, ROUNDS = 12 };

extern struct certs certs;

/* The credentials of one end, and its verdict. */
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

/* meddle: what somebody between the ends does to a token, or NULL. */
struct dialogue {
	struct end end[2];
	struct word word[ROUNDS];
	unsigned n;
	void (*meddle)(struct dialogue *, unsigned round, uint8_t *p, size_t len);
};

/* Returns the path of a file of certs. */
const char *dialogue_file(const char *name, const char *suffix);
/* A client that wants 127.0.0.1 of a server; both must be authenticated. */
struct dialogue dialogue_usual(void);
/* Loads the credentials of one end, or of both, and creates it. */
void dialogue_open_end(struct end *e, bool server);
void dialogue_begin(struct dialogue *t);
/* Passes tokens until an end is done or gives up.  Returns 1 if both are satisfied. */
int dialogue_run(struct dialogue *t);
void dialogue_end(struct dialogue *t);
/* Returns whether the end has a channel binding, which only an end that is done has. */
bool hostauth_is_done(const struct rr_hostauth *h);

/* For cmocka groups: make and remove certs. */
int dialogue_set_up(void **state);
int dialogue_tear_down(void **state);

#endif
