/* Pictures: every kind of PNG, JPEG and WebP that cameras and tools write, turned, scaled, composited; damaged ones. */
#include "kit.h"

#include "base/rng.h"
#include "splat/image.h"

#ifdef GR_HAVE_SPNG
#include <spng.h>
#endif
#ifdef GR_HAVE_JPEG
#include <jpeglib.h>
#endif
#ifdef GR_HAVE_WEBP
#include <webp/encode.h>
#endif

static gr_image decode(const void *p, size_t n) {
    gr_image m;
    fine(gr_image_decode(&diags, GR_STR("x"), (gr_str){p, n}, &m));
    return m;
}

static void expect_pixel(const gr_image *m, uint32_t x, uint32_t y, int r, int g, int b, int a, int tolerance) {
    const uint8_t *p = m->px + ((size_t)y * m->width + x) * m->channels;
    const int want[4] = {r, g, b, a};
    for (uint32_t c = 0; c < m->channels; c++)
        if (abs(p[c] - want[c]) > tolerance) fail_msg("pixel %u, %u channel %u is %d instead of %d", x, y, c, p[c], want[c]);
}

#ifdef GR_HAVE_SPNG
typedef struct png {
    struct spng_ihdr head;
    struct spng_plte plte;
    struct spng_trns trns;
    const void *px;
    size_t n;
    const char *exif;
    size_t exif_n;
} png;

static void *encode_png(const png *p, size_t *n) {
    spng_ctx *ctx = spng_ctx_new(SPNG_CTX_ENCODER);
    struct spng_ihdr head = p->head;
    struct spng_plte plte = p->plte;
    struct spng_trns trns = p->trns;
    struct spng_exif exif = {p->exif_n, (char *)(uintptr_t)p->exif};
    int error;
    spng_set_option(ctx, SPNG_ENCODE_TO_BUFFER, 1);
    assert_int_equal(spng_set_ihdr(ctx, &head), 0);
    if (plte.n_entries) assert_int_equal(spng_set_plte(ctx, &plte), 0);
    if (trns.n_type3_entries) assert_int_equal(spng_set_trns(ctx, &trns), 0);
    if (p->exif_n) assert_int_equal(spng_set_exif(ctx, &exif), 0);
    assert_int_equal(spng_encode_image(ctx, p->px, p->n, SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE), 0);
    void *out = spng_get_png_buffer(ctx, n, &error);
    spng_ctx_free(ctx);
    return out;
}

static void png_kinds(void **state) {
    (void)state;
    static const uint8_t gray[2] = {10, 200}, ga[4] = {10, 0, 200, 255}, index_[2] = {0, 1};
    static const uint16_t gray16[2] = {0x1234, 0xffff}, rgb16[6] = {0, 0x8080, 0xffff, 127, 128, 129}, rgba16[8] = {65535, 0, 0, 32768, 1, 2, 3, 4};
    const png kinds[] = {
        {.head = {2, 1, 8, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, 0}, .px = gray, .n = 2},
        {.head = {2, 1, 8, SPNG_COLOR_TYPE_GRAYSCALE_ALPHA, 0, 0, 0}, .px = ga, .n = 4},
        {.head = {2, 1, 16, SPNG_COLOR_TYPE_GRAYSCALE, 0, 0, 0}, .px = gray16, .n = 4},
        {.head = {2, 1, 16, SPNG_COLOR_TYPE_TRUECOLOR, 0, 0, 0}, .px = rgb16, .n = 12},
        {.head = {2, 1, 16, SPNG_COLOR_TYPE_TRUECOLOR_ALPHA, 0, 0, 0}, .px = rgba16, .n = 16},
        {.head = {2, 1, 8, SPNG_COLOR_TYPE_INDEXED, 0, 0, 0}, .px = index_, .n = 2, .plte = {2, {{1, 2, 3, 0}, {250, 251, 252, 0}}}},
        {.head = {2, 1, 8, SPNG_COLOR_TYPE_INDEXED, 0, 0, 0}, .px = index_, .n = 2, .plte = {2, {{1, 2, 3, 0}, {250, 251, 252, 0}}}, .trns = {.n_type3_entries = 1, .type3_alpha = {77}}},
    };
    static const int want[][2][4] = {
        {{10, 10, 10, 0}, {200, 200, 200, 0}}, {{10, 10, 10, 0}, {200, 200, 200, 255}}, {{0x12, 0x12, 0x12, 0}, {255, 255, 255, 0}},
        {{0, 128, 255, 0}, {0, 0, 1, 0}}, {{255, 0, 0, 128}, {0, 0, 0, 0}}, {{1, 2, 3, 0}, {250, 251, 252, 0}}, {{1, 2, 3, 77}, {250, 251, 252, 255}},
    };
    static const uint32_t channels[] = {3, 4, 3, 3, 4, 3, 4};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        size_t n;
        void *bytes = encode_png(&kinds[k], &n);
        gr_image m = decode(bytes, n);
        assert_int_equal(m.channels, channels[k]);
        for (uint32_t x = 0; x < 2; x++) expect_pixel(&m, x, 0, want[k][x][0], want[k][x][1], want[k][x][2], want[k][x][3], 0);
        gr_image_free(&m);
        for (size_t cut = 0; cut + 24 < n; cut++) { /* behind the last pixel only checksums are missing */
            assert_false(gr_image_decode(&diags, GR_STR("x"), (gr_str){bytes, cut}, &m));
            gr_diags_clear(&diags);
        }
        free(bytes);
    }
}

static void png_orientation(void **state) {
    (void)state;
    static const uint8_t px[3] = {1, 2, 3};
    static const char exif[] = "II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    const png p = {.head = {1, 1, 8, SPNG_COLOR_TYPE_TRUECOLOR, 0, 0, 0}, .px = px, .n = 3, .exif = exif, .exif_n = 26};
    size_t n;
    gr_image_info info;
    void *bytes = encode_png(&p, &n);
    fine(gr_image_probe(&diags, GR_STR("x"), (gr_str){bytes, n}, &info));
    assert_int_equal(info.orientation, 6);
    free(bytes);
}
#endif

static void png_written_is_read(void **state) {
    (void)state;
    for (uint32_t channels = 1; channels <= 4; channels += channels == 1 ? 2 : 1)
        for (int stored = 0; stored < 2; stored++) {
            gr_image m, back = {0};
            gr_buf b = {0};
            gr_rng r = gr_rng_seed(channels);
            gr_image_info info;
            fine(gr_image_new(&diags, GR_STR("x"), 37, 23, channels, &m));
            for (size_t i = 0; i < (size_t)37 * 23 * channels; i++) m.px[i] = (uint8_t)(i < 600 ? i / 3 : gr_rng_u32(&r));
            assert_true(gr_image_write_png(&b, &m, stored));
            fine(gr_image_probe(&diags, GR_STR("x"), gr_buf_view(&b), &info));
            assert_true(info.width == 37 && info.height == 23 && info.orientation == 1);
#ifdef GR_HAVE_SPNG
            back = decode(b.p, b.n);
            if (channels > 1) assert_memory_equal(m.px, back.px, (size_t)37 * 23 * channels);
            for (size_t i = 0; channels == 1 && i < 37 * 23; i++) assert_int_equal(back.px[3 * i], m.px[i]);
#endif
            gr_image_free(&back);
            gr_image_free(&m);
            gr_buf_free(&b);
        }
}

#ifdef GR_HAVE_JPEG
/* 16 x 8 pixels, the left half of one colour, the right of another; exif: orientation or 0. */
static unsigned char *encode_jpeg(J_COLOR_SPACE space, const uint8_t left[4], const uint8_t right[4], int exif, unsigned long *n) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr e;
    unsigned char *out = NULL;
    uint8_t row[16 * 4];
    int channels = space == JCS_CMYK ? 4 : 3;
    c.err = jpeg_std_error(&e);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &out, n);
    c.image_width = 16, c.image_height = 8, c.input_components = channels, c.in_color_space = space;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 100, TRUE);
    jpeg_start_compress(&c, TRUE);
    if (exif) {
        unsigned char app[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\0\0\0\0\0\0\0";
        app[25] = (unsigned char)exif;
        jpeg_write_marker(&c, JPEG_APP0 + 1, app, 32);
    }
    for (int x = 0; x < 16; x++) memcpy(row + x * channels, x < 8 ? left : right, (size_t)channels);
    JSAMPROW rows[1] = {row};
    for (int y = 0; y < 8; y++) jpeg_write_scanlines(&c, rows, 1);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return out;
}

static void jpeg_kinds(void **state) {
    (void)state;
    static const uint8_t red[4] = {250, 20, 30, 0}, blue[4] = {10, 20, 240, 0}, ink[4] = {255, 200, 100, 128}, none[4] = {255, 255, 255, 255};
    unsigned long n = 0;
    unsigned char *bytes = encode_jpeg(JCS_RGB, red, blue, 0, &n);
    gr_image m = decode(bytes, n);
    assert_int_equal(m.channels, 3);
    expect_pixel(&m, 2, 3, 250, 20, 30, 0, 3);
    expect_pixel(&m, 13, 3, 10, 20, 240, 0, 3);
    gr_image_free(&m);
    bool ok = gr_image_decode(&diags, GR_STR("x"), (gr_str){(char *)bytes, n - 40}, &m);
    assert_true(ok); /* the end is missing: used, and said */
    expect(GR_D_SPLAT_IMAGE_CUT, "what could be decoded is used");
    gr_image_free(&m);
    for (unsigned long cut = 0; cut < 100; cut++) {
        assert_false(gr_image_decode(&diags, GR_STR("x"), (gr_str){(char *)bytes, cut}, &m));
        gr_diags_clear(&diags);
    }
    free(bytes);
    n = 0;
    bytes = encode_jpeg(JCS_CMYK, ink, none, 0, &n); /* libjpeg writes Adobe's mark: values are turned over, 255 is no ink */
    m = decode(bytes, n);
    expect_pixel(&m, 2, 3, 128, 100, 50, 0, 3);
    expect_pixel(&m, 13, 3, 255, 255, 255, 0, 3);
    gr_image_free(&m);
    free(bytes);
}

static void jpeg_orientation(void **state) {
    (void)state;
    static const uint8_t red[4] = {250, 20, 30, 0}, blue[4] = {10, 20, 240, 0};
    /* Where the red half ends up: a pixel that must be red, and the size. */
    static const struct { uint32_t o, w, h, x, y; } want[] = {{1, 16, 8, 1, 1}, {2, 16, 8, 14, 1}, {3, 16, 8, 14, 6}, {4, 16, 8, 1, 6},
                                                             {5, 8, 16, 1, 1}, {6, 8, 16, 1, 1}, {7, 8, 16, 1, 14}, {8, 8, 16, 1, 14}};
    for (size_t i = 0; i < 8; i++) {
        unsigned long n = 0;
        unsigned char *bytes = encode_jpeg(JCS_RGB, red, blue, (int)want[i].o, &n);
        gr_image_info info;
        fine(gr_image_probe(&diags, GR_STR("x"), (gr_str){(char *)bytes, n}, &info));
        assert_int_equal(info.orientation, want[i].o);
        gr_image m = decode(bytes, n);
        fine(gr_image_orient(&diags, GR_STR("x"), &m, info.orientation));
        assert_true(m.width == want[i].w && m.height == want[i].h);
        expect_pixel(&m, want[i].x, want[i].y, 250, 20, 30, 0, 4);
        expect_pixel(&m, m.width - 1 - want[i].x, m.height - 1 - want[i].y, 10, 20, 240, 0, 4);
        gr_image_free(&m);
        free(bytes);
    }
}
#endif

/* All eight against numbers: the stored picture is 0 1 2 over 3 4 5. */
static void orientations(void **state) {
    (void)state;
    static const char *const want[] = {"012345", "210543", "543210", "345012", "031425", "304152", "524130", "251403"};
    for (uint32_t o = 1; o <= 8; o++) {
        gr_image m;
        fine(gr_image_new(&diags, GR_STR("x"), 3, 2, 1, &m));
        for (int i = 0; i < 6; i++) m.px[i] = (uint8_t)('0' + i);
        fine(gr_image_orient(&diags, GR_STR("x"), &m, o));
        assert_int_equal(m.width, o < 5 ? 3 : 2);
        assert_memory_equal(m.px, want[o - 1], 6);
        gr_image_free(&m);
    }
}

#ifdef GR_HAVE_WEBP
static void webp_kinds(void **state) {
    (void)state;
    static const uint8_t px[8] = {1, 2, 3, 255, 200, 100, 50, 7};
    uint8_t *bytes;
    size_t n = WebPEncodeLosslessRGBA(px, 2, 1, 8, &bytes);
    gr_image m = decode(bytes, n);
    gr_image_info info;
    assert_int_equal(m.channels, 4);
    expect_pixel(&m, 0, 0, 1, 2, 3, 255, 0);
    expect_pixel(&m, 1, 0, 200, 100, 50, 7, 0);
    gr_image_free(&m);
    WebPFree(bytes);
    uint8_t flat[64 * 48 * 3];
    memset(flat, 90, sizeof flat);
    n = WebPEncodeRGB(flat, 64, 48, 64 * 3, 80, &bytes);
    fine(gr_image_probe(&diags, GR_STR("x"), (gr_str){(char *)bytes, n}, &info));
    assert_true(info.width == 64 && info.height == 48);
    m = decode(bytes, n);
    assert_int_equal(m.channels, 3);
    expect_pixel(&m, 5, 5, 90, 90, 90, 0, 3);
    gr_image_free(&m);
    for (size_t cut = 0; cut < n; cut++) {
        assert_false(gr_image_decode(&diags, GR_STR("x"), (gr_str){(char *)bytes, cut}, &m));
        gr_diags_clear(&diags);
    }
    WebPFree(bytes);
}
#endif

static void scaling_by_area(void **state) {
    (void)state;
    gr_image m, s;
    fine(gr_image_new(&diags, GR_STR("x"), 4, 2, 1, &m));
    memcpy(m.px, (const uint8_t[]){0, 10, 20, 30, 40, 50, 60, 70}, 8);
    fine(gr_image_scale(&diags, GR_STR("x"), &m, 2, 1, &s));
    assert_true(s.px[0] == 25 && s.px[1] == 45);
    gr_image_free(&s);
    fine(gr_image_scale(&diags, GR_STR("x"), &m, 3, 1, &s)); /* 4/3 of a pixel each: (0+40)/2 * 3/4 + (10+50)/2 * 1/4 ... */
    assert_int_equal(s.px[0], 23); /* (20 * 3 + 30) / 4 = 22.5 */
    assert_int_equal(s.px[1], 35);
    gr_image_free(&s);
    gr_image_free(&m);
    /* Colours are weighted by alpha: what cannot be seen leaves no fringe. */
    fine(gr_image_new(&diags, GR_STR("x"), 2, 1, 4, &m));
    memcpy(m.px, (const uint8_t[]){200, 100, 50, 255, 0, 0, 0, 0}, 8);
    fine(gr_image_scale(&diags, GR_STR("x"), &m, 1, 1, &s));
    expect_pixel(&s, 0, 0, 200, 100, 50, 128, 0);
    gr_image_free(&s);
    gr_image_free(&m);
}

static void composites(void **state) {
    (void)state;
    static const uint8_t white[3] = {255, 255, 255};
    gr_image m, c;
    fine(gr_image_new(&diags, GR_STR("x"), 3, 1, 4, &m));
    memcpy(m.px, (const uint8_t[]){0, 10, 20, 0, 9, 8, 7, 255, 100, 0, 0, 128}, 12);
    fine(gr_image_composite(&diags, GR_STR("x"), &m, white, &c));
    expect_pixel(&c, 0, 0, 255, 255, 255, 0, 0);
    expect_pixel(&c, 1, 0, 9, 8, 7, 0, 0);
    expect_pixel(&c, 2, 0, 177, 127, 127, 0, 0);
    gr_image_free(&m);
    gr_image_free(&c);
}

static void refused(void **state) {
    (void)state;
    gr_image m;
    assert_false(gr_image_decode(&diags, GR_STR("x.gif"), GR_STR("GIF89a"), &m));
    expect(GR_D_SPLAT_IMAGE_FORMAT, "x.gif");
    assert_false(gr_image_new(&diags, GR_STR("x"), 60000, 60000, 3, &m));
    expect(GR_D_SPLAT_IMAGE_SIZE, "60000 x 60000");
    static const char bomb[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0";
    assert_false(gr_image_decode(&diags, GR_STR("x"), (gr_str){bomb, sizeof bomb - 1}, &m));
    gr_diags_clear(&diags);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
#ifdef GR_HAVE_SPNG
        T(png_kinds), T(png_orientation),
#endif
#ifdef GR_HAVE_JPEG
        T(jpeg_kinds), T(jpeg_orientation),
#endif
#ifdef GR_HAVE_WEBP
        T(webp_kinds),
#endif
        T(png_written_is_read), T(orientations), T(scaling_by_area), T(composites), T(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
