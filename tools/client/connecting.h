/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A connection to a server.  The first attempt must succeed.  After a loss the library
 * tries to reconnect for retry_ns.
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
	unsigned losses;          /* times that the connection was lost */
	unsigned calls;           /* calls in flight */
	int error;                /* negative errno while the connection is not up */
	uint32_t transport_error; /* error code of the last call that ended with a
				     transport error */
	uint32_t auth_stat;       /* from the last reply */
	uint32_t sec;             /* security flavor of calls; SEC_UNSAID: not chosen */
	struct rpcrdma_gss *gss;  /* NULL: no Kerberos flavor is in use */
	char reason[160];
};

/* Connects and waits.  Returns 0, or prints a message and returns a negative errno. */
int link_open(struct link *, struct loop *, const struct url *,
              const struct rpcrdma_conn_options *);
void link_close(struct link *);
/* Makes the link use security flavor @flavor for calls to @program.  Returns 0 or a
 * negative errno. */
int link_secure(struct link *, const struct url *, uint32_t flavor, uint32_t program,
                uint32_t version);
/* Stops using a Kerberos flavor. */
void link_insecure(struct link *);
/* Returns a text that describes the status of a call. */
const char *link_status_text(const struct link *, int status);
/* Prints the negotiated values on one line. */
void link_describe(const struct link *, FILE *f);
/* Prints the negotiated values as members of a JSON object, without the braces. */
void link_describe_json(const struct link *, FILE *f);

#endif
