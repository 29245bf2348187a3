/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What rpcgen makes in its other styles: -M, whose stubs and procedures are given the
 * place of the results and may be used by several threads, and -N, whose arguments are
 * passed by value.
 */
#include "mount.h"
#include "rig.h"
#include "rquota.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

void mountprog_1(struct svc_req *, SVCXPRT *);
void rquotaprog_1(struct svc_req *, SVCXPRT *);

enum { HOSTS = 300, THREADS = 4, CALLS = 100 };

/* -- mount, -M ------------------------------------------------------------- */

bool_t mountproc_null_1_svc(void *none, void *res, struct svc_req *r)
{
	return TRUE;
}

/* The handle begins with the path. */
bool_t mountproc_mnt_1_svc(dirpath *path, fhstatus *res, struct svc_req *r)
{
	memset(res, 0, sizeof(*res));
	if (!strcmp(*path, "/none"))
		res->fhs_status = 2;
	else
		strncpy(res->fhstatus_u.fhs_fhandle, *path, FHSIZE);
	return TRUE;
}

bool_t mountproc_dump_1_svc(void *none, mountlist *res, struct svc_req *r)
{
	*res = NULL;
	for (int i = 0; i < HOSTS; i++) {
		mountlist m = calloc(1, sizeof(*m));

		m->ml_hostname = strdup("host");
		m->ml_directory = strdup("/somewhere/else");
		m->ml_next = *res;
		*res = m;
	}
	return TRUE;
}

/* FALSE: no answer is wanted. */
bool_t mountproc_umnt_1_svc(dirpath *path, void *res, struct svc_req *r)
{
	return FALSE;
}

bool_t mountproc_umntall_1_svc(void *none, void *res, struct svc_req *r)
{
	return TRUE;
}

bool_t mountproc_export_1_svc(void *none, exports *res, struct svc_req *r)
{
	*res = NULL;
	return TRUE;
}

bool_t mountproc_exportall_1_svc(void *none, exports *res, struct svc_req *r)
{
	return mountproc_export_1_svc(none, res, r);
}

int mountprog_1_freeresult(SVCXPRT *x, xdrproc_t proc, caddr_t res)
{
	if (proc == (xdrproc_t)xdr_mountlist)
		xdr_free(proc, res);
	return 1;
}

/* -- rquota, -N ------------------------------------------------------------ */

getquota_rslt *rquotaproc_getquota_1_svc(getquota_args a, struct svc_req *r)
{
	static getquota_rslt res;

	memset(&res, 0, sizeof(res));
	res.status = strcmp(a.gqa_pathp, "/home") ? Q_NOQUOTA : Q_OK;
	if (res.status == Q_OK)
		res.getquota_rslt_u.gqr_rquota.rq_curblocks = (u_int)a.gqa_uid + 1;
	return &res;
}

getquota_rslt *rquotaproc_getactivequota_1_svc(getquota_args a, struct svc_req *r)
{
	return rquotaproc_getquota_1_svc(a, r);
}

/* -- the clients ----------------------------------------------------------- */

static void more(SVCXPRT *x)
{
	if (!svc_reg(x, MOUNTPROG, MOUNTVERS, mountprog_1, NULL) ||
	    !svc_reg(x, RQUOTAPROG, RQUOTAVERS, rquotaprog_1, NULL))
		abort();
}

static struct rig rig = {.more = more};

static CLIENT *create(rpcprog_t prog, rpcvers_t vers)
{
	CLIENT *c = clnt_rdma_create(rig.address, prog, vers, NULL);

	assert_non_null(c);
	return c;
}

struct worker {
	pthread_t thread;
	CLIENT *c;
	unsigned index, wrong;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	char path[32], *p = path;

	for (unsigned i = 0; i < CALLS; i++) {
		fhstatus res;

		memset(&res, 0, sizeof(res));
		snprintf(path, sizeof(path), "/%u/%u", w->index, i);
		w->wrong += mountproc_mnt_1(&p, &res, w->c) != RPC_SUCCESS ||
		            res.fhs_status ||
		            strcmp(res.fhstatus_u.fhs_fhandle, path) != 0;
	}
	return NULL;
}

/* One CLIENT for all. */
static void stubs_with_places_for_results(void **state)
{
	CLIENT *c = create(MOUNTPROG, MOUNTVERS);
	char none[] = "/none", *p = none;
	struct worker w[THREADS];
	mountlist all = NULL;
	fhstatus res = {0};
	unsigned n = 0;

	for (unsigned i = 0; i < THREADS; i++) {
		w[i] = (struct worker){.c = c, .index = i};
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(w[i].thread, NULL);
		assert_int_equal(w[i].wrong, 0);
	}
	assert_int_equal(mountproc_mnt_1(&p, &res, c), RPC_SUCCESS);
	assert_int_equal(res.fhs_status, 2);
	assert_int_equal(mountproc_dump_1(NULL, &all, c), RPC_SUCCESS);
	for (const struct mountbody *m = all; m; m = m->ml_next)
		n += !strcmp(m->ml_hostname, "host") &&
		     !strcmp(m->ml_directory, "/somewhere/else");
	assert_int_equal(n, HOSTS);
	assert_true(clnt_freeres(c, (xdrproc_t)xdr_mountlist, (char *)&all));
	assert_int_equal(mountproc_umnt_1(&p, NULL, c), RPC_SYSTEMERROR);
	assert_int_equal(mountproc_null_1(NULL, NULL, c), RPC_SUCCESS);
	clnt_destroy(c);
}

static void arguments_by_value(void **state)
{
	CLIENT *c = create(RQUOTAPROG, RQUOTAVERS);
	char home[] = "/home", other[] = "/other";
	getquota_args a = {home, 1000};
	getquota_rslt *r = rquotaproc_getquota_1(a, c);

	assert_non_null(r);
	assert_int_equal(r->status, Q_OK);
	assert_int_equal(r->getquota_rslt_u.gqr_rquota.rq_curblocks, 1001);
	a.gqa_pathp = other;
	r = rquotaproc_getactivequota_1(a, c);
	assert_non_null(r);
	assert_int_equal(r->status, Q_NOQUOTA);
	clnt_destroy(c);
}

static int stop(void **state)
{
	return rig_stop(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(stubs_with_places_for_results),
	        cmocka_unit_test(arguments_by_value),
	};

	rig_start(&rig);
	return cmocka_run_group_tests(tests, NULL, stop);
}
