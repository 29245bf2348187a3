/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes and decodes AUTH_SYS bodies.                        [RFC 5531 appendix A] */
#include <rpcrdma/rpcrdma.h>

#include <string.h>

#include "base/base.h"
#include "base/cursor.h"

int rpcrdma_auth_sys_encode(void *buf, size_t size, uint32_t stamp, const char *machine,
                            uint32_t uid, uint32_t gid, const uint32_t *gids,
                            unsigned n_gids)
{
	struct rr_writer w = rr_writer_over(buf, size);
	size_t len = strlen(machine);

	if (len > 255 || n_gids > 16)
		return -EINVAL;
	rr_put_u32(&w, stamp);
	rr_put_u32(&w, (uint32_t)len);
	rr_put_padded(&w, machine, len);
	rr_put_u32(&w, uid);
	rr_put_u32(&w, gid);
	rr_put_u32(&w, n_gids);
	for (unsigned i = 0; i < n_gids; i++)
		rr_put_u32(&w, gids[i]);
	return rr_writer_bad(&w) ? -EMSGSIZE : (int)rr_writer_used(&w);
}

int rpcrdma_auth_sys_decode(const struct rpcrdma_auth *a, struct rpcrdma_auth_sys *ret)
{
	struct rr_cursor c = rr_cursor_over(a->body, a->len);
	struct rpcrdma_auth_sys s = {.stamp = rr_get_u32(&c)};
	uint32_t len = rr_get_u32(&c);
	const char *machine;

	if (a->flavor != RPCRDMA_AUTH_SYS || len > 255)
		return -EBADMSG;
	machine = rr_get_bytes(&c, len + rr_pad(len));
	s.uid = rr_get_u32(&c);
	s.gid = rr_get_u32(&c);
	s.n_gids = rr_get_u32(&c);
	if (rr_cursor_bad(&c) || s.n_gids > 16)
		return -EBADMSG;
	for (unsigned i = 0; i < s.n_gids; i++)
		s.gids[i] = rr_get_u32(&c);
	if (rr_cursor_bad(&c))
		return -EBADMSG;
	memcpy(s.machine, machine, len);
	*ret = s;
	return 0;
}
