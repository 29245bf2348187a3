#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Dependencies point one way.
#
#   layering.sh SOURCE [BUILD]
#
# SOURCE: the tree whose #include lines are compared with the arrows below.
# BUILD (may be left out): a build of it, whose librr_*.a archives may refer only
# to what their layer may use: `wire` and `conn` to a short list and what lies
# below, `prov/iwarp` to sockets in sock.c alone.
#
# Prints each offence on a line of its own; exit 1 if there is one.
set -eu
source=$(cd "$1" && pwd)
build=${2-}
offences=$(mktemp)
trap 'rm -f "$offences"' EXIT

# folder: folders and installed headers it may include ("rpcrdma" = <rpcrdma/...>).
arrows() {
	case $1 in
	src/base) echo base ;;
	src/wire) echo base wire ;;
	src/conn) echo base wire conn ;;
	src/prov) echo base prov ;;
	src/prov/*) echo base prov "${1#src/}" ;;
	src/drive) echo base wire conn prov prov/sim prov/iwarp prov/verbs drive rpcrdma ;;
	src/rpc) echo drive rpc rpcrdma ;;
	src/ulb/*) echo "${1#src/}" rpcrdma ;;
	tools*) echo tools rpcrdma generated ;;
	bench*) echo bench rpcrdma generated ;;
	include/rpcrdma) echo rpcrdma ;;
	*) return 1 ;;
	esac
}

# What wire and conn may take from the system: words, never services.
pure_headers=" assert.h errno.h inttypes.h limits.h stdbool.h stddef.h stdint.h string.h "

# The place of the header that $2 (a folder) includes as "$1".
place() {
	if [ -e "$source/$2/$1" ]; then
		found=$(realpath --relative-to="$source" "$source/$2/$1")
	elif [ -e "$source/src/$1" ]; then
		found=src/$1
	elif [ -e "$source/tools/$1" ]; then
		found=tools/$1
	else
		found=generated/$1
	fi
	found=${found%/*}
	case $found in
	src/*) echo "${found#src/}" ;;
	tools*) echo tools ;;
	bench*) echo bench ;;
	*) echo "$found" ;;
	esac
}

check_line() { # folder file line kind name
	case $4 in
	'"') at=$(place "$5" "$1") ;;
	*)
		case $5 in
		rpcrdma/*) at=rpcrdma ;;
		*) at=system ;;
		esac
		;;
	esac
	if [ "$at" = system ]; then
		case $1 in
		src/wire | src/conn)
			case $pure_headers in
			*" $5 "*) ;;
			*) echo "$2:$3: $1 may not include <$5>" ;;
			esac
			;;
		esac
		return
	fi
	case " $(arrows "$1") " in
	*" $at "*) ;;
	*) echo "$2:$3: $1 may not include $at ($5)" ;;
	esac
	# from prov/ itself a provider takes the contract and nothing else
	case $1:$at:$5 in
	src/prov/*:prov:prov/prov.h | src/drive:prov:*) ;;
	src/prov/*:prov:*) echo "$2:$3: $1 may include only prov.h of prov ($5)" ;;
	esac
}

check_includes() {
	cd "$source"
	find src tools bench include -name '*.[ch]' | sort | while read -r file; do
		folder=${file%/*}
		if ! arrows "$folder" >/dev/null; then
			echo "$file: this folder has no layer; give it one in layering.sh"
			continue
		fi
		sed -n 's/^[ \t]*#[ \t]*include[ \t]*\([<"]\)\([^>"]*\)[>"].*/\1 \2/;t show
			d;:show;=;p' "$file" | paste - - |
			while read -r line kind name; do
				check_line "$folder" "$file" "$line" "$kind" "$name"
			done
	done
}

# What the compiler and its instruments put in by themselves.
runtime='^(__asan_|__ubsan_|__tsan_|__sanitizer_|__gcov_|__llvm_|__stack_chk_fail$|_GLOBAL_OFFSET_TABLE_$|__tls_get_addr$|__mem(cpy|move|set)_chk$|__bss_start$|_end$)'

defined() { nm --defined-only "$@" 2>/dev/null | awk 'NF == 3 && $2 ~ /[A-Z]/ { print $3 }' | sort -u; }

# archive "archives below"
check_archive() {
	have=$(mktemp)
	# shellcheck disable=SC2086
	defined "$1" $2 >"$have"
	printf '%s\n' memcpy memmove memset memcmp >>"$have"
	nm -A -u "$1" 2>/dev/null | awk -v have="$have" -v runtime="$runtime" '
		BEGIN { while ((getline s < have) > 0) ok[s] = 1 }
		{ s = $NF; sub(/@.*/, "", s) }
		s in ok || s ~ runtime { next }
		{ sub(/:[^:]*$/, "", $1); print $1 ": may not use " s }'
	rm -f "$have"
}

sockets='^(socket|socketpair|connect|accept4?|bind|listen|shutdown|send|sendto|sendmsg|sendmmsg|recv|recvfrom|recvmsg|recvmmsg|read|readv|write|writev|close|ioctl|fcntl(64)?|poll|ppoll|select|epoll_[a-z0-9]+|[gs]etsockopt|getsockname|getpeername|getaddrinfo|syscall|io_uring_[a-z_]+)$'

check_sockets() { # archive
	nm -A -u "$1" 2>/dev/null | awk -v sockets="$sockets" '
		{ s = $NF; sub(/@.*/, "", s) }
		$1 !~ /:sock\.c\.o:/ && s ~ sockets { print $1 " may not use " s }'
}

check_includes >>"$offences"
if [ -n "$build" ]; then
	for need in base wire conn iwarp; do
		if [ ! -f "$build/src/librr_$need.a" ]; then
			echo "layering: $build/src/librr_$need.a is missing" >&2
			exit 1
		fi
	done
	a=$build/src/librr
	check_archive "${a}_wire.a" "${a}_base.a" >>"$offences"
	check_archive "${a}_conn.a" "${a}_base.a ${a}_wire.a" >>"$offences"
	check_sockets "${a}_iwarp.a" >>"$offences"
fi
if [ -s "$offences" ]; then
	cat "$offences"
	echo "layering: $(wc -l <"$offences") offences"
	exit 1
fi
echo "layering: no offence"
