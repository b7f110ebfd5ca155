# SPDX-License-Identifier: GPL-2.0
#
# gnuplot -e "dir = 'out/bench'" plot.gp: the picture of bench.dat.

set terminal svg size 960,380 font "sans-serif,12" background "white"
set output dir . "/bench.svg"
set multiplot layout 1,2
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.85 noborder
set boxwidth 0.9
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set yrange [0:*]
set key top right

set title "mprotect(): instructions per entry"
plot dir . "/bench.dat" index 0 using 2:xtic(1) title "before" lc rgb "#9aa5b1", \
	"" index 0 using 3 title "after" lc rgb "#1f6feb"

set title "store after fork(), child gone: instructions per page"
plot dir . "/bench.dat" index 1 using 2:xtic(1) title "before" lc rgb "#9aa5b1", \
	"" index 1 using 3 title "after" lc rgb "#1f6feb"
unset multiplot
