/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_kern_system.c - the door to BPF among others (lab.h): links, addresses
 * and pins that others change, and with few rights.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit/kern/lab.h"

/* ---- following the system ----------------------------------------------- */

/* Let the loop work until @is holds, two seconds at most. */
static bool wait_until(uv_loop_t *loop, struct kern *k, bool (*is)(struct kern *k))
{
	unsigned i;

	for (i = 0; i < 200 && !is(k); i++) {
		uv_run(loop, UV_RUN_NOWAIT);
		usleep(10000);
	}
	return is(k);
}

static bool is_attached(struct kern *k) { return status_of(k).iface[0].mode == KERN_NATIVE; }
static bool is_detached(struct kern *k) { return status_of(k).iface[0].mode == KERN_OFF; }
static bool has_new_address(struct kern *k) { return status_of(k).services == 4; }
static bool has_old_addresses(struct kern *k) { return status_of(k).services == 3; }

static struct kern *open_watched(uv_loop_t *loop)
{
	struct err_at e = { 0 };
	struct kern *k = open_usual();

	uv_loop_init(loop);
	assert_int_equal(kern_watch(k, loop, &e), 0);
	return k;
}

static void close_watched(uv_loop_t *loop, struct kern *k)
{
	stop(k, true);
	uv_run(loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(loop), 0);
}

static void an_interface_that_comes_back_is_attached_again(void **state)
{
	uv_loop_t loop;
	struct kern *k;

	k = open_watched(&loop);
	kern_enable(k, true);
	put_a(k, "www.example");
	assert_true(is_attached(k));
	run("ip link del kern0");
	assert_true(wait_until(&loop, k, is_detached));
	assert_false(status_of(k).on);
	assert_int_equal(pair_up(), 0);
	assert_true(wait_until(&loop, k, is_attached));
	assert_int_equal(status_of(k).iface[0].prog_id, program_on("kern0"));
	assert_true(wait_until(&loop, k, has_old_addresses));
	assert_int_equal(ask(k, "www.example", "10.53.9.2").why.stat, MR_STAT_cached);
	close_watched(&loop, k);
}

static void new_addresses_become_services(void **state)
{
	uv_loop_t loop;
	struct kern *k;

	k = open_watched(&loop);
	assert_true(wait_until(&loop, k, has_old_addresses));	/* IPv4, IPv6, link-local */
	run("ip addr add 10.53.9.7/24 dev kern0");
	assert_true(wait_until(&loop, k, has_new_address));
	run("ip addr del 10.53.9.7/24 dev kern0");
	assert_true(wait_until(&loop, k, has_old_addresses));
	close_watched(&loop, k);
}

/* Thousands of changes come while nobody turns the loop, more than the socket holds; then they are followed on. */
static void lost_messages_do_not_end_the_watch(void **state)
{
	uv_loop_t loop;
	struct kern *k;

	k = open_watched(&loop);
	assert_true(wait_until(&loop, k, has_old_addresses));
	run("for i in $(seq 1000); do echo addr add 10.53.9.8/24 dev kern0; echo addr del 10.53.9.8/24 dev kern0; done |"
	    " ip -batch -");
	uv_run(&loop, UV_RUN_NOWAIT);
	assert_true(has_old_addresses(k));
	run("ip addr add 10.53.9.7/24 dev kern0");
	assert_true(wait_until(&loop, k, has_new_address));
	close_watched(&loop, k);
}

static void an_interface_that_a_foreign_program_leaves_is_taken(void **state)
{
	uv_loop_t loop;
	struct kern *k;
	int fd;

	fd = foreign_program();
	assert_int_equal(bpf_xdp_attach(if_nametoindex("kern0"), fd, XDP_FLAGS_DRV_MODE, NULL), 0);
	k = open_watched(&loop);
	assert_true(is_detached(k));
	bpf_xdp_detach(if_nametoindex("kern0"), XDP_FLAGS_DRV_MODE, NULL);
	assert_true(wait_until(&loop, k, is_attached));
	close(fd);
	close_watched(&loop, k);
}

/* ---- pins --------------------------------------------------------------- */

/* Does a note say that pins are missing? */
static bool has_pin_note(struct kern *k)
{
	struct kern_status s = status_of(k);
	unsigned i;

	for (i = 0; i < s.note_count; i++)
		if (strstr(s.notes[i], "what must outlive the daemon is not all pinned: the folder for pins"))
			return true;
	return false;
}

static void check_pinned_again(struct kern *k, const char *said)
{
	struct err_at e = { 0 };

	assert_int_equal(kern_pins_check(k, &e), 1);
	assert_string_equal(e.why, said);
	assert_true(is_there("link-kern0"));
	assert_int_equal(kern_pins_check(k, &e), 0);
	assert_false(has_pin_note(k));
}

static void pins_that_somebody_removed_are_pinned_again(void **state)
{
	struct kern *k = open_usual();
	struct err_at e = { 0 };
	char cmd[128];
	unsigned files;

	assert_int_equal(kern_pins_check(k, &e), 0);
	files = files_in(root);
	snprintf(cmd, sizeof(cmd), "rm %s/link-kern0", root);
	assert_int_equal(run(cmd), 0);
	check_pinned_again(k, "links: 1, maps: none");
	snprintf(cmd, sizeof(cmd), "rm %s/*/mr_stats", root);
	assert_int_equal(run(cmd), 0);
	check_pinned_again(k, "links: 0, maps: all");
	snprintf(cmd, sizeof(cmd), "rm -r %s", root);
	assert_int_equal(run(cmd), 0);
	check_pinned_again(k, "links: 1, maps: all");
	assert_int_equal(files_in(root), files);
	stop(k, false);
	k = open_usual();
	assert_true(kern_taken_over(k));
	stop(k, true);
}

static void pins_that_cannot_be_made_again_are_a_note_until_they_can(void **state)
{
	struct kern *k = open_usual();
	struct err_at e = { 0 };
	char cmd[320];

	snprintf(cmd, sizeof(cmd), "rm -r %s && mkdir %s-aside && ln -s %s-aside %s", root, root, root, root);
	assert_int_equal(run(cmd), 0);
	assert_true(kern_pins_check(k, &e) < 0);
	assert_true(has_pin_note(k));
	snprintf(cmd, sizeof(cmd), "rm %s && rmdir %s-aside", root, root);
	assert_int_equal(run(cmd), 0);
	check_pinned_again(k, "links: 1, maps: all");
	stop(k, true);
}

/* ---- rights ------------------------------------------------------------- */

/* Become nobody with the capabilities that the daemon keeps. */
static int drop(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	const unsigned keep[] = { CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN };
	unsigned i;

	for (i = 0; i < sizeof(keep) / sizeof(keep[0]); i++) {
		data[keep[i] / 32].effective |= 1U << keep[i] % 32;
		data[keep[i] / 32].permitted |= 1U << keep[i] % 32;
	}
	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534))
		return -errno;
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

static int life_without_rights(void)
{
	struct err_at e = { 0 };
	struct kern *k;

	if (!freopen("/dev/null", "w", stdout))
		return 4;
	k = open_usual();
	if (kern_own(k, 65534, 65534, &e) || drop())
		return 1;
	publish(k, 5);
	publish(k, 17000);		/* new maps, a new program, new pins */
	kern_enable(k, true);
	put_a(k, "www.example");
	if (ask(k, "n16999.example", "10.53.9.2").why.stat != MR_STAT_blocked || !holds(k, "www.example"))
		return 2;
	stop(k, true);
	return 0;
}

static void after_dropping_privileges_growth_and_a_clean_stop_still_work(void **state)
{
	int status;
	pid_t pid;

	pid = fork();
	if (!pid)
		_exit(life_without_rights());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(program_on("kern0"), 0);
	assert_int_equal(files_in(root), 0);
	rmdir(root);
}

static int start_without_rights(void)
{
	struct kern *k;
	struct kern_status s;

	if (setresuid(65534, 65534, 65534))
		return 1;
	k = open_usual();
	s = status_of(k);
	stop(k, true);
	return s.on || !strstr(s.reason, "CAP_BPF is missing: start as root");
}

static void without_capabilities_it_is_off_and_names_the_one_that_is_missing(void **state)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(start_without_rights());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void a_link_of_another_network_namespace_is_not_taken_for_ours(void **state)
{
	struct kern_status before, after;
	char cmd[192];
	struct kern *k;
	int status;
	pid_t pid;

	k = open_usual();
	before = status_of(k);
	stop(k, false);
	snprintf(cmd, sizeof(cmd), "ip link add kern0 index %u type veth peer name kern1 && ip link set kern1 up && "
		 "ip link set kern0 up", if_nametoindex("kern0"));
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET) || run(cmd))
			_exit(1);
		k = open_usual();
		after = status_of(k);
		_exit(!(after.on && after.iface[0].mode == KERN_NATIVE &&
			after.iface[0].link_id != before.iface[0].link_id &&
			program_on("kern0") == after.iface[0].prog_id));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(program_on("kern0"), 0);	/* of an earlier run with these pins, so it went */
	k = open_usual();
	stop(k, true);
}

int main(void)
{
	struct CMUnitTest tests[20];
	size_t n = 0;

	TEST(an_interface_that_comes_back_is_attached_again);
	TEST(new_addresses_become_services);
	TEST(lost_messages_do_not_end_the_watch);
	TEST(an_interface_that_a_foreign_program_leaves_is_taken);
	TEST(pins_that_somebody_removed_are_pinned_again);
	TEST(pins_that_cannot_be_made_again_are_a_note_until_they_can);
	TEST(without_capabilities_it_is_off_and_names_the_one_that_is_missing);
	TEST(a_link_of_another_network_namespace_is_not_taken_for_ours);
	TEST(after_dropping_privileges_growth_and_a_clean_stop_still_work);
	return run_in_lab("kern/system", tests, n);
}
