/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bounce buffer, which is borrowed for as long as one call reads octets.  Between
 * calls an endpoint has memory only for the rest of an incomplete frame.
 */
#include <string.h>

#include "prov/iwarp/iw_ep.h"

#define REST_MAX  4096u /* longest rest of a frame that is moved */
#define REST_UNIT 256u  /* the memory for a rest is a multiple of this */

static uint8_t *get_rx_memory(struct rr_iw_ep *ep, uint32_t cap)
{
	return cap == RR_IW_BOUNCE ? rr_ep_borrow(&ep->base, RR_EP_RECEIVE_BUFFER, cap)
	                           : rr_ep_get(&ep->base, cap);
}

static void put_rx_memory(struct rr_iw_ep *ep)
{
	struct rr_iw_rx *rx = &ep->rx;

	if (rx->cap == RR_IW_BOUNCE)
		rr_ep_give_back(&ep->base, RR_EP_RECEIVE_BUFFER, rx->buf, rx->cap);
	else
		rr_ep_put(&ep->base, rx->buf, rx->cap);
}

/* Moves the octets that are not handled yet to the start of a piece of memory with @cap
 * octets: another one, unless the present one has as many. */
static int move_rest(struct rr_iw_ep *ep, uint32_t cap)
{
	struct rr_iw_rx *rx = &ep->rx;
	uint32_t have = rx->end - rx->off;
	uint8_t *buf = rx->buf;

	if (rx->cap != cap) {
		buf = get_rx_memory(ep, cap);
		if (!buf)
			return -ENOMEM;
	}
	if (have)
		memmove(buf, rx->buf + rx->off, have);
	if (buf != rx->buf)
		put_rx_memory(ep);
	rx->buf = buf;
	rx->cap = cap;
	rx->off = 0;
	rx->end = have;
	return 0;
}

int rr_iw_bounce_borrow(struct rr_iw_ep *ep)
{
	return move_rest(ep, RR_IW_BOUNCE);
}

void rr_iw_rx_drop(struct rr_iw_ep *ep)
{
	put_rx_memory(ep);
	ep->rx.buf = NULL;
	ep->rx.cap = ep->rx.off = ep->rx.end = 0;
}

void rr_iw_bounce_return(struct rr_iw_ep *ep)
{
	uint32_t rest = ep->rx.end - ep->rx.off;

	if (!rest || ep->state == RR_IW_DEAD)
		rr_iw_rx_drop(ep);
	else if (rest <= REST_MAX)
		(void)!move_rest(ep, REST_UNIT * ((rest + REST_UNIT - 1) / REST_UNIT));
}
