#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Makes the guest that the kernel tests boot, from packages of the distribution:
#
#   tests/kernel/guest-build.sh DIR [KERNEL]
#
# leaves DIR/vmlinux (a kernel, never installed here), DIR/initrd.gz (everything
# that runs on it) and DIR/ask (runs a command in it).  siw is not in Debian's
# kernel: it is built from the kernel's own source.  The packages are those of
# packages.txt [guest] and the newest kernel whose parts the archive has all of.
# What is there already is not made again; DIR/debs keeps what was downloaded.
#
# KERNEL is 6.1, the default: the distribution's own; 6.12: of bookworm-backports;
# 7: of trixie-backports.  The latter two come from the mirror that apt is configured
# with, by lists of their own in DIR/apt.  The programs in the guest are the
# distribution's own with each of them.
#
# Exit 77, with the reason on the last line: this machine cannot make one.
set -eu
export LC_ALL=C
here=$(cd "$(dirname "$0")" && pwd)
list=$here/../../packages.txt
mkdir -p "${1:?a directory is missing}"
cd "$1"
dir=$PWD
want=${2:-6.1}

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

# own_tools: what builds modules wants a younger libc than the distribution has, and so
# comes with all it needs.
case $want in
6.1) suites="" own_tools="" ;;
6.12) suites="bookworm-backports" own_tools="" ;;
7) suites="trixie-backports trixie" own_tools="make gcc-14 coreutils findutils sed grep mawk dash" ;;
*) cannot "there is no guest of Linux $want: 6.1, 6.12, 7" ;;
esac
[ "${want%%.*}" = 6 ] || command -v zstd >/dev/null || cannot "zstd is not installed"

# apt as the kernel's packages want it.
kernel_apt() { (
	[ -z "$suites" ] || export APT_CONFIG="$dir/apt/apt.conf"
	"$@"
); }

# Lists of those suites, from where the distribution's own come from; nothing of the
# system's is changed.  They are fetched once a day.
kernel_lists() {
	[ -n "$suites" ] || return 0
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
		awk -v r="$codename" '$2 == r && $3 == "main" { print $1; exit }')
	[ -n "$mirror" ] || cannot "apt names no mirror of $codename"
	mkdir -p apt/lists/partial apt/cache/archives/partial
	: >apt/status
	for suite in $suites; do
		echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $suite main"
	done >apt/sources.list
	cat >apt/apt.conf <<-END
		Dir::Etc::sourcelist "$dir/apt/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State::lists "$dir/apt/lists";
		Dir::State::status "$dir/apt/status";
		Dir::Cache "$dir/apt/cache";
		APT::Sandbox::User "root";
	END
	[ -z "$(find apt/fetched -mmin -1440 2>/dev/null)" ] || return 0
	kernel_apt apt-get -qq update >&2 && touch apt/fetched ||
		echo "the lists of $suites cannot be fetched" >&2
}

packages() {
	awk '{ sub(/#.*/, "") } NF && /^\[/ { on = $1 == "[guest]"; next } NF && on { print $1 }' "$list"
}

has() { # package version
	kernel_apt apt-cache madison "$1" 2>/dev/null | awk -v v="$2" '$3 == v { found = 1 } END { exit !found }'
}

# Prints the ABI, version and series of the newest kernel that is there as a whole.
newest_kernel() {
	kernel_apt apt-cache show linux-image-amd64 2>/dev/null |
		sed -n 's/^Depends:.* linux-image-\([^ ]*\) (= \([^)]*\)).*/\1 \2/p' |
		while read -r abi version; do
			series=$(echo "$version" | cut -d. -f1,2)
			case $want:$series. in 6.1:* | "$want:$want".*) ;; *) continue ;; esac
			if has "linux-headers-$abi" "$version" &&
				has "linux-headers-${abi%-*}-common" "$version" &&
				{ has "linux-kbuild-$series" "$version" || has "linux-kbuild-${abi%-*}" "$version"; } &&
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
kernel_lists
kernel=$(newest_kernel)
if [ -z "$kernel" ]; then
	up_to_date && exit 0
	[ "$(id -u)" != 0 ] || apt-get update || :
	kernel=$(newest_kernel)
	[ -n "$kernel" ] ||
		cannot "apt knows no whole Linux kernel $want${suites:+ in $suites} (apt-get update; Debian 12 has one)"
fi
# shellcheck disable=SC2086
up_to_date $kernel && touch stamp && exit 0
# shellcheck disable=SC2086
set -- $kernel
abi=$1 version=$2 series=$3
rm -f stamp

# ---- Download ----------------------------------------------------------------------

# Newer kernels come in several packages, and their tools have the ABI's name.
image="" kbuild=linux-kbuild-$series
for p in image binary modules base; do
	! has "linux-$p-$abi" "$version" || image="$image linux-$p-$abi=$version"
done
has "$kbuild" "$version" || kbuild=linux-kbuild-${abi%-*}
compiler=$(kernel_apt apt-cache depends "linux-headers-$abi" | sed -n 's/.*Depends: \(linux-compiler-.*\)/\1/p')
# What only builds siw.
tools="linux-headers-$abi=$version linux-headers-${abi%-*}-common=$version
$kbuild=$version linux-source-$series=$version $compiler"

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

# With all that they need, down to libc: nothing counts as installed.
fetch_own_tools() { # packages; prints files
	mkdir -p apt/cache/archives
	rm -f apt/cache/archives/*.deb
	kernel_apt apt-get -qq -y --no-install-recommends --download-only install "$@" >&2 || return 1
	ls apt/cache/archives/*.deb
}

all() {
	# shellcheck disable=SC2046,SC2086
	fetch $(packages) >parts.new && kernel_apt fetch $image >>parts.new &&
		kernel_apt fetch $tools >tools.new &&
		{ [ -z "$own_tools" ] || fetch_own_tools "$kbuild=$version" $own_tools >>tools.new; }
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
modules=root/lib/modules/$abi
if [ ! -d "$modules" ]; then # in /usr, beside packages that have theirs in /lib
	mkdir -p root/lib/modules
	mv "root/usr/lib/modules/$abi" "$modules"
fi
if [ -n "$own_tools" ]; then
	for at in bin sbin lib lib64; do
		mkdir -p src/usr/$at
		ln -s usr/$at src/$at
	done
fi
while read -r deb; do
	dpkg-deb --fsys-tarfile "$deb" | tar -C src --keep-directory-symlink -xf -
done <tools.new
tar -C src -xf "src/usr/src/linux-source-$series.tar.xz" \
	"linux-source-$series/drivers/infiniband/sw/siw"
siw=src/linux-source-$series/drivers/infiniband/sw/siw
headers=usr/src/linux-headers-$abi

# In a name space of its own, with src for its root.
with_own_tools() { # COMMAND...
	mkdir -p src/proc src/dev src/tmp
	[ -e src/bin/sh ] || ln -s dash src/bin/sh
	[ -e src/bin/awk ] || ln -s mawk src/bin/awk
	user="--user --map-root-user"
	[ "$(id -u)" != 0 ] || user=""
	# shellcheck disable=SC2086,SC2016
	PATH=/usr/bin:/bin:/usr/sbin:/sbin unshare $user --mount --pid --fork sh -c '
		mount --rbind /dev src/dev && mount -t proc proc src/proc && exec chroot src "$@"' - "$@"
}

build_siw() {
	if [ -n "$own_tools" ]; then
		with_own_tools make -s -C "/$headers" M="${siw#src}" CONFIG_RDMA_SIW=m CONFIG_DEBUG_INFO_BTF_MODULES= modules
	else
		make -s -C "src/$headers" M="$dir/$siw" CONFIG_RDMA_SIW=m CONFIG_DEBUG_INFO_BTF_MODULES= modules
	fi
}

# The makefile of the headers includes that of the common ones by absolute path.
[ -n "$own_tools" ] || sed -i "s|/usr/src/linux|$dir/src/usr/src/linux|" "src/$headers/Makefile"
say "building siw"
build_siw
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
vmlinuz=root/boot/vmlinuz-$abi
[ -f "$vmlinuz" ] || vmlinuz=$modules/vmlinuz
extract() { # MAGIC COMMAND...: the image's payload, wherever the magic number is one
	magic=$(printf "$1")
	shift
	LC_ALL=C grep -abo -F "$magic" "$vmlinuz" | cut -d: -f1 | while read -r at; do
		tail -c "+$((at + 1))" "$vmlinuz" | "$@" >vmlinux.new 2>/dev/null || :
		! readelf -h vmlinux.new >/dev/null 2>&1 || break
	done
	readelf -h vmlinux.new >/dev/null 2>&1
}
extract '\3757zXZ' xz -dc || extract '\050\265\057\375' zstd -dc || {
	echo "the kernel image has no payload of xz or zstd"
	exit 1
}

# ---- Pack ------------------------------------------------------------------------------

# From here on root/ is what there is, init/ what the guest gets.
say "packing"
mkdir -p init/bin init/sbin init/usr/bin init/usr/sbin init/proc init/sys init/dev init/etc \
	init/host init/mnt init/exp init/var/lib/nfs/rpc_pipefs init/var/lib/nfs/v4recovery \
	init/var/lib/nfs/sm init/var/lib/nfs/sm.bak
ln -s /run init/var/run

wanted="virtio_pci virtio_net 9pnet_virtio 9p af_packet
sch_netem veth loop ext4 rdma_rxe siw ib_uverbs ib_umad rdma_ucm rpcrdma nfsd nfs nfsv3 nfsv4
rpcsec_gss_krb5 cts cmac"
# Some kernels have them within.
wanted_if_any="crc32_generic crc32c_generic crc32c_intel crc32_cryptoapi crc32c_cryptoapi libcrc32c
cbc aes_generic sha1_generic sha256_generic hmac authenc krb5enc"
depmod -b "$dir/root" "$abi"
depends() { PATH=$PATH:/usr/sbin:/sbin modprobe -d "$dir/root" -S "$abi" --show-depends "$1"; }
for m in $wanted; do
	depends "$m" >>modules.new.all || {
		echo "this kernel has no module $m"
		exit 1
	}
done
for m in $wanted_if_any; do
	depends "$m" >>modules.new.all 2>/dev/null || :
done
# Slow to unpack where they run.
awk '/^insmod/ { print $2 }' modules.new.all | sort -u | while read -r file; do
	to=init/${file#"$dir/root/"}
	mkdir -p "${to%/*}"
	case $file in
	*.xz) xz -dc "$file" >"${to%.xz}" ;;
	*) cp "$file" "$to" ;;
	esac
done
rm modules.new.all
cp "$modules"/modules.builtin "$modules"/modules.builtin.modinfo "$modules"/modules.order \
	"init/lib/modules/$abi/"
cp "$modules/extra/siw-tunable.ko.other" init/lib/siw-tunable.ko
depmod -b "$dir/init" "$abi"

programs="busybox dash ip tc rdma kmod rping ibv_devinfo ibv_rc_pingpong tcpdump
rpc.mountd rpc.nfsd rpc.gssd rpc.statd exportfs rpcbind mount.nfs showmount"
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
rm -rf root src init parts.new tools.new apt/cache
{
	key
	echo "$abi $version $series"
} >stamp
say "done: $(du -sh initrd.gz | cut -f1) of $(echo $programs | wc -w) programs for Linux $abi"
