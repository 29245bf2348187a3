/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lines that the server prints while it runs.  The server's addresses are printed on
 * standard output, for scripts.  Clients that are refused and, with -v, clients that
 * connect or disconnect are reported on standard error.
 */
#include "daemon.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

enum { ADDR_BYTES = NI_MAXHOST + NI_MAXSERV + 4 };

/* Writes "ADDR:PORT" to @text, with an IPv6 address in brackets.  Returns @text, or a
 * constant string if the address cannot be formatted. */
static const char *format_address(const struct sockaddr_storage *ss,
                                  char text[ADDR_BYTES])
{
	char host[NI_MAXHOST], port[NI_MAXSERV];
	bool v6 = ss->ss_family == AF_INET6;

	if (getnameinfo((const struct sockaddr *)ss,
	                v6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in),
	                host, sizeof(host), port, sizeof(port),
	                NI_NUMERICHOST | NI_NUMERICSERV))
		return "of unknown address";
	snprintf(text, ADDR_BYTES, "%s%s%s:%s", v6 ? "[" : "", host, v6 ? "]" : "",
	         port);
	return text;
}

void report_listening(const struct sockaddr_storage *ss, const char *provider,
                      unsigned version, bool json)
{
	char text[ADDR_BYTES];

	if (json)
		printf("{\"listening\":\"%s\",\"provider\":\"%s\","
		       "\"rpcrdma_version\":%u}\n",
		       format_address(ss, text), provider, version);
	else
		printf("listening %s %s %u\n", format_address(ss, text), provider,
		       version);
}

void report_tcp(const char *what, const struct sockaddr_storage *ss, bool json)
{
	char text[ADDR_BYTES];

	if (json)
		printf("{\"%s\":\"%s\",\"provider\":\"tcp\"}\n", what,
		       format_address(ss, text));
	else
		printf("%s %s tcp\n", what, format_address(ss, text));
}

/* Returns the reason why the client was refused, or NULL if it was not refused. */
static const char *find_refusal(const struct rpcrdma_conn_info *i)
{
	if (i->error == -ECONNREFUSED)
		return "there is no room for another connection (--connections, "
		       "--max-per-address, --memory)";
	if (i->error != -EACCES && i->error != -ENOMEM)
		return NULL;
	return *i->reason ? i->reason : strerror(-i->error);
}

void report_client(struct rpcrdma_listener *l, const struct rpcrdma_conn_info *i,
                   void *arg)
{
	const char *refused = find_refusal(i);
	const char *reason = refused      ? refused
	                     : *i->reason ? i->reason
	                                  : strerror(-i->error);
	char text[ADDR_BYTES], line[ADDR_BYTES + 512], features[TOOL_FEATURES_BYTES];
	const char *who = format_address(&i->peer, text);

	(void)l;
	if (!arg && refused && warn_take_turn(WARN_REFUSED))
		warn_print(WARN_REFUSED, "client %s refused: %s", who, reason);
	if (!arg)
		return;
	if (i->connected)
		snprintf(line, sizeof(line), "connected: %s, version %u%s%s%s%s",
		         i->provider, i->version, i->features ? ", features" : "",
		         tool_feature_names(i->features, features),
		         *i->identity ? ", is " : "", i->identity);
	else
		snprintf(line, sizeof(line), "%s%s", i->error ? "ended: " : "left",
		         i->error ? reason : "");
	warn_clean_text(line);
	tool_log(refused ? TOOL_WARNING : TOOL_INFO, "client %s %s", who, line);
}
