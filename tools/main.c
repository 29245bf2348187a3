/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The `rpcrdma` command: finds the subcommand and runs it.  A subcommand is a
 * row in the table below and a file of its own.
 */
#include "tool.h"

#include <locale.h>
#include <string.h>

static const struct tool_command commands[] = {
        {"nfsd", "serve directories by NFS version 3", tool_nfsd},
        {"cp", "copy files and trees to or from an NFS server", tool_cp},
        {"ls", "list a directory of an NFS server", tool_ls},
        {"cat", "write files of an NFS server to standard output", tool_cat},
        {"stat", "show the attributes of a file on an NFS server", tool_stat},
        {"rm", "remove files and trees of an NFS server", tool_rm},
        {"mkdir", "make directories on an NFS server", tool_mkdir},
        {"mv", "rename files and directories of an NFS server", tool_mv},
        {"df", "show how much room an NFS server has", tool_df},
        {"ping", "measure NULL calls and show what was negotiated", tool_ping},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void print_help(FILE *f)
{
	fputs("usage: rpcrdma COMMAND [ARGUMENT]...\n"
	      "ONC RPC over RDMA, versions 2 and 1, in user space.\n\n"
	      "commands:\n",
	      f);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].summary);
	fputs("\n"
	      "  rpcrdma COMMAND --help   describes a command, as rpcrdma help COMMAND "
	      "does\n"
	      "  rpcrdma --version        prints the version\n\n"
	      "exit status: 0 done, 1 the operation failed, 2 wrong usage\n",
	      f);
}

static const struct tool_command *find(const char *name)
{
	for (size_t i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static int run(const char *name, int argc, char **argv)
{
	const struct tool_command *c = find(name);

	if (!c) {
		tool_error("no command %s; `rpcrdma --help` lists them",
		           tool_quote_always(name));
		return TOOL_USAGE;
	}
	tool_set_name(c->name);
	return tool_finish(c->main(argc, argv));
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	tool_keep_sigpipe();
	if (argc < 2) {
		print_help(stderr);
		return TOOL_USAGE;
	}
	if (!strcmp(argv[1], "help") && argc == 3 && *argv[2] != '-')
		return run(argv[2], 2, (char *[]){argv[2], (char *)"--help", NULL});
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		print_help(stdout);
		return tool_finish(TOOL_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("rpcrdma %s\n", rpcrdma_library_version());
		return tool_finish(TOOL_OK);
	}
	return run(argv[1], argc - 1, argv + 1);
}
