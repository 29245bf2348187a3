/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/common/prov_opts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS_MAX = 10, QUOTED_MAX = 40 };

static void set_field(const struct rr_opt *o, void *obj, uint32_t value)
{
	memcpy((char *)obj + o->field, &value, sizeof(value));
}

/* Returns the value of a decimal number, or UINT64_MAX if the text is not a number. */
static uint64_t read_number(const char *s, size_t len)
{
	uint64_t v = 0;

	if (len == 0 || len > DIGITS_MAX)
		return UINT64_MAX;
	for (size_t i = 0; i < len; i++) {
		if (s[i] < '0' || s[i] > '9')
			return UINT64_MAX;
		v = v * 10 + (uint64_t)(s[i] - '0');
	}
	return v;
}

static void report_unknown(const struct rr_opts *opts, const char *s, size_t len,
                           struct rr_reason reason)
{
	int n = snprintf(reason.text, reason.size,
	                 "provider \"%s\" has no option \"%.*s\"; it has",
	                 opts->provider, (int)RR_MIN(len, (size_t)QUOTED_MAX), s);

	for (unsigned i = 0; i < opts->n && n >= 0 && (size_t)n < reason.size; i++)
		n += snprintf(reason.text + n, reason.size - (size_t)n, "%s %s",
		              i ? "," : "", opts->opt[i].name);
}

static void report_range(const struct rr_opts *opts, const struct rr_opt *o,
                         const char *s, size_t len, struct rr_reason reason)
{
	(void)snprintf(reason.text, reason.size,
	               "option \"%s\" of provider \"%s\" is a number from %" PRIu32
	               " to %" PRIu32 ", not \"%.*s\"",
	               o->name, opts->provider, o->min, o->max,
	               (int)RR_MIN(len, (size_t)QUOTED_MAX), s);
}

static const struct rr_opt *find_opt(const struct rr_opts *opts, const char *s,
                                     size_t len)
{
	for (unsigned i = 0; i < opts->n; i++)
		if (strlen(opts->opt[i].name) == len &&
		    !memcmp(opts->opt[i].name, s, len))
			return &opts->opt[i];
	return NULL;
}

/* Parses one option, "key=number", of @len octets. */
static int read_item(const struct rr_opts *opts, const char *s, size_t len, void *obj,
                     struct rr_reason reason)
{
	const char *eq = memchr(s, '=', len);
	size_t key_len = eq ? (size_t)(eq - s) : len;
	size_t at = eq ? key_len + 1 : len;
	const struct rr_opt *o = find_opt(opts, s, key_len);
	uint64_t v = read_number(s + at, len - at);

	if (!o) {
		report_unknown(opts, s, key_len, reason);
		return -EINVAL;
	}
	if (v < o->min || v > o->max) {
		report_range(opts, o, s + at, len - at, reason);
		return -EINVAL;
	}
	set_field(o, obj, (uint32_t)v);
	return 0;
}

int rr_opts_parse(const struct rr_opts *opts, const char *text, void *obj,
                  struct rr_reason reason)
{
	const char *s = text ? text : "";

	for (unsigned i = 0; i < opts->n; i++)
		set_field(&opts->opt[i], obj, opts->opt[i].def);
	while (*s) {
		size_t len = strcspn(s, ",");
		int rc = read_item(opts, s, len, obj, reason);

		if (rc)
			return rc;
		s += len + (s[len] == ',');
	}
	return 0;
}
