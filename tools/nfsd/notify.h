/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells the service manager the state of the server by the protocol of sd_notify(3),
 * which is datagrams to $NOTIFY_SOCKET.  Without that variable these functions do
 * nothing.
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
