/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with unions and scalars, a linked list, optional data, and no data. */
#include "chain.h"
#include "eleven.h"
#include "maybe.h"
#include "shapes.h"
#include "voids.h"

#include <string.h>

void shapes_prog_1(struct svc_req *, SVCXPRT *);
void chain_prog_1(struct svc_req *, SVCXPRT *);
void maybe_prog_1(struct svc_req *, SVCXPRT *);
void voids_prog_1(struct svc_req *, SVCXPRT *);

enum { CORNERS = 20000, LINKS = 1000, ROUNDS = 50 };

/* -- shapes ---------------------------------------------------------------- */

shapes_report *shapes_look_1_svc(shapes_shape *s, struct svc_req *r)
{
	static shapes_report report;

	report = (shapes_report){.back = *s, .closed = s->kind != SHAPES_DOT};
	if (s->kind != SHAPES_PATH)
		return &report;
	report.count = -(quad_t)s->shapes_shape_u.corners.corners_len;
	for (u_int i = 0; i < s->shapes_shape_u.corners.corners_len; i++)
		report.sum += (u_quad_t)s->shapes_shape_u.corners.corners_val[i].x
		              << 20;
	return &report;
}

static uint64_t digest_shape(uint64_t d, const shapes_report *r)
{
	const shapes_shape *s = &r->back;

	d = eleven_digest(d, &r->count, sizeof(r->count));
	d = eleven_digest(d, &r->sum, sizeof(r->sum));
	d = eleven_digest(d, &r->closed, sizeof(r->closed));
	d = eleven_digest(d, &s->kind, sizeof(s->kind));
	if (s->kind == SHAPES_CIRCLE)
		return eleven_digest(d, &s->shapes_shape_u.radius, sizeof(float));
	if (s->kind == SHAPES_PATH)
		d = eleven_digest(d, s->shapes_shape_u.corners.corners_val,
		                  s->shapes_shape_u.corners.corners_len *
		                          sizeof(shapes_point));
	return d;
}

static bool shapes(CLIENT *c, uint64_t *digest)
{
	shapes_point *corners = eleven_alloc(CORNERS, sizeof(*corners));
	shapes_shape s[3] = {
	        {.kind = SHAPES_DOT}, {.kind = SHAPES_CIRCLE}, {.kind = SHAPES_PATH}};
	bool ok = true;

	for (unsigned i = 0; i < CORNERS; i++)
		corners[i] = (shapes_point){i * 1.5, -1.0 / (i + 1)};
	s[1].shapes_shape_u.radius = 2.75f;
	s[2].shapes_shape_u.corners.corners_len = CORNERS;
	s[2].shapes_shape_u.corners.corners_val = corners;
	for (unsigned i = 0; ok && i < ROUNDS; i++) {
		shapes_report *r = shapes_look_1(&s[i % 3], c);

		ok = r;
		if (ok) {
			*digest = digest_shape(*digest, r);
			clnt_freeres(c, (xdrproc_t)xdr_shapes_report, r);
		}
	}
	free(corners);
	return ok;
}

/* -- chain ----------------------------------------------------------------- */

chain_list *chain_reverse_1_svc(chain_list *l, struct svc_req *r)
{
	static chain_list back;
	chain_link *n, *next;

	back = NULL;
	for (n = *l; n; n = next) {
		next = n->next;
		n->next = back;
		back = n;
	}
	*l = back; /* so that the whole list is freed with the arguments */
	return &back;
}

static bool chain(CLIENT *c, uint64_t *digest)
{
	chain_link *links = eleven_alloc(LINKS, sizeof(*links));
	chain_list first = links;
	bool ok = true;

	for (int i = 0; i < LINKS; i++)
		links[i] = (chain_link){i * i, i + 1 < LINKS ? &links[i + 1] : NULL};
	for (unsigned i = 0; ok && i < ROUNDS; i++) {
		chain_list *r = chain_reverse_1(&first, c);

		ok = r;
		for (const chain_link *n = ok ? *r : NULL; n; n = n->next)
			*digest = eleven_digest(*digest, &n->value, sizeof(n->value));
		if (ok)
			clnt_freeres(c, (xdrproc_t)xdr_chain_list, r);
	}
	free(links);
	return ok;
}

/* -- maybe ----------------------------------------------------------------- */

maybe_person *maybe_echo_1_svc(maybe_person *p, struct svc_req *r)
{
	static maybe_person back;

	back = *p;
	return &back;
}

static uint64_t digest_person(uint64_t d, const maybe_person *p)
{
	d = eleven_digest(d, p->name, strlen(p->name) + 1);
	if (p->born)
		d = eleven_digest(d, p->born, sizeof(*p->born));
	if (!p->note)
		return d;
	d = eleven_digest(d, p->note->text, strlen(p->note->text) + 1);
	return p->note->page ? eleven_digest(d, p->note->page, sizeof(int)) : d;
}

static bool maybe(CLIENT *c, uint64_t *digest)
{
	static char name[] = "Ada", text[] = "of the Analytical Engine";
	int page = 666;
	u_quad_t born = 18151210;
	bool ok = true;

	for (unsigned i = 0; ok && i < ROUNDS; i++) {
		maybe_note note = {text, i & 1 ? &page : NULL};
		maybe_person p = {name, i & 2 ? &note : NULL, i & 4 ? &born : NULL};
		maybe_person *r = maybe_echo_1(&p, c);

		ok = r;
		if (ok) {
			*digest = digest_person(*digest, r);
			clnt_freeres(c, (xdrproc_t)xdr_maybe_person, r);
		}
	}
	return ok;
}

/* -- voids ----------------------------------------------------------------- */

static int taken;

void *voids_nothing_1_svc(void *none, struct svc_req *r)
{
	return &taken;
}

void *voids_take_1_svc(int *n, struct svc_req *r)
{
	taken = *n;
	return &taken;
}

bool_t *voids_give_1_svc(void *none, struct svc_req *r)
{
	static bool_t odd;

	odd = taken & 1;
	return &odd;
}

static bool voids(CLIENT *c, uint64_t *digest)
{
	bool ok = true;

	for (int i = 0; ok && i < ROUNDS; i++) {
		bool_t *odd = NULL;

		ok = voids_nothing_1(NULL, c) && voids_take_1(&i, c) &&
		     (odd = voids_give_1(NULL, c));
		if (ok)
			*digest = eleven_digest(*digest, odd, sizeof(*odd));
	}
	return ok;
}

const struct eleven_program eleven_shapes = {"shapes",      SHAPES_PROG, SHAPES_VERS,
                                             shapes_prog_1, shapes,      true};
const struct eleven_program eleven_chain = {"chain",      CHAIN_PROG, CHAIN_VERS,
                                            chain_prog_1, chain,      false};
const struct eleven_program eleven_maybe = {"maybe",      MAYBE_PROG, MAYBE_VERS,
                                            maybe_prog_1, maybe,      false};
const struct eleven_program eleven_voids = {"voids",      VOIDS_PROG, VOIDS_VERS,
                                            voids_prog_1, voids,      false};
