#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The emulator and its keeper:  machine.sh GUEST RUN OWNER-PID
#
# Boots GUEST/vmlinux with RUN/share as its /host.  Ends with the emulator, and ends
# it: when told to (TERM), when the owner is gone, or after two hours.  Prints only
# what goes wrong.  The host's ports are the kernel's choice: `info usernet` on
# RUN/monitor.in says which they became.  ACCEL=kvm in the environment is faster
# where that works; the default works everywhere.
set -u
guest=$1 run=$2 owner=$3
# What of the guest can be reached from the host: NFS by RDMA, TCP, MOUNT, rpcbind;
# then some for the taking.
forwarded="20049 2049 20048 111 18515 18516 18517 18518"

net=user,id=net
for port in $forwarded; do
	net=$net,hostfwd=tcp:127.0.0.1:0-10.0.2.15:$port
done
accel=${ACCEL:-tcg}
cpu=max
[ "$accel" = tcg ] || cpu=host,-arch-capabilities

qemu="" emulate=qemu-system-x86_64
stop() {
	trap '' TERM INT HUP
	[ -z "$qemu" ] || kill -KILL "$qemu" 2>/dev/null
	rm -f "$run/monitor.in" "$run/qemu.pid" "$run/ports"
	exit "${1:-0}"
}
trap stop TERM INT HUP
echo $$ >"$run/keeper.pid"
rm -f "$run/monitor.in"
mkfifo "$run/monitor.in" || exit 1
exec 8<>"$run/monitor.in"
$emulate -nodefaults -no-user-config -no-reboot -display none -accel "$accel" -cpu "$cpu" -smp 1 -m 1024 \
	-kernel "$guest/vmlinux" -initrd "$guest/initrd.gz" \
	-append "console=ttyS0 quiet panic=-1 oops=panic nokaslr mitigations=off" \
	-chardev "file,id=console,path=$run/console.log" -serial chardev:console \
	-chardev stdio,id=monitor,signal=off -mon chardev=monitor,mode=readline \
	-fsdev "local,id=host,path=$run/share,security_model=none" -device virtio-9p-pci,fsdev=host,mount_tag=host \
	-netdev "$net" -device virtio-net-pci,netdev=net,romfile=,addr=0x10,mac=52:54:00:12:34:56 \
	-netdev user,id=agent,net=10.0.3.0/24,restrict=on,hostfwd=tcp:127.0.0.1:0-10.0.3.15:4600 \
	-device virtio-net-pci,netdev=agent,romfile=,addr=0x11,mac=52:54:00:12:34:57 \
	<&8 8<&- >"$run/monitor.out" 2>"$run/qemu.err" &
qemu=$!
echo $qemu >"$run/qemu.pid"
ends=$(($(date +%s) + 7200))
while kill -0 "$owner" 2>/dev/null && [ "$(date +%s)" -lt $ends ]; do
	kill -0 $qemu 2>/dev/null || {
		cat "$run/qemu.err"
		[ -s "$run/qemu.err" ] || echo "the emulator has ended"
		stop 1
	}
	sleep 0.5
done
stop
