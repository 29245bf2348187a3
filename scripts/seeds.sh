#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs many seeds of the simulator, two at a time, and says how far it is.
#
#   seeds.sh SIM_RUN [COUNT [FIRST]]
#
# A seed that fails stops the run: its message names the command that replays it.
set -eu
sim_run=$1 count=${2:-1000000} first=${3:-1}
case $count$first in *[!0-9]*) echo "seeds: '$count' and '$first' are not both numbers" >&2; exit 2 ;; esac
piece=5000
began=$(date +%s)
log=$(mktemp -d)
trap 'rm -rf "$log"' EXIT

# The first seed of each piece, and how many seeds it has.
pieces() {
	at=0
	while [ "$at" -lt "$count" ]; do
		left=$((count - at))
		echo "$((first + at)) $((left < piece ? left : piece))"
		at=$((at + piece))
	done
}

# One line for each piece that has passed.
# shellcheck disable=SC2016
pieces | xargs -P 2 -L 1 sh -c '
	"$0" --seed "$2" --count "$3" >"$1/$2" 2>&1 || { tail -n 20 "$1/$2" >&2; exit 255; }
	tail -n 1 "$1/$2"
	rm -f "$1/$2"' "$sim_run" "$log" |
	{
		passed=0 n=0
		while read -r some _; do
			passed=$((passed + some)) n=$((n + 1))
			if [ $((n % 10)) = 0 ] || [ "$passed" -ge "$count" ]; then
				echo "$passed of $count seeds, $(($(date +%s) - began)) s"
			fi
		done
		[ "$passed" -ge "$count" ]
	} || {
	echo "seeds: a seed FAILED, see above" >&2
	exit 1
}
