/* reader.h: bytes that are read in parts, of a file or of memory, so that one array of a large file costs that array only. */
#ifndef GR_BASE_READER_H
#define GR_BASE_READER_H

#include "base/diag.h"

typedef struct gr_reader {
    gr_str name;        /* for diagnostics; a view of the caller's */
    uint64_t size;      /* bytes in all, known before anything is read */
    const char *memory; /* NULL: the file */
    int fd;
} gr_reader;

/* A regular file; the path must outlive the reader. base/file-unreadable. */
bool gr_reader_open(gr_diags *d, gr_str path, gr_reader *out);
/* Views bytes; nothing to close. */
gr_reader gr_reader_of(gr_str name, gr_str bytes);
void gr_reader_close(gr_reader *s);
/* When the file was last written, in nanoseconds since the epoch; 0 of memory, and where the system does not say. */
int64_t gr_reader_written_at(const gr_reader *s);
/* n bytes from `at` into `to`. Outside of the reader it is a bug of the caller (base/invariant); base/file-unreadable when the
 * file shrank or cannot be read. */
bool gr_reader_read(const gr_reader *s, gr_diags *d, uint64_t at, size_t n, void *to);
/* The same into the arena; the view is NUL-terminated. */
bool gr_reader_part(const gr_reader *s, gr_arena *a, gr_diags *d, uint64_t at, uint64_t n, gr_str *out);

#endif
