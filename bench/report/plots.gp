# SPDX-License-Identifier: BSD-3-Clause
# Draws size.svg, depth.svg, memory.svg and nfs.svg in the directory OUT, from what
# cells.awk joined.
#   gnuplot -e "cells='FILE'; out='OUT'" plots.gp

# Points "X Y" of the cells that CONDITION selects.
points(condition, x, y) = sprintf("< awk -F '\t' '%s { print %s, %s }' %s", condition, x, y, cells)
cell(table, place, test, subject) = sprintf("$1 == \"cell\" && $2 == \"%s\" && $3 == \"%s\"" \
	." && $4 == \"%s\" && $8 == \"%s\" && $12 != \"-\"", table, place, test, subject)
by_size(place, test, subject, depth) = points(cell("calls", place, test, subject) \
	.sprintf(" && $6 == %d", depth), "$5 / 1024", "$5 * 1000 / $12")
by_depth(place, subject) = points(cell("calls", place, "null", subject), "$6", "1e6 / $12")
memory(subject, field) = points(sprintf("$1 == \"memory\" && $2 == \"%s\"", subject), "$4", \
	field." / $4")
# A plot without any point is an error, so each has one that is not seen.
blank(x) = sprintf("< echo %d 100", x)
place_name(place) = place eq "one" ? "both ends on one core" : "a core each"

set grid lc rgb "#dddddd"
set style data linespoints
set pointsize 0.6
set key below maxrows 4 reverse Left samplen 2 spacing 0.9 noenhanced
set logscale xy
set linetype 1 lc rgb "#555555" pt 7
set linetype 2 lc rgb "#c08000" pt 7
set linetype 3 lc rgb "#0060ad" pt 7
set linetype 4 lc rgb "#40a0e0" pt 7

set terminal svg size 1000,1000 font "sans-serif,12" background "white"
set output out."/size.svg"
set multiplot layout 2,2
set xrange [3:1400]
set xtics ("4 KiB" 4, "16 KiB" 16, "64 KiB" 64, "1 MiB" 1024)
set ylabel "MB/s"
set yrange [5:20000]
do for [place in "one split"] {
	do for [test in "read write"] {
		set title sprintf("%s, %s", test eq "read" ? "READ" : "WRITE", place_name(place))
		plot by_size(place, test, "tcp", 1) lt 1 title "raw TCP", \
			by_size(place, test, "tirpc", 1) lt 2 title "libtirpc", \
			by_size(place, test, "rdma", 1) lt 3 title "librpcrdma", \
			by_size(place, test, "nocrc", 1) lt 4 title "librpcrdma, CRC off", \
			by_size(place, test, "tcp", 8) lt 1 dt 2 title "raw TCP, 8 in flight", \
			by_size(place, test, "rdma", 8) lt 3 dt 2 title "librpcrdma, 8 in flight", \
			by_size(place, test, "nocrc", 8) lt 4 dt 2 title "CRC off, 8 in flight", \
			blank(64) with dots lc rgb "white" notitle
	}
}
unset multiplot

set terminal svg size 1000,450 font "sans-serif,12" background "white"
set output out."/depth.svg"
set multiplot layout 1,2
set xrange [0.9:72]
set xtics (1, 2, 4, 8, 16, 32, 64)
set yrange [*:*]
set ylabel "thousand NULL calls per second"
do for [place in "one split"] {
	set title sprintf("NULL, by calls in flight, %s", place_name(place))
	plot by_depth(place, "tcp") lt 1 title "raw TCP", \
		by_depth(place, "tirpc") lt 2 title "libtirpc", \
		by_depth(place, "rdma") lt 3 title "librpcrdma", \
		blank(8) with dots lc rgb "white" notitle
}
unset multiplot

set terminal svg size 600,450 font "sans-serif,12" background "white"
set output out."/memory.svg"
set title "Memory of an idle connection, by their number"
set xrange [0.9:1200]
set xtics (1, 4, 16, 64, 256, 1024)
set ylabel "KiB for each"
unset logscale y
set yrange [0:*]
plot memory("idle", "$5") lt 3 title "server, all defaults", \
	memory("idle_all", "$5") lt 3 dt 2 title "server, all features", \
	memory("idle", "$6") lt 4 title "client, all defaults", \
	memory("idle_all", "$6") lt 4 dt 2 title "client, all features", \
	blank(16) with dots lc rgb "white" notitle

# Bars: a label, and the fractions of the base, at each place with 1 and 8 in flight.
bars = "< awk -F '\t' '$1 == \"cell\" && $2 == \"nfs\" && $8 == \"nfsd\" {" \
	." k = toupper($4) ($5 > 0 ? \"-\" ($5 < 1048576 ? $5 / 1024 \"K\" : $5 / 1048576 \"M\") : \"\");" \
	." if (!(k in seen)) { seen[k] = 1; order[++n] = k }" \
	." ratio[k, $3, $6] = $15 }" \
	." function get(k, place, depth) { return (k, place, depth) in ratio ? ratio[k, place, depth] : \"-\" }" \
	." END { for (i = 1; i <= n; i++) print order[i], get(order[i], \"one\", 1), get(order[i], \"one\", 8)," \
	." get(order[i], \"split\", 1), get(order[i], \"split\", 8); if (!n) print \"none\", 0, 0, 0, 0 }' ".cells
set terminal svg size 1100,420 font "sans-serif,12" background "white"
set output out."/nfs.svg"
unset logscale x
set title "rpcrdma nfsd, as a multiple of the speed of nfs-ganesha and libnfs over TCP"
set ylabel "nfs-ganesha = 1"
set xrange [*:*]
set style data histograms
set style histogram clustered gap 1
set style fill solid 0.9 border -1
set boxwidth 0.9
set xtics auto rotate by -30
set key outside right top maxrows auto maxcols 1
set datafile missing "-"
plot bars using 2:xtic(1) lt 1 title "one core, 1 in flight", \
	bars using 3 lt 2 title "one core, 8 in flight", \
	bars using 4 lt 3 title "a core each, 1 in flight", \
	bars using 5 lt 4 title "a core each, 8 in flight", \
	1 with lines lc rgb "black" dt 3 notitle
