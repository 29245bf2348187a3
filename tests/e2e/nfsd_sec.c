/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rpcrdma nfsd --sec: what MOUNT says, and what a credential that will not do is good
 * for all the same.  No KDC: the keytab is made by hand.        [RFC 2623 §2.3, §2.7]
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "test_nfsd.h"
#include <rpcrdma/gss.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REJECTEDCRED = 2, TOOWEAK = 5, OTHER = 300000 };

static struct nfsd r;
static char keytab[128];

static void put(FILE *f, unsigned long v, int octets)
{
	while (octets-- > 0)
		assert_int_not_equal(fputc((int)(v >> 8 * octets & 0xff), f), EOF);
}

static void put_text(FILE *f, const char *s)
{
	put(f, strlen(s), 2);
	assert_int_not_equal(fputs(s, f), EOF);
}

/* One key for nfs/localhost@TEST. */
static void make_keytab(void)
{
	FILE *f = fopen(keytab, "wb");

	assert_non_null(f);
	put(f, 0x0502, 2);
	put(f, 2 + 6 + 5 + 11 + 4 + 4 + 1 + 2 + 2 + 32, 4);
	put(f, 2, 2);
	put_text(f, "TEST");
	put_text(f, "nfs");
	put_text(f, "localhost");
	put(f, 3, 4); /* a service's */
	put(f, 1, 4);
	put(f, 1, 1);
	put(f, 18, 2); /* aes256-cts-hmac-sha1-96 */
	put(f, 32, 2);
	for (int i = 0; i < 32; i++)
		put(f, (unsigned long)i * 7, 1);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(keytab, 0644), 0);
}

static int init(void **state)
{
	char conf[128];
	FILE *f;

	(void)state;
	nfsd_init(&r);
	snprintf(keytab, sizeof(keytab), "%s/keytab", r.dir);
	make_keytab();
	snprintf(conf, sizeof(conf), "%s/krb5.conf", r.dir);
	f = fopen(conf, "w");
	assert_non_null(f);
	fputs("[libdefaults]\ndefault_realm = TEST\n", f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(setenv("KRB5_CONFIG", conf, 1), 0);
	assert_int_equal(mkdir(nfsd_path(&r, "sub"), 0755), 0);
	return 0;
}

/* Of a test that has failed. */
static int end(void **state)
{
	(void)state;
	if (r.pid)
		nfsd_kill(&r);
	r.flavor = RPCRDMA_AUTH_SYS;
	return 0;
}

static int fini(void **state)
{
	(void)state;
	nfsd_fini(&r);
	return 0;
}

/* What MOUNT says of @path: its handle, and the flavors. */
static nfs_fh3 mount_of(const char *path, int *flavors, unsigned *ret_n)
{
	dirpath p = (char *)(uintptr_t)path;
	mountres3 res;
	nfs_fh3 fh;

	nfsd_call(&r, RPCRDMA_MOUNT_PROGRAM, MOUNTPROC3_MNT, XDR_OF(dirpath), &p,
	          XDR_OF(mountres3), &res, sizeof(res));
	assert_int_equal(r.status, RPCRDMA_OK);
	assert_int_equal(res.fhs_status, MNT3_OK);
	fh = nfsd_fh(&r, res.mountres3_u.mountinfo.fhandle.fhandle3_val,
	             res.mountres3_u.mountinfo.fhandle.fhandle3_len);
	*ret_n = res.mountres3_u.mountinfo.auth_flavors.auth_flavors_len;
	assert_in_range(*ret_n, 1, 8);
	memcpy(flavors, res.mountres3_u.mountinfo.auth_flavors.auth_flavors_val,
	       *ret_n * sizeof(*flavors));
	NFS3_FREE(mountres3, &res);
	return fh;
}

/* The auth_stat; 0: it was answered. */
static uint32_t ask(uint32_t proc, xdrproc_t xargs, const void *args)
{
	uint8_t buf[NFS3_MSG_BYTES];
	int n = nfs3_encode(buf, sizeof(buf), xargs, args);

	assert_true(n > 0);
	nfsd_call_raw(&r, RPCRDMA_NFS_PROGRAM, proc, buf, (size_t)n);
	if (r.status == RPCRDMA_AUTH_ERROR)
		return r.auth_stat;
	assert_int_equal(r.status, RPCRDMA_OK);
	return 0;
}

#define ASK(P, args) ask(NFSPROC3_##P, XDR_OF(P##3args), (args))

static void flavors_are_told_in_their_order(void **state)
{
	static const struct {
		const char *sec;
		int flavors[5];
		unsigned n;
	} t[] = {
	        {"sys", {1, 0}, 2},
	        {"krb5", {390003}, 1},
	        {"krb5i", {390004}, 1},
	        {"krb5p,krb5", {390005, 390003}, 2},
	        {"krb5i,sys,krb5i,krb5p,krb5", {390004, 1, 390005, 390003, 0}, 5},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int flavors[8];
		unsigned n;

		nfsd_start(&r, "--sec", t[i].sec, i ? "--keytab" : NULL, keytab, NULL);
		(void)mount_of("/exp", flavors, &n);
		assert_int_equal(n, t[i].n);
		assert_memory_equal(flavors, t[i].flavors, n * sizeof(*flavors));
		nfsd_stop(&r);
	}
}

/* Linux asks for these by AUTH_SYS before there is any user. */
static void a_weak_credential_may_mount_and_nothing_else(void **state)
{
	static const uint32_t weak[] = {RPCRDMA_AUTH_SYS, RPCRDMA_AUTH_NONE};
	GETATTR3args getattr;
	FSINFO3args fsinfo;
	LOOKUP3args lookup;
	ACCESS3args access;
	FSSTAT3args fsstat;
	PATHCONF3args pathconf;
	READDIR3args readdir;
	char cut[NFS3_FHSIZE];
	int flavors[8];
	nfs_fh3 sub;
	unsigned n;

	(void)state;
	nfsd_start(&r, "--sec", "krb5i", "--keytab", keytab, NULL);
	sub = mount_of("/exp/sub", flavors, &n);
	for (unsigned i = 0; i < 2; i++) {
		r.flavor = weak[i];
		getattr.object = fsinfo.fsroot = r.root;
		assert_int_equal(ASK(GETATTR, &getattr), 0);
		assert_int_equal(ASK(FSINFO, &fsinfo), 0);
		getattr.object = fsinfo.fsroot = sub; /* no export's root */
		assert_int_equal(ASK(GETATTR, &getattr), TOOWEAK);
		assert_int_equal(ASK(FSINFO, &fsinfo), TOOWEAK);
		nfsd_wait_printed(&r, "127.0.0.1 may not use /exp with this security "
		                      "flavor (sec)");
		/* Nothing of a handle is right but its length; or its beginning. */
		memset(cut, 0, sizeof(cut));
		getattr.object.data.data_val = cut;
		getattr.object.data.data_len = r.root.data.data_len;
		assert_int_equal(ASK(GETATTR, &getattr), TOOWEAK);
		memcpy(cut, r.root_data, r.root.data.data_len);
		getattr.object.data.data_len -= 4;
		assert_int_equal(ASK(GETATTR, &getattr), TOOWEAK);
		lookup.what = nfsd_name(r.root, "sub");
		assert_int_equal(ASK(LOOKUP, &lookup), TOOWEAK);
		access.object = fsstat.fsroot = pathconf.object = r.root;
		access.access = 1;
		assert_int_equal(ASK(ACCESS, &access), TOOWEAK);
		assert_int_equal(ASK(FSSTAT, &fsstat), TOOWEAK);
		assert_int_equal(ASK(PATHCONF, &pathconf), TOOWEAK);
		memset(&readdir, 0, sizeof(readdir));
		readdir.dir = r.root;
		readdir.count = 4096;
		assert_int_equal(ASK(READDIR, &readdir), TOOWEAK);
	}
	r.flavor = OTHER; /* that is none at all */
	getattr.object = r.root;
	assert_int_equal(ASK(GETATTR, &getattr), REJECTEDCRED);
	r.flavor = RPCRDMA_AUTH_SYS;
	nfsd_stop(&r);
}

/* Where it will do, handles are looked at as ever. */
static void a_credential_that_will_do_asks_about_anything(void **state)
{
	GETATTR3args getattr;
	int flavors[8];
	unsigned n;

	(void)state;
	nfsd_start(&r, "--sec", "krb5,sys", "--keytab", keytab, NULL);
	getattr.object = mount_of("/exp/sub", flavors, &n);
	assert_int_equal(ASK(GETATTR, &getattr), 0);
	nfsd_stop(&r);
}

/* Anybody can say that he is the owner. */
static void a_uid_without_proof_sees_no_names(void **state)
{
	(void)state;
	if (geteuid())
		skip(); /* all are the server itself */
	assert_int_equal(mkdir(nfsd_path(&r, "private"), 0700), 0);
	assert_int_equal(mkdir(nfsd_path(&r, "private/name"), 0755), 0);
	assert_int_equal(chown(nfsd_path(&r, "private"), r.uid, r.gid), 0);
	nfsd_start(&r, "--sec", "krb5", "--keytab", keytab, NULL);
	assert_int_equal(nfsd_mount(&r, "/exp/private/name", NULL), MNT3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/exp/private/none", NULL), MNT3ERR_ACCES);
	assert_int_equal(nfsd_mount(&r, "/exp/private", NULL), MNT3_OK);
	assert_int_equal(nfsd_mount(&r, "/exp", NULL), MNT3_OK);
	nfsd_stop(&r);
	nfsd_start(&r, "--sec", "krb5,sys", "--keytab", keytab, NULL);
	assert_int_equal(nfsd_mount(&r, "/exp/private/name", NULL), MNT3_OK);
	nfsd_stop(&r);
}

/* A client has flavors of its own; the others have those of --sec. */
static void a_list_says_what_a_client_may_use(void **state)
{
	GETATTR3args getattr;
	LOOKUP3args lookup;
	int flavors[8];
	unsigned n;

	(void)state;
	nfsd_start(&r, "--keytab", keytab, "--allow", "127.0.0.1(rw,sec=krb5p:krb5)",
	           "--allow", "*", NULL);
	lookup.what = nfsd_name(mount_of("/exp", flavors, &n), "sub");
	assert_int_equal(n, 2);
	assert_int_equal(flavors[0], 390005);
	assert_int_equal(flavors[1], 390003);
	assert_int_equal(ASK(LOOKUP, &lookup), TOOWEAK);
	getattr.object = lookup.what.dir;
	assert_int_equal(ASK(GETATTR, &getattr), 0);
	nfsd_stop(&r);
	nfsd_start(&r, "--sec", "krb5i", "--keytab", keytab, "--allow",
	           "127.0.0.1(sec=sys)", NULL);
	lookup.what = nfsd_name(mount_of("/exp", flavors, &n), "sub");
	assert_int_equal(n, 2);
	assert_int_equal(flavors[0], RPCRDMA_AUTH_SYS);
	assert_int_equal(flavors[1], RPCRDMA_AUTH_NONE);
	assert_int_equal(ASK(LOOKUP, &lookup), 0);
	nfsd_stop(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test_teardown(flavors_are_told_in_their_order, end),
	        cmocka_unit_test_teardown(a_weak_credential_may_mount_and_nothing_else,
	                                  end),
	        cmocka_unit_test_teardown(a_credential_that_will_do_asks_about_anything,
	                                  end),
	        cmocka_unit_test_teardown(a_uid_without_proof_sees_no_names, end),
	        cmocka_unit_test_teardown(a_list_says_what_a_client_may_use, end),
	};

	return cmocka_run_group_tests(tests, init, fini);
}
