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
#ifndef H0
#define H0 3
#endif
#ifndef H1
#define H1 3
#endif
#ifndef L0
#define L0 H0
#endif
#ifndef L1
#define L1 H1
#endif
#ifndef M0
#define M0 100
#endif
#ifndef M1
#define M1 100
#endif
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
#ifndef GRANT_LIMIT
#define GRANT_LIMIT 8
#endif
#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* Peer 0 is the client. */
#define CEILING(p) ((p) == 0 -> H0 : H1)
#define LIMIT(p) ((p) == 0 -> MAX(L0, LEAST0) : MAX(L1, LEAST1))
#ifdef LOW_LIMIT /* as configured, also below the own ceiling */
#define LEAST0 2
#define LEAST1 2
#else
#define LEAST0 H0
#define LEAST1 H1
#endif
#ifndef SPARE
#define SPARE 2
#endif
#define RECEIVES(p) (CEILING(p) + LIMIT(p) + SPARE)
#define CAPS (MIN(H1, LIMIT(0)) + MIN(H0, LIMIT(1)))
#define MOST(p) ((p) == 0 -> M0 : M1) /* handlers at once */
#define BUDGET(p) MAX(MOST(p), CEILING(p))
#define CALL_PARTS(p) ((p) == 0 -> C0 : C1)
#define REPLY_PARTS(p) ((p) == 0 -> R1 : R0) /* of what p sends */

mtype = { CALL, REPLY, GRANT };

chan wire0 = [40] of { mtype, bool, byte }; /* to peer 0: kind, last part, low half */
chan wire1 = [40] of { mtype, bool, byte };

byte avail[2], owed[2], cap[2], late[2];
bool spoke[2], heard[2], excess[2];
byte calls[2], awaited[2];      /* to be sent; begun and not answered */
byte call_left[2], reply_left[2]; /* parts of what is being sent */
byte serving[2], ready[2];      /* whole Calls; of these answered by the handler */
bool middle[2];                 /* of a message being received */
byte grants; /* in a row, of both */
byte flying; /* low halves under way */

/* The conservation law, from both first messages on. [C3] */
#define SETTLED (heard[0] && heard[1])
#define SUM (avail[0] + avail[1] + owed[0] + owed[1] + flying)

#define LOWER MIN(H0, H1)
#define THRESHOLD MAX(2, (LOWER + 1) / 2)

/* May everything that is owed be handed back? */
#ifdef NO_OWES
#define OWES(me) false
#else
#define OWES(me) (awaited[me] > 0)
#endif
#ifdef NO_MIDDLE
#define MIDDLE(me) false
#else
#define MIDDLE(me) middle[me]
#endif
#ifdef NO_LAST
#define LAST(me) false
#else
#define LAST(me) (avail[me] <= 1)
#endif
#ifdef NO_IDLE
#define NOTHING_SERVED(me) false
#else
#define NOTHING_SERVED(me) (serving[me] == 0)
#endif
#ifdef NO_LOW
#define VERY_LOW false
#else
#define VERY_LOW (LOWER < 3)
#endif
#ifdef NO_WITHHOLD
#define OPEN(me) true
#else
#define OPEN(me) (OWES(me) || MIDDLE(me) || NOTHING_SERVED(me) || VERY_LOW)
#endif
/* Beside the one that each message hands back. */
#define OWN(me) (avail[me] + owed[me])
#define ALL(me) (CEILING(me) + cap[me])
#define OUT(me) (OWN(me) < ALL(me) -> MIN(CEILING(me), ALL(me) - OWN(me)) : 0)
#define TAKEN(me) (serving[me] + OUT(me) + 1)
#define ROOM(me) (TAKEN(me) < BUDGET(me) -> BUDGET(me) - TAKEN(me) : 0)
#define RELEASE(me) (OPEN(me) -> owed[me] : MIN(owed[me], ROOM(me)))
#define GIVES(me) (LAST(me) -> owed[me] : RELEASE(me)) /* with a message */
#define DUE(me) (RELEASE(me) >= THRESHOLD)

/* A credit stays for the Replies that are owed, where that cannot stall. */
#ifdef NO_RESERVE
#define RESERVE(me) 0
#else
#ifdef ALL_RESERVE
#define RESERVE(me) (serving[me] > 0 -> 1 : 0)
#else
#define RESERVE(me) (serving[me] > 0 && cap[me] > 2 * THRESHOLD - 1 -> 1 : 0)
#endif
#endif

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

inline spend(me, low)
{
	low = CEILING(me);
	if
	:: spoke[me] ->
#ifdef PLAIN
		low = MAX(1, owed[me]);
		low = MIN(low, CEILING(me));
		owed[me] = 0
#else
		low = MIN(1 + GIVES(me), CEILING(me));
		owed[me] = owed[me] - (low - 1)
#endif
	:: else -> skip /* the first message hands nothing back */
	fi;
	avail[me]--;
	spoke[me] = true;
	assert(low >= 1 && low <= CEILING(me));
	flying = flying + low
}

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

inline apply(me, low)
{
	flying = flying - low;
	avail[me] = avail[me] + low;
#ifdef PLAIN
	owed[me] = MIN(owed[me] + 1, CEILING(me)); /* consumed, to be granted anew */
	avail[me] = MIN(avail[me], CEILING(1 - me))
#else
	if
	:: !heard[me] -> cap[me] = MIN(CEILING(1 - me), LIMIT(me))
	:: else -> skip
	fi;
	if
	:: avail[me] > cap[me] ->
		if
		:: heard[me] || LIMIT(me) >= CEILING(1 - me) ->
			owed[me] = MIN(owed[me] + avail[me] - cap[me], CEILING(me))
		:: else -> skip /* of the very first message: dropped */
		fi;
		avail[me] = cap[me]
	:: else -> skip
	fi
#endif
	;
	heard[me] = true
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
		avail[0] = 1; /* one message until credits arrive */
		owed[0] = 1; /* ... as if it had been received [C3] */
		cap[0] = 1;
		run peer(0);
		run peer(1)
	}
}
