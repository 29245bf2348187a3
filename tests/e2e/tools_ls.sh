#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# ls -R, -t, -r, -1 and -h do what ls(1) does.
. "$(dirname "$0")/tools.lib"
export LC_ALL=C.UTF-8
start_server
cd "$EXP" || exit 1
mkdir -p a/b/c a/empty z .hidden
touch -d '2020-01-01 00:00:01' old
touch -d '2020-01-01 00:00:02' older-not
touch -d '2020-01-01 00:00:02.5' a/late a/b/c/deep
touch -d '2020-01-01 00:00:01' z a/b a/empty .hidden
touch -d '2020-01-01 00:00:03' a
ln -s .. a/up
for n in 0 1 1023 1024 1025 10239 10240 10241 102400 1047552 1048575 1048576 10485760 4294967297; do
	truncate -s $n z/$n
done
cd "$T" || exit 1
like() { # ls(1) OPTION... is what ours gives, apart from where it is
	(cd "$EXP" && ls "$@" .) | sed 's/^\./URL/' >want
	run 0 ls "$@" "$URL" && sed "s|^$URL|URL|" out >got
	cmp -s want got || { fail "ls $*:"; diff want got; }
}
like -1
like -1t
like -1tr
like -1r
like -R
like -Rt
like -Rr
(cd "$EXP/z" && ls -lhU --time-style=+ 2>/dev/null | awk 'NR > 1 { print $5, $6 }' | sort) >want
run 0 ls -lh "$URL/z" && awk '{ print $5, $8 }' out | sort >got
cmp -s want got || { fail "ls -lh:"; diff want got; }
# columns are in line
[ "$(sed 's/ 20[0-9-]* .*//' out | awk '{ print length }' | sort -u | wc -l)" = 1 ] || fail "columns: $(cat out)"
run 0 ls -RU "$URL" && [ "$(grep -c : out)" = 6 ] || fail "-RU: $(cat out)"
run 0 ls -Ra "$URL" && says out "$URL/.hidden:"
run 0 ls -R "$URL/old" && [ "$(cat out)" = "$URL/old" ] || { says out "$URL/old"; }
if command -v python3 >/dev/null; then
	run 0 ls -R --json "$URL/a"
	python3 -c 'import json, sys
d = json.JSONDecoder()
s = sys.stdin.read().strip()
urls = []
while s:
	o, n = d.raw_decode(s)
	urls.append(o["url"].rsplit("/", 1)[1])
	s = s[n:].strip()
assert urls == ["a", "b", "c", "empty"], urls' <out || fail "-R --json"
fi
if [ "$(id -u)" -ne 0 ]; then
	chmod 0 "$EXP/a/b"
	run 1 ls -R "$URL" && says err "cannot read directory '$URL/a/b': Permission denied" && says out "$URL/z:"
	chmod 755 "$EXP/a/b"
fi
stop_server
done_testing
