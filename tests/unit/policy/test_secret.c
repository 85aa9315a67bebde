/* SPDX-License-Identifier: BSD-2-Clause */
/* test_secret.c - the secret of all hashes: made, and known when damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "policy/secret.h"

static void secrets_differ_and_are_whole(void **state)
{
	struct mr_secret a, b;

	secret_make(&a);
	secret_make(&b);
	assert_true(a.fingerprint && b.fingerprint && a.fingerprint != b.fingerprint);
	assert_memory_not_equal(&a, &b, sizeof(a));
	assert_true(secret_valid(&a));
}

static void damaged_secret_is_seen(void **state)
{
	struct mr_secret a, b = { 0 };
	size_t i;

	assert_false(secret_valid(&b));
	secret_make(&a);
	for (i = 0; i < sizeof(a); i++) {
		b = a;
		((uint8_t *)&b)[i] ^= (uint8_t)(1 << i % 8);
		if (secret_valid(&b))
			fail_msg("a flipped bit in octet %zu was not seen", i);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(secrets_differ_and_are_whole),
		cmocka_unit_test(damaged_secret_is_seen),
	};

	return cmocka_run_group_tests_name("secret", tests, NULL, NULL);
}
