#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Trees in and out; the oracle is diff -r and a listing of every attribute.
. "$(dirname "$0")/tools.lib"

start_server
umask 022
long=$(printf '%0255d' 0)

mkdir -p 'src/a b/deep/er' src/empty src/private
random src/one 1
random 'src/a b/two' 70000
random 'src/a b/deep/er/three' 3000000
random "src/$long" 10
random "src/new
line" 11
random src/ünïcødé 12
random 'src/%41 "quoted" \back' 13
random "src/$(printf 'bad\377octet')" 14
: >src/-dash
: >src/.hidden
ln -s one src/link
ln -s ../nowhere src/dangling
ln -s /etc src/absolute
ln -s "$(printf '%01000d' 0)" src/longlink
mkdir src/small
for i in $(seq 500); do echo "$i" >"src/small/$i"; done
chmod 500 src/private; chmod 640 src/one

# everything that is to be kept; directories' sizes are the file system's
list() {
	(cd "$1" && find . -mindepth 1 -printf "%P\t%y\t$2\t%l\n" | LC_ALL=C sort)
}

run 0 cp -r src "$URL/in" || cat err
diff -r --no-dereference src "$EXP/in" || fail "in: contents differ"
list src '%m' >want; list "$EXP/in" '%m' >got; same want got
run 0 cp -r "$URL/in" fetched || cat err
diff -r --no-dereference src fetched || fail "out: contents differ"
list fetched '%m' >got; same want got

# -p: times too, of directories as well
chmod 1777 src/empty
find src -exec touch -h -d '2002-03-04 05:06:07.5' {} +
run 0 cp -rp src "$URL/pin"
list src '%m\t%T@\t%U' >want; list "$EXP/pin" '%m\t%T@\t%U' >got; same want got
run 0 cp -rp "$URL/pin" pout
list pout '%m\t%T@\t%U' >got; same want got

# again, over what is there; into an existing directory; contents of "."
run 0 cp -r src/. "$URL/in" && diff -r --no-dereference src "$EXP/in" || fail "over"
mkdir into "$EXP/into"
run 0 cp -r src "$URL/into" && diff -r --no-dereference src "$EXP/into/src" || fail "into"
run 0 cp -r "$URL/in" into && diff -r --no-dereference src into/in || fail "out into"
run 0 cp -r "$URL/in" "$URL/twin" && diff -r --no-dereference src "$EXP/twin" || fail "twin"
run 0 cp -r "$URL" whole && diff -r --no-dereference "$EXP" whole || fail "a whole export"

# not into itself, for ever
mkdir "$EXP/self"; echo x >"$EXP/self/x"
run 1 cp -r "$URL/self" "$URL/self/inner" && says err "itself"
[ -f "$EXP/self/inner/x" ] && [ ! -e "$EXP/self/inner/inner" ] || fail "itself"

# special files are named, the others copied
mkdir special && mkfifo special/fifo && echo y >special/y
run 1 cp -r special "$URL/special" && says err "special/fifo"
same special/y "$EXP/special/y"

# a link in the destination's place is not followed out of the tree
mkdir -p evil/sub && echo z >evil/sub/z
mkdir -p victim back && ln -s ../victim back/sub
run 0 cp -r evil "$URL/evil"
run 1 cp -r "$URL/evil/." back
[ ! -e victim/z ] || fail "written through a link"

# deep
deep=deep/$(printf 'd/%.0s' $(seq 100))
mkdir -p "$deep" && echo bottom >"$deep/file"
run 0 cp -r deep "$URL/deep" && same "$deep/file" "$EXP/$deep/file"
run 0 cp -r "$URL/deep" deepout && same "$deep/file" "deepout/${deep#deep/}/file"
no_leftovers "$EXP" .
stop_server
done_testing
