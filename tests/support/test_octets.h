/* SPDX-License-Identifier: BSD-3-Clause */
/* What tests of the public headers alone need now and then: words of XDR, a clock. */
#ifndef RR_TEST_OCTETS_H
#define RR_TEST_OCTETS_H

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static inline uint32_t be32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

static inline void put32(void *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

#endif
