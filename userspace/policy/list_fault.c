/* SPDX-License-Identifier: BSD-2-Clause */
/* list_fault.c - where in a line that was skipped the fault is, and what would have been right. */
#include <stdio.h>
#include "policy/list_read.h"

void list_fault(struct list_reading *r, struct list_span at, const char *expected)
{
	/* the first is the one that the others follow from */
	if (r->fault.expected || at.p < r->text.p || at.p > r->text.end)
		return;
	r->fault.at = at;
	r->fault.expected = expected;
}

static bool is_name_octet(char c)
{
	return ((c | 32) >= 'a' && (c | 32) <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || (unsigned char)c > 0x7f;
}

static const char *label_wrong(struct list_span label)
{
	if (label.p == label.end)
		return "a label between two dots";
	if (*label.p == '-')
		return "a label that does not begin with '-'";
	return list_size(label) > 63 ? "labels of at most 63 octets" : NULL;
}

static bool is_number(struct list_span label)
{
	while (label.p < label.end && *label.p >= '0' && *label.p <= '9')
		label.p++;
	return label.p == label.end;
}

void list_fault_name(struct list_reading *r, struct list_span name)
{
	struct list_span label = { name.p, name.p };
	const char *expected;

	for (; label.end <= name.end; label.end++) {
		if (label.end < name.end && *label.end != '.') {
			if (is_name_octet(*label.end))
				continue;
			list_fault(r, (struct list_span){ label.end, label.end + 1 },
				   "letters, digits, '-', '_' and '.' of a name");
			return;
		}
		/* a final dot is none too many */
		if (label.end == name.end && label.p == label.end && label.p > name.p)
			break;
		expected = label_wrong(label);
		if (expected) {
			if (label.p == label.end && label.end < name.end)
				label.end++;
			list_fault(r, label, expected);
			return;
		}
		if (label.end >= name.end - (name.p < name.end && name.end[-1] == '.') && is_number(label)) {
			list_fault(r, label, "a top label that is no number");
			return;
		}
		label.p = label.end + 1;
	}
	_Static_assert(MR_LABELS_MAX == 16, "the text below says how many");
	list_fault(r, name, "a name of at most 253 octets and 16 labels, whose letters are all in IDNA 2008");
}

void list_fault_line(struct list_reading *r, struct list_span line, enum list_skip why)
{
	struct list_span s = line;

	/* the marks of rules are no part of what is wrong with them */
	while (s.p < s.end && (*s.p == '@' || *s.p == '|'))
		s.p++;
	if (why == LIST_SKIP_syntax || why == LIST_SKIP_path)
		list_fault_name(r, s);
	else if (why == LIST_SKIP_cosmetic)
		list_fault(r, line, "a rule about names");
}

void list_fault_report(const struct list_reading *r)
{
	struct list_fault *f = &r->report->fault;

	if (!r->fault.expected)
		return;
	f->offset = (size_t)(r->fault.at.p - r->text.p);
	f->size = list_size(r->fault.at);
	f->expected = r->fault.expected;
}
