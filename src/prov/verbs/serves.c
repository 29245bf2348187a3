/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* eaccess */
#include "prov/verbs/serves.h"

#include <dirent.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_verbs.h>

#include "prov/verbs/kernel_query.h"
#include "prov/verbs/vb_internal.h"

#define NODES "/dev/infiniband/"

/* Returns true if sysfs lists an RDMA device.  On machines without a device, rdma-core
 * is therefore not loaded. */
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

int rr_verbs_check_present(bool load)
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

static bool is_special_addr(const struct sockaddr_storage *a)
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
		return true; /* an unknown address family */
	}
	v4 = ntohl(v4);
	return v4 == INADDR_ANY || v4 >> 24 == IN_LOOPBACKNET;
}

/* Returns true if libibverbs has a driver for the device file, and we have permission
 * to open the file. */
static bool is_usable_node(const struct rr_rdma_lib *lib, const char *node)
{
	struct ibv_device **list = lib->ibv_get_device_list(NULL);
	char path[sizeof(((struct rr_rdma_node *)0)->name) + sizeof(NODES)];
	bool found = false;

	for (unsigned i = 0; list && list[i] && !found; i++)
		found = !strcmp(list[i]->dev_name, node);
	if (list)
		lib->ibv_free_device_list(list);
	snprintf(path, sizeof(path), "%s%s", NODES, node);
	return found && !eaccess(path, R_OK | W_OK);
}

bool rr_verbs_is_preferred(const struct sockaddr *sa, socklen_t len)
{
	const struct rr_rdma_lib *lib;
	struct sockaddr_storage a = {0};
	struct rr_rdma_node node;
	uint32_t index;

	if (len > sizeof(a))
		return false;
	memcpy(&a, sa, len);
	if (is_special_addr(&a) || !kernel_has_devices() ||
	    rr_rdma_find_device(&a, &index))
		return false;
	if (rr_rdma_get_node(index, &node)) /* a kernel too old for siw */
		return !rr_verbs_check_present(false);
	if (node.driver == RDMA_DRIVER_SIW)
		return false;
	lib = rr_rdma_lib();
	return lib && is_usable_node(lib, node.name);
}
