/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hostile peers of a running server, on plain sockets: MPA, DDP and RPC-over-RDMA are
 * framed by hand (test_raw_peer.h).  They run in a process of their own and take no time
 * of the test's honest client.
 *
 * No peer asserts anything: the server may do to it what it wants.
 */
#ifndef RR_TEST_ATTACK_H
#define RR_TEST_ATTACK_H

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "test_nfsd.h"
#include "test_raw_peer.h"

enum { PEERS_MAX = 160, OUT_MAX = 65536 };

struct foe {
	int fd;
	uint32_t msn;
	uint8_t *out; /* octets to send, again and again or once */
	size_t len, at;
	uint64_t dripped; /* when it received last, in ns */
};

struct attack {
	uint16_t port;
	const char *from; /* their address */
	unsigned n;       /* peers */
	const void *arg;
	bool quiet;        /* sends foe.out once */
	bool deaf;         /* never reads */
	unsigned drip_ms;  /* ... but 256 KiB each time this has passed; 0: never */
	bool renew;        /* connects again when it is closed */
	unsigned pause_ms; /* between two rounds */
	/* Fills f->out when the peer has connected. */
	void (*prepare)(struct foe *f, const struct attack *a);
};

/* Connects all peers and starts them in a process of their own.  @again, if there is
 * one, fills foe.out whenever all of it was sent. */
pid_t attack_begin(const struct attack *a,
                   void (*again)(struct foe *, const struct attack *));
void attack_end(pid_t pid);

/* Append to foe.out: octets, the FPDU of a ULPDU, an MPA Request, ... */
void foe_add(struct foe *f, const void *p, size_t n);
void foe_add_ulpdu(struct foe *f, const uint8_t *ulpdu, size_t n);
void foe_add_request(struct foe *f);
/* ... a zero-length RDMA Write (the RTR message is one), a zero-length RDMA Read, ... */
void foe_add_empty_write(struct foe *f);
void foe_add_empty_read(struct foe *f, uint32_t msn);
/* ... a Send of these words. */
void foe_add_words(struct foe *f, const uint32_t *word, size_t n);
#define FOE_ADD(f, ...)                                                                \
	foe_add_words((f), (const uint32_t[]){__VA_ARGS__},                            \
	              sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

/* Writes the words of an NFS Call with AUTH_SYS up to and including the file handle.
 * Returns their number. */
size_t put_nfs_call(uint32_t *w, const struct nfsd *r, uint32_t xid, uint32_t proc,
                    const nfs_fh3 *file);
/* Sends foe.out and a NULL call, and waits for the MPA Reply and the answer: before that
 * a client of version 1 has one credit, and the server few Receives. */
void foe_be_admitted(struct foe *f, uint32_t credits);

#endif
