#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wireshark reads all that the other tests of this run recorded: every TCP octet of a
# connection that begins with MPA lies in an MPA frame or in an FPDU that was decoded,
# every FPDU has DDP and RDMAP headers and a good CRC (or none, where MPA settled on
# none: siw then sends zeros), nothing is malformed.  Then one octet of a copy is
# flipped, and exactly one CRC must be bad: the judge can say no.
#
# frames.c undoes TCP's segments first and says why.  A recording may end, and a connection
# be cut, in the middle of an FPDU: of each direction of a connection the last FPDU
# may be incomplete, and nothing else may be left over.
#
# Wireshark's RPC-over-RDMA knows version 1 only, so it is off.  It reads siw's
# Terminates by the RFC's order of bits, siw writes the reverse: what kind of error
# they tell is not judged here.
. "$(dirname "$0")/guest.sh"
need_tool tshark
T=$(mktemp -d "${TMPDIR:-/tmp}/rpcrdma-captures.XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
trap 'exit 130' INT TERM HUP
[ ! -f "$KERNEL_RUN/skip" ] || skip "$(cat "$KERNEL_RUN/skip")"
[ -d "$KERNEL_RUN/captures" ] || die "nothing was recorded"

tshark_on() { # FILE OPTION...
	file=$1
	shift
	timeout 300 tshark -n -r "$file" --disable-protocol rpcordma "$@" 2>"$T/tshark.err"
}

# FILE -> FPDUS GOOD UNCHECKED DDP RDMAP BAD COMPLAINTS
headers() {
	tshark_on "$1" -O iwarp_mpa,iwarp_ddp_rdmap | awk '
		/ULPDU length:/ { fpdus++ }
		/CRC check: .*Good CRC32/ { good++ }
		/Bad CRC32/ { bad++ }
		/^ *CRC: 0x00000000/ { unchecked++ }
		/DDP protocol version: 1/ { ddp++ }
		/OpCode: / { rdmap++ }
		/Malformed|Expert Info/ { complaints++; if (complaints < 10) print > "/dev/stderr" }
		END { print fpdus + 0, good + 0, unchecked + 0, ddp + 0, rdmap + 0, bad + 0, complaints + 0 }'
}

# FILE -> OCTETS that were decoded.  An MPA frame takes 20 octets and its private
# data; an FPDU its length word, ULPDU, pad to four, CRC.        [RFC 5044 §4, §7.1]
octets() {
	tshark_on "$1" -Y iwarp_mpa -T fields -e iwarp_mpa.pdlength -e iwarp_mpa.ulpdulength | awk -F '\t' '
		{ n = split($1, v, ","); for (i = 1; i <= n; i++) got += 20 + v[i]
		  n = split($2, v, ","); for (i = 1; i <= n; i++) got += int((v[i] + 5) / 4) * 4 + 4 }
		END { print got + 0 }'
}

all_fpdus=0 all_good=0 all_octets=0 files=0 smallest=""
for file in "$KERNEL_RUN"/captures/*.pcap; do
	[ -f "$file" ] || continue
	name=$(basename "$file" .pcap)
	files=$((files + 1))
	frames=$T/$name.pcap
	"$KERNEL_BIN/frames" "$file" "$frames" >"$T/counts" || fail "$name: its TCP octets are not whole"
	read -r streams octets left <"$T/counts" || die "$name: cannot be read"
	[ "$streams" -gt 0 ] || {
		rm "$frames"
		continue
	}
	got=$(octets "$frames")
	[ "$got" = $((octets - left)) ] || fail "$name: of $octets octets $left were left over and $got decoded"
	# shellcheck disable=SC2046
	set -- $(headers "$frames")
	[ "$(($2 + $3))" = "$1" ] || fail "$name: of $1 FPDUs $2 have a good CRC and $3 none"
	[ "$4 $5" = "$1 $1" ] || fail "$name: of $1 FPDUs $4 have a DDP header and $5 an RDMAP header"
	[ "$6 $7" = "0 0" ] || fail "$name: $6 bad CRCs, $7 complaints"
	echo "$name: $streams connections, $octets octets, $1 FPDUs, $2 with CRC"
	all_fpdus=$((all_fpdus + $1)) all_good=$((all_good + $2)) all_octets=$((all_octets + octets))
	# of those with CRCs, the smallest is kept for later
	size=$(stat -c %s "$frames")
	if [ "$2" != 0 ] && [ "$size" -lt "${smallest:-$((size + 1))}" ]; then
		mv "$frames" "$T/checked" && smallest=$size
	else
		rm "$frames"
	fi
done
[ $files -gt 0 ] || die "nothing was recorded"
[ $all_fpdus -gt 0 ] || die "no FPDU was recorded"
[ $all_good -gt 0 ] || die "no FPDU with a CRC was recorded"

# ---- The judge can say no ------------------------------------------------------------

# The last octet of the first FPDU whose CRC was checked.
at=$(tshark_on "$T/checked" -T fields -e frame.cap_len -e iwarp_mpa.crc_check | awk -F '\t' '
	BEGIN { at = 24 }
	{ at += 16 + $1 }
	$2 != "" { print at - 1; exit }')
[ -n "$at" ] || die "no FPDU whose CRC was checked"
octet=$(od -An -tu1 -j "$at" -N 1 "$T/checked" | tr -d ' ')
# shellcheck disable=SC2059
printf "\\$(printf %03o $((octet ^ 1)))" | dd of="$T/checked" bs=1 seek="$at" conv=notrunc 2>/dev/null
# shellcheck disable=SC2046
set -- $(headers "$T/checked")
[ "$6" = 1 ] || fail "one octet was flipped and $6 CRCs are bad"

[ $failures = 0 ] || die "$failures failures"
say "$files recordings, $all_octets octets, $all_fpdus FPDUs, $all_good with CRC: all decoded, all CRCs good; a flipped octet is found"
