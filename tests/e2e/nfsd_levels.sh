#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# rpcrdma nfsd: lines of standard error begin with their severity where that is the
# journal, or with --level-prefix, and not otherwise.
. "$(dirname "$0")/tools.lib"

journal_is() { # FILE
	stat -L -c %d:%i "$1"
}

# begins LEVEL TEXT: the line with that text does
begins() {
	_line=$(grep -F -- "$2" server.err) || fail "nothing was said of '$2'"
	[ "${_line#"<$1>rpcrdma nfsd: "}" != "$_line" ] || fail "not level $1: $_line"
}

say_everything() { # OPTION...: refused, known by -v, loaded, not loaded
	start_server 0 --allow 127.0.0.2 -v --exports lists "$@"
	run 1 ls "$URL" && says err "Permission denied"
	until_true 20 grep -q left server.err || fail "nobody left"
	kill -HUP "$SERVER"
	until_true 20 grep -q 'lists was loaded' server.err || fail "not loaded"
	echo bogus >lists
	kill -HUP "$SERVER"
	until_true 20 grep -q 'lists was not loaded' server.err || fail "loaded"
	stop_server
}

levels_are_right() {
	begins 4 "may not mount"
	begins 6 " connected: iwarp"
	begins 6 " left"
	begins 5 "lists was loaded"
	begins 3 "is not an absolute path"
	begins 3 "lists was not loaded"
	[ "$(id -u)" = 0 ] || begins 5 "not root"
	! grep -v '^<[3-6]>rpcrdma nfsd: ' server.err || fail "a line without a severity"
}

list() {
	echo "$EXP:/f *" >lists
	: >server.err
}

list
JOURNAL_STREAM=$(journal_is server.err) say_everything
levels_are_right

list
say_everything --level-prefix
levels_are_right

# Another stream, or words that are none: as ever.
for stream in "$(journal_is /dev/null)" "1:" nonsense; do
	list
	JOURNAL_STREAM=$stream say_everything
	! grep '^<' server.err || fail "severities, and no journal ($stream)"
done

# What is wrong before there is a server.
: >err
JOURNAL_STREAM=$(journal_is err) "$RPCRDMA" nfsd --export "$T/none:/e" --state-dir state 2>err
says err "<3>rpcrdma nfsd: cannot export $T/none: No such file or directory"
done_testing
