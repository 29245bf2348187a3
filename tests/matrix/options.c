/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the features HTFAM (lengths and properties; the rest is in matrix.c),
 * RPRC and REMINV.
 */
#include "matrix.h"

enum { RPC_CALL_WORDS = 40, RPC_REPLY_WORDS = 24 };
enum {
	MSG_DONE = 0xffffff22,
	X_CONNPROP_MIDDLE = 0xffffff46,
	X_CONNPROP_LAST = 0xffffff47,
	X_CALL_MIDDLE = 0xffffff49,
	X_CALL_LAST = 0xffffff4a,
	X_REPLY_MIDDLE = 0xffffff4c,
	X_REPLY_LAST = 0xffffff4d,
};

/* -- HTFAM: lengths -------------------------------------------------------- */

/* Runs a Call, or a Reply, of @payload octets at the default thresholds, and returns
 * the number of its messages. */
static unsigned count_sends(size_t payload, bool call, unsigned chunks)
{
	struct mx_case k = {.call_filler = 4, .reply_filler = 4};
	struct mx_world *w = calloc(1, sizeof(*w));
	struct mx_seen got;
	unsigned n = 0;

	mx_add_feature(&k, RR_FEATURE_HTFAM);
	k.n_items = chunks;
	for (unsigned i = 0; i < chunks; i++)
		k.item[i] = 600;
	if (call)
		k.call_filler = payload - RPC_CALL_WORDS - 4 * chunks;
	else
		k.reply_filler = payload - RPC_REPLY_WORDS;
	mx_world_open(w, &mx_settings[0], &k);
	mx_world_call(w);
	mx_judge(w, &got);
	if (call)
		n = mx_count_sent(w, CLIENT, X_CALL_MIDDLE) +
		    mx_count_sent(w, CLIENT, X_CALL_LAST);
	else
		n = mx_count_sent(w, SERVER, X_REPLY_MIDDLE) +
		    mx_count_sent(w, SERVER, X_REPLY_LAST);
	mx_world_close(w);
	free(w);
	return n;
}

/* LS-s14-04, LS-s17-02 to -04 */
static void sequences_are_as_short_as_can_be(void **state)
{
	static const struct {
		size_t payload;
		bool call;
		unsigned chunks, sends;
	} rows[] = {
	        {4060, true, 0, 1},  {4064, true, 0, 2},   {4072, false, 0, 1},
	        {4076, false, 0, 2}, {8132, true, 0, 2},   {8136, true, 0, 3},
	        {10000, true, 0, 3}, {12204, true, 0, 3},  {12208, true, 0, 4},
	        {10000, true, 2, 3}, {12216, false, 0, 3}, {12220, false, 0, 4},
	};

	if (mx_settings[0].version == 1)
		return;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++)
		assert_int_equal(
		        count_sends(rows[i].payload, rows[i].call, rows[i].chunks),
		        rows[i].sends);
}

/* -- HTFAM: properties ----------------------------------------------------- */

/* Returns how many messages the exchange of properties has in the two types X_. */
static unsigned exchange(unsigned client, unsigned server, size_t octets,
                         const struct mx_setting *s)
{
	struct mx_case k = {.property = octets, .call_filler = 4, .reply_filler = 4};
	struct mx_world *w = calloc(1, sizeof(*w));
	struct mx_seen got;
	unsigned n = 0;

	k.features[CLIENT].on = client;
	k.features[SERVER].on = server;
	mx_world_open(w, s, &k);
	mx_world_call(w);
	mx_judge(w, &got);
	for (unsigned side = 0; side < 2; side++)
		n += mx_count_sent(w, side, X_CONNPROP_MIDDLE) +
		     mx_count_sent(w, side, X_CONNPROP_LAST);
	mx_world_close(w);
	free(w);
	return n;
}

/* LS-s18-01 to -03: short properties, some that need several messages, and one that
 * fits in none. */
static void properties_follow_in_their_own_types(void **state)
{
	static const size_t octets[] = {90, 900, 3000, 4000, 4096};
	const unsigned x = 1u << RR_FEATURE_HTFAM;

	if (mx_settings[0].version == 1)
		return;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(octets); i++)
		for (unsigned set = 0; set < MX_SETTINGS; set++) {
			const struct mx_setting *s = &mx_settings[set];
			unsigned n = exchange(x, x, octets[i], s);

			assert_true(octets[i] < 900 ? n == 0
			                            : n >= 1 + (octets[i] > 900));
			assert_int_equal(exchange(x, 0, octets[i], s), 0);
			assert_int_equal(exchange(0, x, octets[i], s), 0);
			assert_int_equal(exchange(0, 0, octets[i], s), 0);
		}
}

/* -- RPRC: notifications that Calls carry ---------------------------------- */

static void make_exposed(struct mx_case *k, const struct mx_setting *s, enum mx_dir dir,
                         enum mx_call call, enum mx_reply reply, enum mx_chunks kind)
{
	mx_make_case(k, s, dir, call, reply, kind);
	mx_add_feature(k, RR_FEATURE_RPRC);
	for (unsigned side = 0; side < 2; side++) {
		k->features[side].cont_max_sends = 1;
		k->features[side].rprc_no_piggyback = false;
		k->features[side].done_delay = RR_SEC(4);
	}
}

/* Replies that are pulled wait until a Simple Call carries their notifications; Calls
 * of other formats do not.  The replies stay exposed so long. */
static void carry(const struct mx_setting *s, enum mx_dir dir, enum mx_chunks kind,
                  unsigned more)
{
	static const enum mx_call calls[] = {MX_CALL_SIMPLE, MX_CALL_SPECIAL,
	                                     MX_CALL_CONTINUED, MX_CALL_SIMPLE,
	                                     MX_CALL_SIMPLE};
	static const enum mx_reply replies[] = {MX_REPLY_EXPOSED, MX_REPLY_EXPOSED,
	                                        MX_REPLY_EXPOSED, MX_REPLY_EXPOSED,
	                                        MX_REPLY_SIMPLE};
	struct mx_case k[RR_ARRAY_SIZE(calls)];
	struct mx_world *w = calloc(1, sizeof(*w));
	struct mx_seen got;

	for (unsigned i = 0; i < RR_ARRAY_SIZE(calls); i++) {
		make_exposed(&k[i], s, dir, calls[i], replies[i], kind);
		k[i].features[CLIENT].on |= more;
		k[i].features[SERVER].on |= more;
	}
	mx_world_open(w, s, &k[0]);
	mx_world_call(w);
	for (unsigned i = 0; i < RR_ARRAY_SIZE(calls); i++) {
		if (i)
			mx_world_again(w, &k[i]);
		mx_judge(w, &got);
		assert_int_equal(got.carried, i >= 3);
		assert_int_equal(got.reply == MX_EXPOSED, i < 4);
		assert_int_equal(w->n_owed, i < 3 ? i + 1 : i == 3);
	}
	assert_int_equal(mx_count_sent(w, w->asker, MSG_DONE), 2);
	mx_world_close(w);
	free(w);
}

/* RR-4.1.3-02, RR-4.1.4-02, RI-5.2-04 */
static void calls_carry_notifications(void **state)
{
	if (mx_settings[0].version == 1)
		return;
	for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
		for (unsigned kind = 0; kind < MX_CHUNK_KINDS; kind++)
			for (unsigned i = 0; i < MX_SETTINGS; i++)
				carry(&mx_settings[i], dir, kind, 0);
}

/* The header types by message kind have none for this: such a Call is an
 * RDMA2_MSG_DONE, and its Reply is of a base type. */
static void calls_by_message_kind_carry_them_too(void **state)
{
	if (mx_settings[0].version == 1)
		return;
	for (unsigned kind = 0; kind < MX_CHUNK_KINDS; kind++)
		carry(&mx_settings[kind % MX_SETTINGS], kind % 2, kind,
		      1u << RR_FEATURE_HTFAM);
}

/* -- RPRC: the rows of its tables ------------------------------------------ */

/* RR-4.1.1-03, RR-1-03, [ext §3.3]: each row, by the length of the Reply, the Reply
 * chunk, and the switches of the Responder. */
static void replies_take_the_first_row_that_applies(void **state)
{
	static const struct {
		unsigned filler, most, least, parts; /* in sixteenths of a threshold */
		bool chunk_first, no_chunk;
		unsigned flags;
		enum mx_result want;
	} rows[] = {
	        {1, 0, 0, 1, false, false, 0, MX_SIMPLE},
	        {1, 40, 20, 1, false, false, 0, MX_SIMPLE},
	        {1, 40, 20, 1, true, false, 0, MX_SPECIAL},
	        {30, 40, 20, 1, false, false, 0, MX_SPECIAL},
	        {30, 40, 20, 1, false, true, 0, MX_EXPOSED},
	        {30, 40, 4, 1, false, false, 0, MX_EXPOSED},
	        {30, 40, 4, 1, false, false, RR_CALL_LARGE_REPLY, MX_SPECIAL},
	        {60, 40, 20, 1, false, false, 0, MX_EXPOSED},
	        {40, 0, 0, 4, false, false, 0, MX_CONTINUED},
	        {40, 50, 20, 8, false, false, 0, MX_SPECIAL},
	        {60, 50, 20, 8, false, false, 0, MX_CONTINUED},
	        {90, 0, 0, 4, false, false, 0, MX_EXPOSED},
	};

	if (mx_settings[0].version == 1)
		return;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows) * 4 * MX_SETTINGS; i++) {
		const struct mx_setting *s = &mx_settings[i % MX_SETTINGS];
		unsigned dir = i / MX_SETTINGS % 2, x = i / MX_SETTINGS / 2 % 2;
		unsigned row = i / MX_SETTINGS / 4;
		size_t t = (dir == MX_FORWARD ? s->to_client : s->to_server) / 64 * 4;
		struct mx_case k = {.dir = dir,
		                    .call_filler = 12,
		                    .call_flags = rows[row].flags,
		                    .reply_filler = rows[row].filler * t,
		                    .reply_bytes = rows[row].most * t,
		                    .reply_min = rows[row].least * t};

		mx_add_feature(&k, RR_FEATURE_RPRC);
		if (x)
			mx_add_feature(&k, RR_FEATURE_HTFAM);
		for (unsigned side = 0; side < 2; side++) {
			k.features[side].rprc_no_piggyback = true;
			k.features[side].cont_max_sends = rows[row].parts;
			k.features[side].reply_chunk_first = rows[row].chunk_first;
			k.features[side].no_reply_chunks = rows[row].no_chunk;
		}
		assert_int_equal(mx_run(s, &k).reply, rows[row].want);
	}
}

/* -- REMINV ---------------------------------------------------------------- */

static const enum rr_inv_policy policies[] = {
        RR_INV_LARGEST,     RR_INV_NONE,  RR_INV_READ_FIRST,
        RR_INV_WRITE_FIRST, RR_INV_FIRST, RR_INV_SINGLE,
};

static void name_handles(enum rr_inv_policy policy, enum mx_dir dir, unsigned more)
{
	static const enum mx_reply replies[] = {MX_REPLY_SIMPLE, MX_REPLY_UNUSED,
	                                        MX_REPLY_CONTINUED, MX_REPLY_SPECIAL};

	for (unsigned call = 0; call < MX_CALLS; call++)
		for (unsigned kind = 0; kind < MX_CHUNK_KINDS; kind++)
			for (unsigned r = 0; r < RR_ARRAY_SIZE(replies); r++) {
				const struct mx_setting *s =
				        &mx_settings[1 + (call + kind + r) % 3];
				struct mx_case k;

				mx_make_case(&k, s, dir, call, replies[r], kind);
				mx_add_feature(&k, RR_FEATURE_REMINV);
				k.features[CLIENT].on |= more;
				k.features[SERVER].on |= more;
				k.features[CLIENT].inv_policy = policy;
				k.features[SERVER].inv_policy = policy;
				(void)mx_run(s, &k);
			}
}

/* RI-4.3-01, RI-4.4-01, -02, RI-5.2-01, -02, RI-5.3-01 to -04, RI-P-01, RI-P-02: every
 * policy with every format and kind of chunk. */
static void every_policy_names_its_handle(void **state)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(policies); i++)
		name_handles(policies[i], MX_FORWARD, 0);
}

/* RI-3.3-01, RI-5.1-02 */
static void servers_name_handles_too(void **state)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(policies); i++)
		name_handles(policies[i], MX_REVERSE, 0);
}

/* RI-5.2-04 */
static void calls_by_message_kind_name_handles(void **state)
{
	for (unsigned i = 0; i < RR_ARRAY_SIZE(policies); i++) {
		name_handles(policies[i], MX_FORWARD, 1u << RR_FEATURE_HTFAM);
		name_handles(policies[i], MX_REVERSE, 1u << RR_FEATURE_HTFAM);
	}
}

/* RI-4.2-02, RI-4.2-03: a side that refuses Send With Invalidate names no handle, in
 * Calls and in exposed replies; the other side goes on. */
static void sides_that_refuse_name_nothing(void **state)
{
	for (unsigned refuses = 0; refuses < 4; refuses++)
		for (unsigned dir = MX_FORWARD; dir <= MX_REVERSE; dir++)
			for (unsigned reply = 0; reply < MX_REPLIES; reply++)
				for (unsigned x = 0; x < 2; x++) {
					const struct mx_setting *s = &mx_settings[2];
					struct mx_case k;

					mx_make_case(&k, s, dir, reply % MX_CALLS,
					             reply, MX_ALL_CHUNKS);
					mx_add_feature(&k, RR_FEATURE_REMINV);
					if (x)
						mx_add_feature(&k, RR_FEATURE_HTFAM);
					k.features[CLIENT].no_remote_inv = refuses & 1;
					k.features[SERVER].no_remote_inv = refuses & 2;
					(void)mx_run(s, &k);
				}
}

const struct CMUnitTest mx_option_tests[] = {
        cmocka_unit_test(sequences_are_as_short_as_can_be),
        cmocka_unit_test(properties_follow_in_their_own_types),
        cmocka_unit_test(calls_carry_notifications),
        cmocka_unit_test(calls_by_message_kind_carry_them_too),
        cmocka_unit_test(replies_take_the_first_row_that_applies),
        cmocka_unit_test(every_policy_names_its_handle),
        cmocka_unit_test(servers_name_handles_too),
        cmocka_unit_test(calls_by_message_kind_name_handles),
        cmocka_unit_test(sides_that_refuse_name_nothing),
};
const size_t mx_option_count = RR_ARRAY_SIZE(mx_option_tests);
