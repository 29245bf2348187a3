#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# names.sh SOURCE: names can be searched.  scripts/figures.sh counts what cannot; this
# test also proves that it notices each kind of offence.
set -eu
source=$(cd "$1" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

"$source/scripts/figures.sh" "$source" --check || exit $?

(cd "$source" && tar cf - src tools include tests/unit bench fuzz/*.c examples README.md \
	ARCHITECTURE.md) | (cd "$tmp" && tar xf -)
# expect WORDS: the copy does not pass, and the figure WORDS names the place.
expect() {
	if "$source/scripts/figures.sh" "$tmp" --check >"$tmp/out" || ! grep -qF -- "$1" "$tmp/out"; then
		echo "names: figures.sh does not notice: $1"
		exit 1
	fi
}
f=$tmp/src/base/siphash.c
cp "$f" "$tmp/kept"
printf 'static int lonely(void)\n{\n\treturn 0;\n}\n' >>"$f"
expect "siphash.c:$(($(wc -l <"$tmp/kept") + 1)): lonely"
cp "$tmp/kept" "$f"
printf 'static int twice_there(void)\n{\n\treturn 0;\n}\n' | tee -a "$tmp/src/base/sized.c" >>"$f"
expect 'twice_there: src/base/siphash.c'
cp "$tmp/kept" "$f"
cp "$f" "$tmp/src/conn/siphash.c"
expect 'siphash: src/base src/conn'
rm "$tmp/src/conn/siphash.c"
printf '/* -- a banner ----\n * over two lines */\n' >>"$f"
expect '/* -- a banner'
cp "$tmp/kept" "$f"
printf '/* See nobody_has_this.c. */\n' >>"$f"
expect 'nobody_has_this.c'
cp "$tmp/kept" "$f"
seq -f '/* line %g */' 801 >>"$f"
expect 'src/base/siphash.c: '
