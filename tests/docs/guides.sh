#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# A document tells the truth: its shell blocks run, as session.awk reads them, and print
# what it shows.
#
#   guides.sh ROLE COPY CC "FLAGS" SOURCE DOCUMENT
#
# ROLE is root or user; COPY the installed copy that is used; SOURCE where DOCUMENT lies.
# own_host.lib says where the commands run.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/own_host.lib"
source=$5 document=$6
kdc=0 with_kdc=
if [ "$role" = root ] && grep -q '^<!-- run: kdc' "$source/$document" &&
	(. "$source/tests/gss/kdc.sh" && kdc_find "${UNPACKED-}") >/dev/null; then
	kdc=1 with_kdc="env UNPACKED=${UNPACKED-} bash $source/tests/gss/with_kdc.sh"
fi
awk -v doc="$document" -v role="$role" -v rpcbind="$rpcbind" -v kdc="$kdc" -v source="$source" -f "$here/session.awk" \
	"$source/$document" >"$T/commands" || exit 1
cat "$here/session.lib" - "$T/commands" >"$T/session" <<'END'
cd "$HOME"
END
echo end_session >>"$T/session"
status=0
# shellcheck disable=SC2086
in_own_host $with_kdc env SESSION="$T/user" SCREEN="$T/user/screen" bash "$T/session" || status=$?
[ $status != 77 ] || exit 77
[ ! -e "$T/user/said" ] || exit 1
[ -e "$T/user/whole" ] || fail "the commands of $document end before its end, with status $status: $(tail -n 3 "$T/user/screen")"
