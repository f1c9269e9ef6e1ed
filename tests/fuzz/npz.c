#include "fuzz/archive.h"

static bool save(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n) { return gr_npz_write(out, d, arrays, n, n & 1, n & 2 ? 0 : 0xFFFFFFFF); }

/* Deflate makes at most 1,032 bytes of one, and 16-bit integers widen. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_archive(GR_FORMAT_NPZ, data, size, 4 * 1032, save); }
