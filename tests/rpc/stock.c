/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Three protocols of others, from /usr/include/rpcsvc, through the stubs and dispatch
 * functions that rpcgen makes of them: they know nothing of RDMA, only the call that
 * creates the CLIENT does.
 */
#include "bootparam_prot.h"
#include "rig.h"
#include "rusers.h"
#include "spray.h"

#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

void sprayprog_1(struct svc_req *, SVCXPRT *);
void rusersprog_3(struct svc_req *, SVCXPRT *);
void bootparamprog_1(struct svc_req *, SVCXPRT *);

enum { USERS = 500 };

/* -- spray: octets of which nobody wants an answer ------------------------- */

static spraycumul cumul;

void *sprayproc_spray_1_svc(sprayarr *a, struct svc_req *r)
{
	cumul.counter++;
	cumul.clock.sec += a->sprayarr_len;
	return NULL;
}

spraycumul *sprayproc_get_1_svc(void *none, struct svc_req *r)
{
	return &cumul;
}

void *sprayproc_clear_1_svc(void *none, struct svc_req *r)
{
	memset(&cumul, 0, sizeof(cumul));
	return &cumul;
}

/* -- rusers: a long list of strings ---------------------------------------- */

int *rusersproc_num_3_svc(void *none, struct svc_req *r)
{
	static int n = USERS;

	return &n;
}

utmp_array *rusersproc_names_3_svc(void *none, struct svc_req *r)
{
	static char user[] = "somebody", line[] = "pts/1", host[] = "over.there";
	static rusers_utmp all[USERS];
	static utmp_array res = {USERS, all};

	for (int i = 0; i < USERS; i++)
		all[i] = (rusers_utmp){user, line, host, RUSERS_USER_PROCESS, i, 7};
	return &res;
}

utmp_array *rusersproc_allnames_3_svc(void *none, struct svc_req *r)
{
	return rusersproc_names_3_svc(none, r);
}

/* -- bootparam: strings and unions both ways ------------------------------- */

bp_whoami_res *bootparamproc_whoami_1_svc(bp_whoami_arg *a, struct svc_req *r)
{
	static char name[] = "me", domain[] = "here";
	static bp_whoami_res res;

	res.client_name = name;
	res.domain_name = domain;
	res.router_address = a->client_address;
	return &res;
}

bp_getfile_res *bootparamproc_getfile_1_svc(bp_getfile_arg *a, struct svc_req *r)
{
	static char path[600];
	static bp_getfile_res res;

	strcpy(path, "/export/");
	strcat(path, a->client_name);
	strcat(path, a->file_id);
	res.server_name = a->client_name;
	res.server_address.address_type = IP_ADDR_TYPE;
	res.server_path = path;
	return &res;
}

/* -- the clients ----------------------------------------------------------- */

static void more(SVCXPRT *x)
{
	assert_true(svc_reg(x, SPRAYPROG, SPRAYVERS, sprayprog_1, NULL));
	assert_true(svc_reg(x, RUSERSPROG, RUSERSVERS_3, rusersprog_3, NULL));
	assert_true(svc_reg(x, BOOTPARAMPROG, BOOTPARAMVERS, bootparamprog_1, NULL));
}

static struct rig rig = {.more = more};

static CLIENT *create(rpcprog_t prog, rpcvers_t vers)
{
	CLIENT *c = clnt_rdma_create(rig.address, prog, vers, NULL);

	assert_non_null(c);
	return c;
}

static void spray(void **state)
{
	const struct timeval zero = {0};
	CLIENT *c = create(SPRAYPROG, SPRAYVERS);
	char octets[8000] = {0};
	sprayarr a = {sizeof(octets), octets};
	spraycumul *got;

	assert_non_null(sprayproc_clear_1(NULL, c));
	for (int i = 0; i < 200; i++)
		assert_int_equal(clnt_call(c, SPRAYPROC_SPRAY, (xdrproc_t)xdr_sprayarr,
		                           (char *)&a, NULL, NULL, zero),
		                 RPC_SUCCESS);
	got = sprayproc_get_1(NULL, c);
	assert_non_null(got);
	assert_int_equal(got->counter, 200);
	assert_int_equal(got->clock.sec, 200 * sizeof(octets));
	clnt_destroy(c);
}

static void rusers(void **state)
{
	CLIENT *c = create(RUSERSPROG, RUSERSVERS_3);
	utmp_array *all;
	int *n = rusersproc_num_3(NULL, c);

	assert_non_null(n);
	assert_int_equal(*n, USERS);
	all = rusersproc_allnames_3(NULL, c);
	assert_non_null(all);
	assert_int_equal(all->utmp_array_len, USERS);
	for (int i = 0; i < USERS; i++) {
		const rusers_utmp *u = &all->utmp_array_val[i];

		assert_string_equal(u->ut_user, "somebody");
		assert_string_equal(u->ut_host, "over.there");
		assert_int_equal(u->ut_time, i);
	}
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_utmp_array, all));
	clnt_destroy(c);
}

static void bootparam(void **state)
{
	CLIENT *c = create(BOOTPARAMPROG, BOOTPARAMVERS);
	bp_whoami_arg who = {.client_address.address_type = IP_ADDR_TYPE};
	char name[] = "diskless", file[] = "root";
	bp_getfile_arg what = {name, file};
	bp_whoami_res *me;
	bp_getfile_res *got;

	who.client_address.bp_address_u.ip_addr.host = 42;
	me = bootparamproc_whoami_1(&who, c);
	assert_non_null(me);
	assert_string_equal(me->client_name, "me");
	assert_int_equal(me->router_address.bp_address_u.ip_addr.host, 42);
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_bp_whoami_res, me));
	got = bootparamproc_getfile_1(&what, c);
	assert_non_null(got);
	assert_string_equal(got->server_name, "diskless");
	assert_string_equal(got->server_path, "/export/disklessroot");
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_bp_getfile_res, got));
	clnt_destroy(c);
}

static int stop(void **state)
{
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(spray),
	        cmocka_unit_test(rusers),
	        cmocka_unit_test(bootparam),
	};

	rig_start(&rig);
	return cmocka_run_group_tests(tests, NULL, stop);
}
