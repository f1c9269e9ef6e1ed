/* regime.c: conformance of one op on the session's device, and new op folders. */
#include "api/receipt.h"

#include "base/file.h"
#include "regime/export.h"
#include "regime/gradcheck.h"

/* user/me/op@1 may use other ops below the same root; their faults are not this op's. */
static void load_neighbours(gr_session *s, gr_str folder, gr_str id) {
    while (folder.n && folder.p[folder.n - 1] == '/') folder.n--;
    if (gr_catalog_find(s->catalog, id) || !gr_str_starts(id, "user/") || folder.n < id.n) return;
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_str root = {folder.p, folder.n - id.n};
    gr_catalog_load(s->catalog, &quiet, root.n ? root : GR_STR("."));
    gr_diags_free(&quiet);
}

const gr_op *gr_session_op(gr_session *s, gr_str what) {
    const gr_op *op;
    gr_str toml = gr_path_join(&s->arena, what, GR_STR("op.toml"));
    if (!toml.n || !gr_file_exists(toml)) return gr_session_find_op(s, what);
    gr_str id = gr_op_id_from_path(what);
    load_neighbours(s, what, id);
    op = gr_catalog_find(s->catalog, id);
    if (!op || !gr_file_same(op->folder, what)) op = gr_catalog_load_op_over(s->catalog, &s->diags, what, id); /* what is named is what is meant */
    return op && gr_catalog_check_op(s->catalog, &s->diags, op) ? op : NULL;
}

char *gr_text_json(gr_session *s, const gr_value *v) {
    gr_buf b = {0};
    if (!v) {
        gr_report_oom(&s->diags);
        return NULL;
    }
    return gr_text_take(s, &b, gr_json_pretty(&b, v));
}

static double number_at(const gr_value *o, const char *key) {
    const gr_value *v = gr_value_get(o, key);
    return !v ? 0 : v->kind == GR_V_INT ? (double)v->i : v->kind == GR_V_FLOAT ? v->f : 0;
}

/* What the receipt holds of the backward, on a line. */
static void print_gradcheck(gr_buf *b, const gr_value *receipt) {
    const gr_value *result = gr_value_get(receipt, "result"), *g = result ? gr_value_get(result, "gradcheck") : NULL;
    if (!g || g->kind != GR_V_OBJECT) return;
    gr_buf_printf(b, "  gradcheck %.0f probes live, %.0f skipped, worst dual %.1e, differences %.1e\n", number_at(g, "live"), number_at(g, "skipped"),
                  number_at(g, "worst_dual"), number_at(g, "worst_differences"));
}

char *gr_conform(gr_session *s, const char *what, bool json, unsigned cases, char **receipt) {
    return gr_conform_export(s, what, json, cases, NULL, receipt);
}

char *gr_conform_export(gr_session *s, const char *what, bool json, unsigned cases, const char *dir, char **receipt) {
    gr_arena a = {0};
    gr_regime_device device;
    gr_conformance c;
    gr_conform_options o = {.cases = cases};
    char *text = NULL;
    if (receipt) *receipt = NULL;
    const gr_op *op = gr_session_op(s, gr_str_of(what ? what : ""));
    if (op && gr_session_regime(s, &device) &&
        (dir ? gr_op_export(&a, &s->diags, s->catalog, op, &device, &o, gr_str_of(dir), &c)
             : gr_op_conform(&a, &s->diags, s->catalog, op, &device, &o, &c))) {
        gr_buf b = {0}, r = {0};
        const gr_value *v = receipt && c.passed ? gr_session_receipt(s, &a, &c) : NULL;
        if (v) *receipt = gr_text_take(s, &r, gr_receipt_write(&r, v));
        if (json) {
            text = gr_text_json(s, gr_conformance_value(&a, &c));
        } else {
            gr_conformance_print(&b, &c);
            if (v) print_gradcheck(&b, v);
            text = gr_text_take(s, &b, true);
        }
    }
    gr_arena_free(&a);
    return text;
}

static char *canonical(gr_session *s, const gr_value *v) {
    gr_buf b = {0};
    if (v) return gr_text_take(s, &b, gr_json_canonical(&b, v));
    gr_report_oom(&s->diags);
    return NULL;
}

char *gr_check_gradient(gr_session *s, const char *what, bool json, unsigned probes, unsigned long long seed, bool second, char **value) {
    gr_arena a = {0};
    gr_regime_device device;
    gr_gradcheck c;
    gr_gradcheck_options o = {.probes = probes, .seed = seed, .second = second, .device = s->device ? &device : NULL};
    char *text = NULL;
    if (value) *value = NULL;
    const gr_op *op = gr_session_op(s, gr_str_of(what ? what : ""));
    if (op && (!s->device || gr_session_regime(s, &device)) && gr_op_gradcheck(&a, &s->diags, s->catalog, op, &o, &c)) {
        gr_buf b = {0};
        if (json) text = gr_text_json(s, gr_gradcheck_value(&a, &c));
        else gr_gradcheck_print(&b, &c), text = gr_text_take(s, &b, true);
        if (value) *value = canonical(s, gr_gradcheck_value(&a, &c));
    }
    gr_arena_free(&a);
    return text;
}

bool gr_op_new(gr_session *s, const char *name, const char *folder) { return gr_op_scaffold(&s->diags, gr_str_of(name), gr_str_of(folder)); }
