/* Functions of the native part. r/native/src/abi.rs in the repository defines them, and the rules for calling them. */
#ifndef PAJE_H
#define PAJE_H

#include <stddef.h>

typedef struct Reading Reading;

/* UTF-8 text, valid until the next call. bytes is NULL for a missing text. */
typedef struct {
    const char *bytes;
    size_t length;
} Text;

enum { PAJE_INTEGER, PAJE_DOUBLE, PAJE_FACTOR, PAJE_TEXT };

Reading *paje_new(void);
void paje_free(Reading *reading);
int paje_add_path(Reading *reading, const char *path);
int paje_set_bytes(Reading *reading, const unsigned char *bytes, size_t length);
int paje_ask(Reading *reading, const char *keyword, const char *value);
int paje_start(Reading *reading);
int paje_wait(Reading *reading, unsigned milliseconds);
void paje_progress(const Reading *reading, double *read, double *size);
double paje_end(const Reading *reading);
size_t paje_facts(Reading *reading, unsigned what);
Text paje_fact(Reading *reading, size_t row, size_t field);
int paje_table(Reading *reading, unsigned table);
size_t paje_columns(const Reading *reading);
size_t paje_rows(const Reading *reading);
size_t paje_batches(const Reading *reading);
size_t paje_begin(const Reading *reading, size_t batch);
Text paje_column_name(Reading *reading, size_t column);
unsigned paje_column_kind(const Reading *reading, size_t column);
int paje_fill(Reading *reading, void *const *columns, size_t from, size_t to);
size_t paje_text_rows(const Reading *reading, size_t batch);
Text paje_text(Reading *reading, size_t column, size_t batch, size_t row);
int paje_finish(Reading *reading, void *const *columns);
size_t paje_levels(const Reading *reading, size_t column);
Text paje_level(const Reading *reading, size_t column, size_t level);

#endif
