/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/keys.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 10, SHOWN = 40 };

static uint32_t *field_of(const struct rr_key *k, void *obj)
{
	return (uint32_t *)(void *)((char *)obj + k->field);
}

void rr_keys_default(const struct rr_keys *keys, void *obj)
{
	for (unsigned i = 0; i < keys->n; i++)
		*field_of(&keys->key[i], obj) = keys->key[i].def;
}

/* UINT64_MAX: no number. */
static uint64_t read_number(const char *s, size_t len)
{
	uint64_t v = 0;

	if (len == 0 || len > DIGITS)
		return UINT64_MAX;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return UINT64_MAX;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	return v;
}

static void say_unknown(const struct rr_keys *keys, const char *s, size_t len,
                        struct rr_why why)
{
	int n = snprintf(why.text, why.size, "%s has no option \"%.*s\"; it has",
	                 keys->owner, (int)RR_MIN(len, (size_t)SHOWN), s);

	for (unsigned i = 0; i < keys->n && n >= 0 && (size_t)n < why.size; i++)
		n += snprintf(why.text + n, why.size - (size_t)n, "%s %s", i ? "," : "",
		              keys->key[i].name);
}

static void say_range(const struct rr_keys *keys, const struct rr_key *k, const char *s,
                      size_t len, struct rr_why why)
{
	(void)snprintf(why.text, why.size,
	               "option \"%s\" of %s is a number from %" PRIu32 " to %" PRIu32
	               ", not \"%.*s\"",
	               k->name, keys->owner, k->min, k->max,
	               (int)RR_MIN(len, (size_t)SHOWN), s);
}

static const struct rr_key *find_key(const struct rr_keys *keys, const char *s,
                                     size_t len)
{
	for (unsigned i = 0; i < keys->n; i++)
		if (strlen(keys->key[i].name) == len &&
		    !memcmp(keys->key[i].name, s, len))
			return &keys->key[i];
	return NULL;
}

int rr_keys_take(const struct rr_keys *keys, const char *s, size_t len, void *obj,
                 struct rr_why why)
{
	const char *eq = memchr(s, '=', len);
	size_t key_len = eq ? (size_t)(eq - s) : len;
	size_t at = eq ? key_len + 1 : len;
	const struct rr_key *k = find_key(keys, s, key_len);
	uint64_t v = read_number(s + at, len - at);

	if (!k) {
		say_unknown(keys, s, key_len, why);
		return -EINVAL;
	}
	if (v < k->min || v > k->max) {
		say_range(keys, k, s + at, len - at, why);
		return -EINVAL;
	}
	*field_of(k, obj) = (uint32_t)v;
	return 0;
}
