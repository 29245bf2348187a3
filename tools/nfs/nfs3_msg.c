/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * XDR in memory for the NFS server and the NFS client tools; contracts in nfs3_msg.h.
 * rpcgen generates the code for structures.  This file adds support for names of
 * limited length, items and lists, and checks that no octets remain after decoding.
 */
#include "nfs3_msg.h"
#include <errno.h>
#include <rpcrdma/cursor.h>
#include <stdlib.h>
#include <string.h>

int nfs3_encode(void *buf, size_t size, xdrproc_t proc, const void *obj)
{
	XDR x;

	if (size > INT32_MAX)
		size = INT32_MAX;
	xdrmem_create(&x, buf, (u_int)size, XDR_ENCODE);
	/* Encoding does not change the object; the cast is needed because XDR functions
	 * have one type for encoding and decoding. */
	if (!proc(&x, (void *)(uintptr_t)obj))
		return -EMSGSIZE;
	return (int)xdr_getpos(&x);
}

int nfs3_decode(const void *buf, size_t len, xdrproc_t proc, void *obj, size_t obj_size)
{
	XDR x;

	if (len > INT32_MAX)
		len = INT32_MAX;
	memset(obj, 0, obj_size);
	xdrmem_create(&x, (char *)(uintptr_t)buf, (u_int)len, XDR_DECODE);
	if (!proc(&x, obj)) {
		nfs3_free(proc, obj, obj_size);
		return -EBADMSG;
	}
	return (int)xdr_getpos(&x);
}

void nfs3_free(xdrproc_t proc, void *obj, size_t obj_size)
{
	xdr_free(proc, obj);
	memset(obj, 0, obj_size);
}

/* Like xdr_opaque, which reads the padding into a buffer that all threads share. */
static bool_t decode_octets(XDR *x, char *s, u_int len)
{
	char padding[BYTES_PER_XDR_UNIT];
	u_int pad = -len % BYTES_PER_XDR_UNIT;

	return (!len || XDR_GETBYTES(x, s, len)) &&
	       (!pad || XDR_GETBYTES(x, padding, pad));
}

static bool_t decode_name(XDR *x, char **name, u_int limit)
{
	u_int len;
	char *s;

	if (!xdr_u_int(x, &len) || len > limit)
		return FALSE;
	s = malloc((size_t)len + 1);
	if (!s)
		return FALSE;
	if (!decode_octets(x, s, len) || memchr(s, 0, len)) {
		free(s);
		return FALSE;
	}
	s[len] = 0;
	*name = s;
	return TRUE;
}

static bool_t xdr_name(XDR *x, char **name, u_int limit)
{
	size_t len;
	u_int word;

	switch (x->x_op) {
	case XDR_ENCODE:
		len = *name ? strlen(*name) : 0;
		if (len > limit)
			return FALSE;
		word = (u_int)len;
		return xdr_u_int(x, &word) && xdr_opaque(x, *name, word);
	case XDR_DECODE:
		return decode_name(x, name, limit);
	case XDR_FREE:
		free(*name);
		*name = NULL;
		return TRUE;
	}
	return FALSE;
}

bool_t xdr_filename3(XDR *x, filename3 *name)
{
	return xdr_name(x, name, NFS3_NAME_BYTES);
}

bool_t xdr_dirpath(XDR *x, dirpath *path)
{
	return xdr_name(x, path, MNTPATHLEN);
}

bool nfs3_args_head(const struct rpcrdma_piece *args, unsigned n_args, const void **ret,
                    size_t *ret_len)
{
	if (!n_args || args[0].item)
		return false;
	*ret = args[0].base;
	*ret_len = args[0].len;
	return true;
}

int nfs3_args_item(const struct rpcrdma_piece *args, unsigned n_args, size_t used,
                   uint32_t item_len, const void **ret)
{
	struct rpcrdma_cursor c;
	const void *item;
	int err;

	rpcrdma_cursor_init(&c, args, n_args);
	rpcrdma_cursor_skip(&c, used);
	item = rpcrdma_cursor_fixed(&c, NULL, item_len);
	err = rpcrdma_cursor_end(&c);
	if (!err)
		*ret = item;
	return err;
}

int nfs3_args_end(const struct rpcrdma_piece *args, unsigned n_args, size_t used)
{
	struct rpcrdma_cursor c;

	rpcrdma_cursor_init(&c, args, n_args);
	rpcrdma_cursor_skip(&c, used);
	return rpcrdma_cursor_end(&c);
}

int nfs3_result_item(const struct rpcrdma_reply *reply, size_t used,
                     const struct rpcrdma_dest *dest, uint32_t item_len,
                     const void **ret)
{
	struct rpcrdma_cursor c;
	const void *item;

	if (dest && dest->ret_used) {
		if (dest->ret_len != item_len || item_len > dest->len)
			return -EBADMSG;
		*ret = dest->ret_base;
		return 0;
	}
	if (dest && dest->ret_offered && item_len)
		return -EPROTO;
	rpcrdma_reply_cursor(reply, &c);
	rpcrdma_cursor_skip(&c, used);
	item = rpcrdma_cursor_fixed(&c, NULL, item_len);
	rpcrdma_cursor_skip(&c, 0); /* the item's padding */
	if (!rpcrdma_cursor_error(&c))
		*ret = item;
	return rpcrdma_cursor_error(&c);
}

int nfs3_get_u32(const void *buf, size_t len, size_t *pos, uint32_t *ret)
{
	const unsigned char *p = buf;

	if (*pos > len || len - *pos < 4)
		return -EBADMSG;
	p += *pos;
	*ret = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	*pos += 4;
	return 0;
}

void *nfs3_put_u32(void *to, uint32_t v)
{
	unsigned char *p = to;

	for (int i = 0; i < 4; i++)
		p[i] = (unsigned char)(v >> (24 - 8 * i));
	return p + 4;
}

void *nfs3_put_u64(void *to, uint64_t v)
{
	return nfs3_put_u32(nfs3_put_u32(to, (uint32_t)(v >> 32)), (uint32_t)v);
}

static void *put_nfstime(void *to, const nfstime3 *t)
{
	return nfs3_put_u32(nfs3_put_u32(to, t->seconds), t->nseconds);
}

void *nfs3_put_fattr3(void *to, const fattr3 *a)
{
	void *p = nfs3_put_u32(to, (uint32_t)a->type);

	p = nfs3_put_u32(p, a->mode);
	p = nfs3_put_u32(p, a->nlink);
	p = nfs3_put_u32(p, a->uid);
	p = nfs3_put_u32(p, a->gid);
	p = nfs3_put_u64(p, a->size);
	p = nfs3_put_u64(p, a->used);
	p = nfs3_put_u32(nfs3_put_u32(p, a->rdev.specdata1), a->rdev.specdata2);
	p = nfs3_put_u64(p, a->fsid);
	p = nfs3_put_u64(p, a->fileid);
	p = put_nfstime(p, &a->atime);
	p = put_nfstime(p, &a->mtime);
	return put_nfstime(p, &a->ctime);
}

int nfs3_list_next(const void *buf, size_t len, size_t *pos, xdrproc_t proc, void *obj,
                   size_t obj_size)
{
	size_t at = *pos;
	uint32_t more;
	int n;

	if (nfs3_get_u32(buf, len, &at, &more) || more > 1)
		return -EBADMSG;
	if (more) {
		n = nfs3_decode((const char *)buf + at, len - at, proc, obj, obj_size);
		if (n < 0)
			return n;
		at += (size_t)n;
	}
	*pos = at;
	return more ? 1 : 0;
}

static const struct {
	nfsstat3 status;
	const char *name;
	int error;
} stats[] = {
#define S(x, e)                                                                        \
	{                                                                              \
		x, #x, e                                                               \
	}
        S(NFS3_OK, 0),
        S(NFS3ERR_PERM, EPERM),
        S(NFS3ERR_NOENT, ENOENT),
        S(NFS3ERR_IO, EIO),
        S(NFS3ERR_NXIO, ENXIO),
        S(NFS3ERR_ACCES, EACCES),
        S(NFS3ERR_EXIST, EEXIST),
        S(NFS3ERR_XDEV, EXDEV),
        S(NFS3ERR_NODEV, ENODEV),
        S(NFS3ERR_NOTDIR, ENOTDIR),
        S(NFS3ERR_ISDIR, EISDIR),
        S(NFS3ERR_INVAL, EINVAL),
        S(NFS3ERR_FBIG, EFBIG),
        S(NFS3ERR_NOSPC, ENOSPC),
        S(NFS3ERR_ROFS, EROFS),
        S(NFS3ERR_MLINK, EMLINK),
        S(NFS3ERR_NAMETOOLONG, ENAMETOOLONG),
        S(NFS3ERR_NOTEMPTY, ENOTEMPTY),
        S(NFS3ERR_DQUOT, EDQUOT),
        S(NFS3ERR_STALE, ESTALE),
        S(NFS3ERR_REMOTE, EREMOTE),
        S(NFS3ERR_BADHANDLE, EBADF),
        S(NFS3ERR_NOT_SYNC, EAGAIN),
        S(NFS3ERR_BAD_COOKIE, EINVAL),
        S(NFS3ERR_NOTSUPP, EOPNOTSUPP),
        S(NFS3ERR_TOOSMALL, EMSGSIZE),
        S(NFS3ERR_SERVERFAULT, EREMOTEIO),
        S(NFS3ERR_BADTYPE, EINVAL),
        S(NFS3ERR_JUKEBOX, EAGAIN),
#undef S
};

const char *nfs3_strstat(nfsstat3 status)
{
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++)
		if (stats[i].status == status)
			return stats[i].name;
	return "status not in RFC 1813";
}

int nfs3_errno(nfsstat3 status)
{
	for (size_t i = 0; i < sizeof(stats) / sizeof(stats[0]); i++)
		if (stats[i].status == status)
			return stats[i].error;
	return EREMOTEIO;
}
