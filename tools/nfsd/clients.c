/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client in a list: what "192.0.2.0/24(rw,no_root_squash)" means, and which peers
 * match it.  All addresses are stored as IPv6 addresses (IPv4 addresses in IPv4-mapped
 * form), so that the same comparison works for IPv4 and IPv6 listeners.  ::/0 matches
 * no IPv4 peer.
 *
 * Names are looked up when the list is loaded, not when a client connects: a look-up
 * may take seconds, and the engine's thread cannot wait that long.
 */
#include "nfsd.h"
#include "tool.h"
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_ADDRESSES = 64, MAPPED_BITS = 96 };

/* -- addresses ------------------------------------------------------------- */

static void map_v4(const struct in_addr *v4, struct in6_addr *ret)
{
	memset(ret, 0, sizeof(*ret));
	ret->s6_addr[10] = ret->s6_addr[11] = 0xff;
	memcpy(ret->s6_addr + 12, v4, 4);
}

bool clients_peer_address(const struct sockaddr_storage *peer, struct in6_addr *ret,
                          unsigned *ret_port)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)peer;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)peer;

	if (peer->ss_family == AF_INET) {
		map_v4(&v4->sin_addr, ret);
		*ret_port = ntohs(v4->sin_port);
		return true;
	}
	if (peer->ss_family != AF_INET6)
		return false;
	*ret = v6->sin6_addr;
	*ret_port = ntohs(v6->sin6_port);
	return true;
}

static bool has_same_bits(const struct in6_addr *a, const struct in6_addr *b,
                          unsigned bits)
{
	unsigned octets = bits / 8, rest = bits % 8;

	if (memcmp(a->s6_addr, b->s6_addr, octets))
		return false;
	return !rest || !((a->s6_addr[octets] ^ b->s6_addr[octets]) >> (8 - rest));
}

static bool parse_address(const char *s, struct in6_addr *ret)
{
	struct in_addr v4;

	if (inet_pton(AF_INET, s, &v4) != 1)
		return inet_pton(AF_INET6, s, ret) == 1;
	map_v4(&v4, ret);
	return true;
}

/* Returns the number of network bits in a mask such as "24" or "255.255.255.0", or -1
 * if the mask is malformed. */
static int parse_mask(const char *s, bool v4)
{
	struct in_addr mask;
	uint64_t bits;
	uint32_t m;

	if (!tool_parse_number(s, 0, v4 ? 32 : 128, &bits))
		return (int)bits;
	if (!v4 || inet_pton(AF_INET, s, &mask) != 1)
		return -1;
	m = ntohl(mask.s_addr);
	if (~m & (~m + 1))
		return -1; /* not ones followed by zeros */
	return m ? 32 - __builtin_ctz(m) : 0;
}

static int refuse_client(char reason[EXPORTS_REASON_BYTES], int e, const char *fmt, ...)
        __attribute__((format(printf, 3, 4)));

static int refuse_client(char reason[EXPORTS_REASON_BYTES], int e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(reason, EXPORTS_REASON_BYTES, fmt, ap);
	va_end(ap);
	return e;
}

static int set_address(struct export_client *c, const struct in6_addr *a, unsigned bits,
                       char *reason)
{
	c->addrs = malloc(sizeof(*c->addrs));
	if (!c->addrs)
		return refuse_client(reason, -ENOMEM, "out of memory");
	c->addrs[0] = *a;
	c->n_addrs = 1;
	c->bits = bits;
	return 0;
}

static int set_network(struct export_client *c, char *reason)
{
	char *slash = strchr(c->text, '/');
	struct in6_addr a;
	bool ok, v4;
	int bits;

	*slash = 0;
	ok = parse_address(c->text, &a);
	v4 = ok && strchr(c->text, '.') && !strchr(c->text, ':');
	*slash = '/';
	bits = ok ? parse_mask(slash + 1, v4) : -1;
	if (bits < 0)
		return refuse_client(reason, -EINVAL,
		                     "'%s' is not a network, such as 192.0.2.0/24, "
		                     "192.0.2.0/255.255.255.0 or 2001:db8::/32",
		                     c->text);
	c->kind = CLIENT_NETWORK;
	return set_address(c, &a, (unsigned)bits + (v4 ? MAPPED_BITS : 0), reason);
}

/* Returns true if @s can be a host name.  The last label must not be a number, because
 * getaddrinfo would accept 10.1 as an address. */
static bool is_host_name(const char *s)
{
	const char *last = strrchr(s, '.');

	last = last ? last + 1 : s;
	if (*s == '-' || *s == '.' || !strncasecmp(last, "0x", 2) ||
	    strlen(s) > MNTNAMLEN)
		return false;
	for (const char *p = s; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("-._", *p))
			return false;
	while (*last && !isalpha((unsigned char)*last))
		last++;
	return *last;
}

static int set_client_kind(struct export_client *c, char *reason)
{
	struct in6_addr a;

	if (!strcmp(c->text, "*")) {
		c->kind = CLIENT_ANY;
		return 0;
	}
	if (*c->text == '@')
		return refuse_client(reason, -EINVAL,
		                     "'%s': netgroups are not supported", c->text);
	if (strpbrk(c->text, "*?["))
		return refuse_client(reason, -EINVAL,
		                     "'%s': the only wildcard is *, for all clients; "
		                     "name hosts or a network",
		                     c->text);
	if (strchr(c->text, '/'))
		return set_network(c, reason);
	if (parse_address(c->text, &a))
		return set_address(c, &a, 128, reason);
	c->is_name = true;
	c->bits = 128;
	if (!is_host_name(c->text))
		return refuse_client(
		        reason, -EINVAL,
		        "'%s' is not an address, a network, the name of a host, or *",
		        c->text);
	return 0;
}

/* -- options --------------------------------------------------------------- */

static int set_number_option(const char *option, uint32_t *ret, char *reason)
{
	uint64_t n;

	if (tool_parse_number(strchr(option, '=') + 1, 0, UINT32_MAX - 1, &n))
		return refuse_client(reason, -EINVAL,
		                     "'%s' needs a number from 0 to %u", option,
		                     UINT32_MAX - 1);
	*ret = (uint32_t)n;
	return 0;
}

static int set_flavors(const char *option, struct flavors *f, char *reason)
{
	const char *list = strchr(option, '=') + 1;

	memset(f, 0, sizeof(*f));
	if (sec_add_list(f, list, ':'))
		return refuse_client(reason, -EINVAL,
		                     "'%s' needs flavors (sys, krb5, krb5i, krb5p) "
		                     "with colons between",
		                     option);
	sec_default(f);
	return 0;
}

bool export_option_parse(const char *option, struct export_options *w)
{
	if (!strcmp(option, "wcc"))
		w->wcc = true;
	else if (!strcmp(option, "crossmnt"))
		w->crossmnt = true;
	else if (!strcmp(option, "nocrossmnt"))
		w->crossmnt = false;
	else if (strcmp(option, "hide") != 0) /* the default; no effect */
		return false;
	return true;
}

/* Applies an option that sets or clears a flag.  Returns false for other options. */
static bool set_flag(const char *option, struct grant *g)
{
	const struct {
		const char *word;
		bool *what, value;
	} flags[] = {
	        {"ro", &g->read_only, true},
	        {"rw", &g->read_only, false},
	        {"root_squash", &g->squash.root, true},
	        {"no_root_squash", &g->squash.root, false},
	        {"all_squash", &g->squash.all, true},
	        {"no_all_squash", &g->squash.all, false},
	        {"secure", &g->low_ports, true},
	        {"insecure", &g->low_ports, false},
	        /* These options are accepted because many files contain them.  They
	         * change nothing: the server always behaves this way. */
	        {"sync", NULL, false},
	        {"no_subtree_check", NULL, false},
	};

	for (size_t i = 0; i < TOOL_N(flags); i++)
		if (!strcmp(option, flags[i].word)) {
			if (flags[i].what)
				*flags[i].what = flags[i].value;
			return true;
		}
	return false;
}

static int set_option(const char *option, struct grant *g,
                      struct export_options *export_options, bool *sec, char *reason)
{
	if (!*option)
		return refuse_client(reason, -EINVAL, "an option is empty");
	if (set_flag(option, g) || export_option_parse(option, export_options))
		return 0;
	if (!strcmp(option, "nohide"))
		return refuse_client(
		        reason, -EINVAL,
		        "'nohide' is not supported; use crossmnt on the export above");
	if (!strncmp(option, "anonuid=", 8))
		return set_number_option(option, &g->squash.anon_uid, reason);
	if (!strncmp(option, "anongid=", 8))
		return set_number_option(option, &g->squash.anon_gid, reason);
	if (strncmp(option, "sec=", 4) != 0)
		return refuse_client(reason, -EINVAL, "unknown option '%s'", option);
	if (*sec)
		return refuse_client(reason, -EINVAL,
		                     "'%s' is a second sec=; separate options for each "
		                     "flavor are not supported",
		                     option);
	*sec = true;
	return set_flavors(option, &g->flavors, reason);
}

int client_options(const char *options, struct grant *g,
                   struct export_options *export_options,
                   char reason[EXPORTS_REASON_BYTES])
{
	char *copy = strdup(options), *option = copy, *comma;
	bool sec = false;
	int e = copy ? 0 : refuse_client(reason, -ENOMEM, "no memory");

	while (!e && option) {
		comma = strchr(option, ',');
		if (comma)
			*comma++ = 0;
		e = set_option(option, g, export_options, &sec, reason);
		option = comma;
	}
	free(copy);
	return e;
}

/* -- lists ----------------------------------------------------------------- */

static void free_export_client(struct export_client *c)
{
	free(c->text);
	free(c->addrs);
}

void clients_free(struct clients *l)
{
	for (unsigned i = 0; i < l->n; i++)
		free_export_client(&l->all[i]);
	free(l->all);
	*l = (struct clients){0};
}

/* Parses the string "CLIENT(OPTIONS)" in c->text, and truncates c->text to "CLIENT". */
static int parse_client(struct export_client *c, char *reason)
{
	char *open = strchr(c->text, '('), *end = c->text + strlen(c->text);

	if (open) {
		if (end[-1] != ')' || strpbrk(open + 1, "()") != end - 1)
			return refuse_client(reason, -EINVAL,
			                     "'%s': options need one pair of "
			                     "parentheses, without spaces",
			                     c->text);
		end[-1] = 0;
		*open = 0;
	}
	if (!*c->text)
		return refuse_client(reason, -EINVAL,
		                     "'(%s)' has no client; options follow the client "
		                     "without a space, and * stands for all clients",
		                     open ? open + 1 : "");
	if (open && open[1] &&
	    client_options(open + 1, &c->grant, &c->export_options, reason))
		return -EINVAL;
	return set_client_kind(c, reason);
}

static int check_client_room(const struct clients *l, const struct export_client *c,
                             char *reason)
{
	for (unsigned i = 0; i < l->n; i++)
		if (!strcmp(l->all[i].text, c->text))
			return refuse_client(reason, -EEXIST,
			                     "client '%s' is named twice", c->text);
	if (l->n == EXPORTS_MAX_CLIENTS)
		return refuse_client(reason, -E2BIG,
		                     "more than %d clients of one directory",
		                     EXPORTS_MAX_CLIENTS);
	return 0;
}

int clients_add(struct clients *l, const char *word, const struct grant *defaults,
                struct export_options export_options, char reason[EXPORTS_REASON_BYTES])
{
	struct export_client c = {.text = strdup(word),
	                          .export_options = export_options,
	                          .grant = *defaults};
	struct export_client *more = realloc(l->all, (l->n + 1) * sizeof(*more));
	int e;

	if (more)
		l->all = more;
	e = c.text && more ? parse_client(&c, reason)
	                   : refuse_client(reason, -ENOMEM, "no memory");
	if (!e)
		e = check_client_room(l, &c, reason);
	if (e)
		free_export_client(&c);
	else
		l->all[l->n++] = c;
	return e;
}

struct export_options clients_export_options(const struct clients *l)
{
	struct export_options w = {.wcc = false};

	for (unsigned i = 0; i < l->n; i++) {
		w.wcc |= l->all[i].export_options.wcc;
		w.crossmnt |= l->all[i].export_options.crossmnt;
	}
	return w;
}

/* -- names ----------------------------------------------------------------- */

/* Looks up the addresses of the client's name.  Returns 0, or an error from
 * getaddrinfo. */
static int look_up_client(struct export_client *c)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all, *a;
	unsigned port, n = 0;
	int e = getaddrinfo(c->text, NULL, &hints, &all);

	if (e)
		return e;
	c->addrs = calloc(MAX_ADDRESSES, sizeof(*c->addrs));
	for (a = all; a && c->addrs && n < MAX_ADDRESSES; a = a->ai_next) {
		struct sockaddr_storage ss = {0};

		if (a->ai_addrlen > sizeof(ss))
			continue;
		memcpy(&ss, a->ai_addr, a->ai_addrlen);
		if (clients_peer_address(&ss, &c->addrs[n], &port))
			n++;
	}
	freeaddrinfo(all);
	c->n_addrs = n;
	return c->addrs ? n ? 0 : EAI_NONAME : EAI_MEMORY;
}

void clients_resolve(struct clients *l,
                     void (*unknown)(void *arg, const char *name, const char *reason),
                     void *arg)
{
	for (unsigned i = 0; i < l->n; i++) {
		struct export_client *c = &l->all[i];
		int e = c->is_name && !c->addrs ? look_up_client(c) : 0;

		if (e)
			unknown(arg, c->text, gai_strerror(e));
	}
}

/* -- matching a peer ------------------------------------------------------- */

static bool matches_client(const struct export_client *c, const struct in6_addr *a)
{
	if (c->kind == CLIENT_ANY)
		return true;
	for (unsigned i = 0; i < c->n_addrs; i++)
		if (IN6_IS_ADDR_V4MAPPED(&c->addrs[i]) == IN6_IS_ADDR_V4MAPPED(a) &&
		    has_same_bits(&c->addrs[i], a, c->bits))
			return true;
	return false;
}

/* Returns the matching client with the highest precedence, or NULL if none matches. */
static const struct export_client *find_client(const struct clients *l,
                                               const struct in6_addr *a)
{
	const struct export_client *best = NULL;

	for (unsigned i = 0; i < l->n; i++) {
		const struct export_client *c = &l->all[i];

		if ((!best || c->kind < best->kind) && matches_client(c, a))
			best = c;
	}
	return best;
}

const struct grant *clients_find(const struct clients *l,
                                 const struct sockaddr_storage *peer, bool *ret_port)
{
	const struct export_client *c;
	struct in6_addr a;
	unsigned port;

	*ret_port = false;
	if (!clients_peer_address(peer, &a, &port))
		return NULL;
	c = find_client(l, &a);
	*ret_port = c && c->grant.low_ports && port >= IPPORT_RESERVED;
	return c && !*ret_port ? &c->grant : NULL;
}
