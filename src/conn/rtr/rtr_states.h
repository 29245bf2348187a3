/* SPDX-License-Identifier: BSD-3-Clause */
/* The state machine of the feature RTR, as a table (see base/machine.h). */
#ifndef RR_CONN_RTR_STATES_H
#define RR_CONN_RTR_STATES_H

#include "base/machine.h"

/* -- group of transmissions received --------------------------------------- */

#define RR_RTR_GROUP_EVENTS(X) /* name, meaning */                                     \
	X(LEAD, "the first of several transmissions was accepted")                     \
	X(WHOLE, "a message in one transmission was accepted")                         \
	X(NEXT, "the continuation that was expected was received")                     \
	X(LAST, "the last continuation was received")                                  \
	X(REFUSE, "a transmission was refused or reported")                            \
	X(OTHER, "a message of another type was received")

#define RR_RTR_GROUP_STATES(X) /* name, meaning, events accepted */                    \
	X(IDLE, "no group is being received", LEAD | WHOLE | REFUSE | OTHER)           \
	X(OPEN, "more transmissions are awaited", NEXT | LAST | REFUSE | OTHER)        \
	X(SKIPPING, "continuations of a lost group are dropped",                       \
	  LEAD | WHOLE | REFUSE | OTHER)

#define RR_RTR_GROUP_MOVES(X) /* from, event, to */                                    \
	X(IDLE, LEAD, OPEN)                                                            \
	X(IDLE, WHOLE, IDLE)                                                           \
	X(IDLE, REFUSE, SKIPPING)                                                      \
	X(IDLE, OTHER, IDLE)                                                           \
	X(OPEN, NEXT, OPEN)                                                            \
	X(OPEN, LAST, IDLE)                                                            \
	X(OPEN, REFUSE, SKIPPING)                                                      \
	X(OPEN, OTHER, SKIPPING)                                                       \
	X(SKIPPING, LEAD, OPEN)                                                        \
	X(SKIPPING, WHOLE, IDLE)                                                       \
	X(SKIPPING, REFUSE, SKIPPING)                                                  \
	X(SKIPPING, OTHER, IDLE)

enum rr_rtr_group_event {
#define X(name, ...) RR_RTR_GROUP_EV_##name,
	RR_RTR_GROUP_EVENTS(X)
#undef X
};
enum rr_rtr_group_phase {
#define X(name, ...) RR_RTR_GROUP_##name,
	RR_RTR_GROUP_STATES(X)
#undef X
};

const struct rr_machine *rr_rtr_group_machine(void);

#endif
