#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# cp -T -b --backup -S and -d do what cp(1) does: the same cases are done by cp(1), and the
# exit status, the message, what -v tells of backups, and the trees are compared, in each
# direction.  Where cp(1) says 1 for wrong usage, ours says 2.
. "$(dirname "$0")/tools.lib"
umask 022
unset VERSION_CONTROL SIMPLE_BACKUP_SUFFIX
cp --version | grep -q 'coreutils) 9\.1$' && messages=1 || messages=
start_server

# ---- What is copied, and what is there -------------------------------------------------
mkdir -p src/d/sub proto/d proto/d2/sub proto/t
for f in f g d/f d/sub/f; do echo "new $f" >src/$f; done
ln src/f src/twin
ln -s f src/soft
ln -s nowhere src/dangling
chmod 640 src/f
for f in f g h h.~7~ h.~x~ h.~08~ d/f d2/sub/f t/f t/twin; do echo "old $f" >proto/$f; done
chmod 604 proto/f
touch -d '2001-01-01' src/g
ln -s g proto/link
ln -s d proto/todir
ln -s nowhere proto/dangling
cp -a src "$EXP/src"

# Types, modes, contents, targets, names; links by who shares a file.
see() {
	(cd "$1" && find . -mindepth 1 -printf '%P|%y|%m|%l|%n\n' | awk -F'|' '$2 == "d" { $5 = "" } { print }' |
		LC_ALL=C sort && find . -type f -exec sha256sum {} + | LC_ALL=C sort -k2)
}
# Names as they are in any place, without what only one of the two says.
plain() { # FILE
	sed -e "s,$URL/src/,S/,g; s,$URL/w/,@,g; s,$URL/src,S,g; s,src/,S/,g; s,ref/,@,g; s,got/,@,g" \
		-e 's/^rpcrdma cp: //; s/^cp: //; /^Try /d' -e '/ copied, .* not copied$/d' "$1"
}

# compare S-PREFIX @-PREFIX DIRECTORY ARGUMENT...: ours, where S/ and @ are; $code has cp's exit code.
compare() {
	_from=$1 _to=$2 _tree=$3
	shift 3
	_args=()
	for _a; do
		_a=${_a/#@/$_to}
		_args+=("${_a/#S\//$_from}")
	done
	rm -rf "$_tree" && command cp -a proto "$_tree"
	_want=$code
	[ "$code $usage" != "1 1" ] || _want=2
	run "$_want" cp "${_args[@]}" || return
	see "$_tree" >got.see
	cmp -s want.see got.see || { fail "cp $* at $_tree:"; diff want.see got.see; }
	[ -n "$messages" ] && [ -z "$unlike" ] || return
	plain err | diff <(plain want.err) - >diffs || { fail "cp $* at $_tree: it says otherwise:"; cat diffs; }
}

# like [-u] [-m] ARGUMENT...: as cp(1); -u: cp(1) takes it for wrong usage, -m: messages differ.
like() {
	usage="" unlike=""
	while :; do
		case $1 in -u) usage=1 ;; -m) unlike=1 ;; *) break ;; esac
		shift
	done
	[ "$1" != . ] || shift
	rm -rf ref && command cp -a proto ref
	_args=()
	for _a; do
		_a=${_a/#@/ref/}
		_args+=("${_a/#S\//src/}")
	done
	code=0
	LC_ALL=C command cp "${_args[@]}" >want.out 2>want.err || code=$?
	see ref >want.see
	compare src/ "$URL/w/" "$EXP/w" "$@"
	compare "$URL/src/" got/ got "$@"
	compare "$URL/src/" "$URL/w/" "$EXP/w" "$@"
}

# ---- -T ---------------------------------------------------------------------------------
like -T S/f @new
like -T S/f @f
like -T S/f @d
like -rT S/d @d
like -rT S/d @d2
like -rT S/d @d2/
like -rT S/d @new
like -rT S/d @f
like -m -rT S/d @todir
like -m -T S/f @todir
like . -r S/d @f
like -rT S/d @
like -m -T S/f @
like -u -T S/f S/g @d
like -u -T -t @d S/f
run 0 cp -T src/f "$URL/src/twin" # the file, not a name in it

# ---- Backups ------------------------------------------------------------------------------
like -b S/f @f
like -b S/f @new
like -b S/f @d
like -b S/f S/g @d
like -bT S/f @d
like -b S/f @h
like -b S/f @link
like -b S/f @dangling
like -bT S/f @todir
like -b S/f @todir
like -bP S/soft @link
like -rb S/d @
like -rbT S/d @d2
like -rbT S/d @f
like -bu S/g @g
like -bp S/f @f
like -b --force S/f @f
for control in none off simple never existing nil numbered t num exist ne; do
	like --backup=$control S/f @h
	like --backup=$control S/f @g
done
like --backup=numbered S/f S/d/f @t
like -S .x S/f @f
like --suffix=.x S/f @h
like --suffix=a/b S/f @f
like --suffix= -b S/f @f
like -u -bn S/f @f
like -u -m --backup=foo S/f @f
like -u -m --backup=n S/f @f
export VERSION_CONTROL=numbered SIMPLE_BACKUP_SUFFIX=.old
like -b S/f @f
like --backup S/f @f
like --backup=simple S/f @f
like --backup=simple -S .x S/f @f
VERSION_CONTROL=foo
like -u -m -b S/f @f
says err "VERSION_CONTROL: 'foo' is not one of"
unset VERSION_CONTROL SIMPLE_BACKUP_SUFFIX

holds() { [ "$(cat "$2")" = "$1" ] || fail "$2 has $(cat "$2")"; }
# A source that its own backup would replace.
cp src/f "$EXP/x~" && cp src/g "$EXP/x"
run 1 cp --backup=simple "$URL/x~" "$URL/x" && says err "backing up '$URL/x' might destroy source;  '$URL/x~' not copied"
holds "new f" "$EXP/x~" && holds "new g" "$EXP/x"
cp src/f "$EXP/a x~" && cp src/g "$EXP/a x"
run 1 cp --backup=simple "$URL/a%20x%7e" "$URL/a%20x" && says err "might destroy source"
holds "new f" "$EXP/a x~" && holds "new g" "$EXP/a x"
run 0 cp --backup=numbered "$URL/x~" "$URL/x" && holds "new f" "$EXP/x" && holds "new g" "$EXP/x.~1~"

# A file that the same run made is kept by numbered backups only.  cp(1) says the same,
# but renames the backup back, and the old file is gone.
mkdir "$EXP/t" && echo old >"$EXP/t/f"
run 1 cp --backup=simple src/f src/d/f "$URL/t" && says err "will not overwrite just-created '$URL/t/f' with 'src/d/f'"
holds "new f" "$EXP/t/f" && holds old "$EXP/t/f~"

# A name that is too long for its backup; the old file stays.
long=$(printf '%0255d' 7)
echo old >"$EXP/$long"
run 1 cp -b src/f "$URL/$long" && says err "cannot backup" && holds old "$EXP/$long"

# -v names the backup, as cp(1) does.
rm -rf "$EXP/w" got && cp -a proto "$EXP/w" && cp -a proto got
run 0 cp -vb src/f "$URL/w/f" && says out "'src/f' -> '$URL/w/f' (backup: '$URL/w/f~')"
run 0 cp -vb "$URL/src/f" got && says out "'$URL/src/f' -> 'got/f' (backup: 'got/f~')"
run 0 cp -v --backup=t src/twin "$URL/w/f" && says out "(backup: '$URL/w/f.~1~')"
run 0 cp -vb src/f "$URL/w/new" && ! grep backup: out || fail "a backup of nothing"

# What fails after that gives the old file its name back, at either end.
if [ -f "${RENAME_PRELOAD-}" ]; then
	export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}verify_asan_link_order=0
	stop_server
	export RENAME_FAILS=$T/flag LD_PRELOAD=$RENAME_PRELOAD
	start_server
	export -n LD_PRELOAD
	rm -f "$EXP"/k* k*
	for o in -b --backup=numbered; do
		echo old >"$EXP/k" && echo old >k && touch flag
		run 1 cp $o src/f "$URL/k" && says err "cannot create '$URL/k': Input/output error"
		LD_PRELOAD=$RENAME_PRELOAD run 1 cp $o "$URL/src/f" k && says err "'k': Input/output error"
		holds old "$EXP/k" && holds old k
		[ "$(echo "$EXP"/k* k*)" = "$EXP/k k" ] || fail "left after a rename that failed: $(echo "$EXP"/k* k*)"
		rm flag
		run 0 cp $o src/f "$URL/k" && holds "new f" "$EXP/k"
		rm -f "$EXP"/k*
	done
	# The old file has its name until the new one is on storage.
	rm -f k* && echo old >k
	FSYNC_NEEDS=$T/k LD_PRELOAD=$RENAME_PRELOAD run 0 cp -b "$URL/src/f" k && holds "new f" k && holds old k~
	FSYNC_NEEDS=$T/none LD_PRELOAD=$RENAME_PRELOAD run 1 cp -b "$URL/src/g" k && says err "cannot create 'k': Input/output error"
	[ "$(echo k*)" = "k k~" ] && holds "new f" k || fail "left after a sync that failed: $(echo k*)"
	rm k k~
	# A link that is not made gives the name back, too.
	mkdir "$EXP/k" k && printf twin >flag
	for dst in "$URL/k" k; do
		echo old >"$EXP/k/twin" && echo old >k/twin
		LD_PRELOAD=$RENAME_PRELOAD run 1 cp -db "$URL/src/f" "$URL/src/twin" "$dst" && says err "cannot create hard link"
		holds old "$EXP/k/twin" && holds old k/twin
	done
	[ "$(ls -A "$EXP/k" k | tr '\n' ' ')" = "$EXP/k: f twin  k: f twin " ] || fail "left after a link that failed: $(ls -A "$EXP/k" k)"
	rm flag && unset RENAME_FAILS
else
	echo "RENAME_PRELOAD is no file: a rename that fails was not tried"
fi

# ---- -d ---------------------------------------------------------------------------------------
like -d S/soft @new
like -d S/dangling @new
like -d S/f S/twin S/soft @d2
like -rd S/d S/f S/twin @t
like -db S/f S/twin @t
# The old file takes the name of the link's other end: the link has the new contents.
mkdir "$EXP/n" n && ln "$EXP/src/f" "$EXP/src/twin~"
echo old >"$EXP/n/twin" && echo old >n/twin
for dst in "$URL/n" n; do run 0 cp -db --backup=simple "$URL/src/twin~" "$URL/src/twin" "$dst"; done
for dst in "$EXP/n" n; do holds "new f" "$dst/twin" && holds old "$dst/twin~"; done
[ "$EXP/w/t/f" -ef "$EXP/w/t/twin" ] || fail "-db: no link"
holds "old t/twin" "$EXP/w/t/twin~"
no_leftovers "$EXP" .
stop_server
done_testing
