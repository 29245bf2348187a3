#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# mkdir and mv do what mkdir(1) and mv(1) do, within one export.
. "$(dirname "$0")/tools.lib"
mkdir other
start_server 0 --export "$T/other:/other"
only() {
	[ "$(cat err)" = "rpcrdma $1" ] || { fail "not 'rpcrdma $1':"; cat err; }
}
mode() { [ "$(stat -c %a "$2")" = "$1" ] || fail "$2 has mode $(stat -c %a "$2"), not $1"; }

# ---- mkdir --------------------------------------------------------------------------
umask 027
run 0 mkdir "$URL/d" "$URL/e" && mode 750 "$EXP/d" && mode 750 "$EXP/e"
run 1 mkdir "$URL/d" && only "mkdir: cannot create directory '$URL/d': File exists"
run 1 mkdir "$URL/no/d" && only "mkdir: cannot create directory '$URL/no/d': No such file or directory"
run 1 mkdir "$URL" && says err "File exists"
run 0 mkdir -p "$URL/d" "$URL" "$URL/p/q/r/" && mode 750 "$EXP/p/q/r"
run 0 mkdir -m 1777 "$URL/sticky" && mode 1777 "$EXP/sticky"
(umask 777 && run 0 mkdir -p -m 2711 "$URL/x/y") && mode 2711 "$EXP/x/y" && mode 300 "$EXP/x"
chmod 755 "$EXP/x"
run 2 mkdir -m 888 "$URL/z"
run 2 mkdir -m 10000 "$URL/z"
run 2 mkdir
touch "$EXP/file"
ln -s d "$EXP/link"
ln -s nowhere "$EXP/dangling"
run 1 mkdir -p "$URL/file" && says err "File exists"
run 1 mkdir -p "$URL/file/x" && says err "Not a directory"
run 1 mkdir "$URL/link" && says err "File exists"
run 1 mkdir "$URL/dangling" && says err "File exists" && [ ! -e "$EXP/nowhere" ] || fail "nowhere is made"
run 0 mkdir -pv "$URL/link/below" && [ -d "$EXP/d/below" ] && says out "created directory '$URL/link/below'" || fail "link/below"

# ---- mv -----------------------------------------------------------------------------
echo 1 >"$EXP/a"
run 0 mv "$URL/a" "$URL/b" && [ ! -e "$EXP/a" ] && [ "$(cat "$EXP/b")" = 1 ] || fail "mv a b"
run 0 mv -v "$URL/b" "$URL/d" && [ -e "$EXP/d/b" ] && says out "renamed '$URL/b' -> '$URL/d/b'"
run 0 mv "$URL/d" "$URL/moved" && [ -e "$EXP/moved/b" ] || fail "mv d moved"
touch "$EXP/c" "$EXP/c2"
run 0 mv "$URL/c" "$URL/c2" "$URL/moved" && [ -e "$EXP/moved/c2" ] || fail "several"
run 0 mv -t "$URL/e" "$URL/moved/c" && [ -e "$EXP/e/c" ] || fail "-t"
# a directory onto or into itself
run 1 mv "$URL/moved" "$URL/moved"
only "mv: cannot move '$URL/moved' to a subdirectory of itself, '$URL/moved/moved'"
run 1 mv "$URL/moved" "$URL/moved/below" && says err "subdirectory of itself"
run 1 mv "$URL/moved" "$URL/moved/below/new" && says err "subdirectory of itself"
run 1 mv "$URL/file" "$URL/file" && says err "are the same file"
ln "$EXP/file" "$EXP/hard"
run 1 mv "$URL/file" "$URL/hard" && says err "are the same file" && [ -e "$EXP/file" ] || fail "file is gone"
# over something else
run 1 mv "$URL/moved" "$URL/file"
only "mv: cannot overwrite non-directory '$URL/file' with directory '$URL/moved'"
mkdir "$EXP/e/file" "$EXP/e/moved"
run 1 mv "$URL/file" "$URL/e" && says err "cannot overwrite directory '$URL/e/file' with non-directory"
run 0 mv "$URL/moved" "$URL/e" && [ -e "$EXP/e/moved/b" ] || fail "over an empty directory"
mkdir "$EXP/moved"
run 1 mv "$URL/moved" "$URL/e" && says err "Directory not empty"
run 1 mv "$URL/no" "$URL/x" && only "mv: cannot access '$URL/no': No such file or directory"
run 1 mv "$URL/file" "$URL/no/x" && says err "cannot access '$URL/no/x'"
run 1 mv "$URL/file" "$URL/no/" && says err "target '$URL/no/': Not a directory"
run 1 mv "$URL/file" "$URL/hard" "$URL/no" && says err "target '$URL/no': Not a directory"
run 0 mv "$URL/moved" "$URL/new/" && [ -d "$EXP/new" ] || fail "a directory to new/"
# links are moved, and replaced, not followed
run 0 mv "$URL/dangling" "$URL/moved-link" && [ -L "$EXP/moved-link" ] || fail "a dangling link"
ln -sf file "$EXP/tofile" && echo 2 >"$EXP/two"
run 0 mv "$URL/two" "$URL/tofile" && [ ! -L "$EXP/tofile" ] && [ ! -s "$EXP/file" ] || fail "through a link"
# elsewhere
run 1 mv "$URL/file" "nfs://$HOST/other/" && says err "the destination is in another export"
run 1 mv "$URL/file" "nfs://localhost:$PORT/e/x" && says err "the destination is on another server"
run 1 mv "$URL" "$URL/x" && says err "it is an export"
run 1 mv "$URL/new/." "$URL/x" && says err "it ends in . or .."
run 2 mv "$URL/file" local
run 2 mv "$URL/file"
[ -e "$EXP/file" ] || fail "file is gone"
# -n, -i, -f
echo old >"$EXP/old"; echo new >"$EXP/fresh"
run 0 mv -n "$URL/fresh" "$URL/old" && [ "$(cat "$EXP/old")" = old ] || fail "-n"
echo n >answer
run 0 mv -i "$URL/fresh" "$URL/old" <answer && [ "$(cat "$EXP/old")" = old ] && says err "mv: overwrite '$URL/old'? "
echo y >answer
run 0 mv -i "$URL/fresh" "$URL/old" <answer && [ "$(cat "$EXP/old")" = new ] || fail "-i yes"
echo 3 >"$EXP/fresh"
run 0 mv -if "$URL/fresh" "$URL/old" </dev/null && [ "$(cat "$EXP/old")" = 3 ] || fail "-f"
stop_server
done_testing
