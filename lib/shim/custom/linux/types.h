/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's words for a 64-bit program. */
#ifndef _LINUX_TYPES_H
#define _LINUX_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
/* One type with the kernel's pteval_t of 64-bit architectures. */
typedef unsigned long u64;

#define __bitwise
#define __force

#define likely(x)		__builtin_expect(!!(x), 1)
#define unlikely(x)		__builtin_expect(!!(x), 0)
#undef __always_inline
#define __always_inline		inline __attribute__((__always_inline__))
#define noinline		__attribute__((__noinline__))
#define __flatten		__attribute__((__flatten__))
#define __maybe_unused		__attribute__((__unused__))

/* An option is given as -DCONFIG_NAME=1, or not at all. */
#define IS_ENABLED(option)	IS_ENABLED_TEXT(option)
#define IS_ENABLED_TEXT(text)	((#text)[0] == '1')

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

#endif /* _LINUX_TYPES_H */
