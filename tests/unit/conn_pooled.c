/* SPDX-License-Identifier: BSD-3-Clause */
/* Pooled Receives: a Receive buffer has memory only while it has a message. */
#include "test_conn_raw.h"

#define CALL_55 "00000055" MSG EMPTY CALL("00000055")

static struct side *pooled_server(void)
{
	const struct rr_conn_config cfg = {.pooled_receives = true};

	raw_held = NULL;
	return raw_ready(RR_CONN_SERVER, &cfg);
}

static uint64_t next_token(const struct side *s)
{
	return s->posted[s->posted_head % SIDE_QUEUE].token;
}

static void posted_receives_have_no_memory(void **state)
{
	struct side *s = pooled_server();

	assert_true(s->posted_tail - s->posted_head >= 34);
	for (unsigned i = s->posted_head; i != s->posted_tail; i++)
		assert_null(s->posted_base[i % SIDE_QUEUE]);
	raw_end(s);
}

/* However many Calls come, no more memory is in use than for one of them. */
static void calls_use_the_same_memory(void **state)
{
	struct side *s = pooled_server();
	size_t used;

	s->on_request = raw_hold;
	raw_receive(s, CALL_55); /* what a first Call allocates for good */
	raw_answer_held(s, 16);
	side_complete_all(s);
	raw_skip(s);
	used = s->mem_used;
	for (unsigned i = 0; i < 100; i++) {
		raw_receive(s, CALL_55);
		assert_non_null(raw_held);
		assert_int_equal(s->mem_used, used);
		raw_answer_held(s, 16);
		side_complete_all(s);
		assert_int_equal(s->mem_used, used);
		raw_skip(s);
	}
	raw_end(s);
}

/* A message that nobody keeps leaves nothing, faulty or not. */
static void other_messages_leave_nothing(void **state)
{
	struct side *s = pooled_server();
	size_t used = 0;

	for (unsigned i = 0; i < 3; i++) {
		raw_receive(s, "00000000" V2 "00000001 00000000" EMPTY); /* a grant */
		raw_receive(s, "00000055 00000002");                     /* too short */
		raw_receive(s, "");
		assert_true(!i || s->mem_used == used);
		used = s->mem_used;
	}
	raw_end(s);
}

/* A long message does not make the connection keep much. */
static void little_memory_is_kept(void **state)
{
	const struct rr_conn_config cfg = {.pooled_receives = true,
	                                   .recv_bytes = 65536};
	struct side *s = raw_ready(RR_CONN_SERVER, &cfg);
	size_t used = 0;
	uint8_t *m = calloc(1, 65536);

	m[7] = 9; /* an unknown version */
	for (size_t len = 5000; len <= 65536; len += 5000) {
		side_receive(s, m, len, 0);
		side_complete_all(s);
		raw_skip(s); /* the refusal */
		assert_true(!used || s->mem_used == used);
		used = s->mem_used;
	}
	free(m);
	raw_end(s);
}

static void memory_grows_and_keeps_its_octets(void **state)
{
	struct side *s = pooled_server();
	size_t used = s->mem_used;
	uint8_t *p = rr_conn_receive_memory(s->c, next_token(s), 0, 10);

	memcpy(p, "0123456789", 10);
	p = rr_conn_receive_memory(s->c, next_token(s), 10, 4096);
	assert_in_range(s->mem_used, used, used + 4096);
	assert_memory_equal(p, "0123456789", 10);
	memset(p, 1, 4096);
	/* The message never arrives whole. */
	raw_end(s);
}

static void without_memory_the_receive_stays_posted(void **state)
{
	struct side *s = pooled_server();
	uint64_t token = next_token(s);

	s->mem_fail_at = 1;
	assert_null(rr_conn_receive_memory(s->c, token, 0, 1000));
	assert_non_null(rr_conn_receive_memory(s->c, token, 0, 1000));
	s->mem_fail_at = 1;
	assert_null(rr_conn_receive_memory(s->c, token, 1000, 2000));
	raw_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(posted_receives_have_no_memory),
	        cmocka_unit_test(calls_use_the_same_memory),
	        cmocka_unit_test(other_messages_leave_nothing),
	        cmocka_unit_test(little_memory_is_kept),
	        cmocka_unit_test(memory_grows_and_keeps_its_octets),
	        cmocka_unit_test(without_memory_the_receive_stays_posted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
