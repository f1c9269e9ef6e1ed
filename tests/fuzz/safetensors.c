#include "fuzz/archive.h"

static bool save(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n) { return gr_safetensors_write(out, d, arrays, n, NULL, 0); }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_archive(GR_FORMAT_SAFETENSORS, data, size, 200, save); }
