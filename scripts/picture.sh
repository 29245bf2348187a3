#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Draws docs/terminal.svg, the picture in README.md: what the command prints in a real run.
#
#   scripts/picture.sh [RPCRDMA] >docs/terminal.svg
#
# RPCRDMA is the command to run, build/release/tools/rpcrdma unless it is named.  It serves
# and copies in a directory that is removed afterwards; port 20049 must be free.
set -eu
rpcrdma=$(realpath "${1:-$(dirname "$0")/../build/release/tools/rpcrdma}")
tmp=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir "$tmp/bin" "$tmp/home"
ln -s "$rpcrdma" "$tmp/bin/rpcrdma"
PATH=$tmp/bin:$PATH
cd "$tmp/home"
mkdir -m 1777 pub
mkdir -p src/doc
echo 'Read me.' >src/README
seq 100000 >src/doc/numbers
head -c 256M /dev/urandom >disk.img
rpcrdma nfsd --export pub:/pub >../listening 2>/dev/null &
server=$!
until grep -q '^listening' ../listening; do
	kill -0 "$server" || exit 1
	sleep 0.05
done

show() { # COMMAND: the line that is typed, and what it prints
	printf '$ %s\n' "$1"
	eval "$1" 2>&1
}
{
	printf '$ rpcrdma nfsd --export pub:/pub &\n'
	cat ../listening
	show 'rpcrdma ping -v -c 3 127.0.0.1'
	show 'rpcrdma cp -v disk.img nfs://127.0.0.1/pub/'
	show 'rpcrdma cp -a src nfs://127.0.0.1/pub/src'
	show 'rpcrdma ls -lh nfs://127.0.0.1/pub'
} | fold -s -w 84 >../screen

awk '
	function text(s) {
		gsub(/&/, "\\&amp;", s)
		gsub(/</, "\\&lt;", s)
		gsub(/>/, "\\&gt;", s)
		return s
	}
	{ line[NR] = $0; if (length($0) > widest) widest = length($0) }
	END {
		width = widest * 8.43 + 36
		height = NR * 19 + 34
		printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"rpcrdma in a terminal\">\n", width, height
		printf "<rect width=\"%d\" height=\"%d\" rx=\"8\" fill=\"#1b1f27\"/>\n", width, height
		print "<g font-family=\"ui-monospace,DejaVu Sans Mono,Menlo,Consolas,monospace\" font-size=\"14\" xml:space=\"preserve\">"
		for (i = 1; i <= NR; i++)
			printf "<text x=\"18\" y=\"%d\" fill=\"%s\">%s</text>\n", 30 + (i - 1) * 19,
				line[i] ~ /^[$] / ? "#8fd18a" : "#d5d9e0", text(line[i])
		print "</g>\n</svg>"
	}' ../screen
