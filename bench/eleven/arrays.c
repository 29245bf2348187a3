/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs with arrays of structures, strings, rpcgen -N, and opaques of 16 MiB. */
#include "download.h"
#include "eleven.h"
#include "newstyle.h"
#include "table.h"
#include "upload.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

void table_prog_1(struct svc_req *, SVCXPRT *);
void words_prog_1(struct svc_req *, SVCXPRT *);
void newstyle_prog_1(struct svc_req *, SVCXPRT *);
void upload_prog_1(struct svc_req *, SVCXPRT *);
void download_prog_1(struct svc_req *, SVCXPRT *);

enum { ROWS = 20000, WORDS = 5000, LONG = 30000, BIG = 16 << 20, ROUNDS = 16 };

/* -- table ----------------------------------------------------------------- */

table_rows *table_turn_1_svc(table_rows *t, struct svc_req *r)
{
	table_row *v = t->table_rows_val;

	for (u_int i = 0, k = t->table_rows_len; i + 1 < k; i++) {
		table_row x = v[i];

		v[i] = v[--k];
		v[k] = x;
	}
	return t;
}

static bool table(CLIENT *c, uint64_t *digest)
{
	table_rows t = {ROWS, eleven_alloc(ROWS, sizeof(table_row))}, *r;
	char name[32] = "a row of this table";
	bool ok = true;

	for (u_int i = 0; i < ROWS; i++) {
		table_row *w = &t.table_rows_val[i];

		*w = (table_row){.id = i, .name = name, .when = -(quad_t)i << 32};
		eleven_fill(w->key, sizeof(w->key), i);
	}
	for (unsigned i = 0; ok && i < ROUNDS; i++) {
		r = table_turn_1(&t, c);
		ok = r && r->table_rows_len == ROWS;
		for (u_int k = 0; ok && k < ROWS; k++) {
			const table_row *w = &r->table_rows_val[k];

			*digest = eleven_digest(*digest + w->id + (uint64_t)w->when,
			                        w->key, sizeof(w->key));
			*digest = eleven_digest(*digest, w->name, strlen(w->name));
		}
		if (r)
			clnt_freeres(c, (xdrproc_t)xdr_table_rows, r);
	}
	free(t.table_rows_val);
	return ok;
}

/* -- words ----------------------------------------------------------------- */

words_word *words_join_1_svc(words_list *l, struct svc_req *r)
{
	static char *joined;
	size_t n = 1;
	char *p;

	for (u_int i = 0; i < l->words_list_len; i++)
		n += strlen(l->words_list_val[i]) + 1;
	free(joined);
	joined = p = eleven_alloc(n, 1);
	for (u_int i = 0; i < l->words_list_len; i++)
		p += sprintf(p, "%s ", l->words_list_val[i]);
	return &joined;
}

words_list *words_split_1_svc(words_word *w, struct svc_req *r)
{
	static words_list l;
	char *save = NULL, *word = strtok_r(*w, " ", &save);

	if (!l.words_list_val)
		l.words_list_val = eleven_alloc(WORDS, sizeof(words_word));
	for (l.words_list_len = 0; word && l.words_list_len < WORDS;
	     word = strtok_r(NULL, " ", &save))
		l.words_list_val[l.words_list_len++] = word;
	return &l;
}

static bool words(CLIENT *c, uint64_t *digest)
{
	words_list l = {WORDS, eleven_alloc(WORDS, sizeof(words_word))}, *back;
	char *text = eleven_alloc(WORDS, 24);
	words_word *joined;
	bool ok = true;

	for (u_int i = 0; i < WORDS; i++) {
		l.words_list_val[i] = text + (size_t)24 * i;
		snprintf(l.words_list_val[i], 24, "word-number-%u", i);
	}
	for (unsigned i = 0; ok && i < ROUNDS; i++) {
		joined = words_join_1(&l, c);
		ok = joined;
		if (!ok)
			break;
		*digest = eleven_digest(*digest, *joined, strlen(*joined));
		back = words_split_1(joined, c);
		ok = back && back->words_list_len == WORDS;
		for (u_int k = 0; ok && k < WORDS; k++)
			*digest = eleven_digest(*digest, back->words_list_val[k],
			                        strlen(back->words_list_val[k]));
		clnt_freeres(c, (xdrproc_t)xdr_words_word, joined);
		if (back)
			clnt_freeres(c, (xdrproc_t)xdr_words_list, back);
	}
	free(text);
	free(l.words_list_val);
	return ok;
}

/* -- newstyle -------------------------------------------------------------- */

quad_t *newstyle_dot_1_svc(newstyle_vector a, newstyle_vector b, int scale,
                           struct svc_req *r)
{
	static quad_t dot;

	dot = 0;
	for (u_int i = 0; i < a.newstyle_vector_len && i < b.newstyle_vector_len; i++)
		dot += (quad_t)a.newstyle_vector_val[i] * b.newstyle_vector_val[i];
	dot *= scale;
	return &dot;
}

char **newstyle_name_1_svc(bool_t full, struct svc_req *r)
{
	static char *name;

	name = full ? "scalar product" : "dot";
	return &name;
}

static bool newstyle(CLIENT *c, uint64_t *digest)
{
	newstyle_vector v = {LONG, eleven_alloc(LONG, sizeof(int))};
	bool ok = true;

	for (int i = 0; i < LONG; i++)
		v.newstyle_vector_val[i] = i * 7 - LONG;
	for (int i = 0; ok && i < ROUNDS; i++) {
		quad_t *dot = newstyle_dot_1(v, v, i, c);
		char **name = newstyle_name_1(i & 1, c);

		ok = dot && name;
		if (!ok)
			break;
		*digest = eleven_digest(*digest, dot, sizeof(*dot));
		*digest = eleven_digest(*digest, *name, strlen(*name));
		clnt_freeres(c, (xdrproc_t)xdr_wrapstring, name);
	}
	free(v.newstyle_vector_val);
	return ok;
}

/* -- upload, download ------------------------------------------------------ */

u_quad_t *upload_put_1_svc(upload_block *b, struct svc_req *r)
{
	static u_quad_t digest;

	digest = eleven_digest(1, b->upload_block_val, b->upload_block_len);
	return &digest;
}

static bool upload(CLIENT *c, uint64_t *digest)
{
	upload_block b = {BIG, eleven_alloc(BIG, 1)};
	bool ok = true;

	eleven_fill(b.upload_block_val, BIG, 9);
	for (unsigned i = 0; ok && i < ROUNDS; i++) {
		u_quad_t *r;

		b.upload_block_val[i] = (char)i;
		r = upload_put_1(&b, c);
		ok = r;
		if (ok)
			*digest = eleven_digest(*digest, r, sizeof(*r));
	}
	free(b.upload_block_val);
	return ok;
}

download_block *download_get_1_svc(u_int *n, struct svc_req *r)
{
	static download_block b;

	if (!b.download_block_val) {
		b.download_block_len = BIG;
		b.download_block_val = eleven_alloc(BIG, 1);
		eleven_fill(b.download_block_val, BIG, 10);
	}
	memcpy(b.download_block_val, n, sizeof(*n));
	return &b;
}

static bool download(CLIENT *c, uint64_t *digest)
{
	bool ok = true;

	for (u_int i = 0; ok && i < ROUNDS; i++) {
		download_block *b = download_get_1(&i, c);

		ok = b && b->download_block_len == BIG;
		if (ok)
			*digest = eleven_digest(*digest, b->download_block_val, BIG);
		if (b)
			clnt_freeres(c, (xdrproc_t)xdr_download_block, b);
	}
	return ok;
}

const struct eleven_program eleven_table = {"table",      TABLE_PROG, TABLE_VERS,
                                            table_prog_1, table,      true};
const struct eleven_program eleven_words = {"words",      WORDS_PROG, WORDS_VERS,
                                            words_prog_1, words,      true};
const struct eleven_program eleven_newstyle = {
        "newstyle", NEWSTYLE_PROG, NEWSTYLE_VERS, newstyle_prog_1, newstyle, true};
const struct eleven_program eleven_upload = {"upload",      UPLOAD_PROG, UPLOAD_VERS,
                                             upload_prog_1, upload,      true};
const struct eleven_program eleven_download = {
        "download", DOWNLOAD_PROG, DOWNLOAD_VERS, download_prog_1, download, true};
