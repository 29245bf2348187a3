/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables of the feature RTR: send-based DDP, directions for results, counted
 * continuation, reserved responses.
 *
 * The main table is the product of items and results, structures of the Receive buffers
 * at both ends, the way that results are asked for, lengths of both payloads, and the
 * ability to continue.  Calls that cannot be sent by the types XMOPT are sent by the
 * base types.
 */
#include "matrix.h"

static const struct shape {
	unsigned n_items, n_dests, n_results;
	size_t item[MX_ITEMS], dest[MX_ITEMS], result[MX_ITEMS];
} shapes[] = {
        {0, 0, 0, {0}, {0}, {0}},
        {1, 0, 0, {8192}, {0}, {0}},
        {1, 0, 0, {3001}, {0}, {0}},
        {3, 0, 0, {8192, 515, 4097}, {0}, {0}},
        {0, 1, 1, {0}, {8192}, {8192}},
        {0, 1, 1, {0}, {9000}, {5003}},
        {0, 3, 3, {0}, {8192, 100, 5000}, {8190, 70, 4099}},
        {2, 2, 2, {1021, 4096}, {4096, 1021}, {4096, 1021}},
        {1, 2, 1, {40000}, {40001, 700}, {39999}}, /* no result for the second */
        {1, 3, 3, {600}, {5000, 64, 3000}, {0, 61, 0}},
};

enum { SHAPES = RR_ARRAY_SIZE(shapes), DIRECTS = RR_DIRECT_BY_SIZE + 1 };

/* Targetable segments of the client's and of the server's Receive buffers. */
static const struct structure {
	uint32_t n[2], bytes[2];
} structures[] = {
        {{0, 0}, {0, 0}},    {{1, 1}, {8192, 8192}}, {{0, 2}, {0, 2048}},
        {{3, 0}, {1024, 0}}, {{4, 2}, {4096, 2048}},
};

enum { STRUCTURES = RR_ARRAY_SIZE(structures) };

/* Enough segments for everything that has to be written or read. */
struct mx_setting mx_placement_settings[MX_SETTINGS] = {
        {"defaults", 2, 4096, 4096, 1 << 20, 16, 32, false, 0},
        {"segments of 8000 octets, four credits", 2, 2048, 1024, 8000, 64, 4, true, 1},
        {"segments of 5001 octets, two credits", 2, 1024, 2048, 5001, 64, 2, true, 2},
        {"long messages", 2, 16384, 8192, 8193, 64, 128, true, 3},
};

/* Formats by the types XMOPT, and kinds of results seen. */
static bool seen[MX_RESULTS][MX_RESULTS];
static unsigned n_placed, n_reserved;

static size_t pad4(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Returns the length of the longest payload of the Reply.  It includes every
 * result that may lack a direction, or that is too short for its direction. */
static size_t bound_reply(const struct mx_case *k)
{
	size_t n = 24 + k->reply_filler + 4 * k->n_results;

	for (unsigned i = 0; i < k->n_results; i++)
		if (k->ranges || i >= k->n_dests || k->result[i] < k->min_len)
			n += pad4(k->result[i]);
	return n;
}

static void set_features(struct mx_case *k, const struct structure *t, bool continues)
{
	mx_add_feature(k, RR_FEATURE_RTR);
	for (unsigned side = 0; side < 2; side++) {
		k->features[side].rtr_segments = t->n[side];
		k->features[side].rtr_segment_bytes = t->bytes[side];
		k->features[side].rtr_no_continuation = !continues;
		k->features[side].rtr_requests = 64;
		k->features[side].rtr_responses = 64;
	}
}

static void add_exposure(struct mx_case *k)
{
	mx_add_feature(k, RR_FEATURE_RPRC);
	for (unsigned side = 0; side < 2; side++) {
		k->features[side].rprc_no_piggyback = true;
		k->features[side].cont_max_sends = 1;
	}
}

static void set_shape(struct mx_case *k, const struct shape *h)
{
	k->n_items = h->n_items;
	k->n_dests = h->n_dests;
	k->n_results = h->n_results;
	memcpy(k->item, h->item, sizeof(k->item));
	memcpy(k->dest, h->dest, sizeof(k->dest));
	memcpy(k->result, h->result, sizeof(k->result));
}

/* The length of the reply is unknown. */
static struct mx_seen run_unknown(const struct mx_setting *s, const struct mx_case *k)
{
	struct mx_seen got = mx_run(s, k);

	if (got.family != MX_RTR)
		return got;
	seen[got.call][got.reply] = true;
	n_placed += got.call_sent || got.reply_sent;
	n_reserved += got.reserved > 1;
	return got;
}

static struct mx_seen run_placed(const struct mx_setting *s, struct mx_case *k)
{
	if (!k->reply_bytes)
		k->reply_bytes = bound_reply(k);
	return run_unknown(s, k);
}

/* -- the table ------------------------------------------------------------- */

static unsigned reducible(const struct mx_case *k)
{
	unsigned bits = 0;

	for (unsigned i = 0; i < k->n_items; i++)
		bits |= (k->item[i] >= 512) << i;
	return bits;
}

/* Octets before the targetable segments, and of the whole buffer. */
static void size_buffer(const struct mx_case *k, unsigned side, uint32_t least,
                        uint32_t *ret_head, uint32_t *ret_all)
{
	const struct rr_feature_config *f = &k->features[side];
	uint32_t targets = f->rtr_segments * f->rtr_segment_bytes;

	*ret_head = targets ? RR_MAX(1024, least - RR_MIN(least, targets)) : least;
	*ret_all = *ret_head + targets;
}

/* A segment that does not end within the longest Send of the client is of no use.
 *                                                              NS-rtrext-23 */
static bool reaches_segments(const struct mx_setting *s, const struct mx_case *k)
{
	uint32_t head, all, own_head, own_all;

	size_buffer(k, SERVER, s->to_server + 500, &head, &all);
	size_buffer(k, CLIENT, s->to_client, &own_head, &own_all);
	return k->features[SERVER].rtr_segments &&
	       head + k->features[SERVER].rtr_segment_bytes <=
	               RR_MAX(s->to_server, own_all);
}

/* With credits and continuation nothing prevents the types XMOPT.  They are used if
 * something is gained: items placed by Send, results that are directed, or a payload
 * that is too long for a base message.                                   [ext §5.8] */
static void expect_types(const struct mx_setting *s, const struct mx_case *k,
                         const struct mx_seen *got, bool long_call)
{
	unsigned items = reducible(k);
	bool sent = items && reaches_segments(s, k);
	bool directed = k->n_dests && k->direct != RR_DIRECT_NONE;

	assert_int_equal(got->family, sent || directed || long_call ? MX_RTR : MX_BASE);
	assert_int_equal(got->call_sent, sent ? items : 0);
	if (got->family == MX_RTR && long_call)
		assert_int_equal(got->call, MX_CONTINUED);
}

static void run_row(enum mx_dir dir, const struct shape *h, const struct structure *t,
                    enum rr_direct direct, unsigned row)
{
	bool long_call = row & 1, long_reply = row & 2, continues = row & 4;
	const struct mx_setting *s =
	        &mx_placement_settings[(row ^ direct) % MX_SETTINGS];
	struct mx_case k = {.dir = dir,
	                    .direct = direct,
	                    .filler_first = row % 2,
	                    .above = 4096,
	                    .call_filler = long_call ? 40000 : 44,
	                    .reply_filler = long_reply ? 40000 : 20};
	struct mx_seen got;

	set_shape(&k, h);
	set_features(&k, t, continues);
	k.reply_bytes = bound_reply(&k) + (direct % 2 ? 4004 : 0);
	got = run_placed(s, &k);
	if (dir != MX_FORWARD || s->version == 1)
		assert_int_equal(got.family, MX_BASE);
	else if (continues && s->credits >= 32)
		expect_types(s, &k, &got, long_call);
}

static void run_rows(enum mx_dir dir, enum rr_direct direct)
{
	for (unsigned h = 0; h < SHAPES; h++)
		for (unsigned t = 0; t < STRUCTURES; t++)
			for (unsigned row = 0; row < 8; row++)
				run_row(dir, &shapes[h], &structures[t], direct, row);
}

static void results_as_write_chunks(void **state)
{
	run_rows(MX_FORWARD, RR_DIRECT_NONE);
}

/* NS-s18-01 */
static void results_by_explicit_rdma(void **state)
{
	run_rows(MX_FORWARD, RR_DIRECT_WRITE);
}

/* NS-s18-04 */
static void results_by_send(void **state)
{
	run_rows(MX_FORWARD, RR_DIRECT_SEND);
}

/* NS-s18-02 */
static void results_by_choice(void **state)
{
	run_rows(MX_FORWARD, RR_DIRECT_CHOICE);
}

/* NS-s18-03 */
static void results_by_size(void **state)
{
	run_rows(MX_FORWARD, RR_DIRECT_BY_SIZE);
}

/* A server sends its Calls by base types, whatever has been agreed. */
static void reverse_calls_have_base_types(void **state)
{
	for (unsigned dir = MX_REVERSE; dir < MX_DIRS; dir++)
		for (unsigned h = 0; h < SHAPES; h++)
			run_row(dir, &shapes[h], &structures[1], h % DIRECTS,
			        dir == MX_REVERSE_SIMPLE ? 4 : 4 | h % 4);
}

/* A request and a response in one transmission, in several, and with the payload in a
 * chunk. */
static void the_table_covers_what_types_there_are(void **state)
{
	if (mx_placement_settings[0].version == 1)
		return;
	for (unsigned call = MX_SIMPLE; call <= MX_SPECIAL; call++)
		for (unsigned reply = MX_SIMPLE; reply <= MX_SPECIAL; reply++)
			if (!seen[call][reply])
				fail_msg("never a request of format %u with a response "
				         "of %u",
				         call, reply);
	assert_true(n_placed > 100);
	assert_true(n_reserved > 100);
	print_message("    %u rows, %u with items placed by Send, %u with Receives "
	              "reserved\n",
	              DIRECTS * SHAPES * STRUCTURES * 8, n_placed, n_reserved);
}

/* -- directions ------------------------------------------------------------ */

static struct mx_case three_results(enum rr_direct direct, const struct structure *t)
{
	struct mx_case k = {.n_dests = 3,
	                    .n_results = 3,
	                    .dest = {4096, 8192, 16384},
	                    .result = {4096, 8192, 16384},
	                    .direct = direct,
	                    .call_filler = 4,
	                    .reply_filler = 4};

	set_features(&k, t, true);
	return k;
}

/* NS-s16-04, NS-s17-05, NS-s18-05: lengths around the least one and the one above which
 * results are written, with every kind of direction. */
static void results_around_their_limits(void **state)
{
	for (unsigned direct = 0; direct < DIRECTS; direct++)
		for (unsigned t = 0; t < STRUCTURES; t++)
			for (size_t n = 1000; n <= 1004; n++) {
				struct mx_case k = {.n_dests = 3,
				                    .n_results = 3,
				                    .dest = {2000, 2000, 2000},
				                    .result = {n, 2 * n, 2004 - n},
				                    .direct = direct,
				                    .min_len = 1002,
				                    .above = 2004,
				                    .reply_filler = 8};

				k.above = direct == RR_DIRECT_BY_SIZE && n % 2 ? 1003
				                                               : 2004;
				k.result[1] = RR_MIN(k.result[1], k.dest[1]);
				set_features(&k, &structures[t], true);
				(void)run_placed(&mx_placement_settings[n % 4], &k);
			}
}

/* NS-s14-02, NS-s16-03, NS-s17-02, NS-s17-03: an operation without a result does not
 * shift the others; a result too many stays in the payload. */
static void results_belong_to_their_operations(void **state)
{
	static const struct {
		unsigned n, operation[MX_ITEMS];
	} rows[] = {
	        {4, {0, 0, 1, 1}}, {2, {0, 1}},       {2, {1, 1}}, {1, {1}},
	        {3, {0, 0, 0}},    {4, {0, 1, 1, 1}}, {0, {0}},
	};

	for (unsigned direct = RR_DIRECT_WRITE; direct < DIRECTS; direct++)
		for (unsigned t = 0; t < STRUCTURES; t++)
			for (unsigned row = 0; row < RR_ARRAY_SIZE(rows); row++) {
				struct mx_case k = {.n_dests = 4,
				                    .n_results = rows[row].n,
				                    .dest = {700, 2100, 1300, 900},
				                    .result = {700, 611, 900, 613},
				                    .direct = direct,
				                    .above = 650,
				                    .ranges = true,
				                    .call_filler = 400};

				memcpy(k.operation, rows[row].operation,
				       sizeof(k.operation));
				set_features(&k, &structures[t], true);
				(void)run_placed(&mx_placement_settings[row % 4], &k);
			}
}

/* NS-rtrext-20: a result that is too long for the segments that it must be written to
 * is refused, whatever its number; one that may be placed by Send is not. */
static void segments_too_short_are_refused(void **state)
{
	for (unsigned direct = 0; direct < DIRECTS; direct++)
		for (unsigned t = 0; t < STRUCTURES; t++)
			for (unsigned i = 0; i < 3; i++) {
				struct mx_case k =
				        three_results(direct, &structures[t]);
				const struct mx_setting *s =
				        &mx_placement_settings[(t + i) % 4];
				bool able =
				        direct == RR_DIRECT_SEND && structures[t].n[0];

				if (direct == RR_DIRECT_CHOICE && structures[t].n[0])
					continue; /* would be placed by Send and not fit */
				k.above = 4000;
				k.dest[i] = k.result[i] - !able;
				(void)run_placed(s, &k);
			}
}

/* NS-rtrext-21: the Responder may send two transmissions, which do not hold all three
 * results; then tbsn_max leaves the longest out from the start. */
static void the_longest_choice_is_written_first(void **state)
{
	static const struct structure eight = {{1, 1}, {8192, 8192}};
	static const struct {
		uint32_t responses, tbsn_max; /* 0 = default */
		unsigned sent;                /* bit mask of results */
	} rows[] = {{0, 0, 7}, {2, 0, 3}, {1, 0, 1}, {64, 8191, 1}, {64, 8192, 3}};
	const struct mx_setting *by = &mx_placement_settings[0];

	if (by->version == 1)
		return;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(rows); i++) {
		struct mx_case k = three_results(RR_DIRECT_CHOICE, &eight);

		if (rows[i].responses)
			k.features[SERVER].rtr_responses = rows[i].responses;
		if (rows[i].tbsn_max)
			k.features[SERVER].tbsn_max = rows[i].tbsn_max;
		assert_int_equal(run_placed(by, &k).reply_sent, rows[i].sent);
	}
}

/* -- limits ---------------------------------------------------------------- */

/* NS-s20-03, NS-s21-03 to -05, NS-rtrext-05, NS-rtrext-06: every limit of both ends. */
static void groups_stay_within_every_limit(void **state)
{
	static const struct shape both = {1, 1, 1, {30000}, {30000}, {29999}};

	for (uint32_t most = 1; most <= 12; most++)
		for (unsigned direct = RR_DIRECT_WRITE; direct < DIRECTS; direct++)
			for (unsigned t = 0; t < STRUCTURES; t++) {
				struct mx_case k = {.direct = direct,
				                    .above = 20000,
				                    .call_filler = most % 2 ? 4 : 20000,
				                    .reply_filler =
				                            most % 3 ? 4 : 20000};

				set_shape(&k, &both);
				set_features(&k, &structures[t], true);
				k.features[SERVER].rtr_requests = most;
				k.features[SERVER].rtr_responses = 13 - most;
				(void)run_placed(&mx_placement_settings[most % 4], &k);
			}
}

/* NS-s10-02, NS-rtissues-04, -05, NS-rtrext-17: each ability may be missing at one
 * end. */
static void abilities_may_be_unequal(void **state)
{
	for (unsigned missing = 0; missing < 64; missing++)
		for (unsigned h = 0; h < SHAPES; h++) {
			struct mx_case k = {.direct = RR_DIRECT_WRITE + h % 4,
			                    .above = 4000,
			                    .call_filler = h % 3 ? 8 : 9000,
			                    .reply_filler = h % 4 ? 8 : 9000};
			struct structure t = structures[4];

			set_shape(&k, &shapes[h]);
			t.n[CLIENT] = missing & 1 ? 0 : t.n[CLIENT];
			t.n[SERVER] = missing & 2 ? 0 : t.n[SERVER];
			set_features(&k, &t, true);
			k.features[CLIENT].rtr_no_continuation = missing & 4;
			k.features[SERVER].rtr_no_continuation = missing & 8;
			k.features[SERVER].rtr_no_send_results = missing & 16;
			if (missing & 32)
				k.features[SERVER].on = 0;
			(void)run_placed(&mx_placement_settings[missing % 4], &k);
		}
}

/* NS-s21-02, NS-rtrext-21: a Reply longer than was expected fits neither the Receives
 * reserved nor the Reply chunk. */
static void responses_that_do_not_fit_are_refused(void **state)
{
	unsigned refused = 0;

	for (unsigned direct = RR_DIRECT_WRITE; direct < DIRECTS; direct++)
		for (size_t bound = 100; bound <= 60000; bound *= 7)
			for (unsigned i = 0; i < MX_SETTINGS; i++) {
				struct mx_case k = {.n_dests = 1,
				                    .n_results = 1,
				                    .dest = {5000},
				                    .result = {4999},
				                    .direct = direct,
				                    .above = 6000,
				                    .reply_bytes = bound,
				                    .reply_filler = 61000};

				set_features(&k, &structures[1], true);
				refused += run_placed(&mx_placement_settings[i], &k)
				                   .reply == MX_REFUSED;
			}
	if (mx_placement_settings[0].version == 2)
		assert_true(refused > 10);
}

/* A result that is longer than its memory, and than all Receives reserved: a longer Reply
 * chunk would not help, and the error has no length.               [ext §5.5] */
static void items_that_do_not_fit_are_refused_without_a_length(void **state)
{
	for (unsigned i = 0; i < MX_SETTINGS; i++) {
		struct mx_case k = {.n_dests = 1,
		                    .n_results = 1,
		                    .dest = {100},
		                    .result = {50000},
		                    .direct = RR_DIRECT_SEND,
		                    .reply_filler = 4000};

		set_features(&k, &structures[1], true);
		assert_int_equal(run_placed(&mx_placement_settings[i], &k).reply,
		                 MX_REFUSED);
	}
}

/* NS-s15-01, NS-s20-03: the longest items that do not fit are read, the others are placed
 * by Send.  The header has both kinds in the order of their positions. */
static void items_that_do_not_fit_are_read(void **state)
{
	static const struct structure eight = {{1, 1}, {8192, 8192}};
	static const size_t items[][3] = {{30000, 8000, 1000},
	                                  {1000, 30000, 8000},
	                                  {8000, 1000, 30000},
	                                  {8000, 8000, 8000}};
	static const unsigned sent[][4] = {
	        {0, 4, 6, 7}, {0, 1, 5, 7}, {0, 2, 3, 7}, {0, 1, 3, 7}};

	if (mx_placement_settings[0].version == 1)
		return;
	for (unsigned i = 0; i < RR_ARRAY_SIZE(items); i++)
		for (unsigned n = 0; n < 4; n++) {
			static const uint32_t most[] = {1, 1, 2, 6};
			struct mx_case k = {.n_items = 3,
			                    .call_filler = n ? 8 : 3000,
			                    .reply_filler = 8};
			struct mx_seen got;

			memcpy(k.item, items[i], sizeof(items[i]));
			set_features(&k, &eight, true);
			k.features[SERVER].rtr_requests = most[n];
			got = run_placed(&mx_placement_settings[0], &k);
			assert_int_equal(got.call_sent, sent[i][n]);
		}
}

/* [O13]: a Call whose reply has no known length is a request only if something is placed
 * by Send, and if enough Receives can be reserved. */
static void replies_of_unknown_length_are_short(void **state)
{
	unsigned groups = 0;

	for (unsigned direct = 0; direct < DIRECTS; direct++)
		for (unsigned h = 0; h < SHAPES; h++)
			for (unsigned t = 0; t < STRUCTURES; t++) {
				struct mx_case k = {.direct = direct,
				                    .above = 4000,
				                    .call_filler = t % 2 ? 8 : 20000,
				                    .reply_filler = h % 2 ? 8 : 3000};

				set_shape(&k, &shapes[h]);
				set_features(&k, &structures[t], h % 3);
				groups +=
				        run_unknown(&mx_placement_settings[(h + t) % 4],
				                    &k)
				                .family == MX_RTR;
			}
	if (mx_placement_settings[0].version == 2)
		assert_in_range(groups, 50, DIRECTS * SHAPES * STRUCTURES - 50);
}

/* RR-4.1.1-03: a reply that is too long for its response is exposed, but not if results
 * were directed: only a response can return them. */
static void replies_too_long_for_a_response_are_exposed(void **state)
{
	unsigned exposed = 0, refused = 0;

	for (unsigned h = 0; h < SHAPES; h++)
		for (unsigned i = 0; i < MX_SETTINGS; i++)
			for (unsigned unknown = 0; unknown < 2; unknown++) {
				struct mx_case k = {.call_filler = 40000,
				                    .reply_filler = 70000,
				                    .direct = RR_DIRECT_WRITE};
				struct mx_seen got;

				set_shape(&k, &shapes[h]);
				set_features(&k, &structures[1], true);
				add_exposure(&k);
				k.reply_bytes = unknown ? 0 : 100;
				got = run_unknown(&mx_placement_settings[i], &k);
				exposed +=
				        got.family == MX_RTR && got.reply == MX_EXPOSED;
				refused += got.reply == MX_REFUSED;
			}
	if (mx_placement_settings[0].version == 2)
		assert_true(exposed > 4 && refused > 4);
}

/* -- with the other features ----------------------------------------------- */

/* RI-5.2-04, NS-rtrext-19: the handle that each policy names, and the last transmission
 * of the response invalidates. */
static void requests_name_handles(void **state)
{
	for (unsigned policy = RR_INV_LARGEST; policy <= RR_INV_SINGLE; policy++)
		for (unsigned h = 0; h < SHAPES; h++)
			for (unsigned row = 0; row < 8; row++) {
				struct mx_case k = {
				        .direct = RR_DIRECT_WRITE + (h + row) % 4,
				        .above = 4000,
				        .call_filler = row & 1 ? 30000 : 8,
				        .reply_filler = row & 2 ? 30000 : 8};

				set_shape(&k, &shapes[h]);
				set_features(&k, &structures[row & 4 ? 3 : 1], row & 4);
				mx_add_feature(&k, RR_FEATURE_REMINV);
				k.features[CLIENT].inv_policy = policy;
				(void)run_placed(&mx_placement_settings[1 + row % 3],
				                 &k);
			}
}

/* Calls that are not sent by the types XMOPT are sent by types of other features. */
static void all_features_together(void **state)
{
	for (unsigned dir = 0; dir < MX_DIRS; dir++)
		for (unsigned h = 0; h < SHAPES; h++)
			for (unsigned row = 0; row < 16; row++) {
				struct mx_case k = {.dir = dir,
				                    .direct = row % DIRECTS,
				                    .above = 4000,
				                    .call_filler = row & 1 ? 30000 : 8,
				                    .reply_filler =
				                            row & 2 ? 30000 : 8};

				if (dir == MX_REVERSE_SIMPLE)
					k.call_filler = k.reply_filler = 8;
				set_shape(&k, &shapes[h]);
				set_features(&k, &structures[row / 4], row & 1);
				for (unsigned f = 0; f < RR_FEATURES; f++)
					mx_add_feature(&k, f);
				add_exposure(&k);
				(void)run_placed(&mx_placement_settings[row % 4], &k);
			}
}

const struct CMUnitTest mx_placement_tests[] = {
        cmocka_unit_test(results_as_write_chunks),
        cmocka_unit_test(results_by_explicit_rdma),
        cmocka_unit_test(results_by_send),
        cmocka_unit_test(results_by_choice),
        cmocka_unit_test(results_by_size),
        cmocka_unit_test(reverse_calls_have_base_types),
        cmocka_unit_test(the_table_covers_what_types_there_are),
        cmocka_unit_test(results_around_their_limits),
        cmocka_unit_test(results_belong_to_their_operations),
        cmocka_unit_test(segments_too_short_are_refused),
        cmocka_unit_test(the_longest_choice_is_written_first),
        cmocka_unit_test(groups_stay_within_every_limit),
        cmocka_unit_test(abilities_may_be_unequal),
        cmocka_unit_test(responses_that_do_not_fit_are_refused),
        cmocka_unit_test(items_that_do_not_fit_are_refused_without_a_length),
        cmocka_unit_test(items_that_do_not_fit_are_read),
        cmocka_unit_test(replies_of_unknown_length_are_short),
        cmocka_unit_test(replies_too_long_for_a_response_are_exposed),
        cmocka_unit_test(requests_name_handles),
        cmocka_unit_test(all_features_together),
};
const size_t mx_placement_count = RR_ARRAY_SIZE(mx_placement_tests);
