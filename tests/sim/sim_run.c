/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sim_run --seed N [--count K] [--twice] [--trace] [--verbose]
 *
 * Runs K seeds from N on.  --twice runs each seed twice and compares the
 * digests of all trace events, actions and completions with their times.
 */
#include "sim_test.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>

static uint64_t running;

/* An assertion of the library's has failed, or a sanitizer has found something. */
static void name_seed(int signal)
{
	fprintf(stderr,
	        "seed %" PRIu64 " aborted\nreplay: %s --seed %" PRIu64
	        " --trace --verbose\n",
	        running, run_program, running);
}

static int usage(void)
{
	fprintf(stderr, "usage: sim_run --seed N [--count K] [--twice] [--trace] "
	                "[--verbose]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
	        {"seed", required_argument, NULL, 's'},
	        {"count", required_argument, NULL, 'c'},
	        {"twice", no_argument, NULL, '2'},
	        {"trace", no_argument, NULL, 't'},
	        {"verbose", no_argument, NULL, 'v'},
	        {0},
	};
	uint64_t seed = 1, count = 1, all = 0;
	bool twice = false, trace = false, verbose = false;

	run_program = argv[0];
	(void)signal(SIGABRT, name_seed); /* a run without it is as good */
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		switch (c) {
		case 's':
			seed = strtoull(optarg, NULL, 0);
			break;
		case 'c':
			count = strtoull(optarg, NULL, 0);
			break;
		case '2':
			twice = true;
			break;
		case 't':
			trace = true;
			break;
		case 'v':
			verbose = true;
			break;
		default:
			return usage();
		}
	}
	for (uint64_t i = 0; i < count; i++) {
		uint64_t digest;

		running = seed + i;
		digest = run_seed(running, trace, verbose);
		if (twice && run_seed(seed + i, false, false) != digest) {
			fprintf(stderr, "seed %" PRIu64 ": two runs, two digests\n",
			        seed + i);
			return 1;
		}
		if (verbose)
			printf("  digest %016" PRIx64 "\n", digest);
		all = (all ^ digest) * 0x100000001b3u;
	}
	run_tally_print();
	printf("%" PRIu64 " seeds from %" PRIu64 ", digest %016" PRIx64 "\n", count,
	       seed, all);
	return 0;
}
