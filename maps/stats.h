/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * stats.h - every counter of the packet path, by name.
 *
 * One row per decision and per reason to pass.  The program, the metrics, the
 * manual and millctl take their names from here.  Counters are per CPU and
 * exact; the kernel adds, the daemon reads and never resets.
 *
 * Each packet adds one to "packets", and one to exactly one row of the kinds
 * ANSWER or PASS; MARK rows count beside those.
 */
#ifndef MAPS_STATS_H
#define MAPS_STATS_H

#include "maps/types.h"

/* ROW(kind, name, help) */
#define MR_STATS(ROW) \
	ROW(MARK,   packets,            "frames the program saw") \
	ROW(ANSWER, blocked,            "answered: blocked by the filter") \
	ROW(ANSWER, withheld,           "answered: a type that the group does not get") \
	ROW(ANSWER, cached,             "answered: from the table of answers") \
	ROW(ANSWER, local,              "answered: from a local zone") \
	ROW(PASS,   pass_other,         "not DNS for us: another protocol, port, address or MAC") \
	ROW(PASS,   pass_disabled,      "the fast path is switched off") \
	ROW(PASS,   pass_truncated,     "the frame is shorter than its headers say") \
	ROW(PASS,   pass_source,        "the source is ourselves, a broadcast or a multicast address, or port 0") \
	ROW(PASS,   pass_ip_options,    "IPv4 header with options") \
	ROW(PASS,   pass_fragment,      "IPv4 fragment") \
	ROW(PASS,   pass_ext_header,    "IPv6 extension header") \
	ROW(PASS,   pass_udp_length,    "UDP length differs from that of the IP payload") \
	ROW(PASS,   pass_unfinished,    "generic mode: the sender's checksum is not finished") \
	ROW(PASS,   pass_short,         "shorter than a DNS header and a question") \
	ROW(PASS,   pass_response,      "QR is set") \
	ROW(PASS,   pass_opcode,        "opcode is not QUERY") \
	ROW(PASS,   pass_flags,         "TC, Z or another header bit that a query must not have") \
	ROW(PASS,   pass_counts,        "section counts are not those of a plain query") \
	ROW(PASS,   pass_rd,            "RD is clear and the name is not in a local zone") \
	ROW(PASS,   pass_name,          "the question's name is malformed or compressed") \
	ROW(PASS,   pass_labels,        "the name has more labels than the kernel hashes") \
	ROW(PASS,   pass_class,         "class is not IN") \
	ROW(PASS,   pass_type,          "a type that is never answered here (0, 41, 249-255)") \
	ROW(PASS,   pass_additional,    "the additional record is not an OPT at the root") \
	ROW(PASS,   pass_edns_version,  "EDNS version above 0") \
	ROW(PASS,   pass_edns_option,   "an EDNS option other than cookie and padding, or a broken one") \
	ROW(PASS,   pass_trailing,      "bytes after the message") \
	ROW(PASS,   pass_access,        "the client has no access: the daemon refuses") \
	ROW(PASS,   pass_ask,           "the filter asks user space") \
	ROW(PASS,   pass_miss,          "no answer here") \
	ROW(PASS,   pass_expired,       "the answer has expired") \
	ROW(PASS,   pass_generation,    "the answer was made before a flush or a change of policy") \
	ROW(PASS,   pass_torn,          "the answer was being written") \
	ROW(PASS,   pass_size,          "the answer is bigger than the client takes") \
	ROW(PASS,   pass_room,          "the frame could not be grown") \
	ROW(PASS,   pass_internal,      "a map was missing, or our own bug") \
	ROW(MARK,   grown_tail,         "answers that grew the frame at its tail") \
	ROW(MARK,   grown_head,         "answers that grew the frame at its head") \
	ROW(MARK,   stale,              "answers given though their time was over: no server answers, or the daemon is dead") \
	ROW(MARK,   refresh_asked,      "refresh events sent") \
	ROW(MARK,   events_lost,        "events that found their ring full")

enum mr_stat {
#define ROW(kind, name, help) MR_STAT_##name,
	MR_STATS(ROW)
#undef ROW
	MR_STATS_COUNT
};

/* Value of mr_stats, a per-CPU array of one. */
struct mr_stats {
	__u64 count[MR_STATS_COUNT];
};

/* Who answered, for the latency histogram and the events. */
enum mr_source {
	MR_SOURCE_PASS,
	MR_SOURCE_BLOCKED,
	MR_SOURCE_CACHED,
	MR_SOURCE_LOCAL,
	MR_SOURCES
};

/* Value of mr_latency, a per-CPU array of one: bucket b holds samples of 2^b <= ns < 2^(b+1). */
#define MR_LATENCY_BUCKETS 24
struct mr_latency {
	__u64 count[MR_SOURCES][MR_LATENCY_BUCKETS];
	__u64 sum_ns[MR_SOURCES];
};

#endif
