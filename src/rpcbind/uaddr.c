/* SPDX-License-Identifier: BSD-3-Clause */
/* Netids and universal addresses; contract in uaddr.h. */
#include "rpcbind/uaddr.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

const char *rr_netid(int family)
{
	return family == AF_INET ? "rdma" : family == AF_INET6 ? "rdma6" : NULL;
}

const char *rr_netid_tcp(int family)
{
	return family == AF_INET ? "tcp" : family == AF_INET6 ? "tcp6" : NULL;
}

int rr_netid_family(const char *netid)
{
	size_t len = strlen(netid);

	return len && netid[len - 1] == '6' ? AF_INET6 : AF_INET;
}

socklen_t rr_sockaddr_len(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6)
	                                 : sizeof(struct sockaddr_in);
}

uint16_t rr_sockaddr_port(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)(const void *)sa)->sin_port);
	if (sa->sa_family == AF_INET6)
		return ntohs(
		        ((const struct sockaddr_in6 *)(const void *)sa)->sin6_port);
	return 0;
}

int rr_uaddr_put(const struct sockaddr *sa, char ret[RR_UADDR_MAX])
{
	const struct sockaddr_in *in4 = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;
	bool v6 = sa->sa_family == AF_INET6;
	unsigned port = rr_sockaddr_port(sa);
	size_t n;

	if (!rr_netid(sa->sa_family))
		return -EAFNOSUPPORT;
	if (!inet_ntop(sa->sa_family,
	               v6 ? (const void *)&in6->sin6_addr : &in4->sin_addr, ret,
	               RR_UADDR_MAX))
		return -errno;
	n = strlen(ret);
	snprintf(ret + n, RR_UADDR_MAX - n, ".%u.%u", port >> 8, port & 0xff);
	return 0;
}

/* Removes ".N" from the end of @text, N from 0 to 255.  Returns N, or -1 if there is no
 * such suffix. */
static int cut_octet(char *text)
{
	char *dot = strrchr(text, '.');
	const char *p = dot ? dot + 1 : "";
	int v = 0;

	if (!*p || strlen(p) > 3 || (*p == '0' && p[1]))
		return -1;
	for (; *p; p++) {
		if (*p < '0' || *p > '9')
			return -1;
		v = v * 10 + (*p - '0');
	}
	*dot = '\0';
	return v <= 255 ? v : -1;
}

int rr_uaddr_get(const void *text, size_t len, int family, struct sockaddr_storage *ret)
{
	struct sockaddr_storage ss = {.ss_family = (sa_family_t)family};
	struct sockaddr_in *in4 = (void *)&ss;
	struct sockaddr_in6 *in6 = (void *)&ss;
	bool v6 = family == AF_INET6;
	char host[RR_UADDR_MAX];
	uint16_t port;
	int low, high;

	if (!len || len >= sizeof(host) || memchr(text, 0, len))
		return -EBADMSG;
	memcpy(host, text, len);
	host[len] = '\0';
	low = cut_octet(host);
	high = low < 0 ? -1 : cut_octet(host);
	if (high < 0 || high + low == 0)
		return -EBADMSG;
	if (inet_pton(family, host, v6 ? (void *)&in6->sin6_addr : &in4->sin_addr) != 1)
		return -EBADMSG;
	port = htons((uint16_t)(high << 8 | low));
	if (v6)
		in6->sin6_port = port;
	else
		in4->sin_port = port;
	*ret = ss;
	return 0;
}
