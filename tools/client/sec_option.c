/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/sec_option.h"

#include "tool.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t flavor;
} names[] = {
        {"sys", SEC_SYS},
        {"krb5", RPCRDMA_GSS_PSEUDO_FLAVOR(RPCRDMA_GSS_KRB5)},
        {"krb5i", RPCRDMA_GSS_PSEUDO_FLAVOR(RPCRDMA_GSS_KRB5I)},
        {"krb5p", RPCRDMA_GSS_PSEUDO_FLAVOR(RPCRDMA_GSS_KRB5P)},
};

uint32_t sec_from_name(const char *name, size_t len)
{
	for (size_t i = 0; i < TOOL_N(names); i++)
		if (strlen(names[i].name) == len && !memcmp(names[i].name, name, len))
			return names[i].flavor;
	return SEC_UNSAID;
}

const char *sec_name(uint32_t flavor)
{
	static char numbers[4][16];
	static unsigned turn;
	char *s;

	for (size_t i = 0; i < TOOL_N(names); i++)
		if (names[i].flavor == flavor)
			return names[i].name;
	if (!flavor)
		return "none";
	s = numbers[turn++ % TOOL_N(numbers)];
	snprintf(s, sizeof(numbers[0]), "%u", (unsigned)flavor);
	return s;
}

enum rpcrdma_gss_service sec_service(uint32_t flavor)
{
	uint32_t first = RPCRDMA_GSS_PSEUDO_FLAVOR(RPCRDMA_GSS_KRB5);

	return flavor >= first && flavor <= first + 2
	               ? (enum rpcrdma_gss_service)(flavor - first + 1)
	               : (enum rpcrdma_gss_service)0;
}
