/* SPDX-License-Identifier: BSD-2-Clause */
/* test_name.c - names: wire, text, compression. */
#include <errno.h>
#include <string.h>
#include "dns/name.h"
#include "unit/dns/rows.h"

#define W(s) s, sizeof(s) - 1

/* ---- dns_name_len ------------------------------------------------------- */

static const struct len_case {
	const char *name;
	const char *wire;
	size_t size;
	int len;
} len_cases[] = {
	{ "the root is one octet",                 W("\0"), 1 },
	{ "two labels",                            W("\3www\2nl\0"), 8 },
	{ "what follows the name does not matter", W("\2nl\0\xff\xff"), 4 },
	{ "a pointer is refused",                  W("\3www\xc0\x0c"), -EBADMSG },
	{ "a reserved label type (01) is refused", W("\x41" "a\0"), -EBADMSG },
	{ "a reserved label type (10) is refused", W("\x80" "a\0"), -EBADMSG },
	{ "a label past the end is refused",       W("\7exam"), -EBADMSG },
	{ "a missing root is refused",             W("\2nl"), -EBADMSG },
	{ "nothing is no name",                    W(""), -EBADMSG },
};

static void run_len(void **state)
{
	const struct len_case *c = *state;

	assert_int_equal(dns_name_len((const uint8_t *)c->wire, c->size), c->len);
}

/* Labels of @label octets until @size octets are full, the last one shorter; returns the length. */
static size_t long_name(uint8_t *buf, size_t size, unsigned label)
{
	size_t at = 0, n;

	while (at + 1 < size) {
		n = size - at - 2 < label ? size - at - 2 : label;
		buf[at] = (uint8_t)n;
		memset(buf + at + 1, 'a', n);
		at += n + 1;
	}
	buf[at] = 0;
	return at + 1;
}

static void names_of_255_octets_are_read(void **state)
{
	uint8_t buf[300], out[DNS_NAME_MAX];

	assert_int_equal(long_name(buf, 255, 63), 255);
	assert_int_equal(dns_name_len(buf, 255), 255);
	assert_int_equal(dns_name_expand(buf, 255, 0, out, NULL), 255);
	assert_memory_equal(buf, out, 255);
}

static void names_of_256_octets_are_refused(void **state)
{
	uint8_t buf[300], out[DNS_NAME_MAX];

	assert_int_equal(long_name(buf, 256, 63), 256);
	assert_int_equal(dns_name_len(buf, 300), -EBADMSG);
	assert_int_equal(dns_name_expand(buf, 300, 0, out, NULL), -EBADMSG);
}

static void names_of_127_labels_are_read(void **state)
{
	uint8_t buf[300];

	assert_int_equal(long_name(buf, 255, 1), 255);
	assert_int_equal(dns_name_len(buf, 255), 255);
	assert_int_equal(dns_name_labels(buf), 127);
}

static void pointers_may_not_make_a_name_of_256_octets(void **state)
{
	uint8_t msg[400] = { 0 }, out[DNS_NAME_MAX];

	long_name(msg + 12, 254, 63);
	/* one octet more in front: 2 + 254 */
	memcpy(msg + 12 + 254, "\1b\xc0\x0c", 4);
	assert_int_equal(dns_name_expand(msg, 12 + 254 + 4, 12 + 254, out, NULL), -EBADMSG);
	long_name(msg + 12, 253, 63);
	memcpy(msg + 12 + 253, "\1b\xc0\x0c", 4);
	assert_int_equal(dns_name_expand(msg, 12 + 253 + 4, 12 + 253, out, NULL), 255);
}

/* ---- dns_name_expand ---------------------------------------------------- */

#define H "\0\0\0\0\0\0\0\0\0\0\0\0"	/* a header; the name "a.nl" follows at 12 */

static const struct expand_case {
	const char *name;
	const char *msg;
	size_t size;
	size_t at;
	const char *whole;
	int len;
	size_t next;
} expand_cases[] = {
	{ "a plain name is copied",                     W(H "\1a\2nl\0"), 12, "\1a\2nl", 6, 18 },
	{ "a pointer alone is followed",                W(H "\1a\2nl\0\xc0\x0c"), 18, "\1a\2nl", 6, 20 },
	{ "labels before a pointer are kept",           W(H "\1a\2nl\0\1b\xc0\x0e"), 18, "\1b\2nl", 6, 22 },
	{ "a pointer to a pointer is followed",         W(H "\1a\2nl\0\1b\xc0\x0e\xc0\x12"), 22, "\1b\2nl", 6, 24 },
	{ "a pointer to the root label is followed",    W(H "\1a\2nl\0\1b\xc0\x11"), 18, "\1b", 3, 22 },
	{ "a pointer to itself is refused",             W(H "\xc0\x0c"), 12, NULL, -EBADMSG, 0 },
	{ "a loop through a label is refused",          W(H "\1a\xc0\x0c"), 12, NULL, -EBADMSG, 0 },
	{ "two pointers at each other are refused",     W(H "\xc0\x0e\xc0\x0c"), 14, NULL, -EBADMSG, 0 },
	{ "a pointer forwards is refused",              W(H "\xc0\x0e\1a\0"), 12, NULL, -EBADMSG, 0 },
	{ "a pointer into its own labels is refused",   W(H "\1a\1b\xc0\x0e"), 12, NULL, -EBADMSG, 0 },
	{ "a pointer into the header is refused",       W(H "\xc0\x00"), 12, NULL, -EBADMSG, 0 },
	{ "half a pointer at the end is refused",       W(H "\1a\xc0"), 12, NULL, -EBADMSG, 0 },
	{ "a pointer past the message is refused",      W(H "\xff\xff"), 12, NULL, -EBADMSG, 0 },
	{ "a label past the message is refused",        W(H "\5abc"), 12, NULL, -EBADMSG, 0 },
	{ "a label that ends with the message is too",  W(H "\3abc"), 12, NULL, -EBADMSG, 0 },
	{ "a start behind the message is refused",      W(H), 12, NULL, -EBADMSG, 0 },
	{ "reserved label types are refused",           W(H "\x40" "a\0"), 12, NULL, -EBADMSG, 0 },
};

static void run_expand(void **state)
{
	const struct expand_case *c = *state;
	uint8_t *msg = malloc(c->size), out[DNS_NAME_MAX];	/* of the very size, for the sanitizer */
	size_t next = 0;

	memcpy(msg, c->msg, c->size);
	assert_int_equal(dns_name_expand(msg, c->size, c->at, out, &next), c->len);
	if (c->len > 0) {
		assert_memory_equal(out, c->whole, c->len);
		assert_int_equal(next, c->next);
	}
	free(msg);
}

/* ---- text --------------------------------------------------------------- */

static const struct text_case {
	const char *name;
	const char *text;
	const char *wire;
	int len;
	const char *back;		/* NULL: not read back */
} text_cases[] = {
	{ "a name without the final dot",       "www.nl", "\3www\2nl", 8, "www.nl" },
	{ "a name with the final dot",          "www.nl.", "\3www\2nl", 8, "www.nl" },
	{ "one label",                          "localhost", "\11localhost", 11, "localhost" },
	{ "the root",                           ".", "", 1, "." },
	{ "letters keep their case",            "wWw.NL", "\3wWw\2NL", 8, "wWw.NL" },
	{ "an escaped dot is within the label", "a\\.b.nl", "\3a.b\2nl", 8, "a\\.b.nl" },
	{ "an escaped backslash",               "a\\\\.nl", "\2a\\\2nl", 7, "a\\\\.nl" },
	{ "an octet by number",                 "\\000\\255.nl", "\2\0\xff\2nl", 7, "\\000\\255.nl" },
	{ "a blank is written by number",       "a b", "\3a b", 5, "a\\032b" },
	{ "an underscore is nothing special",   "_dns.nl", "\4_dns\2nl", 9, "_dns.nl" },
	{ "an escaped final dot is a label's",  "nl\\.", "\3nl.", 5, "nl\\." },
	{ "nothing is no name",                 "", NULL, -EINVAL, NULL },
	{ "a leading dot is refused",           ".nl", NULL, -EINVAL, NULL },
	{ "two dots are refused",               "a..nl", NULL, -EINVAL, NULL },
	{ "two final dots are refused",         "nl..", NULL, -EINVAL, NULL },
	{ "only dots are refused",              "..", NULL, -EINVAL, NULL },
	{ "half an escape is refused",          "a\\", NULL, -EINVAL, NULL },
	{ "a short number is refused",          "a\\12", NULL, -EINVAL, NULL },
	{ "a number with a letter is refused",  "a\\12b", NULL, -EINVAL, NULL },
	{ "a number over 255 is refused",       "a\\256", NULL, -EINVAL, NULL },
};

static void run_text(void **state)
{
	const struct text_case *c = *state;
	char text[DNS_NAME_TEXT_MAX];
	uint8_t wire[DNS_NAME_MAX];
	int len = dns_name_from_text(c->text, strlen(c->text), wire);

	assert_int_equal(len, c->len);
	if (len < 0)
		return;
	assert_memory_equal(wire, c->wire, len);
	assert_string_equal(dns_name_text(wire, text, sizeof(text)), c->back);
}

static void labels_of_63_octets_fit_and_of_64_do_not(void **state)
{
	uint8_t wire[DNS_NAME_MAX];
	char text[65];

	memset(text, 'a', sizeof(text));
	assert_int_equal(dns_name_from_text(text, 63, wire), 65);
	assert_int_equal(dns_name_from_text(text, 64, wire), -EINVAL);
}

static void text_of_255_octets_fits_and_of_256_does_not(void **state)
{
	uint8_t wire[DNS_NAME_MAX], back[DNS_NAME_MAX];
	char text[DNS_NAME_TEXT_MAX];

	long_name(wire, 255, 63);
	dns_name_text(wire, text, sizeof(text));
	assert_int_equal(strlen(text), 253);
	assert_int_equal(dns_name_from_text(text, 253, back), 255);
	assert_memory_equal(back, wire, 255);
	strcat(text, ".");
	assert_int_equal(dns_name_from_text(text, 254, back), 255);
	strcpy(text + 253, "a");
	assert_int_equal(dns_name_from_text(text, 254, back), -EINVAL);
	strcpy(text + 253, ".a");
	assert_int_equal(dns_name_from_text(text, 255, back), -EINVAL);
}

static void the_longest_name_fits_its_text(void **state)
{
	uint8_t wire[DNS_NAME_MAX], back[DNS_NAME_MAX];
	char text[DNS_NAME_TEXT_MAX];
	unsigned i;

	long_name(wire, 255, 63);
	for (i = 0; i < 255; i++)
		if (wire[i] == 'a')
			wire[i] = 0xe9;
	dns_name_text(wire, text, sizeof(text));
	assert_int_equal(dns_name_from_text(text, strlen(text), back), 255);
	assert_memory_equal(back, wire, 255);
}

static void text_is_cut_to_its_buffer(void **state)
{
	char text[16];
	size_t size;

	for (size = 1; size < sizeof(text); size++) {
		memset(text, 'x', sizeof(text));
		dns_name_text((const uint8_t *)"\3www\2nl", text, size);
		assert_true(strlen(text) < size);
		assert_memory_equal(text, "www.nl", strlen(text));
	}
}

/* ---- comparing ---------------------------------------------------------- */

static const struct pair_case {
	const char *name;
	const char *a;
	const char *b;
	bool equal;
	bool in;			/* a is b or below it */
} pair_cases[] = {
	{ "equal names",                          "www.nl", "www.nl", true, true },
	{ "letter case does not matter",          "WwW.nL", "wWw.Nl", true, true },
	{ "a name is in its parent",              "www.nl", "nl", false, true },
	{ "every name is in the root",            "www.nl", ".", false, true },
	{ "the root is in itself",                ".", ".", true, true },
	{ "a parent is not in its child",         "nl", "www.nl", false, false },
	{ "a tail of a label is no parent",       "notexample.nl", "example.nl", false, false },
	{ "a dot in a label is no boundary",      "a\\.example.nl", "example.nl", false, false },
	{ "siblings are apart",                   "a.nl", "b.nl", false, false },
	{ "only letters have two cases",          "a\\192", "a\\224", false, false },
	{ "@ and ` are not one letter",           "@", "`", false, false },
	{ "[ and { are not one letter",           "[", "{", false, false },
};

static void run_pair(void **state)
{
	const struct pair_case *c = *state;
	uint8_t a[DNS_NAME_MAX], b[DNS_NAME_MAX];

	assert_true(dns_name_from_text(c->a, strlen(c->a), a) > 0);
	assert_true(dns_name_from_text(c->b, strlen(c->b), b) > 0);
	assert_int_equal(dns_name_equal(a, b), c->equal);
	assert_int_equal(dns_name_is_in(a, b), c->in);
}

static void lower_case_touches_capitals_only(void **state)
{
	uint8_t all[256], low[256];
	unsigned i;

	for (i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	dns_name_lower(low, all, 251);		/* not a multiple of eight */
	for (i = 0; i < 251; i++)
		assert_int_equal(low[i], i >= 'A' && i <= 'Z' ? i + 32 : i);
	dns_name_lower(all, all, 256);
	for (i = 0; i < 256; i++)
		assert_int_equal(all[i], i >= 'A' && i <= 'Z' ? i + 32 : i);
}

int main(void)
{
	ROWS_ADD(len_cases, run_len);
	ROWS_ADD(expand_cases, run_expand);
	ROWS_ADD(text_cases, run_text);
	ROWS_ADD(pair_cases, run_pair);
	rows_add("names of 255 octets are read", names_of_255_octets_are_read, NULL);
	rows_add("names of 256 octets are refused", names_of_256_octets_are_refused, NULL);
	rows_add("names of 127 labels are read", names_of_127_labels_are_read, NULL);
	rows_add("pointers may not make a name of 256 octets", pointers_may_not_make_a_name_of_256_octets, NULL);
	rows_add("labels of 63 octets fit and of 64 do not", labels_of_63_octets_fit_and_of_64_do_not, NULL);
	rows_add("text of 255 octets fits and of 256 does not", text_of_255_octets_fits_and_of_256_does_not, NULL);
	rows_add("the longest name fits its text", the_longest_name_fits_its_text, NULL);
	rows_add("text is cut to its buffer", text_is_cut_to_its_buffer, NULL);
	rows_add("lower case touches capitals only", lower_case_touches_capitals_only, NULL);
	return rows_run("dns/name");
}
