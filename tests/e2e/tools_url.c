/* SPDX-License-Identifier: BSD-3-Clause */
/* The URLs of the NFS tools: what is understood, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "client/url.c"

static const struct {
	const char *text, *host, *port, *export, *path;
	bool slash;
} good[] = {
        {"nfs://h", "h", "20049", "", "", false},
        {"nfs://h/", "h", "20049", "", "", true},
        {"nfs://h:7/e", "h", "7", "/e", "", false},
        {"nfs://10.0.0.1:65535/e/a/b", "10.0.0.1", "65535", "/e", "a/b", false},
        {"nfs://[::1]/e/a/", "::1", "20049", "/e", "a", true},
        {"nfs://[fe80::1%25eth0]:2049//e///a//b", "fe80::1%25eth0", "2049", "/e", "a/b",
         false},
        {"nfs://h/e/%41%20%25%ff%0A", "h", "20049", "/e", "A %\xff\n", false},
        {"nfs://h/%65/../.", "h", "20049", "/e", "../.", false},
};

static const char *const bad[] = {
        "http://h/e",     "nfs:/h/e",         "nfs://",        "nfs:///e",
        "nfs://:1/e",     "nfs://h:/e",       "nfs://h:0/e",   "nfs://h:65536/e",
        "nfs://h:1x/e",   "nfs://h:123456/e", "nfs://::1/e",   "nfs://[::1/e",
        "nfs://[::1]1/e", "nfs://[]/e",       "nfs://h/e/%",   "nfs://h/e/%4",
        "nfs://h/e/%4/5", "nfs://h/e/%g0",    "nfs://h/e/%00", "nfs://h/e/a%2fb",
        "nfs://h/%2F",
};

static void urls_understood(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		const char *why = NULL;
		struct url u;

		assert_int_equal(url_parse(good[i].text, &u, &why), 0);
		assert_string_equal(u.host, good[i].host);
		assert_string_equal(u.port, good[i].port);
		assert_string_equal(u.export, good[i].export);
		assert_string_equal(u.path, good[i].path);
		assert_int_equal(u.slash, good[i].slash);
		url_fini(&u);
	}
}

static void urls_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *why = NULL;
		struct url u;

		assert_true(url_parse(bad[i], &u, &why) < 0);
		assert_non_null(why);
	}
}

static void hosts(void **state)
{
	const char *why = NULL;
	char text[300];
	struct url u;

	(void)state;
	assert_int_equal(url_parse_host("h:1", &u, &why), 0);
	url_host_text(&u, text, sizeof(text));
	assert_string_equal(text, "h:1");
	assert_int_equal(url_parse_host("[::1]", &u, &why), 0);
	url_host_text(&u, text, sizeof(text));
	assert_string_equal(text, "[::1]:20049");
	assert_true(url_parse_host("h/e", &u, &why) < 0);
	assert_true(url_parse_host("", &u, &why) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(urls_understood),
	        cmocka_unit_test(urls_refused),
	        cmocka_unit_test(hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
