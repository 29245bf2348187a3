/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to a server as the tools use it: the first attempt must
 * succeed, later losses are the library's to repair (for retry_ns).
 */
#ifndef RPCRDMA_TOOLS_LINK_H
#define RPCRDMA_TOOLS_LINK_H

#include "client/loop.h"
#include "client/sec_option.h"
#include "client/url.h"

struct link {
	struct loop *loop;
	struct rpcrdma_conn *conn;
	char host[288]; /* "HOST:PORT", for messages */
	bool up, was_up, over, quiet;
	int error;                /* why it is not up */
	uint32_t transport_error; /* of the last call that ended with one */
	uint32_t auth_stat;       /* the same */
	uint32_t sec;             /* the flavor of calls; SEC_UNSAID: none was chosen */
	struct rpcrdma_gss *gss;  /* if it is a Kerberos one */
	char reason[160];
};

/* Connects and waits.  Failures are told on stderr, in words. */
int link_open(struct link *, struct loop *, const struct url *,
              const struct rpcrdma_conn_options *);
void link_close(struct link *);
/* Calls of @program are under @flavor from now on.  0, or negative errno. */
int link_secure(struct link *, const struct url *, uint32_t flavor, uint32_t program,
                uint32_t version);
/* No longer under a flavor of Kerberos. */
void link_insecure(struct link *);
/* A phrase for a call that ended with @status. */
const char *link_status_text(const struct link *, int status);
/* One line of what was negotiated. */
void link_describe(const struct link *, FILE *f);
/* The same as members of a JSON object, without the braces. */
void link_describe_json(const struct link *, FILE *f);

#endif
