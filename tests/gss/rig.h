/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of contexts, and clients that talk to it without a transport. */
#ifndef RIG_H
#define RIG_H

#include <netinet/in.h>

#include "base/cursor.h"
#include "gss/contexts.h"
#include "peer.h"

enum { PROGRAM = 0x20000077, VERSION = 3, BIG = 1 << 20 };
enum { BADCRED = 1, REJECTED = 2, BADVERF = 3, CREDPROBLEM = 13, CTXPROBLEM = 14 };
enum { GARBAGE = 4 };

extern struct sockaddr_in from;    /* the client's address */
extern struct sockaddr_in6 *from6; /* instead, unless it is NULL */
extern rr_time now;
extern char service[300], big[BIG];
extern uint32_t last_minor; /* gss_minor of take_init */
extern const struct saying init;

void rig_init(void);
struct rr_gss *table(const struct rr_gss_options *o);
/* The Call without arguments; with them, in two pieces. */
struct rr_gss_call call_of(const struct said *s, uint32_t xid, uint32_t procedure);
enum rr_gss_verdict tell(struct rr_gss *g, const struct said *s, uint32_t xid,
                         uint32_t procedure, struct rr_gss_request *r);
/* What a Reply says; -1: it is no accepted one. */
int accept_stat(const struct rr_gss_request *r, struct rpcrdma_auth *ret_verf,
                struct rr_cursor *ret);
void assert_denied(const struct rr_gss_request *r, uint32_t xid, uint32_t why);
/* The first message, with the token that @p has. */
void say_init(struct peer *p, const struct saying *s, struct said *m);
/* gss_major of the Reply; completes @p if that is COMPLETE. */
uint32_t take_init(struct peer *p, const struct rr_gss_request *r);
/* Both. */
uint32_t establish(struct rr_gss *g, struct peer *p);
struct saying data(uint32_t service_, uint32_t seq);
/* A request with the next number. */
enum rr_gss_verdict ask(struct rr_gss *g, struct peer *p, uint32_t service_,
                        const void *plain, size_t len, struct rr_gss_request *r);
void assert_works(struct rr_gss *g, struct peer *p);
void assert_gone(struct rr_gss *g, struct peer *p, uint32_t why);
/* @len octets, the last of them an item. */
void results_come_back(struct peer *p, struct rr_gss_request *r, size_t len);

#endif
