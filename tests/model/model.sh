#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of the credit scheme: the rules as built have no error,
# the variants have the one that docs/model says they have.
#                                  proves V2-4.2.1.1-01 -04 -06 -07 -09, V2-4.2.1.2-01
# usage: model.sh FOLDER_OF_THE_MODEL
set -eu
model=$(cd "$1" && pwd)/credits.pml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
runs=0

command -v spin >/dev/null || {
	echo "model.sh: spin is not installed (Debian package spin)" >&2
	exit 1
}

# search WANTED OPTION...: WANTED is none, deadlock, overrun or endless
search() {
	wanted=$1
	shift
	rm -f pan* ./*.trail
	spin "$@" -a "$model" >spin.out 2>&1 || {
		cat spin.out
		exit 1
	}
	${CC:-cc} -O1 -w -DSAFETY -DMEMLIM=3000 -o pan pan.c
	./pan -m2000000 -w20 >pan.out 2>&1
	found=none
	if grep -q "search depth too small\|out of memory\|max search depth" pan.out; then
		found=unfinished
	elif grep -q 'assertion violated ((todo' pan.out; then
		found=deadlock
	elif grep -q 'assertion violated ((q_len' pan.out; then
		found=overrun
	elif grep -q 'assertion violated (grants' pan.out; then
		found=endless
	elif ! grep -q 'errors: 0$' pan.out && ! grep -q 'errors: 0 ' pan.out; then
		found=other
	fi
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.out | head -1)
	echo "$found ($states states): $*"
	runs=$((runs + 1))
	if [ "$found" != "$wanted" ]; then
		echo "model.sh: expected $wanted" >&2
		cat pan.out >&2
		failed=1
	fi
}

for h0 in 2 3 5 8; do
	for h1 in 2 3 5; do
		search none -DH0=$h0 -DH1=$h1 -DN0=12 -DN1=12
	done
done
search none -DH0=8 -DH1=8 -DN0=10 -DN1=10
search none -DH0=2 -DH1=8 -DN0=20 -DN1=20
search none -DH0=6 -DH1=3 -DL1=8 -DN0=9 -DN1=30 # a higher limit
search none -DH0=4 -DH1=4 -DN0=30 -DN1=1        # one way
search none -DH0=4 -DH1=4 -DN0=1 -DN1=30

search deadlock -DNO_GRANTS -DH0=2 -DH1=2 -DN0=4 -DN1=1
search deadlock -DNO_GRANTS -DN0=12 -DN1=12
search deadlock -DLOW_LIMIT -DH0=8 -DH1=8 -DL0=2
search overrun -DPLAIN -DH0=2 -DH1=2 -DN0=12 -DN1=12 -DSPARE=1 -DGRANT_LIMIT=250
search endless -DPLAIN -DN0=20 -DN1=20
search overrun -DAPPLY_FIRST -DN0=12 -DN1=12
search overrun -DGRANT_AT_ZERO -DH0=2 -DH1=2 -DN0=8 -DN1=8 -DSPARE=1 -DGRANT_LIMIT=250
search endless -DGRANT_AT_ZERO -DN0=6 -DN1=6 -DH0=2 -DH1=2

echo "$runs searches"
exit $failed
