/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Options from tables: a subcommand's own rows and the common ones become what
 * getopt_long wants, and their values go where the rows say.
 */
#include "tool.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { MAX_OPTIONS = 64, FIRST_VALUE = 256, OPT_HELP = 1 };

const char tool_common_help[] =
        "common options:\n"
        "  --provider NAME         transport: auto (default), "
        "verbs[:DEVICE,KEY=VALUE,...]"
        "\n"
        "                          (RDMA devices), iwarp[:KEY=VALUE,...] (software, "
        "over\n"
        "                          TCP).  auto: devices where one serves the address "
        "and\n"
        "                          is no siw (software of Linux, like iwarp)\n"
        "  --rpcrdma-version N     RPC-over-RDMA version 2 or 1 only, or auto "
        "(default):\n"
        "                          2, and 1 with those that lack it\n"
        "  --credits N             calls in flight to ask for, 2 to 2047 (32)\n"
        "  --inline BYTES          Send and Receive size, from 1024 (4096)\n"
        "  --segment BYTES         largest RDMA segment (1 MiB)\n"
        "  --hostauth POLICY       off (default), prefer or require: both ends prove "
        "by TLS 1.3\n"
        "                          who they are; the data are not encrypted\n"
        "  --cert FILE --key FILE  own certificate chain and its private key (PEM)\n"
        "  --ca FILE               the authorities to believe (PEM; a client: the "
        "system's)\n"
        "  --psk FILE              instead: one line IDENTITY:HEX, a key of both ends\n"
        "  --peer-name NAME        whom the server's certificate must name (the host)\n"
        "  --trace FILE            trace points as JSON lines; - is standard error\n"
        "  --json                  results as JSON\n"
        "  -v, --verbose           more words\n"
        "  --help                  this text; -h, too, where it means nothing else\n";

static int take_version(void *to, const char *arg)
{
	static const char *const words[] = {"auto", "1", "2"};
	unsigned *version = to;

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(arg, words[i])) {
			*version = i;
			return 0;
		}
	tool_error("--rpcrdma-version: '%s' is neither 2, 1 nor auto", arg);
	return -EINVAL;
}

static int take_policy(void *to, const char *arg)
{
	static const char *const words[] = {"off", "prefer", "require"};
	enum rpcrdma_hostauth_policy *policy = to;

	for (unsigned i = 0; i < 3; i++)
		if (!strcmp(arg, words[i])) {
			*policy = (enum rpcrdma_hostauth_policy)i;
			return 0;
		}
	tool_error("--hostauth: '%s' is neither off, prefer nor require", arg);
	return -EINVAL;
}

static int take_provider(void *to, const char *arg)
{
	char why[256];

	if (rpcrdma_provider_check(arg, why, sizeof(why))) {
		tool_error("--provider: %s", why);
		return -EINVAL;
	}
	*(const char **)to = arg;
	return 0;
}

enum { LIMIT_BYTES = 32 };

/* As it may be written: a size in the largest unit that divides it. */
static const char *limit_text(const struct tool_option *o, uint64_t v,
                              char text[LIMIT_BYTES])
{
	const char *unit = o->kind == TOOL_SIZE ? "KMGT" : "";
	char suffix[2] = "";

	while (v && v % 1024 == 0 && *unit) {
		suffix[0] = *unit++;
		v /= 1024;
	}
	snprintf(text, LIMIT_BYTES, "%" PRIu64 "%s", v, suffix);
	return text;
}

static int refuse_number(const struct tool_option *o, const char *arg)
{
	const char *what = o->kind == TOOL_SIZE ? "size" : "number";
	char low[LIMIT_BYTES], high[LIMIT_BYTES];

	(void)limit_text(o, o->low, low);
	(void)limit_text(o, o->high, high);
	if (o->high == UINT64_MAX)
		tool_error("--%s: '%s' is not a %s of at least %s", o->name, arg, what,
		           low);
	else
		tool_error("--%s: '%s' is not a %s from %s to %s", o->name, arg, what,
		           low, high);
	return -EINVAL;
}

/* A number of the row's width, in its range. */
static int take_number(const struct tool_option *o, const char *arg)
{
	uint64_t v;
	int r = o->kind == TOOL_SIZE ? tool_parse_size(arg, &v)
	                             : tool_parse_number(arg, 0, UINT64_MAX, &v);

	if (r || v < o->low || v > o->high)
		return refuse_number(o, arg);
	if (o->width == sizeof(uint32_t))
		*(uint32_t *)o->to = (uint32_t)v;
	else
		*(uint64_t *)o->to = v;
	return 0;
}

/* 0, or -EINVAL after a message. */
static int take(const struct tool_option *o, const char *arg)
{
	switch (o->kind) {
	case TOOL_SET:
		*(bool *)o->to = true;
		return 0;
	case TOOL_CLEAR:
		*(bool *)o->to = false;
		return 0;
	case TOOL_COUNT:
		++*(unsigned *)o->to;
		return 0;
	case TOOL_TEXT:
		*(const char **)o->to = arg;
		return 0;
	case TOOL_NUMBER:
	case TOOL_SIZE:
		return take_number(o, arg);
	case TOOL_SECONDS:
		if (!tool_parse_seconds(arg, o->to))
			return 0;
		tool_error("--%s: '%s' is not a time in seconds", o->name, arg);
		return -EINVAL;
	case TOOL_TAKE:
	case TOOL_MAY_TAKE:
		return o->take(o->to, arg);
	}
	return -EINVAL;
}

/* What getopt_long wants to know of the rows. */
struct getopt {
	const struct tool_option *row[MAX_OPTIONS];
	struct option longs[MAX_OPTIONS];
	char shorts[2 * MAX_OPTIONS + 2];
	int n_rows, n_longs;
};

static void add(struct getopt *g, const struct tool_option *o)
{
	int arg = o->kind == TOOL_MAY_TAKE ? optional_argument
	          : o->kind > TOOL_COUNT   ? required_argument
	                                   : no_argument;
	size_t len = strlen(g->shorts);

	if (o->name)
		g->longs[g->n_longs++] =
		        (struct option){o->name, arg, NULL, FIRST_VALUE + g->n_rows};
	if (o->letter) {
		g->shorts[len++] = o->letter;
		if (arg)
			g->shorts[len] = ':';
	}
	g->row[g->n_rows++] = o;
}

static const struct tool_option *find(const struct getopt *g, int value)
{
	if (value >= FIRST_VALUE)
		return g->row[value - FIRST_VALUE];
	for (int i = 0; i < g->n_rows; i++)
		if (g->row[i]->letter == value)
			return g->row[i];
	return NULL;
}

static int parse(const struct getopt *g, int argc, char **argv,
                 void (*print_help)(void))
{
	int c;

	argv[0] = (char *)tool_program(); /* getopt's messages begin with it */
	optind = 0;
	while ((c = getopt_long(argc, argv, g->shorts, g->longs, NULL)) != -1) {
		const struct tool_option *o;

		o = find(g, c);
		if (c == OPT_HELP || (c == 'h' && !o)) {
			print_help();
			return TOOL_OK;
		}
		if (!o || take(o, optarg))
			return tool_usage();
	}
	return TOOL_GO_ON;
}

int tool_options(struct tool_common *c, int argc, char **argv,
                 const struct tool_option *rows, size_t n, void (*print_help)(void))
{
	const struct tool_option common[] = {
	        {"provider", 0, TOOL_TO(TOOL_TAKE, c->provider), .take = take_provider},
	        {"rpcrdma-version", 0, TOOL_TO(TOOL_TAKE, c->version),
	         .take = take_version},
	        {"hostauth", 0, TOOL_TO(TOOL_TAKE, c->hostauth_policy),
	         .take = take_policy},
	        {"cert", 0, TOOL_TO(TOOL_TEXT, c->cert)},
	        {"key", 0, TOOL_TO(TOOL_TEXT, c->key)},
	        {"ca", 0, TOOL_TO(TOOL_TEXT, c->ca)},
	        {"psk", 0, TOOL_TO(TOOL_TEXT, c->psk)},
	        {"peer-name", 0, TOOL_TO(TOOL_TEXT, c->peer_name)},
	        {"trace", 0, TOOL_TO(TOOL_TEXT, c->trace)},
	        {"json", 0, TOOL_TO(TOOL_SET, c->json)},
	        {"verbose", 'v', TOOL_TO(TOOL_COUNT, c->verbose)},
	        {"credits", 0, TOOL_RANGE(TOOL_NUMBER, c->credits, 2, 2047)},
	        {"inline", 0, TOOL_RANGE(TOOL_SIZE, c->inline_bytes, 1024, 1 << 20)},
	        {"segment", 0, TOOL_RANGE(TOOL_SIZE, c->segment_bytes, 4096, 1u << 30)},
	};
	struct getopt g = {.n_longs = 1};
	int r;

	assert(n + TOOL_N(common) + 2 <= MAX_OPTIONS);
	g.longs[0] = (struct option){"help", no_argument, NULL, OPT_HELP};
	for (size_t i = 0; i < n; i++)
		add(&g, &rows[i]);
	for (size_t i = 0; i < TOOL_N(common); i++)
		add(&g, &common[i]);
	if (!find(&g, 'h'))
		strcat(g.shorts, "h");
	r = parse(&g, argc, argv, print_help);
	if (r == TOOL_GO_ON && !c->hostauth_policy &&
	    (c->cert || c->key || c->ca || c->psk || c->peer_name)) {
		tool_error("certificates, keys and names need --hostauth prefer or "
		           "require");
		r = tool_usage();
	}
	return r;
}
