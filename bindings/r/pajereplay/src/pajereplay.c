/* Connects R and Rust. R's errors and interrupts jump out of C functions, but must not jump over
   Rust functions. So each call of Rust returns before R is called. An external pointer owns Rust's
   memory, so that a jump leaks nothing. */
#include <limits.h>
#include <stdint.h>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>

#include "paje.h"

static Reading *reading_of(SEXP pointer)
{
    Reading *reading = R_ExternalPtrAddr(pointer);
    if (!reading)
        Rf_error("the trace has been freed");
    return reading;
}

static void finalize(SEXP pointer)
{
    Reading *reading = R_ExternalPtrAddr(pointer);
    if (reading) {
        R_ClearExternalPtr(pointer);
        paje_free(reading);
    }
}

/* R counts the bytes of a string in an int. */
static SEXP text(Text text)
{
    if (!text.bytes)
        return NA_STRING;
    if (text.length > INT_MAX)
        Rf_error("a string has more than 2 GB, the limit of R");
    return Rf_mkCharLenCE(text.bytes, (int) text.length, CE_UTF8);
}

static SEXP reading_new(void)
{
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    R_SetExternalPtrAddr(pointer, paje_new());
    UNPROTECT(1);
    return pointer;
}

static SEXP reading_free(SEXP pointer)
{
    finalize(pointer);
    return R_NilValue;
}

static SEXP reading_path(SEXP pointer, SEXP path)
{
    const char *name = Rf_translateChar(STRING_ELT(path, 0));
    return Rf_ScalarInteger(paje_add_path(reading_of(pointer), R_ExpandFileName(name)));
}

static SEXP reading_bytes(SEXP pointer, SEXP bytes)
{
    int failed = paje_set_bytes(reading_of(pointer), RAW(bytes), (size_t) XLENGTH(bytes));
    return Rf_ScalarInteger(failed);
}

static SEXP reading_ask(SEXP pointer, SEXP keyword, SEXP value)
{
    const char *name = CHAR(STRING_ELT(keyword, 0));
    const char *setting = Rf_translateCharUTF8(STRING_ELT(value, 0));
    return Rf_ScalarInteger(paje_ask(reading_of(pointer), name, setting));
}

static SEXP reading_start(SEXP pointer)
{
    return Rf_ScalarInteger(paje_start(reading_of(pointer)));
}

/* Waits for at most a tenth of a second, and checks for Ctrl-C more often. */
static SEXP reading_wait(SEXP pointer)
{
    Reading *reading = reading_of(pointer);
    int state = 0;
    for (int i = 0; i < 5 && state == 0; i++) {
        R_CheckUserInterrupt();
        state = paje_wait(reading, 20);
    }
    return Rf_ScalarInteger(state);
}

static SEXP reading_progress(SEXP pointer)
{
    double read, size;
    paje_progress(reading_of(pointer), &read, &size);
    SEXP both = PROTECT(Rf_allocVector(REALSXP, 2));
    REAL(both)[0] = read;
    REAL(both)[1] = size < 0 ? NA_REAL : size;
    UNPROTECT(1);
    return both;
}

static SEXP reading_end(SEXP pointer)
{
    return Rf_ScalarReal(paje_end(reading_of(pointer)));
}

/* Returns facts of one kind as a matrix of strings. */
static SEXP reading_facts(SEXP pointer, SEXP what, SEXP fields)
{
    Reading *reading = reading_of(pointer);
    int columns = Rf_asInteger(fields);
    size_t rows = paje_facts(reading, (unsigned) Rf_asInteger(what));
    SEXP facts = PROTECT(Rf_allocMatrix(STRSXP, (int) rows, columns));
    for (size_t row = 0; row < rows; row++)
        for (int field = 0; field < columns; field++)
            SET_STRING_ELT(facts, (R_xlen_t) (row + rows * field),
                           text(paje_fact(reading, row, (size_t) field)));
    UNPROTECT(1);
    return facts;
}

/* Allocates the columns of a table. Returns NULL after a failure. */
static SEXP table_new(SEXP pointer, SEXP number)
{
    Reading *reading = reading_of(pointer);
    if (paje_table(reading, (unsigned) Rf_asInteger(number)))
        return R_NilValue;
    size_t rows = paje_rows(reading);
    if (rows > INT_MAX)
        Rf_error("data frames have at most %d rows, but the table has %.0f; select fewer with natures, types, "
                 "containers, or start and end", INT_MAX, (double) rows);
    size_t count = paje_columns(reading);
    SEXP columns = PROTECT(Rf_allocVector(VECSXP, (R_xlen_t) count));
    SEXP names = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) count));
    for (size_t i = 0; i < count; i++) {
        SEXPTYPE type = STRSXP;
        switch (paje_column_kind(reading, i)) {
        case PAJE_INTEGER:
        case PAJE_FACTOR:
            type = INTSXP;
            break;
        case PAJE_DOUBLE:
            type = REALSXP;
            break;
        }
        SET_VECTOR_ELT(columns, (R_xlen_t) i, Rf_allocVector(type, (R_xlen_t) rows));
        SET_STRING_ELT(names, (R_xlen_t) i, text(paje_column_name(reading, i)));
    }
    Rf_setAttrib(columns, R_NamesSymbol, names);
    UNPROTECT(2);
    return columns;
}

static SEXP table_batches(SEXP pointer)
{
    return Rf_ScalarReal((double) paje_batches(reading_of(pointer)));
}

/* Returns pointers to the items of each column, for Rust to write to. */
static void **items_of(SEXP columns)
{
    R_xlen_t count = XLENGTH(columns);
    void **items = (void **) R_alloc((size_t) count + 1, sizeof(void *));
    for (R_xlen_t i = 0; i < count; i++) {
        SEXP column = VECTOR_ELT(columns, i);
        items[i] = NULL;
        if (TYPEOF(column) == INTSXP)
            items[i] = INTEGER(column);
        else if (TYPEOF(column) == REALSXP)
            items[i] = REAL(column);
    }
    return items;
}

/* Fills in some batches. Only R can create strings, so this function copies Rust's strings. */
static SEXP table_fill(SEXP pointer, SEXP columns, SEXP from, SEXP to)
{
    R_CheckUserInterrupt();
    Reading *reading = reading_of(pointer);
    size_t first = (size_t) Rf_asReal(from), last = (size_t) Rf_asReal(to);
    if (paje_fill(reading, items_of(columns), first, last))
        return Rf_ScalarInteger(1);
    for (R_xlen_t i = 0; i < XLENGTH(columns); i++) {
        SEXP column = VECTOR_ELT(columns, i);
        if (TYPEOF(column) != STRSXP)
            continue;
        for (size_t batch = 0; batch < last - first; batch++) {
            size_t begin = paje_begin(reading, first + batch);
            size_t rows = paje_text_rows(reading, batch);
            for (size_t row = 0; row < rows; row++)
                SET_STRING_ELT(column, (R_xlen_t) (begin + row),
                               text(paje_text(reading, (size_t) i, batch, row)));
        }
    }
    return Rf_ScalarInteger(0);
}

/* Converts filled columns to a data frame. */
static SEXP table_finish(SEXP pointer, SEXP columns)
{
    Reading *reading = reading_of(pointer);
    if (paje_finish(reading, items_of(columns)))
        return Rf_ScalarInteger(1);
    for (R_xlen_t i = 0; i < XLENGTH(columns); i++) {
        if (paje_column_kind(reading, (size_t) i) != PAJE_FACTOR)
            continue;
        size_t count = paje_levels(reading, (size_t) i);
        SEXP levels = PROTECT(Rf_allocVector(STRSXP, (R_xlen_t) count));
        for (size_t level = 0; level < count; level++)
            SET_STRING_ELT(levels, (R_xlen_t) level, text(paje_level(reading, (size_t) i, level)));
        Rf_setAttrib(VECTOR_ELT(columns, i), R_LevelsSymbol, levels);
        Rf_setAttrib(VECTOR_ELT(columns, i), R_ClassSymbol, Rf_mkString("factor"));
        UNPROTECT(1);
    }
    /* R's compact form of row names. */
    SEXP rows = PROTECT(Rf_allocVector(INTSXP, 2));
    INTEGER(rows)[0] = NA_INTEGER;
    INTEGER(rows)[1] = -(int) paje_rows(reading);
    Rf_setAttrib(columns, R_RowNamesSymbol, rows);
    Rf_setAttrib(columns, R_ClassSymbol, Rf_mkString("data.frame"));
    UNPROTECT(1);
    return Rf_ScalarInteger(0);
}

#define CALL(name, arguments) {#name, (DL_FUNC) &name, arguments}

static const R_CallMethodDef calls[] = {
    CALL(reading_new, 0),   CALL(reading_free, 1),  CALL(reading_path, 2),
    CALL(reading_bytes, 2), CALL(reading_ask, 3),   CALL(reading_start, 1),
    CALL(reading_wait, 1),  CALL(reading_progress, 1), CALL(reading_end, 1),
    CALL(reading_facts, 3), CALL(table_new, 2),     CALL(table_batches, 1),
    CALL(table_fill, 4),    CALL(table_finish, 2),  {NULL, NULL, 0},
};

void R_init_pajereplay(DllInfo *library)
{
    R_registerRoutines(library, NULL, calls, NULL, NULL);
    R_useDynamicSymbols(library, FALSE);
    R_forceSymbols(library, TRUE);
}
