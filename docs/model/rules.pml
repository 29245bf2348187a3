/*
 * The rules for credits in src/conn/credit.c, for the models credits.pml and groups.pml.
 * The rules are those built, unless a name in the head of credits.pml is defined.
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
#ifndef GRANT_LIMIT
#define GRANT_LIMIT 8
#endif
#ifndef RETURNS_ONE /* messages that return no more than the credit that they use */
#define RETURNS_ONE(me) false
#endif
#ifndef WAITS /* for the credits of a group */
#define WAITS(me) false
#endif
#ifndef SHARE /* credits that the peer can have whatever is being served */
#define SHARE(me) 0
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

byte avail[2], owed[2], cap[2];
bool spoke[2], heard[2];
byte awaited[2];  /* own Calls that are begun and not answered */
byte serving[2];  /* whole Calls received and not answered */
bool middle[2];   /* of a message being received */
byte grants;      /* in a row, of both peers */
byte flying;      /* low halves under way */

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
#define OPEN(me) (OWES(me) || MIDDLE(me) || NOTHING_SERVED(me) || VERY_LOW || WAITS(me))
#endif
/* Beside the one that each message hands back. */
#define OWN(me) (avail[me] + owed[me])
#define ALL(me) (CEILING(me) + cap[me])
#define OUT(me) (OWN(me) < ALL(me) -> MIN(CEILING(me), ALL(me) - OWN(me)) : 0)
#define TAKEN(me) (serving[me] + OUT(me) + 1)
#define ROOM(me) (TAKEN(me) < BUDGET(me) -> BUDGET(me) - TAKEN(me) : 0)
#define RELEASE(me) (OPEN(me) -> owed[me] : MIN(owed[me], MAX(ROOM(me), SHARE(me))))
#define GIVES(me) (RETURNS_ONE(me) -> 0 : (LAST(me) -> owed[me] : RELEASE(me)))
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

inline start_credits()
{
	avail[0] = 1; /* one message until credits arrive */
	owed[0] = 1; /* ... as if it had been received [C3] */
	cap[0] = 1
}
