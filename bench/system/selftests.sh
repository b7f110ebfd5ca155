# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# The tree's own selftests/mm as static programs for a guest.  Source it after
# bench/lib.sh.

# Name, seconds it may take under TCG, arguments.  A tree that has a test not
# (guard-regions, merge and rmap came after 6.12) is said so in the table.
selftests_table()
{
	cat <<-'END_TABLE'
	cow			1500
	mkdirty			120
	mremap_test		600
	mremap_dontunmap	60
	soft-dirty		300
	uffd-unit-tests		900
	guard-regions		300
	madv_populate		120
	pagemap_ioctl		600
	mrelease_test		120
	merge			300
	rmap			300
	khugepaged		900
	ksm_functional_tests	300
	ksm_tests		300	-M -p 10
	split_huge_page_test	900
	gup_longterm		600
	gup_test		300	-ct
	migration		600
	mlock2-tests		300
	mlock-random-test	300
	mdwe_test		60
	mseal_test		300
	droppable		120
	map_populate		60
	map_fixed_noreplace	60
	on-fault-limit		60
	memfd_secret		60
	transhuge-stress	300	-d 20
	process_madv		300
	prctl_thp_disable	120
	folio_split_race_test	300
	hugepage-mmap		60
	hugepage-mremap		60
	hugepage-shm		60
	hugetlb-madvise		60
	hugetlb_fault_after_madv	120
	protection_keys		900
	END_TABLE
}

# selftests_copy TREE DIR: the sources, at the depth they expect; KDIR is only read.
selftests_copy()
{
	local tree=$1 dir=$2

	rm -rf "$dir"
	mkdir -p "$dir/tools/testing/selftests" "$dir/mm" "$dir/bin"
	cp -r "$tree/tools/testing/selftests/mm" "$dir/tools/testing/selftests/"
	cp "$tree"/tools/testing/selftests/*.h "$dir/tools/testing/selftests/"
	cp "$tree"/mm/*.h "$dir/mm/"
	selftests_config >"$dir/tools/testing/selftests/mm/local_config.h"
}

selftests_config()
{
	! has_library '#include <liburing.h>' -luring || echo '#define LOCAL_CONFIG_HAVE_LIBURING 1'
}

# has_library INCLUDE LIBRARY: is it there for this machine, to be linked in?
has_library()
{
	printf '%s\nint main(void) { return 0; }\n' "$1" |
		"${CROSS}gcc" -static -x c - -o /dev/null "$2" 2>/dev/null
}

selftest_libraries()
{
	local libs=(-lrt -lpthread -lm)

	! grep -q '<sys/capability.h>' "$1" || libs+=(-lcap)
	! grep -q '<numa.h>' "$1" || libs+=(-lnuma)
	! grep -q 'LOCAL_CONFIG_HAVE_LIBURING' "$1" || ! has_library '' -luring || libs+=(-luring)
	echo "${libs[@]}"
}

# selftest_build TREE DIR HEADERS NAME: as the tree's Makefile does, but static.
selftest_build()
{
	local tree=$1 dir=$2 headers=$3 name=$4 more=() libs
	local mm=$dir/tools/testing/selftests/mm

	case $name in
	uffd-*) more=(uffd-common.c) ;;
	# 6.12's own Makefile cannot build it: KSFT_SKIP comes from nowhere.
	khugepaged) more=(-include ../kselftest.h) ;;
	protection_keys)
		[ ! -f "$mm/pkey_util.c" ] || more=(pkey_util.c)
		[ "$KARCH" != x86_64 ] || more+=(-mxsave) ;;
	esac
	read -ra libs <<<"$(selftest_libraries "$mm/$name.c")"
	# Some put temporary files beside __FILE__: without a directory, that is here.
	(cd "$mm" && "${CROSS}gcc" -static -O2 -w -U_FORTIFY_SOURCE -D_GNU_SOURCE= \
		-I "$tree" -isystem "$headers" -isystem "$tree/tools/include/uapi" \
		"$name.c" vm_util.c thp_settings.c "${more[@]}" -o "$dir/bin/$name" "${libs[@]}")
	"${CROSS}strip" "$dir/bin/$name"
}

# selftests_build TREE DIR KERNEL_DIR: programs in DIR/bin, reasons in DIR/missing.
selftests_build()
{
	local tree=$1 dir=$2 kernel=$3 name

	kmake_args "$tree" "$kernel"
	build_lock "${KMAKE[@]}" -s headers
	selftests_copy "$tree" "$dir"
	: >"$dir/missing"
	while read -r name _; do
		if [ ! -f "$dir/tools/testing/selftests/mm/$name.c" ]; then
			echo "$name is not in this tree" >>"$dir/missing"
		elif ! selftest_build "$tree" "$dir" "$kernel/usr/include" "$name" >"$dir/$name.log" 2>&1; then
			rm -f "$dir/bin/$name"
			printf '%s does not build: %s\n' "$name" \
				"$(grep -m 1 -E 'error|cannot find|undefined' "$dir/$name.log" | sed 's/.*: //')" \
				>>"$dir/missing"
		fi
	done < <(selftests_table)
	[ -n "$(ls "$dir/bin")" ]
}
