/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPA frames and negotiation; see mpa.h.
 *
 * Normal path: the initiator calls rr_mpa_request and rr_mpa_put; the responder calls
 * rr_mpa_get, rr_mpa_answer and rr_mpa_put; the initiator then calls rr_mpa_get and
 * rr_mpa_conclude.
 *
 * We never ask for markers.  CRC is used if either side asks for it.  A Reply has the
 * revision of its Request, and is enhanced if and only if the Request is.
 */
#include "prov/iwarp/mpa.h"

#include <string.h>

#include "base/cursor.h"

#define FLAG_M 0x80
#define FLAG_C 0x40
#define FLAG_R 0x20
#define FLAG_S 0x10

#define WORD_HI  0x8000 /* flag A in the first word, C in the second */
#define WORD_LO  0x4000 /* flag B in the first word, D in the second */
#define WORD_NUM 0x3fff

static const char key_request[16] = "MPA ID Req Frame";
static const char key_reply[16] = "MPA ID Rep Frame";

ssize_t rr_mpa_put(void *dst, size_t size, const struct rr_mpa_frame *f)
{
	size_t pd = f->priv_len + (f->enhanced ? 4 : 0);
	uint8_t *p = dst;

	if (pd > RR_MPA_PD_MAX || size < RR_MPA_HEAD + pd)
		return -EMSGSIZE;
	memcpy(p, f->reply ? key_reply : key_request, 16);
	p[16] = (uint8_t)((f->markers ? FLAG_M : 0) | (f->crc ? FLAG_C : 0) |
	                  (f->rejected ? FLAG_R : 0) | (f->enhanced ? FLAG_S : 0));
	p[17] = f->rev;
	rr_store_u16(p + 18, (uint16_t)pd);
	p += RR_MPA_HEAD;
	if (f->enhanced) {
		rr_store_u16(p, (uint16_t)((f->p2p ? WORD_HI : 0) |
		                           (f->rtr & RR_RTR_SEND ? WORD_LO : 0) |
		                           (f->ird & WORD_NUM)));
		rr_store_u16(p + 2, (uint16_t)((f->rtr & RR_RTR_WRITE ? WORD_HI : 0) |
		                               (f->rtr & RR_RTR_READ ? WORD_LO : 0) |
		                               (f->ord & WORD_NUM)));
		p += 4;
	}
	if (f->priv_len)
		memcpy(p, f->priv, f->priv_len);
	return (ssize_t)(RR_MPA_HEAD + pd);
}

static void get_enhanced(const uint8_t *p, struct rr_mpa_frame *f)
{
	uint16_t w0 = rr_load_u16(p), w1 = rr_load_u16(p + 2);

	f->p2p = w0 & WORD_HI;
	if (f->p2p) /* without A, the other flags have no meaning */
		f->rtr = (w0 & WORD_LO ? RR_RTR_SEND : 0u) |
		         (w1 & WORD_HI ? RR_RTR_WRITE : 0u) |
		         (w1 & WORD_LO ? RR_RTR_READ : 0u);
	f->ird = w0 & WORD_NUM;
	f->ord = w1 & WORD_NUM;
}

ssize_t rr_mpa_get(const void *src, size_t len, bool reply, struct rr_mpa_frame *ret)
{
	const uint8_t *p = src;
	const char *key = reply ? key_reply : key_request;
	struct rr_mpa_frame f = {.reply = reply};
	size_t pd;

	if (memcmp(p, key, RR_MIN(len, (size_t)16)) != 0)
		return -EPROTO;
	if (len < RR_MPA_HEAD)
		return -EAGAIN;
	pd = rr_load_u16(p + 18);
	if (pd > RR_MPA_PD_MAX)
		return -EPROTO;
	f.markers = p[16] & FLAG_M;
	f.crc = p[16] & FLAG_C;
	f.rejected = reply && (p[16] & FLAG_R);
	f.rev = p[17];
	/* before revision 2, S is a reserved bit, which is ignored */
	f.enhanced = f.rev >= 2 && (p[16] & FLAG_S);
	if (f.enhanced && pd < 4)
		return -EPROTO;
	if (len - RR_MPA_HEAD < pd)
		return -EAGAIN;
	f.priv = p + RR_MPA_HEAD;
	f.priv_len = pd;
	if (f.enhanced) {
		get_enhanced(f.priv, &f);
		f.priv += 4;
		f.priv_len -= 4;
	}
	*ret = f;
	return (ssize_t)(RR_MPA_HEAD + pd);
}

void rr_mpa_request(const struct rr_mpa_params *w, struct rr_mpa_frame *ret)
{
	*ret = (struct rr_mpa_frame){
	        .crc = w->crc,
	        .rev = w->rev,
	        .enhanced = w->rev >= 2,
	        .p2p = w->rev >= 2 && w->p2p,
	        .ird = w->ird,
	        .ord = w->ord,
	};
	if (ret->p2p)
		ret->rtr = RR_RTR_WRITE | RR_RTR_READ;
}

/* Returns the ORD for a peer whose IRD is unknown, because its frame is not enhanced.
 * Exceeding the peer's IRD ends the connection, so the default is 1, which every peer
 * that supports RDMA Read accepts.                         [RFC 5040 §5.5] */
static uint16_t choose_default_ord(const struct rr_mpa_params *w)
{
	return RR_MIN(w->ord, w->default_ord);
}

/* Returns the RTR forms that we announce.  A Send is announced only if the initiator
 * offers nothing else, because a zero-length Send looks like an upper-layer message. */
static unsigned answer_rtr(unsigned asked)
{
	if (asked & (RR_RTR_WRITE | RR_RTR_READ))
		return asked & (RR_RTR_WRITE | RR_RTR_READ);
	return asked ? asked : RR_RTR_WRITE;
}

/* Fills in IRD and ORD.  ORD must not exceed the initiator's IRD.   [RFC 6581 §9.1] */
static void answer_depths(const struct rr_mpa_params *w, const struct rr_mpa_frame *req,
                          struct rr_mpa_frame *rep, struct rr_mpa_agreement *agreed)
{
	agreed->ord = w->ord;
	if (req->ird != RR_MPA_NO_NEGO)
		agreed->ord = RR_MIN(w->ord, req->ird);
	if (rep->rtr & RR_RTR_READ)
		agreed->ird = RR_MAX(agreed->ird, 1);
	agreed->peer_ord = req->ord;
	rep->ird = req->ord == RR_MPA_NO_NEGO ? RR_MPA_NO_NEGO : agreed->ird;
	rep->ord = req->ird == RR_MPA_NO_NEGO ? RR_MPA_NO_NEGO : agreed->ord;
}

int rr_mpa_answer(const struct rr_mpa_params *w, const struct rr_mpa_frame *req,
                  struct rr_mpa_frame *ret_rep, struct rr_mpa_agreement *ret)
{
	struct rr_mpa_frame rep = {.reply = true, .rev = req->rev};
	struct rr_mpa_agreement agreed = {
	        .crc = w->crc || req->crc,
	        .send_markers = req->markers,
	        .enhanced = req->enhanced,
	        .ird = w->ird,
	        .ord = choose_default_ord(w),
	        .peer_ord = RR_MPA_NO_NEGO,
	};

	if (req->rev < 1 || req->rev > w->rev)
		return -EPROTONOSUPPORT;
	rep.crc = agreed.crc;
	rep.enhanced = req->enhanced;
	if (req->enhanced) {
		rep.p2p = req->p2p;
		if (req->p2p)
			rep.rtr = agreed.rtr = answer_rtr(req->rtr);
		answer_depths(w, req, &rep, &agreed);
	}
	*ret_rep = rep;
	*ret = agreed;
	return 0;
}

static int conclude_depths(const struct rr_mpa_params *w,
                           const struct rr_mpa_frame *rep,
                           struct rr_mpa_agreement *agreed)
{
	agreed->peer_ord = rep->ord;
	agreed->ord = rep->ird == RR_MPA_NO_NEGO ? w->ord : RR_MIN(w->ord, rep->ird);
	return rep->ord == RR_MPA_NO_NEGO || rep->ord <= agreed->ird ? 0 : -ERANGE;
}

int rr_mpa_conclude(const struct rr_mpa_params *w, const struct rr_mpa_frame *req,
                    const struct rr_mpa_frame *rep, struct rr_mpa_agreement *ret)
{
	struct rr_mpa_agreement agreed = {
	        .crc = w->crc || rep->crc,
	        .send_markers = rep->markers,
	        .enhanced = rep->enhanced,
	        .ird = w->ird,
	        .ord = choose_default_ord(w),
	        .peer_ord = RR_MPA_NO_NEGO,
	};
	unsigned common;
	int rc = 0;

	if (rep->rejected)
		return -ECONNREFUSED;
	if (rep->rev < 1 || rep->rev > req->rev || rep->enhanced != req->enhanced)
		return -EPROTO;
	if (rep->enhanced) {
		rc = conclude_depths(w, rep, &agreed);
		common = rep->rtr & req->rtr;
		if (req->p2p && rep->p2p && !common && !rc)
			rc = -ENOMSG;
		agreed.rtr = common & RR_RTR_WRITE ? RR_RTR_WRITE : common;
	}
	*ret = agreed;
	return rc;
}
