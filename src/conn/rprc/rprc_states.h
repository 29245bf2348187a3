/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of an exposed reply, as tables (see base/machine.h). */
#ifndef RR_CONN_RPRC_RPRC_STATES_H
#define RR_CONN_RPRC_RPRC_STATES_H

#include "base/machine.h"

/* -- exposed reply --------------------------------------------------------- */

#define RR_EXPOSURE_EVENTS(X) /* name, meaning */                                      \
	X(VALIDATE, "the provider has registered its last region")                     \
	X(FAIL, "the provider cannot register a region")                               \
	X(POST, "the Reply that announces it is sent")                                 \
	X(NOTIFY, "the peer has read it, or its lifetime has passed")                  \
	X(DROP, "its Reply cannot be sent")

#define RR_EXPOSURE_STATES(X) /* name, meaning, events accepted */                     \
	X(REGISTERING, "its regions are being registered", VALIDATE | FAIL)            \
	X(QUEUED, "registered; its Reply waits to be sent", POST | DROP)               \
	X(EXPOSED, "the peer may read it", NOTIFY)                                     \
	X(FREEING, "its regions are being invalidated", 0)

#define RR_EXPOSURE_MOVES(X) /* from, event, to */                                     \
	X(REGISTERING, VALIDATE, QUEUED)                                               \
	X(REGISTERING, FAIL, FREEING)                                                  \
	X(QUEUED, POST, EXPOSED)                                                       \
	X(QUEUED, DROP, FREEING)                                                       \
	X(EXPOSED, NOTIFY, FREEING)

enum rr_exposure_event {
#define X(name, ...) RR_EXPOSURE_EV_##name,
	RR_EXPOSURE_EVENTS(X)
#undef X
};
enum rr_exposure_phase {
#define X(name, ...) RR_EXPOSURE_##name,
	RR_EXPOSURE_STATES(X)
#undef X
};

/* Returns the machine's tables as data. */
const struct rr_machine *rr_exposure_machine(void);

#endif
