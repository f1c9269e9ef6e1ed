/* SHA-256: NIST vectors (FIPS 180-4 examples), OpenSSL against the portable code, text form. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/hash.h"
#include "base/rng.h"

static void expect(const char *text, const void *p, size_t n) {
    char t[72];
    gr_sha256_text(t, gr_sha256_of(p, n));
    assert_string_equal(t, text);
    gr_sha256_text(t, gr_sha256_portable(p, n));
    assert_string_equal(t, text);
}

static void nist_vectors(void **state) {
    (void)state;
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    expect("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "", 0);
    expect("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc", 3);
    expect("sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", two, strlen(two));
    char *million = gr_heap_alloc(1000000, 1);
    memset(million, 'a', 1000000);
    expect("sha256:cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", million, 1000000);
    gr_heap_free(million);
}

static void all_lengths_and_splits_agree(void **state) {
    (void)state;
    uint8_t b[300];
    gr_rng r = gr_rng_seed(7);
    for (size_t i = 0; i < sizeof b; i++) b[i] = (uint8_t)gr_rng_u32(&r);
    for (size_t n = 0; n <= sizeof b; n++) {
        gr_sha256 want = gr_sha256_of(b, n);
        assert_true(gr_sha256_eq(want, gr_sha256_portable(b, n)));
        gr_sha256_state s;
        gr_sha256_init(&s);
        for (size_t at = 0; at < n;) {
            size_t step = gr_rng_below(&r, 90) % (n - at + 1);
            gr_sha256_update(&s, b + at, step);
            at += step;
        }
        assert_true(gr_sha256_eq(want, gr_sha256_final(&s)));
    }
    assert_false(gr_sha256_eq(gr_sha256_of(b, 10), gr_sha256_of(b, 11)));
}

static void text_round_trips_and_rejects(void **state) {
    (void)state;
    char t[72];
    gr_sha256 h = gr_sha256_of("x", 1), back;
    gr_sha256_text(t, h);
    assert_true(gr_sha256_parse(gr_str_of(t), &back));
    assert_true(gr_sha256_eq(h, back));
    assert_false(gr_sha256_parse((gr_str){t, 70}, &back));
    assert_false(gr_sha256_parse((gr_str){t + 1, 70}, &back));
    t[10] = 'G';
    assert_false(gr_sha256_parse(gr_str_of(t), &back));
    t[10] = 'A';
    assert_false(gr_sha256_parse(gr_str_of(t), &back));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nist_vectors),
        cmocka_unit_test(all_lengths_and_splits_agree),
        cmocka_unit_test(text_round_trips_and_rejects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
