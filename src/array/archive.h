/* archive.h: files that hold named arrays, behind one interface: NPY, CSV, NPZ, WAV, safetensors.
 *
 * An array is named after the file by '#': "weights.safetensors#conv1.weight", "data.npz#x", "note.wav#rate". Formats are known
 * by the ending before the '#'. Opening reads the table of contents only; each array is read when it is asked for. Every length
 * is compared with the file's size before memory is taken. */
#ifndef GR_ARRAY_ARCHIVE_H
#define GR_ARRAY_ARCHIVE_H

#include "array/array.h"
#include "base/hash.h"
#include "base/reader.h"

typedef enum gr_format { GR_FORMAT_NONE = 0, GR_FORMAT_NPY, GR_FORMAT_CSV, GR_FORMAT_NPZ, GR_FORMAT_WAV, GR_FORMAT_SAFETENSORS } gr_format;
/* Format of "file" or "file#name"; *file and *select (may be NULL) are its two parts, select without the '#'. A '#' counts only
 * behind an ending that holds several arrays. */
gr_format gr_format_of(gr_str path, gr_str *file, gr_str *select);
const char *gr_format_name(gr_format f); /* "npz" */
/* Whether files of the format hold any number of named arrays. */
bool gr_format_is_archive(gr_format f);

/* An array and its name; in a file's table of contents data is NULL. */
typedef struct gr_named_array { gr_str name; gr_array array; } gr_named_array;
typedef struct gr_text_pair { gr_str key, value; } gr_text_pair;

/* One array in the file. */
typedef struct gr_entry {
    gr_str name;       /* "" for the only array of .npy and .csv */
    gr_str stored;     /* safetensors: the type in the file's words, "BF16" */
    gr_array type;     /* safetensors, WAV: what it is read as; dtype NONE: known when it is read, or never */
    uint64_t at, size; /* its bytes in the file */
    uint64_t plain;    /* NPZ: bytes when inflated */
    uint32_t crc, form; /* NPZ: checksum, method; WAV, safetensors: coding of elements (each format's own) */
} gr_entry;

typedef struct gr_archive {
    gr_format format;
    gr_reader file;
    gr_entry *entries;      /* in the file's order */
    uint32_t n;
    gr_text_pair *metadata; /* safetensors' __metadata__, in order */
    uint32_t metadata_n;
} gr_archive;

/* Reads the table of contents of an open source, which the archive then owns; close it whatever is returned. Diagnostics of each
 * format: array/zip, array/wav, array/safetensors name byte or array. */
bool gr_archive_read_contents(gr_arena *a, gr_diags *d, gr_format format, gr_reader file, gr_archive *out);
/* The same for a file by its ending; array/unknown-file. path must outlive the archive. */
bool gr_archive_open(gr_arena *a, gr_diags *d, gr_str path, gr_archive *out);
void gr_archive_close(gr_archive *f);
/* Index of an array; "" means the only one (WAV: the samples). array/no-such-array lists what there is. */
bool gr_archive_find(const gr_archive *f, gr_diags *d, gr_str name, uint32_t *i);
/* The text of a key of the metadata; {0} without it. */
gr_str gr_archive_metadata(const gr_archive *f, const char *key);
/* Entry i into the arena. 16-bit integers become 32-bit ones, BF16 becomes f32: note array/widened, no value changes. */
bool gr_archive_get(const gr_archive *f, gr_arena *a, gr_diags *d, uint32_t i, gr_array *out);

/* ---- one array in parts ------------------------------------------------------------------------------ */

/* An array whose elements lie in a file one after another as they are read, so that any part costs that part alone. */
typedef struct gr_parts {
    gr_reader file;
    gr_array type;      /* without data */
    uint64_t at;        /* byte of the first element */
    int64_t changed_at; /* when the file was last written, as it was opened */
} gr_parts;

/* "file.npy", "file.safetensors" or "file.safetensors#name". array/not-in-parts for other formats, Fortran order, big-endian numbers and
 * types that are widened; what is wrong with the file as gr_archive_get reports it. path must outlive the parts. */
bool gr_parts_open(gr_arena *a, gr_diags *d, gr_str path, gr_parts *out);
/* n elements from element `first`, within the array, into `to`. base/file-unreadable, base/file-changed. */
bool gr_parts_read(const gr_parts *p, gr_diags *d, uint64_t first, uint64_t n, void *to);
/* Over all elements, which are read once, in order. */
bool gr_parts_hash(const gr_parts *p, gr_diags *d, gr_sha256 *out);
void gr_parts_close(gr_parts *p);

/* ---- writing -------------------------------------------------------------------------------------- */

typedef struct gr_save_options {
    bool compress;        /* NPZ: deflate */
    uint32_t rate, bits;  /* WAV: samples a second; 8, 16, 24, 32 for PCM, 0 for floats. "file.wav#rate=8000,bits=16" says the same */
    const gr_text_pair *metadata; uint32_t metadata_n; /* safetensors */
} gr_save_options;
/* Writes arrays by the ending of path: one of any name as .npy, .csv, .wav, any number as .npz, .safetensors. WAV takes an array
 * "rate" beside the samples. `select` in path renames a single array. options may be NULL. */
bool gr_archive_save(gr_diags *d, gr_str path, const gr_named_array *arrays, uint32_t n, const gr_save_options *options);

/* ---- formats: tables of contents and elements, for archive.c and tests ----------------------------------- */

bool gr_npz_contents(gr_arena *a, gr_diags *d, gr_archive *f);
bool gr_npz_get(const gr_archive *f, gr_arena *a, gr_diags *d, const gr_entry *e, gr_array *out);
/* zip64_from: sizes and offsets from here on are written in ZIP64 fields (4 GiB - 1 by the format; tests take 0). */
bool gr_npz_write(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n, bool compress, uint64_t zip64_from);

/* The header alone: type, where the elements start, and whether they lie there as gr_npy_read gives them. */
bool gr_npy_layout(gr_arena *a, gr_diags *d, const gr_reader *file, gr_array *type, uint64_t *at, bool *plain);
/* Whether an entry's elements lie in the file as gr_safetensors_get gives them. */
bool gr_safetensors_is_plain(const gr_entry *e);

bool gr_wav_contents(gr_arena *a, gr_diags *d, gr_archive *f);
bool gr_wav_get(const gr_archive *f, gr_arena *a, gr_diags *d, const gr_entry *e, gr_array *out);
/* x: floats of shape [frames] or [frames, channels]. PCM rounds x * 2^(bits-1) to nearest even and saturates: array/wav-clipped. */
bool gr_wav_write(gr_buf *out, gr_diags *d, const gr_array *x, uint32_t rate, uint32_t bits);

bool gr_safetensors_contents(gr_arena *a, gr_diags *d, gr_archive *f);
bool gr_safetensors_get(const gr_archive *f, gr_arena *a, gr_diags *d, const gr_entry *e, gr_array *out);
/* Arrays by element size, then name, so that each is aligned; the header is padded to 8 bytes. */
bool gr_safetensors_write(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n, const gr_text_pair *metadata, uint32_t metadata_n);

#endif
