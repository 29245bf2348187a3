/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads options by a subcommand's table: the rows become the arrays for getopt_long(3),
 * and each row says where its value is stored.
 */
#include "tool.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { MAX_OPTIONS = 64, FIRST_VALUE = 256 };

int tool_take_provider(void *to, const char *arg)
{
	char reason[256];

	if (rpcrdma_provider_check(arg, reason, sizeof(reason))) {
		tool_error("--provider: %s", reason);
		return -EINVAL;
	}
	*(const char **)to = arg;
	return 0;
}

int tool_take_features(void *to, const char *arg)
{
	char reason[512];

	if (rpcrdma_features_check(arg, reason, sizeof(reason))) {
		tool_error("--features: %s", reason);
		return -EINVAL;
	}
	*(const char **)to = arg;
	return 0;
}

int tool_take_spin(void *to, const char *arg)
{
	enum { USUAL_USEC = 50, MAX_USEC = 100000 };
	uint64_t usec = USUAL_USEC;

	if (arg && tool_parse_number(arg, 1, MAX_USEC, &usec)) {
		tool_error("--spin: '%s' is not a number from 1 to %d", arg, MAX_USEC);
		return -EINVAL;
	}
	*(uint64_t *)to = usec * 1000;
	return 0;
}

enum { LIMIT_BYTES = 32 };

/* Formats @v in the form that the option accepts: a size is in the largest unit that
 * divides it. */
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

/* If a number is within the row's range, stores it with the row's width. */
static int store_number(const struct tool_option *o, void *to, const char *arg)
{
	uint64_t v;
	int r = o->kind == TOOL_SIZE ? tool_parse_size(arg, &v)
	                             : tool_parse_number(arg, 0, UINT64_MAX, &v);

	if (r || v < o->low || v > o->high)
		return refuse_number(o, arg);
	if (o->width == sizeof(uint32_t))
		*(uint32_t *)to = (uint32_t)v;
	else
		*(uint64_t *)to = v;
	return 0;
}

/* Reports that @arg is not one of the row's choices, and lists the choices. */
static int refuse_choice(const struct tool_option *o, const char *arg)
{
	char list[128] = "";
	size_t n = 0;

	for (const char *p = o->choices; *p && n < sizeof(list) - 3; p++) {
		if (*p == ' ')
			list[n++] = ',';
		list[n++] = *p;
	}
	list[n] = 0;
	tool_error("--%s: '%s' is not one of %s", o->name, arg, list);
	return -EINVAL;
}

static int store_choice(const struct tool_option *o, unsigned *to, const char *arg)
{
	size_t len = strlen(arg);
	const char *p = o->choices;

	for (unsigned i = 0;; i++) {
		size_t n = strcspn(p, " ");

		if (n == len && !memcmp(p, arg, n)) {
			*to = i;
			return 0;
		}
		if (!p[n])
			break;
		p += n + 1;
	}
	return refuse_choice(o, arg);
}

/* Stores the argument of one option.  Returns 0, or prints a message and returns
 * -EINVAL. */
static int store_value(const struct tool_option *o, void *to, const char *arg)
{
	switch (o->kind) {
	case TOOL_HEADING:
	case TOOL_HELP:
		break;
	case TOOL_SET:
		*(bool *)to = true;
		return 0;
	case TOOL_CLEAR:
		*(bool *)to = false;
		return 0;
	case TOOL_COUNT:
		++*(unsigned *)to;
		return 0;
	case TOOL_TEXT:
		*(const char **)to = arg;
		return 0;
	case TOOL_NUMBER:
	case TOOL_SIZE:
		return store_number(o, to, arg);
	case TOOL_SECONDS:
		if (!tool_parse_seconds(arg, to))
			return 0;
		tool_error("--%s: '%s' is not a time in seconds", o->name, arg);
		return -EINVAL;
	case TOOL_CHOICE:
		return store_choice(o, to, arg);
	case TOOL_TAKE:
	case TOOL_MAY_TAKE:
		return o->take(to, arg);
	}
	return -EINVAL;
}

/* The arrays that getopt_long takes. */
struct getopt {
	const struct tool_command *command;
	struct option longs[MAX_OPTIONS];
	char shorts[4 * MAX_OPTIONS];
	int n_longs;
	size_t n_shorts;
};

int tool_has_argument(const struct tool_option *o)
{
	return o->kind == TOOL_MAY_TAKE ? optional_argument
	       : o->kind >= TOOL_TEXT   ? required_argument
	                                : no_argument;
}

static void add_row(struct getopt *g, const struct tool_option *o)
{
	int arg = tool_has_argument(o), row = (int)(o - g->command->options);

	assert(g->n_longs < MAX_OPTIONS - 1 && g->n_shorts < sizeof(g->shorts) - 8);
	if (o->name)
		g->longs[g->n_longs++] =
		        (struct option){o->name, arg, NULL, FIRST_VALUE + row};
	for (const char *s = o->letters; s && *s; s++) {
		g->shorts[g->n_shorts++] = *s;
		if (arg == required_argument)
			g->shorts[g->n_shorts++] = ':';
	}
}

/* Returns the row for a value from getopt_long, or NULL if no row has it. */
static const struct tool_option *find_row(const struct tool_command *c, int value)
{
	if (value >= FIRST_VALUE)
		return &c->options[value - FIRST_VALUE];
	for (size_t i = 0; value && i < c->n_options; i++)
		if (c->options[i].letters && strchr(c->options[i].letters, value))
			return &c->options[i];
	return NULL;
}

static int parse_arguments(const struct getopt *g, char *values, int argc, char **argv)
{
	int c;

	argv[0] = (char *)tool_program(); /* getopt's messages begin with this name */
	optind = 0;
	while ((c = getopt_long(argc, argv, g->shorts, g->longs, NULL)) != -1) {
		const struct tool_option *o = find_row(g->command, c);

		if (o ? o->kind == TOOL_HELP : c == 'h') {
			tool_print_help(g->command);
			return TOOL_OK;
		}
		if (!o || store_value(o, values + o->at, optarg))
			return tool_usage();
	}
	return TOOL_GO_ON;
}

int tool_read_options(const struct tool_command *command, void *values,
                      struct tool_common *c, int argc, char **argv)
{
	struct getopt g = {.command = command};
	int r;

	for (size_t i = 0; i < command->n_options; i++)
		add_row(&g, &command->options[i]);
	if (!find_row(command, 'h'))
		g.shorts[g.n_shorts++] = 'h';
	r = parse_arguments(&g, values, argc, argv);
	if (r == TOOL_GO_ON && !c->hostauth_policy &&
	    (c->cert || c->key || c->ca || c->psk || c->peer_name)) {
		tool_error("certificates, keys and names need --hostauth prefer or "
		           "require");
		r = tool_usage();
	}
	return r;
}
