/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which extensions can be used together, and with the base.   [v2 §B, V2-B.4-03]
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <rpcrdma/extension.h>

static uint32_t take(struct rpcrdma_channel *c,
                     const struct rpcrdma_extension_message *m, void *arg)
{
	return 0;
}

static void hear(struct rpcrdma_channel *c, enum rpcrdma_property_event what,
                 const void *data, size_t len, void *arg)
{
}

/* An extension with up to two of each. */
struct sample {
	struct rpcrdma_extension e;
	struct rpcrdma_extension_htype h[20];
	struct rpcrdma_extension_property p[20];
	uint32_t code[20];
};

static void init(struct sample *s)
{
	memset(s, 0, sizeof(*s));
	s->e = (struct rpcrdma_extension){.size = sizeof(s->e),
	                                  .htypes = s->h,
	                                  .properties = s->p,
	                                  .errors = s->code};
}

static void add_htype(struct sample *s, uint32_t number, uint32_t flags)
{
	s->h[s->e.n_htypes++] = (struct rpcrdma_extension_htype){number, flags, take};
}

static void add_property(struct sample *s, uint32_t id)
{
	s->p[s->e.n_properties++] =
	        (struct rpcrdma_extension_property){.id = id, .received = hear};
}

static void add_error(struct sample *s, uint32_t code)
{
	s->code[s->e.n_errors++] = code;
}

static int check(const struct sample *a, const struct sample *b)
{
	const struct rpcrdma_extension *list[] = {&a->e, b ? &b->e : NULL};

	return rpcrdma_extensions_check(list, b ? 2 : 1);
}

static void header_types_of_the_base_are_refused(void **state)
{
	for (uint32_t n = 0; n < 10; n++) { /* 2 and 3 are reserved */
		struct sample s;

		init(&s);
		add_htype(&s, n, 0);
		assert_int_equal(check(&s, NULL), n <= 5 ? -EEXIST : 0);
	}
}

static void properties_of_the_base_are_refused(void **state)
{
	for (uint32_t n = 0; n < 10; n++) {
		struct sample s;

		init(&s);
		add_property(&s, n);
		assert_int_equal(check(&s, NULL), n >= 1 && n <= 6 ? -EEXIST : 0);
	}
}

static void error_codes_of_the_base_are_refused(void **state)
{
	for (uint32_t n = 0; n < 105; n++) {
		struct sample s;

		init(&s);
		add_error(&s, n);
		assert_int_equal(check(&s, NULL), n <= 10 || n == 100 ? -EEXIST : 0);
	}
}

static void flags_of_the_base_are_refused(void **state)
{
	for (unsigned bit = 0; bit < 32; bit++) {
		struct sample s;

		init(&s);
		add_htype(&s, 0x80000000, 1u << bit);
		assert_int_equal(check(&s, NULL), bit < 3 ? -EEXIST : 0);
	}
}

static void a_number_stands_once_in_an_extension(void **state)
{
	struct sample s;

	init(&s);
	add_htype(&s, 7, 0x10);
	add_htype(&s, 8, 0x10); /* a flag may serve both */
	assert_int_equal(check(&s, NULL), 0);
	add_htype(&s, 7, 0);
	assert_int_equal(check(&s, NULL), -EEXIST);
	init(&s);
	add_property(&s, 0x80000001);
	add_property(&s, 0x80000001);
	assert_int_equal(check(&s, NULL), -EEXIST);
	init(&s);
	add_error(&s, 1000);
	add_error(&s, 1000);
	assert_int_equal(check(&s, NULL), -EEXIST);
}

static void two_extensions_have_no_number_in_common(void **state)
{
	struct sample a, b;

	init(&a);
	add_htype(&a, 7, 0x10);
	add_property(&a, 7);
	add_error(&a, 7000);
	init(&b);
	add_htype(&b, 8, 0x20);
	add_property(&b, 8);
	add_error(&b, 8000);
	assert_int_equal(check(&a, &b), 0);
	assert_int_equal(check(&a, &a), -EEXIST);
	b.h[0].number = 7;
	assert_int_equal(check(&a, &b), -EEXIST);
	b.h[0].number = 8;
	b.h[0].flags = 0x30;
	assert_int_equal(check(&a, &b), -EEXIST);
	b.h[0].flags = 0x20;
	b.p[0].id = 7;
	assert_int_equal(check(&a, &b), -EEXIST);
	b.p[0].id = 8;
	b.code[0] = 7000;
	assert_int_equal(check(&a, &b), -EEXIST);
}

static void there_are_limits(void **state)
{
	const struct rpcrdma_extension *list[9];
	struct sample s, none;

	for (unsigned n = 16; n <= 17; n++) {
		int want = n > 16 ? -E2BIG : 0;

		init(&s);
		for (uint32_t i = 0; i < n; i++)
			add_htype(&s, 100 + i, 0);
		assert_int_equal(check(&s, NULL), want);
		init(&s);
		for (uint32_t i = 0; i < n; i++)
			add_property(&s, 100 + i);
		assert_int_equal(check(&s, NULL), want);
		init(&s);
		for (uint32_t i = 0; i < n; i++)
			add_error(&s, 1000 + i);
		assert_int_equal(check(&s, NULL), want);
	}
	init(&none);
	for (unsigned i = 0; i < 9; i++)
		list[i] = &none.e;
	assert_int_equal(rpcrdma_extensions_check(list, 8), 0);
	assert_int_equal(rpcrdma_extensions_check(list, 9), -E2BIG);
	assert_int_equal(rpcrdma_extensions_check(NULL, 0), 0);
}

static void misuse_is_refused(void **state)
{
	struct sample s;

	assert_int_equal(rpcrdma_extensions_check(NULL, 1), -EINVAL);
	init(&s);
	s.e.size = 8;
	assert_int_equal(check(&s, NULL), -EINVAL);
	init(&s);
	add_htype(&s, 7, 0);
	s.h[0].received = NULL;
	assert_int_equal(check(&s, NULL), -EINVAL);
	s.e.htypes = NULL;
	assert_int_equal(check(&s, NULL), -EINVAL);
	init(&s);
	add_property(&s, 7);
	s.p[0].value = ""; /* no octets stand for the default [V2-5.1-04] */
	assert_int_equal(check(&s, NULL), -EINVAL);
	s.p[0].received = NULL;
	assert_int_equal(check(&s, NULL), -EINVAL);
}

/* A connection or a listener is not made with what cannot be used. */
static void connections_and_listeners_refuse_them_too(void **state)
{
	struct rpcrdma_conn_options o = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	const struct rpcrdma_extension *list[1];
	struct rpcrdma_listener *listener;
	struct rpcrdma_service *service;
	struct rpcrdma_engine *engine;
	struct rpcrdma_conn *conn;
	struct sample s;

	init(&s);
	add_htype(&s, 1, 0);
	list[0] = &s.e;
	o.extensions = list;
	o.n_extensions = 1;
	assert_int_equal(rpcrdma_engine_new(NULL, &engine), 0);
	assert_int_equal(rpcrdma_service_new(&service), 0);
	assert_int_equal(
	        rpcrdma_connect(engine, "127.0.0.1", "1", &o, NULL, NULL, &conn),
	        -EEXIST);
	assert_int_equal(
	        rpcrdma_listen(engine, "127.0.0.1:0", &o, service, 0, &listener),
	        -EEXIST);
	rpcrdma_service_free(service);
	rpcrdma_engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(header_types_of_the_base_are_refused),
	        cmocka_unit_test(properties_of_the_base_are_refused),
	        cmocka_unit_test(error_codes_of_the_base_are_refused),
	        cmocka_unit_test(flags_of_the_base_are_refused),
	        cmocka_unit_test(a_number_stands_once_in_an_extension),
	        cmocka_unit_test(two_extensions_have_no_number_in_common),
	        cmocka_unit_test(there_are_limits),
	        cmocka_unit_test(misuse_is_refused),
	        cmocka_unit_test(connections_and_listeners_refuse_them_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
