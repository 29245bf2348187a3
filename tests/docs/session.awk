# SPDX-License-Identifier: BSD-3-Clause
# Turns the shell blocks of a Markdown document into a script for session.lib.
#
#   awk -v doc=NAME -v role=root|user -v rpcbind=0|1 -v kdc=0|1 -v source=DIR \
#       -f session.awk FILE
#
# A comment on the line before a block says what is done with it:
#
#   <!-- run -->             it is run, by root and by a user
#   <!-- run: root -->       it is run by root only (or: user)
#   <!-- run: rpcbind -->    it is run where there is an rpcbind
#   <!-- run: kdc -->        it is run by root with a KDC, a keytab and a ticket
#   <!-- not run: REASON --> it is not run
#   <!-- file: NAME -->      the file NAME is made of it, where the blocks are run
#   <!-- excerpt: FILE -->   it stands in FILE of the source, line by line
#
# Of a console block the lines that begin with "$ " or "# " are commands, and what follows
# is their output.  Each line of a sh block is a command.  A command goes on after a
# backslash, | or && at the end of its line, and up to the end of its here-document.
# Every block in a language of the shell, or in none, must have such a comment.
function wrong(line, text) {
	printf "%s:%d: %s\n", doc, line, text >"/dev/stderr"
	failed = 1
}
# Whether the command of what has been read so far goes on.
function goes_on(line) {
	if (here_end != "") {
		if (line == here_end)
			here_end = ""
		return here_end != ""
	}
	if (match(line, /<<'?[A-Z_]+'?/)) {
		here_end = substr(line, RSTART + 2, RLENGTH - 2)
		gsub(/'/, "", here_end)
		return 1
	}
	return line ~ /(\\|\||&&)$/
}
function end_command() {
	if (command == "")
		return
	if (open)
		wrong(command_line, "the command does not end")
	printf "%sshows $? %s:%d %s <<'END_OF_SCREEN'\n%sEND_OF_SCREEN\n", command, doc,
		command_line, (lang == "console" ? "exactly" : "anything"), output
	command = output = ""
	open = 0
}
function begin_command(text) {
	end_command()
	command_line = NR
	command = text "\n"
	open = goes_on(text)
}
function console(line) {
	if (open) {
		command = command line "\n"
		open = goes_on(line)
	} else if (line ~ /^[$#] /) {
		if (line ~ /^#/ && mark !~ /^run: (root|kdc)$/)
			wrong(NR, "a command of root in a block that is not marked so")
		begin_command(substr(line, 3))
	} else if (command == "") {
		wrong(NR, "output before the first command")
	} else {
		output = output line "\n"
	}
}
function script(line) {
	if (open) {
		command = command line "\n"
		open = goes_on(line)
	} else if (line !~ /^[ \t]*(#|$)/) {
		begin_command(line)
	}
}
function check_excerpt(name, text,    all, line, n) {
	all = ""
	while ((n = (getline line <(source "/" name))) > 0)
		all = all line "\n"
	if (n < 0)
		wrong(block_line, name " is not there")
	else if (!index(all, text))
		wrong(block_line, name " does not have these lines")
	close(source "/" name)
}
function begin_block() {
	lang = substr($1, 4)
	block_line = NR
	inside = 1
	block = ""
	shell = lang ~ /^(sh|bash|shell|console|)$/
	if (mark == "" && shell)
		wrong(NR, "neither run nor marked with the reason")
	if (mark ~ /^(run|file)/ && lang ~ /^(bash|shell)$/)
		wrong(NR, "write sh, or console")
	runs = mark == "run" || mark == "run: " role || (mark == "run: rpcbind" && rpcbind) ||
		(mark == "run: kdc" && kdc)
	if (runs && !shell)
		wrong(NR, "no block of the shell")
	if (mark ~ /^run: / && !runs)
		printf "left_out %s:%d '%s'\n", doc, NR,
			why_left_out()
	if (mark ~ /^not run: /)
		printf "left_out %s:%d '%s'\n", doc, NR, quote(substr(mark, 10))
}
function why_left_out() {
	if (mark ~ /rpcbind/)
		return "there is no rpcbind"
	return mark ~ /kdc/ ? "there is no KDC, or this is not root" : "as " role
}
function quote(text) {
	gsub(/'/, "'\\''", text)
	return text
}
function end_block() {
	end_command()
	inside = 0
	if (mark ~ /^excerpt: /)
		check_excerpt(substr(mark, 10), block)
	if (mark ~ /^file: /)
		printf "cat >'%s' <<'END_OF_FILE'\n%sEND_OF_FILE\n", quote(substr(mark, 7)), block
	mark = ""
}
/^```/ && !inside { begin_block(); next }
/^```/ { end_block(); next }
inside {
	block = block $0 "\n"
	if (runs && lang == "console")
		console($0)
	else if (runs)
		script($0)
	next
}
mark != "" { wrong(NR, "a mark must stand on the line before its block"); mark = "" }
/^[ \t]+```/ { wrong(NR, "an indented block") }
/^<!-- *(run|not run|file|excerpt)/ {
	mark = $0
	sub(/^<!-- */, "", mark)
	if (!sub(/ *-->$/, "", mark) ||
	    mark !~ /^(run|run: (root|user|rpcbind|kdc)|not run: .+|file: [A-Za-z0-9_.\/-]+|excerpt: .+)$/)
		wrong(NR, "no such mark: " mark)
}
END {
	if (inside)
		wrong(block_line, "the block does not end")
	exit failed
}
