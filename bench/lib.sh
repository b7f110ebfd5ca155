# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Kernels for guests, and their boots: what bench/run and scripts/check-system
# share.  Source it after scripts/lib.sh.  BUILDS names the builds' folders.

BUILDS=${BUILDS:-bench}
CONFIG_EXTRA=${CONFIG_EXTRA:-}
BOOT_TIMEOUT=${BOOT_TIMEOUT:-900}
COMPILER=gcc
# Newer trees have no such choice; what they do instead is theirs to answer for.
# shellcheck disable=SC2034	# for those who source this
BENCH_OPTIONAL="PREEMPT_NONE ARM64_USE_LSE_ATOMICS PROC_SYSCTL"

# machine ARCH: what differs between the machines, in Debian's names.
machine()
{
	case $1 in
	x86_64)
		KARCH=x86_64 SRCARCH=x86 CROSS='' QEMU=qemu-system-x86_64
		BOOT_IMAGE=arch/x86/boot/bzImage ;;
	arm64)
		KARCH=arm64 SRCARCH=arm64 CROSS=aarch64-linux-gnu- QEMU=qemu-system-aarch64
		BOOT_IMAGE=arch/arm64/boot/Image ;;
	ppc64le)
		KARCH=powerpc SRCARCH=powerpc CROSS=powerpc64le-linux-gnu- QEMU=qemu-system-ppc64
		BOOT_IMAGE=vmlinux ;;
	*)
		die "$E_USAGE" "no such machine: $1 (there are: x86_64 arm64 ppc64le)" ;;
	esac
}

# gcc has a name for each machine, clang is all of them.
compiler()
{
	[ "$COMPILER" = clang ] && echo clang || echo "${CROSS}gcc"
}

check_tree()
{
	[ -f "$1/mm/mprotect.c" ] || die "$E_USAGE" "not a kernel tree: $1"
	if [ -e "$1/.config" ] || [ -d "$1/include/generated" ]; then
		die "$E_TREE" "$1 was built in place; run make mrproper there first"
	fi
}

# The trees to compare, from the environment or as the other targets left them:
# sets TREES, and NAMES, which are theirs but never equal.
find_trees()
{
	local tree name

	read -ra TREES <<<"${KDIRS:-}"
	if [ ${#TREES[@]} = 0 ]; then
		[ -n "${BEFORE:-}" ] || BEFORE=$("$TOP/scripts/fetch" 6.12 | tail -n 1)
		if [ -z "${AFTER:-}" ]; then
			AFTER=$CACHE/trees/linux-6.12-batched
			[ -d "$AFTER" ] || "$TOP/scripts/apply"
		fi
		TREES=("$BEFORE" "$AFTER")
	fi
	[ ${#TREES[@]} -ge 2 ] || die "$E_USAGE" "nothing to compare ${TREES[0]} with"
	# In quotes no shell has expanded them.
	TREES=("${TREES[@]/#\~\//$HOME/}")
	NAMES=()
	for tree in "${TREES[@]}"; do
		check_tree "$tree"
		name=$(basename "$tree")
		while [[ " ${NAMES[*]} " = *" $name "* ]]; do
			name+=-too
		done
		NAMES+=("$name")
	done
}

# What decides about the kernel's code, without reading the whole tree.
tree_id()
{
	(cd "$1" && find Makefile mm include "arch/$SRCARCH" kernel lib fs/proc -type f -print0 |
		sort -z | xargs -0 sha256sum | sha256sum | cut -c 1-16)
}

kernel_id()
{
	{ tree_id "$1"; cat "$2"; "$(compiler)" --version; } | sha256sum | cut -c 1-16
}

# fragments ARCH TREE: sets FRAGMENTS, the configuration of the measured kernel.
fragments()
{
	FRAGMENTS=("$TOP/bench/common.config" "$TOP/bench/$1.config")
	grep -q '^config PROC_SYSCTL' "$2/fs/proc/Kconfig" ||
		FRAGMENTS+=("$TOP/bench/newer.config")
}

# Later fragments win; each symbol once.
merge_config()
{
	awk -F '[= ]' '/^CONFIG_/ { line[$1] = $0 } /^# CONFIG_/ { line[$2] = $0 }
		END { for (name in line) print line[name] }' "$@" | sort
}

# A line that Kconfig dropped would make the results mean something else, unless
# it is about one of CONFIG_OPTIONAL: what not every tree has.
config_holds()
{
	local line status=0 symbol

	while read -r line; do
		symbol=${line#\# } symbol=${symbol#CONFIG_}
		[[ " ${CONFIG_OPTIONAL:-} " != *" ${symbol%%[= ]*} "* ]] || continue
		case $line in
		'# CONFIG_'*)
			line=${line#\# } line=${line%% *}
			! grep -q "^$line=" "$2" || status=1 ;;
		*)
			grep -qxF -e "$line" "$2" || status=1 ;;
		esac
		[ "$status" = 0 ] || die "$E_TEST" "the kernel's configuration refused: $line"
	done <"$1"
}

# kmake_args TREE BUILD_DIR: sets KMAKE, the same for every build.
kmake_args()
{
	local cc

	cc=$(compiler)
	! command -v ccache >/dev/null || cc="ccache $cc"
	KMAKE=(make -C "$1" O="$2" ARCH="$KARCH" CC="$cc" -j "$J")
	[ -z "$CROSS" ] || KMAKE+=(CROSS_COMPILE="$CROSS")
	KMAKE+=(KBUILD_BUILD_TIMESTAMP='Thu Jan 1 00:00:00 UTC 2026'
		KBUILD_BUILD_USER=bench KBUILD_BUILD_HOST=bench KBUILD_BUILD_VERSION=1)
}

# build NAME TREE FRAGMENT...: sets KERNEL_DIR, KERNEL (the image) and KERNEL_ID.
build()
{
	local name=$1 tree=$2 dir=$CACHE/build/$BUILDS-$1

	shift 2
	[ -z "$CONFIG_EXTRA" ] || set -- "$@" "$CONFIG_EXTRA"
	mkdir -p "$dir"
	merge_config "$@" >"$dir/bench.config"
	# shellcheck disable=SC2034	# for those who source this
	KERNEL_DIR=$dir KERNEL=$dir/$BOOT_IMAGE
	KERNEL_ID=$(kernel_id "$tree" "$dir/bench.config")
	progress "kernel $name"
	if [ -f "$KERNEL" ] && [ "$(cat "$dir/bench.id" 2>/dev/null)" = "$KERNEL_ID" ]; then
		return
	fi
	rm -f "$dir/bench.id"
	kmake_args "$tree" "$dir"
	quiet "$dir/config.log" "${KMAKE[@]}" \
		KCONFIG_ALLCONFIG="$dir/bench.config" allnoconfig
	config_holds "$dir/bench.config" "$dir/.config"
	quiet "$dir/build-$name.log" build_lock "${KMAKE[@]}" "${BOOT_IMAGE##*/}"
	[ "$(kernel_id "$tree" "$dir/bench.config")" = "$KERNEL_ID" ] ||
		die "$E_BUSY" "$tree changed while it was built; try again"
	echo "$KERNEL_ID" >"$dir/bench.id"
}

# boot_guest LOG ARGS...: QEMU, its console in LOG; status 0 if the guest got
# to its end.  LOG.txt is the console without carriage returns.
boot_guest()
{
	local log=$1

	shift
	rm -f "$log"
	timeout "$BOOT_TIMEOUT" "$QEMU" -nodefaults -no-user-config \
		-display none -no-reboot -serial "file:$log" "$@" || true
	tr -d '\r' <"$log" >"$log.txt"
	grep -q '^GUEST DONE' "$log.txt"
}

# Everything the kernel says when it finds itself wrong.
kernel_complaints()
{
	grep -E 'WARNING:|BUG:|Oops|kernel BUG|general protection|[Bb]ad page|Bad rss|INFO: (rcu|task|lockdep)|possible (circular|recursive)|Kernel panic|page_table_check' "$1"
}
