/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/verbs/serves.h"

#include <dirent.h>
#include <netinet/in.h>

#include "prov/verbs/internal.h"

/* What the kernel says, which takes no library: rdma-core is not loaded for the
 * many who have no device. */
static bool kernel_has_devices(void)
{
	DIR *d = opendir("/sys/class/infiniband");
	const struct dirent *e;
	bool any = false;

	if (!d)
		return false;
	while (!any && (e = readdir(d)))
		any = e->d_name[0] != '.';
	closedir(d);
	return any;
}

int rr_verbs_present(bool load)
{
	const struct rr_rdma_lib *lib;
	struct ibv_device **list;
	int n = 0;

	if (!load && !kernel_has_devices())
		return -ENODEV;
	lib = rr_rdma_lib();
	if (!lib)
		return -ENOPKG;
	if (!kernel_has_devices())
		return -ENODEV;
	list = lib->ibv_get_device_list(&n);
	if (list)
		lib->ibv_free_device_list(list);
	return list && n > 0 ? 0 : -ENODEV;
}

static bool special(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *in = (const void *)a;
	const struct sockaddr_in6 *in6 = (const void *)a;
	uint32_t v4;

	if (a->ss_family == AF_INET6) {
		const struct in6_addr *ip = &in6->sin6_addr;

		if (!IN6_IS_ADDR_V4MAPPED(ip))
			return IN6_IS_ADDR_UNSPECIFIED(ip) || IN6_IS_ADDR_LOOPBACK(ip);
		memcpy(&v4, ip->s6_addr + 12, sizeof(v4));
	} else if (a->ss_family == AF_INET) {
		v4 = in->sin_addr.s_addr;
	} else {
		return true; /* not an address that we know */
	}
	v4 = ntohl(v4);
	return v4 == INADDR_ANY || v4 >> 24 == IN_LOOPBACKNET;
}

/* By the vendor that it gives as its own; its name is whatever its maker liked. */
enum { SIW_VENDOR = 0x626d74 };

bool rr_verbs_is_siw(const struct rr_rdma_lib *lib, struct ibv_context *ctx)
{
	struct ibv_device_attr a;

	memset(&a, 0, sizeof(a));
	return ctx->device->transport_type == IBV_TRANSPORT_IWARP &&
	       !lib->ibv_query_device(ctx, &a) && a.vendor_id == SIW_VENDOR;
}

/* The connection manager finds the device of an address when it binds to it. */
static bool binds(const struct rr_rdma_lib *lib, struct rdma_event_channel *ch,
                  struct sockaddr *sa)
{
	struct rdma_cm_id *id;
	bool preferred = false;

	if (lib->rdma_create_id(ch, &id, NULL, RDMA_PS_TCP))
		return false;
	if (!lib->rdma_bind_addr(id, sa) && id->verbs) {
		rr_vb_dev_note(id->verbs);
		preferred = !rr_verbs_is_siw(lib, id->verbs);
	}
	(void)lib->rdma_destroy_id(id); /* fails for a bad argument only */
	return preferred;
}

bool rr_verbs_preferred(const struct sockaddr *sa, socklen_t len)
{
	const struct rr_rdma_lib *lib;
	struct rdma_event_channel *ch;
	struct sockaddr_storage a = {0};
	bool preferred;

	if (len > sizeof(a))
		return false;
	memcpy(&a, sa, len);
	if (special(&a) || rr_verbs_present(false))
		return false;
	if (a.ss_family == AF_INET6) /* any port that is free */
		((struct sockaddr_in6 *)&a)->sin6_port = 0;
	else
		((struct sockaddr_in *)&a)->sin_port = 0;
	lib = rr_rdma_lib();
	if (rr_rdma_channel(lib, &ch))
		return false;
	preferred = binds(lib, ch, (struct sockaddr *)&a);
	lib->rdma_destroy_event_channel(ch);
	return preferred;
}
