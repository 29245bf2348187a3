/*
 * The credit scheme of src/conn/credit.c, the sending rules of src/conn/tx.c and
 * the limit for Calls being served of src/conn/request_queue.c, for spin: two peers, each
 * with Calls of many parts for the other, whose Replies have many parts, in both
 * directions at once, over reliable queues of any delay.
 *
 * What is searched: every order in which the peers can send, consume what has
 * come, and finish handlers.  A message that is not consumed occupies a Receive.
 *   - assertion  more messages than Receives at a peer (an overrun), a low half of
 *                zero or above the ceiling, credits made out of nothing
 *   - assertion  more Calls at a peer than it serves, and SLACK that wait (a flood)
 *   - invalid end state  a Call without its whole Reply (a deadlock)
 *   - assertion  GRANT_LIMIT grants in a row: grants that provoke each other
 *
 * Parameters: H0 H1 ceilings, L0 L1 own limits for sending, M0 M1 Calls served at
 * once, N0 N1 Calls to send, C0 C1 parts of each Call, R0 R1 parts of each Reply to
 * a Call of that peer.
 * The rules are those built, unless one of these is defined:
 *   NO_GRANTS     a peer without payload sends nothing (the draft: it "can")
 *   PLAIN         addition up to the ceiling, each message grants at least one, and
 *                 nothing is owed (a literal reading of the draft's rules)
 *   APPLY_FIRST   credits count before the Receive stands again
 *   GRANT_AT_ZERO either peer may send a grant without a credit, once until it has
 *                 received something
 *   LOW_LIMIT     an own limit for sending may be below the own ceiling
 *   SPARE=n       Receives beyond ceiling and limit (2)
 *   NO_WITHHOLD   credits are handed back whatever is being served
 *   NO_OWES       ... withheld also from a peer that owes a Reply
 *   NO_MIDDLE     ... withheld also from a peer in the middle of a message
 *                 (by hand: no error while handlers need nothing of that message)
 *   NO_LAST       ... withheld also with the last credit
 *   NO_IDLE       ... withheld also while nothing is being served
 *   NO_LOW        ... withheld also at ceilings of 2
 *   NO_RESERVE    a Call may take the last credit while Replies are owed
 *   ALL_RESERVE   no Call may, however low the ceilings are
 *   NESTED0       handlers of the client wait for its own Calls
 *   NESTED1       ... of the server for its own
 *   TOGETHER      ... of the server for all Calls of the client
 */
#include "rules.pml"

#ifndef N0
#define N0 1
#endif
#ifndef N1
#define N1 1
#endif
#ifndef C0
#define C0 1
#endif
#ifndef C1
#define C1 1
#endif
#ifndef R0
#define R0 1
#endif
#ifndef R1
#define R1 1
#endif
#ifndef SLACK
#define SLACK 100
#endif
#define CALL_PARTS(p) ((p) == 0 -> C0 : C1)
#define REPLY_PARTS(p) ((p) == 0 -> R1 : R0) /* of what p sends */

mtype = { CALL, REPLY, GRANT };

chan wire0 = [40] of { mtype, bool, byte }; /* to peer 0: kind, last part, low half */
chan wire1 = [40] of { mtype, bool, byte };

byte late[2];
bool excess[2];
byte calls[2];                  /* to be sent */
byte call_left[2], reply_left[2]; /* parts of what is being sent */
byte ready[2];                  /* Calls answered by the handler */

#define IN_SEQUENCE(me) (call_left[me] > 0 || reply_left[me] > 0)
#define MAY_PART(me) (IN_SEQUENCE(me) && avail[me] > 0)
#define MAY_REPLY(me) (!IN_SEQUENCE(me) && ready[me] > 0 && avail[me] > 0)
#define MAY_CALL(me) (!IN_SEQUENCE(me) && calls[me] > 0 && avail[me] > RESERVE(me))
#define MAY_SAY(me) (MAY_PART(me) || MAY_REPLY(me) || MAY_CALL(me))
#define ACTIVE(me) MIN(serving[me], MOST(me))
#ifdef NESTED0
#define FINISH0 (calls[0] + awaited[0] == 0)
#else
#define FINISH0 true
#endif
#ifdef NESTED1
#define FINISH1 (calls[1] + awaited[1] == 0)
#else
#ifdef TOGETHER
#define FINISH1 (serving[1] == N0 || calls[0] + awaited[0] < N0)
#else
#define FINISH1 true
#endif
#endif
#define MAY_FINISH(me) (me == 0 -> FINISH0 : FINISH1)

inline deliver(me, kind, last, low)
{
	if
	:: me == 0 ->
		assert(len(wire1) + late[1] < RECEIVES(1));
		wire1!kind, last, low
	:: else ->
		assert(len(wire0) + late[0] < RECEIVES(0));
		wire0!kind, last, low
	fi
}

/* The next part of the sequence, or the first of a Call or a Reply. */
inline say(me, kind, left, low)
{
	left--;
	grants = 0;
	if
	:: kind == REPLY && left == 0 -> serving[me]--
	:: else -> skip
	fi;
	spend(me, low);
	deliver(me, kind, (left == 0), low)
}

inline take(me, kind, last, low)
{
	if
	:: kind == CALL && last ->
		serving[me]++;
		assert(serving[me] <= MOST(me) + SLACK)
	:: kind == REPLY && last -> awaited[me]--
	:: else -> skip
	fi;
	if
	:: kind != GRANT -> middle[me] = !last
	:: else -> skip
	fi;
	apply(me, low);
#ifdef APPLY_FIRST
	late[me]++;
#endif
	excess[me] = false
}

proctype peer(byte me)
{
	byte low;
	bool last;
	mtype kind;

	do
	:: atomic { call_left[me] > 0 && avail[me] > 0 ->
		say(me, CALL, call_left[me], low) }
	:: atomic { reply_left[me] > 0 && avail[me] > 0 ->
		say(me, REPLY, reply_left[me], low) }
	:: atomic { MAY_CALL(me) ->
		calls[me]--;
		awaited[me]++;
		call_left[me] = CALL_PARTS(me);
		say(me, CALL, call_left[me], low) }
	:: atomic { MAY_REPLY(me) ->
		ready[me]--;
		reply_left[me] = REPLY_PARTS(me);
		say(me, REPLY, reply_left[me], low) }
	:: atomic { MAY_FINISH(me) &&
	            ready[me] + (reply_left[me] > 0 -> 1 : 0) < ACTIVE(me) ->
		ready[me]++ }
#ifndef NO_GRANTS
	:: atomic { !MAY_SAY(me) && avail[me] > 0 && spoke[me] && DUE(me) ->
		grants++;
		assert(grants < GRANT_LIMIT);
		spend(me, low);
		deliver(me, GRANT, true, low) }
#endif
#ifdef GRANT_AT_ZERO
	:: atomic { avail[me] == 0 && spoke[me] && owed[me] > 0 && !excess[me] ->
		excess[me] = true; /* until a message has come */
		grants++;
		assert(grants < GRANT_LIMIT);
		avail[me]++;
		spend(me, low);
		deliver(me, GRANT, true, low) }
#endif
	:: atomic { me == 0 && nempty(wire0) ->
		wire0?kind, last, low;
		take(0, kind, last, low) }
	:: atomic { me == 1 && nempty(wire1) ->
		wire1?kind, last, low;
		take(1, kind, last, low) }
#ifdef APPLY_FIRST
	:: atomic { late[me] > 0 -> late[me]-- }
#endif
#if !defined(PLAIN) && !defined(GRANT_AT_ZERO)
	:: atomic { SETTLED && SUM > CAPS -> assert(false) }
#endif
	/* Nothing can happen any more: then each Call has been answered. */
	:: timeout -> assert(calls[0] + awaited[0] + calls[1] + awaited[1] == 0); break
	od
}

init
{
	atomic {
		calls[0] = N0;
		calls[1] = N1;
		start_credits();
		run peer(0);
		run peer(1)
	}
}
