/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* memmem */
#include "played/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>

enum { INDEX = 7, ID = 42 };

struct played_kernel played_kernel;
static struct played_kernel *const k = &played_kernel;

/* -- the kernel's files -------------------------------------------------------- */

DIR *__wrap_opendir(const char *path);
int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_eaccess(const char *path, int mode);
ssize_t __real_write(int fd, const void *p, size_t len);
ssize_t __wrap_write(int fd, const void *p, size_t len);
int __real_socket(int family, int type, int protocol);
int __wrap_socket(int family, int type, int protocol);
ssize_t __real_send(int fd, const void *p, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *p, size_t len, int flags);

DIR *__wrap_opendir(const char *path)
{
	return __real_opendir(strcmp(path, "/sys/class/infiniband") ? path : "/proc");
}

int __wrap_open(const char *path, int flags, ...)
{
	if (!strncmp(path, "/dev/infiniband/uverbs", 22)) {
		k->opened++;
		errno = EACCES;
		return -1;
	}
	if (strcmp(path, "/dev/infiniband/rdma_cm"))
		return __real_open(path, flags, 0600);
	if (!k->manager) {
		errno = ENOENT;
		return -1;
	}
	k->manager_fd = eventfd(0, EFD_CLOEXEC);
	return k->manager_fd;
}

int __wrap_eaccess(const char *path, int mode)
{
	assert_string_equal("/dev/infiniband/uverbs3", path);
	assert_int_equal(R_OK | W_OK, mode);
	errno = EACCES;
	return k->forbidden ? -1 : 0;
}

/* -- its connection manager ---------------------------------------------------- */

static void answer(uint64_t where, uint16_t room, const void *p, size_t len)
{
	memcpy((void *)(uintptr_t)where, p, RR_MIN(len, (size_t)room));
}

static int bind_ip(const struct rdma_ucm_bind_ip *b)
{
	assert_int_equal(ID, b->id);
	memcpy(&k->bound, &b->addr, sizeof(k->bound));
	k->binds++;
	errno = k->bind_errno;
	return k->bind_errno ? -1 : 0;
}

static void query(const struct rdma_ucm_query *q, uint16_t room)
{
	struct rdma_ucm_query_route_resp r = {.port_num = k->serves,
	                                      .ibdev_index = k->serves ? INDEX : 0};

	assert_int_equal(ID, q->id);
	answer(q->response, room, &r,
	       k->old_kernel ? offsetof(struct rdma_ucm_query_route_resp, ibdev_index)
	                     : sizeof(r));
}

ssize_t __wrap_write(int fd, const void *p, size_t len)
{
	struct rdma_ucm_create_id_resp id = {ID};
	const struct rdma_ucm_cmd_hdr *h = p;
	const void *body = h + 1;

	if (fd != k->manager_fd)
		return __real_write(fd, p, len);
	assert_int_equal(len, sizeof(*h) + h->in);
	switch (h->cmd) {
	case RDMA_USER_CM_CMD_CREATE_ID:
		answer(((const struct rdma_ucm_create_id *)body)->response, h->out, &id,
		       sizeof(id));
		break;
	case RDMA_USER_CM_CMD_BIND_IP:
		if (bind_ip(body))
			return -1;
		break;
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
		query(body, h->out);
		break;
	default:
		fail();
	}
	return (ssize_t)len;
}

/* -- its netlink --------------------------------------------------------------- */

int __wrap_socket(int family, int type, int protocol)
{
	int fds[2];

	if (family != AF_NETLINK)
		return __real_socket(family, type, protocol);
	assert_int_equal(NETLINK_RDMA, protocol);
	assert_int_equal(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, fds));
	k->netlink_far = fds[1];
	return fds[0];
}

struct attr {
	struct nlattr head;
	char value[8]; /* so that the next one follows at once */
};

static struct attr attr(uint16_t type, const void *p, uint16_t len)
{
	struct attr a = {.head = {(uint16_t)(NLA_HDRLEN + len), type}};

	memcpy(a.value, p, len);
	return a;
}

/* @q: the attributes of the question. */
static void answer_node(const uint8_t *q, size_t len)
{
	struct {
		struct nlmsghdr head;
		struct attr name, driver;
	} m = {.head = {.nlmsg_len = sizeof(m)}};
	uint32_t index;

	if (memmem(q, len, "rdma_cm", 8)) {
		k->manager = true;
		m.name = attr(RDMA_NLDEV_ATTR_CHARDEV_NAME, "rdma_cm", 8);
	} else {
		assert_non_null(memmem(q, len, "uverbs", 7));
		memcpy(&index, q + NLA_HDRLEN, sizeof(index));
		assert_int_equal(INDEX, index);
		m.name = attr(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs3", 8);
	}
	m.driver = attr(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, &k->driver, 4);
	(void)!__real_write(k->netlink_far, &m,
	                    offsetof(__typeof__(m), driver.value) + 4);
}

static void refuse_question(void)
{
	struct {
		struct nlmsghdr head;
		struct nlmsgerr err;
	} m = {.head = {.nlmsg_len = sizeof(m), .nlmsg_type = NLMSG_ERROR},
	       .err.error = -EINVAL};

	(void)!__real_write(k->netlink_far, &m, sizeof(m));
}

ssize_t __wrap_send(int fd, const void *p, size_t len, int flags)
{
	const struct nlmsghdr *h = p;

	assert_int_equal(len, h->nlmsg_len);
	assert_int_equal(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_GET_CHARDEV),
	                 h->nlmsg_type);
	if (k->old_kernel)
		refuse_question();
	else
		answer_node((const uint8_t *)(h + 1), len - sizeof(*h));
	close(k->netlink_far);
	return (ssize_t)len;
}
