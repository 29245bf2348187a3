#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The walk of a tree does not wait for the server: directories are made and listed while
# it goes on.  That takes no call too many, and the copy of any shape is complete.  If a
# directory cannot be made, that is said once; an interrupted copy leaves nothing behind.
. "$(dirname "$0")/tools.lib"

# calls PROCEDURE: how many the stopped server has answered.
calls() {
	jq ".nfs.$1.calls // 0" "$T/server.json"
}

# counts PROCEDURE N
counts() {
	[ "$(calls "$1")" -eq "$2" ] || fail "$(calls "$1") calls of $1 instead of $2"
}

# 1 + 20 + 20 x 3 directories with 3 files each
mkdir wide
for i in $(seq 20); do mkdir -p "wide/$i/a" "wide/$i/b" "wide/$i/c"; done
find wide -type d | while read -r d; do
	for i in 1 2 3; do echo "$d $i" >"$d/f$i"; done
done

# deeper than levels are kept in memory, each with several directories beside the path
deep=deep
mkdir deep
for i in $(seq 45); do
	deep=$deep/$i
	mkdir -p "$deep" "$deep/x" "$deep/y"
	echo "$i" >"$deep/file"
	echo "$i" >"$deep/x/file"
done

start_server 0 --stats-on-exit "$T/server.json"
run 0 cp -r wide "$URL/wide"
stop_server
diff -r wide "$EXP/wide" || fail "the wide tree that went in differs"
counts MKDIR 81
counts CREATE 243
counts WRITE 243
counts RENAME 243
counts SETATTR 0
[ "$(calls LOOKUP)" -le 3 ] || fail "$(calls LOOKUP) calls of LOOKUP"

start_server 0 --stats-on-exit "$T/server.json"
run 0 cp -r "$URL/wide" wide.back
stop_server
diff -r wide wide.back || fail "the wide tree that came back differs"
counts READDIRPLUS 81
counts READ 243
[ "$(calls LOOKUP)" -le 3 ] || fail "$(calls LOOKUP) calls of LOOKUP"

start_server
run 0 cp -rp deep "$URL/deep"
diff -r deep "$EXP/deep" || fail "the deep tree that went in differs"
run 0 cp -rp "$URL/deep" deep.back
diff -r deep deep.back || fail "the deep tree that came back differs"
run 0 cp -r "$URL/deep" "$URL/deep2"
diff -r deep "$EXP/deep2" || fail "the deep tree within the server differs"
(cd deep && find . -type d -printf '%p %m %t\n' | sort) >want
(cd "$EXP/deep" && find . -type d -printf '%p %m %t\n' | sort) >got
same want got

# into directories that exist
rm -r "$EXP/wide/7" "$EXP/wide/8/a"
run 0 cp -r wide "$URL/"
diff -r wide "$EXP/wide" || fail "the completed tree differs"

# a file is where a directory has to be made: one message, however much is below it
rm -r "$EXP/wide/5"
echo "in the way" >"$EXP/wide/5"
ln wide/5/f1 wide/5/c/hard
run 1 cp -a wide "$URL/"
says err "cannot overwrite non-directory"
[ "$(grep -c "wide/5" err)" -eq 1 ] || fail "more than one message: $(cat err)"
says "$EXP/wide/5" "in the way"
rm "$EXP/wide/5"
diff -r wide "$EXP/wide" | grep -v "^Only in wide: 5$" && fail "the rest of the tree differs"

# interrupted while directories are being made
mkdir many
(cd many && seq 8000 | xargs mkdir && for i in *; do echo "$i" >"$i/file"; done)
"$RPCRDMA" cp -r many "$URL/many" 2>err &
pid=$!
begun() { [ "$(ls "$EXP/many" 2>/dev/null | wc -l)" -ge 50 ]; }
until_true 30 begun || fail "the copy does not get going"
kill -STOP "$SERVER"
kill -TERM $pid
sleep 0.2
kill -CONT "$SERVER"
wait $pid
[ $? -eq 143 ] || { fail "interrupted, but: $(tail -n 3 err)"; }
[ "$(ls "$EXP/many" | wc -l)" -lt 8000 ] || fail "the copy was complete before the signal"
no_leftovers "$EXP" .
stop_server
done_testing
