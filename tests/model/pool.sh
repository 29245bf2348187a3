#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of a pool of Receive memory that three connections share: the rules
# have no error, and without one of them there is the error that docs/model/README.md
# names.
# usage: pool.sh FOLDER_OF_THE_MODEL [slow]
set -eu
model=$(cd "$1" && pwd)/pool.pml
size=${2:-quick}
. "$(dirname "$0")/search.lib"

# starve WANTED OPTION...: one Call of peer 2, and endless ones of the others
starve() {
	wanted=$1
	shift
	build "$model" "-DNP -DNFAIR=3" -DENDLESS -DN0=1 -DN1=1 -DN2=1 "$@"
	./pan -l -f -m1000000 -w20 >pan.out 2>&1
	judge "$wanted" "$@"
}

# kinds K0 K1 K2: of the Calls of each peer, see pool.pml
kinds() {
	echo "-DK0=$1 -DK1=$2 -DK2=$3"
}

# whole V: a pool that is as large as what one connection is charged
whole() {
	echo "-DPOOL=$1 -DV=$1"
}

quick() {
	# The smallest pools, and one message less.
	for v in 1 2 3; do
		want=none
		[ $v -gt 1 ] || want=overrun
		search $want $(whole $v) -DBUD=2 -DN0=4 -DN1=3 $(kinds 4 5 2)
	done
	search none $(whole 3) -DBUD=3 -DN0=4 $(kinds 12 2 1)
	search overrun $(whole 2) -DBUD=3 -DN0=5 $(kinds 12 2 1)
	search deadlock -DPOOL=2 -DV=3 -DBUD=3 -DN0=4 $(kinds 12 2 1)
	long="-DP=3 -DBUD=2 -DN0=4 $(kinds 20 20 4)"
	search overrun $(whole 5) $long
	search none $(whole 6) $long
	search none $(whole 4) -DP=4 $(kinds 20 16 1)
	search none $(whole 3) -DBUD=2 $(kinds 20 20 10)
	search none $(whole 4) -DC=3 -DN0=4 $(kinds 20 20 10)
	# Larger ones, claims of unequal size, messages that arrive in two pieces.
	for pool in 4 5 7; do
		search none -DPOOL=$pool -DBUD=2 -DN0=3 $(kinds 4 4 4)
	done
	search none -DPOOL=5 -DBUD=3 -DW0=3 -DW1=2 $(kinds 4 2 9)
	search none -DPOOL=4 -DBUD=2 -DW1=2 -DW2=2 $(kinds 18 8 5)
	for pool in 6 7; do
		search none -DPOOL=$pool -DS=2 -DBUD=2 $(kinds 4 2 16)
	done

	# A reserve that connections share.
	shared="-DNO_COVER -DBUD=2 -DN0=3"
	search deadlock $shared -DPOOL=2 -DRES=1
	search deadlock $shared -DPOOL=4 -DRES=3
	search deadlock $shared -DPOOL=4 -DRES=3 -DALONE
	search none $shared -DPOOL=5 -DRES=4
	search deadlock $shared -DPOOL=3
	search ended $shared -DPOOL=3 -DRES=1 -DLIMIT=6
	search none $shared -DPOOL=4 -DRES=1 -DLIMIT=6 -DMOST
	search endless $shared -DPOOL=3 -DRES=1 -DLIMIT=100 -DMOST

	# Without one of the rules.
	search overrun $shared -DPOOL=3 -DNO_PAUSE
	search none -DPOOL=5 -DV=3 -DC=3 -DN0=5
	search deadlock -DPOOL=5 -DV=3 -DC=3 -DN0=5 -DNO_PASS
	search deadlock -DPOOL=3 -DNO_UNUSED
	search none -DPOOL=3 -DN0=8 -DN1=1 -DN2=1
	search overrun -DPOOL=3 -DN0=8 -DN1=1 -DN2=1 -DEARLY
	search deadlock $(whole 7) -DP=4 $(kinds 20 16 1) -DNO_LOAN
	search none $(whole 4) -DP=4 $(kinds 16 16 1)
	search deadlock $(whole 4) -DP=4 $(kinds 16 16 1) -DNO_LEAVE
	search deadlock $(whole 4) -DP=4 $(kinds 16 16 1) -DALL_WITHHOLD
	search deadlock -DPOOL=8 -DS=2 -DBUD=2 -DPIECEWISE
	search none -DPOOL=3 -DBUD=2 -DN0=3 -DNO_WITHHOLD
	search none -DPOOL=3 -DBUD=2 -DN0=3 -DNO_LEAVE
	search none -DPOOL=5 -DBUD=2 -DN0=3 -DNO_SHARE

	# A peer that answers nothing is ended, and no other.
	for kind in 2 4 8 16; do
		silent="-DPOOL=4 -DBUD=2 -DSILENT=0 $(kinds $kind 4 4)"
		search deadlock $silent
		search none $silent -DLIMIT=4
		search endless $silent -DLIMIT=6 -DMOST
	done

	# One Call among endless ones.
	starve none -DPOOL=4 $(kinds 1 1 1)
	starve none -DPOOL=4 $(kinds 4 1 1)
	starve starved -DPOOL=4 $(kinds 4 1 1) -DTWO_COVERS
	starve none -DPOOL=6 $(kinds 2 2 1)
	starve none -DPOOL=5 $(kinds 2 1 2)
	starve none -DPOOL=7 $(kinds 2 2 2)
	starve none -DPOOL=7 $(kinds 4 2 8)
	starve starved -DPOOL=7 $(kinds 2 2 2) -DNO_SHARE
	starve starved -DPOOL=6 $(kinds 2 2 2)
}

slow() {
	optimise=-O2
	search none $(whole 3) -DC=3 -DN0=5 -DBUD=2 $(kinds 7 12 10)
	search none -DPOOL=6 -DV=3 -DBUD=3 -DN0=5 $(kinds 12 2 1)
	for pool in 7 8 9; do
		search none -DPOOL=$pool -DV=6 -DP=3 -DBUD=2 -DN0=4 $(kinds 20 20 4)
	done
	search none -DPOOL=4 -DV=4 -DC=3 -DN0=4 -DN1=3 -DBUD=2 $(kinds 20 20 10)
	for kind in 2 4 8 16; do
		for pool in 3 5 6; do
			search none -DPOOL=$pool -DBUD=2 -DN1=3 -DSILENT=0 $(kinds $kind 4 2) \
				-DLIMIT=4
		done
	done
	for pool in 8 9; do
		starve none -DPOOL=$pool -DBUD=2 $(kinds 2 2 2)
	done
}

$size
echo "$runs searches"
exit $failed
