/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `rpcrdma` command: finds the subcommand and runs it.  Each subcommand is in its
 * own file.
 */
#include "tool.h"

#include <locale.h>
#include <string.h>

static const struct tool_command *const commands[] = {
        &tool_nfsd, &tool_cp,    &tool_ls, &tool_cat, &tool_stat,
        &tool_rm,   &tool_mkdir, &tool_mv, &tool_df,  &tool_ping,
};

static void print_commands(FILE *f)
{
	fputs("usage: rpcrdma COMMAND [ARGUMENT]...\n"
	      "ONC RPC over RDMA, versions 2 and 1, in user space.\n\n"
	      "commands:\n",
	      f);
	for (size_t i = 0; i < TOOL_N(commands); i++)
		fprintf(f, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n"
	      "  rpcrdma COMMAND --help   describes a command; so does rpcrdma help "
	      "COMMAND\n"
	      "  rpcrdma completion bash  prints a completion file for bash(1)\n"
	      "  rpcrdma --version        prints the version\n\n"
	      "exit status: 0 success, 1 the operation failed, 2 usage error\n",
	      f);
}

static const struct tool_command *find_command(const char *name)
{
	for (size_t i = 0; i < TOOL_N(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

static int run_command(const char *name, int argc, char **argv)
{
	const struct tool_command *c = find_command(name);

	if (!c) {
		tool_error("unknown command %s; `rpcrdma --help` lists the commands",
		           tool_quote_always(name));
		return TOOL_USAGE;
	}
	tool_set_name(c->name);
	return tool_finish(c->main(argc, argv));
}

static int print_completion(int argc, char **argv)
{
	if (argc == 3 && (!strcmp(argv[2], "--help") || !strcmp(argv[2], "-h"))) {
		puts("usage: rpcrdma completion bash\n"
		     "Prints a file that makes bash complete rpcrdma's command line.");
		return tool_finish(TOOL_OK);
	}
	if (argc != 3 || strcmp(argv[2], "bash")) {
		tool_error("completion needs the name of a shell: bash");
		return tool_usage();
	}
	tool_print_completion(commands, TOOL_N(commands));
	return tool_finish(TOOL_OK);
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	tool_keep_sigpipe();
	if (argc < 2) {
		print_commands(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc == 3 && !strcmp(argv[2], "completion"))
		return print_completion(
		        3, (char *[]){argv[0], argv[2], (char *)"--help", NULL});
	if (!strcmp(argv[1], "help") && argc == 3 && *argv[2] != '-')
		return run_command(argv[2], 2,
		                   (char *[]){argv[2], (char *)"--help", NULL});
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_commands(stdout);
		return tool_finish(TOOL_OK);
	}
	if (!strcmp(argv[1], "completion"))
		return print_completion(argc, argv);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("rpcrdma %s\n", rpcrdma_library_version());
		return tool_finish(TOOL_OK);
	}
	return run_command(argv[1], argc - 1, argv + 1);
}
