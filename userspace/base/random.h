/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * random.h - unpredictable numbers for IDs, ports and secrets.
 *
 * From the kernel's generator, through a pool per thread, so that one system
 * call serves many queries.  Used numbers are wiped from the pool.
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fill @size bytes.  Aborts when the kernel has no randomness: no safe way is left. */
void random_fill(void *p, size_t size);

uint16_t random_u16(void);
uint64_t random_u64(void);

/* A number below @n (n > 0), each as likely as the other. */
uint32_t random_below(uint32_t n);

#endif
