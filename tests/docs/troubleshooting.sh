#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The messages in docs/troubleshooting.md are those that symptoms.sh provokes: each first
# cell of its tables that is code is a line of its output.  A comment in the cell says why
# one is not checked, or that root alone, or a user alone, sees it.
#
#   troubleshooting.sh ROLE COPY CC "FLAGS" SOURCE
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/own_host.lib"
rpcbind=0
cp "$here/symptoms.sh" "$T/symptoms"
chmod 755 "$T/symptoms"
cd "$T/user/you"
status=0
in_own_host env SAID="$T/user/said" bash -c '"$0" >"$SAID" 2>&1' "$T/symptoms" || status=$?
[ $status != 77 ] || skip "see above"
grep -qx '==> the end' "$T/user/said" || {
	cat "$T/user/said"
	fail "the cases ended before their end, with status $status"
}
sed -i 's/served as uid [0-9]*/served as uid 1000/' "$T/user/said"
awk -v role="$role" '
	!/^\| *(<!-- [^>]* --> *)?`/ { next }
	/<!-- not checked: / { next }
	/<!-- (root|user) -->/ && $3 != role { next }
	{
		fence = match($0, /``/) ? "``" : "`"
		text = substr($0, index($0, fence) + length(fence))
		print substr(text, 1, index(text, fence) - 1)
	}' "$5/docs/troubleshooting.md" >"$T/messages"
missing=0
while IFS= read -r message; do
	grep -qxF -- "$message" "$T/user/said" || {
		echo "FAIL: nothing says: $message"
		missing=1
	}
done <"$T/messages"
[ "$(wc -l <"$T/messages")" -gt 20 ] || fail "the tables were not found"
[ $missing = 0 ] || {
	cat "$T/user/said"
	exit 1
}
echo "troubleshooting: $(wc -l <"$T/messages") messages"
