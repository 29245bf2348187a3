#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# An export beneath an export: as with mount(8) the inner one is meant, and never what
# it covers.  At our server, and at one that answers MOUNT as Linux does.
: "${MOUNTD:?is not set}"
. "$(dirname "$0")/tools.lib"

OTHER=
end_other() {
	[ -z "$OTHER" ] || { kill -KILL $OTHER; wait $OTHER; } 2>/dev/null
	OTHER=
}
trap 'code=$?; end_other; (exit $code); finish' EXIT
mkdir -p "$EXP/full" inner/sub deep
echo outer >"$EXP/full/which"; echo outer >"$EXP/which"
echo inner >inner/which; echo deep >deep/which
start_server 0 --export "$T/inner:/e/full" --export "$T/deep:/e/full/sub/deep" --export "$T/deep:/a/b"
N=nfs://$HOST

for pair in which=outer full/which=inner full//./which=inner full/sub/deep/which=deep; do
	run 0 cat "$N/e/${pair%=*}" && [ "$(cat out)" = "${pair#*=}" ] || fail "cat $pair: $(cat out)"
	run 0 cp "$N/e/${pair%=*}" got && [ "$(cat got)" = "${pair#*=}" ] || fail "cp $pair: $(cat got)"
done
run 0 stat "$N/e/full" && says out "File id: $(stat -c %i inner)"
run 0 ls "$N/e/full" && says out sub
run 0 ls "$N/a/b" && says out which
run 1 ls "$N/a" && says err "cannot mount '/a': No such file"
run 1 ls "$N/e/ful" && says err "ful': No such file"
mkdir "$EXP/fuller" && run 0 ls "$N/e/fuller" # a name is no prefix of another

# what is written goes to the inner one; several exports of one host in one run
echo new >new
run 0 cp new "$N/e/full/new" && same new inner/new
[ ! -e "$EXP/full/new" ] || fail "it is in the directory that the export covers"
run 0 cp "$N/e/full/which" "$N/e/c" && same inner/which "$EXP/c"
run 0 cp "$N/e/which" "$N/e/full/d" && same "$EXP/which" inner/d
mkdir all
run 0 cp "$N/e/c" "$N/e/full/d" "$N/e/full/sub/deep/which" "$N/e/full/new" all ||
	cat err
[ "$(cat all/c all/d all/new)" = "$(printf 'inner\nouter\nnew')" ] || fail "$(head all/*)"

# As Linux: any directory of an export may be mounted, the list says which are exports.
other() { # HOW PATH...: the stand-in at mountport=M
	end_other
	: >mountd.out
	"$MOUNTD" "$1" "$HANDLE" "${@:2}" >mountd.out 2>>server.err &
	OTHER=$!
	until_true 20 grep -q ^port mountd.out || fail "the stand-in does not start"
	M="mountport=$(sed -n 's/^port //p' mountd.out)"
}
run 0 stat --json "$N/e"
HANDLE=$(sed -n 's/.*"handle":"\([0-9a-f]*\)".*/\1/p' out)
mounted() { # PATH...: by MNT, in this order, and no other
	sed -n 's/^MNT \(.*\) uid.*/\1/p' mountd.out >mounted
	[ "$(tr '\n' ' ' <mounted)" = "$* " ] || fail "mounted: $(cat mounted), not $*"
}
other beneath /export /export/full
run 0 cat "$N/export/full/which?$M" && mounted /export/full
run 0 cat "$N/export/which?$M" && mounted /export/full /export
other beneath / /export/full
run 0 cat "$N/full/which?$M" && mounted /
# no list, or a part of it: the first name, as ever
other nolist /export
run 0 cat "$N/export/full/which?$M" && mounted /export
other end /export /export/full
run 0 cat "$N/export/which?$M" && mounted /export
run 0 cat "$N/export/full/which?$M" && mounted /export /export/full
# not the outer one where the inner one is refused
other refuse /export /export/full
run 1 cat "$N/export/full/which?$M" && says err "cannot mount '/export/full': Permission denied"
mounted /export/full

end_other
stop_server
done_testing
