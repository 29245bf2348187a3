/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/version_cache.h"

#include <netinet/in.h>
#include <string.h>

/* -- entries --------------------------------------------------------------- */

static struct rr_version_key key_of(const struct sockaddr *sa)
{
	struct rr_version_key k;

	/* set every octet, because keys are compared as octets */
	memset(&k, 0, sizeof(k));
	k.family = sa->sa_family;
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const void *)sa;

		k.port = in->sin_port;
		memcpy(k.addr, &in->sin_addr, 4);
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const void *)sa;

		k.port = in6->sin6_port;
		k.scope = in6->sin6_scope_id;
		memcpy(k.addr, &in6->sin6_addr, 16);
	}
	return k;
}

static size_t find_version_entry(const struct rr_version_cache *v,
                                 const struct rr_version_key *k)
{
	size_t i = 0;

	while (i < RR_VERSION_CACHE_MAX && memcmp(&v->entry[i].key, k, sizeof(*k)) != 0)
		i++;
	return i;
}

/* Returns the entry for @sa, or NULL if there is none or it has expired. */
static const struct rr_version_entry *
known_entry(const struct rr_version_cache *v, const struct sockaddr *sa, rr_time now)
{
	struct rr_version_key k = key_of(sa);
	size_t i = find_version_entry(v, &k);

	return i < RR_VERSION_CACHE_MAX && now < v->entry[i].until ? &v->entry[i]
	                                                           : NULL;
}

static void forget_server(struct rr_version_cache *v, const struct sockaddr *sa)
{
	struct rr_version_key k = key_of(sa);
	size_t i = find_version_entry(v, &k);

	if (i < RR_VERSION_CACHE_MAX)
		v->entry[i].until = 0;
}

/* Returns the entry for @sa, adding it if necessary.  A new entry replaces the one that
 * expires first. */
static struct rr_version_entry *entry_for(struct rr_version_cache *v,
                                          const struct sockaddr *sa, rr_time now,
                                          rr_time keep_ns)
{
	const struct rr_version_entry *old = known_entry(v, sa, now);
	struct rr_version_entry *n = &v->entry[0];

	if (!old)
		forget_server(v, sa);
	for (size_t i = 0; i < RR_VERSION_CACHE_MAX && !old; i++)
		if (v->entry[i].until < n->until)
			n = &v->entry[i];
	if (old)
		n = &v->entry[old - v->entry];
	else
		*n = (struct rr_version_entry){.key = key_of(sa)};
	n->until = keep_ns > RR_TIME_NEVER - now ? RR_TIME_NEVER : now + keep_ns;
	return n;
}

/* -- decisions ------------------------------------------------------------- */

unsigned rr_version_cache_ask(const struct rr_version_cache *v,
                              const struct sockaddr *sa, unsigned wanted, rr_time now)
{
	const struct rr_version_entry *n = known_entry(v, sa, now);

	/* Version 2 is offered even to a server without it if the user allows only
	 * version 2. */
	return n && n->no_two && (wanted & RR_CONN_V1) ? (unsigned)RR_CONN_V1 : wanted;
}

/* Records that the server lacks version 2.  [V7] requires this only if the connection
 * is then lost, but the server also lacks version 2 if the connection continues in
 * version 1. */
static void remember_refusal(struct rr_version_cache *v, const struct sockaddr *sa,
                             rr_time now, rr_time keep_ns)
{
	entry_for(v, sa, now, keep_ns)->no_two = true;
}

void rr_version_cache_ready(struct rr_version_cache *v, const struct sockaddr *sa,
                            unsigned asked, uint32_t version, rr_time now,
                            rr_time keep_ns)
{
	if (version == 2)
		forget_server(v, sa);
	else if (asked & RR_CONN_V2)
		remember_refusal(v, sa, now, keep_ns);
}

/* Handles the end of a connection that began with version 1. */
static enum rr_version_next learn_version_one(struct rr_version_cache *v,
                                              const struct sockaddr *sa,
                                              const struct rr_version_end *e)
{
	if (e->error != -EPROTONOSUPPORT)
		return RR_VERSION_USUAL;
	forget_server(v, sa); /* the server has changed */
	return RR_VERSION_REFUSED;
}

/* Handles the end of a connection whose first message in version 2 was not answered. */
static enum rr_version_next learn_unanswered(struct rr_version_cache *v,
                                             const struct sockaddr *sa,
                                             const struct rr_version_end *e,
                                             rr_time now, rr_time keep_ns)
{
	struct rr_version_entry *n;

	if (e->error == -ENOMEM || e->error == -ECANCELED)
		return RR_VERSION_USUAL; /* caused locally */
	n = entry_for(v, sa, now, keep_ns);
	n->no_two = n->no_two || ++n->failures == RR_VERSION_CACHE_FAILURES;
	if (e->wanted & RR_CONN_V1 || !n->no_two)
		return RR_VERSION_AGAIN;
	return e->had_two ? RR_VERSION_USUAL : RR_VERSION_SILENT;
}

enum rr_version_next rr_version_cache_learn(struct rr_version_cache *v,
                                            const struct sockaddr *sa,
                                            const struct rr_version_end *e, rr_time now,
                                            rr_time keep_ns)
{
	if (!e->open)
		return RR_VERSION_USUAL;
	if (!(e->asked & RR_CONN_V2))
		return learn_version_one(v, sa, e);
	if (!e->answered)
		return learn_unanswered(v, sa, e, now, keep_ns);
	if (e->version == 1 && !e->ready) {
		remember_refusal(v, sa, now, keep_ns);
		return RR_VERSION_AGAIN;
	}
	return e->error == -EPROTONOSUPPORT ? RR_VERSION_REFUSED : RR_VERSION_USUAL;
}
