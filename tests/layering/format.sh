#!/bin/sh
# format.sh SOURCE_DIR: each C file is as clang-format leaves it, with .clang-format.
# Another version than Debian 12's formats otherwise: then there is nothing to compare (77).
set -u
cd "$1" || exit 1
errors=$(mktemp)
trap 'rm -f "$errors"' EXIT
tool=
for t in clang-format-14 clang-format; do
  if "$t" --version 2>/dev/null | grep -q 'version 14\.'; then
    tool=$t
    break
  fi
done
if [ -z "$tool" ]; then
  echo "SKIPPED: clang-format 14 is not installed, the format of C files was not checked"
  exit 77
fi
files=$(find examples bench fuzz include src tests tools -name '*.[ch]' ! -path '*/build/*')
[ "$(echo "$files" | wc -l)" -gt 300 ] || { echo "format.sh: found too few files"; exit 1; }
# shellcheck disable=SC2086
if ! "$tool" --style=file --dry-run -Werror $files 2>"$errors"; then
  grep 'clang-format-violations' "$errors" | cut -d: -f1,2 | sort -u | head -30
  echo "format.sh: run  $tool -i  on these files"
  exit 1
fi
