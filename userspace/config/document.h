/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * document.h - one YAML document out of a text, or the reason why not.
 */
#ifndef CONFIG_DOCUMENT_H
#define CONFIG_DOCUMENT_H

#include <yaml.h>
#include "config/config.h"

/**
 * Parse a text that holds one document or none.
 *
 * @ret  the caller's, for yaml_document_delete(); without a root when the text is empty
 *
 * Returns 0; -EINVAL with one error noted when the text is no YAML, holds more
 * than one document, nests deeper than this room ever needs, has tags of its
 * own, or is over CONFIG_SIZE_MAX; -ENOMEM.
 */
int document_load(const char *text, size_t size, const char *file, yaml_document_t *ret, struct config_errors *errs);

#endif
