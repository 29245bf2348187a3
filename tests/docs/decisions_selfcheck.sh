#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# decisions.sh can say no: each of these edits of a copy must be found, by words that
# name it.
#
#   decisions_selfcheck.sh SOURCE
set -eu
src=$1
here=$(dirname "$0")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() {
	echo "selfcheck: $*"
	failed=1
}
# WORDS
finds() {
	if "$here/decisions.sh" "$tmp/copy" >"$tmp/out" 2>&1; then
		fail "nothing was found, and should be: $1"
	elif [ "$(grep -cvF -- "$1" "$tmp/out")" != 0 ] || ! grep -qF -- "$1" "$tmp/out"; then
		cat "$tmp/out"
		fail "this and nothing else should be found: $1"
	fi
}
# A comment, or an entry, that is put at the end of FILE.
append() { # FILE TEXT WORDS
	cp "$tmp/copy/$1" "$tmp/kept"
	printf '%b\n' "$2" >>"$tmp/copy/$1"
	finds "$3"
	cp "$tmp/kept" "$tmp/copy/$1"
}

mkdir "$tmp/copy"
(cd "$src" && tar cf - --exclude=corpus --exclude='*.hex' src tools include tests docs man \
	fuzz bench examples *.md) | (cd "$tmp/copy" && tar xf -)
"$here/decisions.sh" "$tmp/copy" >"$tmp/out" || {
	cat "$tmp/out"
	fail "the copy itself does not pass"
}
# Forms of citations that are right.
cp "$tmp/copy/src/conn/tx.c" "$tmp/kept"
echo '/* [ext §3.3 row 4, §7.2 V15; v2 §99, §98] [K17, ext §3.5 to §3.7] */' >>"$tmp/copy/src/conn/tx.c"
"$here/decisions.sh" "$tmp/copy" >"$tmp/out" || {
	cat "$tmp/out"
	fail "citations of every form do not pass"
}
cp "$tmp/kept" "$tmp/copy/src/conn/tx.c"
append src/conn/tx.c '/* ever [K17, K99] */' '[K99] has no entry in docs/decisions.md: src/conn/tx.c'
append tools/ls.c '/* over two lines [v2 §7,\n * K99] */' '[K99] has no entry'
append tests/e2e/cp_version1.sh '# [V3 to V99]' '[V3 to V99] has no entry'
append src/conn/tx.c '/* [K17 to K15] */' '[K17 to K15] has no entry'
append src/conn/tx.c '/* [C3 rule 4] */' '[C3 rule 4] has no entry'
append src/conn/tx.c '/* [check: 13] */' '[check: 13] has no entry'
append docs/decisions.md 'As in [K99].' '[K99] has no entry in docs/decisions.md: docs/decisions.md'
append docs/decisions.md '### K99. A title\n\nSee [K99].' 'nothing cites [K99]'
append docs/decisions.md '- **check: weight**: it is light.' 'nothing cites [check: weight]'
append docs/decisions.md '### K17. Once more' 'two entries: K17'
append tests/unit/wire.c '/* V2-4.1-99 */' 'no such requirement: V2-4.1-99'
append src/conn/tx.c '/* [ext §3.5] [ext §3.99] */' \
	'[ext §3.99] names no section of docs/extensions.md: src/conn/tx.c'
append tools/ls.c '/* over two lines [v2 §7, ext\n * §3.99 step 2] */' '[ext §3.99 step 2] names no'
append include/rpcrdma/rpcrdma.h '/* [ext §3.5, §19.1] */' '[§19.1] names no section'
append tests/unit/wire.c '/* [v2 §9.9, ext §3.5 to §3.99] */' '[ext §3.5 to §3.99] names no'
append src/conn/tx.c '/* [ext 3.5] */' '[ext 3.5] names no section'
append src/conn/tx.c '/* [ext §7.1 V15], which is in 7.2 */' '[ext §7.1 V15] names no section'
append docs/extensions.md 'As in v2 §9.9 and in §3.99.' 'a reference names no section of docs/extensions.md: §3.99'
sed -i 's/^### 7\.4 .*/### 7.5 Tests/' "$tmp/copy/docs/extensions.md"
append src/conn/tx.c '/* [ext §7.4] */' '[ext §7.4] names no section'
sed -i '/^### K24\./d' "$tmp/copy/docs/decisions.md"
finds '[K24] has no entry'
[ $failed = 0 ] && echo "selfcheck: every edit was found"
exit $failed
