#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cp -a -u -n -i -f -t -L -H -P and --preserve=links do what cp(1) does, in each direction.
. "$(dirname "$0")/tools.lib"
umask 022
start_server

# Type, mode, time, size, target, and by which number of the list a file is known.
see() {
	(cd "$1" && find . -mindepth 1 \( -type f -o -type l -o -type d \) \
		-printf '%P|%y|%m|%T@|%s|%l|%i|%n\n' | LC_ALL=C sort |
		awk -F'|' '{ if (!($7 in of)) of[$7] = NR; $7 = $2 == "d" ? "" : of[$7]
			if ($2 == "d") $5 = $8 = ""; print }')
	(cd "$1" && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2)
}
alike() { # WHAT A B
	see "$2" >want
	see "$3" >got
	cmp -s want got || { fail "$1:"; diff want got; }
}

mkdir -p src/d/sub
echo one >src/d/f
ln src/d/f src/d/sub/again
ln src/d/f src/other
ln src/d/f src/d/zz
echo two >src/d/alone
ln -s f src/d/soft
ln -s nowhere src/dangling
ln -s d src/todir
chmod 640 src/d/f
chmod 750 src/d
touch -d '2020-01-02 03:04:05.6' src/d/f src/d
cp -a src "$EXP/src"

# ---- Whole trees ----------------------------------------------------------------------
cp -a src like
run 0 cp -a src "$URL/up" && alike "-a, up" like "$EXP/up"
run 0 cp -a "$URL/src" down && alike "-a, down" like down
run 0 cp -a "$URL/src" "$URL/across" && alike "-a, across" like "$EXP/across"
# once more over what is there, and over what was torn apart
run 0 cp -a src/. "$URL/up" && alike "-a again" like "$EXP/up"
cp --remove-destination src/d/alone "$EXP/up/other"
cp --remove-destination src/d/alone down/other
run 0 cp -a src/. "$URL/up" && alike "-a over another file" like "$EXP/up"
run 0 cp -a "$URL/src/." down && alike "-a over another file, down" like down
run 0 cp -r --preserve=all src "$URL/all" && alike "--preserve=all" like "$EXP/all"
run 0 cp -r src "$URL/apart"
[ "$(stat -c %h "$EXP/apart/d/f")" = 1 ] || fail "links are kept without being asked for"
run 0 cp -r --preserve=links src "$URL/links"
[ "$(stat -c %h "$EXP/links/d/f")" = 4 ] || fail "--preserve=links"
[ "$(stat -c %Y "$EXP/links/d/f")" != "$(stat -c %Y src/d/f)" ] || fail "--preserve=links keeps times"
run 2 cp --preserve=colour src "$URL/x" && says err "'colour' is not one of"
# several sources of one run
mkdir two "$EXP/two"
run 0 cp -a src/other src/d/f "$URL/two"
[ "$EXP/two/other" -ef "$EXP/two/f" ] || fail "links between sources"
# a file that fails does not spoil the others' link
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 src/d/f
	run 1 cp -a src "$URL/failed"
	chmod 640 src/d/f
fi

# ---- Symbolic links ---------------------------------------------------------------------
rm src/dangling "$EXP/src/dangling"
for o in -rL -rH -rP -r -L -P ""; do
	for s in todir other d/soft; do
		rm -rf like got "$EXP/got"
		mkdir like got "$EXP/got"
		cp $o src/$s like 2>/dev/null
		code=$?
		run $code cp $o src/$s "$URL/got"
		(cd like && find . -printf '%P %y %l\n' | sort) >want
		(cd "$EXP/got" && find . -printf '%P %y %l\n' | sort) | cmp -s want - || fail "cp $o $s, up"
		run $code cp $o "$URL/src/$s" got
		(cd got && find . -printf '%P %y %l\n' | sort) | cmp -s want - || fail "cp $o $s, down"
	done
done
mkdir loop
ln -s . loop/self
cp -a loop "$EXP"
run 1 cp -rL loop "$URL/l" && says err "Too many levels of symbolic links"
run 1 cp -rL "$URL/loop" l && says err "loop/self"

# ---- What is there -------------------------------------------------------------------------
place() { # content of f, time
	for p in "$EXP/p" p; do
		rm -rf "$p"; mkdir "$p"
		echo old >"$p/f"
		touch -d "$1" "$p/f"
	done
}
echo new >f && touch -d '2021-01-01' f
cp -p f "$EXP/f"
holds() { # WORD FILE
	[ "$(cat "$2")" = "$1" ] || fail "$2 has $(cat "$2") instead of $1"
}
both() { # WORD OPTION...: what is in the place afterwards
	_word=$1
	shift
	run 0 cp "$@" f "$URL/p" <answer && holds "$_word" "$EXP/p/f"
	run 0 cp "$@" "$URL/f" p <answer && holds "$_word" p/f
}
: >answer
place 2022-01-01 && both old -u
place 2021-01-01 && both old -u
place 2020-01-01 && both new -u
place 2020-01-01 && both old -n
place 2020-01-01 && both old -n -i && [ ! -s err ] || fail "-n asks: $(cat err)"
echo n >answer && place 2020-01-01 && both old -i && says err "rpcrdma cp: overwrite 'p/f'? "
: >answer && place 2020-01-01 && both old -i
echo yes >answer && place 2020-01-01 && both new -i
place 2020-01-01 && rm p/f "$EXP/p/f" && both new -i && [ ! -s err ] || fail "-i asks about nothing"
place 2020-01-01 && cp f g && printf 'n\ny\n' >answer
echo old >"$EXP/p/g"
run 0 cp -i f g "$URL/p" <answer && holds old "$EXP/p/f" && holds new "$EXP/p/g"
# hard links do not pass by -n
ln f f2
place 2020-01-01 && echo old >"$EXP/p/f2" && run 0 cp -an f f2 "$URL/p" && holds old "$EXP/p/f2"

# -f where the file may not be written: several links, read-only, of another
as() { setpriv --reuid=1234 --regid=1234 --clear-groups --inh-caps=-all "$@"; }
if [ "$(id -u)" = 0 ] && as test -x "$RPCRDMA"; then
	chmod 755 "$T"
	chmod 644 f
	for o in "" -f; do
		place 2020-01-01
		for p in "$EXP/p" p; do
			ln $p/f $p/g && chmod 444 $p/f && chmod 777 $p
		done
		as "$RPCRDMA" cp $o f "$URL/p" 2>err
		code=$?
		as "$RPCRDMA" cp $o "$URL/f" p 2>>err || code=$?
		[ -n "$o" ] || says err "Permission denied"
		if [ -n "$o" ]; then
			[ $code = 0 ] || { fail "-f: $code"; cat err; }
			for p in "$EXP/p" p; do holds new $p/f; holds old $p/g; done
		fi
	done
fi

# ---- -t, -v ------------------------------------------------------------------------------------
mkdir "$EXP/t" t
run 0 cp -t "$URL/t" f g && same f "$EXP/t/f" && same g "$EXP/t/g"
run 0 cp "$URL/f" --target-directory t && same f t/f
run 1 cp -t "$URL/f" g && says err "target '$URL/f': Not a directory"
run 2 cp -t "$URL/t" && says err "missing source operand"
run 0 cp -v f "$URL/t/new" && says out "'f' -> '$URL/t/new'"
run 0 cp -v "$URL/f" t && says out "'$URL/f' -> 't/f'"
run 0 cp -av f f2 "$URL/t" && says out "'f2' -> '$URL/t/f2'"
run 0 cp -v "$URL/f" - && same out f
no_leftovers "$EXP" .
stop_server
done_testing
