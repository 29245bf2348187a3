# SPDX-License-Identifier: BSD-3-Clause
# Words and figures for people; used with text.awk and markdown.awk.

function size(bytes) {
	if (bytes < 1024)
		return bytes " B"
	return bytes >= 1048576 ? bytes / 1048576 " MiB" : bytes / 1024 " KiB"
}

function work(test, bytes) {
	if (test == "attr")
		return "short reply of " bytes " B (up to 20 KiB foreseen)"
	if (test == "dir")
		return "reply of " size(bytes / 4) " to " size(bytes)
	if (test == "list")
		return "reply of " size(bytes)
	if (test == "readdirplus")
		return "READDIRPLUS, 100 entries"
	return toupper(test) (bytes > 0 ? " " size(bytes) : "")
}

# What is in flight.
function flight(depth, conns) {
	return depth " in flight" (conns > 1 ? " x " conns " connections" : "")
}

# Octets of data in a call, or 0 if its time counts.
function data_bytes(test, bytes) {
	return test == "dir" ? bytes * 5 / 8 : test == "attr" ? 0 : bytes
}

function with_commas(n,    s) {
	n = sprintf("%.0f", n)
	for (s = ""; length(n) > 3; n = substr(n, 1, length(n) - 3))
		s = "," substr(n, length(n) - 2) s
	return n s
}

function microseconds(ns) {
	return sprintf(ns < 99950 ? "%.1f us" : "%.0f us", ns / 1000)
}

# The figure of a cell: the time of a lone call, or what all calls do in a second.
function absolute(test, bytes, calls, ns) {
	if (ns == "-")
		return "-"
	if (data_bytes(test, bytes))
		return with_commas(data_bytes(test, bytes) * 1000 / ns) " MB/s"
	return calls == 1 ? microseconds(ns) : with_commas(1e9 / ns) "/s"
}

function fraction(ratio) {
	return ratio == "-" ? "-" : sprintf("%.2f", ratio)
}

function place_name(place) {
	return place == "one" ? "both ends on one core" : "a core each"
}
