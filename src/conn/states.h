/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state machines of a connection, as tables (see base/machine.h).
 *
 * An object starts in the first state of its machine's table.  Each machine has one
 * function that assigns the state (rr_conn_move, rr_call_move ...).  A second function
 * (rr_conn_event ...) is called for events that may leave the state unchanged.
 * docs/states.md shows all machines, with diagrams.
 */
#ifndef RR_CONN_STATES_H
#define RR_CONN_STATES_H

#include "base/machine.h"

/* -- connection ------------------------------------------------------------ */

#define RR_CONN_EVENTS(X) /* name, meaning */                                          \
	X(OPEN, "the provider's connection is up")                                     \
	X(AGREE, "properties are exchanged, or version 1 is settled")                  \
	X(CALL, "the user makes a Call")                                               \
	X(RECEIVE, "a message was received")                                           \
	X(COMPLETE, "a post has completed or was flushed")                             \
	X(REGISTER, "the provider answers a registration")                             \
	X(TICK, "time has passed")                                                     \
	X(END, "the user closes the connection, or it fails")                          \
	X(LOSE, "the provider's connection has ended")                                 \
	X(EMPTY, "no call and no request is left")

#define RR_CONN_STATES(X) /* name, meaning, events accepted */                         \
	X(NEW, "created; Receives are wanted, the provider connects",                  \
	  OPEN | CALL | COMPLETE | END | LOSE)                                         \
	X(PROPS, "connected; properties are exchanged, Calls wait",                    \
	  AGREE | CALL | RECEIVE | COMPLETE | TICK | END | LOSE)                       \
	X(READY, "Calls and Replies are sent and received",                            \
	  CALL | RECEIVE | COMPLETE | REGISTER | TICK | END | LOSE)                    \
	X(CLOSING, "DISCONNECT is queued or polled; nothing is sent any more",         \
	  RECEIVE | COMPLETE | REGISTER | LOSE)                                        \
	X(LOST, "the connection is gone; users still hold requests or Replies", EMPTY) \
	X(CLOSED, "CLOSED was polled; terminal", 0)

#define RR_CONN_MOVES(X) /* from, event, to */                                         \
	X(NEW, OPEN, PROPS)                                                            \
	X(PROPS, AGREE, READY)                                                         \
	X(NEW, END, CLOSING)                                                           \
	X(PROPS, END, CLOSING)                                                         \
	X(READY, END, CLOSING)                                                         \
	X(NEW, LOSE, LOST)                                                             \
	X(PROPS, LOSE, LOST)                                                           \
	X(READY, LOSE, LOST)                                                           \
	X(CLOSING, LOSE, LOST)                                                         \
	X(LOST, EMPTY, CLOSED)

enum rr_conn_event {
#define X(name, ...) RR_CONN_EV_##name,
	RR_CONN_EVENTS(X)
#undef X
};
enum rr_conn_state {
#define X(name, ...) RR_CONN_##name,
	RR_CONN_STATES(X)
#undef X
};

/* -- call ------------------------------------------------------------------ */

#define RR_CALL_EVENTS(X) /* name, meaning */                                          \
	X(PLAN, "its turn to send has come: format and chunks are chosen")             \
	X(REGISTER, "the provider answers a registration")                             \
	X(SEND, "there is a credit for its next message")                              \
	X(ANSWER, "a Reply, a part of one or an error was received")                   \
	X(PULL, "a Reply with a Read chunk was received")                              \
	X(TEAR, "a part of its Reply, not the last one, broke a rule")                 \
	X(KEEP, "the user cancels it, but the peer may still invalidate a region")     \
	X(END, "the result is known, or the user cancels it")                          \
	X(SETTLE, "no Send or invalidation of it is outstanding")                      \
	X(LOSE, "the connection is lost")                                              \
	X(POLL, "CALL_DONE is polled")                                                 \
	X(RELEASE, "the user releases the Reply's memory")

#define RR_CALL_STATES(X) /* name, meaning, events accepted */                         \
	X(QUEUED, "waits for its turn to send", PLAN | END | LOSE)                     \
	X(REGISTERING, "its regions are being registered", REGISTER | END | LOSE)      \
	X(PREPARED, "waits for a credit", SEND | END | LOSE)                           \
	X(SENDING, "part of a continued Call has been sent",                           \
	  SEND | ANSWER | END | LOSE)                                                  \
	X(WAITING, "sent; the Reply is awaited",                                       \
	  ANSWER | PULL | TEAR | KEEP | END | LOSE)                                    \
	X(PULLING, "the Reply is being read from the peer's memory", END | LOSE)       \
	X(DRAINING, "result known; the rest of its Reply is awaited",                  \
	  KEEP | END | LOSE)                                                           \
	X(ENDING, "result known; Sends or invalidations are outstanding",              \
	  REGISTER | SETTLE | LOSE)                                                    \
	X(DONE, "CALL_DONE queued or polled; a Reply may be lent", POLL | RELEASE)

#define RR_CALL_MOVES(X) /* from, event, to */                                         \
	X(QUEUED, PLAN, REGISTERING)                                                   \
	X(QUEUED, PLAN, PREPARED)                                                      \
	X(REGISTERING, REGISTER, PREPARED)                                             \
	X(PREPARED, SEND, SENDING)                                                     \
	X(PREPARED, SEND, WAITING)                                                     \
	X(SENDING, SEND, SENDING)                                                      \
	X(SENDING, SEND, WAITING)                                                      \
	X(WAITING, TEAR, DRAINING)                                                     \
	X(WAITING, PULL, PULLING)                                                      \
	X(WAITING, KEEP, DRAINING)                                                     \
	X(QUEUED, END, ENDING)                                                         \
	X(REGISTERING, END, ENDING)                                                    \
	X(PREPARED, END, ENDING)                                                       \
	X(SENDING, END, ENDING)                                                        \
	X(WAITING, END, ENDING)                                                        \
	X(PULLING, END, ENDING)                                                        \
	X(DRAINING, END, ENDING)                                                       \
	X(ENDING, SETTLE, DONE)                                                        \
	X(QUEUED, LOSE, DONE)                                                          \
	X(REGISTERING, LOSE, DONE)                                                     \
	X(PREPARED, LOSE, DONE)                                                        \
	X(SENDING, LOSE, DONE)                                                         \
	X(WAITING, LOSE, DONE)                                                         \
	X(PULLING, LOSE, DONE)                                                         \
	X(DRAINING, LOSE, DONE)                                                        \
	X(ENDING, LOSE, DONE)

enum rr_call_event {
#define X(name, ...) RR_CALL_EV_##name,
	RR_CALL_EVENTS(X)
#undef X
};
enum rr_call_phase {
#define X(name, ...) RR_CALL_##name,
	RR_CALL_STATES(X)
#undef X
};

/* -- request --------------------------------------------------------------- */

#define RR_REQUEST_EVENTS(X) /* name, meaning */                                       \
	X(PART, "a part of a continued Call was received")                             \
	X(ROOM, "there is memory to collect its parts in")                             \
	X(WHOLE, "the Call is complete, except for chunks to be pulled")               \
	X(TURN, "the limit of requests allows one more")                               \
	X(RESERVE, "memory to pull into is reserved")                                  \
	X(PULL, "all its RDMA Reads have completed")                                   \
	X(ADMIT, "the user admits it")                                                 \
	X(REPLY, "the user replies")                                                   \
	X(CARRY, "a message of the reply is sent, or its Send or Write has completed") \
	X(END, "it is answered, refused, dropped, or fails")

#define RR_REQUEST_STATES(X) /* name, meaning, events accepted */                      \
	X(NEW, "its Call was just received", PART | WHOLE)                             \
	X(ROOM, "a continued Call that waits for memory", PART | ROOM | END)           \
	X(COLLECTING, "more of its parts are awaited", PART | WHOLE | END)             \
	X(TURN, "waits until fewer requests are being served", TURN | END)             \
	X(BUDGET, "waits for memory to pull into", RESERVE | END)                      \
	X(PULLING_CALL, "the Position Zero chunk is being read", PULL | END)           \
	X(ADMIT, "the user decides, or serves it", ADMIT | REPLY | END)                \
	X(PULLING, "Read chunks are being read", PULL | END)                           \
	X(SERVED, "the user serves it", REPLY | END)                                   \
	X(REPLYING, "the reply is written and sent", CARRY | END)                      \
	X(LEAVING, "REQUEST_DONE queued or polled", 0)

#define RR_REQUEST_MOVES(X) /* from, event, to */                                      \
	X(NEW, PART, ROOM)                                                             \
	X(NEW, PART, COLLECTING)                                                       \
	X(ROOM, ROOM, COLLECTING)                                                      \
	X(NEW, WHOLE, TURN)                                                            \
	X(COLLECTING, WHOLE, TURN)                                                     \
	X(TURN, TURN, BUDGET)                                                          \
	X(TURN, TURN, ADMIT)                                                           \
	X(BUDGET, RESERVE, PULLING_CALL)                                               \
	X(BUDGET, RESERVE, ADMIT)                                                      \
	X(PULLING_CALL, PULL, ADMIT)                                                   \
	X(ADMIT, ADMIT, PULLING)                                                       \
	X(PULLING, PULL, SERVED)                                                       \
	X(ADMIT, REPLY, REPLYING)                                                      \
	X(SERVED, REPLY, REPLYING)                                                     \
	X(ROOM, END, LEAVING)                                                          \
	X(COLLECTING, END, LEAVING)                                                    \
	X(TURN, END, LEAVING)                                                          \
	X(BUDGET, END, LEAVING)                                                        \
	X(PULLING_CALL, END, LEAVING)                                                  \
	X(ADMIT, END, LEAVING)                                                         \
	X(PULLING, END, LEAVING)                                                       \
	X(SERVED, END, LEAVING)                                                        \
	X(REPLYING, END, LEAVING)

enum rr_request_event {
#define X(name, ...) RR_REQUEST_EV_##name,
	RR_REQUEST_EVENTS(X)
#undef X
};
enum rr_request_phase {
#define X(name, ...) RR_REQUEST_##name,
	RR_REQUEST_STATES(X)
#undef X
};

/* -- memory region --------------------------------------------------------- */

#define RR_MR_EVENTS(X) /* name, meaning */                                            \
	X(REGISTER, "its call is being prepared")                                      \
	X(VALIDATE, "the provider has registered it")                                  \
	X(FAIL, "the provider cannot register it")                                     \
	X(WITHDRAW, "its call ends")                                                   \
	X(INVALIDATE, "the local invalidation has completed")                          \
	X(REMOTE, "a Send of the peer has invalidated it")

#define RR_MR_STATES(X) /* name, meaning, events accepted */                           \
	X(IDLE, "not accessible", REGISTER | WITHDRAW)                                 \
	X(REGISTERING, "REGISTER queued or polled", VALIDATE | FAIL | WITHDRAW)        \
	X(VALID, "accessible by the peer", WITHDRAW | REMOTE)                          \
	X(INVALIDATING, "INVALIDATE queued or posted", WITHDRAW | INVALIDATE)

#define RR_MR_MOVES(X) /* from, event, to */                                           \
	X(IDLE, REGISTER, REGISTERING)                                                 \
	X(REGISTERING, VALIDATE, VALID)                                                \
	X(REGISTERING, FAIL, IDLE)                                                     \
	X(REGISTERING, WITHDRAW, IDLE)                                                 \
	X(VALID, WITHDRAW, INVALIDATING)                                               \
	X(VALID, REMOTE, IDLE)                                                         \
	X(INVALIDATING, INVALIDATE, IDLE)

enum rr_mr_event {
#define X(name, ...) RR_MR_EV_##name,
	RR_MR_EVENTS(X)
#undef X
};
enum rr_mr_phase {
#define X(name, ...) RR_MR_##name,
	RR_MR_STATES(X)
#undef X
};

/* -- properties sent ------------------------------------------------------- */

#define RR_PROPS_OUT_EVENTS(X) /* name, meaning */                                     \
	X(ALLOW, "a client opens; a server receives its client's first message")       \
	X(SET, "an RDMA2_CONNPROP with whole properties is sent")                      \
	X(SPLIT, "the next property is too long for one message")                      \
	X(PART, "a part of that property is sent")

#define RR_PROPS_OUT_STATES(X) /* name, meaning, events accepted */                    \
	X(HELD, "no RDMA2_CONNPROP may be sent yet", ALLOW)                            \
	X(FIRST, "the first one is due", SET)                                          \
	X(MORE, "others follow, or may follow", SET | SPLIT)                           \
	X(PARTS, "parts of one property are sent, nothing between them", PART)         \
	X(FINAL, "the final one has been sent", 0)

#define RR_PROPS_OUT_MOVES(X) /* from, event, to */                                    \
	X(HELD, ALLOW, FIRST)                                                          \
	X(FIRST, SET, MORE)                                                            \
	X(FIRST, SET, FINAL)                                                           \
	X(MORE, SET, MORE)                                                             \
	X(MORE, SET, FINAL)                                                            \
	X(MORE, SPLIT, PARTS)                                                          \
	X(PARTS, PART, PARTS)                                                          \
	X(PARTS, PART, MORE)                                                           \
	X(PARTS, PART, FINAL)

enum rr_props_out_event {
#define X(name, ...) RR_PROPS_OUT_EV_##name,
	RR_PROPS_OUT_EVENTS(X)
#undef X
};
enum rr_props_out {
#define X(name, ...) RR_PROPS_OUT_##name,
	RR_PROPS_OUT_STATES(X)
#undef X
};

/* -- properties received --------------------------------------------------- */

#define RR_PROPS_IN_EVENTS(X) /* name, meaning */                                      \
	X(SET, "a whole RDMA2_CONNPROP was received; RDMA2_F_TPMORE announces more")

#define RR_PROPS_IN_STATES(X) /* name, meaning, events accepted */                     \
	X(NONE, "the peer has sent none", SET)                                         \
	X(MORE, "the peer sends more", SET)                                            \
	X(FINAL, "the peer has sent its final one", 0)

#define RR_PROPS_IN_MOVES(X) /* from, event, to */                                     \
	X(NONE, SET, MORE)                                                             \
	X(NONE, SET, FINAL)                                                            \
	X(MORE, SET, MORE)                                                             \
	X(MORE, SET, FINAL)

enum rr_props_in_event {
#define X(name, ...) RR_PROPS_IN_EV_##name,
	RR_PROPS_IN_EVENTS(X)
#undef X
};
enum rr_props_in {
#define X(name, ...) RR_PROPS_IN_##name,
	RR_PROPS_IN_STATES(X)
#undef X
};

/* -- host authentication --------------------------------------------------- */

/* The dialogue of property 6. [P14] */
#define RR_AUTH_EVENTS(X) /* name, meaning */                                          \
	X(HOOK, "the configuration has a hook")                                        \
	X(RECEIVE, "a step of the peer was received")                                  \
	X(STEP, "the hook has produced a step, or is satisfied")                       \
	X(SEND, "the step has been sent")                                              \
	X(LACK, "the peer's exchange ends without a step")

#define RR_AUTH_STATES(X) /* name, meaning, events accepted */                         \
	X(OFF, "no hook, or the peer has none and need not", HOOK)                     \
	X(IDLE, "no step was sent or received", RECEIVE | STEP | LACK)                 \
	X(SENDING, "a step waits to be sent", SEND | LACK)                             \
	X(AWAITING, "the peer's step is awaited", RECEIVE | STEP | LACK)               \
	X(DONE, "the hook is satisfied and has nothing to send", 0)

#define RR_AUTH_MOVES(X) /* from, event, to */                                         \
	X(OFF, HOOK, IDLE)                                                             \
	X(IDLE, STEP, SENDING)                                                         \
	X(IDLE, STEP, DONE)                                                            \
	X(IDLE, LACK, OFF)                                                             \
	X(SENDING, SEND, AWAITING)                                                     \
	X(SENDING, SEND, DONE)                                                         \
	X(SENDING, LACK, OFF)                                                          \
	X(AWAITING, STEP, SENDING)                                                     \
	X(AWAITING, STEP, DONE)                                                        \
	X(AWAITING, LACK, OFF)

enum rr_auth_event {
#define X(name, ...) RR_AUTH_EV_##name,
	RR_AUTH_EVENTS(X)
#undef X
};
enum rr_auth_phase {
#define X(name, ...) RR_AUTH_##name,
	RR_AUTH_STATES(X)
#undef X
};

/* The functions below return the machines' tables. */
const struct rr_machine *rr_conn_machine(void);
const struct rr_machine *rr_call_machine(void);
const struct rr_machine *rr_request_machine(void);
const struct rr_machine *rr_mr_machine(void);
const struct rr_machine *rr_props_out_machine(void);
const struct rr_machine *rr_props_in_machine(void);
const struct rr_machine *rr_auth_machine(void);

#endif
