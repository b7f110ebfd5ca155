/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _LINUX_MINMAX_H
#define _LINUX_MINMAX_H

#define min_t(type, a, b) ({				\
	type __min_a = (a), __min_b = (b);		\
							\
	__min_a < __min_b ? __min_a : __min_b;		\
})

/* As in the kernel, two types that differ are an error. */
#define min(a, b) ({					\
	__typeof__(a) *__min_same = (__typeof__(b) *)0;	\
							\
	(void)__min_same;				\
	min_t(__typeof__(a), a, b);			\
})

#define min3(a, b, c)		min(min(a, b), c)

#define swap(a, b) do {					\
	__typeof__(a) __swap = (a);			\
							\
	(a) = (b);					\
	(b) = __swap;					\
} while (0)

#endif /* _LINUX_MINMAX_H */
