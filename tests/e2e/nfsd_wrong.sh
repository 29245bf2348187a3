#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma nfsd: a value out of range is wrong usage, exit code 2, and the message says
# what may be written instead.  The limits themselves are accepted.
. "$(dirname "$0")/tools.lib"

# wrong RANGE OPTION VALUE...: each of the values
wrong() {
	_range=$1 _option=$2
	shift 2
	for value; do
		run 2 nfsd --export "$EXP:/e" --listen 127.0.0.1:0 "$_option" "$value" &&
			says err "rpcrdma nfsd: $_option: '$value' is $_range"
	done
}

wrong "not a number from 0 to 65535" --mount-port 65536 -1 nfs ''
wrong "not a number from 0 to 65535" --gss-port 65536 99999999999999999999
wrong "not a number from 0 to 4294967294" --anonuid 4294967295 -2 root
wrong "not a number from 0 to 4294967294" --anongid 4294967295 0x100000000
wrong "not a number from 4 to 1048576" --gss-contexts 3 0 1048577
wrong "not a number from 1 to 64" --threads 0 65 4x
wrong "not a number from 1 to 65536" --connections 0 65537
wrong "not a number from 0 to 65536" --max-per-address 65537 -1
wrong "not a size of at least 16M" --memory 16777215 15M 64X 64MBX -1 ''
wrong "neither 0 nor a size of at least 64K" --reply-cache 1 63K x
wrong "not a number from 2 to 2047" --credits 1 2048
wrong "not a size from 1K to 1M" --inline 1023 2M x
wrong "not a size from 4K to 1G" --segment 4095 2G
wrong "not one of sys, krb5, krb5i, krb5p" --sec des
wrong "not ADDR, ADDR:PORT or [ADDR6]:PORT with a port from 0 to 65535" --listen \
	127.0.0.1:65536 127.0.0.1:-1 127.0.0.1:1x localhost: '[::1' '[::1]:65536' '[::1]x'

start_server 0 --mount-port 0 --anonuid 4294967294 --anongid 0 --threads 64 --connections 65536 \
	--max-per-address 65536 --memory 16M --reply-cache 64K --credits 2 --inline 1K --segment 4K
stop_server
start_server 0 --anonuid 0 --threads 1 --connections 1 --max-per-address 0 --reply-cache 0 \
	--credits 2047 --inline 1M --segment 1G
stop_server
done_testing
