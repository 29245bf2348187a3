#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Runs what docs/troubleshooting.md is about, in the current directory of a host of its
# own, and prints all messages.
#
#   symptoms.sh
set -u
say() { echo "==> $*"; }
# A server, until `stop`.
serve() {
	rm -f ready
	rpcrdma nfsd "$@" >ready &
	until [ -s ready ] || [ -z "$(jobs -r)" ]; do sleep 0.05; done
}
stop() {
	kill %%
	wait
}

mkdir -m 1777 pub
mkdir -m 755 pub/new
mkdir closed
echo kept >pub/kept
[ "$(id -u)" = 0 ] || chmod 555 pub/new
echo f >f
(umask 077 && echo "site:$(printf '%064d' 7)" >psk)

say nobody answers
rpcrdma ls nfs://storage1/pub
rpcrdma ls nfs://storage9/pub
rpcrdma ls nfs://nosuch/pub
rpcrdma ls nfs:storage1/pub
rpcrdma ping -c 1 --program 77 storage1

say a server for all
serve --export pub:/pub --export closed:/closed --listen 192.0.2.1 --mount-port 20048
rpcrdma ls nfs://storage1:20048/pub
rpcrdma ls --provider verbs nfs://storage1/pub
rpcrdma ls --hostauth require --psk psk nfs://storage1/pub
rpcrdma ls nfs://storage1/none
rpcrdma ls --sec krb5 nfs://storage1/pub
rpcrdma cp f nfs://storage1/pub/new/f
rpcrdma ping -c 1 --program 77 storage1:20049
rpcrdma nfsd --export pub --listen 192.0.2.1
stop

say version 1
serve --export pub:/pub --listen 192.0.2.1 --rpcrdma-version 1
rpcrdma ls --rpcrdma-version 2 nfs://storage1/pub
stop

say host authentication
serve --export pub:/pub --listen 192.0.2.1 --hostauth require --psk psk
rpcrdma ls nfs://storage1/pub
stop

say lists of clients
printf '%s\n' "$PWD/pub:/pub 192.0.2.1(ro)" "$PWD/closed:/closed 127.0.0.1(ro)" >exports
serve --exports exports
rpcrdma ls nfs://storage1/closed
rpcrdma rm nfs://storage1/pub/kept
sed -i 's/127.0.0.1(ro)/127.0.0.1(rx)/' exports
kill -HUP %%
until grep -q 'was not loaded' "$SAID"; do sleep 0.05; done
stop

say no server
rpcrdma nfsd
rpcrdma nfsd --export /srv/none
rpcrdma nfsd --export pub --listen 192.0.2.2
[ "$(id -u)" = 0 ] || rpcrdma nfsd --export pub --listen 192.0.2.1:111
rpcrdma nfsd --export pub --register
rpcrdma nfsd --export pub --sec krb5

say programs
cp "$PREFIX/share/doc/librpcrdma/examples/hello/hello.c" .
PKG_CONFIG_PATH='' pkg-config --cflags rpcrdma
cc hello.c -o hello $(pkg-config --cflags --libs rpcrdma)
env -u LD_LIBRARY_PATH ./hello
say the end
