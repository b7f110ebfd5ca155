/* SPDX-License-Identifier: GPL-2.0 */
/* Empty: a program cannot be preempted on its model of a CPU. */
