/* SPDX-License-Identifier: BSD-2-Clause */
/* lab.c - the namespaces of lab.h and what the tests do in them. */
#include "unit/kern/lab.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>
#include "base/clock.h"

static char dir[] = "/tmp/kern-bpffs-XXXXXX";
char root[64];
static struct addr listens[2];
static struct kern *open_now;		/* closed after a test that failed */

int run(const char *cmd)
{
	int status = system(cmd);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

const char *enter_lab(void)
{
	if (geteuid())
		return "not root";
	if (unshare(CLONE_NEWNS | CLONE_NEWNET) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return "no namespaces of our own";
	if (!mkdtemp(dir) || mount("bpf", dir, "bpf", 0, "mode=700"))
		return "no bpffs can be mounted";
	snprintf(root, sizeof(root), "%s/millrace", dir);
	if (run("ip link set lo up"))
		return "iproute2 is not installed";
	if (run("ip link add kern0 type veth peer name kern1 && ip link del kern0"))
		return "no veth can be made";
	return NULL;
}

void leave_lab(void)
{
	if (root[0])
		umount2(dir, MNT_DETACH);
	rmdir(dir);
}

int run_in_lab(const char *group, const struct CMUnitTest *tests, size_t count)
{
	const char *why_not = enter_lab();
	int failed = 0;
	size_t i;

	for (i = 0; why_not && i < count; i++)
		printf("ok %zu - %s # SKIP no BPF: %s\n", i + 1, tests[i].name, why_not);
	if (!why_not)
		failed = _cmocka_run_group_tests(group, tests, count, NULL, NULL);
	leave_lab();
	return failed;
}

int pair_up(void)
{
	return run("ip link add kern0 type veth peer name kern1 && ip link set kern1 up && ip link set kern0 up && "
		   "ip addr add 10.53.9.1/24 dev kern0 && ip addr add fd53:9::1/64 dev kern0 nodad");
}

int setup(void **state)
{
	run("ip link del kern0 2>/dev/null");
	return pair_up();
}

void stop(struct kern *k, bool detach)
{
	open_now = NULL;
	kern_close(k, detach);
}

int teardown(void **state)
{
	if (open_now)
		stop(open_now, true);
	return 0;
}

struct kern_opts options(void)
{
	struct kern_opts o = { .interfaces = { "kern0" }, .interface_count = 1, .pin_root = root, .listen = listens,
			       .listens = 2, .answers = 1000, .filter_entries = 1000, .recursion = true };

	addr_parse("0.0.0.0", 53, &listens[0]);
	addr_parse("::", 53, &listens[1]);
	return o;
}

struct kern *open_with(const struct kern_opts *o, unsigned secret)
{
	struct mr_secret s = make_secret(secret);
	struct err_at e = { 0 };
	struct kern *k = NULL;
	int err = kern_open(o, &s, &k, &e);

	if (err)
		fail_msg("kern_open: %d %s", err, e.why);
	open_now = k;
	return k;
}

struct kern *open_usual(void)
{
	struct kern_opts o = options();

	return open_with(&o, 1);
}

struct kern_status status_of(struct kern *k)
{
	struct kern_status s;

	kern_status(k, &s);
	return s;
}

unsigned files_in(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	unsigned n = 0;

	while (d && (e = readdir(d)))
		n += e->d_name[0] != '.';
	if (d)
		closedir(d);
	return n;
}

bool is_there(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	return !access(path, F_OK);
}

uint32_t program_on(const char *ifname)
{
	LIBBPF_OPTS(bpf_xdp_query_opts, q);

	return bpf_xdp_query(if_nametoindex(ifname), 0, &q) ? 0 : q.prog_id;
}

struct filter_view publish(struct kern *k, unsigned names)
{
	struct mr_secret s = make_secret(1);
	struct filter *f = make_filter(&s, names);
	struct mr_verdict *v = make_verdicts(f);
	struct filter_view view;
	struct err_at e = { 0 };
	bool mapped = false;
	int err = kern_filter_publish(k, f, v, 1, &view, &mapped, &e);

	if (err)
		fail_msg("publish: %d %s", err, e.why);
	assert_true(mapped);
	free(v);
	filter_free(f);
	return view;
}

void put_a(struct kern *k, const char *name)
{
	uint64_t now = clock_coarse_ns();
	struct dns_answer *a = make_a(name, 300, now);

	kern_answer_put(k, a, false, status_of(k).filter_generation, true, now);
	dns_answer_unref(a);
}

bool holds(struct kern *k, const char *name)
{
	struct dns_key key = make_key(name, DNS_A);

	return kern_answer_holds(k, &key, clock_coarse_ns());
}

struct kern_why_result ask(struct kern *k, const char *name, const char *client)
{
	struct dns_key key = make_key(name, DNS_A);
	struct kern_why_query q = { .name = key.name, .name_len = key.name_len, .qtype = DNS_A, .edns = true };
	struct kern_why_result r = { 0 };
	struct err_at e = { 0 };
	int err;

	addr_parse(client, 0, &q.client);
	err = kern_why(k, &q, &r, &e);
	if (err)
		fail_msg("why: %d %s", err, e.why);
	return r;
}

int foreign_program(void)
{
	const struct bpf_insn code[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return bpf_prog_load(BPF_PROG_TYPE_XDP, "somebodys", "GPL", code, 2, NULL);
}
