#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# mandoc finds no error and nothing to warn of in any manual page; references between
# our own pages lead to a page.
#
#   man_lint.sh SOURCE
set -eu
man=$1/man
command -v mandoc >/dev/null || {
	echo "SKIPPED, nothing was judged: mandoc is not installed"
	exit 77
}
failed=0
mandoc -T lint -W warning "$man"/*.[1-9] || failed=1
sed -n 's/^\.Xr \(rpcrdma[a-z0-9_-]*\) \([0-9]\).*/\1 \2/p' "$man"/*.[1-9] | sort -u |
	while read -r name section; do
		grep -l "^\.Nm $name\( ,\)\{0,1\}\$" "$man"/*."$section" 2>/dev/null | grep -q . ||
			echo "man_lint: no page is called $name($section)"
	done | grep . && failed=1
[ $failed = 0 ] && echo "man_lint: $(find "$man" -name '*.[1-9]' | wc -l) pages"
exit $failed
