# SPDX-License-Identifier: GPL-2.0
#
# gnuplot -e "dir = 'out/bench-host'" plot.gp: the picture of results.dat.

set terminal svg size 960,400 font "sans-serif,12" background "white"
set output dir . "/results.svg"
data = dir . "/results.dat"
set logscale x 2
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
set yrange [0:*]
set border 3
set tics nomirror
set grid ytics lc rgb "#d0d7de"
set key outside right center
set title "modify_prot_ptes() to read-only: ns per entry"
set xlabel "entries per call"
plot data index 0 using 1:2 skip 1 with lines title "single, young+dirty" lc rgb "#9aa5b1" lw 2, \
	data index 3 using 1:2 skip 1 with lines title "single, random" lc rgb "#9aa5b1" lw 2 dt 2, \
	for [i = 0:3] data index i using 1:3 skip 1 with linespoints pt 7 ps 0.4 lw 2 \
		title word("young+dirty young turns random", i + 1)
