/* SPDX-License-Identifier: BSD-3-Clause */
#include "test_attack.h"

/* -- octets to send -------------------------------------------------------- */

void foe_add(struct foe *f, const void *p, size_t n)
{
	if (f->len + n <= OUT_MAX) {
		memcpy(f->out + f->len, p, n);
		f->len += n;
	}
}

void foe_add_ulpdu(struct foe *f, const uint8_t *ulpdu, size_t n)
{
	uint8_t b[2 + 4096 + 8] = {0};
	size_t covered = (2 + n + 3) & ~(size_t)3;
	uint32_t crc;

	raw_put(b, (uint32_t)n, 2);
	if (n)
		memcpy(b + 2, ulpdu, n);
	crc = raw_crc(b, covered);
	for (int k = 0; k < 4; k++)
		b[covered + (size_t)k] = (uint8_t)(crc >> 8 * k);
	foe_add(f, b, covered + 4);
}

void foe_add_request(struct foe *f)
{
	static const uint8_t mpa[24] =
	        "MPA ID Req Frame\x50\x02\x00\x04\x80\x10\x80\x10";

	foe_add(f, mpa, sizeof(mpa));
}

void foe_add_empty_write(struct foe *f)
{
	static const uint8_t write[14] = {0xc1, 0x40};

	foe_add_ulpdu(f, write, sizeof(write));
}

void foe_add_empty_read(struct foe *f, uint32_t msn)
{
	uint8_t read[18 + 28] = {0x41, 0x41};

	raw_put(read + 6, 1, 4);
	raw_put(read + 10, msn, 4);
	foe_add_ulpdu(f, read, sizeof(read));
}

void foe_add_words(struct foe *f, const uint32_t *word, size_t n)
{
	uint8_t send[18 + 4 * 64] = {0x41, 0x43};

	raw_put(send + 10, ++f->msn, 4);
	for (size_t i = 0; i < n && i < 64; i++)
		raw_put(send + 18 + 4 * i, word[i], 4);
	foe_add_ulpdu(f, send, 18 + 4 * n);
}

size_t put_nfs_call(uint32_t *w, const struct nfsd *r, uint32_t xid, uint32_t proc,
                    const nfs_fh3 *file)
{
	const uint32_t head[] = {xid,
	                         0,
	                         2,
	                         RPCRDMA_NFS_PROGRAM,
	                         3,
	                         proc,
	                         /* AUTH_SYS */ 1,
	                         20,
	                         0,
	                         0,
	                         r->uid,
	                         r->gid,
	                         0,
	                         0,
	                         0};
	size_t n = sizeof(head) / 4, len = file->data.data_len;
	uint8_t padded[NFS3_FHSIZE] = {0};

	memcpy(w, head, sizeof(head));
	memcpy(padded, file->data.data_val, len);
	w[n++] = (uint32_t)len;
	for (size_t i = 0; i < len; i += 4)
		w[n++] = raw_be(padded + i, 4);
	return n;
}

void foe_be_admitted(struct foe *f, uint32_t credits)
{
	enum { ANSWERED = 24 + 64 };
	struct pollfd p = {.fd = f->fd, .events = POLLIN};
	uint8_t bin[512];
	size_t heard = 0;
	ssize_t n = 1;

	FOE_ADD(f, 1, 1, credits, 0, 0, 0, 0, 1, 0, 2, RPCRDMA_NFS_PROGRAM, 3, 0, 0, 0,
	        0, 0);
	(void)!send(f->fd, f->out, f->len, MSG_NOSIGNAL);
	f->len = 0;
	while (heard < ANSWERED && n > 0 && poll(&p, 1, 5000) == 1) {
		n = recv(f->fd, bin, sizeof(bin), 0);
		heard += n > 0 ? (size_t)n : 0;
	}
}

/* -- the process ----------------------------------------------------------- */

static int dial(const struct attack *a)
{
	struct sockaddr_in sa = {.sin_family = AF_INET};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	inet_pton(AF_INET, a->from, &sa.sin_addr);
	if (fd < 0 || bind(fd, (void *)&sa, sizeof(sa)))
		_exit(1);
	sa.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	sa.sin_port = htons(a->port);
	if (connect(fd, (void *)&sa, sizeof(sa))) {
		close(fd);
		return -1;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void enter(struct foe *f, const struct attack *a)
{
	if (f->fd >= 0)
		close(f->fd);
	f->msn = 0;
	f->len = f->at = 0;
	f->fd = dial(a);
	if (a->prepare)
		a->prepare(f, a);
}

/* Returns false if the connection is closed. */
static bool drip(struct foe *f, const struct attack *a)
{
	static uint8_t bin[256 << 10];

	if (!a->drip_ms || raw_now() - f->dripped < (uint64_t)a->drip_ms * RAW_MS)
		return true;
	f->dripped = raw_now();
	return recv(f->fd, bin, sizeof(bin), MSG_DONTWAIT) != 0;
}

/* Returns false if the connection is closed. */
static bool move(struct foe *f, const struct attack *a)
{
	static uint8_t bin[65536];
	ssize_t n;

	if (f->at < f->len) {
		n = send(f->fd, f->out + f->at, f->len - f->at,
		         MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n < 0 && errno != EAGAIN)
			return false;
		f->at += n > 0 ? (size_t)n : 0;
	}
	if (f->at == f->len && !a->quiet)
		f->at = f->len = 0;
	if (a->deaf)
		return drip(f, a);
	n = recv(f->fd, bin, sizeof(bin), MSG_DONTWAIT);
	return n > 0 || (n < 0 && errno == EAGAIN);
}

/* Moves each peer once. */
static void go_round(struct foe *f, const struct attack *a,
                     void (*again)(struct foe *, const struct attack *))
{
	for (unsigned i = 0; i < a->n; i++) {
		bool alive = f[i].fd >= 0 && move(&f[i], a);

		if (!alive && a->renew)
			enter(&f[i], a);
		else if (alive && again && !f[i].len)
			again(&f[i], a);
	}
	if (a->pause_ms)
		poll(NULL, 0, (int)a->pause_ms);
}

pid_t attack_begin(const struct attack *a,
                   void (*again)(struct foe *, const struct attack *))
{
	static struct foe f[PEERS_MAX];
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid) {
		close(ready[1]);
		assert_int_equal(read(ready[0], &c, 1), 1);
		close(ready[0]);
		return pid;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < a->n; i++) {
		f[i].fd = -1;
		f[i].out = malloc(OUT_MAX);
		if (!f[i].out)
			_exit(1);
		enter(&f[i], a);
	}
	go_round(f, a, again);
	(void)!write(ready[1], "", 1);
	for (;;)
		go_round(f, a, again);
}

void attack_end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}
