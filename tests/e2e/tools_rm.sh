#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rm removes what it names and nothing else.
. "$(dirname "$0")/tools.lib"
start_server
only() {
	[ "$(cat err)" = "rpcrdma $1" ] || { fail "not 'rpcrdma $1':"; cat err; }
}
gone() { for p in "$@"; do [ ! -e "$p" ] && [ ! -L "$p" ] || fail "$p is there"; done; }
there() { for p in "$@"; do [ -e "$p" ] || [ -L "$p" ] || fail "$p is gone"; done; }

# files
touch "$EXP/f" "$EXP/g" "$EXP/h"
run 0 rm "$URL/f" "$URL/g" && gone "$EXP/f" "$EXP/g" && there "$EXP/h"
run 1 rm "$URL/f" "$URL/h" && only "rm: cannot remove '$URL/f': No such file or directory"
gone "$EXP/h"
run 0 rm -f "$URL/f" && [ ! -s err ]
run 0 rm -f
run 2 rm
run 2 rm /etc/passwd
touch "$EXP/f"
run 0 rm -v "$URL/f" && says out "removed '$URL/f'"

# directories
mkdir "$EXP/d" "$EXP/d/sub" && touch "$EXP/d/x"
run 1 rm "$URL/d" && only "rm: cannot remove '$URL/d': Is a directory"
run 1 rm -f "$URL/d" && there "$EXP/d/x"
touch "$EXP/f" && run 1 rm -r "$URL/f/" && says err "Not a directory" && there "$EXP/f"
run 0 rm -rv "$URL/d" && gone "$EXP/d" && says out "removed directory '$URL/d/sub'"
there "$EXP/f"

# never through a symbolic link, nor out of the tree
mkdir -p "$EXP/keep/sub" "$EXP/d" outside
touch "$EXP/keep/x" outside/y
ln -s ../keep "$EXP/d/link"
ln -s .. "$EXP/d/up"
ln -s "$T/outside" "$EXP/d/out"
ln -s keep "$EXP/tokeep"
run 1 rm -r "$URL/tokeep/" && says err "Not a directory"
there "$EXP/tokeep" "$EXP/keep/x"
run 0 rm -r "$URL/d" "$URL/tokeep" && gone "$EXP/d" "$EXP/tokeep"
there "$EXP/keep/x" "$EXP/keep/sub" outside/y "$EXP/f"
for p in . keep/. keep/.. keep/sub/..; do
	run 1 rm -rf "$URL/$p" && says err "cannot remove '$URL/$p': it ends in . or .."
done
run 1 rm -rf "$URL" && says err "it is an export"
run 1 rm -rf "$URL/" && says err "it is an export"
run 2 rm -rf "nfs://$HOST"
there "$EXP/keep/x" "$EXP/keep/sub" "$EXP/f"

# many, deep, odd
mkdir -p "$EXP/many/a"
(cd "$EXP/many" && seq -f 'name-that-is-not-short-%g' 3000 | xargs touch)
touch "$EXP/many/a/$(printf 'x\033y\nz')"
(cd "$EXP/many/a" && for i in $(seq 60); do mkdir deep && cd deep || exit; done)
run 0 rm -r "$URL/many" && gone "$EXP/many"

# -i
mkdir "$EXP/d" && touch "$EXP/d/x" "$EXP/d/y"
echo n >answer
run 0 rm -ri "$URL/d" <answer && there "$EXP/d/x" && says err "rm: descend into directory '$URL/d'? "
printf 'y\ny\nn\n' >answer # it goes in, removes one of the two
run 0 rm -ri "$URL/d" <answer && [ "$(ls "$EXP/d" | wc -l)" = 1 ] || fail "-i: $(cat err)"
run 0 rm -rif "$URL/d" </dev/null && gone "$EXP/d" && [ ! -s err ] || fail "-f asks"

# what fails does not stop the rest
if [ "$(id -u)" = 0 ] && chattr +i "$EXP/f" 2>/dev/null; then
	mkdir "$EXP/d" && mv "$EXP/keep" "$EXP/d" && touch "$EXP/d/im" && chattr +i "$EXP/d/im"
	run 1 rm -r "$URL/d" && says err "cannot remove '$URL/d/im'" && gone "$EXP/d/keep"
	chattr -i "$EXP/f" "$EXP/d/im"
fi
stop_server
start_server 0 --read-only
touch "$EXP/f"
run 1 rm "$URL/f" && only "rm: cannot remove '$URL/f': Read-only file system"
stop_server
done_testing
