#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# states.sh finds what is wrong in the tables of states: each change below to a copy of
# them makes it fail.
set -eu
root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

copy() {
	rm -rf "$tmp/root"
	mkdir -p "$tmp/root/docs"
	(cd "$root" && find src -name "*.h" -print | tar -cf - -T -) | tar -xf - -C "$tmp/root"
	cp "$root/docs/states.md" "$tmp/root/docs"
}

# broken WHAT EXPRESSION [new]: the sed expression applied to the tables is found; with
# "new" also if the page is written anew.
broken() {
	copy
	file=$tmp/root/src/conn/states.h
	sed "$2" "$root/src/conn/states.h" >"$file"
	cmp -s "$file" "$root/src/conn/states.h" && { echo "no such line: $1"; failed=1; return; }
	if [ "${3:-}" = new ]; then
		sh "$root/tests/spec/states.sh" "$tmp/root" 2>/dev/null
	else
		sh "$root/tests/spec/states.sh" "$tmp/root" check >/dev/null 2>&1
	fi && { echo "not found: $1"; failed=1; }
	return 0
}

copy
sh "$root/tests/spec/states.sh" "$tmp/root" check || exit 1
broken "a move removed" '/X(REPLYING, END, LEAVING)/d; s/X(SERVED, END, LEAVING) *\\/X(SERVED, END, LEAVING)/'
broken "a move added" 's/X(LOST, EMPTY, CLOSED)/& X(LOST, EMPTY, NEW)/'
broken "an event no more accepted" 's/PLAN | END | LOSE/PLAN | LOSE/'
broken "another meaning" 's/the user serves it/the user has it/'
broken "a state that nothing leads to" '/X(IDLE, REGISTER, REGISTERING)/d' new
broken "a move by an event that is not listed" 's/X(IDLE, REGISTER, REG/X(IDLE, ENROL, REG/' new
broken "a state that accepts an event that is not listed" 's/REGISTER | WITHDRAW/ENROL | WITHDRAW/' new
broken "an event that no state accepts" 's/WITHDRAW | REMOTE/WITHDRAW/' new
exit $failed
