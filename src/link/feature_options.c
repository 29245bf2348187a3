/* SPDX-License-Identifier: BSD-3-Clause */
#include "link/feature_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rpcrdma/rpcrdma.h>

enum {
	DIGITS_MAX = 15,
	QUOTED_MAX = 40,
	ALL_FEATURES = (1 << RR_FEATURES) - 1,
	DEFAULT_FEATURES =
	        1 << RR_FEATURE_RPRC | 1 << RR_FEATURE_REMINV | 1 << RR_FEATURE_RTR,
};

#define TOTAL_DEFAULT ((uint64_t)1 << 30)

/* A key: its feature, and where its value is stored. */
struct key {
	const char *name;
	enum rr_feature feature;
	size_t at, width; /* member of struct rr_feature_options; width 0 = none */
	uint64_t min, max;
	size_t no;     /* bool member that the value 0 sets to true; 0 = none */
	uint64_t unit; /* the member is the value times @unit; 0 = 1 */
};

#define AT(member)                                                                     \
	offsetof(struct rr_feature_options, member),                                   \
	        sizeof(((struct rr_feature_options *)NULL)->member)
#define NO(member) offsetof(struct rr_feature_options, config.member)
#define MOST_BYTES ((uint64_t)1 << 40)

/* NO() is never 0, because the first member is not a bool. */
static const struct key keys[] = {
        {"rprc-lifetime", RR_FEATURE_RPRC, AT(config.rprc_lifetime_ms), 1000,
         UINT32_MAX, NO(rprc_no_lifetime)},
        {"rprc-pending", RR_FEATURE_RPRC, AT(config.rprc_max_pending), 1, 65536, 0},
        {"rprc-bytes", RR_FEATURE_RPRC, AT(config.rprc_max_bytes), 1, MOST_BYTES, 0},
        {"rprc-total", RR_FEATURE_RPRC, AT(rprc_total_bytes), 1, MOST_BYTES, 0},
        {"rprc-pull", RR_FEATURE_RPRC, AT(config.max_pull), 1, UINT32_MAX, 0},
        {"rprc-sends", RR_FEATURE_RPRC, AT(config.cont_max_sends), 1, 65535, 0},
        {"rprc-piggyback", RR_FEATURE_RPRC, 0, 0, 0, 1, NO(rprc_no_piggyback)},
        {"rprc-delay", RR_FEATURE_RPRC, AT(config.done_delay), 1, 1000000, 0,
         RR_MS(1) / 1000},
        {"rprc-reply-chunks", RR_FEATURE_RPRC, 0, 0, 0, 1, NO(no_reply_chunks)},
        {"reminv-allow", RR_FEATURE_REMINV, 0, 0, 0, 1, NO(no_remote_inv)},
        {"reminv-wait", RR_FEATURE_REMINV, AT(config.cancel_wait), 1, 600000, 0,
         RR_MS(1)},
        {"rtr-segments", RR_FEATURE_RTR, AT(config.rtr_segments), 0, 65535, 0},
        {"rtr-segment-bytes", RR_FEATURE_RTR, AT(config.rtr_segment_bytes), 1024,
         1 << 20, 0},
        {"rtr-requests", RR_FEATURE_RTR, AT(config.rtr_requests), 1, 65535, 0},
        {"rtr-responses", RR_FEATURE_RTR, AT(config.rtr_responses), 1, 65535, 0},
        {"rtr-item", RR_FEATURE_RTR, AT(config.tbsn_max), 1, UINT32_MAX, 0},
        {"rtr-wait", RR_FEATURE_RTR, AT(config.group_wait), 1, 600000, 0, RR_MS(1)},
};

/* Indexed by enum rr_inv_policy. */
static const char *const policies[] = {
        [RR_INV_LARGEST] = "largest",       [RR_INV_NONE] = "none",
        [RR_INV_READ_FIRST] = "read-first", [RR_INV_WRITE_FIRST] = "write-first",
        [RR_INV_FIRST] = "first",           [RR_INV_SINGLE] = "single",
};

/* A part of the list. */
struct word {
	const char *at;
	size_t len;
};

#define QUOTED(w) (int)RR_MIN((w).len, (size_t)QUOTED_MAX), (w).at

static bool is_word(struct word w, const char *name)
{
	return strlen(name) == w.len && !memcmp(w.at, name, w.len);
}

/* Appends "; @what A, B, C" to the message in @reason. */
static int refuse_with_names(struct rr_reason reason, const char *what,
                             const char *(*name)(unsigned), unsigned n)
{
	size_t used = reason.size ? strlen(reason.text) : 0;

	for (unsigned i = 0; i < n && used < reason.size; i++)
		used += (size_t)snprintf(reason.text + used, reason.size - used,
		                         "%s %s", i ? "," : what, name(i));
	return -EINVAL;
}

static const char *feature_at(unsigned i)
{
	return rr_feature_name((enum rr_feature)i);
}

static const char *policy_at(unsigned i)
{
	return policies[i];
}

static const char *key_at(unsigned i)
{
	return keys[i].name;
}

/* -- items ----------------------------------------------------------------- */

static int take_feature(struct rr_feature_options *o, struct word w,
                        struct rr_reason reason)
{
	if (is_word(w, "all")) {
		o->config.on = ALL_FEATURES;
		return 0;
	}
	if (is_word(w, "default")) {
		o->config.on |= DEFAULT_FEATURES;
		return 0;
	}
	for (unsigned i = 0; i < RR_FEATURES; i++) {
		if (is_word(w, feature_at(i))) {
			o->config.on |= 1u << i;
			return 0;
		}
	}
	(void)snprintf(reason.text, reason.size, "there is no feature \"%.*s\"",
	               QUOTED(w));
	return refuse_with_names(reason, "; there are", feature_at, RR_FEATURES);
}

static int take_policy(struct rr_feature_options *o, struct word w,
                       struct rr_reason reason)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(policies); i++) {
		if (is_word(w, policies[i])) {
			o->config.on |= 1u << RR_FEATURE_REMINV;
			o->config.inv_policy = (enum rr_inv_policy)i;
			return 0;
		}
	}
	(void)snprintf(reason.text, reason.size,
	               "feature \"reminv\" has no policy \"%.*s\"", QUOTED(w));
	return refuse_with_names(reason, "; it has", policy_at,
	                         RR_ARRAY_SIZE(policies));
}

/* Returns the value of a decimal number, or UINT64_MAX if the text is not a number. */
static uint64_t read_feature_number(struct word w)
{
	uint64_t v = 0;

	if (w.len == 0 || w.len > DIGITS_MAX)
		return UINT64_MAX;
	for (size_t i = 0; i < w.len; i++) {
		if (w.at[i] < '0' || w.at[i] > '9')
			return UINT64_MAX;
		v = v * 10 + (uint64_t)(w.at[i] - '0');
	}
	return v;
}

static int set_value(struct rr_feature_options *o, const struct key *k, struct word w,
                     struct rr_reason reason)
{
	uint64_t v = read_feature_number(w), stored = v * RR_MAX(k->unit, 1u);
	uint32_t stored32 = (uint32_t)stored;

	if (k->no && v <= k->max)
		*(bool *)((char *)o + k->no) = !v;
	if (!v && k->no)
		return 0;
	if (v < k->min || v > k->max) {
		(void)snprintf(
		        reason.text, reason.size,
		        "option \"%s\" of the features is %sa number from %" PRIu64
		        " to %" PRIu64 ", not \"%.*s\"",
		        k->name, k->no && k->min ? "0 or " : "", k->min, k->max,
		        QUOTED(w));
		return -EINVAL;
	}
	if (k->width)
		memcpy((char *)o + k->at,
		       k->width == sizeof(stored32) ? (const void *)&stored32 : &stored,
		       k->width);
	return 0;
}

/* Records in @ret_needed the features to which the keys belong. */
static int take_value(struct rr_feature_options *o, struct word key, struct word value,
                      unsigned *ret_needed, struct rr_reason reason)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(keys); i++) {
		if (is_word(key, keys[i].name)) {
			*ret_needed |= 1u << keys[i].feature;
			return set_value(o, &keys[i], value, reason);
		}
	}
	(void)snprintf(reason.text, reason.size, "the features have no option \"%.*s\"",
	               QUOTED(key));
	return refuse_with_names(reason, "; they have reminv,", key_at,
	                         RR_ARRAY_SIZE(keys));
}

static int take_item(struct rr_feature_options *o, struct word item,
                     unsigned *ret_needed, struct rr_reason reason)
{
	const char *eq = memchr(item.at, '=', item.len);
	struct word key = {item.at, eq ? (size_t)(eq - item.at) : item.len}, value;

	if (!eq)
		return take_feature(o, item, reason);
	value = (struct word){eq + 1, item.len - key.len - 1};
	return is_word(key, "reminv") ? take_policy(o, value, reason)
	                              : take_value(o, key, value, ret_needed, reason);
}

static int check_needed(unsigned needed, unsigned on, struct rr_reason reason)
{
	for (unsigned i = 0; i < RR_FEATURES; i++) {
		if (!(needed & ~on & 1u << i))
			continue;
		(void)snprintf(reason.text, reason.size,
		               "there is an option of feature \"%s\", which is off",
		               feature_at(i));
		return -EINVAL;
	}
	return 0;
}

int rr_feature_options_parse(const char *text, struct rr_feature_options *ret,
                             struct rr_reason reason)
{
	struct rr_feature_options o = {.rprc_total_bytes = TOTAL_DEFAULT};
	const char *s = text ? text : "default";
	unsigned needed = 0;
	int err = 0;

	if (strcmp(s, "none")) {
		bool more = true;

		while (more && !err) {
			struct word item = {s, strcspn(s, ",")};

			err = take_item(&o, item, &needed, reason);
			more = s[item.len] == ',';
			s += item.len + more;
		}
	}
	if (!err)
		err = check_needed(needed, o.config.on, reason);
	if (err)
		return err;
	rr_feature_defaults(&o.config);
	*ret = o;
	return 0;
}

int rpcrdma_features_check(const char *features, char *ret_reason, size_t size)
{
	struct rr_feature_options o;

	return rr_feature_options_parse(features, &o,
	                                (struct rr_reason){ret_reason, size});
}
