/* Files of several arrays: round trips, damaged files, memory that fails, and NumPy and SciPy beside them where present. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "array/archive.h"
#include "base/file.h"
#include "base/rng.h"

static gr_arena arena;
static gr_diags diags;

static int setup(void **state) {
    (void)state;
    arena = (gr_arena){.limit = 64 << 20};
    gr_diags_init(&diags);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    gr_arena_free(&arena);
    gr_diags_free(&diags);
    return 0;
}

static gr_array random_array(gr_rng *r, gr_dtype t, uint32_t rank) {
    uint64_t dims[GR_RANK_MAX] = {0};
    gr_array x;
    for (uint32_t k = 0; k < rank; k++) dims[k] = gr_rng_below(r, 4);
    assert_true(gr_array_new(&arena, &diags, t, dims, rank, &x));
    for (size_t i = 0; i < x.bytes; i++) ((uint8_t *)x.data)[i] = (uint8_t)gr_rng_below(r, t == GR_DTYPE_BOOL ? 2 : 256);
    return x;
}

static bool open_bytes(gr_format format, gr_str bytes, gr_archive *f) {
    gr_diags_clear(&diags);
    return gr_archive_read_contents(&arena, &diags, format, gr_reader_of(GR_STR("x"), bytes), f);
}

static void expect_same(const gr_archive *f, const gr_named_array *want, uint32_t n) {
    assert_int_equal(f->n, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t at;
        gr_array x;
        assert_true(gr_archive_find(f, &diags, want[i].name, &at));
        assert_true(gr_archive_get(f, &arena, &diags, at, &x));
        assert_true(gr_array_same_bits(&x, &want[i].array));
    }
}

/* Every dtype and rank, in each way of writing. */
static void archives_round_trip(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(5);
    gr_named_array list[40];
    uint32_t n = 0;
    for (int t = 1; t < GR_DTYPE_COUNT; t++)
        for (uint32_t rank = 0; rank <= GR_RANK_MAX && n < 40; rank += 3, n++)
            list[n] = (gr_named_array){gr_str_of(gr_arena_printf(&arena, "layer.%u/\xC3\xA9 \"w\"", n)), random_array(&r, (gr_dtype)t, rank)};
    gr_text_pair pairs[] = {{GR_STR("format"), GR_STR("pt")}, {GR_STR("a\"b"), GR_STR("\n")}};
    for (int way = 0; way < 5; way++) {
        gr_buf b = {0};
        gr_archive f;
        bool zip = way < 4;
        assert_true(zip ? gr_npz_write(&b, &diags, list, n, way & 1, way & 2 ? 0 : 0xFFFFFFFF)
                        : gr_safetensors_write(&b, &diags, list, n, pairs, 2));
        assert_true(open_bytes(zip ? GR_FORMAT_NPZ : GR_FORMAT_SAFETENSORS, gr_buf_view(&b), &f));
        expect_same(&f, list, n);
        if (!zip) {
            assert_int_equal(f.metadata_n, 2);
            assert_true(gr_str_eq(f.metadata[1].key, pairs[1].key) && gr_str_eq(f.metadata[1].value, pairs[1].value));
        }
        gr_buf_free(&b);
    }
}

static void empty_archives_are_archives(void **state) {
    (void)state;
    gr_archive f;
    for (int zip = 0; zip < 2; zip++) {
        gr_buf b = {0};
        uint32_t i;
        assert_true(zip ? gr_npz_write(&b, &diags, NULL, 0, false, 0xFFFFFFFF) : gr_safetensors_write(&b, &diags, NULL, 0, NULL, 0));
        assert_true(open_bytes(zip ? GR_FORMAT_NPZ : GR_FORMAT_SAFETENSORS, gr_buf_view(&b), &f));
        assert_int_equal(f.n, 0);
        assert_false(gr_archive_find(&f, &diags, (gr_str){0}, &i));
        assert_true(gr_diags_has(&diags, GR_D_ARRAY_NO_SUCH_ARRAY));
        gr_buf_free(&b);
    }
}

static gr_str st_file(const char *header, size_t body) {
    size_t n = strlen(header);
    char *p = gr_arena_alloc(&arena, 8 + n + body, 1);
    for (int i = 0; i < 8; i++) p[i] = (char)(n >> 8 * i & 255);
    memcpy(p + 8, header, n);
    for (size_t i = 0; i < body; i++) p[8 + n + i] = (char)(i + 1);
    return (gr_str){p, 8 + n + body};
}

static void safetensors_widens_and_keeps_order(void **state) {
    (void)state;
    gr_archive f;
    gr_array x;
    assert_true(open_bytes(GR_FORMAT_SAFETENSORS,
                           st_file("{\"b\":{\"dtype\":\"BF16\",\"shape\":[2],\"data_offsets\":[2,6]},\"i\":{\"dtype\":\"I16\",\"shape\":[],\"data_offsets\":[0,2]},"
                                   "\"f8\":{\"dtype\":\"F8_E4M3\",\"shape\":[3],\"data_offsets\":[6,9]}}  ", 9), &f));
    assert_true(gr_str_eqz(f.entries[0].name, "b") && f.entries[0].type.dtype == GR_DTYPE_F32 && f.entries[2].type.dtype == GR_DTYPE_NONE);
    assert_true(gr_archive_get(&f, &arena, &diags, 0, &x));
    assert_int_equal(((uint32_t *)x.data)[0], 0x04030000);
    assert_true(gr_archive_get(&f, &arena, &diags, 1, &x) && ((int32_t *)x.data)[0] == 0x0201);
    assert_true(gr_diags_has(&diags, GR_D_ARRAY_WIDENED));
    assert_false(gr_archive_get(&f, &arena, &diags, 2, &x));
    assert_true(gr_diags_has(&diags, GR_D_ARRAY_DTYPE));
}

static void damaged_safetensors_are_refused(void **state) {
    (void)state;
#define ONE(offsets) "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" offsets "}}"
#define TWO(offsets) "{\"a\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},\"b\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" offsets "}}"
    static const struct { const char *header; size_t body; } list[] = {
        {ONE("[0,8]"), 9}, {ONE("[0,8]"), 7}, {ONE("[0,4]"), 4}, {ONE("[1,9]"), 9}, {ONE("[8,0]"), 8}, {ONE("[0,18446744073709551615]"), 8}, {ONE("[-8,0]"), 8},
        {ONE("[0]"), 8}, {ONE("null"), 8}, {ONE("[0.5,8]"), 8}, {TWO("[0,4]"), 4}, {TWO("[2,6]"), 6}, {TWO("[5,9]"), 9},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}", 0},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4}, {"{\"a\":{\"dtype\":\"F32\",\"shape\":2,\"data_offsets\":[0,8]}}", 8},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8}, {"{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"x\":1}}", 8},
        {"{\"a\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8}, {"{\"a\":1}", 0}, {"[]", 0}, {"", 0}, {"{", 0}, {"{}x", 0}, {" {}", 0}, {"{} ", 1},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}}", 0},
        {"{\"__metadata__\":{\"a\":1}}", 0}, {"{\"__metadata__\":[]}", 0},
    };
    gr_archive f;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (open_bytes(GR_FORMAT_SAFETENSORS, st_file(list[i].header, list[i].body), &f)) fail_msg("accepted: %s with %zu bytes", list[i].header, list[i].body);
    assert_false(open_bytes(GR_FORMAT_SAFETENSORS, GR_STR("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F{}"), &f));
    assert_true(open_bytes(GR_FORMAT_SAFETENSORS, st_file(ONE("[0,8]"), 8), &f));
    assert_true(open_bytes(GR_FORMAT_SAFETENSORS, st_file(TWO("[4,8]"), 8), &f));
}

/* Cut anywhere it is refused; with any bit turned it is refused or read, and says which. */
static void survives(gr_format format, gr_str good) {
    gr_archive f;
    gr_array x;
    char *p = malloc(good.n);
    assert_non_null(p);
    assert_true(open_bytes(format, good, &f));
    for (size_t n = 0; n < good.n; n++) assert_false(open_bytes(format, (gr_str){good.p, n}, &f));
    for (size_t i = 0; i < good.n * 8; i++) {
        memcpy(p, good.p, good.n);
        p[i / 8] = (char)(p[i / 8] ^ 1 << i % 8);
        bool ok = open_bytes(format, (gr_str){p, good.n}, &f);
        for (uint32_t k = 0; ok && k < f.n; k++) ok = gr_archive_get(&f, &arena, &diags, k, &x);
        assert_true(ok == gr_diags_ok(&diags));
        assert_false(gr_diags_has(&diags, GR_D_BASE_INVARIANT));
    }
    free(p);
}

static void every_truncation_and_flip_is_survived(void **state) {
    (void)state;
    float v[3] = {1, -2, 0.5f};
    gr_named_array two[] = {{GR_STR("a"), {.dtype = GR_DTYPE_F32, .rank = 1, .dims = {3}, .data = v, .bytes = 12}},
                            {GR_STR("b"), {.dtype = GR_DTYPE_F32, .rank = 0, .data = v, .bytes = 4}}};
    for (int way = 0; way < 6; way++) {
        gr_buf b = {0};
        if (way == 0) assert_true(gr_safetensors_write(&b, &diags, two, 2, NULL, 0));
        else if (way < 4) assert_true(gr_npz_write(&b, &diags, two, 2, way == 2, way == 3 ? 0 : 0xFFFFFFFF));
        else assert_true(gr_wav_write(&b, &diags, &two->array, 8000, way == 4 ? 32 : 0));
        survives(way == 0 ? GR_FORMAT_SAFETENSORS : way < 4 ? GR_FORMAT_NPZ : GR_FORMAT_WAV, gr_buf_view(&b));
        gr_buf_free(&b);
    }
}

/* A member that claims gigabytes is refused before they are asked for. */
static void a_bomb_is_refused(void **state) {
    (void)state;
    gr_buf b = {0};
    gr_archive f;
    uint8_t z[4096] = {0};
    gr_named_array one = {GR_STR("z"), {.dtype = GR_DTYPE_U8, .rank = 1, .dims = {sizeof z}, .data = z, .bytes = sizeof z}};
    assert_true(gr_npz_write(&b, &diags, &one, 1, true, 0xFFFFFFFF));
    for (size_t i = 0; i + 4 < b.n; i++)
        if (memcmp(b.p + i, "PK\1\2", 4) == 0) memset(b.p + i + 24, 0x7F, 4);
    size_t before = arena.total;
    assert_false(open_bytes(GR_FORMAT_NPZ, gr_buf_view(&b), &f));
    assert_true(gr_diags_has(&diags, GR_D_ARRAY_ZIP));
    assert_true(arena.total - before < 1 << 20);
    gr_buf_free(&b);
}

static void wav_round_trips(void **state) {
    (void)state;
    static const uint32_t bits[] = {8, 16, 24, 32, 0};
    gr_rng r = gr_rng_seed(9);
    for (uint32_t channels = 1; channels <= 6; channels++)
        for (uint32_t k = 0; k < 5; k++)
            for (int wide = 0; wide < 2; wide++) {
                uint64_t dims[2] = {33, channels};
                gr_array x, y, rate;
                gr_buf b = {0};
                gr_archive f;
                assert_true(gr_array_new(&arena, &diags, wide ? GR_DTYPE_F64 : GR_DTYPE_F32, dims, channels > 1 ? 2 : 1, &x));
                uint64_t n = gr_array_count(&x);
                double scale = bits[k] ? (double)(1ull << (bits[k] - 1)) : 1 << 23;
                for (uint64_t i = 0; i < n; i++) gr_array_set_f64(&x, i, ((double)(gr_rng_u32(&r) % ((uint64_t)scale * 2)) - scale) / scale);
                gr_diags_clear(&diags);
                bool f32_is_too_narrow = bits[k] == 32 && !wide; /* 2^31 - 1 rounds up to 1 */
                assert_true(gr_wav_write(&b, &diags, &x, 44100, bits[k]));
                assert_true(f32_is_too_narrow || diags.warnings == 0);
                assert_true(open_bytes(GR_FORMAT_WAV, gr_buf_view(&b), &f));
                assert_true(gr_archive_get(&f, &arena, &diags, 0, &y) && gr_archive_get(&f, &arena, &diags, 1, &rate));
                assert_int_equal(*(uint32_t *)rate.data, 44100);
                assert_true(y.rank == x.rank && y.dims[0] == 33);
                for (uint64_t i = 0; i < n; i++) assert_true(f32_is_too_narrow || gr_array_get_f64(&x, i) == gr_array_get_f64(&y, i));
                gr_buf_free(&b);
            }
}

static void pcm_saturates_and_says_so(void **state) {
    (void)state;
    float v[5] = {1.5f, -1.5f, 1.0f, -1.0f, 0.5f / 32768};
    gr_array x = {.dtype = GR_DTYPE_F32, .rank = 1, .dims = {5}, .data = v, .bytes = sizeof v}, y;
    gr_buf b = {0};
    gr_archive f;
    assert_true(gr_wav_write(&b, &diags, &x, 8000, 16));
    assert_true(gr_diags_has(&diags, GR_D_ARRAY_WAV_CLIPPED));
    assert_true(open_bytes(GR_FORMAT_WAV, gr_buf_view(&b), &f) && gr_archive_get(&f, &arena, &diags, 0, &y));
    static const double want[] = {32767 / 32768.0, -1, 32767 / 32768.0, -1, 0}; /* a half goes to the even */
    for (int i = 0; i < 5; i++) assert_true(gr_array_get_f64(&y, (uint64_t)i) == want[i]);
    gr_buf_free(&b);
    v[2] = 0.0f / v[4] + (float)atof("nan");
    assert_false(gr_wav_write(&b, &diags, &x, 8000, 16));
    gr_buf_free(&b);
}

static void names_choose_arrays(void **state) {
    (void)state;
    static const struct { const char *path; gr_format format; const char *file, *select; } list[] = {
        {"a/b.npy", GR_FORMAT_NPY, "a/b.npy", ""}, {"w.safetensors#conv1.weight", GR_FORMAT_SAFETENSORS, "w.safetensors", "conv1.weight"},
        {"w.npz#a#b", GR_FORMAT_NPZ, "w.npz", "a#b"}, {"dir#1/x.npy", GR_FORMAT_NPY, "dir#1/x.npy", ""}, {"x.npz#", GR_FORMAT_NPZ, "x.npz", ""},
        {"w.npz#x.npy", GR_FORMAT_NPZ, "w.npz", "x.npy"}, {"s.wav#rate", GR_FORMAT_WAV, "s.wav", "rate"}, {"x.npy#a", GR_FORMAT_NONE, "x.npy#a", ""}, {"x", GR_FORMAT_NONE, "x", ""},
    };
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        gr_str file, select;
        assert_int_equal(gr_format_of(gr_str_of(list[i].path), &file, &select), list[i].format);
        assert_true(gr_str_eqz(file, list[i].file) && gr_str_eqz(select, list[i].select));
    }
}

static void saving_checks_names_and_counts(void **state) {
    (void)state;
    float v = 1;
    uint32_t rate = 8000;
    gr_array x = {.dtype = GR_DTYPE_F32, .rank = 1, .dims = {1}, .data = &v, .bytes = 4}, y;
    gr_array r = {.dtype = GR_DTYPE_U32, .data = &rate, .bytes = 4};
    gr_named_array same[] = {{GR_STR("a"), x}, {GR_STR("a"), x}}, two[] = {{GR_STR("samples"), x}, {GR_STR("rate"), r}};
    char dir[] = "/tmp/gr-archive-XXXXXX";
    assert_non_null(mkdtemp(dir));
#define PATH(name) gr_str_of(gr_arena_printf(&arena, "%s/" name, dir))
    assert_false(gr_archive_save(&diags, PATH("x.npz"), same, 2, NULL));
    assert_false(gr_archive_save(&diags, PATH("x.npy"), two, 2, NULL));
    assert_false(gr_array_save(&diags, PATH("x.wav"), &x));
    assert_false(gr_array_save(&diags, PATH("x.txt"), &x));
    assert_false(gr_archive_save(&diags, PATH("x.wav#rate=x"), two, 1, NULL));
    assert_true(gr_archive_save(&diags, PATH("x.wav#bits=16"), two, 2, NULL));
    gr_diags_clear(&diags);
    assert_true(gr_array_load(&arena, &diags, PATH("x.wav#rate"), 0, &y) && *(uint32_t *)y.data == 8000);
    assert_true(gr_array_save(&diags, PATH("clean.npz"), &x));
    assert_true(gr_array_load(&arena, &diags, PATH("clean.npz#clean"), 0, &y) && gr_array_same_bits(&x, &y));
    assert_true(gr_array_load(&arena, &diags, PATH("clean.npz"), 0, &y));
    assert_true(gr_array_save(&diags, PATH("clean.npz#other"), &x));
    assert_false(gr_array_load(&arena, &diags, PATH("clean.npz#clean"), 0, &y));
    assert_true(gr_archive_save(&diags, PATH("two.safetensors"), two, 2, NULL));
    assert_false(gr_array_load(&arena, &diags, PATH("two.safetensors"), 0, &y)); /* which of the two? */
    assert_false(gr_array_load(&arena, &diags, PATH("two.safetensors#samples"), 10, &y)); /* over the limit */
    assert_int_equal(system(gr_arena_printf(&arena, "rm -r %s", dir)), 0);
}

/* Whatever allocation fails, reader and writer say so and nothing leaks or crashes. */
static void failing_memory_is_reported(void **state) {
    (void)state;
    gr_rng r = gr_rng_seed(1);
    gr_named_array two[] = {{GR_STR("a"), random_array(&r, GR_DTYPE_F16, 3)}, {GR_STR("b"), random_array(&r, GR_DTYPE_BOOL, 1)}};
    for (int zip = 0; zip < 2; zip++) {
        bool ok = false;
        for (uint64_t n = 1; !ok && n < 400; n++) {
            gr_arena a = {0};
            gr_buf b = {0};
            gr_archive f;
            gr_array x;
            gr_diags_clear(&diags);
            gr_heap_fail_nth(n);
            ok = zip ? gr_npz_write(&b, &diags, two, 2, true, 0xFFFFFFFF) : gr_safetensors_write(&b, &diags, two, 2, NULL, 0);
            ok = ok && gr_archive_read_contents(&a, &diags, zip ? GR_FORMAT_NPZ : GR_FORMAT_SAFETENSORS, gr_reader_of(GR_STR("x"), gr_buf_view(&b)), &f);
            for (uint32_t k = 0; ok && k < f.n; k++) ok = gr_archive_get(&f, &a, &diags, k, &x);
            gr_heap_fail_nth(0);
            assert_true(ok == gr_diags_ok(&diags));
            gr_buf_free(&b);
            gr_arena_free(&a);
        }
        assert_true(ok);
    }
}

/* NumPy and SciPy write files, we write the same arrays again, they compare. */
static void numpy_and_scipy_agree(void **state) {
    (void)state;
    if (system("/usr/bin/python3 -c 'import numpy, scipy.io' 2>/dev/null") != 0) skip();
    static const char make[] =
        "import numpy as n, scipy.io.wavfile as w, sys, os\n"
        "os.chdir(sys.argv[1]); r=n.random.default_rng(1)\n"
        "a={'x':r.normal(size=(3,4)).astype('f4'),'i':r.integers(-9,9,(2,2,2)),'b':r.random(5)<.5,'f':n.asfortranarray(r.normal(size=(4,5)))}\n"
        "n.savez('s.npz',**a); n.savez_compressed('c.npz',**a)\n"
        "for k,t in {'u1':'u1','i2':'i2','i4':'i4','f4':'f4','f8':'f8'}.items():\n"
        "  v=r.normal(size=(50,2))/9 if t[0]=='f' else r.integers(n.iinfo(t).min,n.iinfo(t).max,(50,2),endpoint=True)\n"
        "  w.write(k+'.wav',8000,v.astype(t))\n";
    static const char compare[] =
        "import numpy as n, scipy.io.wavfile as w, sys, os, warnings\n"
        "os.chdir(sys.argv[1]); warnings.simplefilter('error')\n"
        "for f in 'sc':\n"
        "  a,b=n.load(f+'.npz'),n.load(f+'.again.npz')\n"
        "  assert set(a.files)==set(b.files)\n"
        "  for k in a.files: assert a[k].dtype==b[k].dtype and (a[k]==b[k]).all() and a[k].shape==b[k].shape,k\n"
        "for k in ('u1','i2','i4','f4','f8'):\n"
        "  (p,a),(q,b)=w.read(k+'.wav'),w.read(k+'.again.wav')\n"
        "  assert p==q and a.dtype==b.dtype and (a==b).all(),k\n"
        "  x=n.load(k+'.npy'); s={'u1':128,'i2':2**15,'i4':2**31}.get(k,1); assert (x==(a.astype('f8')-(128 if k=='u1' else 0))/s).all(),k\n";
    char dir[] = "/tmp/gr-archive-XXXXXX";
    assert_non_null(mkdtemp(dir));
    char *script = gr_arena_printf(&arena, "%s/script.py", dir);
    assert_true(gr_file_write(&diags, gr_str_of(script), make, sizeof make - 1));
    assert_int_equal(system(gr_arena_printf(&arena, "/usr/bin/python3 %s %s", script, dir)), 0);
    static const char *const files[] = {"s.npz", "c.npz", "u1.wav", "i2.wav", "i4.wav", "f4.wav", "f8.wav"};
    static const uint32_t bits[] = {0, 0, 8, 16, 32, 0, 0};
    for (size_t i = 0; i < 7; i++) {
        gr_archive f;
        gr_named_array list[8];
        char *path = gr_arena_printf(&arena, "%s/%s", dir, files[i]);
        assert_true(gr_archive_open(&arena, &diags, gr_str_of(path), &f));
        for (uint32_t k = 0; k < f.n; k++) {
            list[k].name = f.entries[k].name;
            assert_true(gr_archive_get(&f, &arena, &diags, k, &list[k].array));
        }
        gr_save_options o = {.compress = i == 1, .bits = bits[i]};
        char *again = gr_arena_printf(&arena, "%s/%.*s.again.%s", dir, (int)strcspn(files[i], "."), files[i], strchr(files[i], '.') + 1);
        assert_true(gr_archive_save(&diags, gr_str_of(again), list, f.n, &o));
        if (i > 1) assert_true(gr_array_save(&diags, gr_str_of(gr_arena_printf(&arena, "%s/%.2s.npy", dir, files[i])), &list[0].array));
        gr_archive_close(&f);
    }
    assert_true(gr_file_write(&diags, gr_str_of(script), compare, sizeof compare - 1));
    assert_int_equal(system(gr_arena_printf(&arena, "/usr/bin/python3 %s %s", script, dir)), 0);
    assert_int_equal(system(gr_arena_printf(&arena, "rm -r %s", dir)), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
        T(archives_round_trip), T(empty_archives_are_archives), T(safetensors_widens_and_keeps_order), T(damaged_safetensors_are_refused),
        T(every_truncation_and_flip_is_survived), T(a_bomb_is_refused), T(wav_round_trips), T(pcm_saturates_and_says_so), T(names_choose_arrays),
        T(saving_checks_names_and_counts), T(failing_memory_is_reported), T(numpy_and_scipy_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
