#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# nfsd.sh OPTION...: serves the directory $EXPORT by `rpcrdma nfsd` on loopback, under its
# own name.  It prints "listening ADDR:PORT ..." when it is ready.
exec rpcrdma nfsd --export "$EXPORT:$EXPORT" --listen 127.0.0.1:0 --no-root-squash \
	--state-dir "$(mktemp -d "$BENCH_TMP/state.XXXXXX")" "$@"
