#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Dependencies point one way.
#
#   layering.sh SOURCE [BUILD]
#
# SOURCE: the tree whose #include lines are compared with the arrows below.
# BUILD (may be left out): a build of it, whose librr_*.a archives may refer only
# to what their layer may use: `wire`, `conn` and the pump of `link` to a short list and
# what lies below, `prov/iwarp` to sockets in sock.c alone, `prov/verbs` to rdma-core only
# by the table of dl.c, and each layer to functions of the project only in the layers
# below it.
#
# Prints each offence on a line of its own; exit 1 if there is one.
set -eu
source=$(cd "$1" && pwd)
build=${2-}
offences=$(mktemp)
names=$(mktemp)
trap 'rm -f "$offences" "$names"' EXIT

# Reads "FILE:LINE:#include ..." and, first, the names of all files.
# shellcheck disable=SC2016
includes='
# folder: the folders it may include ("rpcrdma": <rpcrdma/...>).
function arrows(f) {
	if (f == "src/base") return "src/base"
	if (f == "src/wire") return "src/base src/wire"
	if (f == "src/conn") return "src/base src/wire src/conn"
	if (f == "src/prov") return "src/base src/prov"
	if (f ~ "^src/prov/(iwarp|verbs)$") return "src/base src/prov src/prov/common " f
	if (f ~ "^src/prov/") return "src/base src/prov " f
	if (f == "src/hostauth") return "src/base src/hostauth rpcrdma"
	if (f == "src/loop") return "src/base src/loop rpcrdma"
	if (f == "src/link") return "src/base src/wire src/conn src/prov src/prov/iwarp" \
		" src/prov/verbs src/hostauth src/loop src/link rpcrdma"
	if (f == "src/oncrpc") return "src/base src/oncrpc rpcrdma"
	if (f == "src/rpcbind") return "src/base src/oncrpc src/loop src/rpcbind rpcrdma"
	if (f == "src/gss") return "src/base src/oncrpc src/loop src/gss rpcrdma"
	if (f == "src/rpc") return "src/base src/conn src/hostauth src/loop src/link" \
		" src/oncrpc src/rpcbind src/gss src/rpc rpcrdma"
	if (f == "src/tirpc") return "src/base src/oncrpc src/loop src/rpcbind src/gss src/rpc" \
		" src/tirpc rpcrdma"
	if (f ~ "^(tools|bench)") return top(f) " rpcrdma generated"
	if (f == "include/rpcrdma") return "rpcrdma"
	return ""
}
function top(f) { # tools and bench are one place each
	if (f ~ "^include/rpcrdma$") return "rpcrdma"
	return f ~ "^(tools|bench)/" ? substr(f, 1, 5) : f
}
function folder(f) { # the folders of optional features belong to wire and conn
	sub("/[^/]*$", "", f)
	if (f ~ "^src/(wire|conn)/") sub("/[^/]*$", "", f)
	return f
}
function normal(p) { # a/../b
	while (match(p, "[^/]+/\\.\\./")) p = substr(p, 1, RSTART - 1) substr(p, RSTART + RLENGTH)
	gsub("/\\./", "/", p)
	return p
}
function place(name, from,    p) {
	p = normal(from "/" name)
	if (p in files) return top(folder(p))
	if ("src/" name in files) return top(folder("src/" name))
	if ("tools/" name in files) return "tools"
	return "generated"
}
BEGIN {
	# What wire and conn may take from the system: words, never services.
	pure = " assert errno inttypes limits stdbool stddef stdint string "
	while ((getline f < list) > 0) {
		files[f] = 1
		if (arrows(folder(f)) == "")
			print f ": this folder has no layer; give it one in layering.sh"
	}
}
{
	split($0, part, ":")
	file = part[1]; line = part[2]; from = folder(file)
	match($0, "[<\"][^>\"]*[>\"]")
	quoted = substr($0, RSTART, 1) == "\""
	name = substr($0, RSTART + 1, RLENGTH - 2)
	where = file ":" line ": " from " may not include "
	if (!quoted && name !~ "^rpcrdma/") {
		h = name
		sub("\\.h$", "", h)
		if (from ~ "^src/(wire|conn)$" && !index(pure, " " h " ")) print where "<" name ">"
		next
	}
	# One exception: nfsd and cp need SipHash, which is no part of the public interface.
	# They compile the file of the library, so that there is no second copy.
	if (top(from) == "tools" && quoted && name == "base/siphash.h") next
	at = quoted ? place(name, from) : "rpcrdma"
	if (!index(" " arrows(from) " ", " " at " ")) print where at " (" name ")"
	# the pump knows the two that it joins, and nothing else
	if (file ~ "^src/link/pump\\." && name !~ "^(conn/conn|prov/prov|link/(pump|link_states))\\.h$")
		print where name
	# from prov/ itself a provider takes the contract and nothing else
	if (from ~ "^src/prov/" && at == "src/prov" && name !~ "(^|/)prov\\.h$")
		print where "more of prov than prov.h (" name ")"
}'

check_includes() {
	cd "$source"
	find src tools bench include -name '*.[ch]' | sort >"$names"
	# shellcheck disable=SC2046
	grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"]' /dev/null $(cat "$names") |
		awk -v list="$names" "$includes"
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

# archive "archives below": a function of the project that none of them has is a call upward,
# which the #include of a public header can hide.
check_upward() {
	have=$(mktemp)
	# shellcheck disable=SC2086
	defined "$1" $2 >"$have"
	nm -A -u "$1" 2>/dev/null | awk -v have="$have" '
		BEGIN { while ((getline s < have) > 0) ok[s] = 1 }
		$NF ~ /^(rr_|rpcrdma_)/ && !($NF in ok) { sub(/:[^:]*$/, "", $1); print $1 ": may not use " $NF }'
	rm -f "$have"
}

sockets='^(socket|socketpair|connect|accept4?|bind|listen|shutdown|send|sendto|sendmsg|sendmmsg|recv|recvfrom|recvmsg|recvmmsg|read|readv|write|writev|close|ioctl|fcntl(64)?|poll|ppoll|select|epoll_[a-z0-9]+|[gs]etsockopt|getsockname|getpeername|getaddrinfo|syscall|io_uring_[a-z_]+)$'

check_sockets() { # archive
	nm -A -u "$1" 2>/dev/null | awk -v sockets="$sockets" '
		{ s = $NF; sub(/@.*/, "", s) }
		$1 !~ /:sock\.c\.o:/ && s ~ sockets { print $1 " may not use " s }'
}

check_rdma_core() { # archive
	nm -A -u "$1" 2>/dev/null | awk '
		{ s = $NF; sub(/@.*/, "", s) }
		s ~ /^_*(ibv|rdma)_/ || s ~ /^dl(m?open|sym)$/ && $1 !~ /:dl\.c\.o:/ {
			print $1 " may not use " s }'
}

check_includes >>"$offences"
if [ -n "$build" ]; then
	for need in base wire conn pump iwarp verbs; do
		if [ ! -f "$build/src/librr_$need.a" ]; then
			echo "layering: $build/src/librr_$need.a is missing" >&2
			exit 1
		fi
	done
	a=$build/src/librr
	check_archive "${a}_wire.a" "${a}_base.a" >>"$offences"
	check_archive "${a}_conn.a" "${a}_base.a ${a}_wire.a" >>"$offences"
	check_archive "${a}_pump.a" "${a}_base.a ${a}_conn.a" >>"$offences"
	below=${a}_base.a
	check_upward "${a}_oncrpc.a" "$below" >>"$offences"
	check_upward "${a}_hostauth.a" "$below" >>"$offences"
	check_upward "${a}_iwarp.a" "$below ${a}_prov_common.a" >>"$offences"
	check_upward "${a}_verbs.a" "$below ${a}_prov_common.a" >>"$offences"
	below="$below ${a}_oncrpc.a"
	check_upward "${a}_loop.a" "$below" >>"$offences"
	below="$below ${a}_loop.a"
	check_upward "${a}_rpcbind.a" "$below" >>"$offences"
	check_upward "${a}_gss.a" "$below" >>"$offences"
	check_upward "${a}_link.a" "$below ${a}_wire.a ${a}_conn.a ${a}_prov_common.a ${a}_iwarp.a ${a}_verbs.a ${a}_hostauth.a" >>"$offences"
	check_sockets "${a}_iwarp.a" >>"$offences"
	check_rdma_core "${a}_verbs.a" >>"$offences"
fi
if [ -s "$offences" ]; then
	cat "$offences"
	echo "layering: $(wc -l <"$offences") offences"
	exit 1
fi
echo "layering: no offence"
