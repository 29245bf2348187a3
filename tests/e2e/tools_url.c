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
	uint16_t mount_port;
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
        {"nfs://h/e/a?mountport=7", "h", "20049", "/e", "a", false, 7},
        {"nfs://h/e/?nfsport=2049&mountport=65535", "h", "2049", "/e", "", true, 65535},
        {"nfs://h?mountport=1", "h", "20049", "", "", false, 1},
        {"nfs://h/e/a%3Fb=c", "h", "20049", "/e", "a?b=c", false},
};

static const char *const bad[] = {
        "http://h/e",
        "nfs:/h/e",
        "nfs://",
        "nfs:///e",
        "nfs://:1/e",
        "nfs://h:/e",
        "nfs://h:0/e",
        "nfs://h:65536/e",
        "nfs://h:1x/e",
        "nfs://h:123456/e",
        "nfs://::1/e",
        "nfs://[::1/e",
        "nfs://[::1]1/e",
        "nfs://[]/e",
        "nfs://h/e/%",
        "nfs://h/e/%4",
        "nfs://h/e/%4/5",
        "nfs://h/e/%g0",
        "nfs://h/e/%00",
        "nfs://h/e/a%2fb",
        "nfs://h/%2F",
        /* keys */
        "nfs://h/e?",
        "nfs://h/e?mountport",
        "nfs://h/e?mountport=",
        "nfs://h/e?mountport=0",
        "nfs://h/e?mountport=65536",
        "nfs://h/e?mountport=+1",
        "nfs://h/e?mountport=1/a",
        "nfs://h/e?mountport=1&",
        "nfs://h/e?mountport=1&mountport=1",
        "nfs://h:1/e?nfsport=1",
        "nfs://h/e?nfsport=1&nfsport=1",
        "nfs://h/e?mountports=1",
        "nfs://h/e?=1",
        "nfs://h/e?version=3",
        "nfs://?mountport=1",
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
		assert_int_equal(u.mount_port, good[i].mount_port);
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

/* What is not understood is named. */
static void keys_are_named(void **state)
{
	const char *why;
	struct url u;

	(void)state;
	assert_true(url_parse("nfs://h/e?mountport=1&proto=rdma", &u, &why) < 0);
	assert_non_null(strstr(why, "unknown key 'proto'"));
	assert_true(url_parse("nfs://h/e?mountport=x", &u, &why) < 0);
	assert_non_null(strstr(why, "mountport is not a number"));
	assert_true(url_parse("nfs://h/e?nfsport=1&nfsport=2", &u, &why) < 0);
	assert_non_null(strstr(why, "nfsport is given twice"));
}

/* An export has as many names as the server says. */
static void exports(void **state)
{
	static const struct {
		const char *url, *export, *path; /* path NULL: it is not below */
	} t[] = {
	        {"nfs://h/srv/nfs/a/b", "/srv/nfs", "a/b"},
	        {"nfs://h/srv/nfs/a/b", "/srv/nfs/a/b", ""},
	        {"nfs://h/srv/nfs", "/srv", "nfs"},
	        {"nfs://h/srv/nfs/a", "/", "srv/nfs/a"},
	        {"nfs://h/srv", "/", "srv"},
	        {"nfs://h/srv/nfs/a", "/srv/nf", NULL},
	        {"nfs://h/srv/nfs", "/srv/nfs/a", NULL},
	        {"nfs://h/srv/nfs", "/srv/nfsa", NULL},
	        {"nfs://h/srv/nfs", "/sr", NULL},
	        {"nfs://h/srv/nfs", "srv", NULL},
	        {"nfs://h/srv/nfs", "", NULL},
	        {"nfs://h/srv", "/srv/", NULL},
	};
	const char *why;
	struct url u;

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		assert_int_equal(url_parse(t[i].url, &u, &why), 0);
		assert_int_equal(url_is_below(&u, t[i].export), t[i].path != NULL);
		if (t[i].path) {
			assert_int_equal(url_rebase(&u, t[i].export), 0);
			assert_string_equal(u.export, t[i].export);
			assert_string_equal(u.path, t[i].path);
		}
		url_fini(&u);
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
	assert_true(url_parse_host("h?nfsport=1", &u, &why) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(urls_understood), cmocka_unit_test(urls_refused),
	        cmocka_unit_test(keys_are_named),  cmocka_unit_test(exports),
	        cmocka_unit_test(hosts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
