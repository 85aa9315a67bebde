/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * list_sink.c - finds the address that a list sends nearly all of its names to.
 *
 * Some hosts lists block with an address of their own, a server that answers
 * with an empty page.  To the letter each of their lines is a rewrite, which costs
 * a hundred times what a block does; what is meant is a block.
 */
#include "policy/list_read.h"

#define NAMES_MIN 1000			/* as many are no local network */

struct sinks {
	uint8_t ip[16];			/* the candidate */
	uint64_t votes;
	uint64_t lines;			/* that say something */
	uint64_t with, names;		/* lines and names of the candidate */
};

/* An address that is no sink by itself, and can be answered. */
static bool is_answer(struct list_span word, uint8_t ip[16])
{
	enum list_address kind;

	return list_is_address(word, &kind) && kind == LIST_ADDRESS_OTHER && list_address_ip(word, ip);
}

/* The address of a line in hosts or dnsmasq format, and how many names it has; false: none that matters. */
static bool take_line(struct list_span s, uint8_t ip[16], unsigned *ret_names)
{
	struct list_span word;
	const char *slash;

	*ret_names = 0;
	if (*s.p == 'a' && list_starts(s, "address=/")) {
		s = list_without_remark(s);
		slash = memrchr(s.p, '/', list_size(s));
		if (!is_answer((struct list_span){ slash + 1, s.end }, ip))
			return false;
		for (; s.p < slash; s.p++)
			*ret_names += *s.p == '/';
		return true;
	}
	word = list_word(&s);
	if (!is_answer(word, ip))
		return false;
	s = list_without_comment(s);
	while (s.p < s.end) {
		list_word(&s);
		++*ret_names;
	}
	return *ret_names > 0;
}

/* Majority vote (Boyer and Moore): what is on more than half of the lines is the candidate in the end. */
static void vote(struct sinks *k, bool has, const uint8_t ip[16], unsigned names)
{
	k->lines++;
	if (has && !k->votes)
		memcpy(k->ip, ip, sizeof(k->ip));
	if (has && !memcmp(k->ip, ip, sizeof(k->ip)))
		k->votes++;
	else if (k->votes)
		k->votes--;
}

static void count(struct sinks *k, bool has, const uint8_t ip[16], unsigned names)
{
	if (!has || memcmp(k->ip, ip, sizeof(k->ip)))
		return;
	k->with++;
	k->names += names;
}

static void each_line(struct list_span text, struct sinks *k,
		      void (*look)(struct sinks *k, bool has, const uint8_t ip[16], unsigned names))
{
	struct list_span line;
	uint8_t ip[16];
	unsigned names;
	bool has;

	while (text.p < text.end) {
		line = list_until(&text, '\n');
		while (line.p < line.end && line.end[-1] == '\r')
			line.end--;
		line = list_trim(line);
		if (line.p == line.end || list_is_remark(line))
			continue;
		has = take_line(line, ip, &names);
		look(k, has, ip, names);
	}
}

bool list_sink_find(struct list_span text, uint8_t ret_ip[16])
{
	struct sinks k = { .votes = 0 };

	if (list_size(text) < NAMES_MIN)
		return false;
	each_line(text, &k, vote);
	if (!k.votes)
		return false;
	each_line(text, &k, count);
	if (k.names <= NAMES_MIN || k.with * 10 <= k.lines * 9)
		return false;
	memcpy(ret_ip, k.ip, sizeof(k.ip));
	return true;
}
