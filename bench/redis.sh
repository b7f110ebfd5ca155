# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# bench/run --redis: what a snapshot costs Debian's Redis, before and after.
# Sourced by bench/run.
# shellcheck disable=SC2034	# for bench/run

REDIS=redis-check-rdb
REDIS_SOURCES=("$BENCH"/{redis,rows,counter}.c)
# The kernel would give each boot and each tree numbers of its own, and keys would
# be hashed by them.
REDIS_SEED=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef

# Sets what machine() does.
redis_need()
{
	[ "$ARCHS" = x86_64 ] ||
		die "$E_USAGE" "--redis is for x86_64: Debian's server is not installed for $ARCHS"
	machine x86_64
	need
	command -v "$REDIS" >/dev/null ||
		die "$E_TOOL" "missing: $REDIS (scripts/deps redis installs it)"
}

# redis_files DIR: lines for gen_init_cpio: the server, which is what that program
# is when it is called so, the libraries that it is linked with, and a file of
# known bytes to be read as random ones.
redis_files()
{
	local binary file dir

	binary=$(command -v "$REDIS")
	printf '%s' "$REDIS_SEED" >"$1/urandom"
	echo "file /dev/urandom $1/urandom 0444 0 0"
	echo 'dir /bin 0755 0 0'
	echo "file /bin/redis-server $binary 0755 0 0"
	ldd "$binary" | grep -oE '/[^ ]+' | sort -u >"$1/libraries"
	# Each folder after the one that it is in.
	while read -r file; do
		dir=${file%/*}
		while [ -n "$dir" ]; do
			echo "$dir"
			dir=${dir%/*}
		done
	done <"$1/libraries" | sort -u | sed 's|.*|dir & 0755 0 0|'
	sed 's|.*|file & & 0755 0 0|' "$1/libraries"
}

# redis [--check] [--record]
redis()
{
	local counts=() i files how=() status=0

	# One boot of each.
	QUICK=1
	redis_need
	cpu x86_64
	find_trees
	STEPS=$((${#TREES[@]} * 2 + 1))
	program x86_64 redis "${REDIS_SOURCES[@]}"
	files=$PROGRAM.files
	redis_files "${PROGRAM%/*}" >"$files"
	for i in "${!TREES[@]}"; do
		fragments x86_64 "${TREES[i]}"
		build "redis-${NAMES[i]}" "${TREES[i]}" "${FRAGMENTS[@]}" "$BENCH/redis.config"
		initrd "$files"
		# The server and its libraries count as well.
		GUEST_ID=$(sha256sum <"$INITRD" | cut -c 1-16)
		measure "${NAMES[i]}" "${TREES[i]}"
		echo "I server Redis $("$REDIS" --version | sed -n '1s/.* //p')" >>"$RESULT/counts"
		counts+=("$RESULT/counts")
	done
	progress compare
	[[ " $* " != *" --check "* ]] || how=(--check)
	python3 "$BENCH/report" --arch x86_64 "${how[@]}" "$OUT/bench/redis" "${counts[@]}" || status=$?
	[[ " $* " != *" --record "* ]] ||
		cp "$OUT/bench/redis/bench.md" "$TOP/Documentation/bench-redis.md"
	return "$status"
}
