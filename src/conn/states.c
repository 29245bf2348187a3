/* SPDX-License-Identifier: BSD-3-Clause */
#include "conn/states.h"

RR_MACHINE(rr_conn_machine, RR_CONN)
RR_MACHINE(rr_call_machine, RR_CALL)
RR_MACHINE(rr_request_machine, RR_REQUEST)
RR_MACHINE(rr_mr_machine, RR_MR)
RR_MACHINE(rr_props_out_machine, RR_PROPS_OUT)
RR_MACHINE(rr_props_in_machine, RR_PROPS_IN)
RR_MACHINE(rr_auth_machine, RR_AUTH)
