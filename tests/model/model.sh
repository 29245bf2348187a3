#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Searches the model of the credit scheme: the rules as built have no error,
# the variants have the one that docs/model says they have.
#                                  proves V2-4.2.1.1-01 -04 -06 -07 -09, V2-4.2.1.2-01
# usage: model.sh FOLDER_OF_THE_MODEL
set -eu
model=$(cd "$1" && pwd)/credits.pml
. "$(dirname "$0")/search.lib"

# One continued Call each way, with a Reply of one part.
for h0 in 2 3 5 8; do
	for h1 in 2 3 5; do
		search none -DH0=$h0 -DH1=$h1 -DC0=12 -DC1=12
	done
done
search none -DH0=8 -DH1=8 -DC0=10 -DC1=10
search none -DH0=2 -DH1=8 -DC0=20 -DC1=20
search none -DH0=6 -DH1=3 -DL1=8 -DC0=9 -DC1=30 # a higher limit
search none -DH0=4 -DH1=4 -DC0=30               # one way
search none -DH0=4 -DH1=4 -DC1=30

search deadlock -DNO_GRANTS -DH0=2 -DH1=2 -DC0=4
search deadlock -DNO_GRANTS -DC0=12 -DC1=12
search deadlock -DLOW_LIMIT -DH0=8 -DH1=8 -DL0=2 -DC0=6 -DC1=6
search overrun -DPLAIN -DH0=2 -DH1=2 -DC0=12 -DC1=12 -DSPARE=1 -DGRANT_LIMIT=250
search endless -DPLAIN -DC0=20 -DC1=20
search overrun -DAPPLY_FIRST -DC0=12 -DC1=12
search overrun -DGRANT_AT_ZERO -DH0=2 -DH1=2 -DC0=8 -DC1=8 -DSPARE=1 -DGRANT_LIMIT=250
search endless -DGRANT_AT_ZERO -DC0=6 -DC1=6 -DH0=2 -DH1=2

# As many Calls as are served at once, and more: none may flood, all must end.
for h in 3 4; do
	served="-DH0=$h -DH1=$h -DM0=$h -DM1=$h"
	search none $served -DN0=9 -DN1=0 -DSLACK=2
	search flood $served -DN0=9 -DN1=0 -DSLACK=2 -DNO_WITHHOLD
	search none $served -DN0=2 -DN1=2 -DC0=2 -DC1=2 -DR0=3 -DR1=2
done
for h in "2 2" "3 2" "2 3" "5 3" "3 5" "8 4" "4 8"; do
	set -- $h
	search none -DH0=$1 -DH1=$2 -DM0=$1 -DM1=$2 -DN0=2 -DN1=2 -DC0=2 -DC1=2 \
		-DR0=3 -DR1=2
done
many="-DH0=3 -DH1=3 -DM0=3 -DM1=3 -DN0=6 -DN1=2"
search none $many
search deadlock $many -DNO_LAST
search deadlock $many -DNO_IDLE
low="-DH0=2 -DH1=2 -DM0=2 -DM1=2 -DC0=2 -DC1=2 -DR0=3 -DR1=2 -DN0=2 -DN1=2"
search deadlock $low -DNO_LOW
# Handlers that make Calls themselves and wait for them.
nested="-DH0=3 -DH1=3 -DM0=3 -DM1=3 -DN0=3 -DN1=2 -DR1=4"
search none $nested -DNESTED1
search deadlock $nested -DNESTED1 -DNO_OWES
for h in 2 3 4; do
	search none -DH0=$h -DH1=$h -DM0=$h -DM1=$h -DN0=3 -DN1=3 -DNESTED0
done

echo "$runs searches"
exit $failed
