/* Splat files: every format by bytes made by hand, round trips, the shared files, and what is said of damaged ones. */
#include "kit.h"

#include "base/math.h"
#include "base/rng.h"
#include "splat/io/bytes.h"
#include "splat/io/cloud.h"
#include "splat/io/ply.h"
#include "splat/io/zip.h"
#ifdef GR_HAVE_ZSTD
#include <zstd.h>
#endif

static gr_cloud read_as(const char *name, gr_buf *b, gr_cloud_format want) {
    gr_cloud c;
    gr_cloud_format f;
    fine(gr_cloud_read(&arena, &diags, gr_str_of(name), gr_buf_view(b), &c, &f));
    assert_int_equal(f, want);
    return c;
}

static gr_cloud random_cloud(uint32_t n, uint32_t degree, uint64_t seed) {
    gr_cloud c;
    gr_rng r = gr_rng_seed(seed);
    fine(gr_cloud_new(&arena, &diags, n, degree, &c));
    for (uint32_t i = 0; i < 3 * n; i++) c.mean[i] = gr_rng_f32(&r) * 20 - 10, c.scale[i] = -8 * gr_rng_f32(&r);
    for (uint32_t i = 0; i < 4 * n; i++) c.rotation[i] = gr_rng_f32(&r) * 2 - 1;
    for (uint32_t i = 0; i < n; i++) c.opacity[i] = gr_rng_f32(&r) * 8 - 4;
    for (uint32_t i = 0; i < 3 * n * gr_sh_count(degree); i++) c.sh[i] = gr_rng_f32(&r) * 1.6f - 0.8f;
    return c;
}

static void ply_round_trip_keeps_every_bit(void **state) {
    (void)state;
    for (uint32_t degree = 0; degree <= 3; degree++) {
        gr_cloud c = random_cloud(7, degree, degree), e;
        gr_buf b = {0};
        c.mean[3] = -0.0f;
        assert_true(gr_cloud_write_ply(&b, &c));
        e = read_as("a.ply", &b, GR_CLOUD_PLY);
        assert_int_equal(e.n, 7);
        assert_int_equal(e.sh_degree, degree);
        assert_memory_equal(c.mean, e.mean, 7 * 12);
        assert_memory_equal(c.scale, e.scale, 7 * 12);
        assert_memory_equal(c.rotation, e.rotation, 7 * 16);
        assert_memory_equal(c.opacity, e.opacity, 7 * 4);
        assert_memory_equal(c.sh, e.sh, 7 * 12 * gr_sh_count(degree));
        gr_buf_free(&b);
    }
}

/* The order of fields that viewers expect, and f_rest by channel: coefficient m of channel c is f_rest_[c * 15 + m - 1]. */
static void ply_field_order(void **state) {
    (void)state;
    gr_cloud c = random_cloud(1, 3, 5);
    gr_buf b = {0};
    gr_ply p;
    assert_true(gr_cloud_write_ply(&b, &c));
    fine(gr_ply_read(&arena, &diags, GR_STR("a.ply"), gr_buf_view(&b), &p));
    const gr_ply_element *e = gr_ply_find(&p, "vertex");
    assert_int_equal(e->property.n, 62);
    assert_int_equal(gr_ply_property_find(e, "nx"), 3);
    assert_int_equal(gr_ply_property_find(e, "f_dc_0"), 6);
    assert_int_equal(gr_ply_property_find(e, "f_rest_44"), 53);
    assert_int_equal(gr_ply_property_find(e, "opacity"), 54);
    assert_int_equal(gr_ply_property_find(e, "rot_3"), 61);
    assert_true(gr_ply_get(&p, e, 0, gr_ply_property_find(e, "f_rest_17")) == (double)c.sh[3 * 3 + 1]);
    gr_buf_free(&b);
}

static void ply_ascii_and_big_endian(void **state) {
    (void)state;
    static const char head[] = "element vertex 2\nproperty double x\nproperty short y\nproperty uchar z\nelement face 1\n"
                               "property list uchar int vertex_indices\nelement tail 1\nproperty int8 t\nend_header\n";
    gr_buf a = {0}, g = {0};
    gr_ply p;
    gr_buf_printf(&a, "ply\r\nformat ascii 1.0\ncomment hello\n%s1.5 -2 255\n\n-3e2 7 0\n3 0 1 2\n-5\n", head);
    gr_buf_printf(&g, "ply\nformat binary_big_endian 1.0\n%s", head);
    static const uint8_t rows[] = {0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 0xff, 0xfe, 255, 0xc0, 0x72, 0xc0, 0, 0, 0, 0, 0, 0, 7, 0,
                                   3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0xfb};
    gr_buf_put(&g, (const char *)rows, sizeof rows);
    gr_buf *both[] = {&a, &g};
    for (int k = 0; k < 2; k++) {
        fine(gr_ply_read(&arena, &diags, GR_STR("a.ply"), gr_buf_view(both[k]), &p));
        const gr_ply_element *e = gr_ply_find(&p, "vertex"), *t = gr_ply_find(&p, "tail");
        assert_true(gr_ply_get(&p, e, 0, 0) == 1.5 && gr_ply_get(&p, e, 0, 1) == -2 && gr_ply_get(&p, e, 0, 2) == 255);
        assert_true(gr_ply_get(&p, e, 1, 0) == -300 && gr_ply_get(&p, e, 1, 1) == 7 && gr_ply_get(&p, e, 1, 2) == 0);
        assert_true(gr_ply_get(&p, t, 0, 0) == -5);
    }
    for (size_t n = 0; n < g.n; n++) { /* every prefix is refused, none crashes */
        gr_diags_clear(&diags);
        assert_false(gr_ply_read(&arena, &diags, GR_STR("a.ply"), (gr_str){g.p, n}, &p));
    }
    gr_buf_free(&a);
    gr_buf_free(&g);
}

static void ply_complaints(void **state) {
    (void)state;
    static const struct { const char *text; gr_diag_name name; const char *words; } bad[] = {
        {"plx\n", GR_D_SPLAT_UNKNOWN_FILE, "no splat file"},
        {"ply\nformat ascii 2.0\nend_header\n", GR_D_SPLAT_PLY_HEADER, "x:2"},
        {"ply\nformat ascii 1.0\nelement vertex -1\nend_header\n", GR_D_SPLAT_PLY_HEADER, "x:3"},
        {"ply\nformat ascii 1.0\nproperty float x\nend_header\n", GR_D_SPLAT_PLY_HEADER, "before any element"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty quad x\nend_header\n", GR_D_SPLAT_PLY_HEADER, "x:4"},
        {"ply\nformat ascii 1.0\nelement vertex 99999999999\nproperty float x\nend_header\n1\n", GR_D_SPLAT_PLY_DATA, "99999999999"},
        {"ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nend_header\n1\nfoo\n", GR_D_SPLAT_PLY_DATA, "x:7"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n1\n", GR_D_SPLAT_PLY_PROPERTY, "no property y"},
        {"ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float f_rest_0\nend_header\n1 1\n", GR_D_SPLAT_PLY_PROPERTY, "1 properties f_rest_"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        gr_cloud c;
        assert_false(gr_cloud_read(&arena, &diags, GR_STR("x"), gr_str_of(bad[i].text), &c, NULL));
        expect(bad[i].name, bad[i].words);
    }
}

/* One chunk, two splats, each field at a known place of its range. */
static void compressed_ply_by_hand(void **state) {
    (void)state;
    static const char *const bound[] = {"min_x", "min_y", "min_z", "max_x", "max_y", "max_z", "min_scale_x", "min_scale_y", "min_scale_z",
        "max_scale_x", "max_scale_y", "max_scale_z", "min_r", "min_g", "min_b", "max_r", "max_g", "max_b"};
    static const float value[] = {-1, -2, -3, 1, 2, 3, -8, -8, -8, 0, 0, 0, 0, 0, 0, 1, 1, 0.5f};
    gr_buf b = {0};
    gr_buf_puts(&b, "ply\nformat binary_little_endian 1.0\nelement chunk 1\n");
    for (int i = 0; i < 18; i++) gr_buf_printf(&b, "property float %s\n", bound[i]);
    gr_buf_puts(&b, "element vertex 2\nproperty uint packed_position\nproperty uint packed_rotation\nproperty uint packed_scale\n"
                    "property uint packed_color\nelement sh 2\n");
    for (int i = 0; i < 9; i++) gr_buf_printf(&b, "property uchar f_rest_%d\n", i);
    gr_buf_puts(&b, "end_header\n");
    for (int i = 0; i < 18; i++) gr_put_f32(&b, value[i]);
    gr_put_u32(&b, 2047u << 21 | 0u << 11 | 2047u); /* x at its most, y at its least, z at its most */
    gr_put_u32(&b, 3u << 30 | 1023u << 20 | 512u << 10 | 511u); /* the last component is largest */
    gr_put_u32(&b, 0);
    gr_put_u32(&b, 255u << 24 | 0u << 16 | 255u << 8 | 255u);
    for (int i = 0; i < 4; i++) gr_put_u32(&b, i == 3 ? 128 : 0);
    for (int i = 0; i < 18; i++) gr_buf_putc(&b, (char)(i == 4 ? 255 : i == 0 ? 0 : 128));
    gr_cloud c = read_as("a.compressed.ply", &b, GR_CLOUD_COMPRESSED_PLY);
    assert_int_equal(c.sh_degree, 1);
    assert_true(c.mean[0] == 1 && c.mean[1] == -2 && c.mean[2] == 3 && c.scale[0] == -8);
    near_(c.rotation[0], 0.70710678, 1e-6);
    near_(c.rotation[3], 0.70710645, 1e-5);
    near_(c.sh[0], 0.5 / GR_SH_C0, 1e-6);
    near_(c.sh[1], -0.5 / GR_SH_C0, 1e-6);
    near_(c.sh[2], 0, 1e-6); /* blue ends at 0.5 */
    assert_true(c.opacity[0] > 6 && c.opacity[0] < 7);
    near_(c.opacity[1], gr_log(128.0 / 127), 1e-5);
    near_(c.rotation[4 + 1], -0.70710678, 1e-6); /* three at their least: w is what remains */
    assert_true(c.sh[3 * 1 + 0] == -4 && c.sh[3 * 2 + 1] == 4); /* f_rest_0: red of coefficient 1; f_rest_4: green of coefficient 2 */
    gr_buf_free(&b);
}

#ifdef GR_HAVE_ZLIB
/* Quantised once, nothing changes any more: SPZ to SPZ is exact. */
static void spz_round_trip(void **state) {
    (void)state;
    for (uint32_t degree = 0; degree <= 3; degree++) {
        gr_cloud c = random_cloud(50, degree, 9 + degree), e, f;
        gr_buf b = {0}, b2 = {0};
        c.antialiased = true;
        fine(gr_cloud_write(&b, &diags, GR_STR("a.spz"), &c, GR_CLOUD_SPZ));
        e = read_as("a.spz", &b, GR_CLOUD_SPZ);
        assert_true(e.antialiased && e.sh_degree == degree);
        for (uint32_t i = 0; i < 150; i++) {
            near_(c.mean[i], e.mean[i], 0.5 / 4096 + 1e-6);
            near_(c.scale[i], e.scale[i], 1 / 32.0 + 1e-6);
            near_(c.sh[i / 3 * 3 * gr_sh_count(degree) + i % 3], e.sh[i / 3 * 3 * gr_sh_count(degree) + i % 3], 0.5 / 255 / 0.15 + 1e-6);
        }
        for (uint32_t i = 0; i < 50; i++) {
            const float *p = c.rotation + 4 * i, *q = e.rotation + 4 * i;
            double dot = 0, pp = 0, qq = 0;
            for (int j = 0; j < 4; j++) dot += p[j] * q[j], pp += p[j] * p[j], qq += q[j] * q[j];
            assert_true(dot * dot / pp / qq > 1 - 1e-4);
            for (uint32_t k = 3; k < 3 * gr_sh_count(degree); k++)
                near_(c.sh[i * 3 * gr_sh_count(degree) + k], e.sh[i * 3 * gr_sh_count(degree) + k], k < 12 ? 5 / 128.0 : 9 / 128.0);
        }
        fine(gr_cloud_write(&b2, &diags, GR_STR("a.spz"), &e, GR_CLOUD_SPZ));
        f = read_as("a.spz", &b2, GR_CLOUD_SPZ);
        assert_memory_equal(e.mean, f.mean, 150 * 4);
        assert_memory_equal(e.scale, f.scale, 150 * 4);
        assert_memory_equal(e.sh, f.sh, 150 * 4 * gr_sh_count(degree));
        gr_buf_free(&b);
        gr_buf_free(&b2);
    }
}

/* Version 2 by hand: position, alpha, colour, scale, three bytes of rotation; y and z turned over. */
static void spz_by_hand(void **state) {
    (void)state;
    gr_buf plain = {0}, b = {0};
    static const uint8_t rows[] = {0x00, 0x10, 0x00, 0x00, 0xf0, 0xff, 0x00, 0x20, 0x00, 255, 128, 0, 255, 160, 0, 255, 255, 0, 128};
    gr_put_u32(&plain, 0x5053474e);
    gr_put_u32(&plain, 2);
    gr_put_u32(&plain, 1);
    gr_buf_put(&plain, "\0\x0c\0\0", 4);
    gr_buf_put(&plain, (const char *)rows, sizeof rows);
    fine(gr_gzip(&b, &diags, GR_STR("a.spz"), gr_buf_view(&plain)));
    gr_cloud c = read_as("a.spz", &b, GR_CLOUD_SPZ);
    assert_true(c.mean[0] == 1 && c.mean[1] == 1 && c.mean[2] == -2);
    assert_true(c.scale[0] == 0 && c.scale[1] == -10 && c.scale[2] == 5.9375f);
    assert_true(c.opacity[0] > 6);
    near_(c.sh[1], -0.5 / 0.15, 1e-5);
    near_(c.rotation[1], 1, 1e-6);  /* x */
    near_(c.rotation[2], 1, 1e-6);  /* -y */
    for (size_t n = 0; n < b.n; n++) {
        gr_diags_clear(&diags);
        assert_false(gr_cloud_read(&arena, &diags, GR_STR("a.spz"), (gr_str){b.p, n}, &c, NULL));
    }
    gr_diags_clear(&diags);
    gr_buf_free(&b);
    gr_buf_clear(&plain);
    gr_put_u32(&plain, 0x5053474e);
    gr_put_u32(&plain, 3);
    gr_put_u32(&plain, 2000000000);
    gr_buf_put(&plain, "\3\x0c\0\0", 4);
    fine(gr_gzip(&b, &diags, GR_STR("a.spz"), gr_buf_view(&plain)));
    gr_diags_clear(&diags);
    assert_false(gr_cloud_read(&arena, &diags, GR_STR("a.spz"), gr_buf_view(&b), &c, NULL));
    expect(GR_D_SPLAT_SPZ, "2000000000 splats need");
    gr_buf_free(&plain);
    gr_buf_free(&b);
}

#ifdef GR_HAVE_ZSTD
/* Version 4: a plain header, a table of packed and plain sizes, one zstd stream an attribute. */
static void spz_version_4(void **state) {
    (void)state;
    gr_buf b = {0}, body = {0};
    static const uint8_t rows[20] = {0x00, 0x10, 0x00, 0x00, 0xf0, 0xff, 0x00, 0x20, 0x00, 255, 128, 0, 255, 160, 0, 255, 0, 0, 0, 0xc0};
    static const size_t size[5] = {9, 1, 3, 3, 4};
    char packed[256];
    gr_put_u32(&b, 0x5053474e);
    gr_put_u32(&b, 4);
    gr_put_u32(&b, 1);
    gr_buf_put(&b, "\0\x0c\0\5", 4);
    gr_put_u32(&b, 32);
    for (int i = 0; i < 3; i++) gr_put_u32(&b, 0);
    for (size_t i = 0, at = 0; i < 5; at += size[i++]) {
        size_t n = ZSTD_compress(packed, sizeof packed, rows + at, size[i], 3);
        gr_put_u64(&b, n);
        gr_put_u64(&b, size[i]);
        gr_buf_put(&body, packed, n);
    }
    gr_buf_put(&b, body.p, body.n);
    gr_cloud c = read_as("a.spz", &b, GR_CLOUD_SPZ);
    assert_true(c.mean[0] == 1 && c.mean[1] == 1 && c.mean[2] == -2 && c.scale[1] == -10 && c.rotation[0] == 1);
    for (size_t n = 0; n < b.n; n++) {
        gr_diags_clear(&diags);
        assert_false(gr_cloud_read(&arena, &diags, GR_STR("a.spz"), (gr_str){b.p, n}, &c, NULL));
    }
    gr_buf_free(&b);
    gr_buf_free(&body);
}
#endif

static void spz_says_what_it_loses(void **state) {
    (void)state;
    gr_cloud c = random_cloud(2, 0, 1);
    gr_buf b = {0};
    c.mean[1] = 5000;
    fine(gr_cloud_write(&b, &diags, GR_STR("a.spz"), &c, GR_CLOUD_SPZ));
    expect(GR_D_SPLAT_LOSSY, "1 coordinates are outside -2048 to 2048");
    gr_buf_free(&b);
}
#endif

#ifdef GR_HAVE_ZLIB
/* Harmonic k of the basis at a direction, without its constant. */
static double harmonic(int k, double x, double y, double z) {
    const double b[16] = {1, y, z, x, x * y, y * z, 2 * z * z - x * x - y * y, x * z, x * x - y * y, y * (3 * x * x - y * y), x * y * z,
                          y * (4 * z * z - x * x - y * y), z * (2 * z * z - 3 * x * x - 3 * y * y), x * (4 * z * z - x * x - y * y),
                          z * (x * x - y * y), x * (x * x - 3 * y * y)};
    return b[k];
}

/* SPZ's axes are (x, -y, -z): a harmonic read from it must give at our direction what the stored one gives at theirs. */
static void spz_turns_the_harmonics(void **state) {
    (void)state;
    gr_buf plain = {0}, b = {0};
    gr_put_u32(&plain, 0x5053474e);
    gr_put_u32(&plain, 3);
    gr_put_u32(&plain, 1);
    gr_buf_put(&plain, "\3\x0c\0\0", 4);
    for (int i = 0; i < 9 + 1 + 3 + 3 + 4; i++) gr_buf_putc(&plain, 0);
    for (int i = 0; i < 45; i++) gr_buf_putc(&plain, (char)(128 + 32));
    fine(gr_gzip(&b, &diags, GR_STR("a.spz"), gr_buf_view(&plain)));
    gr_cloud c = read_as("a.spz", &b, GR_CLOUD_SPZ);
    for (int k = 1; k < 16; k++)
        near_(harmonic(k, 0.3, 0.5, 0.7) * (double)c.sh[3 * k + k % 3], harmonic(k, 0.3, -0.5, -0.7) * 0.25, 1e-12);
    gr_buf_free(&plain);
    gr_buf_free(&b);
}
#endif

static void dotsplat_round_trip(void **state) {
    (void)state;
    gr_cloud c = random_cloud(30, 1, 2), e, f;
    gr_buf b = {0}, b2 = {0};
    fine(gr_cloud_write(&b, &diags, GR_STR("a.splat"), &c, GR_CLOUD_SPLAT));
    expect(GR_D_SPLAT_LOSSY, "3 coefficients of each splat are dropped");
    assert_int_equal(b.n, 30 * 32);
    e = read_as("a.splat", &b, GR_CLOUD_SPLAT);
    assert_memory_equal(c.mean, e.mean, 30 * 12);
    for (int i = 0; i < 90; i++) near_(c.scale[i], e.scale[i], 1e-6);
    for (int i = 0; i < 30; i++) near_(c.opacity[i], e.opacity[i], 0.2);
    fine(gr_cloud_write(&b2, &diags, GR_STR("a.splat"), &e, GR_CLOUD_SPLAT));
    f = read_as("b.splat", &b2, GR_CLOUD_SPLAT);
    assert_memory_equal(e.sh, f.sh, 30 * 12);
    assert_memory_equal(e.opacity, f.opacity, 30 * 4);
    b.n--;
    assert_false(gr_cloud_read(&arena, &diags, GR_STR("a.splat"), gr_buf_view(&b), &c, NULL));
    expect(GR_D_SPLAT_SPLAT_SIZE, "959 bytes");
    gr_buf_free(&b);
    gr_buf_free(&b2);
}

static void not_finite_is_counted(void **state) {
    (void)state;
    gr_cloud c = random_cloud(4, 0, 2), e;
    gr_buf b = {0};
    c.scale[7] = gr_f32_bits(0x7fc00000);
    c.mean[9] = gr_f32_bits(0x7f800000);
    assert_true(gr_cloud_write_ply(&b, &c));
    e = read_as("a.ply", &b, GR_CLOUD_PLY);
    expect(GR_D_SPLAT_NOT_FINITE, "2 of 4 splats hold a value that is not finite; the first is splat 2");
    assert_memory_equal(c.scale, e.scale, 48);
    gr_buf_free(&b);
}

static void shared_files(void **state) {
    (void)state;
    gr_cloud c, e;
    gr_cloud_format f;
    gr_buf b = {0};
    fine(gr_cloud_load(&arena, &diags, shared("splats/donut.ply"), &c, &f));
    assert_int_equal(c.n, 45624);
    assert_int_equal(f, GR_CLOUD_PLY);
    assert_true(gr_cloud_write_ply(&b, &c));
    e = read_as("a.ply", &b, GR_CLOUD_PLY);
    assert_memory_equal(c.mean, e.mean, c.n * 12);
    assert_memory_equal(c.rotation, e.rotation, c.n * 16);
    gr_buf_free(&b);
    fine(gr_cloud_load(&arena, &diags, shared("splats/guitar.compressed.ply"), &c, &f));
    assert_int_equal(c.n, 90854);
    assert_int_equal(f, GR_CLOUD_COMPRESSED_PLY);
    for (uint32_t i = 0; i < c.n; i++) {
        const float *q = c.rotation + 4 * i;
        near_(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3], 1, 1e-5);
    }
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(ply_round_trip_keeps_every_bit), T(ply_field_order), T(ply_ascii_and_big_endian), T(ply_complaints), T(compressed_ply_by_hand),
#ifdef GR_HAVE_ZLIB
#ifdef GR_HAVE_ZSTD
        T(spz_version_4),
#endif
        T(spz_round_trip), T(spz_by_hand), T(spz_says_what_it_loses), T(spz_turns_the_harmonics),
#endif
        T(dotsplat_round_trip), T(not_finite_is_counted), T(shared_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
