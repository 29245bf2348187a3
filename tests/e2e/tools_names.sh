#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Names that a server has chosen reach a terminal as ls(1) and cp(1) would write them.
. "$(dirname "$0")/tools.lib"

# No control character, C0, C1 (in UTF-8) or DEL, but the ends of lines.
clean() {
	! LC_ALL=C grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$1" ||
		{ fail "control characters in $1:"; cat -v "$1"; }
}

start_server
evil=$(printf 'x\033]0;owned\a\033[31m y\302\233m\177')
mkdir "$EXP/d" "$EXP/plain"
mkfifo "$EXP/d/$evil"
echo 1 >"$EXP/plain/$evil"
mkdir "$EXP/plain/un ünï"
ln -s "$evil" "$EXP/plain/link"

# what coreutils make of it
touch "$evil"
quoted=$(LC_ALL=C.UTF-8 ls --quoting-style=shell-escape -d "$evil")

run 1 cp -r "$URL/d" special && clean err && says err "special file"
run 0 cp -rv "$URL/plain" copy && clean err && clean out && says out " -> "
run 1 cat "$URL/plain/$(printf 'n\033[2Jo')" && clean err
run 1 ls "$URL/$(printf 'n\033[2Jo')" && clean err
run 1 stat "$URL/$(printf 'n\302\205o')" && clean err
says err "'$URL/n'\$'\\302\\205''o'"
run 0 ls "$URL/plain" && grep -q "$(printf '\033')" out || fail "a file has other names"
run 1 cp "$EXP/plain/$evil" "$URL/nowhere/x" && clean err

# on a terminal
if command -v script >/dev/null; then
	for options in "" -l; do
		script -qec "'$RPCRDMA' ls $options $URL/plain" typescript </dev/null >tty 2>&1
		tr -d '\r' <tty | grep -v '^Script ' >shown
		clean shown
		says shown "$quoted"
		says shown "'un ünï'"
	done
	says shown "link -> $quoted"
else
	echo "script(1) is missing: no terminal was tried"
fi
stop_server
done_testing
