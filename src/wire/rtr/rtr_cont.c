/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bodies of RDMA2_XMOPT_CONT and RDMA2_XMOPT_ERR.                 [ext §5.7]
 */
#include "wire/chunks.h"
#include "wire/rtr/rtr_wire.h"

int rr_wire_rtr_get_cont(struct rr_cursor *c, struct rr_rtr_cont *ret)
{
	const uint8_t *p;
	struct rr_cursor t = *c;

	p = rr_get_bytes(&t, RR_WIRE_RTR_CONT);
	if (!p)
		return -EBADMSG;
	*c = t;
	ret->xnum = rr_load_u32(p);
	ret->itype = rr_load_u32(p + 4);
	ret->pslen = rr_load_u32(p + 8);
	return 0;
}

void rr_wire_rtr_put_cont(struct rr_writer *w, const struct rr_rtr_cont *k)
{
	rr_put_u32(w, k->xnum);
	rr_put_u32(w, k->itype);
	rr_put_u32(w, k->pslen);
}

/* Returns the number of argument words after the code, or -1 for an unknown code. */
static int report_words(uint32_t code)
{
	switch ((enum rr_wire_rtr_report)code) {
	case OPTRERR_BADCONT:
		return 0;
	case OPTRERR_BADHMT:
	case OPTRERR_BADOMT:
	case OPTRERR_BADSEQ:
	case OPTRERR_BADXID:
		return 2;
	case OPTRERR_BADOFF:
	case OPTRERR_BADTBSN:
	case OPTRERR_BADPL:
		return 3;
	}
	return -1;
}

static struct rr_rtr_id get_id(struct rr_cursor *c)
{
	struct rr_rtr_id id = {.xid = rr_get_u32(c)};

	id.dir = rr_get_u32(c);
	id.seq = rr_get_u32(c);
	return id;
}

static void put_id(struct rr_writer *w, const struct rr_rtr_id *id)
{
	rr_put_u32(w, id->xid);
	rr_put_u32(w, id->dir);
	rr_put_u32(w, id->seq);
}

int rr_wire_rtr_get_error(struct rr_cursor *c, struct rr_rtr_error *ret)
{
	struct rr_cursor t = *c;
	struct rr_rtr_error e = {.bad = get_id(&t)};
	int words;

	e.has_lead = rr_chunks_get_present(&t);
	if (e.has_lead)
		e.lead = get_id(&t);
	e.code = rr_get_u32(&t);
	words = report_words(e.code);
	for (int i = 0; i < words; i++)
		e.arg[i] = rr_get_u32(&t);
	if (words < 0 || rr_cursor_bad(&t))
		return -EBADMSG;
	*c = t;
	*ret = e;
	return 0;
}

void rr_wire_rtr_put_error(struct rr_writer *w, const struct rr_rtr_error *e)
{
	put_id(w, &e->bad);
	rr_put_u32(w, e->has_lead);
	if (e->has_lead)
		put_id(w, &e->lead);
	rr_put_u32(w, e->code);
	for (int i = 0; i < report_words(e->code); i++)
		rr_put_u32(w, e->arg[i]);
}
