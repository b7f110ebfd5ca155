# SPDX-License-Identifier: GPL-2.0
#
# gnuplot -e "dir = 'out/bench'" plot.gp: the picture of bench.dat.

set terminal svg size 960,400 font "sans-serif,12" background "white"
set output dir . "/bench.svg"
data = dir . "/bench.dat"
set multiplot layout 1,2
set style data histogram
set style histogram clustered gap 1
set style fill solid noborder
set boxwidth 0.9
set border 3
set tics nomirror
set yrange [0:*]
set offsets 0, 0, graph 0.08, 0
set bmargin 6
set key outside bottom center horizontal

set title "mprotect(): instructions per entry"
plot data index 0 using 3:xtic(sprintf("%s\n%s", strcol(1), strcol(2))) title "before" lc rgb "#9aa5b1", \
	"" index 0 using 4 title "after" lc rgb "#1f6feb", \
	"" index 0 using ($0 - 0.17):3:(sprintf("%.0f", $3)) notitle with labels offset 0,0.6 font ",8", \
	"" index 0 using ($0 + 0.17):4:(sprintf("%.0f", $4)) notitle with labels offset 0,0.6 font ",8"

set title "one store per page after fork() and exit: instructions"
plot data index 1 using 3:xtic(1) title "before" lc rgb "#9aa5b1", \
	"" index 1 using 4 title "after" lc rgb "#1f6feb", \
	"" index 1 using ($0 - 0.17):3:(sprintf("%.0f", $3)) notitle with labels offset 0,0.6 font ",8", \
	"" index 1 using ($0 + 0.17):4:(sprintf("%.0f", $4)) notitle with labels offset 0,0.6 font ",8"
unset multiplot
