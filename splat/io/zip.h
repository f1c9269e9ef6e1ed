/* zip.h: gzip and zstd streams, with a bound on what they may grow to. */
#ifndef GR_SPLAT_ZIP_H
#define GR_SPLAT_ZIP_H

#include "base/diag.h"

/* Unpacks a whole gzip file into the arena. `limit` bounds the result: deflate packs at most 1,032 times, so that a caller gives the
 * lesser of that and what it can use. Reports `what` (a diagnostic of the format at hand) for damaged or oversized data, and
 * splat/library-missing without zlib. */
bool gr_gunzip(gr_arena *a, gr_diags *d, gr_diag_name what, gr_str name, gr_str packed, size_t limit, gr_str *out);
/* Appends a gzip file with a zeroed time stamp. */
bool gr_gzip(gr_buf *out, gr_diags *d, gr_str name, gr_str bytes);
/* One zstd frame of exactly n bytes into dst. */
bool gr_unzstd(gr_diags *d, gr_diag_name what, gr_str name, gr_str packed, uint8_t *dst, size_t n);
/* Appends a zlib stream (for PNG); stored blocks where zlib is missing or `stored`, so that the bytes are the same everywhere. */
bool gr_zlib(gr_buf *out, gr_str bytes, bool stored);
/* splat/library-missing: `library` was not there when this program was built. False always. */
bool gr_library_missing(gr_diags *d, gr_str name, const char *format, const char *library);

#endif
