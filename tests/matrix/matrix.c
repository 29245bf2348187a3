/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table, and the families of sizes around it.
 *
 * The table is the product of direction and level, format asked for the Call,
 * format asked for the Reply, and kind of chunks.  A combination that cannot
 * be is run all the same, and must come to what the text has in its place:
 *
 *  - below level 3 there are no chunks in the reverse direction, so every kind
 *    of chunk is like none, a Special Call is a Simple or Continued one, and
 *    so is a Special Reply                                    [v2 §4.5.3, R4]
 *  - there no reply is exposed either: it is continued         [ext §3.10]
 *  - at level 1 nothing may be continued either: a longer Call ends at its
 *    sender, a longer Reply is RDMA2_ERR_REPLY_RESOURCE           [v2 §4.5.3, R5]
 *
 * The argument 1 runs all of it in version 1, which has no continuation and two
 * levels in the reverse direction, with chunks and without: a Call asked to be
 * continued is pulled from a Position Zero chunk, a Reply goes to a Reply chunk,
 * which is given back also if it was not used; without chunks the one ends at
 * its sender and the other is ERR_CHUNK.       [RFC 8166 §3.5, §4.3.3, §4.5.3]
 *
 * the_table_covers_what_is_possible counts what was seen on the wire, not what
 * was asked.
 */
#include "matrix.h"

static const struct shape {
	const char *name;
	unsigned n_items, n_dests, n_results;
	size_t item[MX_ITEMS], dest[MX_ITEMS], result[MX_ITEMS];
} shapes[MX_CHUNK_KINDS] = {
        [MX_NO_CHUNK] = {"no chunk", 0, 0, 0, {0}, {0}, {0}},
        [MX_READ_CHUNK] = {"Read", 1, 0, 0, {2045}, {0}, {0}},
        [MX_WRITE_CHUNK] = {"Write", 0, 1, 1, {0}, {2043}, {2043}},
        [MX_BOTH_CHUNKS] = {"Read and Write", 1, 1, 1, {1023}, {1025}, {1025}},
        [MX_READ_CHUNKS] = {"three Reads", 3, 0, 0, {517, 2046, 515}, {0}, {0}},
        [MX_WRITE_CHUNKS] =
                {"three Writes", 0, 3, 3, {0}, {1022, 5, 601}, {1022, 5, 601}},
        [MX_ALL_CHUNKS] = {"three of each",
                           3,
                           3,
                           3,
                           {515, 1021, 514},
                           {7, 1030, 512},
                           {7, 1021, 511}},
        [MX_EMPTY_WRITE] = {"an empty Write", 0, 1, 1, {0}, {0}, {101}},
        [MX_UNUSED_WRITE] = {"an unused Write", 0, 1, 0, {0}, {2043}, {0}},
        [MX_PART_WRITE] = {"a Write filled in part", 0, 1, 1, {0}, {3061}, {1030}},
        [MX_MIXED_WRITES] =
                {"used, empty, unused", 1, 3, 2, {1022}, {1026, 0, 90}, {1023, 33}},
};

struct mx_setting mx_settings[MX_SETTINGS] = {
        {"defaults", 2, 4096, 4096, 1 << 20, 16, 32, false, 0},
        {"segments of 1021, 1024 and 1504 octets inline, two credits", 2, 1024, 1504,
         1021, 64, 2, true, 1},
        {"segments of 1003, 1032 and 1024 octets inline", 2, 1032, 1024, 1003, 64, 3,
         true, 2},
        {"long messages", 2, 16384, 8192, 8193, 64, 128, true, 3},
};

static bool seen[MX_FAMILIES][MX_DIRS][MX_RESULTS][MX_RESULTS][MX_CHUNK_KINDS];
static unsigned n_cases, n_runs;

/* -- one case -------------------------------------------------------------- */

static size_t threshold(const struct mx_setting *s, const struct mx_case *k, bool call)
{
	return (k->dir == MX_FORWARD) == call ? s->to_server : s->to_client;
}

/* A region of the Requester's. */
static const struct mx_event *some_region(const struct mx_world *w, unsigned which)
{
	for (unsigned i = w->call_at; i < w->n_log; i++)
		if (w->log[i].kind == MX_REGISTER && w->log[i].side == w->asker &&
		    !which--)
			return &w->log[i];
	return NULL;
}

/* Octets of the Reply that go to no chunk: XID to SUCCESS, counts, the rest. */
static size_t reply_payload(const struct mx_case *k)
{
	size_t n = 24 + k->reply_filler + 4 * k->n_results;

	for (unsigned i = 0; i < k->n_results; i++)
		if (k->dir > MX_REVERSE || i >= k->n_dests || !k->dest[i])
			n += (k->result[i] + 3) & ~(size_t)3;
	return n;
}

struct mx_seen mx_run(const struct mx_setting *s, const struct mx_case *asked)
{
	struct mx_world *w = calloc(1, sizeof(*w));
	struct mx_case k = *asked;
	struct mx_seen ret;

	assert_non_null(w);
	if (s->version == 1 && !k.reply_bytes) /* the Requester knows it */
		k.reply_bytes = reply_payload(&k);
	mx_world_open(w, s, &k);
	mx_world_call(w);
	mx_judge(w, &ret);
	if (ret.regions)
		mx_world_probe(w, some_region(w, n_runs % ret.regions));
	mx_world_close(w);
	free(w);
	n_runs++;
	return ret;
}

/* -- the table ------------------------------------------------------------- */

static void ask_call(struct mx_case *k, const struct mx_setting *s, enum mx_call call)
{
	switch (call) {
	case MX_CALL_SIMPLE:
		k->call_filler = 12;
		break;
	case MX_CALL_CONTINUED:
		k->call_filler = 3 * (threshold(s, k, true) & ~(size_t)3) + 52;
		break;
	case MX_CALL_SPECIAL:
		k->call_filler = 20;
		k->call_flags |= RR_CALL_SPECIAL;
		break;
	case MX_CALLS:
		abort();
	}
}

void mx_add_feature(struct mx_case *k, enum rr_feature feature)
{
	for (unsigned side = 0; side < 2; side++)
		k->features[side].on |= 1u << feature;
}

/* Both ends have the feature RPRC, and continue no short reply. */
static void expose(struct mx_case *k)
{
	mx_add_feature(k, RR_FEATURE_RPRC);
	for (unsigned side = 0; side < 2; side++) {
		k->features[side].cont_max_sends = 1;
		k->features[side].rprc_no_piggyback = true;
	}
}

static void ask_reply(struct mx_case *k, const struct mx_setting *s,
                      enum mx_reply reply)
{
	size_t t = threshold(s, k, false) & ~(size_t)3;

	k->reply_filler = reply == MX_REPLY_CONTINUED ? 3 * t + 20
	                  : reply == MX_REPLY_SPECIAL || reply == MX_REPLY_EXPOSED
	                          ? 5 * t + 4
	                          : 8;
	if (reply == MX_REPLY_EXPOSED)
		expose(k);
	if (reply == MX_REPLY_SPECIAL || reply == MX_REPLY_UNUSED)
		k->reply_bytes = 16 * t + 101;
}

void mx_make_case(struct mx_case *k, const struct mx_setting *s, enum mx_dir dir,
                  enum mx_call call, enum mx_reply reply, enum mx_chunks kind)
{
	const struct shape *h = &shapes[kind];

	*k = (struct mx_case){
	        .dir = dir,
	        .n_items = h->n_items,
	        .n_dests = h->n_dests,
	        .n_results = h->n_results,
	        .filler_first = kind % 2,
	        .own_sinks = (kind + reply) % 2,
	};
	memcpy(k->item, h->item, sizeof(k->item));
	memcpy(k->dest, h->dest, sizeof(k->dest));
	memcpy(k->result, h->result, sizeof(k->result));
	ask_call(k, s, call);
	ask_reply(k, s, reply);
}

static void run_row(enum mx_family family, enum mx_dir dir, enum mx_call call,
                    enum mx_reply reply, enum mx_chunks kind)
{
	for (unsigned i = 0; i < MX_SETTINGS; i++) {
		const struct mx_setting *s = &mx_settings[i];
		struct mx_seen got;
		struct mx_case k;

		mx_make_case(&k, s, dir, call, reply, kind);
		if (family == MX_HTFAM)
			mx_add_feature(&k, RR_FEATURE_HTFAM);
		got = mx_run(s, &k);
		if (s->version == 2)
			assert_int_equal(got.family, family);
		seen[family][dir][got.call][got.reply][kind] = true;
	}
	n_cases++;
}

static void run_rows(enum mx_family family, enum mx_dir dir, enum mx_call call)
{
	for (unsigned reply = 0; reply < MX_REPLIES; reply++)
		for (unsigned kind = 0; kind < MX_CHUNK_KINDS; kind++)
			run_row(family, dir, call, reply, kind);
}

static void forward_simple_calls(void **state)
{
	run_rows(MX_BASE, MX_FORWARD, MX_CALL_SIMPLE);
}

static void forward_continued_calls(void **state)
{
	run_rows(MX_BASE, MX_FORWARD, MX_CALL_CONTINUED);
}

static void forward_special_calls(void **state)
{
	run_rows(MX_BASE, MX_FORWARD, MX_CALL_SPECIAL);
}

static void reverse_simple_calls(void **state)
{
	run_rows(MX_BASE, MX_REVERSE, MX_CALL_SIMPLE);
}

static void reverse_continued_calls(void **state)
{
	run_rows(MX_BASE, MX_REVERSE, MX_CALL_CONTINUED);
}

static void reverse_special_calls(void **state)
{
	run_rows(MX_BASE, MX_REVERSE, MX_CALL_SPECIAL);
}

/* V2-4.5.3: level 2 has continuation and no chunks. */
static void reverse_level_two_has_no_chunks(void **state)
{
	for (unsigned call = 0; call < MX_CALLS; call++)
		run_rows(MX_BASE, MX_REVERSE_CONT, call);
}

/* V2-4.5.3, [R5]: level 1 has one message for each Call and Reply. */
static void reverse_level_one_has_one_message(void **state)
{
	for (unsigned call = 0; call < MX_CALLS; call++)
		run_rows(MX_BASE, MX_REVERSE_SIMPLE, call);
}

/* LS-s13-01, -02, LS-s14-01, -03, LS-s15-01 to -04, LS-s16-01 to -04, LS-s17-01, -04:
 * the same table in the types X_. */
static void forward_calls_by_message_kind(void **state)
{
	for (unsigned call = 0; call < MX_CALLS; call++)
		run_rows(MX_HTFAM, MX_FORWARD, call);
}

static void reverse_calls_by_message_kind(void **state)
{
	for (unsigned call = 0; call < MX_CALLS; call++)
		run_rows(MX_HTFAM, MX_REVERSE, call);
}

static void low_reverse_levels_by_message_kind(void **state)
{
	for (unsigned call = 0; call < MX_CALLS; call++) {
		run_rows(MX_HTFAM, MX_REVERSE_CONT, call);
		run_rows(MX_HTFAM, MX_REVERSE_SIMPLE, call);
	}
}

static void expect_formats(enum mx_family family, enum mx_dir dir, unsigned calls,
                           unsigned replies)
{
	for (unsigned c = 0; c < MX_RESULTS; c++)
		for (unsigned r = 0; r < MX_RESULTS; r++)
			for (unsigned kind = 0; kind < MX_CHUNK_KINDS; kind++) {
				bool want = calls & 1u << c && replies & 1u << r;

				if (want && !seen[family][dir][c][r][kind])
					fail_msg(
					        "family %u, direction %u: never a Call "
					        "of format %u, a Reply of %u: %s",
					        family, dir, c, r, shapes[kind].name);
				if (!want && c != MX_REFUSED && r != MX_REFUSED)
					assert_false(seen[family][dir][c][r][kind]);
			}
}

static void expect_family(enum mx_family family)
{
	const unsigned simple = 1 << MX_SIMPLE, both = simple | 1 << MX_CONTINUED,
	               all = both | 1 << MX_SPECIAL, pulled = simple | 1 << MX_SPECIAL;
	bool v1 = mx_settings[0].version == 1;

	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		expect_formats(family, dir, v1 ? pulled : all,
		               v1 ? pulled : all | 1 << MX_EXPOSED);
	expect_formats(family, MX_REVERSE_CONT, v1 ? simple : both, v1 ? simple : both);
	expect_formats(family, MX_REVERSE_SIMPLE, simple, simple);
}

/* What stood on the wire, for every kind of chunk. */
static void the_table_covers_what_is_possible(void **state)
{
	expect_family(MX_BASE);
	expect_family(MX_HTFAM);
	assert_int_equal(n_cases, 2 * MX_DIRS * MX_CALLS * MX_REPLIES * MX_CHUNK_KINDS);
	print_message("    %u rows, each in %u settings\n", n_cases, MX_SETTINGS);
}

/* -- lengths --------------------------------------------------------------- */

/* V2-4.3.4.1-01, -02, V2-4.3.4.4-02, -03, V2-4.3.5.2-01, -02, V2-4.3.6.2-01 to
 * -03: every residue, in arguments that are pulled and results as short as
 * one octet; the count stays, padding is nowhere. */
static void counted_arrays_of_every_residue(void **state)
{
	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (size_t n = 1; n <= 8; n++) {
			struct mx_case k = {
			        .dir = dir,
			        .n_items = 3,
			        .item = {511 + n, n, 520 - n},
			        .n_dests = 3,
			        .dest = {n, 9 - n, 8},
			        .n_results = 3,
			        .result = {n, 9 - n, n},
			        .call_filler = 8,
			        .reply_filler = 4,
			};

			assert_int_equal(mx_run(&mx_settings[n % 4], &k).regions, 5);
		}
}

/* V2-4.3.4.2-01, -02: "is present" stays, the data go. */
static void optional_data_leave_their_word(void **state)
{
	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (unsigned call = 0; call < MX_CALLS; call++) {
			struct mx_case k = {
			        .dir = dir,
			        .optional = true,
			        .n_items = 2,
			        .item = {600, 1044},
			        .n_dests = 2,
			        .dest = {64, 1028},
			        .n_results = 2,
			        .result = {64, 1028},
			        .reply_filler = 4,
			};

			ask_call(&k, &mx_settings[call], call);
			(void)mx_run(&mx_settings[call], &k);
		}
}

/* [K21]: results of no octets leave their chunks unused; arguments of none stay. */
static void items_without_octets(void **state)
{
	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (unsigned reply = 0; reply < MX_REPLIES; reply++) {
			struct mx_case k = {
			        .dir = dir,
			        .n_items = 3,
			        .item = {0, 700, 0},
			        .n_dests = 3,
			        .dest = {100, 0, 1050},
			        .n_results = 3,
			        .result = {0, 0, 1050},
			        .call_filler = 4,
			};

			ask_reply(&k, &mx_settings[reply % 4], reply);
			(void)mx_run(&mx_settings[reply % 4], &k);
		}
}

/* V2-4.3.4-01, -02, V2-4.3.5-03, -06, -08: segments of odd lengths, many. */
static void segments_of_odd_lengths(void **state)
{
	static const uint32_t bytes[] = {33, 101, 255, 1021};

	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (unsigned i = 0; i < RR_ARRAY_SIZE(bytes); i++) {
			struct mx_setting s = mx_settings[0];
			size_t len = RR_MAX(bytes[i] * 19u + 2, 513);
			struct mx_case k = {
			        .dir = dir,
			        .n_items = 2,
			        .item = {len, 515},
			        .n_dests = 1,
			        .dest = {len + 1},
			        .n_results = 1,
			        .result = {len - bytes[i]},
			        .call_filler = 8,
			        .reply_filler = 4,
			};

			s.segment_bytes = bytes[i];
			s.max_segments = 64;
			s.variant = i;
			(void)mx_run(&s, &k);
		}
}

/* -- fits ------------------------------------------------------------------ */

enum { CALL_WORDS = 40, REPLY_WORDS = 24 };

/* What becomes of a Call or Reply that is too long for one message. */
static enum mx_result too_long(const struct mx_setting *s, enum mx_dir dir)
{
	if (s->version == 1)
		return dir <= MX_REVERSE ? MX_SPECIAL : MX_REFUSED;
	return dir == MX_REVERSE_SIMPLE ? MX_REFUSED : MX_CONTINUED;
}

/* [P9], V2-4.2.2: up to the threshold, header included, one message will do. */
static void calls_around_the_threshold(void **state)
{
	for (unsigned dir = 0; dir < MX_DIRS; dir++)
		for (unsigned chunk = 0; chunk < 2; chunk++)
			for (int more = -4; more <= 4; more += 4) {
				const struct mx_setting *s = &mx_settings[chunk];
				struct mx_case k = {.dir = dir, .reply_filler = 4};
				bool chunks = chunk && dir <= MX_REVERSE;
				/* a Read entry, the count of the item */
				size_t rest = mx_empty(s) + CALL_WORDS +
				              (chunks ? 24 + 4 : 0);
				struct mx_seen got;

				k.n_items = chunks;
				k.item[0] = 700;
				k.call_filler =
				        threshold(s, &k, true) - rest + (size_t)more;
				got = mx_run(s, &k);
				assert_int_equal(got.call, more <= 0
				                                   ? MX_SIMPLE
				                                   : too_long(s, dir));
			}
}

static void replies_around_the_threshold(void **state)
{
	for (unsigned dir = 0; dir < MX_DIRS; dir++)
		for (unsigned chunk = 0; chunk < 2; chunk++)
			for (int more = -4; more <= 4; more += 4) {
				const struct mx_setting *s = &mx_settings[chunk];
				struct mx_case k = {.dir = dir, .call_filler = 4};
				bool chunks = chunk && dir <= MX_REVERSE;
				/* a Write entry of one segment, the count */
				size_t rest = mx_empty(s) + REPLY_WORDS +
				              (chunks ? 24 + 4 : 0);
				struct mx_seen got;

				k.n_dests = k.n_results = chunks;
				k.dest[0] = k.result[0] = 700;
				k.reply_filler =
				        threshold(s, &k, false) - rest + (size_t)more;
				got = mx_run(s, &k);
				assert_int_equal(got.reply, more <= 0
				                                    ? MX_SIMPLE
				                                    : too_long(s, dir));
			}
}

/* V2-4.4.3-09, V2-6.4-03, [K9]: a Reply that fills the Reply chunk goes there; one
 * that is four octets longer is continued, or in version 1 refused. */
static void reply_chunks_around_the_reply(void **state)
{
	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (unsigned i = 0; i < 3; i++)
			for (int more = -4; more <= 4; more += 4) {
				const struct mx_setting *s = &mx_settings[i];
				struct mx_case k = {.dir = dir, .call_filler = 4};
				enum mx_result longer =
				        s->version == 1 ? MX_REFUSED : MX_CONTINUED;
				struct mx_seen got;

				k.reply_bytes = 16 * threshold(s, &k, false) + 4;
				k.reply_filler =
				        k.reply_bytes - REPLY_WORDS + (size_t)more;
				got = mx_run(s, &k);
				assert_int_equal(got.reply,
				                 more <= 0 ? MX_SPECIAL : longer);
			}
}

/* Version 1 has thresholds of whole kibioctets.            [RFC 8797 §4.1] */
static void in_version_one(struct mx_setting *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		s[i].version = 1;
		s[i].to_server = (s[i].to_server + 1023) & ~1023u;
		s[i].to_client = (s[i].to_client + 1023) & ~1023u;
	}
}

/* Arguments: the version, and a pattern of the names of the tests to run. */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(forward_simple_calls),
	        cmocka_unit_test(forward_continued_calls),
	        cmocka_unit_test(forward_special_calls),
	        cmocka_unit_test(reverse_simple_calls),
	        cmocka_unit_test(reverse_continued_calls),
	        cmocka_unit_test(reverse_special_calls),
	        cmocka_unit_test(reverse_level_two_has_no_chunks),
	        cmocka_unit_test(reverse_level_one_has_one_message),
	        cmocka_unit_test(forward_calls_by_message_kind),
	        cmocka_unit_test(reverse_calls_by_message_kind),
	        cmocka_unit_test(low_reverse_levels_by_message_kind),
	        cmocka_unit_test(the_table_covers_what_is_possible),
	        cmocka_unit_test(counted_arrays_of_every_residue),
	        cmocka_unit_test(optional_data_leave_their_word),
	        cmocka_unit_test(items_without_octets),
	        cmocka_unit_test(segments_of_odd_lengths),
	        cmocka_unit_test(calls_around_the_threshold),
	        cmocka_unit_test(replies_around_the_threshold),
	        cmocka_unit_test(reply_chunks_around_the_reply),
	};

	if (argc > 1 && !strcmp(argv[1], "1")) {
		in_version_one(mx_settings, MX_SETTINGS);
		in_version_one(mx_placement_settings, MX_SETTINGS);
		in_version_one(mx_fence_settings, mx_fence_settings_count);
	}
	if (argc > 2)
		cmocka_set_test_filter(argv[2]);
	return cmocka_run_group_tests(tests, NULL, NULL) +
	       _cmocka_run_group_tests("options", mx_option_tests, mx_option_count,
	                               NULL, NULL) +
	       _cmocka_run_group_tests("placement", mx_placement_tests,
	                               mx_placement_count, NULL, NULL) +
	       _cmocka_run_group_tests("fence", mx_fence_tests, mx_fence_count, NULL,
	                               NULL);
}
