/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifies the service manager of the server's state with the protocol of sd_notify(3):
 * datagrams to $NOTIFY_SOCKET.  If that variable is not set, these functions do
 * nothing.
 */
#ifndef RPCRDMA_NFSD_NOTIFY_H
#define RPCRDMA_NFSD_NOTIFY_H

/* Removes $NOTIFY_SOCKET from the environment.  Call this before any thread is
 * started. */
void notify_init(void);
/* Announces that the server is ready.  @status is a short line for people to read.  Any
 * thread may call this and the functions below. */
void notify_ready(const char *status);
/* Announces that the server is loading its exports file again.  Call notify_ready after
 * loading. */
void notify_reloading(void);
void notify_stopping(const char *status);

#endif
