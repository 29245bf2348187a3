/* SPDX-License-Identifier: BSD-3-Clause */
#include "rpc/version_cache.h"

#include <netinet/in.h>
#include <string.h>

/* -- notes ------------------------------------------------------------------- */

static struct rr_version_key key_of(const struct sockaddr *sa)
{
	struct rr_version_key k;

	memset(&k, 0, sizeof(k)); /* compared as a whole */
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

static size_t find(const struct rr_versions *v, const struct rr_version_key *k)
{
	size_t i = 0;

	while (i < RR_VERSIONS_MAX && memcmp(&v->note[i].key, k, sizeof(*k)) != 0)
		i++;
	return i;
}

/* The note of @sa that holds now, or NULL. */
static const struct rr_version_note *known(const struct rr_versions *v,
                                           const struct sockaddr *sa, rr_time now)
{
	struct rr_version_key k = key_of(sa);
	size_t i = find(v, &k);

	return i < RR_VERSIONS_MAX && now < v->note[i].until ? &v->note[i] : NULL;
}

static void forget(struct rr_versions *v, const struct sockaddr *sa)
{
	struct rr_version_key k = key_of(sa);
	size_t i = find(v, &k);

	if (i < RR_VERSIONS_MAX)
		v->note[i].until = 0;
}

/* The note of @sa, a new one in the place of the oldest if need be. */
static struct rr_version_note *
note_for(struct rr_versions *v, const struct sockaddr *sa, rr_time now, rr_time keep_ns)
{
	const struct rr_version_note *old = known(v, sa, now);
	struct rr_version_note *n = &v->note[0];

	if (!old)
		forget(v, sa);
	for (size_t i = 0; i < RR_VERSIONS_MAX && !old; i++)
		if (v->note[i].until < n->until)
			n = &v->note[i];
	if (old)
		n = &v->note[old - v->note];
	else
		*n = (struct rr_version_note){.key = key_of(sa)};
	n->until = keep_ns > RR_TIME_NEVER - now ? RR_TIME_NEVER : now + keep_ns;
	return n;
}

/* -- decisions ------------------------------------------------------------------ */

unsigned rr_versions_ask(const struct rr_versions *v, const struct sockaddr *sa,
                         unsigned wanted, rr_time now)
{
	const struct rr_version_note *n = known(v, sa, now);

	/* Who wants only version 2 asks for it all the same. */
	return n && n->no_two && (wanted & RR_CONN_V1) ? (unsigned)RR_CONN_V1 : wanted;
}

/* [V7] wants that it said so remembered when the connection is lost then; it is
 * as true when the connection goes on in version 1. */
static void said_so(struct rr_versions *v, const struct sockaddr *sa, rr_time now,
                    rr_time keep_ns)
{
	note_for(v, sa, now, keep_ns)->no_two = true;
}

void rr_versions_ready(struct rr_versions *v, const struct sockaddr *sa, unsigned asked,
                       uint32_t version, rr_time now, rr_time keep_ns)
{
	if (version == 2)
		forget(v, sa);
	else if (asked & RR_CONN_V2)
		said_so(v, sa, now, keep_ns);
}

/* The connection began with version 1. */
static enum rr_version_next began_with_one(struct rr_versions *v,
                                           const struct sockaddr *sa,
                                           const struct rr_version_end *e)
{
	if (e->error != -EPROTONOSUPPORT)
		return RR_VERSION_USUAL;
	forget(v, sa); /* what was known of it is no longer true */
	return RR_VERSION_REFUSED;
}

/* Nothing came back for the first message in version 2. */
static enum rr_version_next unanswered(struct rr_versions *v, const struct sockaddr *sa,
                                       const struct rr_version_end *e, rr_time now,
                                       rr_time keep_ns)
{
	struct rr_version_note *n;

	if (e->error == -ENOMEM || e->error == -ECANCELED)
		return RR_VERSION_USUAL; /* our own doing */
	n = note_for(v, sa, now, keep_ns);
	n->no_two = n->no_two || ++n->strikes == RR_VERSIONS_STRIKES;
	if (e->wanted & RR_CONN_V1 || !n->no_two)
		return RR_VERSION_AGAIN;
	return e->had_two ? RR_VERSION_USUAL : RR_VERSION_SILENT;
}

enum rr_version_next rr_versions_learn(struct rr_versions *v, const struct sockaddr *sa,
                                       const struct rr_version_end *e, rr_time now,
                                       rr_time keep_ns)
{
	if (!e->open)
		return RR_VERSION_USUAL;
	if (!(e->asked & RR_CONN_V2))
		return began_with_one(v, sa, e);
	if (!e->answered)
		return unanswered(v, sa, e, now, keep_ns);
	if (e->version == 1 && !e->ready) {
		said_so(v, sa, now, keep_ns);
		return RR_VERSION_AGAIN;
	}
	return e->error == -EPROTONOSUPPORT ? RR_VERSION_REFUSED : RR_VERSION_USUAL;
}
