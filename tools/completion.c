/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the file that makes bash(1) complete the command line.  The file has two
 * functions that are generated from the tables of options, and a constant function that
 * calls these two:
 *
 *   _rpcrdma_names COMMAND            prints the names of a subcommand's options;
 *                                     without COMMAND, prints the subcommands' names
 *   _rpcrdma_argument COMMAND OPTION  prints how to complete the argument of an option
 *                                     such as "--sec" or "--sec=": "file", "directory",
 *                                     or "words" followed by the words to offer.
 *                                     Prints nothing for an option without argument.
 */
#include "tool.h"

#include <string.h>

static const char complete_function[] =
        "_rpcrdma_reply() # ARGUMENT... of compgen\n"
        "{\n"
        "	mapfile -t COMPREPLY < <(compgen \"$@\" -- \"$cur\")\n"
        "}\n"
        "_rpcrdma()\n"
        "{\n"
        "	local command=${COMP_WORDS[1]} argument\n"
        "	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "\n"
        "	COMPREPLY=()\n"
        "	if ((COMP_CWORD == 1)) || [[ $COMP_CWORD:$command == 2:help ]]; then\n"
        "		_rpcrdma_reply -W \"$(_rpcrdma_names)\"\n"
        "		return\n"
        "	fi\n"
        "	# --option=argument is three words here.\n"
        "	if [[ $cur == = ]]; then\n"
        "		cur='' prev=$prev=\n"
        "	elif [[ $prev == = ]]; then\n"
        "		prev=${COMP_WORDS[COMP_CWORD-2]}=\n"
        "	fi\n"
        "	argument=$(_rpcrdma_argument \"$command\" \"$prev\")\n"
        "	if [[ -z $argument && $cur == -* ]]; then\n"
        "		argument=\"words $(_rpcrdma_names \"$command\")\"\n"
        "	elif [[ -z $argument && $command == cp && $prev != : ]]; then\n"
        "		argument='file'\n"
        "	elif [[ $COMP_CWORD:$command == 2:completion ]]; then\n"
        "		argument='words bash'\n"
        "	fi\n"
        "	case $argument in\n"
        "	file) compopt -o filenames; _rpcrdma_reply -f ;;\n"
        "	directory) compopt -o filenames; _rpcrdma_reply -d ;;\n"
        "	words*) _rpcrdma_reply -W \"${argument#words}\" ;;\n"
        "	esac\n"
        "}\n"
        "complete -F _rpcrdma rpcrdma\n";

/* Prints " -t --target-directory". */
static void print_names(const struct tool_option *o)
{
	for (const char *s = o->letters; s && *s; s++)
		printf(" -%c", *s);
	if (o->name)
		printf(" --%s", o->name);
}

/* Prints the pattern of a shell case: "cp -t"|"cp --suffix"|"cp --suffix=".  An
 * optional argument can only follow "=". */
static void print_pattern(const char *command, const struct tool_option *o)
{
	const char *bar = "";

	if (tool_has_argument(o) == required_argument) {
		for (const char *s = o->letters; s && *s; s++) {
			printf("\"%s -%c\"", command, *s);
			bar = "|";
		}
		if (o->name)
			printf("%s\"%s --%s\"", bar, command, o->name);
		bar = "|";
	}
	if (o->name)
		printf("%s\"%s --%s=\"", bar, command, o->name);
}

static void print_argument(const char *command, const struct tool_option *o)
{
	if (tool_has_argument(o) == no_argument)
		return;
	putchar('\t');
	print_pattern(command, o);
	if (o->choices)
		printf(") echo words %s ;;\n", o->choices);
	else if (!strcmp(o->arg, "FILE"))
		puts(") echo file ;;");
	else if (!strncmp(o->arg, "DIR", 3))
		puts(") echo directory ;;");
	else
		puts(") echo words ;;");
}

static void print_names_function(const struct tool_command *const *commands, size_t n)
{
	puts("_rpcrdma_names()\n{\n\tcase ${1-} in");
	for (size_t i = 0; i < n; i++) {
		const struct tool_command *c = commands[i];

		printf("\t%s) printf '%%s\\n'", c->name);
		for (size_t k = 0; k < c->n_options; k++)
			print_names(&c->options[k]);
		puts(" ;;");
	}
	fputs("\t'') printf '%s\\n'", stdout);
	for (size_t i = 0; i < n; i++)
		printf(" %s", commands[i]->name);
	puts(" help completion --help --version ;;\n\tesac\n}");
}

static void print_argument_function(const struct tool_command *const *commands,
                                    size_t n)
{
	puts("_rpcrdma_argument()\n{\n\tcase \"$1 $2\" in");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < commands[i]->n_options; k++)
			print_argument(commands[i]->name, &commands[i]->options[k]);
	puts("\tesac\n}");
}

void tool_print_completion(const struct tool_command *const *commands, size_t n)
{
	puts("# bash completion for rpcrdma(1), printed by `rpcrdma completion bash`.");
	print_names_function(commands, n);
	print_argument_function(commands, n);
	fputs(complete_function, stdout);
}
