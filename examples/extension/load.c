/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <arpa/inet.h>
#include <string.h>

static void put(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, 4);
}

static uint32_t get(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return ntohl(v);
}

/* Receives a message of type LOAD: a question, or the answer to one of this end. */
static uint32_t received(struct rpcrdma_channel *c,
                         const struct rpcrdma_extension_message *m, void *arg)
{
	struct load *l = arg;
	uint8_t body[8];

	if (m->response) {
		if (m->len != 8)
			return 0; /* errors about responses are never sent */
		l->answers++;
		l->last_served = get(m->body);
		return 0;
	}
	if (m->len)
		return 2; /* RDMA2_ERR_BAD_XDR */
	put(body, l->served);
	put(body + 4, get(l->limit));
	if (m->flags & LOAD_F_RESET)
		l->served = 0;
	/* An answer that cannot be sent now is dropped. */
	(void)rpcrdma_channel_send(c, LOAD, 0, true, m->xid, body, 8, NULL);
	return 0;
}

/* The peer does not know the type, or refused the message. */
static void refused(struct rpcrdma_channel *c, uint32_t htype, uint32_t xid,
                    uint32_t code, void *arg)
{
	struct load *l = arg;

	(void)c;
	(void)htype;
	(void)xid;
	l->refusals++;
	l->last_refusal = code;
}

static bool conforms(const void *data, size_t len)
{
	(void)data;
	return len == 4;
}

static void peer_limit(struct rpcrdma_channel *c, enum rpcrdma_property_event what,
                       const void *data, size_t len, void *arg)
{
	struct load *l = arg;

	(void)c;
	(void)len;
	if (what == RPCRDMA_PROPERTY_REFUSED)
		return; /* the peer uses the default, and knows no limit */
	l->peer_knows = what == RPCRDMA_PROPERTY_RECEIVED;
	l->peer_limit = get(data);
}

static void up(struct rpcrdma_channel *c, void *arg)
{
	(void)c;
	((struct load *)arg)->up = true;
}

static void down(struct rpcrdma_channel *c, void *arg)
{
	(void)c;
	((struct load *)arg)->up = false;
}

void load_init(struct load *l, uint32_t limit)
{
	static const uint8_t none[4];

	memset(l, 0, sizeof(*l));
	put(l->limit, limit);
	l->code = LOAD_BUSY;
	l->htype = (struct rpcrdma_extension_htype){
	        .number = LOAD,
	        .flags = LOAD_F_RESET,
	        .received = received,
	};
	l->property = (struct rpcrdma_extension_property){
	        .id = LOAD_LIMIT,
	        .value = l->limit,
	        .len = 4,
	        .preset = none,
	        .preset_len = 4,
	        .conforms = conforms,
	        .received = peer_limit,
	};
	l->extension = (struct rpcrdma_extension){
	        .size = sizeof(l->extension),
	        .name = "load",
	        .arg = l,
	        .htypes = &l->htype,
	        .n_htypes = 1,
	        .properties = &l->property,
	        .n_properties = 1,
	        .errors = &l->code,
	        .n_errors = 1,
	        .up = up,
	        .down = down,
	        .refused = refused,
	};
}

int load_ask(struct rpcrdma_channel *c, bool reset)
{
	return rpcrdma_channel_send(c, LOAD, reset ? LOAD_F_RESET : 0, false, 0, NULL,
	                            0, NULL);
}

bool load_busy(struct load *l, struct rpcrdma_request *q, uint32_t work)
{
	if (work <= get(l->limit) || !l->peer_knows)
		return false;
	return rpcrdma_request_extension_error(q, LOAD_BUSY) == 0;
}
