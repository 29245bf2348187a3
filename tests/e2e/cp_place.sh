#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is in the destination's place already: cp(1), doing the same beside it, says what
# is to become of it.  Each case is tried at a server and at a local destination.
. "$(dirname "$0")/tools.lib"

start_server
umask 022
mkdir src "$EXP/src" "$EXP/to" "$EXP/like" to like
root=; [ "$(id -u)" -ne 0 ] || root=1
echo new >src/f && chmod 751 src/f && cp -p src/f "$EXP/src/f"
echo more >src/g && cp src/g "$EXP/src/g"

# both_ways WHAT: $before makes a place in the current directory, which cp(1) and then
# we fill from $source with $options; what find(1) sees of the two is equal.
see() {
	(cd "$1" && find . -mindepth 1 -printf "%P %y %m %n %l ${root:+%U:%G} %s\n" | LC_ALL=C sort
		find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2)
}
compare() { # WHAT PLACE LIKE SOURCE DESTINATION OPTION...
	_what=$1 _place=$2 _like=$3 _source=$4 _dst=$5
	shift 5
	rm -rf "$_place" "$_like"; mkdir "$_place" "$_like"
	(cd "$_like" && eval "$before" && { cp "$@" "$T/src/$name" "$into" 2>"$T/cp.err"; echo $? >"$T/cp.code"; })
	(cd "$_place" && eval "$before")
	"$RPCRDMA" cp "$@" "$_source/$name" "$_dst/$into" >"$T/out" 2>"$T/err"
	_code=$?
	[ $_code = "$(cat cp.code)" ] || { fail "$_what: exit code $_code, cp $(cat cp.code)"; cat err cp.err; }
	see "$_like" >want
	see "$_place" >got
	cmp -s want got || { fail "$_what:"; diff want got; cat err; }
}
both() { # WHAT [OPTION...]
	_w=$1
	shift
	compare "$_w, there" "$EXP/to" like "$T/src" "$URL/to" "$@"
	compare "$_w, here" to "$EXP/like" "$URL/src" to "$@"
}

name=f into=f
before='echo old >f; chmod 600 f' both "its mode"
before='echo old >f; chmod 640 f' both "its mode, -p" -p
before='echo longer than the new one >f; chmod 640 f' into=. both "its mode, in a directory"
before='echo longer than the new one >f; ln f h' both "hard links"
before='echo old >f; ln f h; chmod 604 f' both "hard links, -p" -p
before='mkdir d' into=d/none/f both "a directory that is not there"
before='mkdir f' into=. both "a directory in the place"
before='mkdir f; mkdir f/f' both "a directory in the place, twice"
before='ln -s nowhere f' both "a dangling link"
before='echo old >t; ln -s t f; chmod 600 t' both "a link"
before='chmod 1777 .' both "a new file"
# a tree over a tree
rm -rf src/d "$EXP/src/d"
mkdir src/d && echo 1 >src/d/a && echo 2 >src/d/b && ln -s a src/d/l && cp -a src/d "$EXP/src/d"
name=d into=. before='mkdir d; echo old >d/a; chmod 600 d/a; echo x >d/b; ln d/b h; ln -s b d/l'
both "a tree over a tree" -r
before='mkdir -p d/a' both "a tree over a tree, in part" -r
[ -z "$root" ] || {
	name=f into=f
	before='echo old >f; chown 12:34 f; chmod 4640 f' both "its owner"
	before='echo old >f; chown 12:34 f; chmod 4640 f' both "its owner, -p" -p
	chown 7:8 src/f "$EXP/src/f"; chmod 6755 src/f "$EXP/src/f"
	before=: both "owner and set-id bits" -p
	before='echo old >f; ln f h' both "owner and set-id bits, in place" -p
	before=: both "neither owner nor set-id bits"
	chown -h 5:6 src/d/l "$EXP/src/d/l"
	chown 5:6 src/d "$EXP/src/d"; chmod 2775 src/d "$EXP/src/d"
	name=d into=.
	before=: both "owners in a tree" -rp
	chown -R 0:0 src "$EXP/src"; chmod 751 src/f "$EXP/src/f"
}

# who is at fault is said
mkdir -p clash/f "$EXP/clash/f"
run 1 cp "$URL/src/f" clash && says err "cannot overwrite directory 'clash/f' with non-directory"
run 1 cp src/f "$URL/clash/" && says err "cannot overwrite directory '$URL/clash/f' with non-directory"
run 1 cp src/f "$URL/src/f/x" && says err "'$URL/src/f/x': Not a directory"
run 1 cp -r src/d "$URL/src/f" && says err "cannot overwrite non-directory '$URL/src/f' with directory 'src/d'"
# refused before data are sent
# and before data are sent
random big 3000000
mkdir "$EXP/clash/big"
run 1 cp --stats stats big "$URL/clash" && says err "cannot overwrite directory '$URL/clash/big'"
says stats '"bytes_read_chunk":0,'
run 0 cp --stats stats big "$URL/big" # the counter does count
grep -q '"bytes_read_chunk":3000000' stats || fail "$(cat stats)"

# onto itself, by whatever name
echo 1 >"$EXP/one" && ln "$EXP/one" "$EXP/two" && ln -s one "$EXP/sym"
other=nfs://localhost:$PORT/e
for pair in "$URL/one $URL/one" "$URL/one $URL/two" "$URL/one $other/one" "$EXP/one $URL/two" \
	"$URL/two $EXP/one" "$URL/one $URL/sym"; do
	run 1 cp $pair && says err "are the same file"
done
[ "$(stat -c %h "$EXP/one")" = 2 ] && [ "$(cat "$EXP/two")" = 1 ] || fail "it was written onto itself"

# two sources of one name
mkdir a b w "$EXP/w"
echo a >a/f && echo b >b/f
for dst in "$URL/w" "$URL/w/"; do
	run 1 cp a/f b/f "$dst" && says err "will not overwrite just-created '$URL/w/f' with 'b/f'"
	[ "$(cat "$EXP/w/f")" = a ] || fail "the second one has the place"
done
mkdir "$EXP/a" "$EXP/b" && cp a/f "$EXP/a" && cp b/f "$EXP/b"
run 1 cp "$URL/a/f" "$URL/b/f" w && says err "will not overwrite just-created 'w/f' with '$URL/b/f'"
[ "$(cat w/f)" = a ] || fail "the second one has the place, here"
mkdir a/t b/t && echo 1 >a/t/x && echo 2 >b/t/x && echo 3 >b/t/y
run 1 cp -r a/t b/t "$URL/w" && says err "will not overwrite just-created '$URL/w/t/x' with 'b/t/x'"
[ "$(cat "$EXP/w/t/x" "$EXP/w/t/y")" = "$(printf '1\n3')" ] || fail "trees of one name are not one"
run 0 cp a/f a/f "$URL/w" && says err "warning: source 'a/f' specified more than once"
run 0 cp a/f "$URL/w" # in another run it is replaced

# A local file is replaced only by what is on its disk; a new one need not wait.
if [ -f "${FSYNC_PRELOAD-}" ]; then
	echo old >kept && touch flag
	unsynced() {
		FSYNC_FAILS=$T/flag LD_PRELOAD=$FSYNC_PRELOAD \
			ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0 run "$@"
	}
	unsynced 1 cp "$URL/src/f" kept && says err "'kept': Input/output error"
	[ "$(cat kept)" = old ] || fail "replaced by what is not on the disk"
	unsynced 0 cp "$URL/src/f" fresh && same fresh src/f
else
	echo "FSYNC_PRELOAD is no file: replacing without a working fsync was not tried"
fi

no_leftovers "$EXP" .
stop_server
done_testing
