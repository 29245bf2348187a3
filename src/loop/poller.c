/* SPDX-License-Identifier: BSD-3-Clause */
/* Ready descriptors; contract in poller.h. */
#include "loop/poller.h"

#include <sys/epoll.h>
#include <unistd.h>

_Static_assert(EPOLLIN == POLLIN && EPOLLOUT == POLLOUT,
               "one set of names serves both");

void rr_poller_init(struct rr_poller *p)
{
	*p = (struct rr_poller){.epfd = -1};
}

void rr_poller_fini(struct rr_poller *p)
{
	if (p->epfd >= 0)
		close(p->epfd);
	p->epfd = -1;
}

static int add_to_epoll(int epfd, struct rr_source *s)
{
	struct epoll_event ev = {.events = s->events, .data.ptr = s};

	return epoll_ctl(epfd, EPOLL_CTL_ADD, s->fd, &ev) < 0 ? -errno : 0;
}

/* Changes from poll(2) to epoll. */
static int move_to_epoll(struct rr_poller *p)
{
	int epfd = epoll_create1(EPOLL_CLOEXEC), err = 0;

	if (epfd < 0)
		return -errno;
	for (unsigned i = 0; !err && i < p->n_few; i++)
		err = add_to_epoll(epfd, p->few[i]);
	if (err) {
		close(epfd);
		return err;
	}
	p->epfd = epfd;
	p->n_few = 0;
	return 0;
}

int rr_poller_fd(struct rr_poller *p)
{
	int err = p->epfd < 0 ? move_to_epoll(p) : 0;

	return err ? err : p->epfd;
}

int rr_poller_add(struct rr_poller *p, struct rr_source *s, uint32_t events)
{
	int err = 0;

	s->events = events;
	if (p->epfd < 0 && p->n_few < RR_POLLER_FEW) {
		p->few[p->n_few] = s;
		p->few_fds[p->n_few++] =
		        (struct pollfd){.fd = s->fd, .events = (short)events};
		return 0;
	}
	if (p->epfd < 0)
		err = move_to_epoll(p);
	return err ? err : add_to_epoll(p->epfd, s);
}

void rr_poller_arm(struct rr_poller *p, struct rr_source *s, uint32_t events)
{
	struct epoll_event ev = {.events = events, .data.ptr = s};

	if (s->fd < 0 || s->events == events)
		return;
	s->events = events;
	for (unsigned i = 0; i < p->n_few; i++)
		if (p->few[i] == s)
			p->few_fds[i].events = (short)events;
	if (p->epfd < 0)
		return;
	/* Cannot fail: the descriptor is in the set. */
	RR_ASSERT(epoll_ctl(p->epfd, EPOLL_CTL_MOD, s->fd, &ev) == 0);
	p->syscalls++;
}

void rr_poller_del(struct rr_poller *p, struct rr_source *s)
{
	if (s->fd < 0)
		return;
	/* epoll_ctl fails harmlessly if the descriptor was closed: closing it removed
	 * it from the set. */
	if (p->epfd >= 0)
		(void)epoll_ctl(p->epfd, EPOLL_CTL_DEL, s->fd, NULL);
	for (unsigned i = 0; i < p->n_few; i++)
		if (p->few[i] == s) {
			p->few[i] = p->few[--p->n_few];
			p->few_fds[i] = p->few_fds[p->n_few];
			break;
		}
	for (unsigned i = p->at_ready; i < p->n_ready; i++)
		if (p->ready[i] == s)
			p->ready[i] = NULL;
	s->fd = -1;
}

static void add_ready(struct rr_poller *p, struct rr_source *s)
{
	p->ready[p->n_ready++] = s;
	p->any_greedy |= s->greedy;
}

static int wait_few(struct rr_poller *p, int timeout_ms)
{
	int n = poll(p->few_fds, p->n_few, timeout_ms);

	if (n < 0)
		return -errno;
	for (unsigned i = 0; p->n_ready < (unsigned)n && i < p->n_few; i++)
		if (p->few_fds[i].revents)
			add_ready(p, p->few[i]);
	return n;
}

static int wait_many(struct rr_poller *p, int timeout_ms)
{
	struct epoll_event ev[RR_POLLER_BATCH];
	int n = epoll_wait(p->epfd, ev, RR_POLLER_BATCH, timeout_ms);

	if (n < 0)
		return -errno;
	for (int i = 0; i < n; i++)
		add_ready(p, ev[i].data.ptr);
	return n;
}

/* Moves greedy sources to the end of the array; otherwise, the order remains the
 * same. */
static void move_greedy_last(struct rr_poller *p)
{
	struct rr_source *greedy[RR_POLLER_BATCH];
	unsigned n = 0, k = 0;

	for (unsigned i = 0; i < p->n_ready; i++) {
		if (p->ready[i]->greedy)
			greedy[n++] = p->ready[i];
		else
			p->ready[k++] = p->ready[i];
	}
	for (unsigned i = 0; i < n; i++)
		p->ready[k++] = greedy[i];
}

int rr_poller_wait(struct rr_poller *p, int timeout_ms)
{
	int n;

	p->n_ready = p->at_ready = 0;
	p->any_greedy = false;
	p->syscalls++;
	n = p->epfd < 0 ? wait_few(p, timeout_ms) : wait_many(p, timeout_ms);
	if (p->any_greedy)
		move_greedy_last(p);
	return n == -EINTR ? 0 : n;
}

bool rr_poller_full(const struct rr_poller *p)
{
	return p->n_ready == RR_POLLER_BATCH;
}

struct rr_source *rr_poller_next(struct rr_poller *p)
{
	while (p->at_ready < p->n_ready) {
		struct rr_source *s = p->ready[p->at_ready++];

		if (s)
			return s;
	}
	return NULL;
}
