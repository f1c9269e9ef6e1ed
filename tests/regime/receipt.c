/* Receipts: every changed byte is seen, what changed is named, and an edited result does not survive a rerun. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lower.h"
#include "regime/put.h"
#include "regime/receipt.h"

typedef struct minted {
    low l;
    const gr_op *op;
    gr_conformance c;
    gr_str text;
} minted;

static gr_value *conform(minted *m, const gr_op *op) {
    gr_regime_device device = gr_regime_oracle();
    gr_conform_options o = {.cases = 12};
    device.engine = GR_STR("test");
    assert_true(gr_op_conform(&m->l.a, &m->l.d, m->l.catalog, op, &device, &o, &m->c));
    assert_true(m->c.passed);
    gr_value *v = gr_receipt_make(&m->l.a, &m->l.d, m->l.catalog, &m->c, NULL);
    assert_non_null(v);
    return v;
}

static gr_str write_out(minted *m, const gr_value *v) {
    gr_buf b = {0};
    assert_true(gr_receipt_write(&b, v));
    gr_str s = gr_str_dup(&m->l.a, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static void mint(minted *m, const char *id) {
    low_begin(&m->l);
    m->op = gr_catalog_find(m->l.catalog, gr_str_of(id));
    m->text = write_out(m, conform(m, m->op));
}

static void a_receipt_reads_back(void **state) {
    (void)state;
    minted m;
    gr_receipt r;
    gr_op_digests now;
    mint(&m, "user/kemal/windowed_median");
    assert_true(gr_receipt_parse(&m.l.a, &m.l.d, GR_STR("r.json"), m.text, &r));
    assert_true(gr_str_eqz(r.op, "user/kemal/windowed_median@1"));
    assert_int_equal(r.cases, 12);
    assert_int_equal(r.of.kernels_n, 1);
    assert_int_equal(r.of.uses_n, 1); /* its backward */
    assert_int_equal(m.c.instantiations_n, 1);
    assert_true(gr_op_digest(&m.l.a, &m.l.d, m.l.catalog, m.op, &now));
    assert_int_equal(gr_receipt_stale(&r, m.op, &now), 0);
    assert_true(gr_receipt_compare(&m.l.a, &m.l.d, &r, conform(&m, m.op)));
    low_end(&m.l);
}

/* Each byte in turn, with its lowest bit and with its case bit flipped. */
static void every_changed_byte_is_seen(void **state) {
    (void)state;
    minted m;
    mint(&m, "add");
    char *text = gr_arena_strndup(&m.l.a, m.text.p, m.text.n);
    for (size_t i = 0; i < m.text.n; i++)
        for (int bit = 1; bit <= 32; bit *= 32) {
            gr_arena a = {0};
            gr_receipt r;
            gr_diags d;
            gr_diags_init(&d);
            text[i] = (char)(text[i] ^ bit);
            if (gr_receipt_parse(&a, &d, GR_STR("r.json"), (gr_str){text, m.text.n}, &r)) fail_msg("byte %zu, bit %d", i, bit);
            assert_true(gr_diags_has(&d, GR_D_REGIME_RECEIPT_INVALID) || gr_diags_has(&d, GR_D_REGIME_RECEIPT_CHANGED));
            text[i] = (char)(text[i] ^ bit);
            gr_diags_free(&d);
            gr_arena_free(&a);
        }
    low_end(&m.l);
}

/* The op again under the same id with one file altered; in a catalog of its own, since ids are unique. */
static unsigned stale_after(const minted *m, const gr_receipt *r, const char *file, const char *from, const char *to) {
    low l = {0};
    gr_str names[8], texts[8];
    gr_op_digests now;
    uint32_t n = gr_op_files(m->op);
    gr_diags_init(&l.d);
    l.catalog = gr_catalog_new();
    low_path(&l, "catalog");
    for (uint32_t i = 0; i < n; i++) {
        names[i] = gr_op_file(m->op, i, &texts[i]);
        if (!gr_str_eqz(names[i], file)) continue;
        char *at = strstr(texts[i].p, from);
        assert_non_null(at);
        texts[i] = gr_str_of(gr_arena_printf(&l.a, "%.*s%s%s", (int)(at - texts[i].p), texts[i].p, to, at + strlen(from)));
    }
    gr_str use = GR_STR("user/kemal/windowed_median_backward@1");
    const gr_op *backward = gr_catalog_find(m->l.catalog, use);
    gr_str use_names[8], use_texts[8];
    for (uint32_t i = 0; i < gr_op_files(backward); i++) {
        use_names[i] = gr_op_file(backward, i, &use_texts[i]);
        if (!strcmp(file, "uses") && gr_str_ends(use_names[i], ".wgsl")) use_texts[i] = gr_str_of(gr_arena_printf(&l.a, "%s\n", use_texts[i].p));
    }
    assert_non_null(gr_catalog_add(l.catalog, &l.d, use, use_names, use_texts, gr_op_files(backward)));
    const gr_op *op = gr_catalog_add(l.catalog, &l.d, m->op->id, names, texts, n);
    if (!op) low_show(&l.d);
    assert_non_null(op);
    assert_true(gr_op_digest(&l.a, &l.d, l.catalog, op, &now));
    unsigned stale = gr_receipt_stale(r, op, &now);
    assert_int_equal(gr_receipt_report(&l.d, r, op, &now), (stale & ~(unsigned)GR_STALE_CONTENT) == 0);
    low_end(&l);
    return stale;
}

static void what_changed_is_named(void **state) {
    (void)state;
    minted m;
    gr_receipt r;
    mint(&m, "user/kemal/windowed_median");
    assert_true(gr_receipt_parse(&m.l.a, &m.l.d, GR_STR("r.json"), m.text, &r));
    assert_int_equal(stale_after(&m, &r, "none", "", ""), 0);
    assert_int_equal(stale_after(&m, &r, "op.toml", "odd = 7", "odd = 5"), GR_STALE_CONTRACT | GR_STALE_CONTENT);
    assert_int_equal(stale_after(&m, &r, "op.toml", "cpu = \"kernel\"", "cpu =  \"kernel\""), GR_STALE_CONTENT); /* as JSON the same */
    assert_int_equal(stale_after(&m, &r, "op.toml", "Kemal", "Selma"), GR_STALE_CONTENT);
    assert_int_equal(stale_after(&m, &r, "op.toml", "[example]", "[import]\nonnx = \"WindowedMedian\"\n\n[example]"), GR_STALE_CONTENT);
    assert_int_equal(stale_after(&m, &r, "reference.wgsl", "Median by", "median by"), GR_STALE_REFERENCE | GR_STALE_CONTENT);
    assert_int_equal(stale_after(&m, &r, "kernel.wgsl", "One window", "one window"), GR_STALE_KERNEL | GR_STALE_CONTENT);
    assert_int_equal(stale_after(&m, &r, "uses", "", ""), GR_STALE_USES);
    r.suite = GR_STR("0");
    assert_int_equal(stale_after(&m, &r, "none", "", ""), GR_STALE_SUITE);
    low_end(&m.l);
}

/* Whoever edits a receipt can compute its digest again; a rerun then tells. */
static void an_edited_result_is_not_reproduced(void **state) {
    (void)state;
    minted m;
    gr_receipt r;
    gr_buf b = {0};
    mint(&m, "user/kemal/windowed_median");
    gr_value *v = conform(&m, m.op), *counts = gr_value_get(gr_value_get(v, "result"), "counts");
    gr_value_get(counts, "passed")->i++;
    gr_value *bare = gr_value_new(&m.l.a, GR_V_OBJECT);
    for (uint32_t i = 0; i < v->object.n; i++)
        if (!gr_str_eqz(v->object.v[i].key, "digest")) gr_value_set(&m.l.a, bare, gr_str_dup(&m.l.a, v->object.v[i].key).p, v->object.v[i].value);
    assert_true(gr_json_canonical(&b, bare));
    gr_put_hash(&m.l.a, bare, "digest", gr_sha256_of(b.p, b.n));
    gr_buf_free(&b);
    assert_true(gr_receipt_parse(&m.l.a, &m.l.d, GR_STR("r.json"), write_out(&m, bare), &r)); /* well formed */
    assert_false(gr_receipt_compare(&m.l.a, &m.l.d, &r, conform(&m, m.op)));
    assert_true(gr_diags_has(&m.l.d, GR_D_REGIME_NOT_REPRODUCED));
    assert_true(gr_str_eqz(m.l.d.list.v[m.l.d.list.n - 1].place.pointer, "/result/counts/passed"));
    low_end(&m.l);
}

static void nothing_is_minted_for_less_than_a_pass(void **state) {
    (void)state;
    minted m;
    mint(&m, "add");
    m.c.passed = false;
    assert_null(gr_receipt_make(&m.l.a, &m.l.d, m.l.catalog, &m.c, NULL));
    low_end(&m.l);
}

int main(void) {
    const struct CMUnitTest t[] = {cmocka_unit_test(a_receipt_reads_back), cmocka_unit_test(every_changed_byte_is_seen),
                                   cmocka_unit_test(what_changed_is_named), cmocka_unit_test(an_edited_result_is_not_reproduced),
                                   cmocka_unit_test(nothing_is_minted_for_less_than_a_pass)};
    return cmocka_run_group_tests(t, NULL, NULL);
}
