/* What the files of harness/ share. They are linked only into products of `merge --harness`, after every use of
 * a libc function NAME in the versions and in core/ was bound to p3_instead_NAME wherever that exists here. So
 * NAME means libc's in these files, and only in these. */
#ifndef P3_HARNESS_H
#define P3_HARNESS_H

#include "core/core.h"
#include <stdint.h>

#define INSTEAD(name) p3_instead_##name

/* ---- template.c ---- */

#define P3_WORDS 64
#define P3_ARGUMENTS 4096
#define P3_DEFAULT_SIZE 4096

struct p3_word {
  enum { P3_LITERAL, P3_ARG, P3_ARGS, P3_FILE, P3_STDIN, P3_MARKED } kind;
  char *text;       /* of P3_LITERAL */
  size_t size;      /* at most so many bytes */
  size_t min, max;  /* of P3_ARGS */
};

struct p3_template {
  size_t count;
  struct p3_word words[P3_WORDS];
};

struct p3_bytes {
  const uint8_t *at;
  size_t size;
};

/* What one input stands for. */
struct p3_input {
  size_t count; /* of arguments */
  struct p3_bytes arguments[P3_ARGUMENTS];
  size_t files;
  struct p3_bytes file[P3_WORDS]; /* as the words with @file stand */
  struct p3_bytes stdin;
  struct p3_bytes marked; /* for pp_input */
};

/* Ends the process with a message if it is not a template. */
void p3_template_parse(struct p3_template *template, const char *text);
/* The bytes of `input` are those of `data`, the template's or the names of the files. */
void p3_template_decode(const struct p3_template *template, const uint8_t *data, size_t size,
                        struct p3_input *input);
/* The name of the file of that number: "A", "B", ... as KLEE calls symbolic files. */
const char *p3_template_file(size_t number);

/* ---- heap.c: what a run has to give back ---- */

/* A run is under way in this process: what it takes is remembered. */
extern bool p3_heap_watched;
/* `thing` is given back by `release` at the end of the run. Returns it; null is nothing. */
void *p3_heap_hold(void *thing, void (*release)(void *thing));
/* It has been given back already, or is about to be. */
void p3_heap_drop(void *thing);
bool p3_heap_has(const void *thing);
/* Drops all that `release` would give back. */
void p3_heap_drop_all_of(void (*release)(void *thing));
void p3_heap_map(void *at, size_t size);
void p3_heap_unmap(void *at, size_t size);
void p3_heap_release(void);

/* ---- snapshot.c ---- */
void p3_snapshot_take(void);
void p3_snapshot_restore(void);

/* ---- outside.c ---- */

/* The version is about to do what cannot be undone in this process: the run is given up and made again in a
 * child. Returns in such a child. */
void p3_leave_process(void);
void p3_outside_reset(void);

/* ---- findings.c ---- */
void p3_findings_open(const char *directory);
bool p3_findings_wanted(void);
/* Takes the first line that the product says in a run. */
void p3_findings_begin(void);
/* A run is over; `failed`: one of the product's checks has failed. */
void p3_findings_end(bool failed, const uint8_t *data, size_t size);

/* ---- harness.c ---- */

/* A check has failed and the product would abort. */
_Noreturn void p3_harness_verdict(void);

#endif
