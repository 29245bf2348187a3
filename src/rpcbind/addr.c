/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses as users write them; contract in addr.h. */
#include "rpcbind/addr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static int copy_text(char *to, size_t room, const char *from, size_t len)
{
	if (len >= room)
		return -EINVAL;
	memcpy(to, from, len);
	to[len] = '\0';
	return 0;
}

bool rr_addr_service_valid(const char *service)
{
	size_t digits = strspn(service, "0123456789");

	/* getaddrinfo() would accept "+5" and " 5". */
	if (!isdigit((unsigned char)*service))
		return isalpha((unsigned char)*service);
	return !service[digits] && digits <= 5 && strtoul(service, NULL, 10) <= 65535;
}

/* Copies the port that follows a colon.  Returns -EINVAL if the port is missing or not
 * valid. */
static int copy_service(char service[RR_SERVICE_MAX], const char *from)
{
	if (!rr_addr_service_valid(from))
		return -EINVAL;
	return copy_text(service, RR_SERVICE_MAX, from, strlen(from));
}

int rr_addr_split(const char *text, char host[RR_HOST_MAX],
                  char service[RR_SERVICE_MAX])
{
	const char *end, *colon;

	service[0] = '\0';
	if (text[0] == '[') {
		end = strchr(text, ']');
		if (!end || (end[1] && end[1] != ':') ||
		    copy_text(host, RR_HOST_MAX, text + 1, (size_t)(end - text - 1)))
			return -EINVAL;
		return end[1] ? copy_service(service, end + 2) : 0;
	}
	colon = strrchr(text, ':');
	/* Several colons without brackets: an IPv6 address without a port. */
	if (!colon || strchr(text, ':') != colon)
		return copy_text(host, RR_HOST_MAX, text, strlen(text));
	if (copy_text(host, RR_HOST_MAX, text, (size_t)(colon - text)))
		return -EINVAL;
	return copy_service(service, colon + 1);
}

int rr_addr_resolve(const char *host, const char *service, bool passive,
                    struct addrinfo **ret)
{
	struct addrinfo hints = {
	        .ai_socktype = SOCK_STREAM,
	        .ai_family = AF_UNSPEC,
	        .ai_flags = passive ? AI_PASSIVE : 0,
	};

	if (!rr_addr_service_valid(service))
		return -EINVAL;
	if (!host || !*host) {
		if (!passive)
			return -ENXIO;
		host = NULL;
	}
	return getaddrinfo(host, service, &hints, ret) ? -ENXIO : 0;
}
