#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each shell block of the documents is run by a test or says why it is not, and each
# excerpt stands in its file: what session.awk finds without running anything.  What the
# documents link to is there.
#
#   marks.sh SOURCE DOCUMENT...
set -u
source=$1
shift
failed=0
for document; do
	awk -v doc="$document" -v role=root -v rpcbind=1 -v kdc=1 -v source="$source" \
		-f "$(dirname "$0")/session.awk" "$source/$document" >/dev/null || failed=1
	for link in $(grep -oE '\]\([^)#: ]+[)#]' "$source/$document" | tr -d '](#)'); do
		[ -e "$source/$(dirname "$document")/$link" ] || {
			echo "$document: the link $link leads nowhere"
			failed=1
		}
	done
done
[ $failed = 1 ] || echo "marks: $# documents"
exit $failed
