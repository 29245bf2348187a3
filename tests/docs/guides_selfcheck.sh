#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The test of documents can say no: each of these documents must fail, by a message that
# names what is wrong; the first one must pass.
#
#   guides_selfcheck.sh user COPY CC "FLAGS"
set -u
here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
judge() { # MARK LANGUAGE <BLOCK
	{
		echo "$1"
		echo "\`\`\`$2"
		cat
		echo '```'
	} >"$tmp/document.md"
	SECONDS_TO_SHOW=20 bash "$here/guides.sh" "${arguments[@]}" "$tmp" document.md >"$tmp/out" 2>&1
	status=$?
	if [ $status = 77 ]; then
		cat "$tmp/out"
		exit 77
	fi
}
finds() { # MESSAGE MARK LANGUAGE <BLOCK
	judge "$2" "$3"
	[ $status != 0 ] && grep -qF -- "$1" "$tmp/out" && return
	echo "guides_selfcheck: exit status $status, and not: $1"
	cat "$tmp/document.md" "$tmp/out"
	failed=1
}
arguments=("$@")
lines='one
two'
echo "$lines" >"$tmp/lines.c"

judge '<!-- run -->' console <<'END'
$ echo "xid=0x11111111 time=0.5 ms"
xid=0x22222222 time=125 ms
$ seq 9
1
...
9
$ (sleep 1; echo late) &
late
$ ls nothing
ls: cannot access 'nothing': No such file or directory
$ cat <<HERE
in $HOME
HERE
in /home/you
$ echo a \
  b; wait
a b
$ [ "$(id -u)" != 0 ] && command -v rpcrdma | grep -c copy/bin/
1
END
[ $status = 0 ] && grep -q '^7 commands were run' "$tmp/out" || {
	echo "guides_selfcheck: what is right fails:"
	cat "$tmp/out"
	failed=1
}

finds 'neither run nor marked' '' sh <<<'true'
finds 'neither run nor marked' '' '' <<<'true'
finds 'no such mark' '<!-- not run -->' sh <<<'true'
finds 'no such mark' '<!-- run: sometimes -->' sh <<<'true'
finds 'another output' '<!-- run -->' console <<<$'$ echo 1\n2'
finds 'another output' '<!-- run -->' console <<<'$ echo 1'
finds 'another output' '<!-- run -->' console <<<$'$ true\n1'
finds 'another output' '<!-- run -->' console <<<$'$ seq 3\n1\n...\n2'
finds 'exit status 3' '<!-- run -->' console <<<'$ (exit 3)'
finds 'exit status 3' '<!-- run -->' sh <<<'(exit 3)'
finds 'still run' '<!-- run -->' sh <<<'sleep 100 &'
finds 'end before its end' '<!-- run -->' console <<<"$ echo '1"
finds 'the command does not end' '<!-- run -->' console <<<'$ cat <<END'
finds 'a command of root' '<!-- run -->' console <<<'# true'
finds 'no block of the shell' '<!-- run -->' c <<<'int i;'
finds 'does not have these lines' '<!-- excerpt: lines.c -->' c <<<$'two\none'
finds 'is not there' '<!-- excerpt: none.c -->' c <<<"$lines"
[ $failed = 1 ] || echo "guides_selfcheck: each of 18 documents that lie is found out"
exit $failed
