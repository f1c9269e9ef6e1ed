/* Train blocks, initial values and windows: what is read and printed, schedules by hand, distributions, damage survived. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/math.h"
#include "golden.h"
#include "ladder/canvas/canvas.h"

#include <math.h>

typedef struct box {
    gr_arena a;
    gr_diags d;
    gr_canvas c;
} box;

static bool open_box(box *b, gr_str text) {
    *b = (box){0};
    gr_diags_init(&b->d);
    return gr_canvas_parse(&b->a, &b->d, GR_STR("train.json"), text, &b->c) && gr_canvas_verify(&b->d, &b->c);
}

static void close_box(box *b) {
    gr_diags_free(&b->d);
    gr_arena_free(&b->a);
}

static const gr_canvas_node *node(const box *b, const char *id) {
    for (uint32_t i = 0; i < b->c.nodes_n; i++)
        if (gr_str_eqz(b->c.nodes[i].id, id)) return &b->c.nodes[i];
    return NULL;
}

static void every_key_is_read_and_printed(void **state) {
    (void)state;
    gr_arena keep = {0};
    box b, again;
    gr_buf out = {0}, twice = {0};
    gr_str text = golden_read(&keep, "tests/canvas/train.json");
    bool ok = open_box(&b, text);
    golden_show(&b.d, text);
    assert_true(ok);
    const gr_canvas_node *n = gr_canvas_training(&b.c);
    const gr_canvas_train *t = n->train;
    assert_true(gr_str_eqz(n->id, "fit") && gr_str_eqz(t->op, "adam") && t->params->object.n == 1);
    assert_true(t->schedule == GR_SCHEDULE_STEP && t->rate == 0.1 && t->factor == 0.5 && t->every == 10 && t->warmup == 4);
    assert_true(gr_str_eqz(t->dimension, "n") && t->batch == 4 && t->in_order && t->drop_last && t->steps == 100 && t->epochs == 0);
    assert_true(t->test == 0.25 && t->test_last && t->evaluate_every == 2 && gr_str_eqz(t->metric, "error") && t->greatest && t->patience == 3);
    assert_true(t->least == 0.001 && t->checkpoint_every == 20 && t->segments == 2);
    assert_true(t->clip_value == 0.5 && t->clip_norm == 0 && t->mixed && t->scale == 1024 && t->growth == 4 && t->backoff == 0.25 && t->interval == 50);
    assert_true(node(&b, "x")->window == 2 && node(&b, "x")->stride == 3 && node(&b, "p")->stride == 1);
    assert_true(node(&b, "b")->frozen && !node(&b, "a")->frozen && node(&b, "g")->init.fan_in == 7 && node(&b, "g")->init.gain == 2);
    assert_true(gr_canvas_print(&out, &b.c));
    ok = open_box(&again, gr_buf_view(&out));
    golden_show(&again.d, gr_buf_view(&out));
    assert_true(ok && gr_canvas_print(&twice, &again.c));
    assert_string_equal(out.p, twice.p);
    golden_check("tests/canvas/train.golden.json", gr_buf_view(&out));
    gr_buf_free(&out);
    gr_buf_free(&twice);
    close_box(&b);
    close_box(&again);
    gr_arena_free(&keep);
}

static void schedules_are_as_by_hand(void **state) {
    (void)state;
    gr_canvas_train t = {.schedule = GR_SCHEDULE_CONSTANT, .rate = 0.5, .warmup = 4};
    const double warm[6] = {0.125, 0.25, 0.375, 0.5, 0.5, 0.5};
    for (uint64_t s = 0; s < 6; s++) assert_true(gr_canvas_rate(&t, s, 6) == warm[s]);
    t = (gr_canvas_train){.schedule = GR_SCHEDULE_STEP, .rate = 0.8, .factor = 0.5, .every = 3};
    const double down[7] = {0.8, 0.8, 0.8, 0.4, 0.4, 0.4, 0.2};
    for (uint64_t s = 0; s < 7; s++) assert_true(fabs(gr_canvas_rate(&t, s, 7) - down[s]) < 1e-15);
    t = (gr_canvas_train){.schedule = GR_SCHEDULE_RAMP, .rate = 1, .last_rate = 0.5};
    for (uint64_t s = 0; s < 5; s++) assert_true(fabs(gr_canvas_rate(&t, s, 5) - (1 - 0.125 * (double)s)) < 1e-15);
    t = (gr_canvas_train){.schedule = GR_SCHEDULE_COSINE, .rate = 1, .last_rate = 0.2, .warmup = 2};
    const double turn[5] = {0.5, 1, 1, 0.6, 0.2}; /* two steps of warm-up, then cos 0, cos pi/2, cos pi */
    for (uint64_t s = 0; s < 5; s++) assert_true(fabs(gr_canvas_rate(&t, s, 5) - turn[s]) < 1e-15);
    assert_true(fabs(gr_canvas_rate(&t, 50, 5) - 0.2) < 1e-15); /* past the declared end it stays */
    assert_true(gr_canvas_rate(&t, 2, 3) == 1);                  /* one step behind the warm-up */
}

/* Mean, deviation and ends of 40,000 elements. */
static void initial_values_have_their_moments(void **state) {
    (void)state;
    static const struct { gr_canvas_init init; double mean, deviation, most; } cases[] = {
        {{.kind = GR_INIT_ZEROS}, 0, 0, 0}, {{.kind = GR_INIT_ONES}, 1, 0, 1}, {{.kind = GR_INIT_CONSTANT, .a = -2.5}, -2.5, 0, 2.5},
        {{.kind = GR_INIT_UNIFORM, .a = -1, .b = 3}, 1, 1.1547005383792515, 3}, {{.kind = GR_INIT_NORMAL, .a = 2, .b = 0.5}, 2, 0.5, 6},
        {{.kind = GR_INIT_LECUN_NORMAL, .gain = 1}, 0, 0.1, 1}, {{.kind = GR_INIT_LECUN_UNIFORM, .gain = 1}, 0, 0.1, 0.17320508075688774},
        {{.kind = GR_INIT_KAIMING_NORMAL, .gain = 1}, 0, 0.14142135623730951, 1}, {{.kind = GR_INIT_KAIMING_UNIFORM, .gain = 2}, 0, 0.28284271247461901, 0.48989794855663561},
        {{.kind = GR_INIT_XAVIER_NORMAL, .gain = 1}, 0, 0.063245553203367583, 1}, {{.kind = GR_INIT_XAVIER_UNIFORM, .gain = 1}, 0, 0.063245553203367583, 0.10954451150103323}};
    gr_canvas_dim shape[2] = {{.n = 100, .fixed = true}, {.n = 400, .fixed = true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        gr_arena a = {0};
        gr_diags d;
        gr_array x;
        gr_canvas_node n = {.id = GR_STR("w"), .block = GR_BLOCK_PARAMETER, .shape = shape, .shape_n = 2, .shape_given = true, .init = cases[i].init};
        double sum = 0, squares = 0, most = 0;
        gr_diags_init(&d);
        assert_true(gr_canvas_initial(&a, &d, &n, 7, &x) && x.dtype == GR_DTYPE_F32 && x.dims[0] == 100 && x.dims[1] == 400);
        for (uint64_t k = 0; k < 40000; k++) {
            double v = gr_array_get_f64(&x, k);
            sum += v, squares += v * v;
            if (fabs(v) > most) most = fabs(v);
        }
        double mean = sum / 40000, deviation = sqrt(fabs(squares / 40000 - mean * mean));
        assert_true(fabs(mean - cases[i].mean) <= 5 * cases[i].deviation / 200); /* five standard errors */
        assert_true(fabs(deviation - cases[i].deviation) <= 0.02 * cases[i].deviation + 1e-12);
        assert_true(most <= cases[i].most * (1 + 1e-6));
        gr_diags_free(&d);
        gr_arena_free(&a);
    }
}

static uint32_t bits(gr_canvas_node *n, uint64_t seed, uint64_t i) {
    gr_arena a = {0};
    gr_diags d;
    gr_array x;
    gr_diags_init(&d);
    assert_true(gr_canvas_initial(&a, &d, n, seed, &x));
    uint32_t b = gr_bits_f32(((const float *)x.data)[i]);
    gr_diags_free(&d);
    gr_arena_free(&a);
    return b;
}

/* An element depends on seed, id and its number alone: not on the shape, nor on other parameters. The bits are kept. */
static void initial_values_are_counter_based(void **state) {
    (void)state;
    gr_canvas_dim two[2] = {{.n = 3, .fixed = true}, {.n = 5, .fixed = true}}, one = {.n = 15, .fixed = true};
    gr_canvas_node n = {.id = GR_STR("w"), .block = GR_BLOCK_PARAMETER, .shape = two, .shape_n = 2, .shape_given = true, .init = {.kind = GR_INIT_NORMAL, .b = 1}};
    uint32_t b = bits(&n, 7, 13);
    assert_int_equal(b, bits(&n, 7, 13));
    assert_int_not_equal(b, bits(&n, 8, 13));
    assert_int_not_equal(b, bits(&n, 7, 12));
    n.shape = &one, n.shape_n = 1;
    assert_int_equal(b, bits(&n, 7, 13));
    n.id = GR_STR("v");
    assert_int_not_equal(b, bits(&n, 7, 13));
    n.id = GR_STR("w");
    char text[64];
    snprintf(text, sizeof text, "%08x %08x\n", bits(&n, 7, 0), b);
    golden_check("tests/canvas/initial.golden", gr_str_of(text));
}

/* A filter counts channels times area; a matrix its rows, as those of a product's second operand. */
static void fans_go_by_the_shape(void **state) {
    (void)state;
    gr_canvas_dim filter[4] = {{.n = 64, .fixed = true}, {.n = 32, .fixed = true}, {.n = 3, .fixed = true}, {.n = 3, .fixed = true}};
    gr_canvas_dim matrix[2] = {{.n = 288, .fixed = true}, {.n = 5, .fixed = true}};
    gr_canvas_node f = {.id = GR_STR("w"), .block = GR_BLOCK_PARAMETER, .shape = filter, .shape_n = 4, .shape_given = true, .init = {.kind = GR_INIT_KAIMING_NORMAL, .gain = 1}};
    gr_canvas_node m = f;
    m.shape = matrix, m.shape_n = 2; /* 288 = 32 * 3 * 3 */
    assert_int_equal(bits(&f, 3, 4), bits(&m, 3, 4));
    m.init.fan_in = 72;              /* a quarter: twice the deviation */
    union { uint32_t u; float f; } x = {bits(&f, 3, 4)}, y = {bits(&m, 3, 4)};
    assert_true(fabs((double)y.f - 2 * (double)x.f) < 1e-6);
}

static void damaged_documents_are_survived(void **state) {
    (void)state;
    static const char poison[] = "{}[]\",:0-e\\\xff";
    gr_arena keep = {0};
    gr_str text = golden_read(&keep, "tests/canvas/train.json");
    char *copy = gr_arena_strndup(&keep, text.p, text.n);
    for (size_t i = 0; i < text.n; i++) {
        box b;
        copy[i] = poison[i % (sizeof poison - 1)];
        if (open_box(&b, (gr_str){copy, text.n})) { /* still a document: then it prints and reads back */
            gr_buf out = {0};
            box again;
            assert_true(gr_canvas_print(&out, &b.c) && open_box(&again, gr_buf_view(&out)));
            close_box(&again);
            gr_buf_free(&out);
        } else {
            assert_true(b.d.errors > 0);
        }
        copy[i] = text.p[i];
        close_box(&b);
    }
    gr_arena_free(&keep);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_key_is_read_and_printed), cmocka_unit_test(schedules_are_as_by_hand), cmocka_unit_test(initial_values_have_their_moments),
        cmocka_unit_test(initial_values_are_counter_based), cmocka_unit_test(fans_go_by_the_shape), cmocka_unit_test(damaged_documents_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
