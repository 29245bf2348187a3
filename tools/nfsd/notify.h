/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifies the service manager of the server's state by the protocol of sd_notify(3):
 * datagrams to $NOTIFY_SOCKET.  Without that variable these functions do nothing.
 */
#ifndef RPCRDMA_NFSD_NOTIFY_H
#define RPCRDMA_NFSD_NOTIFY_H

/* Removes $NOTIFY_SOCKET from the environment.  Call it before there are threads. */
void notify_init(void);
/* The server is ready.  @status: a short line for people.  Any thread may call this and
 * the functions below. */
void notify_ready(const char *status);
/* The server reads its files again; notify_ready follows. */
void notify_reloading(void);
void notify_stopping(const char *status);

#endif
