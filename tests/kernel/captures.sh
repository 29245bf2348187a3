#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Wireshark reads all that the other tests of this run recorded: every TCP octet of a
# connection that begins with MPA lies in an MPA frame or in an FPDU that was decoded,
# every FPDU has DDP and RDMAP headers and a good CRC (or none, where MPA settled on
# none: siw then sends zeros), nothing is malformed.  Then one octet of a copy is
# flipped, and exactly one CRC must be bad: the judge can say no.
#
# A recording may end, and a connection be cut, in the middle of an FPDU: of each
# direction of a connection the last FPDU may be incomplete.
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
	timeout 300 tshark -n -r "$file" --disable-protocol rpcordma \
		-o tcp.reassemble_out_of_order:TRUE "$@" 2>"$T/tshark.err"
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

# FILE -> CONNECTIONS OCTETS UNDECODED.  An MPA frame takes 20 octets and its private
# data; an FPDU its length word, ULPDU, pad to four, CRC.        [RFC 5044 §4, §7.1]
# Sequence numbers are counted, since a segment may have been sent twice.
octets() {
	tshark_on "$1" -Y tcp -T fields -e tcp.stream -e tcp.srcport -e tcp.seq -e tcp.len \
		-e iwarp_mpa.key.req -e iwarp_mpa.pdlength -e iwarp_mpa.ulpdulength | awk -F '\t' '
		$4 { k = $1 " " $2; e = $3 + $4 - 1; if (e > end[k]) end[k] = e }
		$5 != "" { mpa[$1] = 1 }
		{ n = split($6, v, ","); for (i = 1; i <= n; i++) got[$1] += 20 + v[i]
		  n = split($7, v, ","); for (i = 1; i <= n; i++) got[$1] += int((v[i] + 5) / 4) * 4 + 4 }
		END {
			for (k in end) { split(k, part, " "); all[part[1]] += end[k] }
			for (s in mpa) {
				streams++; octets += all[s]; left = all[s] - got[s]
				if (left < 0 || left > 2 * 65544) print "connection " s ": " left " octets" > "/dev/stderr"
				if (left < 0 || left > 2 * 65544) lost += left
			}
			print streams + 0, octets + 0, lost + 0
		}'
}

all_fpdus=0 all_good=0 all_octets=0 files=0 checked=""
for file in "$KERNEL_RUN"/captures/*.pcap; do
	[ -f "$file" ] || continue
	name=$(basename "$file" .pcap)
	files=$((files + 1))
	# shellcheck disable=SC2046
	set -- $(octets "$file")
	[ $# = 3 ] || die "$name: tshark does not read it: $(cat "$T/tshark.err")"
	streams=$1 octets=$2
	[ "$3" = 0 ] || fail "$name: $3 octets were not decoded"
	[ "$streams" -gt 0 ] || continue
	# shellcheck disable=SC2046
	set -- $(headers "$file")
	[ "$(($2 + $3))" = "$1" ] || fail "$name: of $1 FPDUs $2 have a good CRC and $3 none"
	[ "$4 $5" = "$1 $1" ] || fail "$name: of $1 FPDUs $4 have a DDP header and $5 an RDMAP header"
	[ "$6 $7" = "0 0" ] || fail "$name: $6 bad CRCs, $7 complaints"
	echo "$name: $streams connections, $octets octets, $1 FPDUs, $2 with CRC"
	all_fpdus=$((all_fpdus + $1)) all_good=$((all_good + $2)) all_octets=$((all_octets + octets))
	[ "$2" = 0 ] || checked="$checked $file"
done
[ $files -gt 0 ] || die "nothing was recorded"
[ $all_fpdus -gt 0 ] || die "no FPDU was recorded"
[ $all_good -gt 0 ] || die "no FPDU with a CRC was recorded"

# ---- The judge can say no ------------------------------------------------------------

# The last octet of the first segment that is one whole FPDU: of its CRC.
flip() { # FILE
	at=$(tshark_on "$1" -T fields -e frame.cap_len -e tcp.len -e iwarp_mpa.ulpdulength | awk -F '\t' '
		BEGIN { at = 24 }
		{ at += 16 + $1 }
		$3 ~ /^[0-9]+$/ && int(($3 + 5) / 4) * 4 + 4 == $2 { print at - 1; exit }')
	[ -n "$at" ] || return 1
	cp "$1" "$T/doctored.pcap"
	octet=$(od -An -tu1 -j "$at" -N 1 "$1" | tr -d ' ')
	# shellcheck disable=SC2059
	printf "\\$(printf %03o $((octet ^ 1)))" | dd of="$T/doctored.pcap" bs=1 seek="$at" conv=notrunc 2>/dev/null
}
found=""
# shellcheck disable=SC2086
for file in $(ls -Sr $checked); do
	flip "$file" || continue
	# shellcheck disable=SC2046
	set -- $(headers "$T/doctored.pcap")
	[ "$6" = 1 ] || fail "one octet was flipped and $6 CRCs are bad"
	found=1
	break
done
[ -n "$found" ] || fail "no FPDU could be doctored: whether the judge can say no is not known"

[ $failures = 0 ] || die "$failures failures"
say "$files recordings, $all_octets octets, $all_fpdus FPDUs, $all_good with CRC: all decoded, all CRCs good; a flipped octet is found"
