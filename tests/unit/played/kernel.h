/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernel's part in the choice of a provider, played: its device files, its
 * connection manager and its netlink of RDMA devices.  A program that links this is
 * linked with --wrap of opendir, open, eaccess, write, socket and send.  (The kernel's
 * headers and rdma-core's cannot be included together.)
 */
#ifndef RR_TESTS_PLAYED_KERNEL_H
#define RR_TESTS_PLAYED_KERNEL_H

#include <dirent.h>
#include <netinet/in.h>

#include "base/base.h"

struct played_kernel {
	uint32_t driver;
	bool serves;     /* the address that is bound to */
	bool old_kernel; /* says neither index nor driver */
	bool manager;    /* its module is loaded */
	int bind_errno;
	bool forbidden; /* the device's file, uverbs3 */
	/* what happened */
	unsigned opened, binds;
	struct sockaddr_in bound;
	int manager_fd, netlink_far;
};

extern struct played_kernel played_kernel;

/* opendir, itself. */
DIR *__real_opendir(const char *path);

#endif
