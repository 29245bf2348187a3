/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every decoder and encoder of src/wire is held to, given a message as words.
 * Include after <cmocka.h>.
 */
#ifndef RR_TEST_CODEC_H
#define RR_TEST_CODEC_H

#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/cursor.h"

struct octets {
	size_t len;
	uint8_t *at; /* exactly @len octets of heap, so that a sanitizer sees */
};

static inline struct octets octets_copied(const void *from, size_t len)
{
	struct octets o = {.len = len, .at = malloc(len + !len)};

	assert_non_null(o.at);
	if (len)
		memcpy(o.at, from, len);
	return o;
}

static inline struct octets octets_of_words(const uint32_t *words, size_t n)
{
	struct octets o = {.len = n * 4, .at = malloc(n * 4 + !n)};

	assert_non_null(o.at);
	for (size_t i = 0; i < n; i++)
		rr_store_u32(o.at + i * 4, words[i]);
	return o;
}

#define OCTETS(...)                                                                    \
	octets_of_words((const uint32_t[]){__VA_ARGS__},                               \
	                sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* A decoder and its encoder; @value_size is the size of what they convert. */
struct codec {
	int (*get)(struct rr_cursor *c, void *value);
	void (*put)(struct rr_writer *w, const void *value);
	size_t (*size)(const void *value); /* octets that @put will append; or NULL */
	size_t value_size;
};

/* The message is refused; neither the cursor nor the value is touched. */
static inline void assert_octets_refused(const struct codec *k, const uint8_t *at,
                                         size_t len)
{
	struct octets o = octets_copied(at, len);
	struct rr_cursor c = rr_cursor_over(o.at, o.len);
	uint8_t *v = malloc(k->value_size), *untouched = malloc(k->value_size);

	assert_non_null(v);
	assert_non_null(untouched);
	memset(v, 0xa5, k->value_size);
	memset(untouched, 0xa5, k->value_size);
	assert_int_equal(k->get(&c, v), -EBADMSG);
	assert_memory_equal(v, untouched, k->value_size);
	assert_ptr_equal(c.pos, o.at);
	assert_ptr_equal(c.end, o.at + o.len);
	assert_false(c.bad);
	free(v);
	free(untouched);
	free(o.at);
}

static inline void assert_refused(const struct codec *k, struct octets o)
{
	assert_octets_refused(k, o.at, o.len);
	free(o.at);
}

/* The value encodes to exactly these octets, and to no less memory. */
static inline void assert_encodes(const struct codec *k, const void *v,
                                  const uint8_t *at, size_t len)
{
	uint8_t *copy = malloc(len + !len);
	struct rr_writer w = rr_writer_over(copy, len);

	assert_non_null(copy);
	k->put(&w, v);
	assert_false(rr_writer_bad(&w));
	assert_int_equal(rr_writer_used(&w), len);
	assert_memory_equal(copy, at, len);
	if (k->size)
		assert_int_equal(k->size(v), len);
	for (size_t n = 0; n < len; n++) {
		w = rr_writer_over(copy, n);
		k->put(&w, v);
		assert_true(rr_writer_bad(&w));
	}
	free(copy);
}

/* The message decodes, up to @payload octets at its end; the value encodes to the same
 * octets; no proper prefix of the header decodes.  Frees @o. */
static inline void assert_decodes(const struct codec *k, struct octets o,
                                  size_t payload, void *v)
{
	struct rr_cursor c = rr_cursor_over(o.at, o.len);

	assert_int_equal(k->get(&c, v), 0);
	assert_int_equal(rr_cursor_left(&c), payload);
	assert_encodes(k, v, o.at, o.len - payload);
	for (size_t n = 0; n < o.len - payload; n++)
		assert_octets_refused(k, o.at, n);
	free(o.at);
}

#endif
