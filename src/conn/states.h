/* SPDX-License-Identifier: BSD-3-Clause */
/* The states of a connection and of what is in it, as tables. */
#ifndef RR_CONN_STATES_H
#define RR_CONN_STATES_H

#define RR_CONN_STATES(X) /* name, meaning */                                          \
	X(NEW, "created; Receives are wanted, the provider connects")                  \
	X(PROPS, "connected; properties are exchanged, Calls wait")                    \
	X(READY, "calls and replies flow")                                             \
	X(CLOSING, "DISCONNECT asked for; nothing is sent, waits to be lost")          \
	X(LOST, "connection gone; users still owe answers")                            \
	X(CLOSED, "terminal: CLOSED was drawn")

#define RR_CALL_STATES(X)                                                              \
	X(QUEUED, "waits for its turn to send")                                        \
	X(REGISTERING, "its regions are being registered")                             \
	X(PREPARED, "waits for a credit")                                              \
	X(SENDING, "part of a continued Call has gone out")                            \
	X(WAITING, "sent; the Reply is awaited")                                       \
	X(DRAINING, "result known; the rest of its Reply is awaited")                  \
	X(ENDING, "result known; Sends and invalidations are owed")                    \
	X(DONE, "CALL_DONE queued or drawn; a Reply may be lent")

#define RR_REQUEST_STATES(X)                                                           \
	X(TURN, "waits until fewer are being served")                                  \
	X(ROOM, "a continued Call that waits for room")                                \
	X(COLLECTING, "more of its parts are awaited")                                 \
	X(BUDGET, "waits for memory to pull into")                                     \
	X(PULLING_CALL, "the Position Zero chunk is being read")                       \
	X(ADMIT, "the user decides")                                                   \
	X(PULLING, "Read chunks are being read")                                       \
	X(SERVED, "the user serves")                                                   \
	X(REPLYING, "the reply is written and sent")                                   \
	X(LEAVING, "REQUEST_DONE queued or drawn")

#define RR_MR_STATES(X)                                                                \
	X(IDLE, "not accessible")                                                      \
	X(REGISTERING, "REGISTER queued or drawn")                                     \
	X(VALID, "accessible by the peer")                                             \
	X(INVALIDATING, "INVALIDATE queued or posted")

enum rr_conn_state {
#define X(name, meaning) RR_CONN_##name,
	RR_CONN_STATES(X)
#undef X
};
enum rr_call_phase {
#define X(name, meaning) RR_CALL_##name,
	RR_CALL_STATES(X)
#undef X
};
enum rr_request_phase {
#define X(name, meaning) RR_REQUEST_##name,
	RR_REQUEST_STATES(X)
#undef X
};
enum rr_mr_phase {
#define X(name, meaning) RR_MR_##name,
	RR_MR_STATES(X)
#undef X
};

/* The dialogue of property 6. [P14] */
#define RR_AUTH_STATES(X)                                                              \
	X(OFF, "no hook, or the peer has none and need not")                           \
	X(IDLE, "nothing was said yet")                                                \
	X(SAY, "a step waits to be sent")                                              \
	X(LISTEN, "the peer's step is awaited")                                        \
	X(DONE, "the hook is satisfied and has nothing to say")

enum rr_auth_phase {
#define X(name, meaning) RR_AUTH_##name,
	RR_AUTH_STATES(X)
#undef X
};

#endif
