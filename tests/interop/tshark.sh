#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Wireshark's MPA, DDP and RDMAP dissectors read what we put on the wire.
#
# Captures copies over loopback, then asks of tshark: every TCP octet lies in an
# MPA frame or an FPDU that was decoded, every FPDU has DDP and RDMAP headers and
# a good CRC, every operation was seen, nothing is malformed.  Then flips one
# octet of a copy of the capture and expects exactly one bad CRC: the judge
# can say no.
#
# The dissector of RPC-over-RDMA in tshark knows version 1 only, so it is off.
set -u
: "${RPCRDMA:?is not set}"
skip() {
	echo "SKIPPED, nothing was judged: $*"
	exit 77
}
for tool in tshark tcpdump; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
T=$(mktemp -d "${TMPDIR:-/tmp}/rpcrdma-tshark.XXXXXX") || exit 1
server="" capture="" failed=0
finish() {
	code=$?
	for pid in $capture $server; do kill -KILL "$pid" 2>/dev/null; done
	if [ $code -ne 0 ]; then
		cat "$T"/*.err 2>/dev/null
	fi
	[ -n "${KEEP:-}" ] || rm -rf "$T"
	exit $code
}
trap finish EXIT
trap 'exit 1' INT TERM

fail() {
	echo "FAIL: $*"
	failed=$((failed + 1))
}
# SECONDS COMMAND...
until_true() {
	local end=$((SECONDS + $1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.05
	done
}
alive() { kill -0 "$1" 2>/dev/null; }

# ---- The capture -----------------------------------------------------------------

mkdir "$T/export" "$T/back"
"$RPCRDMA" nfsd --export "$T/export:/e" --listen 127.0.0.1:0 --no-root-squash \
	--state-dir "$T/state" >"$T/server.out" 2>"$T/server.err" &
server=$!
until_true 20 grep -q '^listening' "$T/server.out" || {
	echo "the server does not start"
	exit 1
}
port=$(sed -n 's/^listening .*:\([0-9]*\) .*/\1/p' "$T/server.out")
url=nfs://127.0.0.1:$port/e

tcpdump -i lo -Z "$(id -un)" -B 65536 -s 0 -U --immediate-mode -w "$T/cap" \
	"tcp port $port" 2>"$T/tcpdump.err" &
capture=$!
capturing() { grep -qs '^tcpdump: listening' "$T/tcpdump.err" || ! alive "$capture"; }
until_true 20 capturing
alive $capture || {
	reason=$(tail -n 1 "$T/tcpdump.err")
	capture=""
	skip "cannot capture on lo (root can): $reason"
}

head -c 3000001 /dev/urandom >"$T/large"
head -c 3000 /dev/urandom >"$T/small"
mkdir "$T/tree"
for i in $(seq 40); do echo "$i" >"$T/tree/file-with-a-name-of-some-length-$i"; done
"$RPCRDMA" cp -q -r "$T/large" "$T/small" "$T/tree" "$url/" || fail "copying in"
"$RPCRDMA" cp -q -r "$url/large" "$url/small" "$url/tree" "$T/back/" || fail "copying out"
for f in tree large small; do
	diff -r "$T/$f" "$T/back/$f" || fail "$f came back different"
done

# The capture is whole when it has not grown for a second.
last=-1 still=0
for _ in $(seq 100); do
	size=$(stat -c %s "$T/cap")
	if [ "$size" = "$last" ]; then still=$((still + 1)); else still=0; fi
	[ $still -lt 10 ] || break
	last=$size
	sleep 0.1
done
kill -INT $capture
wait $capture
capture=""
kill -TERM $server
wait $server || fail "the server ended with $?"
server=""
grep -q '^0 packets dropped by kernel' "$T/tcpdump.err" || {
	grep dropped "$T/tcpdump.err"
	skip "this machine is too busy to capture all packets"
}

# ---- What tshark says --------------------------------------------------------------

dissect() { # file
	tshark -r "$1" --disable-protocol rpcordma \
		-o tcp.reassemble_out_of_order:TRUE -O iwarp_mpa,iwarp_ddp_rdmap 2>"$T/tshark.err"
}
count() { grep -cE -- "$1" "$2"; } # pattern file
dissect "$T/cap" >"$T/text" || fail "tshark ended with $?"
fpdus=$(count 'ULPDU length:' "$T/text")
good=$(count 'CRC check: .*\(Good CRC32\)' "$T/text")
ddp=$(count 'DDP protocol version: 1' "$T/text")
rdmap=$(count 'OpCode: ' "$T/text")
[ "$fpdus" -gt 150 ] || fail "only $fpdus FPDUs were found"
[ "$good" = "$fpdus" ] || fail "$good of $fpdus FPDUs have a good CRC"
[ "$ddp" = "$fpdus" ] || fail "$ddp of $fpdus FPDUs have a DDP header"
[ "$rdmap" = "$fpdus" ] || fail "$rdmap of $fpdus FPDUs have an RDMAP header"
[ "$(count 'Request frame header' "$T/text")" = 2 ] || fail "no two MPA requests"
[ "$(count 'Reply frame header' "$T/text")" = 2 ] || fail "no two MPA replies"
for op in 'Write' 'Read Request' 'Read Response' 'Send' 'Send with Invalidate'; do
	[ "$(count "OpCode: $op \\(0x" "$T/text")" -gt 0 ] || fail "no $op was found"
done
bad=$(count 'Malformed|Expert Info' "$T/text")
[ "$bad" = 0 ] || {
	grep -E 'Malformed|Expert Info' "$T/text" | sort | uniq -c | sort -rn | head
	fail "tshark complains $bad times"
}

# Every octet of TCP: 20 + private data for an MPA frame, and for an FPDU its
# length word, ULPDU, pad to four, CRC.                      [RFC 5044 §4, §7.1]
# (Sequence numbers, since a segment may have been sent twice.)
octets=$(tshark -r "$T/cap" -T fields -e tcp.stream -e tcp.srcport -e tcp.seq -e tcp.len \
	2>/dev/null | awk '
	$4 { k = $1 " " $2; e = $3 + $4 - 1; if (e > end[k]) end[k] = e }
	END { for (k in end) n += end[k]; print n }')
decoded=$(awk '/Private data length:/ { match($0, /[0-9]+/); n += 20 + substr($0, RSTART, RLENGTH) }
	/ULPDU length:/ { match($0, /[0-9]+/); u = substr($0, RSTART, RLENGTH)
		n += int((u + 5) / 4) * 4 + 4 }
	END { print n }' "$T/text")
[ "$octets" = "$decoded" ] || fail "$decoded octets of $octets were decoded"

# ---- The judge can say no -------------------------------------------------------------

# The file offset of octet 10000 of the first packet with more than 20000.
offset=$(tshark -r "$T/cap" -T fields -e frame.cap_len -e tcp.len 2>/dev/null | awk '
	BEGIN { at = 24 } $2 > 20000 { print at + 16 + $1 - $2 + 10000; exit } { at += 16 + $1 }')
cp "$T/cap" "$T/doctored"
octet=$(od -An -tu1 -j "$offset" -N 1 "$T/cap" | tr -d ' ')
# shellcheck disable=SC2059
printf "\\x$(printf %02x $((octet ^ 1)))" |
	dd of="$T/doctored" bs=1 seek="$offset" conv=notrunc 2>/dev/null
dissect "$T/doctored" >"$T/text2"
bad=$(count 'Bad CRC32' "$T/text2")
[ "$bad" = 1 ] || fail "one octet was flipped and $bad CRCs are bad"

[ $failed = 0 ] || exit 1
echo "$fpdus FPDUs, $octets octets: all decoded, all CRCs good; a flipped octet is found"
