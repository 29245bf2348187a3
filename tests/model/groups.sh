#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of the credits of groups: the rules have no error, and without one
# of them there is the error that docs/model/README.md names.
# usage: groups.sh FOLDER_OF_THE_MODEL [slow]
set -eu
model=$(cd "$1" && pwd)/groups.pml
size=${2:-quick}
. "$(dirname "$0")/search.lib"
depth=100000

# starve WANTED OPTION...: a group of peer 0 among endless messages that wait their turn
starve() {
	wanted=$1
	shift
	build "$model" "-DNP -DNFAIR=3" "$@" -DENDLESS
	./pan -l -f -m$depth -w20 >pan.out 2>&1
	judge "$wanted" "$@"
}

# both H0 H1: ceilings, and as many Calls served at once
both() {
	echo "-DH0=$1 -DH1=$2 -DM0=$1 -DM1=$2"
}

# wide H0 H1: ceilings, with limits that do not lower cap
wide() {
	echo "-DH0=$1 -DH1=$2 -DL0=8 -DL1=8"
}

quick() {
	# Groups of cap - 1 transmissions: one way, then both peers at once.
	for h in "3 3" "4 4" "8 8" "3 6" "6 3" "2 8"; do
		set -- $h
		search none $(wide $1 $2) -DX0=3 -DG0=$(($2 - 1))
	done
	search none $(wide 3 3) -DX0=2 -DX1=2 -DG0=2 -DG1=2
	search none $(wide 6 3) -DX0=2 -DX1=1 -DG0=2 -DG1=5
	search none $(wide 3 5) -DX0=1 -DX1=2 -DG0=4 -DG1=2
	search none -DH0=4 -DH1=4 -DX0=1 -DX1=1 -DG0=2 -DG1=3 -DD0=1 -DD1=1
	search none -DH0=3 -DH1=3 -DL0=6 -DL1=5 -DX0=2 -DX1=2 -DG0=2 -DG1=2
	search none -DH0=3 -DH1=6 -DL0=4 -DX0=2 -DX1=1 -DG0=3 -DG1=2 # cap is a limit

	# n = cap waits for ever, and falls back.
	search deadlock -DH0=4 -DH1=4 -DX0=2 -DG0=4
	search none -DH0=4 -DH1=4 -DX0=2 -DG0=4 -DFALLBACK
	search none -DH0=4 -DH1=4 -DX0=2 -DX1=1 -DG0=4 -DG1=4 -DC0=2 -DFALLBACK
	search none -DH0=4 -DH1=4 -DX0=2 -DX1=1 -DG0=3 -DG1=3 -DFALLBACK
	# Up to cap / 2 + 1 without grant_delay.
	search none -DH0=6 -DH1=6 -DX0=2 -DX1=1 -DG0=4 -DG1=4 -DNO_TIMER
	search deadlock -DH0=6 -DH1=6 -DX0=2 -DX1=1 -DG0=5 -DG1=4 -DNO_TIMER

	# Credits that a busy Responder withheld.
	search none $(both 3 3) -DX1=1 -DN0=4 -DG1=2
	search none $(both 4 4) -DX1=1 -DN0=5 -DG1=3
	search none $(both 6 6) -DX0=1 -DS0=4 -DN0=5
	search deadlock $(both 3 3) -DX1=1 -DN0=4 -DG1=2 -DNO_TAKE_BACK
	search deadlock $(both 6 6) -DX0=1 -DS0=4 -DN0=5 -DNO_TAKE_BACK
	search deadlock $(both 3 3) -DX1=1 -DN0=4 -DG1=2 -DNO_TAKE_BACK -DOPEN_WAITING
	search none $(both 4 4) -DX1=1 -DN0=5 -DG1=2 -DNO_TAKE_BACK -DOPEN_WAITING
	search deadlock $(both 4 4) -DX1=1 -DN0=5 -DG1=2 -DNO_TAKE_BACK -DOPEN_WAITING \
		-DGRANTS_WAIT
	search none $(both 4 4) -DX1=1 -DN0=5 -DG1=3 -DGRANTS_WAIT
	search none $(both 3 3) -DX0=7 -DG0=2 -DSLACK=2
	search flood $(both 3 3) -DX0=7 -DG0=2 -DSLACK=2 -DNO_WITHHOLD
	search none $(both 4 4) -DN0=4 -DN1=2 -DR1=4 -DNESTED1
	search deadlock $(both 4 4) -DN0=4 -DN1=2 -DR1=4 -DNESTED1 -DSHARE_ONLY
	search none $(both 6 6) -DN0=6 -DX1=2 -DS1=4 -DG1=2 -DNESTED1
	search none $(both 6 6) -DN0=6 -DX1=2 -DS1=4 -DG1=2 -DNESTED1 -DSHARE_ONLY
	search deadlock $(both 6 6) -DN0=6 -DX1=2 -DS1=4 -DG1=2 -DNESTED1 -DSHARE_ONE

	search deadlock -DH0=3 -DH1=3 -DM1=5 -DX0=3 -DG0=2 -DTOGETHER
	search none -DH0=3 -DH1=3 -DM1=6 -DX0=3 -DG0=2 -DTOGETHER

	# What a group is.
	search stall -DH0=4 -DH1=4 -DX0=2 -DG0=3 -DEARLY
	search disorder -DH0=4 -DH1=4 -DX0=2 -DG0=3 -DX1=1 -DG1=3 -DGRANT_INSIDE
	search disorder -DH0=4 -DH1=4 -DX0=2 -DG0=3 -DN0=1 -DC0=3 -DINSIDE
	search deadlock -DH0=4 -DH1=4 -DX0=2 -DG0=3 -DN1=2 -DKEEP_ONE
	starve none -DH0=4 -DH1=6 -DX0=1 -DG0=5
	starve none -DH0=4 -DH1=4 -DX0=1 -DG0=3 -DX1=1 -DG1=3
	starve starved -DH0=4 -DH1=4 -DX0=1 -DG0=3 -DNO_QUEUE

	# Reservations.
	search none -DH0=5 -DH1=5 -DX0=2 -DS0=3 -DG0=2 -DX1=1 -DS1=3
	search none -DH0=6 -DH1=3 -DX0=3 -DS0=4
	search none -DH0=4 -DH1=4 -DX0=3 -DS0=2 -DN1=2 -DNESTED1
	search none -DH0=4 -DH1=4 -DX0=2 -DS0=4 -DX1=1 -DG1=2 -DNO_SUM
	search deadlock -DH0=4 -DH1=4 -DX0=3 -DS0=4 -DNO_SUM -DWHOLE_CAP
	search deadlock -DH0=6 -DH1=3 -DX0=3 -DS0=4 -DWHOLE_CAP
	search deadlock -DH0=4 -DH1=4 -DX0=3 -DS0=2 -DN1=2 -DNESTED1 -DSUM_AT_HEAD
	search none -DH0=8 -DH1=3 -DX0=3 -DS0=2 -DN1=1 -DNESTED1
	search deadlock -DH0=8 -DH1=3 -DX0=3 -DS0=2 -DN1=1 -DNESTED1 -DSET_ASIDE
	search deadlock -DH0=4 -DH1=4 -DX0=3 -DS0=2 -DN1=2 -DKEEP_RESERVED
	search none -DH0=6 -DH1=6 -DX0=3 -DS0=3 -DN1=2 -DLATE_FREE

	# Sequences whose parts wait for credits one by one.
	search none -DH0=3 -DH1=3 -DN0=1 -DN1=1 -DC0=8 -DC1=30
	search none -DH0=3 -DH1=3 -DN0=1 -DN1=1 -DC0=8 -DC1=30 -DPARTS_ONE
	search deadlock -DH0=3 -DH1=3 -DN0=1 -DN1=1 -DC0=8 -DC1=30 -DPARTS_ONE -DNO_BETWEEN
	search none -DH0=4 -DH1=4 -DX0=1 -DG0=3 -DN1=1 -DC1=8
}

slow() {
	optimise=-O2
	search none $(both 4 4) -DX1=1 -DN0=6 -DG1=3
	for h in "5 5" "8 8" "5 8" "6 3"; do
		set -- $h
		search none $(wide $1 $2) -DX0=2 -DX1=2 -DG0=$(($2 - 1)) -DG1=$(($1 - 1))
	done
	search none -DH0=4 -DH1=4 -DX0=1 -DX1=1 -DG0=2 -DG1=3 -DD0=2 -DD1=2
	search none -DH0=6 -DH1=6 -DX0=2 -DS0=2 -DG0=3 -DX1=2 -DS1=2 -DG1=3
	search none $(both 5 5) -DX0=3 -DG0=3 -DX1=2 -DG1=4 -DS1=3 -DSLACK=2
	search none $(both 5 5) -DN0=6 -DX1=2 -DS1=3 -DG1=2
	search none $(both 3 3) -DN0=6 -DX0=3 -DG0=2 -DSLACK=2
	search none $(both 3 3) -DN0=6 -DX0=3 -DG0=2 -DX1=1 -DG1=2
	search none -DH0=4 -DH1=4 -DX0=2 -DX1=2 -DG0=3 -DG1=3 -DC0=2 -DC1=2 -DFALLBACK
}

$size
echo "$runs searches"
exit $failed
