# SPDX-License-Identifier: GPL-2.0
#
# gnuplot -e "dir = 'out/bench'; names = 'before after'" plot.gp: the pictures
# of bench.dat, bench.svg and sweep.svg; a column for each name.

set terminal svg size 960,400 font "sans-serif,12" background "white"
data = dir . "/bench.dat"
n = words(names)
array color[8] = ["#9aa5b1", "#1f6feb", "#d29922", "#2da44e", "#cf222e", "#8250df", "#57606a", "#0969da"]
set border 3
set tics nomirror
set xtics font ",10"
set yrange [0:*]
set key outside bottom center horizontal

set output dir . "/bench.svg"
set multiplot layout 1,2
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set boxwidth 0.9
set offsets 0, 0, graph 0.08, 0
set bmargin 6
# Where the i-th of n bars of a cluster stands, and the number above it.
at(i) = (i - (n + 1) / 2.0) / (n + 1)

set title "mprotect(): instructions per entry"
plot for [i = 1:n] data index 0 using 2 + i:xtic(sprintf("%s\n%s", strcol(1), strcol(2))) \
		title word(names, i) lc rgb color[i], \
	for [i = 1:n] "" index 0 using ($0 + at(i)):2 + i:(sprintf("%.0f", column(2 + i))) \
		notitle with labels offset 0,0.6 font ",8"

set title "one store per page after fork() and exit: instructions"
plot for [i = 1:n] data index 1 using 2 + i:xtic(1) title word(names, i) lc rgb color[i], \
	for [i = 1:n] "" index 1 using ($0 + at(i)):2 + i:(sprintf("%.0f", column(2 + i))) \
		notitle with labels offset 0,0.6 font ",8"
unset multiplot

# Few rows: no sweep.
stats data using 0 nooutput
if (STATS_blocks >= 4) {
	set output dir . "/sweep.svg"
	set multiplot layout 1,2
	set offsets 0.3, 0.3, graph 0.08, 0
	set xrange [-0.5:*]
	set xlabel "order of the folios"
	set title "writable to read-only: instructions per entry"
	plot for [i = 1:n] data index 2 using 1:2 + i title word(names, i) with linespoints pt 7 lc rgb color[i]
	set title "read-only to writable: instructions per entry"
	plot for [i = 1:n] data index 3 using 1:2 + i title word(names, i) with linespoints pt 7 lc rgb color[i]
	unset multiplot
}
