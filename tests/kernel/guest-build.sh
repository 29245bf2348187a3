#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes the guest that the kernel tests boot, from packages of the distribution:
#
#   tests/kernel/guest-build.sh DIR
#
# leaves DIR/vmlinux (a kernel, never installed here), DIR/initrd.gz (everything
# that runs on it) and DIR/ask (runs a command in it).  siw is not in Debian's
# kernel: it is built from the kernel's own source.  The packages are those of
# packages.txt [guest] and the newest kernel whose parts the archive has all of.
# What is there already is not made again; DIR/debs keeps what was downloaded.
#
# Exit 77, with the reason on the last line: this machine cannot make one.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
list=$here/../../packages.txt
mkdir -p "${1:?a directory is missing}"
cd "$1"
dir=$PWD

cannot() {
	echo "$*"
	exit 77
}
say() { echo "[$(($(date +%s) - started)) s] $*"; }
started=$(date +%s)

# ---- What it is made of ------------------------------------------------------------

[ "$(uname -m)" = x86_64 ] || cannot "the guest is an x86-64 machine, this one is $(uname -m)"
for tool in apt-get apt-cache dpkg-deb cpio xz gcc make depmod flock; do
	command -v $tool >/dev/null || PATH=$PATH:/usr/sbin:/sbin
	command -v $tool >/dev/null || cannot "$tool is not installed"
done

packages() {
	awk '{ sub(/#.*/, "") } NF && /^\[/ { on = $1 == "[guest]"; next } NF && on { print $1 }' "$list"
}

has() { # package version
	apt-cache madison "$1" 2>/dev/null | awk -v v="$2" '$3 == v { found = 1 } END { exit !found }'
}

# Prints the ABI, version and series of the newest kernel that is there as a whole.
newest_kernel() {
	apt-cache show linux-image-amd64 2>/dev/null |
		sed -n 's/^Depends: linux-image-\([^ ]*\) (= \([^)]*\)).*/\1 \2/p' |
		while read -r abi version; do
			series=${version%.*}
			if has "linux-headers-$abi" "$version" &&
				has "linux-headers-${abi%-*}-common" "$version" &&
				has "linux-kbuild-$series" "$version" &&
				has "linux-source-$series" "$version"; then
				echo "$abi $version $series"
				break
			fi
		done
}

key() { { cat "$here/guest-build.sh" "$here"/guest/* && packages; } | sha256sum | cut -d" " -f1; }

up_to_date() { # [ABI VERSION SERIES]
	[ -f stamp ] && [ -f vmlinux ] && [ -f initrd.gz ] && [ -x ask ] || return 1
	[ "$(sed -n 1p stamp)" = "$(key)" ] || return 1
	[ $# = 0 ] || [ "$(sed -n 2p stamp)" = "$*" ]
}

exec 9>lock
flock -w 900 9 || cannot "another build of the guest does not end"
# Whether there is a newer kernel is asked once a day.
[ -z "$(find stamp -mmin -1440 2>/dev/null)" ] || ! up_to_date || exit 0
kernel=$(newest_kernel)
if [ -z "$kernel" ]; then
	up_to_date && exit 0
	[ "$(id -u)" != 0 ] || apt-get update || :
	kernel=$(newest_kernel)
	[ -n "$kernel" ] || cannot "apt knows no whole Linux kernel (apt-get update; Debian 12 has one)"
fi
# shellcheck disable=SC2086
up_to_date $kernel && touch stamp && exit 0
# shellcheck disable=SC2086
set -- $kernel
abi=$1 version=$2 series=$3
rm -f stamp

# ---- Download ----------------------------------------------------------------------

compiler=$(apt-cache depends "linux-headers-$abi" | sed -n 's/.*Depends: \(linux-compiler-.*\)/\1/p')
# In the guest; and what only builds siw.
parts="linux-image-$abi=$version $(packages)"
tools="linux-headers-$abi=$version linux-headers-${abi%-*}-common=$version
linux-kbuild-$series=$version linux-source-$series=$version $compiler"

fetch() { # packages, or PACKAGE=VERSION: those not there yet; prints their files
	mkdir -p debs
	lacking=""
	for p in $(pinned "$@"); do
		file=debs/${p%%=*}_$(echo "${p#*=}" | sed 's/:/%3a/')_
		set -- "$file"*.deb
		[ -f "$1" ] || lacking="$lacking $p"
		echo "$file"
	done >names.new
	# shellcheck disable=SC2086
	[ -z "$lacking" ] || (cd debs && apt-get -qq -o APT::Sandbox::User=root download $lacking >&2) || return 1
	while read -r file; do
		set -- "$file"*.deb
		[ -f "$1" ] || return 1
		echo "$1"
	done <names.new
	rm names.new
}

# Each with its version: the one that apt would take, unless told.
pinned() {
	for p; do
		case $p in *=*) echo "$p" ;; *) plain="${plain-} $p" ;; esac
	done
	# shellcheck disable=SC2086
	[ -z "${plain-}" ] || apt-cache policy $plain | awk '/^[^ ]/ { sub(/:$/, ""); name = $0 }
		$1 == "Candidate:" { print name "=" $2 }'
}

all() {
	# shellcheck disable=SC2086
	fetch $parts >parts.new && fetch $tools >tools.new
}

say "Linux $abi $version: downloading what is not here"
all || {
	[ "$(id -u)" = 0 ] && apt-get update && all
} || cannot "the packages of the guest cannot be downloaded"

# ---- Unpack, build siw -----------------------------------------------------------------

rm -rf root src init
mkdir root src
say "unpacking"
while read -r deb; do dpkg-deb -x "$deb" root; done <parts.new
while read -r deb; do dpkg-deb -x "$deb" src; done <tools.new
tar -C src -xf "src/usr/src/linux-source-$series.tar.xz" \
	"linux-source-$series/drivers/infiniband/sw/siw"
siw=$dir/src/linux-source-$series/drivers/infiniband/sw/siw

# The makefile of the headers includes that of the common ones by absolute path.
sed -i "s|/usr/src/linux|$dir/src/usr/src/linux|" "src/usr/src/linux-headers-$abi/Makefile"

build_siw() {
	make -s -C "src/usr/src/linux-headers-$abi" M="$siw" CONFIG_RDMA_SIW=m modules
}

say "building siw"
build_siw
modules=root/lib/modules/$abi
mkdir -p "$modules/extra"
cp "$siw/siw.ko" "$modules/extra/siw.ko"
# A second one whose constants are parameters: with the same values, but a test
# can choose others.  It is not in the module tree: `guest_link siw PARAM=VALUE`.
sed -i 's/extern const bool/extern bool/' "$siw/siw.h"
sed -i 's/^const bool \([a-z_]*\)\(.*\);$/bool \1\2;\nmodule_param(\1, bool, 0444);/' "$siw/siw_main.c"
[ "$(grep -c '^module_param' "$siw/siw_main.c")" = 7 ] || {
	echo "siw's source has other constants than the seven that are known"
	exit 1
}
build_siw
cp "$siw/siw.ko" "$modules/extra/siw-tunable.ko.other"

say "extracting the kernel"
at=$(grep -abom 1 "$(printf '\3757zXZ')" "root/boot/vmlinuz-$abi" | head -n 1 | cut -d: -f1)
tail -c "+$((at + 1))" "root/boot/vmlinuz-$abi" | xz -dc >vmlinux.new 2>/dev/null || :
readelf -h vmlinux.new >/dev/null || {
	echo "the kernel image has no xz payload"
	exit 1
}

# ---- Pack ------------------------------------------------------------------------------

# From here on root/ is what there is, init/ what the guest gets.
say "packing"
mkdir -p init/bin init/sbin init/usr/bin init/usr/sbin init/proc init/sys init/dev init/etc \
	init/host init/mnt init/exp init/var/lib/nfs/rpc_pipefs init/var/lib/nfs/v4recovery
ln -s /run init/var/run

wanted="crc32_generic crc32c_generic crc32c_intel virtio_pci virtio_net 9pnet_virtio 9p af_packet
sch_netem rdma_rxe siw ib_uverbs ib_umad rdma_ucm rpcrdma nfsd nfs nfsv3 nfsv4
rpcsec_gss_krb5 cts cbc aes_generic sha1_generic sha256_generic hmac cmac"
depmod -b "$dir/root" "$abi"
for m in $wanted; do
	PATH=$PATH:/usr/sbin:/sbin modprobe -d "$dir/root" -S "$abi" --show-depends "$m" >>modules.new.all || {
		echo "this kernel has no module $m"
		exit 1
	}
done
awk '/^insmod/ { print $2 }' modules.new.all | sort -u | while read -r file; do
	to=init/${file#"$dir/root/"}
	mkdir -p "${to%/*}"
	cp "$file" "$to"
done
rm modules.new.all
cp "$modules"/modules.builtin "$modules"/modules.builtin.modinfo "$modules"/modules.order \
	"init/lib/modules/$abi/"
cp "$modules/extra/siw-tunable.ko.other" init/lib/siw-tunable.ko
depmod -b "$dir/init" "$abi"

programs="busybox dash ip tc rdma kmod rping ibv_devinfo ibv_rc_pingpong tcpdump
rpc.mountd rpc.nfsd rpc.gssd exportfs rpcbind mount.nfs showmount"
for p in $programs; do
	set -- root/bin/$p root/sbin/$p root/usr/bin/$p root/usr/sbin/$p
	for from; do
		[ ! -f "$from" ] || break
	done
	[ -f "$from" ] || {
		echo "no package has $p"
		exit 1
	}
	to=init/${from#root/}
	cp -L "$from" "$to"
done
ln -s dash init/bin/sh
ln -s mount.nfs init/sbin/umount.nfs
for a in modprobe insmod rmmod lsmod; do
	ln -s /bin/kmod init/sbin/$a
done
init/bin/busybox --list | while read -r a; do
	for at in bin sbin usr/bin usr/sbin; do
		[ ! -e "init/$at/$a" ] && [ ! -L "init/$at/$a" ] || continue 2
	done
	ln -s busybox "init/bin/$a"
done
gcc -O2 -Wall -static -o init/sbin/agent "$here/guest/agent.c"
gcc -O2 -Wall -o ask "$here/guest/ask.c"
cp "$here/guest/reset" init/sbin/reset-guest
cp "$here/guest/init" init/init

# The libraries that all of these want, and theirs.
mkdir -p init/etc/libibverbs.d init/usr/lib/x86_64-linux-gnu/libibverbs init/lib64
for name in rxe siw; do
	cp root/etc/libibverbs.d/$name.driver init/etc/libibverbs.d/
	cp root/usr/lib/x86_64-linux-gnu/libibverbs/lib$name-rdmav*.so \
		init/usr/lib/x86_64-linux-gnu/libibverbs/
done
cp -L root/lib64/ld-linux-x86-64.so.2 init/lib64/
needed() {
	find init -type f \( -perm -100 -o -name '*.so*' \) -exec readelf -d {} + 2>/dev/null |
		sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u
}
# What programs of the host open by name.
extra="libibverbs.so.1 librdmacm.so.1 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1 libstdc++.so.6"
added=1
while [ $added -gt 0 ]; do
	added=0
	for lib in $extra $(needed); do
		[ ! -e "init/lib64/$lib" ] && [ ! -e "init/usr/lib/x86_64-linux-gnu/$lib" ] || continue
		set -- root/lib/x86_64-linux-gnu/$lib root/usr/lib/x86_64-linux-gnu/$lib
		[ -e "$1" ] || shift
		[ -e "$1" ] || {
			echo "no package of packages.txt [guest] has $lib"
			exit 1
		}
		cp -L "$1" init/usr/lib/x86_64-linux-gnu/
		added=1
	done
done

cp root/etc/netconfig init/etc/
printf '%s\n' 'root:x:0:0::/:/bin/sh' '_rpc:x:101:65534::/:/bin/sh' \
	'nobody:x:65534:65534::/:/bin/sh' >init/etc/passwd
printf '%s\n' 'root:x:0:' 'nogroup:x:65534:' >init/etc/group
printf '%s\n' 'tcp 6 TCP' 'udp 17 UDP' 'icmp 1 ICMP' >init/etc/protocols
printf '%s\n' 'sunrpc 111/tcp portmapper' 'sunrpc 111/udp portmapper' 'nfs 2049/tcp' >init/etc/services
printf '%s\n' '127.0.0.1 localhost' '10.0.2.15 guest' '10.0.2.2 host' >init/etc/hosts
echo 'hosts: files' >init/etc/nsswitch.conf
: >init/etc/exports
: >init/etc/fstab

(cd init && find . | LC_ALL=C sort | cpio -o -H newc --quiet -R 0:0) | gzip -1 >initrd.new
mv initrd.new initrd.gz
mv vmlinux.new vmlinux
rm -rf root src init parts.new tools.new
{
	key
	echo "$abi $version $series"
} >stamp
say "done: $(du -sh initrd.gz | cut -f1) of $(echo $programs | wc -w) programs for Linux $abi"
