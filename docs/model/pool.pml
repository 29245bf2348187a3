/*
 * A server's pool of Receive memory that three connections share, for spin.  The pool
 * is smaller than the sum of the credits, so a message can find no memory.  Then its
 * stream is not read, and everything behind the message waits with it.
 *
 * Each peer sends Calls.  Calls wait in the pool for a reservation from a second
 * resource, the budget.  Requests with a reservation can wait for something that comes
 * in the peer's stream: a Read Response, a Reply, DONE, or the rest of a Call.  Every
 * order is searched in which messages can be sent and taken and handlers can end.
 * The server's messages arrive at once, and cost it the credits that they return.
 *   - finished   nothing can happen any more, and a Call has no Reply (a deadlock)
 *   - fits       the pool holds more than its size (an overrun)
 *   - innocent   a connection was ended whose peer is well-behaved
 *   - ends       connections are ended without end, and no Call is answered (endless)
 *   - no progress (with -DENDLESS): the Call of peer 2 is never answered
 *
 * Parameters: POOL and BUD, the sizes of the pool and the budget.  C and OWN, the
 * credits that a peer and the server can have.  S, the memory of a Call or a part.  P,
 * the parts of a continued Call.  Those of the peer i end in its number:
 *   N W        Calls, what each of them reserves
 *   K          kinds of Calls, as a sum:
 *              1   nothing of the stream is needed
 *              2   data is pulled by RDMA Read
 *              4   the handler makes a Call and waits for the Reply
 *              8   the reply is exposed until DONE (or has parts that wait for a grant)
 *              16  the Call is continued
 *   SILENT=i   this peer answers nothing and does not complete Calls
 *   V          what a connection is charged whose requests need its stream
 *   LIMIT=n    connections are ended when nothing else can happen, less than n in a
 *              row; not defined: none is ended
 * The rules hold, unless one of these is defined:
 *   NO_PAUSE     messages are taken without memory
 *   NO_COVER     a reservation does not charge V
 *   RES=n        ... but the last n pieces are for all connections of which anything is
 *                out (a shared reserve)
 *   ALONE        ... for one of them at a time, which holds anything until it has taken
 *                all that is in its stream
 *   TWO_COVERS   memory for another cover is kept free while a connection is covered
 *   NO_PASS      no claim passes one that cannot be covered and arrived earlier
 *   NO_LEAVE     Calls keep the memory in the pool until their request ends
 *   NO_SHARE     an uncovered connection may hold any amount
 *   NO_UNUSED    an empty pool takes no message that exceeds the limits
 *   NO_WITHHOLD  the server grants credits under pressure, too
 *   ALL_WITHHOLD the server grants no peer anything under pressure
 *   EARLY        the server returns the credit of a message that is still in the pool
 *   NO_LOAN      the server lends no credit to a peer that needs one to answer
 *   PIECEWISE    a message arrives in pieces, each of which takes memory by itself
 *   MOST         the server ends the connection that holds most, even if another one
 *                has a reservation and waits for its peer
 */
#ifndef POOL
#define POOL 3
#endif
#ifndef BUD
#define BUD 1
#endif
#ifndef C
#define C 2
#endif
#ifndef OWN
#define OWN 1
#endif
#ifndef S
#define S 1
#endif
#ifndef P
#define P 2
#endif
#ifndef N0
#define N0 2
#endif
#ifndef N1
#define N1 2
#endif
#ifndef N2
#define N2 2
#endif
#ifndef K0
#define K0 4
#endif
#ifndef K1
#define K1 4
#endif
#ifndef K2
#define K2 4
#endif
#ifndef W0
#define W0 1
#endif
#ifndef W1
#define W1 1
#endif
#ifndef W2
#define W2 1
#endif
#define NOBODY 9
#ifndef SILENT
#define SILENT NOBODY
#endif
#ifndef V
#define V ((C + OWN) * S)
#endif
#ifndef RES
#define RES 0
#endif

/* Messages; the kinds of Calls are bits. */
#define PLAIN 1
#define PULL 2
#define REVERSE 4
#define EXPOSE 8
#define CONT 16 /* the first part */
#define PART 32
#define LAST 33
#define REPLY 34
#define RESPONSE 35 /* to an RDMA Read: uses no credit and no memory */
#define DONE 36

#define MIN(a, b) ((a) < (b) -> (a) : (b))
#define MAX(a, b) ((a) > (b) -> (a) : (b))
#define CALLS(i) (i == 0 -> N0 : (i == 1 -> N1 : N2))
#define KINDS(i) (i == 0 -> K0 : (i == 1 -> K1 : K2))
#define CLAIM(i) (i == 0 -> W0 : (i == 1 -> W1 : W2))
#define NEXT(i) ((i + 1) % 3)
#define THIRD(i) ((i + 2) % 3)

chan wire[3] = [12] of { byte };  /* streams to the server */
chan waitq[3] = [8] of { byte };  /* Calls that wait for their reservation */

/* The peers: numbers of Calls, credits and answers of each */
byte calls[3];                    /* to be sent */
byte awaited[3];                  /* sent and not answered */
byte avail[3];                    /* credits */
byte left[3];                     /* parts of a Call to be sent */
byte revs[3], reads[3], exps[3];  /* to be answered */

/* The server: what it holds for each connection, and in total */
byte mine[3];    /* credits of the server, and those that it owes */
byte held[3];    /* pieces of the pool */
byte pieces[3];  /* ... of the message that is arriving */
byte resv[3];    /* requests that have their reservation */
byte needs[3];   /* ... and need the stream */
byte begun[3];   /* ... whose handlers are about to make a Call */
byte result[3];  /* ... whose replies are about to be exposed */
byte out[3];     /* Reads, reverse calls, exposed replies, unfinished Calls */
byte ready[3];   /* requests that can end, and need nothing of the stream */
byte back[3];    /* ... that needed it */
byte cont[3];    /* an unfinished Call waits for its reservation (1) or has it (2) */
byte parts[3];   /* ... parts of it in the pool */
byte rank[3];    /* in the queue for the budget; 0: not there */
byte paused[3];  /* in the order in which reading is resumed */
byte budget;     /* reserved */
byte ends;       /* of connections, in a row */
hidden byte finished, fits, innocent, k; /* for assertions and loops */

/* -- memory ---------------------------------------------------------------- */

#define USED (held[0] + held[1] + held[2])
#ifdef NO_COVER
#define COVERED(i) false
#define COVER 0
#else
#define COVERED(i) (needs[i] > 0)
#define COVER V
#endif
#define CHARGE(i) (COVERED(i) -> MAX(held[i], V) : held[i])
#define CHARGED (CHARGE(0) + CHARGE(1) + CHARGE(2))
/* May a reservation be granted that needs the stream? */
#define COVERABLE(i) (COVERED(i) || CHARGED - held[i] + COVER <= POOL)
#define SAFE(i) (waitq[i]?[PLAIN] || COVERABLE(i))

/* What connections can take that are not covered.  Some connection can always be
 * covered: while one is, that one. */
#ifdef TWO_COVERS
#define ANY_COVERED false
#else
#define ANY_COVERED (COVERED(0) || COVERED(1) || COVERED(2))
#endif
#define FREE (POOL - CHARGED - (ANY_COVERED -> 0 : COVER) - RES) /* can be negative */
#ifdef NO_SHARE
#define SHARE(i, n) (n <= FREE)
#else
#define SHARE(i, n) (held[i] + n <= FREE)
#endif
#ifdef NO_UNUSED
#define UNUSED false
#else
#define UNUSED (CHARGED == 0)
#endif
#ifdef ALONE /* who holds most of the reserve, or nobody yet */
#define OWNER(i) (USED <= POOL - RES || held[i] > 0 && \
	held[i] >= held[NEXT(i)] && held[i] >= held[THIRD(i)])
#else
#define OWNER(i) true
#endif
#define RESERVE(i, n) (RES > 0 && out[i] > 0 && OWNER(i) && USED + n <= POOL)
#if defined(ENDLESS) || defined(LIMIT)
#define ORDER
#endif
#ifdef ORDER /* connections that hold nothing are resumed first */
#define AHEAD(j, i) (paused[j] > 0 && ((held[j] == 0) == (held[i] == 0) -> \
	paused[i] == 0 || paused[j] < paused[i] : held[j] == 0))
#define IN_TURN(i) (!AHEAD(NEXT(i), i) && !AHEAD(THIRD(i), i))
#else
#define IN_TURN(i) true
#endif
#ifdef NO_PAUSE
#define TAKE(i, n) true
#else
#define TAKE(i, n) (COVERED(i) || RESERVE(i, n) || \
	(IN_TURN(i) && (SHARE(i, n) || UNUSED)))
#endif

#define HEAD_FREE(i) (wire[i]?[RESPONSE])
#define HEAD_SHORT(i) (wire[i]?[REPLY] || wire[i]?[DONE])
#ifdef PIECEWISE
#define NEED(i) 1
#else
#define NEED(i) (HEAD_SHORT(i) -> 1 : S)
#endif
#define ARRIVES(i) (len(wire[i]) > 0 && !HEAD_FREE(i))
#define MAY_TAKE(i) (ARRIVES(i) && TAKE(i, NEED(i)))

inline hold(i, n)
{
	held[i] = held[i] + n;
	fits = (USED <= POOL);
	assert(fits)
}

/* -- the queue for the budget ---------------------------------------------- */

#define CLAIMS(i) (len(waitq[i]) > 0)
#ifdef NO_PASS
#define PASSED(i) false
#else
#define PASSED(i) (budget == 0 && !SAFE(i))
#endif
/* Connections without a reservation are first. */
#define BEFORE(j, i) (CLAIMS(j) && !PASSED(j) && \
	((resv[j] == 0) == (resv[i] == 0) -> rank[j] < rank[i] : resv[j] == 0))
#define TURN(i) (CLAIMS(i) && !BEFORE(NEXT(i), i) && !BEFORE(THIRD(i), i))
/* Reading is resumed as soon as it can be, before requests begin or end.  Only peer 2
 * is watched, and those that are resumed before it. */
#ifdef ENDLESS
#define RESUMES(i) (AHEAD(i, 2) && MAY_TAKE(i))
#define MAY_RESUME (paused[2] > 0 && (MAY_TAKE(2) || RESUMES(0) || RESUMES(1)))
#else
#define MAY_RESUME false
#endif
#define MAY_ADMIT(i) (TURN(i) && !MAY_RESUME && budget + CLAIM(i) <= BUD && SAFE(i))

#define JOIN(order, i) \
	if \
	:: order[i] == 0 -> \
		order[i] = 1 + (order[NEXT(i)] > 0 -> 1 : 0) + \
		           (order[THIRD(i)] > 0 -> 1 : 0) \
	:: else -> skip \
	fi
#define LEAVE(order, i) \
	if \
	:: order[i] > 0 && order[NEXT(i)] > order[i] -> order[NEXT(i)]-- \
	:: else -> skip \
	fi; \
	if \
	:: order[i] > 0 && order[THIRD(i)] > order[i] -> order[THIRD(i)]-- \
	:: else -> skip \
	fi; \
	order[i] = 0

/* -- credits --------------------------------------------------------------- */

/* A grant returns no credits of messages in the pool. */
#ifdef EARLY
#define IN_POOL(i) 0
#else
#define IN_POOL(i) (held[i] / S)
#endif
#define OWED(i) (mine[i] > OWN + IN_POOL(i) -> mine[i] - OWN - IN_POOL(i) : 0)
#define CALM (CHARGED * 2 <= POOL)
#ifdef NO_WITHHOLD
#define OPEN(i) true
#else
#ifdef ALL_WITHHOLD
#define OPEN(i) CALM
#else
#define OPEN(i) (CALM || resv[i] > 0 || cont[i] > 0 || avail[i] == 0)
#endif
#endif

/* A message to the peer gives one; those above C return, without a message here. */
inline give(i)
{
	if
	:: avail[i] < C -> avail[i]++; mine[i]--
	:: else -> skip
	fi
}

/* -- requests -------------------------------------------------------------- */

#define MESSAGES(i) (KINDS(i) == CONT -> P : 1)

inline release(i, n) /* messages leave the pool, now or as their request ends */
{
#ifdef NO_LEAVE
	skip
#else
	held[i] = held[i] - S * (n)
#endif
}

inline admit(i)
{
	waitq[i]?kind;
	LEAVE(rank, i);
	if
	:: CLAIMS(i) -> JOIN(rank, i)
	:: else -> skip
	fi;
	resv[i]++;
	budget = budget + CLAIM(i);
	if
	:: kind != PLAIN -> needs[i]++
	:: else -> skip
	fi;
	if
	:: kind == CONT && cont[i] == 1 && !CLAIMS(i) ->
		cont[i] = 2;
		out[i]++;
		release(i, parts[i]);
		parts[i] = 0
	:: kind == CONT && !(cont[i] == 1 && !CLAIMS(i)) ->
		release(i, P);
		back[i]++
	:: kind != CONT ->
		release(i, 1);
		if
		:: kind == PLAIN -> ready[i]++
		:: kind == PULL -> out[i]++; reads[i]++
		:: kind == REVERSE -> begun[i]++
		:: kind == EXPOSE -> result[i]++
		fi
	fi
}

inline over(i)
{
#ifdef NO_LEAVE
	held[i] = held[i] - S * MESSAGES(i);
#endif
	resv[i]--;
	budget = budget - CLAIM(i);
	awaited[i]--;
	ends = 0
}

inline take_call(i)
{
	mine[i]++;
	if
	:: kind == PART || kind == LAST || kind == CONT ->
		if
		:: cont[i] == 2 -> release(i, 1)
		:: else -> parts[i]++
		fi;
		if
		:: kind == CONT -> cont[i] = 1; waitq[i]!CONT; JOIN(rank, i)
		:: kind == LAST && cont[i] == 2 -> cont[i] = 0; out[i]--; back[i]++
		:: kind == LAST && cont[i] == 1 -> cont[i] = 0; parts[i] = 0
		:: kind == PART -> skip
		fi
	:: else -> waitq[i]!kind; JOIN(rank, i)
	fi
}

inline take(i)
{
	LEAVE(paused, i);
	if
	:: HEAD_SHORT(i) -> /* processed at once */
		wire[i]?kind;
		mine[i]++;
		out[i]--;
		if
		:: kind == REPLY -> back[i]++
		:: else -> needs[i]--; over(i)
		fi
	:: else ->
		pieces[i] = pieces[i] + NEED(i);
		hold(i, NEED(i));
		if
		:: pieces[i] == S ->
			pieces[i] = 0;
			wire[i]?kind;
			take_call(i)
		:: else -> skip
		fi
	fi;
	kind = 0
}

/* -- ends of connections --------------------------------------------------- */

#define FINISHED(i) (calls[i] + awaited[i] == 0 || i == SILENT)
#define HOLDS_MOST(i) (held[i] >= held[NEXT(i)] && held[i] >= held[THIRD(i)])
#ifdef MOST
#define VICTIM(i) HOLDS_MOST(i)
#else
#define VICTIM(i) (resv[0] + resv[1] + resv[2] > 0 -> resv[i] > 0 : HOLDS_MOST(i))
#endif

inline flush(c)
{
	do
	:: len(c) > 0 -> c?kind
	:: else -> break
	od;
	kind = 0
}

/* The peer connects again, and asks again. */
inline end(i)
{
	flush(wire[i]);
	flush(waitq[i]);
	LEAVE(rank, i);
	LEAVE(paused, i);
	budget = budget - resv[i] * CLAIM(i);
	calls[i] = calls[i] + awaited[i];
	awaited[i] = 0;
	left[i] = 0; revs[i] = 0; reads[i] = 0; exps[i] = 0;
	held[i] = 0; pieces[i] = 0; resv[i] = 0; needs[i] = 0;
	begun[i] = 0; result[i] = 0; out[i] = 0; ready[i] = 0; back[i] = 0;
	cont[i] = 0; parts[i] = 0;
	avail[i] = C;
	mine[i] = OWN
}

/* -- the connections ------------------------------------------------------- */

#define ANSWERS(i) (revs[i] + exps[i])
#define MAY_CALL(i) (calls[i] > 0 && left[i] == 0 && \
	avail[i] > (ANSWERS(i) > 0 -> 1 : 0)) /* the last credit is for answers */
#ifdef NO_LOAN
#define MAY_LEND(i) false
#else
/* All credits of the peer are in messages in the pool, and it has to answer. */
#define MAY_LEND(i) (ANSWERS(i) > 0 && avail[i] == 0 && len(wire[i]) == 0)
#endif

inline send(kind)
{
	avail[me]--;
	wire[me]!kind
}

proctype connection(byte me)
{
	byte kind;

	do
	/* The peer */
	:: atomic { MAY_CALL(me) ->
#ifdef ENDLESS
		if
		:: me == 2 -> calls[me]--
		:: else -> skip
		fi;
#else
		calls[me]--;
#endif
		awaited[me]++;
		if
		:: KINDS(me) & PLAIN -> send(PLAIN)
		:: KINDS(me) & PULL -> send(PULL)
		:: KINDS(me) & REVERSE -> send(REVERSE)
		:: KINDS(me) & EXPOSE -> send(EXPOSE)
		:: KINDS(me) & CONT -> left[me] = P - 1; send(CONT)
		fi }
	:: atomic { me != SILENT && left[me] > 0 && avail[me] > 0 ->
		left[me]--;
		if
		:: left[me] > 0 -> send(PART)
		:: else -> send(LAST)
		fi }
	:: atomic { me != SILENT && revs[me] > 0 && left[me] == 0 && avail[me] > 0 ->
		revs[me]--;
		send(REPLY) }
	:: atomic { me != SILENT && exps[me] > 0 && left[me] == 0 && avail[me] > 0 ->
		exps[me]--;
		send(DONE) }
	:: atomic { me != SILENT && reads[me] > 0 -> reads[me]--; wire[me]!RESPONSE }
	/* The server */
	:: atomic { HEAD_FREE(me) -> wire[me]?kind; kind = 0; out[me]--; back[me]++ }
	:: atomic { MAY_TAKE(me) -> take(me) }
	:: atomic { MAY_ADMIT(me) -> admit(me); kind = 0 }
	:: atomic { begun[me] > 0 && mine[me] > 0 ->
		begun[me]--; out[me]++; revs[me]++; give(me) }
	:: atomic { result[me] > 0 && mine[me] > 0 ->
		result[me]--; out[me]++; exps[me]++; give(me) }
	:: atomic { ready[me] > 0 && mine[me] > 0 && !MAY_RESUME ->
		ready[me]--; over(me); give(me) }
	:: atomic { back[me] > 0 && mine[me] > 0 && !MAY_RESUME ->
		back[me]--; needs[me]--; over(me); give(me) }
	:: atomic { OWED(me) > 0 && avail[me] < C && OPEN(me) -> /* a grant */
		k = MIN(OWED(me), C - avail[me]);
		avail[me] = avail[me] + k;
		mine[me] = mine[me] - k;
		k = 0 }
	:: atomic { MAY_LEND(me) && mine[me] > 0 -> avail[me]++; mine[me]-- }
#ifdef ORDER
	:: atomic { ARRIVES(me) && !COVERED(me) && !MAY_TAKE(me) && paused[me] == 0 ->
		JOIN(paused, me) }
#endif
#ifdef ENDLESS
	:: me == 2 && FINISHED(2) ->
progress:
		skip
#else
	/* Nothing can happen any more: then each Call has been answered. */
	:: atomic { timeout ->
		finished = (FINISHED(0) && FINISHED(1) && FINISHED(2));
		if
		:: finished -> break
		:: else ->
#ifdef LIMIT
			if
			:: VICTIM(0) -> end(0); innocent = (SILENT == 0)
			:: VICTIM(1) -> end(1); innocent = (SILENT == 1)
			:: VICTIM(2) -> end(2); innocent = (SILENT == 2)
			fi;
#ifndef MOST
			assert(innocent);
#endif
			ends++;
			assert(ends < LIMIT)
#else
			assert(finished)
#endif
		fi }
#endif
	od
}

init
{
	atomic {
		k = 0;
		do
		:: k < 3 -> calls[k] = CALLS(k); avail[k] = C; mine[k] = OWN; k++
		:: else -> break
		od;
		k = 0;
		run connection(0);
		run connection(1);
		run connection(2)
	}
}
