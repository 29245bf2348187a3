/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of exports (tools/nfsd/exports_file.c, clients.c): what each line means, which line
 * and word is to blame for one that means nothing, and which client a peer is.
 */
#include "nfsd/nfsd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static const struct grant defaults = {
        .squash = {true, false, 65534, 65534},
        .flavors = {.list = {1, 0}, .n = 2, .sys = true},
        .read_only = true,
};

static struct exports_file got;
static char why[EXPORTS_REASON_BYTES];

static int parse(const char *text)
{
	return exports_parse("f", text, strlen(text), &defaults, &got, why);
}

static int end(void **state)
{
	(void)state;
	exports_free(&got);
	return 0;
}

/* "ro root anon 65534:65534 flavors 1 0 low wcc", what differs from nothing. */
static void print_grant(FILE *f, const struct export_client *c)
{
	const struct grant *g = &c->grant;

	fprintf(f, "%s %s%s%s%u:%u%s", c->text, g->read_only ? "ro " : "rw ",
	        g->squash.root ? "" : "noroot ", g->squash.all ? "all " : "",
	        (unsigned)g->squash.anon_uid, (unsigned)g->squash.anon_gid,
	        g->low_ports ? " low" : "");
	for (unsigned i = 0; i < g->flavors.n; i++)
		fprintf(f, " %d", g->flavors.list[i]);
	fprintf(f, "%s%s;", c->export_options.wcc ? " wcc" : "",
	        c->export_options.crossmnt ? " crossmnt" : "");
}

/* All that was understood, in one line. */
static const char *said(void)
{
	static char buf[4096];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	assert_non_null(f);
	for (unsigned i = 0; i < got.n; i++) {
		fprintf(f, "%s@%u:", got.all[i].spec, got.all[i].line);
		for (unsigned j = 0; j < got.all[i].clients.n; j++) {
			fputc(' ', f);
			print_grant(f, &got.all[i].clients.all[j]);
		}
		fputc('|', f);
	}
	fclose(f);
	return buf;
}

static const struct {
	const char *text, *means;
} good[] = {
        {"", ""},
        {"\n\n  # nothing\n\t\n", ""},
        {"/a *", "/a@1: * ro 65534:65534 1 0;|"},
        {"/a *\n", "/a@1: * ro 65534:65534 1 0;|"},
        {"/a *()", "/a@1: * ro 65534:65534 1 0;|"},
        {"\r\n /a\t*(rw)\r\n", "/a@2: * rw 65534:65534 1 0;|"},
        {"/a h(rw,ro)", "/a@1: h ro 65534:65534 1 0;|"},
        {"/a h(no_root_squash) i(root_squash)",
         "/a@1: h ro noroot 65534:65534 1 0; i ro 65534:65534 1 0;|"},
        {"/a h(all_squash,anonuid=0,anongid=4294967294)",
         "/a@1: h ro all 0:4294967294 1 0;|"},
        {"/a h(all_squash,no_all_squash)", "/a@1: h ro 65534:65534 1 0;|"},
        {"/a h(secure) i(secure,insecure)",
         "/a@1: h ro 65534:65534 low 1 0; i ro 65534:65534 1 0;|"},
        {"/a h(sec=krb5p:krb5)", "/a@1: h ro 65534:65534 390005 390003;|"},
        {"/a h(sec=krb5i:sys)", "/a@1: h ro 65534:65534 390004 1 0;|"},
        {"/a h(rw,sync,no_subtree_check,wcc)", "/a@1: h rw 65534:65534 1 0 wcc;|"},
        /* options of the line */
        {"/a h(crossmnt,hide) i(nocrossmnt) -crossmnt j k(nocrossmnt)",
         "/a@1: h ro 65534:65534 1 0 crossmnt; i ro 65534:65534 1 0;"
         " j ro 65534:65534 1 0 crossmnt; k ro 65534:65534 1 0;|"},
        {"/a -rw,anonuid=7,wcc h i(ro) -ro j",
         "/a@1: h rw 7:65534 1 0 wcc; i ro 7:65534 1 0 wcc; j ro 65534:65534 1 0;|"},
        {"/a h\n/b -rw h\n/c h",
         "/a@1: h ro 65534:65534 1 0;|/b@2: h rw 65534:65534 1 0;|/c@3: h ro "
         "65534:65534 1 0;|"},
        /* a directory again */
        {"/a h\n/b h\n/a i(rw)",
         "/a@1: h ro 65534:65534 1 0; i rw 65534:65534 1 0;|/b@2: h ro 65534:65534 1 "
         "0;|"},
        /* words */
        {"\"/a b\" h", "/a b@1: h ro 65534:65534 1 0;|"},
        {"/a\\040b h", "/a b@1: h ro 65534:65534 1 0;|"},
        {"/a\" # \"b h", "/a # b@1: h ro 65534:65534 1 0;|"},
        {"/a#b h#i # c", NULL}, /* h#i is no name */
        {"/a#b h # c /d", "/a#b@1: h ro 65534:65534 1 0;|"},
        {"/a\\043 h", "/a#@1: h ro 65534:65534 1 0;|"},
        {"/a\\134\\377 h", "/a\\\377@1: h ro 65534:65534 1 0;|"},
        {"/a:/b h", "/a:/b@1: h ro 65534:65534 1 0;|"},
        /* lines that go on */
        {"/a \\\n h\\\n\\\r\n i\n/b h",
         "/a@1: h ro 65534:65534 1 0; i ro 65534:65534 1 0;|/b@5: h ro 65534:65534 1 "
         "0;|"},
        {"# a \\\n b \n/c h", "/c@3: h ro 65534:65534 1 0;|"},
        {"/a h # a \\\n b i\n/c h",
         "/a@1: h ro 65534:65534 1 0;|/c@3: h ro 65534:65534 1 0;|"},
        /* clients */
        {"/a 192.0.2.0/24 192.0.2.0/255.255.254.0 0.0.0.0/0 2001:db8::/32 ::1 "
         "127.0.0.1",
         "/a@1: 192.0.2.0/24 ro 65534:65534 1 0; 192.0.2.0/255.255.254.0 ro "
         "65534:65534 "
         "1 0; 0.0.0.0/0 ro 65534:65534 1 0; 2001:db8::/32 ro 65534:65534 1 0; ::1 ro "
         "65534:65534 1 0; 127.0.0.1 ro 65534:65534 1 0;|"},
        {"/a a_b-c.example.org. 3com.example", NULL}, /* ends with a dot: see below */
        {"/a a_b-c.example.org 3com.example 10a",
         "/a@1: a_b-c.example.org ro 65534:65534 1 0; 3com.example ro 65534:65534 1 0; "
         "10a ro 65534:65534 1 0;|"},
};

static void lines_mean_what_exports_5_says(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int e = parse(good[i].text);

		if (!good[i].means) {
			assert_int_equal(e, -EINVAL);
			continue;
		}
		if (e)
			fail_msg("'%s': %s", good[i].text, why);
		assert_string_equal(said(), good[i].means);
		exports_free(&got);
	}
}

static const struct {
	const char *text, *why; /* what the message has, from its beginning */
} bad[] = {
        {"a h", "f:1: 'a' is not an absolute path"},
        {"(rw) /a h", "f:1: '(rw)' is not an absolute path"},
        {"\"\" h", "f:1: '' is not an absolute path"},
        {"/a", "f:1: no client is named for '/a'"},
        {"\n/a -rw\n", "f:2: no client is named for '/a'"},
        {"/a # h\n", "f:1: no client is named for '/a'"},
        {"/a(rw)", "f:1: no client is named for '/a(rw)'"},
        {"/a h (rw)", "f:1: '(rw)' has no client"},
        {"/a \"\"", "f:1: '()' has no client"},
        {"/a h(rw", "f:1: 'h(rw': options need one pair"},
        {"/a h(rw, ro)", "f:1: 'h(rw,': options need one pair"},
        {"/a h(rw))", "f:1: 'h(rw))': options need one pair"},
        {"/a h(rw)(ro)", "f:1: 'h(rw)(ro)': options need one pair"},
        {"/a h((rw)", "f:1: 'h((rw)': options need one pair"},
        {"/a h(rw)x", "f:1: 'h(rw)x': options need one pair"},
        {"/a h)", "f:1: 'h)' is not an address"},
        {"/a h(rw,,ro)", "f:1: an option is empty"},
        {"/a h(rw,)", "f:1: an option is empty"},
        {"/a -", "f:1: an option is empty"},
        {"/a h(RW)", "f:1: unknown option 'RW'"},
        {"/a h\n\n/b h\\\n i(rw,bogus)", "f:4: unknown option 'bogus'"},
        {"/a -rw,fsid=0 h", "f:1: unknown option 'fsid=0'"},
        {"/a h(async)", "f:1: unknown option 'async'"},
        {"/a h(crossmount)", "f:1: unknown option 'crossmount'"},
        {"/a h(nohide)", "f:1: 'nohide' is not supported"},
        {"/a h(anonuid)", "f:1: unknown option 'anonuid'"},
        {"/a h(anonuid=)", "f:1: 'anonuid=' needs a number"},
        {"/a h(anonuid=-2)", "f:1: 'anonuid=-2' needs a number"},
        {"/a h(anonuid=4294967295)", "f:1: 'anonuid=4294967295' needs a number"},
        {"/a h(anongid=1x)", "f:1: 'anongid=1x' needs a number"},
        {"/a h(sec=)", "f:1: 'sec=' needs flavors"},
        {"/a h(sec=krb4)", "f:1: 'sec=krb4' needs flavors"},
        {"/a h(sec=sys:)", "f:1: 'sec=sys:' needs flavors"},
        {"/a h(sec=sys,ro,sec=krb5,rw)", "f:1: 'sec=krb5' is a second sec="},
        {"/a @trusted", "f:1: '@trusted': netgroups are not supported"},
        {"/a *.lan(rw)", "f:1: '*.lan': the only wildcard"},
        {"/a h?(rw)", "f:1: 'h?': the only wildcard"},
        {"/a [::1]", "f:1: '[::1]': the only wildcard"},
        {"/a **", "f:1: '**': the only wildcard"},
        {"/a gss/krb5", "f:1: 'gss/krb5' is not a network"},
        {"/a 192.0.2.0/33", "f:1: '192.0.2.0/33' is not a network"},
        {"/a 192.0.2.0/", "f:1: '192.0.2.0/' is not a network"},
        {"/a 192.0.2/24", "f:1: '192.0.2/24' is not a network"},
        {"/a /24", "f:1: '/24' is not a network"},
        {"/a 192.0.2.0/255.0.255.0", "f:1: '192.0.2.0/255.0.255.0' is not a network"},
        {"/a 192.0.2.0/24/8", "f:1: '192.0.2.0/24/8' is not a network"},
        {"/a ::/129", "f:1: '::/129' is not a network"},
        {"/a ::/255.0.0.0", "f:1: '::/255.0.0.0' is not a network"},
        {"/a 10.1", "f:1: '10.1' is not an address"},
        {"/a 300.0.0.1", "f:1: '300.0.0.1' is not an address"},
        {"/a 0x7f000001", "f:1: '0x7f000001' is not an address"},
        {"/a .h", "f:1: '.h' is not an address"},
        {"/a h\\055", NULL}, /* h- is a name */
        {"/a h\\001", "f:1: 'h?' is not an address"},
        {"/a h:i", "f:1: 'h:i' is not an address"},
        {"/a h h(rw)", "f:1: client 'h' is named twice"},
        {"/a h\n/a i h(rw)", "f:2: client 'h' is named twice"},
        {"\"/a h\n", "f:1: a quote does not end"},
        {"/a \"h", "f:1: a quote does not end"},
        {"/a h \\\n \"\n", "f:2: a quote does not end"},
        {"/a\\04 h", "f:1: a backslash needs"},
        {"/a\\ h", "f:1: a backslash needs"},
        {"/a\\08 h", "f:1: a backslash needs"},
        {"/a\\000 h", "f:1: a backslash needs"},
        {"/a\\400 h", "f:1: a backslash needs"},
        {"/a\\n h", "f:1: a backslash needs"},
        {"/a h\n/b h \\", "f:2: a backslash needs"},
        {"\"/a\\\n\" h", "f:1: a backslash needs"},
};

static void what_means_nothing_refuses_the_whole_file(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char text[512];
		int e;

		/* Good lines after it do not count. */
		snprintf(text, sizeof(text), "%s%s", bad[i].text,
		         strchr(bad[i].text, '\n') || strchr(bad[i].text, '\\')
		                 ? ""
		                 : "\n/z *(rw)\n");
		e = parse(text);
		if (!bad[i].why) {
			assert_int_equal(e, 0);
			exports_free(&got);
			continue;
		}
		if (!e || strncmp(why, bad[i].why, strlen(bad[i].why)) != 0)
			fail_msg("'%s': %s instead of %s", bad[i].text,
			         e ? why : said(), bad[i].why);
		assert_int_equal(got.n, 0);
	}
	assert_int_equal(exports_parse("f", "/a \0h", 5, &defaults, &got, why),
	                 -EINVAL);
	assert_string_equal(why, "f:1: a NUL octet: this is not a text file");
}

/* Every beginning of a file, and every octet of it as another one: an answer, which
 * names a line of the file. */
static void damage_is_survived(void **state)
{
	static const char text[] = "/a 192.0.2.0/24(rw,sec=krb5:sys) \"b c\"(ro)\\\n"
	                           " -anonuid=7 h(wcc) # x\n\"/d\\040e\":/f ::/0\n";
	static const char other[] = "\n\\\"()#,-=/*:\0 7a@";
	char copy[sizeof(text)];

	(void)state;
	for (size_t len = 0; len < sizeof(text); len++) {
		char *tight = malloc(len ? len : 1);

		assert_non_null(tight);
		memcpy(tight, text, len);
		if (exports_parse("f", tight, len, &defaults, &got, why))
			assert_int_equal(strncmp(why, "f:", 2), 0);
		exports_free(&got);
		free(tight);
	}
	for (size_t at = 0; at < sizeof(text) - 1; at++)
		for (size_t i = 0; i < sizeof(other) - 1; i++) {
			memcpy(copy, text, sizeof(text));
			copy[at] = other[i];
			if (exports_parse("f", copy, sizeof(copy) - 1, &defaults, &got,
			                  why)) {
				assert_int_equal(strncmp(why, "f:", 2), 0);
				assert_in_range(atoi(why + 2), 1, 4);
			}
			exports_free(&got);
		}
}

static void lists_are_bounded(void **state)
{
	size_t size = 64 << 10, n = 0;
	char *text = malloc(size);

	(void)state;
	assert_non_null(text);
	for (int i = 0; i <= EXPORTS_MAX; i++)
		n += (size_t)snprintf(text + n, size - n, "/%d *\n", i);
	assert_int_equal(parse(text), -EINVAL);
	assert_string_equal(why, "f:65: more than 64 directories");
	n = (size_t)snprintf(text, size, "/a");
	for (int i = 0; i <= EXPORTS_MAX_CLIENTS; i++)
		n += (size_t)snprintf(text + n, size - n, " h%d", i);
	assert_int_equal(parse(text), -EINVAL);
	assert_string_equal(why, "f:1: more than 1024 clients of one directory");
	memset(text, 'a', size - 1);
	text[0] = '/';
	text[size - 1] = 0;
	assert_int_equal(parse(text), -EINVAL);
	assert_string_equal(why, "f:1: a word is too long");
	free(text);
}

/* ---- Which client is it? --------------------------------------------------------- */

static struct sockaddr_storage peer_of(const char *address, uint16_t port)
{
	struct sockaddr_storage ss = {0};
	struct sockaddr_in *v4 = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&ss;

	if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
		ss.ss_family = AF_INET;
		v4->sin_port = htons(port);
		return ss;
	}
	ss.ss_family = AF_INET6;
	v6->sin6_port = htons(port);
	assert_int_equal(inet_pton(AF_INET6, address, &v6->sin6_addr), 1);
	return ss;
}

static void find_in(const char *list, const char *peer, uint16_t port, int anon)
{
	struct sockaddr_storage ss = peer_of(peer, port);
	const struct grant *g;
	bool lacks_port;
	char text[512];

	snprintf(text, sizeof(text), "/a %s", list);
	assert_int_equal(parse(text), 0);
	g = clients_find(&got.all[0].clients, &ss, &lacks_port);
	assert_int_equal(lacks_port, !g && strstr(list, "(secure") && port >= 1024);
	if (g ? (int)g->squash.anon_uid != anon : anon >= 0)
		fail_msg("%s in '%s' is %d, not %d", peer, list,
		         g ? (int)g->squash.anon_uid : -1, anon);
	exports_free(&got);
}

static void a_host_comes_before_a_network_before_all(void **state)
{
	static const char all[] = "*(anonuid=1) 192.0.2.0/24(anonuid=2) "
	                          "192.0.2.0/28(anonuid=3) 192.0.2.7(anonuid=4)";

	(void)state;
	find_in(all, "192.0.2.7", 2000, 4);
	find_in(all, "192.0.2.8", 2000, 2); /* the first network, not the smallest */
	find_in(all, "192.0.3.8", 2000, 1);
	find_in(all, "::1", 2000, 1);
	find_in("192.0.2.0/28(anonuid=3) 192.0.2.0/24(anonuid=2)", "192.0.2.8", 1, 3);
	find_in("192.0.2.0/28(anonuid=3) 192.0.2.0/24(anonuid=2)", "192.0.2.16", 1, 2);
	find_in("192.0.2.0/28(anonuid=3) 192.0.2.0/24(anonuid=2)", "192.0.3.1", 1, -1);
}

static void networks_are_matched_by_their_bits(void **state)
{
	(void)state;
	find_in("10.11.12.13/23(anonuid=1)", "10.11.13.255", 1, 1);
	find_in("10.11.12.13/255.255.254.0(anonuid=1)", "10.11.13.255", 1, 1);
	find_in("10.11.12.13/23(anonuid=1)", "10.11.14.0", 1, -1);
	find_in("10.11.12.13/32(anonuid=1)", "10.11.12.13", 1, 1);
	find_in("10.11.12.13/32(anonuid=1)", "10.11.12.12", 1, -1);
	find_in("0.0.0.0/0(anonuid=1)", "10.11.12.12", 1, 1);
	find_in("1.2.3.4/0.0.0.0(anonuid=1)", "10.11.12.12", 1, 1);
	find_in("0.0.0.0/0(anonuid=1)", "::1", 1, -1);
	find_in("::/0(anonuid=1)", "::1", 1, 1);
	find_in("::/0(anonuid=1)", "10.11.12.12", 1, -1);
	find_in("2001:db8:8000::/33(anonuid=1)", "2001:db8:8000::1", 1, 1);
	find_in("2001:db8:8000::/33(anonuid=1)", "2001:db8:7fff::1", 1, -1);
	/* A listener of both families sees IPv4 so. */
	find_in("10.0.0.0/8(anonuid=1)", "::ffff:10.1.2.3", 1, 1);
	find_in("10.1.2.3(anonuid=1)", "::ffff:10.1.2.3", 1, 1);
	find_in("::/0(anonuid=1)", "::ffff:10.1.2.3", 1, -1);
}

static void secure_clients_have_a_low_port(void **state)
{
	(void)state;
	find_in("192.0.2.7(secure,anonuid=1)", "192.0.2.7", 1023, 1);
	find_in("192.0.2.7(secure,anonuid=1)", "192.0.2.7", 1024, -1);
	/* The one that is meant decides: no other lets it in. */
	find_in("*(anonuid=2) 192.0.2.7(secure,anonuid=1)", "192.0.2.7", 1024, -1);
	find_in("2001:db8::1(secure,anonuid=1)", "2001:db8::1", 1023, 1);
	find_in("2001:db8::1(secure,anonuid=1)", "2001:db8::1", 1024, -1);
}

static void unknown(void *arg, const char *name, const char *reason)
{
	assert_true(*reason);
	snprintf(arg, 64, "%s", name);
}

static void a_name_is_looked_up_once_and_an_unknown_one_is_nobody(void **state)
{
	struct sockaddr_storage here = peer_of("127.0.0.1", 2000);
	char missed[64] = "";
	bool lacks_port;

	(void)state;
	assert_int_equal(parse("/a localhost(anonuid=1) no-such-host.invalid"), 0);
	assert_null(
	        clients_find(&got.all[0].clients, &here, &lacks_port)); /* not yet */
	clients_resolve(&got.all[0].clients, unknown, missed);
	assert_string_equal(missed, "no-such-host.invalid");
	assert_non_null(clients_find(&got.all[0].clients, &here, &lacks_port));
}

static void a_file_that_cannot_be_read_is_named(void **state)
{
	(void)state;
	assert_int_equal(exports_read("/no/such", &defaults, &got, why), -ENOENT);
	assert_string_equal(why, "/no/such: No such file or directory");
	assert_int_equal(exports_read("/dev", &defaults, &got, why), -EISDIR);
	assert_int_equal(exports_read("/dev/zero", &defaults, &got, why), -EFBIG);
	assert_int_equal(exports_read("/dev/null", &defaults, &got, why), 0);
	assert_int_equal(got.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(lines_mean_what_exports_5_says, end),
	        cmocka_unit_test_teardown(what_means_nothing_refuses_the_whole_file,
	                                  end),
	        cmocka_unit_test_teardown(damage_is_survived, end),
	        cmocka_unit_test_teardown(lists_are_bounded, end),
	        cmocka_unit_test_teardown(a_host_comes_before_a_network_before_all,
	                                  end),
	        cmocka_unit_test_teardown(networks_are_matched_by_their_bits, end),
	        cmocka_unit_test_teardown(secure_clients_have_a_low_port, end),
	        cmocka_unit_test_teardown(
	                a_name_is_looked_up_once_and_an_unknown_one_is_nobody, end),
	        cmocka_unit_test_teardown(a_file_that_cannot_be_read_is_named, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
