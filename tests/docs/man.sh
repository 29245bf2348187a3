#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The manual pages agree with the command: each subcommand has a page with its
# summary, and the page names exactly the options of its --help, with the same arguments;
# rpcrdma(1) has those that commands share.  What examples show exists.
#
#   man.sh SOURCE RPCRDMA
set -eu
. "$(dirname "$0")/man.lib"
rpcrdma=$2

# Of the option lines of a --help text: two spaces, options, two spaces, words.
help_options() {
	sed -n 's/^  -/-/p' | sed 's/  .*//' | grep -oE -- '(^|[ ,])--?[A-Za-z0-9][a-z-]*' |
		tr -d ' ,' | sort -u
}
# What follows each Fl of a page.
page_options() {
	awk '/^\.\\"/ { next }
		/^\./ { for (i = 1; i < NF; i++) if ($i ~ /^\.?Fl$/) print "-" $(i + 1) }' "$1" |
		sort -u
}

# Of both, each long option with the name of its argument: "--size BYTES".
help_arguments() {
	sed -n 's/^  -/-/p' | grep -oE -- '--[a-z-]+(\[=| )[A-Z]+' | sed 's/\[=/ /' | sort -u
}
page_arguments() {
	grep '^\.It Fl' "$1" | grep -oE -- 'Fl -[a-z-]+ ((Ns|Op|=) )*Ar [A-Z]+' |
		sed -E 's/^Fl -([a-z-]+) .*Ar /--\1 /' |
		sort -u
}

"$rpcrdma" --help >"$tmp/help"
sed -n '/^commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1 \2/p' "$tmp/help" >"$tmp/commands"
[ -s "$tmp/commands" ] || fail "rpcrdma --help names no command"
: >"$tmp/all"
while read -r c summary; do
	page=$man/rpcrdma-$c.1
	[ -f "$page" ] || {
		fail "$c has no page"
		continue
	}
	grep -qxF ".Nd $summary" "$page" || fail "$page: its summary is not that of --help"
	grep -qx "\.It Cm $c" "$man/rpcrdma.1" || fail "rpcrdma.1 does not list $c"
	"$rpcrdma" "$c" --help >"$tmp/help.$c"
	help_options <"$tmp/help.$c" >"$tmp/in-help"
	sed -n '/^[A-Za-z ]*options:$/,$p' "$tmp/help.$c" >"$tmp/shared.$c"
	sed -n '/^common options:/,$p' "$tmp/help.$c" | help_options >"$tmp/common.$c"
	[ -s "$tmp/common.$c" ] || fail "$c --help has no common options"
	cat "$tmp/in-help" >>"$tmp/all"
	page_options "$page" >"$tmp/in-page"
	differ "$tmp/in-help" "is not in $c --help" "$tmp/in-page" "is not in $page"
	sed '/^[A-Za-z ]*options:$/,$d' "$tmp/help.$c" | help_arguments >"$tmp/in-help"
	page_arguments "$page" >"$tmp/in-page"
	differ "$tmp/in-help" "is not in $c --help" "$tmp/in-page" "is not in $page"
done <"$tmp/commands"
for page in "$man"/rpcrdma-*.1; do
	c=${page##*/rpcrdma-}
	grep -q "^${c%.1} " "$tmp/commands" || fail "$page: no such command"
done
{
	cat "$tmp"/shared.* | help_options
	grep -oE '^  rpcrdma --[a-z]+' "$tmp/help" | sed 's/.* //'
} | sort -u >"$tmp/in-help"
page_options "$man/rpcrdma.1" >"$tmp/in-page"
differ "$tmp/in-help" "is not shared by commands" "$tmp/in-page" "is not in rpcrdma.1"
cat "$tmp"/shared.* | help_arguments >"$tmp/arguments"
page_arguments "$man/rpcrdma.1" >"$tmp/in-page"
differ "$tmp/arguments" "is not shared by commands" "$tmp/in-page" "is not in rpcrdma.1"
# Examples may show any command.
cat "$tmp/in-help" >>"$tmp/all"
sort -u "$tmp/all" >"$tmp/known"
cat "$man"/*.[17] | grep -oE -- "(^|[ '(])--[a-z][a-z-]*" | tr -d " '(" | sort -u >"$tmp/shown"
comm -13 "$tmp/known" "$tmp/shown" | grep . && fail "no command has these options"

[ $failed = 0 ] &&
	echo "man: $(wc -l <"$tmp/commands") commands, $(wc -l <"$tmp/known") options"
exit $failed
