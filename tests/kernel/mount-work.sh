#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is done on a mount, in the guest:  mount-work.sh MOUNT SEED STEP...
# BIG and MANY in the environment: MiB of the big file, entries of the directory.
#
# Every step compares what it did, from the client's view.  What the server's side is to
# compare stays on the mount: for a file, a line "NAME DIGEST" is printed, and for a
# directory the digest of what `mount-work.sh tree DIRECTORY` prints.
set -u
mnt=$1 seed=$2
shift 2
big=${BIG:-64} many=${MANY:-5000}
copy=/run/mount-work # in memory, what ought to be on the mount

die() {
	echo "FAIL in '$step': $*"
	exit 1
}
forget() { sync && echo 3 >/proc/sys/vm/drop_caches; }
same() { [ "$1" = "$2" ] || die "'$1' instead of '$2'"; }
digest() { sha256sum "$1" | cut -d' ' -f1; }
# Kind, mode, size, owner, links, time and contents of all below a directory; what is
# at odds between file systems is left out: sizes of directories, times of links.
tree() (
	export LC_ALL=C
	cd "$1" || exit 1
	find . ! -type d ! -type l -print0 | sort -z | xargs -0 stat -c '%n %f %s %u %g %h %Y'
	find . -type d -print0 | sort -z | xargs -0 stat -c '%n %f %u %g %Y'
	find . -type l | sort | while read -r f; do echo "$f $(readlink "$f")"; done
	find . -type f -print0 | sort -z | xargs -0 sha256sum
)
if [ "$mnt" = tree ]; then
	tree "$seed"
	exit
fi

# A big file, written and read back.
step_big() {
	dd if=/dev/urandom of="$copy/big" bs=1M count="$big" 2>/dev/null
	dd if="$copy/big" of=big bs=1M conv=fsync 2>/dev/null || die "write"
	forget
	cmp big "$copy/big" || die "what was read back differs"
	echo "big $(digest "$copy/big")"
	rm "$copy/big"
}

# A tree of all kinds of files, copied with everything it has, and removed.
step_tree() {
	mkdir -p "$copy/tree/empty" "$copy/tree/a/b/c/d"
	cp -a /etc /lib/modules "$copy/tree/" || die "no tree to copy"
	i=0
	while [ $i -lt 200 ]; do
		dd if=/dev/urandom of="$copy/tree/a/b/f$i" bs=$((i * 97 + 1)) count=1 2>/dev/null
		i=$((i + 1))
	done
	printf 'names: %s' "$(seq 60)" >"$copy/tree/a/a file, its name with  spaces"
	ln -s ../b/f1 "$copy/tree/a/b/relative" && ln -s /nowhere "$copy/tree/dangling"
	ln "$copy/tree/a/b/f7" "$copy/tree/a/b/c/hard"
	mkfifo "$copy/tree/fifo"
	chmod 4711 "$copy/tree/a/b/f3" && chmod 1777 "$copy/tree/empty" && chmod 0 "$copy/tree/a/b/f4"
	chown 12:34 "$copy/tree/a/b/f5"
	touch -d '2001-02-03 04:05:06' "$copy/tree/a/b/f6" "$copy/tree/a/b/c"
	cp -a "$copy/tree" . || die "cp -a"
	forget
	tree "$copy/tree" >"$copy/tree.want" && tree tree >"$copy/tree.got"
	cmp "$copy/tree.want" "$copy/tree.got" || die "the copy differs: $(diff "$copy/tree.want" "$copy/tree.got" | head)"
	echo "tree $(digest "$copy/tree.want")"
	cp -a tree again || die "cp -a on the mount"
	rm -rf again || die "rm -rf"
	[ ! -e again ] || die "it is still there"
}

# A directory of many entries: made, listed, listed with attributes, thinned out.
step_many() {
	mkdir many && cd many || die "mkdir"
	i=0
	while [ $i -lt "$many" ]; do
		: >"entry number $i" || die "entry $i"
		i=$((i + 1))
	done
	same "$(find . -type f | wc -l)" "$many"
	forget
	same "$(ls | wc -l)" "$many"
	forget
	same "$(ls -l | grep -c ' entry number [0-9]*$')" "$many"
	same "$(ls | sort | sha256sum)" "$(seq 0 $((many - 1)) | sed 's/^/entry number /' | sort | sha256sum)"
	rm "entry number "?[1-3]? || die "rm"
	same "$(ls | wc -l)" $((many - 270))
	cd ..
}

# Links, renames, and files that go on being open when their name is gone.
step_names() {
	mkdir names && cd names || die "mkdir"
	echo first >one && ln one two && ln -s one sym || die "links"
	same "$(stat -c %h one)" 2
	same "$(cat sym)" first
	same "$(readlink sym)" one
	echo more >>two
	same "$(cat one)" "$(printf 'first\nmore')"
	ln one two 2>/dev/null && die "a second link of the same name"
	mkdir dir && rmdir dir && [ ! -e dir ] || die "rmdir"
	mkdir dir && echo x >dir/x && rmdir dir 2>/dev/null && die "a full directory was removed"
	echo old >target && echo new >source
	exec 3<target 4<source
	mv source target || die "rename"
	same "$(cat target)" new
	same "$(cat <&3)" old
	same "$(cat <&4)" new
	exec 3<&- 4<&-
	echo kept >gone && exec 5<gone && rm gone && [ ! -e gone ] || die "remove"
	same "$(cat <&5)" kept
	exec 5<&-
	same "$(find . -name '.nfs*' | wc -l)" 0
	mv dir ../moved && mv ../moved/x . && rmdir ../moved || die "moves between directories"
	long=$(printf '%0255d' 7)
	echo long >"$long" && same "$(cat "$long")" long
	(echo y >"${long}8") 2>/dev/null && die "a name of 256 octets"
	forget
	echo "names $(tree . >"$copy/names" && digest "$copy/names")"
	cd ..
}

# fsx.c, compared by its own copy and once more as a whole.
step_random() {
	for s in "$seed" $((seed + 1)); do
		kernel_fsx fsx "$copy/fsx" 12 "$s" >&2 || die "seed $s"
		forget
		cmp fsx "$copy/fsx" || die "seed $s: the file differs"
	done
	echo "fsx $(digest "$copy/fsx")"
	df . >/dev/null && stat -f . >/dev/null || die "statfs"
}

for step; do
	began=$(date +%s)
	rm -rf "$copy"
	mkdir "$copy" || die "no place for a copy"
	cd "$mnt" || die "no mount"
	"step_$step"
	echo "$step: $(($(date +%s) - began)) s" >&2
done
sync
rm -rf "$copy"
