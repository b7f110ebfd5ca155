#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# What every script here shares: where things are, how progress looks, how a
# test is counted.  Source it; it changes nothing but its own variables.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
CACHE=${CACHE:-$TOP/.cache}
OUT=${OUT:-$TOP/out}
J=${J:-$(nproc)}
V=${V:-0}
# Kernel builds take turns: two at once are seldom faster than one after the other.
BUILD_LOCK=${BUILD_LOCK:-$CACHE/build.lock}
export TOP CACHE OUT J V BUILD_LOCK LC_ALL=C

# Exit statuses, as listed in the README.
# shellcheck disable=SC2034	# used by the scripts that source this file
readonly E_TEST=1 E_USAGE=2 E_TOOL=3 E_TREE=4 E_SHAPE=5 E_PARSE=6 E_IO=7 E_BUSY=8

# Asked for help, a script without a usage text of its own prints what is written at
# its beginning, and does nothing.
case ${1:-} in
-h | --help)
	if ! grep -q '^usage()' "$0"; then
		sed -n '4,${/^#/!q; s/^# \{0,1\}//p}' "$0"
		exit 0
	fi ;;
esac

# step TAG TEXT: one line in Kbuild's two columns.
step()
{
	printf '  %-8s%s\n' "$1" "$2"
}

# die STATUS TEXT: one line, then the documented status.
die()
{
	local status=$1

	shift
	printf 'ptebatch: %s\n' "$*" >&2
	exit "$status"
}

# Print the elapsed time of a long step now and then: it is alive.
_ticker()
{
	local start=$SECONDS pid=$1 name=$2 every=30 never

	[ -t 2 ] && every=5
	# A pipe in which nothing ever arrives: no sleep is left behind.
	exec {never}<> <(:)
	while ! read -rt "$every" -u "$never" && kill -0 "$pid" 2>/dev/null; do
		printf '  %-8s%s, %d s so far\n' '...' "$name" $((SECONDS - start)) >&2
	done
}

# quiet LOG CMD...: output goes to LOG, and to the user only if CMD fails.
quiet()
{
	local log=$1 status=0 pid ticker

	shift
	mkdir -p "$(dirname "$log")"
	if [ "$V" != 0 ]; then
		printf '+ %s\n' "$*"
		"$@" 2>&1 | tee "$log"
		return
	fi
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	_ticker "$pid" "$(basename "$log" .log)" &
	ticker=$!
	wait "$pid" || status=$?
	kill "$ticker" 2>/dev/null || true
	wait "$ticker" 2>/dev/null || true
	if [ "$status" != 0 ]; then
		tail -n 40 "$log" >&2
		printf 'ptebatch: failed (status %d): %s; whole output: %s\n' \
			"$status" "$*" "$log" >&2
	fi
	return "$status"
}

# build_lock CMD...: run it when it is its turn.
build_lock()
{
	mkdir -p "$CACHE"
	flock "$BUILD_LOCK" "$@"
}

_passed=0 _failed=0 _skipped=0

t_pass()
{
	_passed=$((_passed + 1))
	step PASS "$1"
}

t_fail()
{
	_failed=$((_failed + 1))
	step FAIL "$1: $2"
}

# t_skip NAME WHY: WHY names the package to install.
t_skip()
{
	_skipped=$((_skipped + 1))
	step SKIP "$1 ($2)"
}

# t_add LINE: take over the counts of another script's last line.
t_add()
{
	local re='^([0-9]+) passed, ([0-9]+) failed(, ([0-9]+) skipped)?$'

	[[ $1 =~ $re ]] || return 1
	_passed=$((_passed + BASH_REMATCH[1]))
	_failed=$((_failed + BASH_REMATCH[2]))
	_skipped=$((_skipped + ${BASH_REMATCH[4]:-0}))
}

# part NAME CMD...: show what it says, take over the count in its last line; the
# rest stays in a log of that name.
part()
{
	local name=$1 log=$OUT/log/$1.part status=0 before=$_failed start=$SECONDS

	shift
	mkdir -p "$OUT/log"
	"$@" </dev/null 2>&1 | tee "$log" || status=$?
	# Where a target fails, make has the last word.
	if ! t_add "$(grep -v '^make' "$log" | tail -n 1)"; then
		[ "$status" != 124 ] || status="out of time"
		t_fail "$name" "ended without a count (status $status)"
	elif [ "$status" != 0 ] && [ "$_failed" = "$before" ]; then
		t_fail "$name" "status $status, though its count shows no failure"
	fi
	step TIME "$name: $((SECONDS - start)) s"
}

# t_summary: the plain last line.  No test at all is a failure too.
t_summary()
{
	printf '%d passed, %d failed, %d skipped\n' \
		"$_passed" "$_failed" "$_skipped"
	[ "$_failed" = 0 ] && [ "$((_passed + _skipped))" != 0 ] && [ "$_passed" != 0 ]
}
