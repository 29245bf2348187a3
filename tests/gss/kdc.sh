# SPDX-License-Identifier: BSD-3-Clause
# A Kerberos KDC (MIT) of a test's own, on loopback, in the test's directory.  Sourced
# by bash scripts; nothing of the host's Kerberos is read, written or disturbed, and no
# port is fixed.
#
#   kdc_find UNPACKED       the programs: of the host, or unpacked from their packages
#                           (installed, they would serve this host); 1: there are none
#   kdc_start DIR           makes realm, database, principals and keytabs in DIR, starts
#                           the KDC, exports what programs need to use it; 1: says why not
#   kdc_principal NAME KEYTAB  one more principal, with a key
#   kdc_ticket NAME CACHE   a ticket by DIR/NAME.keytab in CACHE
#   kdc_stop                ends it; for the script's trap
#
# After kdc_start: KDC_REALM, KDC_HOST (the name of services here: nfs@$KDC_HOST,
# host@$KDC_HOST; set before, else localhost), KRB5_CONFIG, KRB5_KDC_PROFILE, KRB5_KTNAME (the services' keys),
# KRB5_CLIENT_KTNAME (alice's), KRB5CCNAME (an empty cache), KRB5RCACHEDIR, and in DIR
# nfs.keytab, host.keytab and bob.keytab with one key each.  Of the principals alice is
# the local user KDC_USER (set before, else daemon), and bob nobody.

kdc_pid="" kdc_libs="" kdc_plugins=""

kdc_find() {
	local u=${1-}
	PATH=$PATH:/usr/sbin:/sbin
	if ! command -v krb5kdc >/dev/null && [ -x "$u/usr/sbin/krb5kdc" ]; then
		PATH=$PATH:$u/usr/sbin:$u/usr/bin
		kdc_libs=$(echo "$u"/usr/lib/*-linux-gnu*)
		kdc_plugins=$kdc_libs/krb5/plugins
	fi
	local tool
	for tool in krb5kdc kdb5_util kadmin.local kinit klist; do
		command -v "$tool" >/dev/null || {
			echo "$tool is not installed"
			return 1
		}
	done
}

# The KDC's own programs, with the libraries that came with them.
kdc_run() {
	LD_LIBRARY_PATH=$kdc_libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} timeout -k 5 60 "$@"
}

kdc_port() { # PORT: one that nobody has, we hope; bound for real below
	echo $((20000 + (RANDOM * 32768 + RANDOM) % 12000))
}

kdc_config() { # DIR PORT
	cat >"$1/krb5.conf" <<-END
		[libdefaults]
		  default_realm = $KDC_REALM
		  dns_lookup_realm = false
		  dns_lookup_kdc = false
		  dns_canonicalize_hostname = false
		  rdns = false
		  udp_preference_limit = 1
		  ticket_lifetime = 1h
		  qualify_shortname = ""
		[realms]
		  $KDC_REALM = {
		    kdc = 127.0.0.1:$2
		    auth_to_local = RULE:[1:\$1@\$0](^alice@.*)s/.*/${KDC_USER:-daemon}/
		    auth_to_local = DEFAULT
		  }
		[logging]
		  default = FILE:$1/kdc.log
		[domain_realm]
		  localhost = $KDC_REALM
		  $KDC_HOST = $KDC_REALM
	END
	cat >"$1/kdc.conf" <<-END
		[kdcdefaults]
		  kdc_listen = 127.0.0.1:$2
		  kdc_tcp_listen = 127.0.0.1:$2
		[realms]
		  $KDC_REALM = {
		    database_module = db
		    key_stash_file = $1/stash
		    max_life = 2h
		    supported_enctypes = aes256-cts-hmac-sha1-96:normal aes128-cts-hmac-sha256-128:normal
		  }
		[dbmodules]
		  ${kdc_plugins:+db_module_dir = $kdc_plugins/kdb}
		  db = {
		    db_library = db2
		    database_name = $1/principal
		  }
	END
}

kdc_admin() { # COMMAND...
	kdc_run kadmin.local -r "$KDC_REALM" "$@" >>"$kdc_dir/admin.log" 2>&1
}

kdc_principal() { # NAME KEYTAB
	kdc_admin addprinc -randkey "$1" && kdc_admin ktadd -norandkey -k "$2" "$1"
}

kdc_ticket() { # NAME CACHE
	local keytab=$kdc_dir/${1%%/*}.keytab
	timeout -k 5 30 kinit -k -t "$keytab" -c "$2" "$1@$KDC_REALM"
}

# Starts it on a free port; the port may be taken meanwhile, so a few are tried.
kdc_listen() {
	local try end
	for try in 1 2 3 4; do
		kdc_config "$kdc_dir" "$(kdc_port)"
		: >"$kdc_dir/kdc.log"
		LD_LIBRARY_PATH=$kdc_libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} \
			krb5kdc -n -r "$KDC_REALM" >"$kdc_dir/kdc.out" 2>&1 &
		kdc_pid=$!
		end=$((SECONDS + 15))
		# It serves once a ticket can be had.
		while kill -0 "$kdc_pid" 2>/dev/null && [ $SECONDS -lt $end ]; do
			if grep -qs "commencing operation" "$kdc_dir/kdc.log" &&
				kdc_ticket alice "$kdc_dir/first.cc" >"$kdc_dir/first.out" 2>&1; then
				return 0
			fi
			sleep 0.1
		done
		kdc_stop
	done
	return 1
}

kdc_start() { # DIR
	kdc_dir=$1
	mkdir -p "$kdc_dir/rcache" || return 1
	KDC_REALM=RPCRDMA.TEST
	KDC_HOST=${KDC_HOST:-localhost}
	export KDC_REALM KDC_HOST
	export KRB5_CONFIG=$kdc_dir/krb5.conf KRB5_KDC_PROFILE=$kdc_dir/kdc.conf
	export KRB5_KTNAME=FILE:$kdc_dir/services.keytab
	export KRB5_CLIENT_KTNAME=FILE:$kdc_dir/alice.keytab
	export KRB5CCNAME=FILE:$kdc_dir/empty.cc KRB5RCACHEDIR=$kdc_dir/rcache
	export KRB5RCACHENAME=dfl:
	kdc_config "$kdc_dir" 88
	local name ok=1
	kdc_run kdb5_util create -s -r "$KDC_REALM" -P rpcrdma >"$kdc_dir/admin.log" 2>&1 &&
		for name in nfs host; do
			kdc_principal "$name/$KDC_HOST" "$kdc_dir/$name.keytab" &&
				kdc_admin ktadd -norandkey -k "$kdc_dir/services.keytab" \
					"$name/$KDC_HOST" || ok=0
		done &&
		for name in alice bob; do
			kdc_principal "$name" "$kdc_dir/$name.keytab" || ok=0
		done && [ $ok = 1 ] || {
		echo "the realm cannot be made:"
		tail -n 5 "$kdc_dir/admin.log"
		return 1
	}
	kdc_listen || {
		echo "the KDC does not start:"
		tail -n 5 "$kdc_dir/kdc.out" "$kdc_dir/kdc.log" "$kdc_dir/first.out"
		return 1
	}
}

kdc_stop() {
	[ -z "$kdc_pid" ] || {
		kill -KILL "$kdc_pid"
		wait "$kdc_pid"
	} 2>/dev/null
	kdc_pid=""
}
