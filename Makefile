# SPDX-License-Identifier: GPL-2.0
#
# The front door.  Each target is a script of its own below scripts/, with the
# variables in its environment; `make` alone says what there is.

.DEFAULT_GOAL := help
SHELL := /bin/bash

asked := KDIR KVER BRANCH AUTHOR OUT CACHE J V DEPS SEED ARCHS OVERRIDES FUZZ_SECONDS \
	PARTS STEPS PRISTINE SUITE KCONFIG_ADD HEADERS ROUNDS QUICK KDIRS BEFORE AFTER \
	FORCE CONFIG_EXTRA COMPILERS
export $(asked)
# An empty ARCH= in the environment would be an architecture to Kbuild.
ifneq ($(ARCH),)
export ARCH
endif
ifneq ($(CROSS_COMPILE),)
export CROSS_COMPILE
endif
# Kernel builds below us are no sub-makes of ours: no flags, no variables.
MAKEOVERRIDES :=
unexport MAKEFLAGS MFLAGS MAKELEVEL GNUMAKEFLAGS
# Empty is the same as not given.
$(foreach name,$(asked),$(if $($(name)),,$(eval unexport $(name))))

targets := fetch deps probe series apply unapply kunit findings mutants check \
	check-host check-arch check-system check-all check-headers check-cocci \
	check-apply check-series check-style bench-host clean

.PHONY: help bench bench-quick bench-redis bench-native bench-size $(targets)

help:			## this text
	@scripts/help

apply:			## batch KDIR (without KDIR: Debian's linux-source-KVER, in a copy of our own)
unapply:		## take the series out of KDIR again, byte for byte
series:			## write the patches to out/<version>/; KDIR is only read
probe:			## what KDIR has and what would be done to it, without building
fetch:			## unpack Debian's pristine linux-source-KVER below .cache/
deps:			## install the Debian packages that are missing
kunit:			## run the suites under UML (KDIR: on that tree, batched or not)
findings:		## where a pristine tree's own helpers deviate (KVER=7.3)
mutants:		## plant known faults; each must be caught by a named case
check:			## every test that needs no second architecture, summed up
check-host:		## the headers in user space: exhaustively, against walkers, sanitized, fuzzed
check-arch:		## the suites on each page-table format we can boot (ARCHS="x86_64 arm64")
check-system:		## boot both kernels: copy on write, mprotect, selftests/mm (ARCHS=, PARTS=)
check-all:		## all four, and the mutants: hours
check-headers:		## the headers compile, for every architecture we have a compiler for
check-cocci:		## the semantic patches do what their examples say
check-apply:		## apply, unapply and every refusal
check-series:		## each patch builds alone, and is clean for the kernel's checkers
check-style:		## shell, Python, C, spelling
bench-host:		## time every helper on this processor, in user space (QUICK=1, CC=)
clean:			## remove out/ and the build folders, keep the fetched trees

$(targets):
	@scripts/$@

bench:			## boot kernels in QEMU and compare: instructions (KDIRS="A B ...", ARCHS=)
	@bench/run
bench-quick:		## the same in minutes: fewer rows, one boot of each
	@bench/run --quick
bench-redis:		## Debian's Redis after a snapshot: faults and instructions of the server
	@bench/run --redis
bench-native:		## build the same program for real machines, and say how to use it
	@bench/run --native
bench-size:		## code size of the callers, before and after (ARCHS=, COMPILERS=)
	@bench/size
