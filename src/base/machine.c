/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/machine.h"

#include <stdio.h>

bool rr_machine_accepts(const struct rr_machine *m, unsigned state, unsigned event)
{
	return state < m->n_states && event < m->n_events &&
	       (m->accepted[state] & 1u << event);
}

bool rr_machine_moves(const struct rr_machine *m, unsigned from, unsigned event,
                      unsigned to)
{
	for (unsigned i = 0; i < m->n_moves; i++)
		if (m->move[i].from == from && m->move[i].event == event &&
		    m->move[i].to == to)
			return true;
	return false;
}

void rr_machine_check_event(const struct rr_machine *m, unsigned state, unsigned event)
{
	if (rr_machine_accepts(m, state, event))
		return;
	fprintf(stderr, "%s: state %s, event %s\n", m->name, m->state[state],
	        m->event[event]);
	RR_NEVER("an event that the state does not accept");
}

void rr_machine_check_move(const struct rr_machine *m, unsigned from, unsigned event,
                           unsigned to)
{
	if (rr_machine_moves(m, from, event, to))
		return;
	fprintf(stderr, "%s: from %s by %s to %s\n", m->name, m->state[from],
	        m->event[event], m->state[to]);
	RR_NEVER("a move that the table of moves does not have");
}
