#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Shows that it works, on this machine, without any RDMA device:
#
#   scripts/demo.sh BUILD [--rpcrdma-version 1|2|auto]
#
# Further options are passed to the server and to every copy.  DEMO_MIB and DEMO_TREE in the environment choose another file size or tree.
# Serves a temporary directory by NFSv3 over RPC-over-RDMA (version 2 unless told
# otherwise) over software iWARP; copies a large file of random data and a tree of thousands of
# files (/usr/include; /usr/share where that is small) in and out; compares
# every octet by SHA-256 on all three sides; prints what was called, how the
# octets travelled, and how fast, against raw TCP measured in the same run.
# Leaves nothing behind.  Exit 0 if all was equal.
set -eu
export LC_ALL=C
build=$(cd "$1" && pwd)
shift
options=$* # of both ends: words without spaces
rpcrdma=$build/tools/rpcrdma
tree=/usr/include
[ "$(find $tree -type f | wc -l)" -ge 2000 ] || tree=/usr/share
tree=${DEMO_TREE:-$tree}
file_mib=${DEMO_MIB:-1024}
started=$(date +%s)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/rpcrdma-demo.XXXXXX")
server="" rawtcp=""
finish() {
	status=$?
	trap '' INT TERM HUP
	for pid in $server $rawtcp; do
		kill "$pid" 2>/dev/null || :
		wait "$pid" 2>/dev/null || :
	done
	[ "$status" = 0 ] || {
		echo "demo: FAILED"
		[ ! -s "$tmp/server.err" ] || { echo "the server said:" && tail -n 20 "$tmp/server.err"; }
	}
	rm -rf "$tmp"
	exit "$status"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP

say() { echo "==> $*"; }
die() {
	echo "demo: $*" >&2
	exit 1
}

# The large file three times, the tree twice, and some air.
room() {
	free_mib=$(($(df -Pk "$tmp" | awk 'NR == 2 { print $4 }') / 1024))
	tree_mib=$(du -sk "$tree" | awk '{ print int($1 / 1024) + 1 }')
	need_mib=$((3 * file_mib + 3 * tree_mib + 256))
	[ "$free_mib" -lt "$need_mib" ] || return 0
	file_mib=$(((free_mib - 3 * tree_mib - 256) / 3))
	[ "$file_mib" -ge 16 ] || die "$tmp has $free_mib MiB free, too few for a demonstration"
	say "$tmp has $free_mib MiB free, $need_mib are wanted: the file will have $file_mib MiB"
}

wait_listening() { # file pid
	tries=0
	until grep -qs '^listening' "$1"; do
		tries=$((tries + 1))
		kill -0 "$2" 2>/dev/null || die "a server does not start"
		[ "$tries" -lt 200 ] || die "a server does not start within 10 s"
		sleep 0.05
	done
}

raw_tcp() { # test -> MB/s of raw TCP, 1 MiB, eight in flight; the middle of three
	for _ in 1 2 3; do
		"$build/bench/bench_tcp" client "$(awk '{ print $2 }' "$tmp/tcp.port")" \
			--test "$1" --bytes 1048576 --depth 8 --ms 500 |
			awk '{ printf "%d\n", $2 * $5 * 1000 / $6 }'
	done | sort -n | sed -n 2p
}

# name SRC DST option...: one copy with its counters.
copy() {
	name=$1
	shift
	# shellcheck disable=SC2086
	"$rpcrdma" cp -q $options --stats "$tmp/$name.json" "$@" >/dev/null || die "the copy '$name' failed"
	jq -r '"    \(.bytes / 1e6 | floor) MB in \(.elapsed_s * 100 | round / 100) s," +
		" \(.bytes_per_s / 1e6 | round) MB/s"' "$tmp/$name.json"
}

# What a tree is: kinds, modes, names, links, contents.
describe() {
	(cd "$1" && find . -printf '%y %m %p %l\n' | sort &&
		find . -type f -print0 | sort -z | xargs -0 -r sha256sum)
}

room
say "making a file of $file_mib MiB of random data"
mkdir "$tmp/export" "$tmp/back"
head -c "${file_mib}M" /dev/urandom >"$tmp/file"
n_files=$(find "$tree" -type f | wc -l)

say "measuring raw TCP, 1 MiB each way, eight in flight"
"$build/bench/bench_tcp" server >"$tmp/tcp.port" 2>/dev/null &
rawtcp=$!
wait_listening "$tmp/tcp.port" "$rawtcp"
tcp_read=$(raw_tcp read)
tcp_write=$(raw_tcp write)
echo "    $tcp_write MB/s there, $tcp_read MB/s back"
kill "$rawtcp"
wait "$rawtcp" 2>/dev/null || :
rawtcp=""
say "measuring this file system: dd with fsync"
began=$(date +%s%N)
dd if="$tmp/file" of="$tmp/back/dd" bs=1M conv=fsync 2>/dev/null
disk=$((file_mib * 1048576 * 1000 / ($(date +%s%N) - began)))
rm "$tmp/back/dd"
echo "    $disk MB/s"

say "rpcrdma nfsd --export $tmp/export:/demo --listen 127.0.0.1:0${options:+ $options}"
# shellcheck disable=SC2086
"$rpcrdma" nfsd $options --export "$tmp/export:/demo" --listen 127.0.0.1:0 --no-root-squash \
	--state-dir "$tmp/state" --stats-on-exit "$tmp/server.json" \
	>"$tmp/server.out" 2>"$tmp/server.err" &
server=$!
wait_listening "$tmp/server.out" "$server"
sed 's/^/    /' "$tmp/server.out"
host=$(awk 'NR == 1 { print $2 }' "$tmp/server.out")
url=nfs://$host/demo
say "rpcrdma ping -c 1 -v $host${options:+ $options}"
# shellcheck disable=SC2086
"$rpcrdma" ping -c 1 -v $options "$host" >"$tmp/ping" || die "the server does not answer"
sed -n '1s/^/    /p' "$tmp/ping"

say "rpcrdma cp file $url/"
copy file-in "$tmp/file" "$url/file"
say "rpcrdma cp -rp $tree $url/tree ($n_files files)"
copy tree-in -rp "$tree" "$url/tree"
say "rpcrdma cp $url/file back"
copy file-out "$url/file" "$tmp/back/file"
say "rpcrdma cp $url/file - >/dev/null"
copy file-null "$url/file" -
say "rpcrdma cp -rp $url/tree back"
copy tree-out -rp "$url/tree" "$tmp/back/tree"

say "comparing SHA-256 of source, server's copy and what came back"
for f in "$tmp/export/file" "$tmp/back/file"; do sha256sum <"$f" >"$f.sum" & done
sha256sum <"$tmp/file" >"$tmp/file.sum"
describe "$tree" >"$tmp/tree.sum" || die "$tree cannot be read"
describe "$tmp/export/tree" >"$tmp/export.tree.sum"
describe "$tmp/back/tree" >"$tmp/back.tree.sum"
tries=0
until [ -s "$tmp/export/file.sum" ] && [ -s "$tmp/back/file.sum" ]; do
	tries=$((tries + 1))
	[ "$tries" -lt 600 ] || die "sha256sum does not end"
	sleep 0.1
done
for f in export back; do
	cmp "$tmp/file.sum" "$tmp/$f/file.sum" || die "the file DIFFERS on the way ($f)"
	cmp "$tmp/tree.sum" "$tmp/$f.tree.sum" || {
		diff "$tmp/tree.sum" "$tmp/$f.tree.sum" | head -n 10
		die "the tree DIFFERS on the way ($f)"
	}
done
echo "    equal: file $(cut -c1-16 "$tmp/file.sum")..., tree of $n_files files, modes and links"

say "stopping the server"
kill -TERM "$server"
wait "$server" || die "the server ended with $?"
server=""

cat <<END

COPIES                          bytes    seconds       MB/s  of raw TCP     calls
END
for c in file-in file-out file-null tree-in tree-out; do
	case $c in
	*-in) tcp=$tcp_write ;;
	*) tcp=$tcp_read ;;
	esac
	jq -r --arg n "$c" --arg tcp "$tcp" '[$n, .bytes, .elapsed_s, .bytes_per_s / 1e6,
		.bytes_per_s / 1e6 / ($tcp | tonumber), .calls] | @tsv' "$tmp/$c.json"
done | awk -F '\t' '{ printf "%-22s%15.0f%11.2f%11.0f%12.2f%10d\n", $1, $2, $3, $4, $5, $6 }'
cat <<END
raw TCP (memory to memory): $tcp_write MB/s in, $tcp_read MB/s out; the file system: $disk MB/s.
file-null goes to /dev/null: what the transport does when no disk is in the way.
END

cat <<END

CALLS BY PROCEDURE (server)     calls     errors    argument octets      result octets
END
jq -r '(.mount, .nfs) | to_entries | sort_by(-.value.calls)[] |
	[.key, .value.calls, .value.errors, .value.args_bytes, .value.results_bytes] | @tsv' \
	"$tmp/server.json" |
	awk -F '\t' '{ printf "%-22s%15d%11d%19.0f%19.0f\n", $1, $2, $3, $4, $5 }'

echo
echo "OCTETS BY PATH (server, both directions)"
jq -r '.transport | [["inline in a Send", .bytes_inline],
	["continued over several Sends", .bytes_continued],
	["Read chunks (WRITE data)", .bytes_read_chunk],
	["Write chunks (READ data)", .bytes_write_chunk],
	["Reply chunks (long lists)", .bytes_reply_chunk],
	["Position Zero Read chunks", .bytes_special_call]][] | @tsv' "$tmp/server.json" |
	awk -F '\t' '{ printf "%-38s%18.0f\n", $1, $2 }'

echo
echo "OPERATIONS PER RPC      Sends  registered  invalidated  by the peer  system calls"
for c in file-in file-out file-null tree-in tree-out; do
	jq -r --arg n "$c client" '[$n, .calls, .sends, .registrations, .local_invalidations,
		.remote_invalidations, .syscalls] | @tsv' "$tmp/$c.json"
done | awk -F '\t' '{ printf "%-20s%9.2f%12.2f%13.2f%13.2f%14.2f\n",
	$1, $3 / $2, $4 / $2, $5 / $2, $6 / $2, $7 / $2 }'
jq -r '.transport | [.requests, .sends, .registrations, .local_invalidations,
	.remote_invalidations, .syscalls, .rdma_reads, .rdma_writes, .credit_stalls,
	.peak_held_bytes] | @tsv' "$tmp/server.json" |
	awk -F '\t' '{ printf "%-20s%9.2f%12.2f%13.2f%13.2f%14.2f\n", "server", $2 / $1, $3 / $1,
		$4 / $1, $5 / $1, $6 / $1
		printf "RDMA Reads %d, RDMA Writes %d, waits for credits %d, most memory held %.1f MiB\n",
		$7, $8, $9, $10 / 1048576 }'
echo
echo "demo: all octets arrived, in $(($(date +%s) - started)) s"
