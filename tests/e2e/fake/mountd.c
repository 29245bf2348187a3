/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fake servers for the tests of the tools.
 *
 *   mountd HOW HANDLE PATH...   MOUNT version 3 by libtirpc, at a free TCP port
 *   mountd nfs PORT             NFS over RDMA without MOUNT: each handle is a directory
 *   mountd nlm set|take VERSION...  a lock manager on TCP with procedure NULL alone,
 *                               registered with rpcbind; "take" first removes another
 *                               registration, as Linux does
 *
 * HOW: "serve" the paths, all with the handle (hexadecimal); "beneath": as Linux, where
 * any directory beneath them may be mounted as well; "nolist": the same, without EXPORT;
 * "register": "serve", registered with rpcbind; "refuse" with MNT3ERR_ACCES; "hang":
 * never answer; "lie": send a record of 2 GiB; "hangup": close when called; "end": end
 * the list of exports too early.
 *
 * It prints "port N", then a line for each MNT and UMNT.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <rpcrdma/nfs.h>
#include "nfs/nfs3_msg.h"

enum { NLM = 100021 };

static const char *how;
static char **paths;
static unsigned n_paths;
static char handle[FHSIZE3];
static uint32_t handle_len;

static void need(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

/* ---- MOUNT --------------------------------------------------------------- */

static bool_t put_list(XDR *x, void *unused)
{
	bool_t yes = TRUE, no = FALSE;

	(void)unused;
	for (unsigned i = 0; i < n_paths; i++)
		if (!xdr_bool(x, &yes) || !xdr_dirpath(x, &paths[i]) ||
		    !xdr_bool(x, &no))
			return FALSE;
	return strcmp(how, "end") ? xdr_bool(x, &no) : TRUE;
}

static bool anything_beneath(void)
{
	return !strcmp(how, "beneath") || !strcmp(how, "nolist");
}

static void mnt(struct svc_req *req, SVCXPRT *xprt, bool umnt)
{
	mountres3 res = {.fhs_status = MNT3ERR_NOENT};
	struct sockaddr_in *from = svc_getrpccaller(xprt)->buf;
	dirpath path = NULL;

	if (!svc_getargs(xprt, (xdrproc_t)(void (*)(void))xdr_dirpath, (char *)&path)) {
		svcerr_decode(xprt);
		return;
	}
	printf("%s %s uid %u %s\n", umnt ? "UMNT" : "MNT", path,
	       req->rq_cred.oa_flavor == AUTH_SYS
	               ? (unsigned)((struct authunix_parms *)req->rq_clntcred)->aup_uid
	               : 65534,
	       ntohs(from->sin_port) < 1024 ? "reserved" : "high");
	for (unsigned i = 0; i < n_paths; i++)
		if (!strcmp(path, paths[i]) ||
		    (anything_beneath() && !strncmp(path, paths[i], strlen(paths[i]))))
			res.fhs_status = MNT3_OK;
	if (!strcmp(how, "refuse"))
		res.fhs_status = MNT3ERR_ACCES;
	res.mountres3_u.mountinfo.fhandle.fhandle3_len = handle_len;
	res.mountres3_u.mountinfo.fhandle.fhandle3_val = handle;
	if (umnt)
		svc_sendreply(xprt, (xdrproc_t)(void (*)(void))xdr_void, NULL);
	else
		svc_sendreply(xprt, (xdrproc_t)(void (*)(void))xdr_mountres3, &res);
	svc_freeargs(xprt, (xdrproc_t)(void (*)(void))xdr_dirpath, (char *)&path);
}

static void dispatch(struct svc_req *req, SVCXPRT *xprt)
{
	switch (req->rq_proc) {
	case MOUNTPROC3_NULL:
		svc_sendreply(xprt, (xdrproc_t)(void (*)(void))xdr_void, NULL);
		break;
	case MOUNTPROC3_MNT:
	case MOUNTPROC3_UMNT:
		mnt(req, xprt, req->rq_proc == MOUNTPROC3_UMNT);
		break;
	case MOUNTPROC3_EXPORT:
		if (!strcmp(how, "nolist")) {
			svcerr_noproc(xprt);
			break;
		}
		svc_sendreply(xprt, (xdrproc_t)(void (*)(void))put_list, &how);
		break;
	default:
		svcerr_noproc(xprt);
	}
}

static void odd(int fd)
{
	static const uint32_t mark = 0xffffffff;

	for (;;) {
		int c = accept(fd, NULL, NULL);

		need(c >= 0, "accept");
		if (!strcmp(how, "lie")) {
			need(write(c, &mark, 4) == 4, "write");
			continue; /* and it stays open */
		}
		(void)!read(c, (char[4]){0}, 4);
		close(c);
	}
}

/* At a free port, which @ret names. */
static int listen_loopback(struct sockaddr_in *ret)
{
	socklen_t len = sizeof(*ret);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*ret = (struct sockaddr_in){.sin_family = AF_INET,
	                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	need(fd >= 0 && !bind(fd, (void *)ret, len) && !listen(fd, 8) &&
	             !getsockname(fd, (void *)ret, &len),
	     "listen");
	return fd;
}

static int mountd(void)
{
	struct sockaddr_in in;
	int fd = listen_loopback(&in);
	bool registers = !strcmp(how, "register");
	SVCXPRT *xprt;

	printf("port %u\n", ntohs(in.sin_port));
	if (!strcmp(how, "hang"))
		pause(); /* the kernel takes connections, and nobody reads them */
	if (!strcmp(how, "lie") || !strcmp(how, "hangup"))
		odd(fd);
	xprt = svc_vc_create(fd, 0, 0);
	need(xprt && svc_reg(xprt, RPCRDMA_MOUNT_PROGRAM, 3, dispatch, NULL),
	     "svc_vc_create");
	if (registers) {
		struct netbuf at = {sizeof(in), sizeof(in), &in};
		struct netconfig *tcp = getnetconfigent("tcp");

		need(tcp && rpcb_set(RPCRDMA_MOUNT_PROGRAM, 3, tcp, &at), "rpcb_set");
		puts("registered");
	}
	svc_run();
	return 1;
}

/* ---- A lock manager ------------------------------------------------------ */

static void dispatch_nlm(struct svc_req *req, SVCXPRT *xprt)
{
	if (req->rq_proc)
		svcerr_noproc(xprt);
	else
		svc_sendreply(xprt, (xdrproc_t)(void (*)(void))xdr_void, NULL);
}

static void nlm(bool takes, char **versions)
{
	struct netconfig *tcp = getnetconfigent("tcp");
	struct sockaddr_in in;
	struct netbuf at = {sizeof(in), sizeof(in), &in};
	SVCXPRT *xprt = svc_vc_create(listen_loopback(&in), 0, 0);

	need(xprt && tcp, "svc_vc_create");
	for (; *versions; versions++) {
		rpcvers_t version = (rpcvers_t)atoi(*versions);

		need(svc_reg(xprt, NLM, version, dispatch_nlm, NULL), "svc_reg");
		if (takes)
			rpcb_unset(NLM, version, tcp);
		need(rpcb_set(NLM, version, tcp, &at), "rpcb_set");
	}
	printf("port %u\n", ntohs(in.sin_port));
	svc_run();
}

/* ---- NFS without MOUNT --------------------------------------------------- */

static void answer(struct rpcrdma_request *req, xdrproc_t xdr, const void *res)
{
	char *buf = rpcrdma_request_alloc(req, NFS3_RESULT_BYTES);
	int n = buf ? nfs3_encode(buf, NFS3_RESULT_BYTES, xdr, res) : -1;
	struct rpcrdma_piece piece = {.base = buf, .len = n > 0 ? (size_t)n : 0};

	need(n > 0, "encoding");
	need(!rpcrdma_request_reply(req, &piece, 1, NULL, NULL), "reply");
}

static void getattr(struct rpcrdma_request *req, void *arg)
{
	GETATTR3res res = {.status = NFS3_OK};

	(void)arg;
	res.GETATTR3res_u.resok.obj_attributes =
	        (fattr3){.type = NF3DIR, .mode = 0755, .nlink = 2, .fileid = 4711};
	answer(req, (xdrproc_t)(void (*)(void))xdr_GETATTR3res, &res);
}

static void fsinfo(struct rpcrdma_request *req, void *arg)
{
	FSINFO3res res = {.status = NFS3_OK};
	FSINFO3resok *ok = &res.FSINFO3res_u.resok;

	(void)arg;
	ok->rtmax = ok->rtpref = ok->wtmax = ok->wtpref = ok->dtpref = 32768;
	answer(req, (xdrproc_t)(void (*)(void))xdr_FSINFO3res, &res);
}

static void nfs(const char *port)
{
	static const struct rpcrdma_procedure procs[RPCRDMA_NFS3_PROCEDURES] = {
	        [NFSPROC3_GETATTR] = {.name = "GETATTR", .handler = getattr},
	        [NFSPROC3_FSINFO] = {.name = "FSINFO", .handler = fsinfo},
	};
	static const struct rpcrdma_program program = {RPCRDMA_NFS_PROGRAM, 3, procs,
	                                               RPCRDMA_NFS3_PROCEDURES};
	struct rpcrdma_engine_options eo =
	        RPCRDMA_OPTIONS(struct rpcrdma_engine_options);
	struct rpcrdma_conn_options co = RPCRDMA_OPTIONS(struct rpcrdma_conn_options);
	struct rpcrdma_service *service;
	struct rpcrdma_engine *engine;
	struct rpcrdma_listener *l;
	struct sockaddr_storage at;
	char where[32];

	snprintf(where, sizeof(where), "127.0.0.1:%.5s", port);
	need(!rpcrdma_engine_new(&eo, &engine) && !rpcrdma_service_new(&service) &&
	             !rpcrdma_service_add(service, &program, NULL) &&
	             !rpcrdma_listen(engine, where, &co, service, 8, &l) &&
	             !rpcrdma_listener_addr(l, &at),
	     "rpcrdma_listen");
	printf("port %u\n", ntohs(((struct sockaddr_in *)&at)->sin_port));
	for (;;)
		need(!rpcrdma_engine_process(engine, -1), "rpcrdma_engine_process");
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return 2;
	how = argv[1];
	if (!strcmp(how, "nfs"))
		nfs(argv[2]);
	if (!strcmp(how, "nlm"))
		nlm(!strcmp(argv[2], "take"), argv + 3);
	for (const char *p = argv[2]; *p && handle_len < sizeof(handle); p += 2) {
		unsigned octet;

		if (sscanf(p, "%2x", &octet) != 1)
			return 2;
		handle[handle_len++] = (char)octet;
	}
	paths = argv + 3;
	n_paths = (unsigned)argc - 3;
	return mountd();
}
