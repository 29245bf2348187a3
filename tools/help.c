/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a subcommand's --help text from its option table. */
#include "tool.h"

#include <string.h>

enum { HELP_COLUMN = 26, HELP_WIDTH = 80 };

/* Writes an option's names and argument, such as "-t, --target-directory DIR". */
static void format_names(const struct tool_option *o, char *buf, size_t size)
{
	size_t n = 0;

	buf[0] = 0;
	for (const char *s = o->letters; s && *s; s++)
		n += (size_t)snprintf(buf + n, size - n, "%s-%c", n ? ", " : "", *s);
	if (o->name)
		n += (size_t)snprintf(buf + n, size - n, "%s--%s", n ? ", " : "",
		                      o->name);
	if (o->arg)
		snprintf(buf + n, size - n,
		         tool_has_argument(o) == optional_argument ? "[=%s]" : " %s",
		         o->arg);
}

/* Prints @text in lines from column @indent to HELP_WIDTH.  The cursor is at @column.
 * Preserves two spaces after a sentence. */
static void print_wrapped(const char *text, int column, int indent)
{
	int gap = 0;

	while (*text) {
		int len = (int)strcspn(text, " \n");

		if (column + gap + len > HELP_WIDTH) {
			putchar('\n');
			column = gap = 0;
		}
		if (column < indent)
			gap = indent - column;
		printf("%*s%.*s", gap, "", len, text);
		column += gap + len;
		text += len;
		gap = (int)strspn(text, " ");
		text += gap;
		if (*text == '\n') {
			putchar('\n');
			column = 0;
			text++;
		}
	}
	putchar('\n');
}

static void print_row(const struct tool_option *o)
{
	char names[128];
	int column;

	if (o->kind == TOOL_HEADING) {
		printf("\n%s\n", o->help);
		return;
	}
	format_names(o, names, sizeof(names));
	column = printf("  %s", names);
	if (column > HELP_COLUMN - 2) {
		putchar('\n');
		column = 0;
	}
	print_wrapped(o->help, column, HELP_COLUMN);
}

void tool_print_help(const struct tool_command *command)
{
	print_wrapped(command->usage, 0, 0);
	putchar('\n');
	for (size_t i = 0; i < command->n_options; i++)
		print_row(&command->options[i]);
	putchar('\n');
	print_wrapped(command->notes, 0, 0);
}
