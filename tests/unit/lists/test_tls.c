/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * test_tls.c - lists over https, from openssl's server with certificates of an
 * authority of our own.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "tests/unit/lists/rig.h"

#define LIST "0.0.0.0 ads.example\n"

static char folder[64], ca[96];
static pid_t server;
static unsigned port;

static void put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* An authority, and a certificate of it for lists.example. */
static bool make_certificates(void)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "cd %s && exec >openssl.log 2>&1 && "
		 "openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 -subj /CN=authority && "
		 "openssl req -newkey rsa:2048 -nodes -keyout server.key -out server.csr -subj /CN=lists.example && "
		 "printf 'subjectAltName=DNS:lists.example\\n' >san && "
		 "openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile san -out server.pem",
		 folder);
	snprintf(ca, sizeof(ca), "%s/ca.pem", folder);
	return !system(command);
}

static void become_server(int out)
{
	if (chdir(folder) || dup2(open("/dev/null", O_RDWR), 0) < 0 || dup2(out, 1) < 0 || dup2(open("server.log", O_CREAT | O_WRONLY, 0600), 2) < 0)
		_exit(1);
	execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", "server.pem", "-key", "server.key", "-HTTP", NULL);
	_exit(1);
}

/* It says "ACCEPT 127.0.0.1:PORT". */
static bool start_server(void)
{
	int out[2];
	char line[256];
	FILE *f;

	if (pipe2(out, O_CLOEXEC))
		return false;
	server = fork();
	if (!server)
		become_server(out[1]);
	close(out[1]);
	f = fdopen(out[0], "r");
	while (f && !port && fgets(line, sizeof(line), f))
		sscanf(line, "ACCEPT 127.0.0.1:%u", &port);
	return port;		/* the pipe stays open: the server goes on writing into it */
}

static int begin(void **state)
{
	make_folder(folder, sizeof(folder));
	put("list", "HTTP/1.0 200 OK\r\n\r\n" LIST);
	put("down", "HTTP/1.0 302 Found\r\nLocation: http://lists.example:1/list\r\n\r\n");
	put("beside", "HTTP/1.0 302 Found\r\nLocation: /list\r\n\r\n");
	if (!make_certificates() || !start_server())
		print_message("# note: no server by openssl, the tests are skipped\n");
	return 0;
}

static int end(void **state)
{
	if (server > 0) {
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	remove_folder(folder);
	return 0;
}

static void no_page(struct conn *c)
{
}

/* Fetch https://HOST:PORT/PATH, trusting our authority when @trusts. */
static struct rig *fetch(const char *host, const char *path, bool trusts)
{
	struct rig *r;
	char url[256];

	if (!port)
		skip();
	r = rig_new(no_page);
	r->job.ca_file = trusts ? ca : NULL;
	snprintf(url, sizeof(url), "https://%s:%u/%s", host, port, path);
	rig_fetch_url(r, url);
	return r;
}

static void a_list_over_https_is_fetched(void **state)
{
	struct rig *r = fetch("lists.example", "list", true);
	char *text = rig_file(r, "ads");

	assert_string_equal(r->job.error, "");
	assert_int_equal(r->job.event, LISTS_CHANGED);
	assert_string_equal(text, LIST);
	free(text);
	rig_free(r);
}

static void a_redirect_within_https_is_followed(void **state)
{
	struct rig *r = fetch("lists.example", "beside", true);

	assert_int_equal(r->job.event, LISTS_CHANGED);
	rig_free(r);
}

static void assert_refused(struct rig *r, int err, const char *said)
{
	char *text = rig_file(r, "ads");

	assert_int_equal(r->job.event, LISTS_FAILED);
	assert_int_equal(r->job.err, err);
	if (!strstr(r->job.error, said))
		print_error("%s\n", r->job.error);
	assert_non_null(strstr(r->job.error, said));
	assert_string_equal(text, "");
	free(text);
	rig_free(r);
}

static void an_authority_that_the_system_does_not_know_is_refused(void **state)
{
	assert_refused(fetch("lists.example", "list", false), -EKEYREJECTED, "certificate");
}

static void a_certificate_of_another_name_is_refused(void **state)
{
	assert_refused(fetch("mirror.example", "list", true), -EKEYREJECTED, "mirror.example");
	assert_refused(fetch("127.0.0.1", "list", true), -EKEYREJECTED, "127.0.0.1");
}

static void a_redirect_from_https_to_http_is_not_followed(void **state)
{
	assert_refused(fetch("lists.example", "down", true), -EPROTO, "from https to http");
}

static void authorities_that_cannot_be_read_are_a_failure(void **state)
{
	strcat(ca, ".gone");
	assert_refused(fetch("lists.example", "list", true), -EKEYREJECTED, ca);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_over_https_is_fetched),
		cmocka_unit_test(a_redirect_within_https_is_followed),
		cmocka_unit_test(an_authority_that_the_system_does_not_know_is_refused),
		cmocka_unit_test(a_certificate_of_another_name_is_refused),
		cmocka_unit_test(a_redirect_from_https_to_http_is_not_followed),
		cmocka_unit_test(authorities_that_cannot_be_read_are_a_failure),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, begin, end);
}
