#include "fuzz/archive.h"

/* Floats are written again; PCM comes back as other bits of the file, but the same numbers: as floats. */
static bool save(gr_buf *out, gr_diags *d, const gr_named_array *arrays, uint32_t n) {
    FUZZ_CHECK(n == 2);
    uint32_t rate = *(const uint32_t *)arrays[1].array.data, channels = arrays->array.rank == 2 ? (uint32_t)arrays->array.dims[1] : 1;
    return rate && channels <= 1024 && gr_wav_write(out, d, &arrays->array, rate, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_archive(GR_FORMAT_WAV, data, size, 20, save); }
