#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes, and removes, the installed copy that the tests of documents use.
#
#   copy.sh install|remove BUILD CMAKE COPY
set -eu
verb=$1 build=$2 cmake=$3 copy=$4
rm -rf "$copy"
[ "$verb" = install ] || exit 0
# What the build's owner installed stays on the list of what `uninstall` removes.
manifest=$build/install_manifest.txt
[ ! -f "$manifest" ] || cp "$manifest" "$manifest.kept"
unset DESTDIR
status=0
"$cmake" --install "$build" --prefix "$copy" >"$build/docs-copy.log" 2>&1 || {
	cat "$build/docs-copy.log"
	status=1
}
rm -f "$manifest" "$build/docs-copy.log"
[ ! -f "$manifest.kept" ] || mv "$manifest.kept" "$manifest"
chmod -R go+rX "$copy"
exit $status
