#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The installed examples can be built by pkg-config alone, outside of the tree, and by
# their Makefiles without a warning, and do what their tests in the source want.
#
#   examples.sh ROLE COPY CC "FLAGS" SOURCE
#
# own_host.lib says where this is done.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/own_host.lib"
source=$5
cp -r "$source/examples" "$T/tests"
cat >"$T/build" <<'END'
# build TESTS: in the current directory.
set -eu
for dir in "$PREFIX"/share/doc/librpcrdma/examples/*/; do
	name=$(basename "$dir")
	mkdir "$name"
	cp "$dir"/* "$name/"
	cd "$name"
	packages=rpcrdma
	for x in *.x; do
		[ -e "$x" ] || continue
		packages="rpcrdma libtirpc"
		rpcgen -C -h -o "${x%.x}.h" "$x"
		rpcgen -C -c -o "${x%.x}_xdr.c" "$x"
		rpcgen -C -l -o "${x%.x}_clnt.c" "$x"
		rpcgen -C -m -o "${x%.x}_svc.c" "$x"
	done
	cc -o "$name" ./*.c $(pkg-config --cflags --libs $packages)
	make -s clean
	make -s CFLAGS="-O1 -Wall -Wextra -Werror"
	[ -z "$(ldd "$name" | awk -v copy="$PREFIX/" '/librpcrdma/ && !index($3, copy)')" ]
	bash "$1/$name/test.sh" "./$name" >/dev/null
	echo "examples: $name"
	cd ..
done
END
cd "$T/user/you"
in_own_host bash "$T/build" "$T/tests" >"$T/log" 2>&1 || {
	status=$?
	cat "$T/log"
	exit $status
}
for dir in "$source"/examples/*/; do
	grep -qx "examples: $(basename "$dir")" "$T/log" || fail "$dir is not installed"
done
grep '^examples: ' "$T/log"
