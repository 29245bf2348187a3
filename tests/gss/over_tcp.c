/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Security contexts that are set up over TCP and used over RDMA, as Linux does it: the
 * server is `rpcrdma nfsd --gss-port`, the client libtirpc's authgss on its own TCP
 * CLIENT; then the same AUTH on a CLIENT over RDMA.               [v2 §11.2.2.1]
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include <gssapi/gssapi_krb5.h>
#include <rpc/rpc.h>
#include <rpc/auth_gss.h>
#include <rpcrdma/gss.h>
#include <rpcrdma/nfs.h>
#include <rpcrdma/tirpc.h>

#define VOID ((xdrproc_t)(void (*)(void))xdr_void)

enum { GETATTR = 1, NFS3ERR_STALE = 70, NFS3ERR_BADHANDLE = 10001 };
enum { MOST_RECORD = 68 << 10 };

static const struct timeval long_time = {.tv_sec = 60};
static pid_t server;
static uint16_t rdma_port, tcp_port;
static FILE *said;

/* The verifier of an error, which libtirpc's TCP client loses. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:xdr_bytes\n";
}

/* -- the server -------------------------------------------------------------------- */

static uint16_t port_in(const char *line)
{
	const char *colon = strrchr(line, ':');

	return colon ? (uint16_t)atoi(colon + 1) : 0;
}

static int start_server(void **state)
{
	char line[256], export[512], kept[512];
	const char *directory = getenv("KDC_DIR"); /* goes with the KDC */
	int p[2];

	(void)state;
	assert_non_null(directory);
	snprintf(export, sizeof(export), "%s:/e", directory);
	snprintf(kept, sizeof(kept), "%s/state", directory);
	assert_int_equal(pipe(p), 0);
	server = fork();
	assert_true(server >= 0);
	if (!server) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(p[1], 1);
		close(p[0]);
		close(p[1]);
		execl(RPCRDMA_TOOL, "rpcrdma", "nfsd", "--export", export, "--listen",
		      "127.0.0.1:0", "--state-dir", kept, "--sec", "krb5,krb5i,krb5p",
		      "--gss-port", "0", (char *)NULL);
		_exit(127);
	}
	close(p[1]);
	said = fdopen(p[0], "r");
	assert_non_null(said);
	while (!tcp_port && fgets(line, sizeof(line), said)) {
		if (!strncmp(line, "listening ", 10))
			rdma_port = port_in(line);
		if (!strncmp(line, "gss ", 4))
			tcp_port = port_in(line);
	}
	return rdma_port && tcp_port ? 0 : -1;
}

static int stop_server(void **state)
{
	int status = -1;

	(void)state;
	kill(server, SIGTERM);
	if (waitpid(server, &status, 0) != server || status)
		return -1;
	fclose(said);
	return 0;
}

/* -- clients ----------------------------------------------------------------------- */

static CLIENT *by_tcp(rpcprog_t program, rpcvers_t version)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	                          .sin_port = htons(tcp_port),
	                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct netbuf at = {sizeof(sin), sizeof(sin), &sin};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	CLIENT *c = clnt_vc_create(fd, &at, program, version, 0, 0);

	assert_non_null(c);
	assert_true(clnt_control(c, CLSET_FD_CLOSE, NULL));
	assert_true(clnt_control(c, CLSET_TIMEOUT, (char *)&long_time));
	return c;
}

static CLIENT *by_rdma(void)
{
	char at[64];
	CLIENT *c;

	snprintf(at, sizeof(at), "localhost:%u", rdma_port);
	c = clnt_rdma_create(at, RPCRDMA_NFS_PROGRAM, 3, NULL);
	assert_non_null(c);
	return c;
}

static AUTH *context(CLIENT *c, rpc_gss_svc_t svc)
{
	struct rpc_gss_sec sec = {.mech = gss_mech_krb5,
	                          .qop = GSS_C_QOP_DEFAULT,
	                          .svc = svc,
	                          .cred = GSS_C_NO_CREDENTIAL,
	                          .req_flags = GSS_C_MUTUAL_FLAG};
	AUTH *a = authgss_create_default(c, (char *)(uintptr_t) "nfs@localhost", &sec);

	assert_non_null(a);
	return a;
}

static enum clnt_stat call_null(CLIENT *c)
{
	return clnt_call(c, NULLPROC, VOID, NULL, VOID, NULL, long_time);
}

static bool_t xdr_handle(XDR *x, char **fh)
{
	u_int len = 32;

	return xdr_bytes(x, fh, &len, 64);
}

/* Of a handle that no server gave: but for who asks, nothing is wrong with the call. */
static enum clnt_stat call_getattr(CLIENT *c, u_int *ret_status)
{
	char octets[32] = "no server gave this handle", *fh = octets;

	return clnt_call(c, GETATTR, (xdrproc_t)(void (*)(void))xdr_handle, (char *)&fh,
	                 (xdrproc_t)(void (*)(void))xdr_u_int, (char *)ret_status,
	                 long_time);
}

/* -- what is served -------------------------------------------------------------- */

static void a_context_made_over_tcp_serves_over_rdma(void **state)
{
	const rpc_gss_svc_t services[] = {RPCSEC_GSS_SVC_NONE, RPCSEC_GSS_SVC_INTEGRITY,
	                                  RPCSEC_GSS_SVC_PRIVACY};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		CLIENT *tcp = by_tcp(RPCRDMA_NFS_PROGRAM, 3), *rdma = by_rdma();
		AUTH *none = rdma->cl_auth;
		u_int status = 0;

		/* Who proves nothing is not served. */
		assert_int_equal(call_getattr(rdma, &status), RPC_AUTHERROR);
		tcp->cl_auth = rdma->cl_auth = context(tcp, services[i]);
		assert_int_equal(call_null(tcp), RPC_SUCCESS);
		for (unsigned n = 0; n < 3; n++) {
			status = 0;
			assert_int_equal(call_getattr(rdma, &status), RPC_SUCCESS);
			assert_true(status == NFS3ERR_BADHANDLE ||
			            status == NFS3ERR_STALE);
			assert_int_equal(call_null(tcp), RPC_SUCCESS);
		}
		rdma->cl_auth = none;
		clnt_destroy(rdma);
		auth_destroy(tcp->cl_auth); /* tells the server, over TCP */
		clnt_destroy(tcp);
	}
}

static void only_null_is_served_over_tcp(void **state)
{
	CLIENT *c = by_tcp(RPCRDMA_NFS_PROGRAM, 3);
	AUTH *none = c->cl_auth;
	u_int status;

	(void)state;
	assert_int_equal(call_null(c), RPC_SUCCESS);
	assert_int_equal(call_getattr(c, &status), RPC_PROCUNAVAIL);
	c->cl_auth = authunix_create_default();
	assert_int_equal(call_null(c), RPC_SUCCESS);
	assert_int_equal(call_getattr(c, &status), RPC_PROCUNAVAIL);
	auth_destroy(c->cl_auth);
	c->cl_auth = context(c, RPCSEC_GSS_SVC_INTEGRITY);
	assert_int_equal(call_getattr(c, &status), RPC_PROCUNAVAIL);
	assert_int_equal(call_null(c), RPC_SUCCESS);
	auth_destroy(c->cl_auth);
	c->cl_auth = none;
	clnt_destroy(c);
}

static void other_programs_and_versions_are_told_apart(void **state)
{
	struct rpc_err e;
	CLIENT *c = by_tcp(RPCRDMA_MOUNT_PROGRAM, 3);

	(void)state;
	assert_int_equal(call_null(c), RPC_SUCCESS);
	clnt_destroy(c);
	c = by_tcp(RPCRDMA_NFS_PROGRAM, 4);
	assert_int_equal(call_null(c), RPC_PROGVERSMISMATCH);
	clnt_geterr(c, &e);
	assert_int_equal(e.re_vers.low, 3);
	assert_int_equal(e.re_vers.high, 3);
	clnt_destroy(c);
	c = by_tcp(100099, 1);
	assert_int_equal(call_null(c), RPC_PROGUNAVAIL);
	clnt_destroy(c);
}

/* -- octets ---------------------------------------------------------------------- */

/* XID, CALL, RPC version, program, version, procedure, credential, verifier; NULL of
 * NFS with AUTH_NONE, unless changed. */
enum { RPC_VERSION = 2, FLAVOR = 6, CRED_LEN = 7, WORDS = 10 };
struct words {
	uint32_t w[WORDS];
};

static struct words null_of_nfs(void)
{
	return (struct words){{0x77, 0, 2, RPCRDMA_NFS_PROGRAM, 3, 0, 0, 0, 0, 0}};
}

static size_t to_octets(const uint32_t *w, unsigned n, uint32_t *ret)
{
	for (unsigned i = 0; i < n; i++)
		ret[i] = htonl(w[i]);
	return 4 * (size_t)n;
}

static int raw_connection(void)
{
	struct sockaddr_in sin = {.sin_family = AF_INET,
	                          .sin_port = htons(tcp_port),
	                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	return fd;
}

/* The words of an answer; 0: the connection was closed. */
static unsigned answer_to(const void *octets, size_t len, uint32_t ret[64])
{
	int fd = raw_connection();
	struct pollfd p = {fd, POLLIN, 0};
	size_t got = 0;

	assert_int_equal(send(fd, octets, len, MSG_NOSIGNAL), len);
	while (got < 4 || got < 4 + (ntohl(ret[0]) & 0x7fffffff)) {
		ssize_t n;

		assert_int_equal(poll(&p, 1, 30000), 1);
		n = recv(fd, (uint8_t *)ret + got, 256 - got, 0);
		if (n <= 0) {
			got = 0;
			break;
		}
		got += (size_t)n;
	}
	close(fd);
	for (unsigned i = 0; i < got / 4; i++)
		ret[i] = ntohl(ret[i]);
	return (unsigned)(got / 4);
}

static unsigned answer_to_words(const struct words *k, uint32_t ret[64])
{
	struct {
		uint32_t mark, w[WORDS];
	} m = {.mark = htonl(1u << 31 | sizeof(k->w))};

	to_octets(k->w, WORDS, m.w);
	return answer_to(&m, sizeof(m), ret);
}

static void what_is_no_call_ends_the_connection(void **state)
{
	struct words k = null_of_nfs();
	uint32_t got[64], mark = htonl(1u << 31 | (MOST_RECORD + 1));

	(void)state;
	k.w[1] = 1; /* a Reply */
	assert_int_equal(answer_to_words(&k, got), 0);
	k = null_of_nfs();
	k.w[CRED_LEN] = 401;
	assert_int_equal(answer_to_words(&k, got), 0);
	assert_int_equal(answer_to(&mark, sizeof(mark), got), 0);
	k = null_of_nfs();
	assert_int_equal(answer_to_words(&k, got), 7); /* it serves others */
}

static void other_versions_of_rpc_are_refused(void **state)
{
	const uint32_t want[] = {1u << 31 | 24, 0x77, 1, 1, 0, 2, 2};
	struct words k = null_of_nfs();
	uint32_t got[64];

	(void)state;
	k.w[RPC_VERSION] = 3;
	assert_int_equal(answer_to_words(&k, got), 7);
	assert_memory_equal(got, want, sizeof(want));
}

static void a_credential_that_is_none_is_refused(void **state)
{
	const uint32_t want[] = {1u << 31 | 20, 0x77, 1, 1, 1, AUTH_BADCRED};
	struct words k = null_of_nfs();
	uint32_t got[64];

	(void)state;
	k.w[FLAVOR] = RPCRDMA_AUTH_GSS;
	assert_int_equal(answer_to_words(&k, got), 6);
	assert_memory_equal(got, want, sizeof(want));
}

/* -- the function ------------------------------------------------------------------ */

static void without_keys_there_are_no_contexts(void **state)
{
	const uint32_t want[] = {0x77, 1, 1, 1, AUTH_BADCRED};
	struct rpcrdma_service *s;
	struct words k = null_of_nfs();
	uint32_t octets[WORDS], *reply = NULL;
	void *p = NULL;
	size_t len = 0;

	(void)state;
	assert_int_equal(rpcrdma_service_new(&s), 0);
	k.w[FLAVOR] = RPCRDMA_AUTH_GSS;
	to_octets(k.w, WORDS, octets);
	assert_int_equal(
	        rpcrdma_service_answer_tcp(s, NULL, octets, sizeof(octets), &p, &len),
	        0);
	assert_int_equal(len, sizeof(want));
	reply = p;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(ntohl(reply[i]), want[i]);
	free(p);
	assert_int_equal(rpcrdma_service_answer_tcp(s, NULL, octets, 39, &p, &len),
	                 -EBADMSG);
	rpcrdma_service_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	        cmocka_unit_test(a_context_made_over_tcp_serves_over_rdma),
	        cmocka_unit_test(only_null_is_served_over_tcp),
	        cmocka_unit_test(other_programs_and_versions_are_told_apart),
	        cmocka_unit_test(what_is_no_call_ends_the_connection),
	        cmocka_unit_test(other_versions_of_rpc_are_refused),
	        cmocka_unit_test(a_credential_that_is_none_is_refused),
	        cmocka_unit_test(without_keys_there_are_no_contexts),
	};

	return cmocka_run_group_tests(tests, start_server, stop_server);
}
