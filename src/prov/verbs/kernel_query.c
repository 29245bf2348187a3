/* SPDX-License-Identifier: BSD-3-Clause */
#include "prov/verbs/kernel_query.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>

/* ---- netlink ---- */

enum { ANSWER_MAX = 1024, RC = 2 /* the kernel's enum ib_qp_type */ };

struct question {
	struct nlmsghdr head;
	uint8_t attrs[64];
};

static void put_attr(struct question *q, uint16_t type, const void *p, size_t len)
{
	size_t at = q->head.nlmsg_len;
	struct nlattr a = {(uint16_t)(NLA_HDRLEN + len), type};

	RR_ASSERT(at + NLA_HDRLEN + NLA_ALIGN(len) <= sizeof(*q));
	memcpy((uint8_t *)q + at, &a, sizeof(a));
	memcpy((uint8_t *)q + at + NLA_HDRLEN, p, len);
	q->head.nlmsg_len += (uint32_t)(NLA_HDRLEN + NLA_ALIGN(len));
}

static void take_attr(struct rr_rdma_node *n, unsigned type, const uint8_t *p,
                      size_t len)
{
	if (type == RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID && len >= sizeof(n->driver))
		memcpy(&n->driver, p, sizeof(n->driver));
	if (type == RDMA_NLDEV_ATTR_CHARDEV_NAME && len && len <= sizeof(n->name) &&
	    !p[len - 1])
		memcpy(n->name, p, len);
}

static int read_answer(const uint8_t *p, size_t len, struct rr_rdma_node *ret)
{
	struct rr_rdma_node n = {.driver = UINT32_MAX};
	struct nlmsghdr h;
	struct nlattr a;
	int32_t err;
	size_t step;

	if (len < sizeof(h) + sizeof(err))
		return -EBADMSG;
	memcpy(&h, p, sizeof(h));
	memcpy(&err, p + sizeof(h), sizeof(err));
	if (h.nlmsg_type == NLMSG_ERROR)
		return err < 0 ? err : -EBADMSG;
	p += sizeof(h);
	len -= sizeof(h);
	while (len >= sizeof(a)) {
		memcpy(&a, p, sizeof(a));
		if (a.nla_len < sizeof(a) || a.nla_len > len)
			return -EBADMSG;
		take_attr(&n, a.nla_type & NLA_TYPE_MASK, p + sizeof(a),
		          a.nla_len - sizeof(a));
		step = RR_MIN((size_t)NLA_ALIGN(a.nla_len), len);
		p += step;
		len -= step;
	}
	if (!n.name[0])
		return -EBADMSG;
	*ret = n;
	return 0;
}

/* Sends @q and reads the kernel's answer, which is available when send() returns. */
static int ask_netlink(const struct question *q, struct rr_rdma_node *ret)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	uint8_t buf[ANSWER_MAX];
	ssize_t n = -1;
	int err;

	if (fd < 0)
		return -errno;
	if (send(fd, q, q->head.nlmsg_len, 0) >= 0)
		n = recv(fd, buf, sizeof(buf), MSG_DONTWAIT);
	err = n < 0 ? -errno : read_answer(buf, (size_t)n, ret);
	close(fd);
	return err;
}

/* Finds a device file.  If necessary, the kernel loads the module that creates it. */
static int find_node(const char *kind, uint32_t index, struct rr_rdma_node *ret)
{
	struct question q = {
	        .head = {.nlmsg_len = NLMSG_HDRLEN,
	                 .nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV,
	                                                RDMA_NLDEV_CMD_GET_CHARDEV),
	                 .nlmsg_flags = NLM_F_REQUEST},
	};

	if (index != RR_RDMA_NO_INDEX)
		put_attr(&q, RDMA_NLDEV_ATTR_DEV_INDEX, &index, sizeof(index));
	put_attr(&q, RDMA_NLDEV_ATTR_CHARDEV_TYPE, kind, strlen(kind) + 1);
	return ask_netlink(&q, ret);
}

int rr_rdma_get_node(uint32_t index, struct rr_rdma_node *ret)
{
	struct rr_rdma_node n;
	int err = index == RR_RDMA_NO_INDEX ? -ENODEV : find_node("uverbs", index, &n);

	if (!err && n.driver == UINT32_MAX)
		err = -EOPNOTSUPP;
	if (!err)
		*ret = n;
	return err;
}

/* ---- the connection manager ---- */

static int open_manager(void)
{
	static const char path[] = "/dev/infiniband/rdma_cm";
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct rr_rdma_node n;

	if (fd < 0 && errno == ENOENT && !find_node("rdma_cm", RR_RDMA_NO_INDEX, &n))
		fd = open(path, O_RDWR | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Sends a command.  @cmd begins with space for the header, which is filled in here. */
static int send_command(int fd, uint32_t what, void *cmd, size_t len, size_t answer_len)
{
	struct rdma_ucm_cmd_hdr h = {.cmd = what,
	                             .in = (uint16_t)(len - sizeof(h)),
	                             .out = (uint16_t)answer_len};

	memcpy(cmd, &h, sizeof(h));
	return write(fd, cmd, len) == (ssize_t)len ? 0 : -errno;
}

static int create_id(int fd, uint32_t *ret)
{
	struct rdma_ucm_create_id_resp r = {0};
	struct {
		struct rdma_ucm_cmd_hdr head;
		struct rdma_ucm_create_id body;
	} c = {.body = {.response = (uintptr_t)&r, .ps = RDMA_PS_TCP, .qp_type = RC}};
	int err =
	        send_command(fd, RDMA_USER_CM_CMD_CREATE_ID, &c, sizeof(c), sizeof(r));

	if (!err)
		*ret = r.id;
	return err;
}

/* Binds the id to the address and any free port. */
static int bind_id(int fd, uint32_t id, const struct sockaddr_storage *a)
{
	struct {
		struct rdma_ucm_cmd_hdr head;
		struct rdma_ucm_bind_ip body;
	} c = {.body = {.id = id}};

	if (a->ss_family != AF_INET && a->ss_family != AF_INET6)
		return -EAFNOSUPPORT;
	memcpy(&c.body.addr, a,
	       a->ss_family == AF_INET ? sizeof(struct sockaddr_in)
	                               : sizeof(struct sockaddr_in6));
	c.body.addr.sin6_port = 0; /* at the same offset in both families */
	return send_command(fd, RDMA_USER_CM_CMD_BIND_IP, &c, sizeof(c), 0);
}

static int query_id(int fd, uint32_t id, uint32_t *ret)
{
	struct rdma_ucm_query_route_resp r = {.ibdev_index = RR_RDMA_NO_INDEX};
	struct {
		struct rdma_ucm_cmd_hdr head;
		struct rdma_ucm_query body;
	} c = {.body = {.response = (uintptr_t)&r, .id = id}};
	int err = send_command(fd, RDMA_USER_CM_CMD_QUERY_ROUTE, &c, sizeof(c),
	                       sizeof(r));

	if (!err && !r.port_num) /* port numbers start at 1 */
		err = -ENODEV;
	if (!err)
		*ret = r.ibdev_index;
	return err;
}

int rr_rdma_find_device(const struct sockaddr_storage *a, uint32_t *ret)
{
	int fd = open_manager();
	uint32_t id;
	int err;

	if (fd < 0)
		return fd;
	err = create_id(fd, &id);
	if (!err)
		err = bind_id(fd, id, a);
	if (!err)
		err = query_id(fd, id, ret);
	close(fd); /* also destroys the id */
	return err;
}
