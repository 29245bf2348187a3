/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread that waits for SIGHUP, loads the exports file again, and installs either the
 * whole file or nothing.  Looking up names and opening directories may take a long
 * time; until the thread has finished, the old lists apply.
 */
#include "nfsd.h"
#include "notify.h"
#include "tool.h"
#include <errno.h>
#include <signal.h>
#include <string.h>

int exports_load(struct nfsd *d, const char *file, struct exports_file *ret)
{
	struct grant g = d->defaults;
	char reason[EXPORTS_REASON_BYTES];
	int e;

	g.read_only = true; /* unless rw is given, as in exports(5) */
	e = exports_read(file, &g, ret, reason);
	if (e)
		tool_error("%s", reason);
	else if (!ret->n)
		tool_error("%s exports nothing", file);
	return e;
}

static void fill_hup_set(sigset_t *ret)
{
	sigemptyset(ret);
	sigaddset(ret, SIGHUP);
}

void reload_hold(void)
{
	sigset_t set;

	fill_hup_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	(void)signal(SIGHUP,
	             SIG_DFL); /* do not ignore the signal, even after nohup(1) */
}

void reload_report_ready(const struct nfsd *d, const char *more)
{
	char status[256];
	unsigned n = 0;

	for (unsigned i = 0; i < d->n_exports; i++)
		n += d->exports[i]->live;
	snprintf(status, sizeof(status), "Serving %u export%s%s", n, n == 1 ? "" : "s",
	         more);
	notify_ready(status);
}

static void reload_file(struct reload *r)
{
	struct exports_file l;
	int e;

	notify_reloading();
	e = exports_load(r->nfsd, r->file, &l);

	if (!e)
		e = export_install(r->nfsd, r->file, &l);
	exports_free(&l);
	groups_forget(r->nfsd->groups);
	if (e)
		tool_error("%s was not loaded: the previous exports stay in effect",
		           r->file);
	else
		tool_log(TOOL_NOTICE, "%s was loaded", r->file);
	reload_report_ready(r->nfsd, e ? "; the file of exports was not loaded" : "");
}

static void *wait_for_hups(void *arg)
{
	struct reload *r = arg;
	sigset_t set;
	int sig;

	fill_hup_set(&set);
	while (!sigwait(&set, &sig) && !r->stop)
		reload_file(r);
	return NULL;
}

int reload_start(struct reload *r)
{
	int e = -pthread_create(&r->thread, NULL, wait_for_hups, r);

	r->runs = !e;
	return e;
}

void reload_stop(struct reload *r)
{
	if (!r->runs)
		return;
	r->stop = true;
	pthread_kill(r->thread, SIGHUP);
	pthread_join(r->thread, NULL);
	r->runs = false;
}
