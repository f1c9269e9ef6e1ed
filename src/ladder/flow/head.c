#include "ladder/flow/head.h"

/* The largest unit that divides the size, so that the text is exact. */
static void print_size(gr_buf *out, const char *key, uint64_t bytes) {
    static const char *const units[] = {"", " KiB", " MiB", " GiB", " TiB"};
    int u = 0;
    if (!bytes) return;
    while (u < 4 && bytes % 1024 == 0) bytes /= 1024, u++;
    gr_buf_printf(out, "  budget %s %llu%s\n", key, (unsigned long long)bytes, units[u]);
}

void gr_head_print(gr_buf *out, const gr_head *h) {
    if (h->document.n) {
        gr_buf_puts(out, "  document ");
        gr_json_string(out, h->document);
        gr_buf_putc(out, '\n');
    }
    if (h->tier) gr_buf_printf(out, "  tier %s\n", gr_tier_name(h->tier));
    if (h->tolerance) gr_buf_printf(out, "  tolerance %s\n", gr_tolerance_name(h->tolerance));
    if (h->guarantee) gr_buf_printf(out, "  guarantee %s\n", gr_guarantee_name(h->guarantee));
    gr_buf_printf(out, "  seed %llu\n", (unsigned long long)h->seed);
    print_size(out, "gpu", h->budget_gpu);
    print_size(out, "cpu", h->budget_cpu);
    if (h->budget_cpu_seconds > 0) {
        gr_buf_puts(out, "  budget cpu_seconds ");
        gr_buf_f64(out, h->budget_cpu_seconds);
        gr_buf_putc(out, '\n');
    }
}

static gr_tolerance find_tolerance(gr_str name) {
    for (int i = GR_TOLERANCE_EXACT; i <= GR_TOLERANCE_LOOSE; i++)
        if (gr_str_eqz(name, gr_tolerance_name((gr_tolerance)i))) return (gr_tolerance)i;
    return GR_TOLERANCE_NONE;
}

static bool bad_word(gr_lex *l, gr_token t, const char *all) {
    l->errors++;
    gr_report(l->d, l->syntax, gr_lex_place(l, t), NULL, "'%.*s' cannot stand here", t.text.n > 60 ? 60 : (int)t.text.n, t.text.p);
    gr_report_hint(l->d, "write one of %s", all);
    return false;
}

static bool parse_budget(gr_lex *l, gr_head *h) {
    gr_token key = l->now;
    gr_str word, unit = {0};
    GR_TRY(gr_lex_word(l, "gpu, cpu or cpu_seconds", &word));
    if (gr_str_eqz(word, "cpu_seconds")) {
        gr_value v = {0};
        if (l->now.kind != GR_TOKEN_NUMBER || !gr_number_parse(l->now.text, &v)) return gr_lex_expected(l, "a number of seconds", NULL);
        h->budget_cpu_seconds = v.kind == GR_V_INT ? (double)v.i : v.kind == GR_V_UINT ? (double)v.u : v.f;
        if (!(h->budget_cpu_seconds > 0 && h->budget_cpu_seconds < 1e300)) return gr_lex_expected(l, "a positive number of seconds", NULL);
        gr_lex_take(l);
        return true;
    }
    gr_token number = l->now;
    if (number.kind != GR_TOKEN_NUMBER) return gr_lex_expected(l, "a size", "write 256 MiB");
    gr_lex_take(l);
    if (l->now.kind == GR_TOKEN_WORD) unit = gr_lex_take(l).text;
    char text[64];
    if (number.text.n + unit.n >= sizeof text) return bad_word(l, number, "a size such as 256 MiB");
    memcpy(text, number.text.p, number.text.n);
    if (unit.n) memcpy(text + number.text.n, unit.p, unit.n);
    uint64_t bytes;
    if (!gr_bytes_parse((gr_str){text, number.text.n + unit.n}, &bytes)) return bad_word(l, number, "a size such as 256 MiB");
    if (gr_str_eqz(word, "gpu")) h->budget_gpu = bytes;
    else if (gr_str_eqz(word, "cpu")) h->budget_cpu = bytes;
    else return bad_word(l, key, "gpu, cpu, cpu_seconds");
    return true;
}

/* A keyword followed by one word of an enum. */
static bool parse_demand(gr_lex *l, gr_head *h, gr_str key) {
    gr_token t = l->now;
    gr_str word;
    GR_TRY(gr_lex_word(l, "a word", &word));
    if (gr_str_eqz(key, "tier")) {
        h->tier = gr_tier_find(word);
        return h->tier || bad_word(l, t, "debug, prod, fast");
    }
    if (gr_str_eqz(key, "tolerance")) {
        h->tolerance = find_tolerance(word);
        return h->tolerance || bad_word(l, t, "exact, tight, default, loose");
    }
    h->guarantee = gr_guarantee_find(word);
    return h->guarantee || bad_word(l, t, "convergent, replayable, bitwise_across_devices");
}

bool gr_head_parse(gr_lex *l, gr_head *h, bool *was) {
    static const char *const keys[] = {"document", "tier", "tolerance", "guarantee", "seed", "budget"};
    int k = 0;
    while (k < 6 && !gr_lex_is_word(l, keys[k])) k++;
    *was = k < 6;
    if (!*was) return true;
    gr_str key = gr_lex_take(l).text;
    if (k == 0) GR_TRY(gr_lex_string(l, "a document's name in quotes", &h->document));
    else if (k == 4) GR_TRY(gr_lex_u64(l, "a seed without sign", &h->seed));
    else if (k == 5) GR_TRY(parse_budget(l, h));
    else GR_TRY(parse_demand(l, h, key));
    return gr_lex_line(l);
}

/* Words that the scanner would read as another kind of value. */
static bool is_reserved(gr_str s) {
    static const char *const words[] = {"true", "false", "null", "inf", "nan"};
    for (int i = 0; i < 5; i++)
        if (gr_str_eqz(s, words[i])) return true;
    return false;
}

void gr_name_print(gr_buf *out, gr_str name) {
    if (gr_symbol_valid(name) && !is_reserved(name)) gr_buf_str(out, name);
    else gr_json_string(out, name);
}

bool gr_name_parse(gr_lex *l, const char *what, gr_str *out) {
    if (l->now.kind == GR_TOKEN_STRING) return gr_lex_string(l, what, out);
    return gr_lex_word(l, what, out);
}
