/*
 * The credit scheme of src/conn/credit.c and the sending rules of src/conn/tx.c,
 * for spin: two peers, each with one continued message of many parts to send, in
 * both directions at once, over reliable queues of any delay.
 *
 * What is searched: every order in which the peers can send, and consume what has
 * come.  A message that is not consumed occupies a Receive.
 *   - assertion  more messages than Receives at a peer (an overrun), a low half of
 *                zero or above the ceiling, credits made out of nothing
 *   - invalid end state  a part that is never sent (a deadlock)
 *   - assertion  GRANT_LIMIT grants in a row: grants that provoke each other
 *
 * Parameters: H0 H1 ceilings, L0 L1 own limits for sending, N0 N1 parts to send.
 * The rules are those built, unless one of these is defined:
 *   NO_GRANTS     a peer without payload sends nothing (the draft: it "can")
 *   PLAIN         addition up to the ceiling, each message grants at least one, and
 *                 nothing is owed (a literal reading of the draft's rules)
 *   APPLY_FIRST   credits count before the Receive stands again
 *   GRANT_AT_ZERO either peer may send a grant without a credit, once until it has
 *                 received something
 *   LOW_LIMIT     an own limit for sending may be below the own ceiling
 *   SPARE=n       Receives beyond ceiling and limit (2)
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
#ifndef N0
#define N0 6
#endif
#ifndef N1
#define N1 6
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

mtype = { PART, GRANT };

chan wire0 = [40] of { mtype, byte }; /* to peer 0 */
chan wire1 = [40] of { mtype, byte }; /* to peer 1 */
#define TO(p) ((p) == 0 -> wire1 : wire0)

byte avail[2], owed[2], cap[2], late[2];
bool spoke[2], heard[2], excess[2];
byte todo[2];
byte grants; /* in a row, of both */
byte flying; /* low halves under way */

/* The conservation law, from both first messages on. [C3] */
#define SETTLED (heard[0] && heard[1])
#define SUM (avail[0] + avail[1] + owed[0] + owed[1] + flying)

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
		low = MIN(1 + owed[me], CEILING(me));
		owed[me] = owed[me] - (low - 1)
#endif
	:: else -> owed[me] = owed[me] /* the first message hands nothing back */
	fi;
	spoke[me] = true;
	assert(low >= 1 && low <= CEILING(me));
	flying = flying + low
}

inline deliver(me, kind, low)
{
	if
	:: me == 0 ->
		assert(len(wire1) + late[1] < RECEIVES(1));
		wire1!kind, low
	:: else ->
		assert(len(wire0) + late[0] < RECEIVES(0));
		wire0!kind, low
	fi
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

#define LOWER(me) MIN(H0, H1)
#define DUE(me) (owed[me] >= MAX(2, (LOWER(me) + 1) / 2))
#define MAY_SEND_PART(me) (todo[me] > 0 && avail[me] > 0)

proctype peer(byte me)
{
	byte low;
	mtype kind;

	do
	:: atomic { MAY_SEND_PART(me) ->
		avail[me]--;
		todo[me]--;
		grants = 0;
		spend(me, low);
		deliver(me, PART, low) }
#ifndef NO_GRANTS
	:: atomic { !MAY_SEND_PART(me) && avail[me] > 0 && spoke[me] && DUE(me) ->
		avail[me]--;
		grants++;
		assert(grants < GRANT_LIMIT);
		spend(me, low);
		deliver(me, GRANT, low) }
#endif
#ifdef GRANT_AT_ZERO
	:: atomic { avail[me] == 0 && spoke[me] && owed[me] > 0 && !excess[me] ->
		excess[me] = true; /* until a message has come */
		grants++;
		assert(grants < GRANT_LIMIT);
		spend(me, low);
		deliver(me, GRANT, low) }
#endif
	:: atomic { me == 0 && nempty(wire0) ->
		wire0?kind, low;
		apply(0, low);
#ifdef APPLY_FIRST
		late[0]++;
#endif
		excess[0] = false }
	:: atomic { me == 1 && nempty(wire1) ->
		wire1?kind, low;
		apply(1, low);
#ifdef APPLY_FIRST
		late[1]++;
#endif
		excess[1] = false }
#ifdef APPLY_FIRST
	:: atomic { late[me] > 0 -> late[me]-- }
#endif
#if !defined(PLAIN) && !defined(GRANT_AT_ZERO)
	:: atomic { SETTLED && SUM > CAPS -> assert(false) }
#endif
	/* Nothing can happen any more: then nothing is left to be sent. */
	:: timeout -> assert(todo[0] == 0 && todo[1] == 0); break
	od
}

init
{
	atomic {
		todo[0] = N0;
		todo[1] = N1;
		avail[0] = 1; /* one message until credits arrive */
		owed[0] = 1; /* ... as if it had been received [C3] */
		cap[0] = 1;
		run peer(0);
		run peer(1)
	}
}
