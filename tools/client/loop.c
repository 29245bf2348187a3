/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tools' main loop.  If no descriptors are watched, it is the engine's loop.
 * Otherwise poll(2) waits for the engine's and the watched descriptors.
 *
 * The first signal makes loop_wait fail, so that the tool cleans up and ends.  A second
 * signal ends the process at once.
 */
#include "client/loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#define LOOP_MAX_WATCHES 4
#define LOOP_NAP_MS      250

static volatile sig_atomic_t caught;
static struct rpcrdma_engine *volatile wake;

static void on_tool_signal(int sig)
{
	int saved = errno;

	if (caught) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	caught = sig;
	if (wake)
		rpcrdma_engine_stop(wake);
	errno = saved;
}

static void catch_signal(int sig)
{
	struct sigaction sa = {.sa_handler = on_tool_signal}, old;

	if (!sigaction(sig, NULL, &old) && old.sa_handler == SIG_IGN)
		return; /* the parent process ignores the signal, as nohup(1) does */
	sigemptyset(&sa.sa_mask);
	sigaction(sig, &sa, NULL);
}

int loop_init(struct loop *l, struct tool_common *common)
{
	int r;

	*l = (struct loop){.common = common};
	r = tool_engine_new(common, &l->engine);
	if (r)
		return r;
	wake = l->engine;
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
	catch_signal(SIGHUP);
	return 0;
}

void loop_fini(struct loop *l)
{
	if (!l->engine)
		return;
	/* Gives closing connections up to a second to shut down cleanly. */
	for (int i = 0; i < 20 && !rpcrdma_engine_idle(l->engine); i++)
		(void)rpcrdma_engine_process(l->engine, 50); /* a failure does not
								matter, since the engine
								is freed next */
	wake = NULL;
	rpcrdma_engine_free(l->engine);
	l->engine = NULL;
	tool_common_end(l->common);
}

int loop_signal(void)
{
	return caught;
}

static int nap_ms(int wanted_ms)
{
	return wanted_ms < 0 || wanted_ms > LOOP_NAP_MS ? LOOP_NAP_MS : wanted_ms;
}

static int poll_all(struct loop *l, int timeout_ms)
{
	struct pollfd fds[1 + LOOP_MAX_WATCHES];
	struct loop_watch *w, *who[1 + LOOP_MAX_WATCHES];
	nfds_t n = 1;
	int engine_ms, r;

	r = rpcrdma_engine_process(l->engine, 0); /* sends calls made since poll */
	if (r)
		return r;
	engine_ms = rpcrdma_engine_timeout_ms(l->engine);
	if (engine_ms >= 0 && engine_ms < timeout_ms)
		timeout_ms = engine_ms;
	fds[0] = (struct pollfd){.fd = rpcrdma_engine_fd(l->engine), .events = POLLIN};
	for (w = l->watches; w && n < 1 + LOOP_MAX_WATCHES; w = w->next) {
		who[n] = w;
		fds[n++] = (struct pollfd){.fd = w->fd, .events = w->events};
	}
	if (poll(fds, n, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	r = rpcrdma_engine_process(l->engine, 0);
	if (r)
		return r;
	for (nfds_t i = 1; i < n; i++)
		if (fds[i].revents && who[i]->on)
			who[i]->ready(who[i]->arg);
	return 0;
}

int loop_wait(struct loop *l, int timeout_ms)
{
	int r;

	if (caught && !l->ignores_signal)
		return -EINTR;
	if (l->watches)
		r = poll_all(l, nap_ms(timeout_ms));
	else
		r = rpcrdma_engine_process(l->engine, nap_ms(timeout_ms));
	if (r == -EINTR)
		r = 0;
	return r < 0 ? r : caught && !l->ignores_signal ? -EINTR : 0;
}

void loop_watch(struct loop *l, struct loop_watch *w)
{
	if (w->on)
		return;
	w->on = true;
	w->next = l->watches;
	l->watches = w;
}

void loop_unwatch(struct loop *l, struct loop_watch *w)
{
	struct loop_watch **p;

	if (!w->on)
		return;
	for (p = &l->watches; *p != w; p = &(*p)->next)
		;
	*p = w->next;
	w->on = false;
}

int loop_exit_code(int code)
{
	if (caught) {
		fflush(stdout);
		signal(caught, SIG_DFL);
		raise(caught);
	}
	return code;
}
