/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_load.c - the verifier's bill, and real packets that nobody here made.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <linux/bpf.h>
#include <bpf/bpf.h>
#include "packet/run.h"

#define VERIFIED_MAX 300000
#define DATA         "../shared/data"
#define NOT_THERE    (-1)

/* Link types of captures. */
#define LINK_ETHERNET 1
#define LINK_IPV4     228

static struct fill F;
static int number, bad;

static void say(int ok, const char *name, const char *fault)
{
	bad += !ok;
	printf("%s %d - %s\n", ok ? "ok" : "not ok", ++number, name);
	if (!ok && fault)
		printf("# %s\n", fault);
}

static void check_verified(int fd)
{
	struct bpf_prog_info info = { 0 };
	__u32 len = sizeof(info);
	char name[80];

	snprintf(name, sizeof(name), "a program is verified in under %d instructions", VERIFIED_MAX);
	if (bpf_obj_get_info_by_fd(fd, &info, &len)) {
		say(0, name, "the kernel does not tell");
		return;
	}
	printf("# verified: %s %u instructions\n", info.name, info.verified_insns);
	say(info.verified_insns && info.verified_insns < VERIFIED_MAX, name, info.name);
}

/* A frame that passes must come out as it went in; one that is answered must be an answer. */
struct tally {
	unsigned int frames;
	unsigned int answered;
	unsigned int changed;
	unsigned int odd;
};

static void put_through(struct tally *t, const struct frame *q)
{
	static __u8 out[FRAME_MAX];
	static char line[8192];
	size_t len = 0;
	int action = run_frame(F.fd, q->b, q->len, out, &len);

	t->frames++;
	if (action == XDP_TX) {
		t->answered++;
		frame_tell(q, out, len, line, sizeof(line));
		/* faults are named in front of the rcode */
		if (strncmp(line, "NOERROR rd ra", 13)) {
			t->odd++;
			printf("# odd: %.200s\n", line);
		}
	} else if (action != XDP_PASS) {
		t->odd++;
	} else if (len != q->len || memcmp(out, q->b, len)) {
		t->changed++;
	}
}

/* A DNS message as the payload of a datagram to us. */
static void put_message(struct tally *t, const __u8 *message, size_t len, int ipv6)
{
	static struct frame q;

	if (len > 1400)
		return;
	frame_ask(&q, &(struct ask){ .name = ".", .ipv6 = ipv6 });
	memcpy(q.b + q.dns, message, len);
	q.end = q.dns + len;
	q.len = q.end;
	frame_finish(&q);
	/* the end of the question, for what is answered: behind the root byte, type and class */
	q.question = q.dns + 12;
	while (q.question < q.end && q.b[q.question] && q.b[q.question] < 64)
		q.question += q.b[q.question] + 1U;
	q.question += 5;
	put_through(t, &q);
}

static size_t file_read(const char *path, __u8 *to, size_t room)
{
	FILE *f = fopen(path, "re");
	size_t n = 0;

	if (f) {
		n = fread(to, 1, room, f);
		fclose(f);
	}
	return n;
}

/* Every file of a folder as a message; the number of files or NOT_THERE. */
static int put_folder(struct tally *t, const char *folder)
{
	static __u8 message[65536];
	struct dirent *e;
	char path[1024];
	int files = 0;
	size_t len;
	DIR *d = opendir(folder);

	if (!d)
		return NOT_THERE;
	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		len = e->d_name[0] == '.' ? 0 : file_read(path, message, sizeof(message));
		if (!len)
			continue;
		files++;
		put_message(t, message, len, 0);
		put_message(t, message, len, 1);
	}
	closedir(d);
	return files;
}

static unsigned int word(const __u8 *p)
{
	return (unsigned int)p[3] << 24 | (unsigned int)(p[2] << 16 | p[1] << 8 | p[0]);
}

/* Find the datagram of a frame, as far as there is one, and make its destination a service of ours. */
static void locate(struct frame *q)
{
	static const __u8 mapped[12] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
	__u8 *service = (__u8 *)F.conf->service[2].addr;

	q->l3 = 14;
	while (q->l3 + 4 < q->len && q->b[q->l3 - 2] == 0x81 && !q->b[q->l3 - 1])
		q->l3 += 4;
	q->ipv6 = q->b[q->l3 - 2] == 0x86;
	q->udp = q->l3 + (q->ipv6 ? 40 : 20);
	q->dns = q->udp + 8;
	if (q->ipv6) {
		memcpy(service, q->b + q->l3 + 24, 16);
	} else {
		memcpy(service, mapped, sizeof(mapped));
		memcpy(service + 12, q->b + q->l3 + 16, 4);
	}
	F.conf->services = 3;
	q->question = q->dns + 12;
	while (q->question < q->len && q->b[q->question])
		q->question += q->b[q->question] + 1U;
	q->question += 5;
}

/* The frame of a captured packet, with our MAC; IPv4 packets without Ethernet get one. */
static void unpack(struct frame *q, const __u8 *packet, size_t n, unsigned int link)
{
	size_t at = link == LINK_IPV4 ? 14 : 0;

	memset(q, 0, sizeof(*q));
	memcpy(q->b + at, packet, n);
	if (at) {
		q->b[6] = 2;
		q->b[12] = 8;
	}
	memcpy(q->b, F.conf->iface[0].mac, 6);
	q->len = at + n;
	locate(q);
}

/* Every frame of a capture, addressed to us; the number of frames or NOT_THERE. */
static int put_capture(struct tally *t, const char *path)
{
	static __u8 file[4 << 20];
	static struct frame q;
	size_t len = file_read(path, file, sizeof(file)), at = 24, n;
	unsigned int link;
	int frames = 0;

	if (!len)
		return NOT_THERE;
	link = len < 24 ? 0 : word(file + 20);
	if (len < 24 || word(file) != 0xa1b2c3d4 || (link != LINK_ETHERNET && link != LINK_IPV4))
		return 0;
	for (; at + 16 <= len; at += 16 + n) {
		n = word(file + at + 8);
		if (at + 16 + n > len)
			break;
		if (n < 14 || n > 3400)
			continue;
		unpack(&q, file + at + 16, n, link);
		frames++;
		put_through(t, &q);
	}
	return frames;
}

static void report(const char *name, int found, const struct tally *t)
{
	char fault[160];

	if (found == NOT_THERE) {
		printf("ok %d - %s # SKIP no %s here\n", ++number, name, DATA);
		return;
	}
	snprintf(fault, sizeof(fault), "%u frames, %u answered, %u changed but passed, %u odd", t->frames, t->answered,
		 t->changed, t->odd);
	printf("# figure: %s: %s\n", name, fault);
	say(t->frames && !t->changed && !t->odd, name, fault);
}

int main(void)
{
	static const char *const folders[] = {
		"wire/bind9/fuzz/dns_message_parse.in", "wire/bind9/fuzz/dns_rdata_fromwire_text.in",
		"wire/bind9/fuzz/dns_message_checksig.in", "wire/bind9/fuzz/dns_name_fromwire.in",
	};
	static const char *const captures[] = {
		"pcap/dnscap/vlan11.pcap", "pcap/dnscap/frags.pcap", "pcap/dnscap/dns6.pcap", "pcap/dnscap/dns.pcap",
		"pcap/dnscap/dnspad.pcap", "pcap/dnscap/do1t-nosyn-1nolen.pcap", "pcap/dnscap/1qtcppadd.pcap",
		"pcap/wireshark/dns_port.pcap", "pcap/wireshark/dns-ooo.pcap",
	};
	char path[256], name[256];
	int found;

	if (run_open(&F))
		return 0;
	fill_service(&F, "192.0.2.53");
	fill_service(&F, "2001:db8::53");
	fill_verdict(&F, 0, 1, MR_BLOCK, 1);
	fill_rule(&F, ".", 1, 1, FILL_FIRST);
	printf("1..%zu\n", 2 + sizeof(folders) / sizeof(*folders) + sizeof(captures) / sizeof(*captures));
	check_verified(F.fd);
	check_verified(F.why_fd);
	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++) {
		struct tally t = { 0 };

		snprintf(path, sizeof(path), DATA "/%s", folders[i]);
		snprintf(name, sizeof(name), "messages of %s are answered rightly or pass untouched", folders[i]);
		found = put_folder(&t, path);
		report(name, found, &t);
	}
	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
		struct tally t = { 0 };

		snprintf(path, sizeof(path), DATA "/%s", captures[i]);
		snprintf(name, sizeof(name), "frames of %s are answered rightly or pass untouched", captures[i]);
		found = put_capture(&t, path);
		report(name, found, &t);
	}
	fill_close(&F);
	return bad != 0;
}
