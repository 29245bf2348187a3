/* SPDX-License-Identifier: BSD-3-Clause */
#include "drive/choose.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include "prov/iwarp/iwarp.h"
#include "prov/verbs/serves.h"
#include "prov/verbs/verbs.h"

int rr_choose_named(const char *name, const struct rr_prov_ops **ret,
                    const char **ret_options)
{
	const struct rr_prov_ops *all[] = {&rr_iwarp_ops, &rr_verbs_ops};
	size_t len = name ? strcspn(name, ":") : 0;

	*ret_options = NULL;
	*ret = NULL;
	if (!name || !strcmp(name, "auto"))
		return 0;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(all); i++) {
		if (strlen(all[i]->name) == len && !memcmp(all[i]->name, name, len))
			*ret = all[i];
	}
	if (!*ret)
		return -EINVAL;
	if (name[len])
		*ret_options = name + len + 1;
	return *ret == &rr_verbs_ops ? rr_verbs_present(true) : 0;
}

/* Where the route to @sa begins: no packet is sent for that. */
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

	if (!rr_verbs_present(false) && !source_of(sa, len, &from, &from_len) &&
	    rr_verbs_preferred((struct sockaddr *)&from, from_len))
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
		return rr_verbs_present(false) ? 1 : 2;
	}
	if (rr_verbs_preferred(sa, len))
		ret[0] = &rr_verbs_ops;
	return 1;
}
