/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rdma-core's two libraries, loaded at run time.  Nothing is linked against them, so on
 * a machine without them only this provider is unavailable.
 *
 * The first call of rr_rdma_lib, in any thread, loads the libraries; they are never
 * unloaded.  The fields of the table have the functions' own names and types, as in
 * lib->rdma_connect(id, &param).  Functions that <infiniband/verbs.h> defines inline
 * (ibv_post_send, ibv_poll_cq, ibv_req_notify_cq, ibv_alloc_mw, ibv_dealloc_mw,
 * ibv_inc_rkey ...) call the driver through the device's context and need no field.
 * Macros that would hide a field are undefined here, so include this header instead of
 * rdma-core's.
 */
#ifndef RR_PROV_VERBS_DL_H
#define RR_PROV_VERBS_DL_H

#include <string.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include "base/base.h"

#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr

#define RR_RDMA_VERBS(X)                                                               \
	X(ibv_get_device_list)                                                         \
	X(ibv_free_device_list)                                                        \
	X(ibv_get_device_name)                                                         \
	X(ibv_open_device)                                                             \
	X(ibv_close_device)                                                            \
	X(ibv_query_device)                                                            \
	X(ibv_query_port)                                                              \
	X(ibv_query_gid)                                                               \
	X(ibv_get_async_event)                                                         \
	X(ibv_ack_async_event)                                                         \
	X(ibv_alloc_pd)                                                                \
	X(ibv_dealloc_pd)                                                              \
	X(ibv_reg_mr)                                                                  \
	X(ibv_dereg_mr)                                                                \
	X(ibv_create_comp_channel)                                                     \
	X(ibv_destroy_comp_channel)                                                    \
	X(ibv_create_cq)                                                               \
	X(ibv_destroy_cq)                                                              \
	X(ibv_get_cq_event)                                                            \
	X(ibv_ack_cq_events)                                                           \
	X(ibv_create_qp)                                                               \
	X(ibv_modify_qp)                                                               \
	X(ibv_query_qp)                                                                \
	X(ibv_destroy_qp)                                                              \
	X(ibv_wc_status_str)                                                           \
	X(ibv_event_type_str)

#define RR_RDMA_CM(X)                                                                  \
	X(rdma_create_event_channel)                                                   \
	X(rdma_destroy_event_channel)                                                  \
	X(rdma_get_cm_event)                                                           \
	X(rdma_ack_cm_event)                                                           \
	X(rdma_event_str)                                                              \
	X(rdma_create_id)                                                              \
	X(rdma_destroy_id)                                                             \
	X(rdma_migrate_id)                                                             \
	X(rdma_set_option)                                                             \
	X(rdma_bind_addr)                                                              \
	X(rdma_get_src_port)                                                           \
	X(rdma_resolve_addr)                                                           \
	X(rdma_resolve_route)                                                          \
	X(rdma_create_qp)                                                              \
	X(rdma_destroy_qp)                                                             \
	X(rdma_connect)                                                                \
	X(rdma_listen)                                                                 \
	X(rdma_accept)                                                                 \
	X(rdma_reject)                                                                 \
	X(rdma_disconnect)

struct rr_rdma_lib {
#define X(f) __typeof__(f) *f;
	RR_RDMA_VERBS(X) RR_RDMA_CM(X)
#undef X
};

/* Returns the table, or NULL if the libraries cannot be loaded.  The result is
 * cached. */
const struct rr_rdma_lib *rr_rdma_lib(void);
/* Returns text that says why the libraries cannot be loaded and suggests a remedy, or
 * "" if they are loaded. */
const char *rr_rdma_reason(void);

/* Calls rdma_create_event_channel.  Returns 0 or a negative errno.  If permission is
 * missing, returns -EACCES at once, whereas librdmacm itself would wait five seconds
 * for udev to change the permissions. */
RR_MUST_CHECK int rr_rdma_channel(const struct rr_rdma_lib *lib,
                                  struct rdma_event_channel **ret);

/* Calls ibv_query_port like rdma-core's inline wrapper.  Returns 0 or a negative
 * errno. */
static inline int rr_rdma_query_port(const struct rr_rdma_lib *lib,
                                     struct ibv_context *ctx, uint8_t port,
                                     struct ibv_port_attr *ret)
{
	struct ibv_port_attr a;
	int err;

	memset(&a, 0, sizeof(a)); /* an old library sets only the first members */
	err = lib->ibv_query_port(ctx, port, (struct _compat_ibv_port_attr *)&a);
	if (err)
		return err > 0 ? -err : -EIO;
	*ret = a;
	return 0;
}

#endif
