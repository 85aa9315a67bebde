/* SPDX-License-Identifier: BSD-2-Clause */
/* filter.c - judges names, through the same functions as the kernel. */
#include <string.h>
#include "base/bug.h"
#include "policy/filter.h"

static const struct mr_decision nothing;

const char *filter_verdict_text(unsigned kind)
{
	static const char *const text[MR_VERDICTS] = {
		[MR_NONE] = "none", [MR_BLOCK] = "block", [MR_ALLOW] = "allow", [MR_IMPORTANT_BLOCK] = "important_block",
		[MR_ASK] = "ask", [MR_IMPORTANT_ALLOW] = "important_allow", [MR_LOCAL_ZONE] = "local_zone",
	};

	return kind < MR_VERDICTS ? text[kind] : "?";
}

static void tell(const struct mr_decision *d, struct filter_result *ret)
{
	*ret = (struct filter_result){
		.kind = (enum mr_verdict_kind)d->verdict.kind,
		.list = d->verdict.list,
		.depth = d->depth,
		.entry = d->entry,
	};
}

void filter_ahead(const struct filter_view *v, const struct mr_name *name)
{
	const struct mr_unit *u = v->unit;
	uint32_t depths = MR_READ(u->depths);
	unsigned i;

	for (i = 0; i <= name->labels; i++)
		if (depths >> i & 1) {
			__builtin_prefetch(&v->buckets[mr_bucket_first(name->hash[i], u->bucket_mask)]);
			__builtin_prefetch(&v->bloom[mr_bloom_word(name->hash[i], u->bloom_mask)]);
		}
}

void filter_find(const struct filter_view *v, const struct mr_name *name, unsigned group, struct filter_result *ret)
{
	const struct mr_unit *u = v->unit;

	/* All loads under way at once, not one behind another: each costs more than the rest of the look-up. */
	filter_ahead(v, name);
	/* the shared functions count from the start of the maps */
	struct mr_decision d = mr_filter_decide(u, v->buckets - u->bucket_base, (const __u64 *)v->bloom - u->bloom_base,
						v->verdicts - u->verdict_base, name, group);

	tell(&d, ret);
}

/* Where the MR_LABELS_MAX rightmost labels start. */
static const uint8_t *last_labels(const uint8_t *name, uint16_t len, uint16_t *ret_len)
{
	const uint8_t *p, *end = name + len;
	unsigned labels = 0;

	for (p = name; p < end && *p && *p <= 63; p += *p + 1)
		labels++;
	for (p = name; labels > MR_LABELS_MAX; labels--)
		p += *p + 1;
	*ret_len = (uint16_t)(end - p);
	return p;
}

bool filter_hash_deep(const uint8_t *lower, uint16_t len, const struct mr_secret *s, struct mr_name *ret)
{
	const uint8_t *p;

	memset(ret, 0, sizeof(*ret));
	p = last_labels(lower, len, &ret->len);
	if (ret->len <= MR_NAME_MAX)
		memcpy(ret->text, p, ret->len);
	if (bug_if(ret->len > MR_NAME_MAX) || bug_if(mr_name_hash(ret, s)))
		memset(ret, 0, sizeof(*ret));
	return p != lower;
}

void filter_find_deep(const struct filter_view *v, const uint8_t *lower, uint16_t len, const struct mr_secret *s,
		      unsigned group, struct filter_result *ret)
{
	const struct mr_unit *u = v->unit;
	struct mr_decision d = nothing;
	struct mr_name name;
	struct mr_found found;
	uint32_t depths = MR_READ(u->depths);
	unsigned i;

	/* all of these are parents of the name, unless nothing was cut */
	if (!filter_hash_deep(lower, len, s, &name)) {
		filter_find(v, &name, group, ret);
		return;
	}
	for (i = name.labels + 1U; i-- > 0;) {
		if (!(depths >> i & 1))
			continue;
		found = mr_filter_find(u, v->buckets - u->bucket_base, (const __u64 *)v->bloom - u->bloom_base, name.hash[i]);
		mr_filter_weigh(u, v->verdicts - u->verdict_base, group, found.subtree, i, &d);
	}
	tell(&d, ret);
}
