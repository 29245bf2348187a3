/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists a directory by READDIRPLUS, page by page.  Only one page is kept in memory.
 * The first page can be read ahead, before the listing is walked.
 * The page may be freed between entries, since the next page begins at the cookie of
 * the last entry read.
 *
 * Names come from the server and become local file names.  This file refuses a name
 * that is empty, contains "/" or is too long.
 */
#include "client/nfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void nfs_dir_open(struct nfs_dir *d, struct nfs_client *c, const struct nfs_fh *fh)
{
	*d = (struct nfs_dir){.client = c, .fh = *fh};
}

void nfs_dir_drop(struct nfs_dir *d)
{
	free(d->page);
	d->page = NULL;
	d->len = d->pos = 0;
}

static int take_page(struct nfs_dir *d, const struct nfs_op *op)
{
	const READDIRPLUS3resok *ok = &op->res.readdirplus.READDIRPLUS3res_u.resok;

	if (op->status)
		return op->status;
	d->page = malloc(op->rest_len ? op->rest_len : 1);
	if (!d->page)
		return -ENOMEM;
	memcpy(d->page, op->rest, op->rest_len);
	memcpy(d->verf, ok->cookieverf, sizeof(d->verf));
	d->len = op->rest_len;
	d->pos = 0;
	return 0;
}

static void on_page(struct nfs_op *op, void *arg)
{
	struct nfs_dir *d = arg;

	d->status = take_page(d, op);
	d->op = NULL;
	nfs_op_fini(op);
	free(op);
}

static void start_page(struct nfs_dir *d)
{
	READDIRPLUS3args a = {.dir = nfs_fh_arg(&d->fh), .cookie = d->cookie};

	d->op = malloc(sizeof(*d->op));
	d->status = d->op ? 0 : -ENOMEM;
	if (!d->op)
		return;
	memcpy(a.cookieverf, d->verf, sizeof(d->verf));
	a.dircount = d->client->dir_bytes;
	a.maxcount = d->client->dir_bytes;
	nfs_op_init(d->op, d->client);
	d->op->reply_bytes = a.maxcount + NFS3_RESULT_BYTES;
	nfs_op_start(d->op, NFSPROC3_READDIRPLUS, &a, on_page, d);
}

/* Ends the READDIRPLUS in flight, if there is one. */
static void cancel_page(struct nfs_dir *d)
{
	if (d->op)
		nfs_op_cancel(d->op);
	while (d->op)
		(void)rpcrdma_engine_process(d->client->link.loop->engine,
		                             100); /* the loop ends, because the call
						      was cancelled */
}

/* Waits for the next page.  Requests the page if it was not read ahead. */
static int fetch_page(struct nfs_dir *d)
{
	int r = 0;

	if (!d->op)
		start_page(d);
	while (d->op && !r)
		r = loop_wait(d->client->link.loop, -1);
	cancel_page(d);
	return r ? r : d->status;
}

void nfs_dir_prefetch(struct nfs_dir *d)
{
	if (!d->op && !d->page && !d->eof)
		start_page(d);
}

void nfs_dir_close(struct nfs_dir *d)
{
	cancel_page(d);
	nfs_dir_drop(d);
}

static bool is_valid_name(const char *name)
{
	size_t n = strlen(name);

	return n > 0 && n <= NFS_NAME_MAX && !memchr(name, '/', n);
}

static bool is_dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static int take_entry(struct nfs_dir *d, const entryplus3 *e, struct nfs_entry *ret)
{
	int r = 0;

	snprintf(ret->name, sizeof(ret->name), "%s", e->name);
	ret->fileid = e->fileid;
	ret->status = 0;
	if (e->name_attributes.attributes_follow)
		ret->attr = e->name_attributes.post_op_attr_u.attributes;
	if (e->name_handle.handle_follows)
		r = nfs_fh_take(&e->name_handle.post_op_fh3_u.handle, &ret->fh);
	if (!r &&
	    (!e->name_attributes.attributes_follow || !e->name_handle.handle_follows))
		r = nfs_lookup(d->client, &d->fh, ret->name, &ret->fh, &ret->attr);
	return r;
}

/* Reads the flag that says whether the directory ends with this page. */
static int read_page_end(struct nfs_dir *d)
{
	uint32_t eof;

	if (nfs3_get_u32(d->page, d->len, &d->pos, &eof))
		return -EBADMSG;
	d->eof = eof;
	nfs_dir_drop(d);
	return 0;
}

bool nfs_dir_next(struct nfs_dir *d, struct nfs_entry *ret, int *ret_status)
{
	entryplus3 e;
	int r = 0;

	for (;;) {
		if (!d->page) {
			if (d->eof)
				break;
			r = fetch_page(d);
			if (r)
				break;
		}
		r = NFS3_LIST_NEXT(d->page, d->len, &d->pos, entryplus3, &e);
		if (r < 0)
			break;
		if (r == 0) {
			bool empty = d->pos <= 4;

			r = read_page_end(d);
			if (!r && !d->eof && empty)
				r = (int)NFS3ERR_TOOSMALL; /* would repeat forever */
			if (r)
				break;
			continue;
		}
		d->cookie = e.cookie;
		if (!is_valid_name(e.name)) {
			r = -EBADMSG;
		} else if (is_dots(e.name)) {
			NFS3_FREE(entryplus3, &e);
			continue;
		} else {
			r = take_entry(d, &e, ret);
		}
		NFS3_FREE(entryplus3, &e);
		if (r == (int)NFS3ERR_NOENT)
			continue; /* the file was removed in the meantime */
		if (r > 0 && r < NFS_RPC) {
			ret->status = r; /* other entries may succeed */
			return true;
		}
		*ret_status = r;
		return r == 0;
	}
	*ret_status = r;
	return false;
}
