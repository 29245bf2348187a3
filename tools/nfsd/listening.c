/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The addresses of `rpcrdma nfsd`: its RDMA listeners; its TCP listeners for MOUNT, NLM
 * and RPCSEC_GSS contexts at the same addresses; the registration of all listeners with
 * rpcbind; and the lines that announce the listeners to scripts.
 */
#include "daemon.h"
#include "nlm.h"
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	MAX_MESSAGE = NFSD_MAX_IO + (1 << 20), /* fits an inline WRITE or READ */
	CLIENT_MEMORY = 32 << 20,
	MAX_NULL_CALL = 68 << 10, /* octets, including a GSS-API token */
};

/* Returns the number of octets that one client's requests may use. */
static uint64_t bound_client_memory(void)
{
	struct rpcrdma_budget b;

	rpcrdma_budget_get(&b, sizeof(b));
	return b.limit_bytes / 4 < CLIENT_MEMORY ? b.limit_bytes / 4 : CLIENT_MEMORY;
}

/* Warns at start if the limit on locked memory is low, because a client that is refused
 * for lack of locked memory does not learn the reason. */
static void check_memlock(void)
{
	struct rlimit r;

	if (!geteuid() || getrlimit(RLIMIT_MEMLOCK, &r) ||
	    r.rlim_cur >= bound_client_memory())
		return;
	tool_log(TOOL_WARNING,
	         "RDMA devices need locked memory, of which %s is allowed (ulimit -l; "
	         "LimitMEMLOCK= of a service): clients may be refused",
	         tool_human(r.rlim_cur));
}

static int report_not_listening(const char *address, int e)
{
	const char *reason = tool_provider_reason(e);

	if (e == -ENXIO)
		reason = "the name has no known address";
	tool_error("cannot listen on %s: %s%s",
	           address ? tool_quote(address) : "any address, port 20049", reason,
	           e == -ENXIO || e == -EINVAL
	                   ? " (--listen ADDR:PORT, the port a number up to 65535)"
	                   : "");
	return e;
}

static int listen_rdma(struct daemon *s)
{
	struct rpcrdma_conn_options o;
	bool devices = false;
	int e;

	tool_conn_options(&s->common, &o);
	o.max_per_address = (uint32_t)s->max_per_address;
	o.max_message_bytes = MAX_MESSAGE;
	o.max_held_bytes = bound_client_memory();
	for (unsigned i = 0; i < s->n_listen; i++) {
		e = rpcrdma_listen(s->engines[0], s->listen[i], &o, s->service,
		                   (unsigned)s->connections, &s->listeners[i]);
		if (e)
			return report_not_listening(s->listen[i], e);
		s->n_listeners++;
		e = engines_share(s, s->listeners[i]);
		if (e) {
			tool_error("cannot start: %s", strerror(-e));
			return e;
		}
		if (strstr(rpcrdma_listener_provider(s->listeners[i]), "verbs")) {
			s->nfsd.engine_keeps_identity = s->nfsd.privileged;
			devices = true;
		}
		rpcrdma_listener_set_event(s->listeners[i], report_client,
		                           s->common.verbose ? s : NULL);
	}
	if (devices)
		check_memlock();
	return 0;
}

static void *answer_null_call(void *arg, const struct sockaddr_storage *peer,
                              const void *record, size_t len, size_t *ret_len,
                              bool *ret_failed)
{
	struct daemon *s = arg;
	void *reply = NULL;

	*ret_failed =
	        rpcrdma_service_answer_tcp(s->service, (const struct sockaddr *)peer,
	                                   record, len, &reply, ret_len) != 0;
	return reply;
}

/* Listens on TCP @port at the address of each RDMA listener.  Returns 0 or a
 * negative errno. */
static int listen_tcp(struct daemon *s, const char *what, uint32_t port,
                      const struct tcpd_service *service, struct tcpd **ret)
{
	struct sockaddr_storage ss;
	int e = 0;

	if (port == NO_PORT)
		return 0;
	*ret = tcpd_new(service);
	if (!*ret)
		return -ENOMEM;
	for (unsigned i = 0; i < s->n_listeners && !e; i++) {
		e = rpcrdma_listener_addr(s->listeners[i], &ss);
		if (!e)
			e = tcpd_listen(*ret, &ss, htons((uint16_t)port));
	}
	if (e)
		tool_error("cannot listen for %s on TCP port %u: %s%s", what,
		           (unsigned)port, strerror(-e),
		           e == -EADDRINUSE && ret == &s->mountd
		                   ? " (--mount-port names another)"
		                   : "");
	return e;
}

static int listen_tcp_services(struct daemon *s)
{
	const struct tcpd_service mount = {mount_rpc_answer, &s->mount_rpc,
	                                   MOUNT_RPC_RECORD};
	const struct tcpd_service gss = {answer_null_call, s, MAX_NULL_CALL};
	int e;

	s->mount_rpc.nfsd = &s->nfsd;
	e = listen_tcp(s, "MOUNT", s->mount_port, &mount, &s->mountd);
	return e ? e : listen_tcp(s, "RPCSEC_GSS", s->gss_port, &gss, &s->gssd);
}

static int report_not_registered(int e, const char *what, const char *remedy)
{
	if (e == -EEXIST)
		tool_error("cannot register with rpcbind: another address is "
		           "registered for %s, where a server may still answer; stop "
		           "that server, or remove its registration: %s",
		           what, remedy);
	else
		tool_error("cannot register with rpcbind: %s",
		           e == -ECONNREFUSED ? "it is not running on this host"
		                              : strerror(-e));
	return e;
}

static void report_not_removed(int e)
{
	if (e)
		tool_error("cannot remove the registration with rpcbind: %s",
		           strerror(-e));
}

/* The registered versions of NLM. */
static const uint32_t nlm_versions[] = {4, 3, 1};

/* Finds the NLM registration with index @i: there is one registration for each version
 * at each of MOUNT's TCP addresses.  Returns false if @i is too large. */
static bool find_nlm_registration(const struct daemon *s, unsigned i,
                                  uint32_t *ret_version, struct sockaddr_storage *ret)
{
	const unsigned n = sizeof(nlm_versions) / sizeof(nlm_versions[0]);

	*ret_version = nlm_versions[i % n];
	return tcpd_addr(s->mountd, i / n, ret);
}

/* Removes the NLM registrations.  Ignores those that no longer exist, because another
 * lock manager may have replaced them. */
static void unregister_nlm(struct daemon *s)
{
	struct sockaddr_storage ss;
	uint32_t version;
	int e;

	while (s->n_registered_nlm &&
	       find_nlm_registration(s, --s->n_registered_nlm, &version, &ss)) {
		e = rpcrdma_unregister_tcp(NLM_PROGRAM, version,
		                           (const struct sockaddr *)&ss, 0);
		report_not_removed(e == -ENOENT ? 0 : e);
	}
}

/* Registers all versions of NLM.  If another lock manager, such as the kernel's, is
 * already registered on this host, registers none, and clients use that lock manager.
 * In either case, no locks are granted on this server's files. */
static int register_nlm(struct daemon *s)
{
	struct sockaddr_storage ss;
	uint32_t version;
	int e = 0;

	while (!e && find_nlm_registration(s, s->n_registered_nlm, &version, &ss)) {
		e = rpcrdma_register_tcp(NLM_PROGRAM, version,
		                         (const struct sockaddr *)&ss, 0);
		if (!e)
			s->n_registered_nlm++;
	}
	if (e != -EEXIST)
		return e ? report_not_registered(e, "NLM on TCP", "rpcinfo -d 100021 4")
		         : 0;
	tool_log(TOOL_NOTICE,
	         "another lock manager is registered with rpcbind (program %d): "
	         "clients use that one",
	         NLM_PROGRAM);
	unregister_nlm(s);
	return 0;
}

/* Registers the listeners with rpcbind.  Blocks, so call this before the engine's loop
 * runs. */
static int register_listeners(struct daemon *s)
{
	struct sockaddr_storage ss;
	int e;

	while (s->n_registered < s->n_listeners) {
		e = rpcrdma_listener_register(s->listeners[s->n_registered], 0);
		if (e)
			return report_not_registered(
			        e, "NFS or MOUNT on RDMA",
			        "rpcinfo -d 100003 3; rpcinfo -d 100005 "
			        "3");
		s->n_registered++;
	}
	while (tcpd_addr(s->mountd, s->n_registered_tcp, &ss)) {
		e = rpcrdma_register_tcp(RPCRDMA_MOUNT_PROGRAM, 3,
		                         (const struct sockaddr *)&ss, 0);
		if (e)
			return report_not_registered(e, "MOUNT on TCP",
			                             "rpcinfo -d 100005 3");
		s->n_registered_tcp++;
	}
	return register_nlm(s);
}

void listening_unregister(struct daemon *s)
{
	struct sockaddr_storage ss;

	unregister_nlm(s);
	while (s->n_registered_tcp && tcpd_addr(s->mountd, --s->n_registered_tcp, &ss))
		report_not_removed(rpcrdma_unregister_tcp(
		        RPCRDMA_MOUNT_PROGRAM, 3, (const struct sockaddr *)&ss, 0));
	while (s->n_registered)
		report_not_removed(rpcrdma_listener_unregister(
		        s->listeners[--s->n_registered], 0));
}

int listening_announce(const struct daemon *s)
{
	bool json = s->common.json;
	struct sockaddr_storage ss;

	for (unsigned i = 0; i < s->n_listeners; i++) {
		int e = rpcrdma_listener_addr(s->listeners[i], &ss);

		if (e)
			return e;
		report_listening(&ss, rpcrdma_listener_provider(s->listeners[i]),
		                 s->common.version == 1 ? 1 : 2, json);
	}
	for (unsigned i = 0; tcpd_addr(s->mountd, i, &ss); i++)
		report_tcp("mountd", &ss, json);
	for (unsigned i = 0; tcpd_addr(s->gssd, i, &ss); i++)
		report_tcp("gss", &ss, json);
	return fflush(stdout) ? tool_output_failed(NULL) : 0;
}

int listening_begin(struct daemon *s)
{
	int e = listen_rdma(s);

	if (!e)
		e = listen_tcp_services(s);
	return e || !s->registers ? e : register_listeners(s);
}
