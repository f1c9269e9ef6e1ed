/* array.h: host arrays: element types, n-dimensional values in C order, value conversion.
 *
 * A gr_array is a view with a type and a shape: whoever made `data` owns it (an arena, as
 * a rule). Rank 0 is one element. A dimension may be 0: then there are no elements and
 * `data` is not read. Numbers are little-endian as on every machine that we build for. */
#ifndef GR_ARRAY_ARRAY_H
#define GR_ARRAY_ARRAY_H

#include "base/diag.h"

typedef enum gr_dtype {
    GR_DTYPE_NONE = 0,
    GR_DTYPE_F16, /* IEEE binary16 bits in a uint16_t */
    GR_DTYPE_F32,
    GR_DTYPE_F64,
    GR_DTYPE_I8,
    GR_DTYPE_U8,
    GR_DTYPE_I32,
    GR_DTYPE_U32,
    GR_DTYPE_I64,
    GR_DTYPE_U64,
    GR_DTYPE_BOOL, /* one byte, 0 or 1 */
    GR_DTYPE_COUNT
} gr_dtype;

const char *gr_dtype_name(gr_dtype t); /* "f32", "bool"; "none" for anything else */
gr_dtype gr_dtype_find(gr_str name);   /* GR_DTYPE_NONE when unknown */
uint32_t gr_dtype_size(gr_dtype t);    /* bytes of one element on the host; 0 for none */
bool gr_dtype_is_float(gr_dtype t);
bool gr_dtype_is_signed(gr_dtype t); /* floats included */

enum { GR_RANK_MAX = 8 };

typedef struct gr_array {
    gr_dtype dtype;
    uint32_t rank;              /* 0..GR_RANK_MAX */
    uint64_t dims[GR_RANK_MAX]; /* outermost first; entries past rank are 0 */
    void *data;                 /* C order, aligned to 16 when from gr_array_new */
    size_t bytes;               /* of data: count * size of dtype */
} gr_array;

/* Product of dims; false when it does not fit. Zero when any dim is 0, whatever the others are. */
bool gr_dims_count(const uint64_t *dims, uint32_t rank, uint64_t *count);
/* count * size of dtype as a size_t; false on overflow or an unknown dtype. */
bool gr_dims_bytes(gr_dtype t, const uint64_t *dims, uint32_t rank, size_t *bytes);
/* Elements of a valid array. */
uint64_t gr_array_count(const gr_array *x);
/* Same dtype and shape. */
bool gr_array_same_type(const gr_array *x, const gr_array *y);
/* Same dtype, shape and bytes (so NaN equals the same NaN, and -0 differs from 0). */
bool gr_array_same_bits(const gr_array *x, const gr_array *y);

/* A zero-filled array in the arena. array/too-large when the size overflows or rank is over
 * GR_RANK_MAX; base/out-of-memory. dims may be NULL when rank is 0. */
bool gr_array_new(gr_arena *a, gr_diags *d, gr_dtype t, const uint64_t *dims, uint32_t rank, gr_array *out);

/* Element i (C order) as a number. f64 rounds 64-bit integers beyond 2^53. No bounds check. */
double gr_array_get_f64(const gr_array *x, uint64_t i);
/* Element i as an integer: floats are truncated and saturate, NaN is 0; u64 beyond INT64_MAX wraps. */
int64_t gr_array_get_i64(const gr_array *x, uint64_t i);
/* Stores v converted by the rules of gr_array_convert. */
void gr_array_set_f64(gr_array *x, uint64_t i, double v);
void gr_array_set_i64(gr_array *x, uint64_t i, int64_t v);

/* Value conversion, element by element, into a new array. To float: rounds once, to nearest
 * even. Float to integer: truncates toward zero and saturates, NaN gives 0. Integer to
 * integer: modulo 2^n. To bool: not equal to zero (NaN is true). *inexact (may be NULL)
 * counts the elements whose value changed. */
bool gr_array_convert(gr_arena *a, gr_diags *d, const gr_array *x, gr_dtype t, gr_array *out, uint64_t *inexact);

/* Element i in shortest form. */
void gr_array_print_element(gr_buf *out, const gr_array *x, uint64_t i);
/* "f32[2, 3]" */
void gr_array_print_type(gr_buf *out, const gr_array *x);
/* Type line, then up to `limit` elements (0 = all), a row of the last dimension a line,
 * "..." where cut. Numbers in shortest form. */
void gr_array_print(gr_buf *out, const gr_array *x, uint64_t limit);

/* Reads PATH by its ending (archive.h): .npy, .npz, .safetensors, .wav, .csv, .tsv; "file.npz#name" is one of several arrays. CSV
 * gives f32[rows, columns], or f32[rows] for one column. array/unknown-file, array/no-such-array. limit: bytes of the file, 0 = none. */
bool gr_array_load(gr_arena *a, gr_diags *d, gr_str path, size_t limit, gr_array *out);
/* As gr_archive_save; in .npz and .safetensors the array is called after '#', or as the file. */
bool gr_array_save(gr_diags *d, gr_str path, const gr_array *x);

/* NPY of NumPy, versions 1 to 3 of its header: the dtypes above, little- and big-endian, C and
 * Fortran order (reordered to C). '<i2' and '<u2' are widened to i32 and u32 with the note
 * array/widened. `name` is the document's name in diagnostics. The result is a copy in the
 * arena. Names: array/npy-header, array/npy-dtype, array/npy-size, array/too-large. */
bool gr_npy_read(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_array *out);
/* Version 1.0, C order, little-endian. False when memory fails (out->failed). */
bool gr_npy_write(gr_buf *out, const gr_array *x);

/* A table of numbers read from text. */
typedef struct gr_csv {
    gr_array values; /* [rows, columns] */
    gr_str *names;   /* of the columns; NULL without a header line */
    uint32_t columns;
} gr_csv;
/* Numeric CSV: separator ',' ';' or tab, found from the first line; an optional header line (one
 * with a cell that is no number); CRLF and a byte order mark are fine; cells may be quoted;
 * '#' lines and blank lines are skipped. With ';' or tab as separator a decimal comma is an
 * error that says so. Every bad cell is reported with line and column: array/csv-missing,
 * array/csv-number, array/csv-columns, array/csv-empty. `t` is the dtype of the result; a value
 * out of the dtype's range, or with a fraction where there is none, is array/csv-range. */
bool gr_csv_read(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_dtype t, gr_csv *out);
/* Rank 0 to 2 (array/csv-rank else). names (one a column) may be NULL. Ends with a newline. */
bool gr_csv_write(gr_buf *out, gr_diags *d, const gr_array *x, const gr_str *names);

#endif
