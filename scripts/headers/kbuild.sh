# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Small kernel configurations by architecture, in a copy of a tree that may be
# changed.  Source it after lib.sh.  A row of the table is in the variables
# name, arch, fragment, compiler, cross, sparse and package; the copy in WORK,
# the build directory in build.

HEADERS=$TOP/scripts/headers
export CCACHE_DIR=${CCACHE_DIR:-$CACHE/ccache} KBUILD_BUILD_TIMESTAMP=''

# name, ARCH, fragment, compiler, cross prefix, sparse, package
table()
{
	cat <<-'END'
	um		um	um		gcc	-	-	gcc
	x86_64		x86_64	x86_64		gcc	-	sparse	gcc
	i386		i386	i386		gcc	-	-	gcc
	i386-pae	i386	i386-pae	gcc	-	-	gcc
	arm64		arm64	arm64		gcc	aarch64-linux-gnu-	sparse	gcc-aarch64-linux-gnu
	ppc64le		powerpc	ppc64le		gcc	powerpc64le-linux-gnu-	-	gcc-powerpc64le-linux-gnu
	ppc32		powerpc	ppc32		gcc	powerpc-linux-gnu-	-	gcc-powerpc-linux-gnu
	ppc32-8xx	powerpc	ppc32-8xx	gcc	powerpc-linux-gnu-	-	gcc-powerpc-linux-gnu
	riscv64		riscv	riscv64		gcc	riscv64-linux-gnu-	-	gcc-riscv64-linux-gnu
	s390x		s390	s390x		gcc	s390x-linux-gnu-	-	gcc-s390x-linux-gnu
	um-clang	um	um		clang	-	-	clang
	x86_64-clang	x86_64	x86_64-plain	clang	-	-	clang
	arm64-clang	arm64	arm64		clang	-	-	clang
	END
}

# each PREFIX FUNCTION ARGS...: call FUNCTION for every row that wants() it, in
# build directories .cache/build/PREFIX-name.
each()
{
	local prefix=$1 name arch fragment compiler cross sparse package build

	shift
	# shellcheck disable=SC2034	# for FUNCTION
	while read -r name arch fragment compiler cross sparse package; do
		[ "$cross" != - ] || cross=
		build=$CACHE/build/$prefix-$name
		! wants || "$@" </dev/null || :
	done < <(table)
}

# unready: sets $missing to what has to be installed for the row at hand.
unready()
{
	missing=
	command -v "$cross$compiler" >/dev/null || missing=" $package"
	[ "$compiler" = clang ] || return 0
	command -v ld.lld >/dev/null || missing="$missing lld"
	command -v llvm-ar >/dev/null || missing="$missing llvm"
}

# link_tree PRISTINE: sets up WORK as hard links to PRISTINE.  What is changed
# there has to be replaced, never written to.
link_tree()
{
	[ "$1/Makefile" -ef "$WORK/Makefile" ] && return
	step COPY "${WORK#"$TOP/"}"
	rm -rf "$WORK"
	cp -al "$1" "$WORK"
}

# kmake ARGS...: make for the row at hand.  Host programs are built by gcc, so
# that seed() may take them from any other row.  CCACHE is for those who build
# more than a handful of objects: Kconfig asks the compiler a hundred questions.
kmake()
{
	local cc=${CCACHE:+ccache }$cross$compiler

	set -- make -s -C "$WORK" O="$build" ARCH="$arch" CROSS_COMPILE="$cross" "$@"
	if [ "$compiler" = clang ]; then
		"$@" LLVM=1 HOSTCC=gcc HOSTCXX=g++ CC="$cc"
	else
		"$@" CC="$cc"
	fi
}

# seed: host programs that another build of the same tree has made already, and
# is done with.
seed()
{
	local other

	for other in "${build%-"$name"}"-*; do
		[ "$other" != "$build" ] || continue
		[ "$(readlink "$other/source")" = "$WORK" ] || continue
		[ -e "$other/.config" ] || continue
		[ -e "$build/scripts/kconfig/conf" ] || {
			mkdir -p "$build/scripts"
			cp -a "$other/scripts/basic" "$other/scripts/kconfig" "$build/scripts/"
		}
		if [ -e "$other/stamp" ] && [ -e "$other/scripts/dtc" ] && ! [ -e "$build/scripts/dtc" ]; then
			cp -a "$other/scripts/dtc" "$build/scripts/"
		fi
		if [ "$arch" = x86_64 ] && [ -e "$other/stamp" ] && [ -e "$other/tools" ] && ! [ -e "$build/tools" ]; then
			cp -a "$other/tools" "$build/"
		fi
	done
}

# configure [FRAGMENT...]: everything off but what all need and what this one
# needs.  Kconfig drops what cannot be had without a word, so ask for what
# matters.
configure()
{
	local want

	mkdir -p "$build"
	seed
	cat "$HEADERS/common.config" "$HEADERS/$fragment.config" "$@" >"$build/fragments.config"
	kmake KCONFIG_ALLCONFIG="$build/fragments.config" allnoconfig || return 1
	while read -r want; do
		case $want in
		'# CONFIG_'*' is not set')
			want=${want#\# }
			! grep -q "^${want%% *}=" "$build/.config" ;;
		CONFIG_*)
			grep -qx "$want" "$build/.config" ;;
		esac || { echo "Kconfig does not give: $want"; return 1; }
	done < <(cat "$HEADERS/$fragment.config" "$@")
}
