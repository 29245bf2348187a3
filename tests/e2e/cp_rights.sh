#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What a user may, cp does for him, as cp(1) does: at a server and at a local destination.
# As root it acts for another user, and files of a third one take part.
. "$(dirname "$0")/tools.lib"

chmod 755 "$T"
if [ "$(id -u)" -eq 0 ]; then
	root=1 uid=1234
	as() { setpriv --reuid=$uid --regid=$uid --clear-groups --inh-caps=-all "$@"; }
	as test -x "$RPCRDMA" || skip "$RPCRDMA cannot be run by another user"
else
	root= uid=$(id -u)
	as() { "$@"; }
	echo "not root: files of others are not tried"
fi
start_server
umask 022
see() {
	stat -c %a "$1"
	chmod 755 "$1" # so that whoever runs this may look
	(cd "$1" && find . -mindepth 1 -printf "%P %y %m %n %U %s\n" | LC_ALL=C sort
		find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2)
}
mkdir src "$EXP/src"
echo new >src/f && chmod 644 src/f
random src/big 3000000
cp -p src/* "$EXP/src"
prepare() { # DIR: the place, as $before makes it
	chmod -R u+rwx "$1" 2>/dev/null
	rm -rf "$1"; mkdir "$1"
	[ -z "$root" ] || chown $uid:$uid "$1"
	(cd "$1" && eval "$before")
}
own() { [ -z "$root" ] || chown $uid:$uid "$@"; }
compare() { # WHAT PLACE SOURCE DESTINATION OPTION...
	_what=$1 _place=$2 _source=$3 _dst=$4
	shift 4
	prepare "$EXP/like"
	as cp "$@" "$T/src/$name" "$EXP/like/$into" 2>cp.err
	echo $? >cp.code
	prepare "$_place"
	as "$RPCRDMA" cp "$@" "$_source/$name" "$_dst/$into" >out 2>err
	_code=$?
	[ $_code = "$(cat cp.code)" ] || { fail "$_what: exit code $_code, cp $(cat cp.code)"; cat err cp.err; }
	[ $_code = 0 ] || grep -qF "$_dst/$into" err || { fail "$_what: the destination is not named"; cat err; }
	! grep "incomplete" err || fail "$_what: it did not get so far"
	see "$EXP/like" >want
	see "$_place" >got
	cmp -s want got || { fail "$_what:"; diff want got; cat err; }
}
both() {
	_w=$1
	shift
	compare "$_w, there" "$EXP/to" "$T/src" "$URL/to" "$@"
	compare "$_w, here" "$T/to" "$URL/src" to "$@"
}

name=f into=f
before='echo old >f; own f; chmod 555 .' both "a directory that is not writable"
before='echo old >f; chmod 600 f; own f; chmod 555 .' both "a directory that is not writable, -p" -p
before='chmod 555 .' both "a new file where none may be"
before='chmod 333 .' both "a directory that is not readable"
before='echo old >f; own f; chmod 333 .' both "a file where one may not look"
before='chmod 600 .' both "a directory that may not be entered"
name=big
before='echo old >f; own f; chmod 555 .' both "in place, more data"
name=f
[ -z "$root" ] || {
	before='echo old >f; chmod 666 f' both "a file of another"
	before='echo old >f; chmod 666 f; chmod 1777 .; chown 0 .' both "a sticky directory"
	before='echo old >f; chmod 600 f; chmod 555 .; chown 0 .' both "nothing is allowed"
	chown $uid:$uid src/f "$EXP/src/f"
	chmod 6755 src/f "$EXP/src/f"
	before=: both "one's own set-id bits" -p
	before='echo old >f; own f' both "one's own set-id bits, over a file" -p
	chown 0:0 src/f "$EXP/src/f"
	chmod 6755 src/f "$EXP/src/f"
	before=: both "set-id bits of another" -p
	chmod 644 src/f "$EXP/src/f"

	# the end that is full
	if mkdir small && mount -t tmpfs -o size=1M none small 2>/dev/null; then
		run 1 cp "$URL/src/big" small
		says err "'small/big': No space left on device"
		echo old >small/big; ln small/big small/link
		run 1 cp "$URL/src/big" small
		says err "small/big: incomplete; the file was being written in place"
		umount small
	else
		echo "no tmpfs can be mounted: a full one was not tried"
	fi
}
# the end that is missing
run 1 cp "$URL/src/f" nowhere/f && says err "'nowhere/f': No such file"
run 1 cp -r "$URL/src" "$URL/src/f" && says err "$URL/src/f"
chmod 755 "$EXP/to" to
no_leftovers "$EXP" .
stop_server
done_testing
