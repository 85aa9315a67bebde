/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * main.c - millraced: start in order, stop in reverse.
 */
#define LOG_ROOM "main"
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "api/api.h"
#include "base/log.h"
#include "base/process.h"
#include "control/control.h"

#define CONFIG_DEFAULT "/etc/millrace/millrace.yaml"
#define EXIT_CONFIG    2

struct daemon {
	uv_loop_t loop;
	uv_signal_t hup;
	uv_timer_t reload;
	uv_signal_t term;
	uv_signal_t intr;
	struct control *control;
	struct api *api;
};

static void on_reload(uv_timer_t *t)
{
	struct daemon *d = t->data;
	struct err_at at = { 0 };

	process_notify_reloading();
	control_reload(d->control, &at);
	process_notify("READY=1");
}

/*
 * Those that came while a reload ran are heard in a row: one reload is for all of
 * them, and none when SIGTERM is among them.
 */
static void on_hup(uv_signal_t *s, int signum)
{
	struct daemon *d = s->data;

	uv_timer_start(&d->reload, on_reload, 0, 0);
}

static void on_term(uv_signal_t *s, int signum)
{
	uv_stop(s->loop);
}

static int usage(FILE *to, int status)
{
	fprintf(to, "usage: millraced [-c FILE] [-v] [--version] [--help]\n"
		    "  -c FILE    configuration (default " CONFIG_DEFAULT ")\n"
		    "  -v         log details\n"
		    "Stays in the foreground and logs to standard error.  SIGHUP reads the\n"
		    "configuration again, SIGTERM ends.  Check a file with: millctl config check FILE\n");
	return status;
}

/* Returns -1 to go on, or an exit status. */
static int options(int argc, char **argv, const char **ret_path)
{
	static const struct option longs[] = {
		{ "help", no_argument, NULL, 'h' }, { "version", no_argument, NULL, 'V' }, { 0 },
	};
	int o;

	while ((o = getopt_long(argc, argv, "c:vh", longs, NULL)) != -1) {
		switch (o) {
		case 'c':
			*ret_path = optarg;
			break;
		case 'v':
			log_set_level(LOG_LEVEL_DEBUG);
			break;
		case 'V':
			printf("millraced %s\n", MR_VERSION);
			return 0;
		case 'h':
			return usage(stdout, 0);
		default:
			return usage(stderr, EXIT_CONFIG);
		}
	}
	if (optind < argc) {
		fprintf(stderr, "millraced: unexpected argument %s\n", argv[optind]);
		return usage(stderr, EXIT_CONFIG);
	}
	return -1;
}

static struct config *read_config(const char *path)
{
	struct config_errors errors = { 0 };
	struct config *config = NULL;

	if (control_read_config(path, &config, &errors) == 0)
		return config;
	control_log_errors(&errors);
	return NULL;
}

static void watch_signals(struct daemon *d)
{
	signal(SIGPIPE, SIG_IGN);
	uv_timer_init(&d->loop, &d->reload);
	uv_signal_init(&d->loop, &d->hup);
	uv_signal_init(&d->loop, &d->term);
	uv_signal_init(&d->loop, &d->intr);
	d->reload.data = d->hup.data = d->term.data = d->intr.data = d;
	uv_signal_start(&d->hup, on_hup, SIGHUP);
	uv_signal_start(&d->term, on_term, SIGTERM);
	uv_signal_start(&d->intr, on_term, SIGINT);
}

/* @started: false when the start failed */
static void stop(struct daemon *d, bool started)
{
	process_notify("STOPPING=1");
	/* Control turns the loop as it ends: a reload that waits there must not begin. */
	uv_close((uv_handle_t *)&d->reload, NULL);
	api_stop(d->api);
	control_stop(d->control, started);
	uv_close((uv_handle_t *)&d->hup, NULL);
	uv_close((uv_handle_t *)&d->term, NULL);
	uv_close((uv_handle_t *)&d->intr, NULL);
	uv_run(&d->loop, UV_RUN_DEFAULT);
	uv_loop_close(&d->loop);
}

int main(int argc, char **argv)
{
	static struct daemon d;
	const char *path = CONFIG_DEFAULT;
	char socket[CONFIG_PATH_MAX], text[1024];
	struct err_at at = { 0 };
	struct config *config;
	int err;

	err = options(argc, argv, &path);
	if (err >= 0)
		return err;
	config = read_config(path);
	if (!config)
		return EXIT_CONFIG;
	snprintf(socket, sizeof(socket), "%s", config->api_socket);
	process_raise_files();
	err = uv_loop_init(&d.loop);
	if (err) {
		log_err("cannot start: no loop: %s", uv_strerror(err));
		config_free(config);
		return EXIT_FAILURE;
	}
	watch_signals(&d);
	err = control_start(&d.loop, path, config, &d.control, &at);
	if (!err)
		err = api_start(d.control, socket, geteuid(), getegid(), &d.api, &at);
	if (err) {
		if (!*at.why)
			err_why(&at, err, "%s", strerror(-err));
		log_err("cannot start: %s", err_text(&at, text, sizeof(text)));
	} else {
		log_info("millraced %s is ready", MR_VERSION);
		process_notify("READY=1");
		uv_run(&d.loop, UV_RUN_DEFAULT);
		log_info("stopping");
	}
	stop(&d, !err);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}
