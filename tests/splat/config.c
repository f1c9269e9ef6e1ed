/* Configuration: defaults are one, however a key is left out; every key is wired; every mistake is found at once; combinations. */
#include "kit.h"

#include "splat/config.h"

static const struct { const char *table, *name, *type; double least, most; } rows[] = {
#define GR_KEY(table, name, type, value, least, most, only, about) {#table, #name, #type, least, most},
#include "splat/config.def"
};

static gr_str value_of(const gr_config *c, gr_key k) {
    gr_buf b = {0};
    gr_config_value(&b, c, k);
    gr_str s = gr_str_dup(&arena, gr_buf_view(&b));
    gr_buf_free(&b);
    return s;
}

static gr_config read(const char *text) {
    gr_config c = gr_config_default();
    fine(gr_config_read(&arena, &diags, GR_STR("c.toml"), gr_str_of(text), &c));
    return c;
}

static void same_values(const gr_config *x, const gr_config *y) {
    for (int k = 0; k < GR_KEY_COUNT; k++)
        if (!gr_str_eq(value_of(x, (gr_key)k), value_of(y, (gr_key)k)))
            fail_msg("%s.%s is %s and %s", rows[k].table, rows[k].name, value_of(x, (gr_key)k).p, value_of(y, (gr_key)k).p);
}

/* What check prints for key k, taken from the text that it prints. */
static gr_str printed(gr_key k) {
    gr_config c = gr_config_default();
    gr_buf b = {0};
    char head[64], line[64];
    gr_config_print(&b, &c, "", true);
    snprintf(head, sizeof head, "[%s]\n", rows[k].table);
    snprintf(line, sizeof line, "\n%s = ", rows[k].name);
    const char *p = strstr(strstr(b.p, head), line);
    gr_str s = {0};
    if (p) {
        p += strlen(line);
        s = gr_str_dup(&arena, (gr_str){p, strcspn(p, " \n")});
    }
    gr_buf_free(&b);
    return s;
}

/* The key left out, its table left out, the struct built in code, and what is printed: for every key. */
static void defaults_are_one(void **state) {
    (void)state;
    gr_config code = gr_config_default(), empty = read("");
    same_values(&code, &empty);
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        gr_buf without_key = {0}, without_table = {0};
        const char *table = "";
        for (int j = 0; j < GR_KEY_COUNT; j++) {
            if (strcmp(table, rows[j].table)) gr_buf_printf(&without_key, "[%s]\n", rows[j].table);
            if (strcmp(table, rows[j].table) && strcmp(rows[j].table, rows[k].table)) gr_buf_printf(&without_table, "[%s]\n", rows[j].table);
            table = rows[j].table;
            if (!strcmp(rows[j].type, "TIER") || j == k) continue;
            gr_buf_printf(&without_key, "%s = %s\n", rows[j].name, value_of(&code, (gr_key)j).p);
            if (strcmp(rows[j].table, rows[k].table)) gr_buf_printf(&without_table, "%s = %s\n", rows[j].name, value_of(&code, (gr_key)j).p);
        }
        gr_config a = read(without_key.p), b = read(without_table.p ? without_table.p : "");
        same_values(&code, &a);
        same_values(&code, &b);
        assert_true(!a.given[k] && !b.given[k]);
        if (strcmp(rows[k].type, "TIER") && !gr_str_eq(printed((gr_key)k), value_of(&code, (gr_key)k)))
            fail_msg("%s.%s is printed as %s and is %s", rows[k].table, rows[k].name, printed((gr_key)k).p, value_of(&code, (gr_key)k).p);
        gr_buf_free(&without_key);
        gr_buf_free(&without_table);
    }
}

/* Another legal value of key k, as TOML. */
static const char *other_value(gr_key k) {
    gr_config c = gr_config_default();
    const char *now = value_of(&c, k).p;
    if (!strcmp(rows[k].type, "TEXT")) return "\"elsewhere\"";
    if (!strcmp(rows[k].type, "SWITCH")) return strcmp(now, "true") ? "true" : "false";
    if (!strcmp(rows[k].type, "WHOLE")) return gr_arena_printf(&arena, "%.0f", atof(now) + 1 <= rows[k].most ? atof(now) + 1 : atof(now) - 1);
    if (!strcmp(rows[k].type, "REAL")) return gr_arena_printf(&arena, "%.17g", 0.5 * atof(now) + 0.5 * (rows[k].most < 1e3 ? rows[k].most : rows[k].least));
    static const struct { const char *type, *text; } choices[] = {
#define GR_CHOICE(choice, value, text, verdict, finding) {#choice, text},
#include "splat/config.def"
    };
    for (size_t i = sizeof choices / sizeof *choices; i-- > 0;)
        if (!strcmp(choices[i].type, rows[k].type)) return gr_arena_printf(&arena, strcmp(rows[k].type, "WINDOW") ? "\"%s\"" : "%s", choices[i].text);
    return "";
}

/* Every key, set alone, is read, printed, and changes what a run takes. */
static void every_key_is_wired(void **state) {
    (void)state;
    gr_config code = gr_config_default();
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        gr_setup x, y;
        gr_buf b = {0};
        gr_config c = read(gr_arena_printf(&arena, "[%s]\n%s = %s\n", rows[k].table, rows[k].name, other_value((gr_key)k)));
        assert_true(c.given[k]);
        if (gr_str_eq(value_of(&c, (gr_key)k), value_of(&code, (gr_key)k))) fail_msg("%s.%s did not change", rows[k].table, rows[k].name);
        memset(&x, 0, sizeof x);
        memset(&y, 0, sizeof y);
        x = gr_config_apply(&code), y = gr_config_apply(&c);
        if (memcmp(&x, &y, sizeof x) == 0) fail_msg("%s.%s is not wired", rows[k].table, rows[k].name);
        gr_config_print(&b, &c, "", false);
        gr_config again = read(b.p);
        same_values(&c, &again);
        gr_buf_free(&b);
    }
}

static void refused(const char *text, gr_diag_name name, const char *words) {
    gr_config c = gr_config_default();
    bool ok = gr_config_read(&arena, &diags, GR_STR("c.toml"), gr_str_of(text), &c);
    ok = gr_config_verify(&diags, GR_STR("c.toml"), &c) && ok;
    assert_false(ok);
    expect(name, words);
}

static void mistakes(void **state) {
    (void)state;
    refused("[train]\nmax_step = 5\n", GR_D_SPLAT_CONFIG_KEY, "there is no key train.max_step\n  hint: did you mean train.max_steps?");
    refused("[trian]\n", GR_D_SPLAT_CONFIG_KEY, "did you mean [train]?");
    refused("[train]\nmax_steps = 0\n", GR_D_SPLAT_CONFIG_VALUE, "train.max_steps takes a whole number from 1 to 100000000, not 0");
    refused("[train]\nmax_steps = 1.5\n", GR_D_SPLAT_CONFIG_VALUE, "c.toml:2:13");
    refused("[train]\nlambda_ssim = nan\n", GR_D_SPLAT_CONFIG_VALUE, "train.lambda_ssim takes a number from 0 to 1");
    refused("[train]\nssim_window = 9\n", GR_D_SPLAT_CONFIG_VALUE, "one of 11, 7, not 9");
    refused("[train]\nstrategy = \"abc\"\n", GR_D_SPLAT_CONFIG_VALUE, "one of \"adc\", \"mcmc\", not \"abc\"");
    refused("[train]\nantialiased = 1\n", GR_D_SPLAT_CONFIG_VALUE, "true or false");
    refused("train = 1\n", GR_D_SPLAT_CONFIG_VALUE, "train is a table");
    refused("[data]\npath = \"x\"\n", GR_D_CANVAS_TIER_MISSING, "has no default");
    refused("[train]\ntier = \"fast\"\n", GR_D_BASE_KEY_MISSING, "data.path");
    /* All of them in one run. */
    gr_config c = gr_config_default();
    assert_false(gr_config_read(&arena, &diags, GR_STR("c"), GR_STR("[train]\nseed = -1\nfoo = 2\nlog_every = \"x\"\n[nope]\na = 1\n[optim]\ndc = -1.0\n"), &c));
    assert_int_equal(diags.errors, 5);
}

#define GOOD "[data]\npath = \"x\"\n[train]\ntier = \"debug\"\n"

static void warned(const char *text, const char *words) {
    gr_config c = read(text);
    gr_diags_clear(&diags);
    fine(gr_config_verify(&diags, GR_STR("c.toml"), &c));
    if (words) expect(GR_D_SPLAT_CONFIG_NO_EFFECT, words);
    else assert_int_equal(diags.list.n, 0);
}

/* The table of the design: four combinations and their answers. */
static void combinations(void **state) {
    (void)state;
    warned(GOOD, NULL);
    warned(GOOD "[backend]\nhost_schedule = \"backward_shadow\"\nssim_reduce = \"host_lagged\"\n", NULL);
    refused(GOOD "[backend]\nhost_schedule = \"backward_shadow\"\npipelining = \"off\"\n", GR_D_SPLAT_CONFIG_COMBINATION, "needs backend.pipelining");
    warned(GOOD "[backend]\nssim_reduce = \"host_lagged\"\n", "behaves as \"host\"");
    warned(GOOD "loss = \"l1\"\n[backend]\nssim_reduce = \"host\"\n", "backend.ssim_reduce is set and has no effect without train.loss=l1_ssim");
    refused(GOOD "[backend]\nssim_reduce = \"gpu\"\nloss_path = \"host\"\n", GR_D_SPLAT_CONFIG_COMBINATION, "does not leave on the GPU");
    warned(GOOD "[refine]\nnoise = 3.0\n", "refine.noise is set and has no effect without train.strategy=mcmc");
    warned(GOOD "strategy = \"mcmc\"\n[refine]\nnoise = 3.0\n", NULL);
    warned(GOOD "[refine]\nstart = 10\nstop = 5\n", "nothing is ever refined");
}

/* every 100, start 500, 1,000 steps: 6 ticks; the published schedule: 100 steps each from 600 to 14,900. */
static void refine_ticks(void **state) {
    (void)state;
    gr_config c = read(GOOD "[refine]\nstart = 500\n");
    gr_setup s = gr_config_apply(&c);
    uint32_t n = 0;
    for (uint32_t step = 1; step <= 1000; step++) n += gr_setup_refines(&s, step);
    assert_int_equal(n, 6);
    c = gr_config_default(), s = gr_config_apply(&c);
    for (uint32_t step = n = 0; step <= 30000; step++) n += gr_setup_refines(&s, step);
    assert_int_equal(n, 144);
}

int main(void) {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {T(defaults_are_one), T(every_key_is_wired), T(mistakes), T(combinations), T(refine_ticks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
