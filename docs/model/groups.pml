/*
 * Groups of the feature RTR [ext §5.6, §5.8] and messages of the other extensions that
 * use credits [ext §2.5, §3.9, §6.5], over the rules for credits of the base, for spin.
 *
 * Each peer has for the other: Calls of base types (or X_ types, which need credits in
 * the same way) whose parts wait for credits one by one; XMOPT requests that are groups,
 * and reserve Receives for a response that may be a group; and messages that cause none
 * in the other direction.  Every order is searched in which the peers can send and
 * receive, handlers can end, and grant timers can expire.
 *   - finished   a message was never sent, or a Call has no Reply (a deadlock)
 *   - whole      a group that has begun lacks credits for the rest of it (a stall)
 *   - in_order   another message arrives between the transmissions of a group
 *   - within     more Receives are reserved than may be
 *   - overrun, flood, endless grants: as in credits.pml
 *   - false      the sum of all credits has changed
 *   - no progress (with -DENDLESS): a group waits for ever while others are sent
 *
 * Parameters: H L M as in credits.pml.  Those of the peer p end in 0 or 1:
 *   N C R      base Calls, parts of each, parts of each Reply to them
 *   X G S      XMOPT requests, transmissions of each, Receives reserved for a response
 *   D          messages that cause none in the other direction
 *   FALLBACK   a group that waits may fall back at any time; otherwise never
 *   NESTED0 NESTED1 TOGETHER as in credits.pml
 * The rules hold, unless one of these or of those in credits.pml is defined:
 *   NO_TIMER       grants only from the threshold on, none after grant_delay
 *   GRANTS_WAIT    no grant while a group waits for its credits
 *   NO_QUEUE       Calls and Replies are sent before a group that waits
 *   EARLY          a group begins with the first credit and waits in the middle
 *   GRANT_INSIDE   grants are sent between the transmissions of a group
 *   INSIDE         a group begins inside a sequence of the same sender
 *   KEEP_ONE       a group leaves the last credit to Replies, as a Call does
 *   NO_TAKE_BACK   a group does not use credits that its sender owes
 *   OPEN_WAITING   ... but none are withheld while a group waits
 *   NO_SUM         no limit for the sum of reservations
 *   SUM_AT_HEAD    a request that waits for its reservation lets nothing pass
 *   KEEP_RESERVED  a response that is shorter than reserved frees only its count
 *   LATE_FREE      ... frees the rest with the last transmission only
 *   WHOLE_CAP      a response may have as many transmissions as were reserved
 *   SET_ASIDE      a Responder sets aside the credits that were reserved
 *   SHARE_ONLY     credits are withheld also from a peer that owes Replies, but as many
 *                  as RTR reserved and one for each Call are left to it
 *   SHARE_ONE      ... but one for each Call
 *   PARTS_ONE      a part of a sequence returns no more than the credit that it uses
 *   NO_BETWEEN     ... and no grant is sent between parts
 */
#ifndef X0
#define X0 0
#endif
#ifndef X1
#define X1 0
#endif
#ifndef G0
#define G0 1
#endif
#ifndef G1
#define G1 1
#endif
#ifndef S0
#define S0 1
#endif
#ifndef S1
#define S1 1
#endif
#ifndef N0
#define N0 0
#endif
#ifndef N1
#define N1 0
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
#ifndef D0
#define D0 0
#endif
#ifndef D1
#define D1 0
#endif
#ifndef SLACK
#define SLACK 100
#endif

/* What the withholding of the base must know of groups. */
#ifdef OPEN_WAITING
#define WAITS(me) (head[me] != NONE)
#endif
#ifdef SHARE_ONLY
#define NO_OWES
#define NEEDED(me) (reserved[me] + awaited[me])
#endif
#ifdef SHARE_ONE
#define NO_OWES
#define NEEDED(me) awaited[me]
#endif
#ifdef NEEDED
#define SHARE(me) (NEEDED(me) > OUT(me) -> NEEDED(me) - OUT(me) : 0)
#endif
#ifdef PARTS_ONE
#define RETURNS_ONE(me) (is_part && call_left[me] + reply_left[me] > 0)
#endif

#define NONE 0
mtype = { HELLO, CALL, REPLY, XCALL, XREPLY, ONEWAY, GRANT };

#include "rules.pml"

#define CALL_PARTS(p) ((p) == 0 -> C0 : C1)
#define REPLY_PARTS(p) ((p) == 0 -> R1 : R0) /* of what p sends */
#define COUNT(p) ((p) == 0 -> G0 : G1)
#define RESERVES(p) ((p) == 0 -> S0 : S1)
#define MAY_RESERVE(p) (CEILING(p) - 2)
#ifdef WHOLE_CAP
#define RESPONSE(p) RESERVES(1 - (p))
#else
#define RESPONSE(p) MAX(1, MIN(RESERVES(1 - (p)), cap[p] - 1))
#endif

chan wire0 = [20] of { mtype, byte, byte }; /* to peer 0: kind, following, low half */
chan wire1 = [20] of { mtype, byte, byte };

byte calls[2], xcalls[2], oneways[2]; /* to be sent */
mtype head[2];                  /* kind of a group that waits, or NONE */
byte need[2];                   /* transmissions of it */
mtype kind_out[2];              /* of an open group, sent */
byte group_left[2];
byte call_left[2], reply_left[2]; /* parts of a sequence */
byte reserved[2];               /* Receives, over all requests outstanding */
byte fresh[2], xfresh[2];       /* Calls received, their handler has not ended */
byte ready[2], xready[2];       /* ... has ended */
mtype opened[2];                /* kind of a group being received, or NONE */
hidden byte is_part;            /* a part of a sequence is being sent */
hidden byte finished, whole, in_order, within; /* for assertions */

#define MET(me) (spoke[me] && heard[me])
#define IN_SEQUENCE(me) (call_left[me] > 0 || reply_left[me] > 0)
#define IN_GROUP(me) (group_left[me] > 0)
#define FREE(me) (MET(me) && !IN_SEQUENCE(me) && !IN_GROUP(me))
#ifdef NO_QUEUE
#define TURN(me) FREE(me)
#else
#define TURN(me) (FREE(me) && head[me] == NONE)
#endif
#define MAY_ONEWAY(me) (FREE(me) && oneways[me] > 0 && avail[me] > 0)
#ifdef INSIDE
#define MAY_CHOOSE(me) (MET(me) && !IN_GROUP(me) && head[me] == NONE)
#else
#define MAY_CHOOSE(me) (FREE(me) && head[me] == NONE)
#endif
#ifdef NO_TAKE_BACK
#define USABLE(me) avail[me]
#else
#define USABLE(me) (avail[me] + owed[me]) /* owed are only credits that were withheld */
#endif
#ifdef KEEP_ONE
#define KEPT(me) (head[me] == XCALL -> RESERVE(me) : 0)
#else
#define KEPT(me) 0
#endif
#ifdef SUM_AT_HEAD
#define SUM_FITS(me) (head[me] != XCALL || ROOM_RESERVED(me))
#else
#define SUM_FITS(me) true
#endif
#ifdef EARLY
#define HELD(me) (avail[me] > 0)
#else
#define HELD(me) (USABLE(me) >= need[me] + KEPT(me) && SUM_FITS(me))
#endif
#ifdef SET_ASIDE /* for responses that do not exist yet */
#define ASIDE(me) (xfresh[me] * (RESPONSE(me) - 1))
#else
#define ASIDE(me) 0
#endif
#if defined(PARTS_ONE) && !defined(NO_BETWEEN)
#define GRANT_FIRST(me) GRANT_DUE(me)
#else
#define GRANT_FIRST(me) false
#endif
#define MAY_BEGIN(me) (head[me] != NONE && !IN_GROUP(me) && HELD(me))
#define MAY_GO_ON(me) (avail[me] > 0 && !IN_GROUP(me) && !GRANT_FIRST(me))
#define MAY_PART(me) (IN_SEQUENCE(me) && avail[me] > 0)
#define MAY_REPLY(me) (TURN(me) && ready[me] > 0 && avail[me] > 0)
#define MAY_CALL(me) (TURN(me) && calls[me] > 0 && avail[me] > RESERVE(me) + ASIDE(me))
#define MAY_SAY(me) \
	(MAY_PART(me) || MAY_REPLY(me) || MAY_CALL(me) || MAY_BEGIN(me))

#ifdef NO_SUM
#define ROOM_RESERVED(me) true
#else
#define ROOM_RESERVED(me) \
	(RESERVES(me) == 1 || reserved[me] + RESERVES(me) <= MAY_RESERVE(me))
#endif
#ifdef SUM_AT_HEAD
#define MAY_XCALL(me) (xcalls[me] > 0 && (COUNT(me) > 1 || avail[me] > RESERVE(me)))
#else
#define MAY_XCALL(me) (xcalls[me] > 0 && ROOM_RESERVED(me) && \
	(COUNT(me) > 1 || avail[me] > RESERVE(me) + ASIDE(me)))
#endif

/* Grants wait for the end of a group and, as a part returns as much, of a sequence. */
#ifdef NO_TIMER
#define ENOUGH THRESHOLD
#else
#define ENOUGH 2 /* the timer can expire at any time */
#endif
#define GRANT_DUE(me) (spoke[me] && avail[me] > ASIDE(me) && avail[me] > 0 && \
	RELEASE(me) >= ENOUGH)
#ifdef GRANT_INSIDE
#define GRANT_TURN(me) (IN_GROUP(me) || !MAY_SAY(me))
#else
#ifdef GRANTS_WAIT
#define GRANT_TURN(me) (!IN_GROUP(me) && !MAY_SAY(me) && head[me] == NONE)
#else
#if defined(PARTS_ONE) && !defined(NO_BETWEEN)
#define GRANT_TURN(me) (!IN_GROUP(me) && (IN_SEQUENCE(me) || !MAY_SAY(me)))
#else
#define GRANT_TURN(me) (!IN_GROUP(me) && !MAY_SAY(me))
#endif
#endif
#endif

#ifdef ENDLESS /* only the time during which a group of peer 0 waits */
#define WATCHED(me) (me == 1 || head[0] != NONE)
#else
#define WATCHED(me) true
#endif

#define ACTIVE(me) MIN(serving[me], MOST(me))
#define REPLYING(me) \
	(ready[me] + xready[me] + (reply_left[me] > 0 -> 1 : 0) + \
	 (head[me] == XREPLY || (IN_GROUP(me) && kind_out[me] == XREPLY) -> 1 : 0))
#ifdef NESTED0
#define FINISH0 (calls[0] + xcalls[0] + awaited[0] == 0 && head[0] != XCALL)
#else
#define FINISH0 true
#endif
#ifdef NESTED1
#define FINISH1 (calls[1] + xcalls[1] + awaited[1] == 0 && head[1] != XCALL)
#else
#ifdef TOGETHER
#define WAITED_FOR (N0 + X0)
#define FINISH1 (serving[1] == WAITED_FOR || \
	calls[0] + xcalls[0] + awaited[0] + (head[0] == XCALL -> 1 : 0) < WAITED_FOR)
#else
#define FINISH1 true
#endif
#endif
#define MAY_FINISH(me) \
	((me == 0 -> FINISH0 : FINISH1) && REPLYING(me) < ACTIVE(me))

inline send(me, kind, following)
{
	assert(avail[me] > 0);
	spend(me, low);
	if
	:: me == 0 ->
		assert(len(wire1) < RECEIVES(1));
		wire1!kind, following, low
	:: else ->
		assert(len(wire0) < RECEIVES(0));
		wire0!kind, following, low
	fi
}

inline send_part(me, kind, left)
{
	left--;
	grants = 0;
	if
	:: kind == REPLY && left == 0 -> serving[me]--
	:: else -> skip
	fi;
	if
	:: left > 0 -> is_part = true; send(me, kind, 1); is_part = false
	:: else -> send(me, kind, 0)
	fi
}

/* The next transmission of the open group. */
inline send_group(me)
{
	group_left[me]--;
	grants = 0;
	if
	:: kind_out[me] == XREPLY && group_left[me] == 0 -> serving[me]--
	:: else -> skip
	fi;
	send(me, kind_out[me], group_left[me]);
	whole = (avail[me] >= group_left[me]);
	assert(whole);
	if
	:: group_left[me] == 0 -> kind_out[me] = NONE
	:: else -> skip
	fi
}

/* Credits that were withheld become usable as far as the group needs them. */
inline take_back(me)
{
	if
	:: avail[me] < need[me] && USABLE(me) >= need[me] ->
		owed[me] = owed[me] - (need[me] - avail[me]);
		avail[me] = need[me]
	:: else -> skip
	fi
}

inline reserve(me)
{
	if
	:: RESERVES(me) > 1 ->
		reserved[me] = reserved[me] + RESERVES(me);
#ifndef NO_SUM
		within = (reserved[me] <= MAY_RESERVE(me));
		assert(within)
#endif
	:: else -> skip
	fi
}

inline fall_back(me)
{
	if
	:: head[me] == XREPLY -> need[me] = MAX(avail[me], 1) /* planned anew */
	:: need[me] > 1 -> need[me] = 1 /* the Payload stream as a chunk */
	:: head[me] == XCALL -> /* base types, parts one by one */
		calls[me]++;
		if
		:: RESERVES(me) > 1 ->
			reserved[me] = reserved[me] - RESERVES(me)
		:: else -> skip
		fi;
		head[me] = NONE;
		need[me] = 0
	fi
}

inline free_reserved(me, following)
{
	if
	:: RESERVES(me) > 1 && opened[me] == NONE ->
#ifdef KEEP_RESERVED
		reserved[me] = reserved[me] - (following + 1)
#else
#ifdef LATE_FREE
		if
		:: following == 0 -> reserved[me] = reserved[me] - RESERVES(me)
		:: else -> skip
		fi
#else
		reserved[me] = reserved[me] - RESERVES(me) + following
#endif
	:: RESERVES(me) > 1 && opened[me] != NONE ->
#ifdef LATE_FREE
		if
		:: following == 0 -> reserved[me] = reserved[me] - RESERVES(me)
		:: else -> skip
		fi
#else
		reserved[me]--
#endif
#endif
	:: else -> skip
	fi
}

inline take(me, kind, following)
{
	in_order = (opened[me] == NONE || opened[me] == kind) &&
	           !(middle[me] && (kind == XCALL || kind == XREPLY));
	assert(in_order);
	if
	:: kind == CALL || kind == REPLY -> middle[me] = (following > 0)
	:: kind == XREPLY -> free_reserved(me, following)
	:: else -> skip
	fi;
	if
	:: following == 0 && kind == CALL -> fresh[me]++; serving[me]++
	:: following == 0 && kind == XCALL -> xfresh[me]++; serving[me]++
	:: following == 0 && (kind == REPLY || kind == XREPLY) -> awaited[me]--
	:: else -> skip
	fi;
	assert(serving[me] <= MOST(me) + SLACK);
	if
	:: (kind == XCALL || kind == XREPLY) && following > 0 -> opened[me] = kind
	:: else -> opened[me] = NONE
	fi;
	apply(me, low)
}

proctype peer(byte me)
{
	byte low, following;
	mtype kind;

	do
	:: atomic { !spoke[me] && avail[me] > 0 -> send(me, HELLO, 0) }
	/* sequences, whose parts wait for credits one by one */
	:: atomic { call_left[me] > 0 && MAY_GO_ON(me) ->
		send_part(me, CALL, call_left[me]) }
	:: atomic { reply_left[me] > 0 && MAY_GO_ON(me) ->
		send_part(me, REPLY, reply_left[me]) }
	:: atomic { MAY_CALL(me) ->
		calls[me]--;
		awaited[me]++;
		call_left[me] = CALL_PARTS(me);
		send_part(me, CALL, call_left[me]) }
	:: atomic { MAY_REPLY(me) ->
		ready[me]--;
		reply_left[me] = REPLY_PARTS(me);
		send_part(me, REPLY, reply_left[me]) }
	/* groups, which wait at the head of the queue */
	:: atomic { MAY_CHOOSE(me) && MAY_XCALL(me) ->
		xcalls[me]--;
		head[me] = XCALL;
#ifndef SUM_AT_HEAD
		reserve(me);
#endif
		need[me] = COUNT(me) }
	:: atomic { MAY_CHOOSE(me) && xready[me] > 0 ->
		xready[me]--;
		head[me] = XREPLY;
		if
		:: need[me] = 1
		:: RESPONSE(me) > 1 -> need[me] = RESPONSE(me)
		fi }
	:: atomic { MAY_BEGIN(me) ->
#ifdef SUM_AT_HEAD
		if
		:: head[me] == XCALL -> reserve(me)
		:: else -> skip
		fi;
#endif
		kind_out[me] = head[me];
		group_left[me] = need[me];
		take_back(me);
		if
		:: head[me] == XCALL -> awaited[me]++
		:: else -> skip
		fi;
		head[me] = NONE;
		need[me] = 0;
		send_group(me) }
	:: atomic { IN_GROUP(me) -> send_group(me) }
#ifdef FALLBACK
	:: atomic { head[me] != NONE && !IN_GROUP(me) && !HELD(me) && need[me] > 1 ->
		fall_back(me) }
#endif
	:: atomic { MAY_ONEWAY(me) -> oneways[me]--; send(me, ONEWAY, 0) }
	:: atomic { GRANT_TURN(me) && GRANT_DUE(me) && WATCHED(me) ->
		grants++;
		assert(grants < GRANT_LIMIT);
		send(me, GRANT, 0) }
	/* handlers that end */
	:: atomic { MAY_FINISH(me) && fresh[me] > 0 -> fresh[me]--; ready[me]++ }
	:: atomic { MAY_FINISH(me) && xfresh[me] > 0 -> xfresh[me]--; xready[me]++ }
	:: atomic { me == 0 && nempty(wire0) ->
		wire0?kind, following, low;
		take(0, kind, following) }
	:: atomic { me == 1 && nempty(wire1) ->
		wire1?kind, following, low;
		take(1, kind, following) }
	:: atomic { SETTLED && SUM != CAPS -> assert(false) }
#ifdef ENDLESS /* messages that wait their turn, for ever; then one group of peer 0 */
	:: atomic { TURN(me) && avail[me] > 0 && WATCHED(me) ->
		grants = 0;
		send(me, ONEWAY, 0) }
	:: atomic { me == 0 && MET(0) && xcalls[0] == 0 && head[0] == NONE &&
	            !IN_GROUP(0) -> break }
#else
	/* Nothing can happen any more: then everything has been sent and answered. */
	:: timeout ->
		finished = (calls[0] + xcalls[0] + awaited[0] + oneways[0] + need[0] +
		            calls[1] + xcalls[1] + awaited[1] + oneways[1] + need[1] == 0);
		assert(finished);
		break
#endif
	od
}

init
{
	atomic {
		calls[0] = N0;
		calls[1] = N1;
		xcalls[0] = X0;
		xcalls[1] = X1;
		oneways[0] = D0;
		oneways[1] = D1;
		start_credits();
		run peer(0);
		run peer(1)
	}
}
