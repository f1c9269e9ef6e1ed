/* file.h: whole files and folders. Works natively and under WASI. */
#ifndef GR_BASE_FILE_H
#define GR_BASE_FILE_H

#include "base/diag.h"

/* Reads all of path into the arena (NUL behind the view). limit in bytes, 0 = 1 GiB.
 * base/file-unreadable names the path and the system's reason; base/file-too-large. */
bool gr_file_read(gr_arena *a, gr_diags *d, gr_str path, size_t limit, gr_str *out);
/* Writes to a temporary beside path and renames: a reader never sees half a file and a
 * full disk leaves the earlier file. base/file-unwritable. */
bool gr_file_write(gr_diags *d, gr_str path, const void *p, size_t n);
bool gr_file_exists(gr_str path);
/* Whether two paths lead to the same file or folder; false when either is not there. */
bool gr_file_same(gr_str x, gr_str y);
/* "sha256:..." of a file up to 1 GiB; "" when it cannot be read. */
gr_str gr_file_hash(gr_arena *a, gr_str path);
/* The running program's file; "" where that cannot be known. */
gr_str gr_program_path(gr_arena *a);
/* Names in a folder, sorted by bytes, without "." and "..". */
bool gr_dir_list(gr_arena *a, gr_diags *d, gr_str path, gr_str **names, uint32_t *n);
bool gr_dir_make(gr_diags *d, gr_str path); /* with parents; an existing folder is fine */
/* "dir/name" ("name" when absolute); "" on memory failure. */
gr_str gr_path_join(gr_arena *a, gr_str dir, gr_str name);
gr_str gr_path_dir(gr_str path); /* view; "." when none */

#endif
