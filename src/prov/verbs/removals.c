/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memmem */
#include "prov/verbs/removals.h"

#include <linux/netlink.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "prov/verbs/vb_internal.h"

enum {
	KERNELS = 1, /* netlink multicast group of the kernel's events */
	UEVENT_MAX = 8192,
	AT_ONCE = 256, /* limit on messages per call; others stay queued */
};

int rr_verbs_watch_removals(void)
{
	struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = KERNELS};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
	                NETLINK_KOBJECT_UEVENT);
	int err;

	if (fd < 0)
		return -errno;
	if (!bind(fd, (struct sockaddr *)&at, sizeof(at)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/* Returns true if the message reports the removal of an RDMA device, as in
 * "remove@/devices/.../infiniband_verbs/uverbs0".  Other strings follow in the
 * message. */
static bool is_removal(const char *m, size_t len)
{
	static const char what[] = "remove@", of[] = "/infiniband_verbs/";

	return len >= sizeof(what) - 1 && !memcmp(m, what, sizeof(what) - 1) &&
	       memmem(m, strnlen(m, len), of, sizeof(of) - 1);
}

void rr_verbs_read_removals(int fd)
{
	char m[UEVENT_MAX];
	bool gone = false;
	ssize_t n;

	for (unsigned i = 0; i < AT_ONCE; i++) {
		n = recv(fd, m, sizeof(m), 0);
		if (n < 0 && errno != ENOBUFS)
			break;
		gone |= n < 0 || is_removal(m, (size_t)n); /* < 0: messages were lost */
	}
	if (gone)
		rr_vb_dev_sweep();
}
