/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the service manager is told: sd_notify(3), the protocol of which is a datagram to
 * $NOTIFY_SOCKET.  Without that variable nothing is done.
 */
#ifndef RPCRDMA_NFSD_NOTIFY_H
#define RPCRDMA_NFSD_NOTIFY_H

/* Takes $NOTIFY_SOCKET out of the environment.  Before there are threads. */
void notify_init(void);
/* It serves; @status is a short line for people.  Any thread, as the others. */
void notify_ready(const char *status);
/* Files are loaded again: notify_ready follows. */
void notify_reloading(void);
void notify_stopping(const char *status);

#endif
