#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is installed can be used, from where it was installed and from where it is moved
# to: a program found by pkg-config builds against it, shared and static, and runs; one
# found by find_package does; the command runs.  Uninstalled, no file of it is left.
#
#   install.sh BUILD CMAKE CC "FLAGS" PROGRAM.c
set -eu
build=$1 cmake=$2 cc=$3 flags=$4 program=$5
tmp=$(mktemp -d)
# The build's own list of what was installed, by somebody else, is not ours to lose.
manifest=$build/install_manifest.txt
[ ! -f "$manifest" ] || cp "$manifest" "$tmp/manifest"
end() {
	rm -f "$manifest"
	[ ! -f "$tmp/manifest" ] || cp "$tmp/manifest" "$manifest"
	rm -rf "$tmp"
}
trap end EXIT
unset DESTDIR

fail() {
	echo "install: $*"
	exit 1
}
quietly() {
	"$@" >"$tmp/log" 2>&1 || {
		cat "$tmp/log"
		fail "$*"
	}
}

# uses PREFIX: programs that are built against it run.
uses() {
	pc=$(find "$1" -name rpcrdma.pc)
	[ -n "$pc" ] || fail "no rpcrdma.pc"
	export PKG_CONFIG_PATH="${pc%/*}"
	[ "$(pkg-config --modversion rpcrdma)" = "$version" ] || fail "pkg-config: another version"
	cflags=$(pkg-config --cflags rpcrdma)
	libs=$(pkg-config --libs rpcrdma)
	static=$(pkg-config --libs --static rpcrdma | sed 's/-lrpcrdma/-l:librpcrdma.a/')
	lib=$(dirname "$(find "$1" -name librpcrdma.so)")
	! objdump -h "$lib/librpcrdma.a" | grep -F .gnu.lto || fail "only one GCC reads the archive"
	# shellcheck disable=SC2086
	"$cc" -Wall -Wextra -Werror $flags $cflags "$program" -o "$tmp/shared" $libs
	# shellcheck disable=SC2086
	"$cc" -Wall -Wextra -Werror $flags $cflags "$program" -o "$tmp/static" $static
	! ldd "$tmp/static" | grep librpcrdma || fail "the static program wants the shared library"
	LD_LIBRARY_PATH="$lib" "$tmp/shared"
	"$tmp/static"
	rm -rf "$tmp/project" "$tmp/made"
	mkdir "$tmp/project"
	cp "$program" "$tmp/project/program.c"
	cat >"$tmp/project/CMakeLists.txt" <<-END
		cmake_minimum_required(VERSION 3.18)
		project(user LANGUAGES C)
		find_package(rpcrdma $version REQUIRED COMPONENTS shared static)
		add_executable(shared program.c)
		target_link_libraries(shared PRIVATE rpcrdma::rpcrdma)
		add_executable(static program.c)
		target_link_libraries(static PRIVATE rpcrdma::static)
	END
	quietly "$cmake" -G Ninja -S "$tmp/project" -B "$tmp/made" -DCMAKE_PREFIX_PATH="$1" \
		-DCMAKE_C_FLAGS="$flags" -DCMAKE_C_COMPILER="$cc"
	quietly "$cmake" --build "$tmp/made"
	"$tmp/made/shared"
	"$tmp/made/static"
	[ "$("$1/bin/rpcrdma" --version)" = "rpcrdma $version" ] || fail "rpcrdma: another version"
	"$1/bin/rpcrdma" --help >"$tmp/help"
	grep -q nfsd "$tmp/help"
}

version=$(sed -n 's/^#define RPCRDMA_LIBRARY_VERSION *"\(.*\)"/\1/p' "${program%/examples/*}/include/rpcrdma/rpcrdma.h")
[ -n "$version" ] || fail "the header does not say which version it is"
quietly "$cmake" --install "$build" --prefix "$tmp/usr"
for page in man1/rpcrdma.1 man1/rpcrdma-nfsd.1 man3/rpcrdma_call.3 \
	man3/rpcrdma_call_cancel.3 man7/rpcrdma.7; do
	[ -f "$tmp/usr/share/man/$page" ] || fail "no $page"
done
unit=$tmp/usr/lib/systemd/system/rpcrdma-nfsd.service
grep -q "^ExecStart=$tmp/usr/bin/rpcrdma nfsd " "$unit" || fail "the unit does not start the command"
# It speaks of the system's own units and of missing programs, too: how this file is read
# counts.
if command -v systemd-analyze >/dev/null; then
	SYSTEMD_LOG_LEVEL=warning systemd-analyze verify --man=no "$unit" >"$tmp/log" 2>&1 || :
	! grep -E 'rpcrdma-nfsd.*(Unknown|Failed to parse|Invalid|ignoring)' "$tmp/log" || fail "the unit has mistakes"
fi
completion=$tmp/usr/share/bash-completion/completions/rpcrdma
"$tmp/usr/bin/rpcrdma" completion bash | cmp - "$completion" || fail "the completion file is another"
uses "$tmp/usr"
mv "$tmp/usr" "$tmp/elsewhere"
uses "$tmp/elsewhere"

mv "$tmp/elsewhere" "$tmp/usr"
quietly "$cmake" --build "$build" --target uninstall
left=$(find "$tmp/usr" ! -type d)
[ -z "$left" ] || fail "left by uninstall: $left"
[ ! -d "$tmp/usr/include/rpcrdma" ] || fail "uninstall left its directory of headers"
[ ! -d "$tmp/usr/share/doc/librpcrdma" ] || fail "uninstall left its directory of examples"
echo "install: the library, shared and static, and the command can be used, moved, and removed"
