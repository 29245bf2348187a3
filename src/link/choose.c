/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/choose.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "prov/iwarp/iwarp.h"
#include "prov/iwarp/iw_opts.h"
#include "prov/verbs/vb_opts.h"
#include "prov/verbs/serves.h"
#include "prov/verbs/verbs.h"
#include <rpcrdma/rpcrdma.h>

static int check_iwarp(const char *options, struct rr_reason reason)
{
	struct rr_iwarp_opts o;

	return rr_iwarp_opts_parse(options, &o, reason);
}

static int check_verbs(const char *options, struct rr_reason reason)
{
	struct rr_verbs_opts o;

	return rr_verbs_opts_parse(options, &o, reason);
}

static int check_iwarp_present(bool load)
{
	return 0;
}

static const struct choice {
	const struct rr_prov_ops *ops;
	int (*check)(const char *options, struct rr_reason);
	/* returns 0 if the required libraries are installed */
	int (*check_present)(bool load);
} choices[] = {{&rr_iwarp_ops, check_iwarp, check_iwarp_present},
               {&rr_verbs_ops, check_verbs, rr_verbs_check_present}};

/* Finds the provider named in @name ("NAME[:OPTIONS]"), and checks the options.
 * Returns 0, or -EINVAL with a message in @reason. */
static int find_choice(const char *name, const struct choice **ret,
                       const char **ret_options, struct rr_reason reason)
{
	size_t len = name ? strcspn(name, ":") : 0;

	*ret_options = NULL;
	*ret = NULL;
	if (!name || !strcmp(name, "auto"))
		return 0;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(choices); i++) {
		const char *own = choices[i].ops->name;

		if (strlen(own) == len && !memcmp(own, name, len))
			*ret = &choices[i];
	}
	if (!*ret) {
		(void)snprintf(reason.text, reason.size,
		               "'%.40s' is neither verbs, iwarp nor auto", name);
		return -EINVAL;
	}
	if (!name[len])
		return 0;
	*ret_options = name + len + 1;
	if (strlen(*ret_options) < RR_OPTIONS_MAX)
		return (*ret)->check(*ret_options, reason);
	(void)snprintf(reason.text, reason.size,
	               "the options of the provider are too long");
	return -EINVAL;
}

int rr_choose_named(const char *name, const struct rr_prov_ops **ret,
                    const char **ret_options)
{
	const struct choice *c;
	int err = find_choice(name, &c, ret_options, RR_NO_REASON);

	*ret = c ? c->ops : NULL;
	return err || !c ? err : c->check_present(true);
}

int rpcrdma_provider_check(const char *provider, char *ret_reason, size_t size)
{
	const struct choice *c;
	const char *options;

	return find_choice(provider, &c, &options,
	                   (struct rr_reason){ret_reason, size});
}

/* Finds the source address of the route to @sa, without sending a packet. */
static int source_of(const struct sockaddr *sa, socklen_t len,
                     struct sockaddr_storage *ret, socklen_t *ret_len)
{
	int fd = socket(sa->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int err = 0;

	if (fd < 0)
		return -errno;
	*ret_len = sizeof(*ret);
	if (connect(fd, sa, len) || getsockname(fd, (struct sockaddr *)ret, ret_len))
		err = -errno;
	close(fd);
	return err;
}

const struct rr_prov_ops *rr_choose_connect(const struct sockaddr *sa, socklen_t len)
{
	struct sockaddr_storage from;
	socklen_t from_len;

	if (!rr_verbs_check_present(false) && !source_of(sa, len, &from, &from_len) &&
	    rr_verbs_is_preferred((struct sockaddr *)&from, from_len))
		return &rr_verbs_ops;
	return &rr_iwarp_ops;
}

static bool is_any(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(
		        &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr);
	return sa->sa_family == AF_INET &&
	       ((const struct sockaddr_in *)(const void *)sa)->sin_addr.s_addr ==
	               htonl(INADDR_ANY);
}

unsigned rr_choose_listen(const struct sockaddr *sa, socklen_t len,
                          const struct rr_prov_ops *ret[RR_CHOICES])
{
	ret[0] = &rr_iwarp_ops;
	if (is_any(sa)) {
		ret[1] = &rr_verbs_ops;
		return rr_verbs_check_present(false) ? 1 : 2;
	}
	if (rr_verbs_is_preferred(sa, len))
		ret[0] = &rr_verbs_ops;
	return 1;
}
