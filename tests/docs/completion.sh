#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What `rpcrdma completion bash` prints makes bash offer, at each place of a command line,
# what the command accepts there: subcommands, the options of the subcommand, the
# arguments of an option, files.
#
#   completion.sh RPCRDMA
set -eu
export LC_ALL=C
rpcrdma=$(realpath "$1")
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0
fail() {
	echo "completion: $*"
	failed=1
}
"$rpcrdma" completion bash >"$tmp/rpcrdma.bash"
"$rpcrdma" help completion | grep -q '^usage: rpcrdma completion bash$' ||
	fail "rpcrdma help completion does not describe it"
# shellcheck source=/dev/null
. "$tmp/rpcrdma.bash"
complete -p rpcrdma | grep -q -- '-F _rpcrdma rpcrdma' || fail "nothing is registered for rpcrdma"
# shellcheck disable=SC2317 # called by _rpcrdma; the builtin works in a completion only
compopt() { :; }

mkdir "$tmp/cwd" "$tmp/cwd/tree"
touch "$tmp/cwd/tickets"
cd "$tmp/cwd"

# offers EXPECTED WORD...: the candidates for the last of the words, as bash divides them.
offers() {
	local expected=$1 found
	shift
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	_rpcrdma
	found=$(printf '%s\n' "${COMPREPLY[@]}" | sort | xargs)
	[ "$found" = "$expected" ] || fail "'$*': '$found', not '$expected'"
}

offers "--help --version cat completion cp df help ls mkdir mv nfsd ping rm stat" rpcrdma ""
offers "mkdir mv" rpcrdma m
offers "mkdir mv" rpcrdma help m
offers "bash" rpcrdma completion ""
offers "--peer-name --preserve --progress --provider --psk" rpcrdma cp --p
offers "--backup" rpcrdma cp -r --b
offers "--help --hostauth --human-readable" rpcrdma df --h
offers "" rpcrdma ls --back
offers "" rpcrdma nothing --
offers "krb5 krb5i krb5p" rpcrdma ls --sec k
offers "krb5 krb5i krb5p sys" rpcrdma nfsd --sec = # --sec=
offers "krb5 krb5i krb5p" rpcrdma nfsd --sec = k
offers "off prefer require" rpcrdma ping --hostauth ""
# An argument that is optional follows "=" only, and none follows its letter.
offers "all links mode ownership timestamps" rpcrdma cp --preserve =
offers "simple" rpcrdma cp --backup = s
offers "tickets tree" rpcrdma cp --backup t
offers "tickets tree" rpcrdma cp -b t
# Files, where files are meant: operands of cp, but not the rest of a URL.
offers "tickets tree" rpcrdma nfsd --keytab t
offers "tree" rpcrdma cp -t t
offers "tree" rpcrdma nfsd --export t
offers "tickets tree" rpcrdma cp -r t
offers "" rpcrdma cp nfs : t
offers "" rpcrdma ls t
offers "" rpcrdma ping --count ""

# Every option of every --help is offered.
"$rpcrdma" --help | sed -n '/^commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' >"$tmp/commands"
[ -s "$tmp/commands" ] || fail "rpcrdma --help names no command"
while read -r command; do
	"$rpcrdma" "$command" --help | sed -n 's/^  -/-/p' | sed 's/  .*//' |
		grep -oE -- '(^|[ ,])--?[A-Za-z0-9][a-z-]*' | tr -d ' ,' | sort -u | xargs >"$tmp/help"
	offers "$(_rpcrdma_names "$command" | sort -u | xargs)" rpcrdma "$command" -
	[ "$(_rpcrdma_names "$command" | sort -u | xargs)" = "$(cat "$tmp/help")" ] ||
		fail "$command: the options are not those of --help"
done <"$tmp/commands"

! "$rpcrdma" completion fish >/dev/null 2>&1 || fail "there is no completion for fish"
! "$rpcrdma" completion >/dev/null 2>&1 || fail "completion needs a shell"
[ $failed = 0 ] && echo "completion: $(wc -l <"$tmp/commands") commands"
exit $failed
