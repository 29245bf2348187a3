#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What is mounted beneath an export: an empty directory, or served with it (crossmnt).
# With the kernel's file handles and without, in mount namespaces of the test's own.
here=$(realpath "$0")
inside() { # KIND PREFIX...
	"${@:2}" env CROSSMNT_IN="$1" bash "$here" || { echo "FAIL: $1"; exit 1; }
}
if [ -z "${CROSSMNT_IN:-}" ]; then
	if [ "$(id -u)" = 0 ]; then
		unshare -m true || { echo "SKIP: no mount namespace is allowed here"; exit 77; }
		inside kernel unshare -m
		inside walk unshare -m
	else
		unshare -rm true && unshare -rU --map-user=1000 true ||
			{ echo "SKIP: no user namespace is allowed here"; exit 77; }
		inside user unshare -rm
	fi
	exit 0
fi
. "$(dirname "$here")/tools.lib"

TOOL=$RPCRDMA
case $CROSSMNT_IN in
kernel) before='' ;;
walk) before='setpriv --bounding-set -dac_read_search --inh-caps -dac_read_search' ;;
user) before='unshare -U --map-user=1000 --map-group=1000' ;;
esac
printf '#!/bin/sh\nexec %s "%s" "$@"\n' "$before" "$TOOL" >as_server
chmod +x as_server
serve() { # PORT OPTION...
	RPCRDMA=$T/as_server
	start_server "$@"
	RPCRDMA=$TOOL
}
end() {
	code=$?
	awk -v t="$T/" 'index($5, t) == 1 { print $5 }' /proc/self/mountinfo | sort -r | xargs -r umount -l
	(exit $code)
	finish
}
trap end EXIT
field() { # NAME URL: of stat
	"$RPCRDMA" stat --json "$2" | sed -n "s/.*\"$1\":\"\{0,1\}\([^,\"}]*\).*/\1/p"
}
mkdir -p "$EXP/m" "$EXP/d/bind" "$EXP/later" other
echo hidden >"$EXP/m/covered"; echo other >other/o; echo plain >"$EXP/d/plain"
covered=$(stat -c %i "$EXP/m")
mount -t tmpfs -o size=8M none "$EXP/m" || skip "mount is not allowed here"
mkdir -p "$EXP/m/sub/deep"; echo in >"$EXP/m/in"
mount -t tmpfs -o size=4M none "$EXP/m/sub/deep"; echo deep >"$EXP/m/sub/deep/f"
mount --bind other "$EXP/d/bind"

# ---- without crossmnt: an empty directory that nobody can change
serve 0
run 0 ls -R "$URL" && ! grep -qxE 'covered|in|sub|deep|o' out || fail "ls -R: $(cat out)"
says out "$URL/m:"; says out "$URL/d/bind:"
[ "$(field fileid "$URL/m")" = "$covered" ] || fail "fileid: $(field fileid "$URL/m"), not $covered"
[ "$(field fsid "$URL/m")" = "$(field fsid "$URL")" ] || fail "another fsid"
[ "$(field mode "$URL/m")" = 0555 ] || fail "mode: $(field mode "$URL/m")"
[ "$(field fileid "$URL/d/bind")" != "$(field fileid "$URL/m")" ] || fail "one fileid for two"
run 1 cat "$URL/m/in"; says err "No such file"
run 1 cat "$URL/m/covered"; says err "No such file"
run 1 cp other/o "$URL/m/new"; says err "Read-only"
run 1 mv "$URL/d/plain" "$URL/m/plain"
run 1 rm -r "$URL/m"
run 0 df "$URL/m" && [ "$(awk 'NR == 2 { print $1 }' out)" != 8192 ] || fail "df: $(cat out)"
[ "$(ls "$EXP/m" | tr '\n' ' ')" = "in sub " ] || fail "changed: $(ls "$EXP/m")"
run 0 cp -r "$URL" copy && [ -d copy/m ] && [ -z "$(ls copy/m)" ] && same copy/d/plain "$EXP/d/plain" ||
	fail "cp -r: $(find copy)"
mount -t tmpfs none "$EXP/later" && touch "$EXP/later/no"
run 0 ls "$URL/later" && [ ! -s out ] || fail "later: $(cat out)"
umount "$EXP/later" && touch "$EXP/later/yes"
run 0 ls "$URL/later" && says out yes
stop_server

# ---- with crossmnt: a file system of its own
serve 0 --export "$EXP:/x,crossmnt"
U=nfs://$HOST/x
run 0 ls -R "$U" && says out "$U/m/sub/deep:" && ! grep -q covered out || fail "ls -R: $(cat out)"
for f in in sub/deep/f; do
	run 0 cat "$U/m/$f" && same out "$EXP/m/$f"
done
run 0 cat "$U/d/bind/o" && same out other/o
run 0 ls "nfs://$HOST/e/m" && [ ! -s out ] || fail "the other export: $(cat out)"
fsids=$(for f in '' /m /m/sub/deep /d/bind; do field fsid "$U$f"; done | sort -u | wc -l)
[ "$fsids" = 4 ] || fail "$fsids file systems"
[ "$(field fsid "$U/m")" = "$(field fsid "$U/m/sub")" ] || fail "not one file system"
run 0 df "$U/m" "$U/m/sub/deep" && [ "$(awk 'NR > 1 { print $1 }' out | tr '\n' ' ')" = "8192 4096 " ] ||
	fail "df: $(cat out)"
mkdir -p tree/a/b && random tree/a/r 300000 && echo x >tree/a/b/x
run 0 cp -r tree "$U/m/tree" && diff -r tree "$EXP/m/tree" || fail "cp -r to it"
run 0 cp -r "$U/m/tree" back && diff -r tree back || fail "cp -r from it"
run 0 cp -r "$U" all && same all/m/sub/deep/f "$EXP/m/sub/deep/f" && same all/d/bind/o other/o
run 1 mv "$U/m/tree/a/b/x" "$U/d/x"; says err "Invalid cross-device link"
run 0 mv "$U/m/tree/a/b/x" "$U/m/sub/x"
run 0 rm -r "$U/m/tree"
mount -t tmpfs none "$EXP/later" && echo new >"$EXP/later/new"
run 0 cat "$U/later/new" && says out new
# idle, it can be unmounted; then there is what it covered
if [ "$CROSSMNT_IN" = walk ]; then
	umount -l "$EXP/later"
else
	until_true 60 umount "$EXP/later" 2>/dev/null || fail "it stays busy"
fi
run 0 ls "$U/later" && says out yes
run 0 cp other/o "$U/later/o" && same other/o "$EXP/later/o"
stop_server

# ---- a file of exports says it, and says otherwise
loaded() { [ "$(grep -c "was loaded" server.err)" = "$1" ]; }
echo "$EXP:/f *(rw,crossmnt)" >list
serve 0 --exports "$T/list"
U=nfs://$HOST/f
run 0 cat "$U/m/in" && same out "$EXP/m/in"
echo "$EXP:/f *(rw,nocrossmnt,hide)" >list
kill -HUP $SERVER && until_true 20 loaded 1 || fail "not loaded"
run 1 cat "$U/m/in" && says err "No such file"
echo "$EXP:/f *(rw) 192.0.2.1(crossmnt)" >list
kill -HUP $SERVER && until_true 20 loaded 2 || fail "not loaded"
run 0 cat "$U/m/sub/deep/f" && same out "$EXP/m/sub/deep/f"
echo "$EXP:/f *(rw,nohide)" >list
kill -HUP $SERVER && until_true 20 grep -q "'nohide' is not supported" server.err || fail "nohide was taken"
run 0 cat "$U/m/in" && same out "$EXP/m/in"
stop_server
done_testing
