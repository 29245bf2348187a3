#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# quote.sh DIR FILE: puts the tables of a run, which bench/run.sh wrote to DIR, into the
# Markdown FILE: between each "<!-- table NAME -->" and "<!-- end -->" of the same name.
# Copies the plots to the directory of FILE's name without ".md".
set -eu
dir=${1:?} file=${2:?}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
awk '
	/^<!-- table / { name = $3 }
	FILENAME == ARGV[1] { if (name) text[name] = text[name] $0 "\n" }
	FILENAME == ARGV[1] && /^<!-- end / { name = "" }
	FILENAME == ARGV[1] { next }
	/^<!-- table / {
		if (!(name in text)) {
			print "quote.sh: the run has no table " name >"/dev/stderr"
			failed = 1
			text[name] = $0 "\n<!-- end -->\n"
		}
		printf "%s", text[name]
	}
	!name
	/^<!-- end / { name = "" }
	END { exit failed }' "$dir/tables.md" "$file" >"$new"
cat "$new" >"$file"
mkdir -p "${file%.md}"
cp "$dir"/*.svg "${file%.md}/"
