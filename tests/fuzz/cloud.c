/* Splat files: memory follows the file, a failure is reported, and what is read can be written as every format and a PLY of it is read
 * again bit for bit. The first byte chooses the name, so that .splat, which has no mark, is reached. */
#include "fuzz.h"

#include "splat/io/cloud.h"

static void write_all(fuzz *f, const gr_cloud *c) {
    gr_buf b = {0};
    gr_cloud e;
    gr_cloud_format format;
    FUZZ_CHECK(gr_cloud_write_ply(&b, c));
    FUZZ_CHECK(gr_cloud_read_ply(&f->a, &f->d, GR_STR("<again>"), gr_buf_view(&b), &e, &format));
    FUZZ_CHECK(e.n == c->n && e.sh_degree == c->sh_degree);
    FUZZ_CHECK(c->n == 0 || memcmp(e.mean, c->mean, 12 * (size_t)c->n) == 0);
    gr_buf_clear(&b);
    gr_cloud_write_splat(&b, &f->d, GR_STR("<again>"), c);
    gr_buf_clear(&b);
    gr_cloud_write_spz(&b, &f->d, GR_STR("<again>"), c);
    gr_buf_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz f = fuzz_open();
    gr_cloud c;
    gr_str bytes = {(const char *)data, size};
    bool ok = gr_cloud_read(&f.a, &f.d, size % 2 ? GR_STR("a.splat") : GR_STR("a.spz"), bytes, &c, NULL);
    FUZZ_CHECK(ok == gr_diags_ok(&f.d));
    if (ok) write_all(&f, &c);
    fuzz_close(&f);
    return 0;
}
