#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# NFS under RPCSEC_GSS with a real KDC: the copies of the demonstration under krb5,
# krb5i and krb5p, what the trace says of them, and what is refused.
. "$(dirname "$0")/../gss/kdc.sh"
. "$(dirname "$0")/tools.lib"

kdc_find "${UNPACKED-}" || skip "there is no KDC"
# The server's threads read Kerberos' files with whose identity they have.
chmod 755 "$T"
[ "$(id -u)" -ne 0 ] || can_switch=1
trap 'code=$?; kdc_stop; (exit $code); finish' EXIT
kdc_start "$T/kdc" || exit 1
chmod 755 "$T/kdc"
unset KRB5_CLIENT_KTNAME
chmod 777 "$EXP"
export KRB5CCNAME=FILE:$T/alice.cc
kdc_ticket alice "$KRB5CCNAME" || fail "no ticket"

# Names are what principals are made of.
start() {
	start_server "$@"
	HOST=localhost:$PORT
	URL=nfs://$HOST/e
}

tree() {
	mkdir -p "$1/sub/deep" "$1/empty"
	for i in $(seq 40); do random "$1/sub/$i" $((i * 997)); done
	random "$1/sub/deep/large" 1500001
	: >"$1/nothing"
	chmod 640 "$1/sub/7"
	ln -s sub/deep "$1/link"
}

describe() { # DIR: names, types, modes, contents
	(cd "$1" && find . -printf '%P %y %m %l\n' | sort &&
		find . -type f -print0 | sort -z | xargs -0 sha256sum)
}

# of FILE POINT MEMBER: the sum of that number
of() {
	sed -n "s/.*\"point\":\"$2\".*\"$3\":\\([0-9]*\\).*/\\1/p" "$1" |
		awk '{ n += $1 } END { printf "%d\n", n }'
}

random file 9000001
tree src
describe src >src.sum

# ---- the copies ---------------------------------------------------------------------
start 0 --sec krb5p,krb5i,krb5
for sec in krb5 krb5i krb5p; do
	name=$sec
	run 0 cp -q --sec $sec --trace in.trace --stats in.json file "$URL/$name.file"
	run 0 cp -q --sec $sec -rp src "$URL/$name.tree"
	run 0 cp -q --sec $sec --trace out.trace "$URL/$name.file" back.file
	run 0 cp -q --sec $sec --in-flight 32 --size 65536 "$URL/$name.file" many.file
	run 0 cp -q --sec $sec -rp "$URL/$name.tree" back.tree
	for copy in "$EXP/$name.file" back.file many.file; do same file "$copy"; done
	for copy in "$EXP/$name.tree" back.tree; do
		describe "$copy" >copy.sum
		same src.sum copy.sum
	done
	args=$(of in.trace CALL_SENT read_octets)
	results=$(of out.trace REPLY_RECEIVED write_octets)
	placed=$(sed -n 's/.*"bytes_read_chunk": *\([0-9]*\).*/\1/p' in.json)
	if [ $sec = krb5 ]; then
		[ "$args" -ge 9000000 ] && [ "$results" -ge 9000000 ] ||
			fail "$sec: items of $args and $results octets were reduced"
	else
		[ "$args" = 0 ] && [ "$results" = 0 ] && [ "$placed" = 0 ] ||
			fail "$sec: items of $args and $results octets were reduced ($placed)"
	fi
	grep -q '"point":"GSS_READY"' in.trace || fail "$sec: no context in the trace"
	rm -rf back.file many.file back.tree
done

# Version 1 has no continuation: a message moves as a whole, or inline.
for sec in krb5i krb5p; do
	run 0 cp -q --rpcrdma-version 1 --sec $sec --trace in.trace -rp src "$URL/$sec.old"
	run 0 cp -q --rpcrdma-version 1 --sec $sec --trace out.trace -rp "$URL/$sec.old" back.old
	describe back.old >copy.sum
	same src.sum copy.sum
	[ "$(of in.trace CALL_SENT read_octets)" = 0 ] &&
		[ "$(of out.trace REPLY_RECEIVED write_octets)" = 0 ] ||
		fail "$sec, version 1: items were reduced"
	rm -rf back.old
done

run 0 ls --sec krb5i "$URL"
says out krb5i.tree
run 0 cat "nfs://$HOST/e/krb5.tree/sub/7?sec=krb5p"
same out src/sub/7
run 0 stat -v "$URL/krb5.file"
says err "security krb5p" # the server's first
run 0 ping -c 1 --sec krb5p --json "$HOST"
says out '"sec":"krb5p"'

# ---- who owns what ------------------------------------------------------------------
if [ -n "${can_switch-}" ]; then
	[ "$(stat -c %U "$EXP/krb5i.file")" = daemon ] || fail "alice is not daemon"
	kdc_ticket bob "FILE:$T/bob.cc" || fail "no ticket for bob"
	KRB5CCNAME=FILE:$T/bob.cc run 0 cp -q file "$URL/bob.file"
	[ "$(stat -c %u "$EXP/bob.file")" = 65534 ] || fail "bob is not nobody"
	mkdir -m 700 "$EXP/private"
	chown daemon "$EXP/private"
	run 0 cp -q file "$URL/private/file"
	KRB5CCNAME=FILE:$T/bob.cc run 1 cp -q "$URL/private/file" stolen
fi

# ---- what is refused ----------------------------------------------------------------
run 1 ls --sec sys "$URL"
says err "the server allows krb5p, krb5i, krb5"
run 0 ping -c 1 "$HOST" # NULL is for all
KRB5CCNAME=FILE:$T/none.cc run 1 ls "$URL"
says err "No Kerberos credentials available"
run 1 ls "nfs://127.0.0.1:$PORT/e"
says err "nfs@127.0.0.1"
stop_server

# The server's first, if it can be had; --sec insists.
start 0 --sec krb5i,sys
run 0 stat -v "$URL"
says err "security krb5i"
KRB5CCNAME=FILE:$T/none.cc run 0 stat -v "$URL"
says err "without Kerberos"
says err "No Kerberos credentials available"
says err "security sys"
KRB5CCNAME=FILE:$T/none.cc run 0 ls "$URL"
[ ! -s err ] || fail "it complains: $(cat err)"
KRB5CCNAME=FILE:$T/none.cc run 1 ls --sec krb5i "$URL"
says err "No Kerberos credentials available"
KRB5CCNAME=FILE:$T/none.cc run 1 ls "$URL?sec=krb5i"
says err "No Kerberos credentials available"
run 0 stat -v --sec sys "$URL"
says err "security sys"
stop_server

start 0 --sec sys,krb5
run 1 ls --sec krb5p "$URL"
says err "the server allows sys, krb5"
run 0 stat -v "$URL"
says err "security sys"
stop_server

start 0
run 1 ls --sec krb5 "$URL"
says err "the server allows sys, none"
stop_server

"$RPCRDMA" nfsd --export "$EXP:/e" --listen 127.0.0.1:0 --state-dir "$T/state" \
	--sec krb5 --keytab "$T/kdc/bob.keytab" --principal nfs@localhost >out 2>err &&
	fail "a keytab without the key will do"
says err "no key for RPCSEC_GSS in $T/kdc/bob.keytab"
says err "nfs/localhost"
run 2 nfsd --export "$EXP:/e" --sec krb4
says err "'krb4' is not one of"

# Its key is not the one that the KDC has: another nfs/localhost.
cp "$T/kdc/nfs.keytab" old.keytab
kdc_admin ktadd -k "$T/kdc/new.keytab" "nfs/$KDC_HOST" || fail "no new key"
export KRB5CCNAME=FILE:$T/fresh.cc
kdc_ticket alice "$KRB5CCNAME"
start 0 --sec krb5 --keytab "$T/old.keytab"
run 1 ls "$URL"
says err "the server refuses"
stop_server

# ---- a server that goes and comes back -----------------------------------------------
random big 20000003
underway() {
	for f in "$1"/.*.rpcrdma-*; do
		[ -f "$f" ] && [ "$(stat -c %s "$f")" -ge "$2" ] && return 0
	done
	return 1
}
for sec in krb5 krb5i krb5p; do
	start 0 --sec $sec --keytab "$T/kdc/new.keytab"
	"$RPCRDMA" cp -q --in-flight 2 --size 4096 --trace "$T/restart.trace" big "$URL/big" 2>err &
	pid=$!
	until_true 30 underway "$EXP" 2000000 || fail "$sec: the copy does not get going"
	kill_server
	start "$PORT" --sec $sec --keytab "$T/kdc/new.keytab"
	wait $pid || { fail "$sec: cp: $?"; cat err; }
	same big "$EXP/big"
	[ "$(grep -c '"point":"GSS_READY"' restart.trace)" = 2 ] ||
		fail "$sec: not two contexts"
	rm -f "$EXP/big"
	stop_server
done

# More contexts than there is room for: one for each address of the four.
: >server.err
start 0 --sec krb5 --keytab "$T/kdc/new.keytab" --gss-contexts 4
"$RPCRDMA" cp -q --in-flight 1 --size 4096 big "$URL/big" 2>err &
pid=$!
until_true 30 underway "$EXP" 2000000 || fail "the copy does not get going"
run 1 ls "$URL"
says server.err "127.0.0.1: a new RPCSEC_GSS context is refused, there are too many (--gss-contexts)"
wait $pid || fail "cp: $?"
rm -f "$EXP/big"
stop_server

# A server that changes its mind: what was asked for by sys is too weak now.
start 0 --sec sys
"$RPCRDMA" cp -q --in-flight 1 --size 4096 big "$URL/big" 2>err &
pid=$!
until_true 30 underway "$EXP" 2000000 || fail "the copy does not get going"
kill_server
start "$PORT" --sec krb5 --keytab "$T/kdc/new.keytab"
wait $pid && fail "AUTH_SYS will do for --sec krb5"
says err "the server requires another security flavor"
[ ! -e "$EXP/big" ] || fail "it was copied all the same"
stop_server
rm -f "$EXP"/.big.*
no_leftovers "$EXP" .
kdc_stop
done_testing
