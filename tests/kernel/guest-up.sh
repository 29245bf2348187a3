#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The fixture of the kernel tests: makes the guest unless it is there, and boots it.
# Where this machine cannot, says why and exits 77, as all tests that want it then do.
. "$(dirname "$0")/guest.sh"
mkdir -p "$KERNEL_RUN"
rm -rf "$KERNEL_RUN/skip" "$KERNEL_RUN/captures"

cannot() {
	echo "$*" >"$KERNEL_RUN/skip"
	skip "$*"
}
command -v qemu-system-x86_64 >/dev/null || cannot "qemu-system-x86_64 is not installed"
available=$(awk '/^MemAvailable:/ { print int($2 / 1024) }' /proc/meminfo)
[ "$available" -ge 1536 ] || cannot "the guest wants 1.5 GiB of memory, $available MiB are free"
sh "$here/guest-build.sh" "$GUEST" "$kernel" >"$KERNEL_RUN/build.log" 2>&1 </dev/null
case $? in
0) tail -n 1 "$KERNEL_RUN/build.log" ;;
77) cannot "$(tail -n 1 "$KERNEL_RUN/build.log")" ;;
*)
	tail -n 40 "$KERNEL_RUN/build.log"
	exit 1
	;;
esac
machine_boot
