/* publish.c: whether an op can be shared, and what would be sent. Nothing is: there is no place to send it to yet. */
#include "api/receipt.h"

#include "base/file.h"
#include "regime/publish.h"
#include "regime/put.h"

typedef struct publishing {
    gr_session *s;
    gr_arena *a;
    const gr_op *op;
    bool public_, ok;
    gr_value *report, *files, *receipts;
    gr_trust trust;
    uint64_t bytes;
} publishing;

static gr_place place(const publishing *p) { return (gr_place){.document = p->op->folder.n ? p->op->folder : p->op->id}; }

/* What stands beside a name of the report: "ok", or that the diagnostics say more. */
static bool note(publishing *p, const char *key, bool ok) {
    p->ok = p->ok && ok;
    return gr_put_str(p->a, p->report, key, ok ? GR_STR("ok") : GR_STR("missing"));
}

static bool check_license(publishing *p) {
    gr_diags *d = &p->s->diags;
    bool ok = p->op->license.n != 0;
    if (!ok)
        gr_report(d, GR_D_REGIME_LICENSE_MISSING, place(p), "add license = \"Apache-2.0\", or the SPDX expression that you mean",
                  "%.*s has no licence, so nobody may use it", GR_STR_ARG(p->op->id));
    ok = ok && gr_spdx_check(d, place(p), p->op->license);
    return gr_put_str(p->a, p->report, "license", p->op->license) && note(p, "license_check", ok);
}

static bool has_gradcheck(const publishing *p) {
    for (uint32_t i = 0; i < p->receipts->array.n; i++) {
        const gr_value *r = p->receipts->array.v[i], *result = gr_value_get(r, "result"), *state = gr_value_get(r, "state");
        const gr_value *grad = result ? gr_value_get(result, "gradcheck") : NULL;
        if (grad && grad->kind != GR_V_NULL && state && gr_str_eqz(state->s, gr_trust_name(GR_TRUST_CONFORMING))) return true;
    }
    return false;
}

static bool check_trust(publishing *p) {
    gr_diags *d = &p->s->diags;
    bool earned = p->trust == GR_TRUST_CONFORMING, needs = p->op->backward.form != GR_BACKWARD_NONE, checked = has_gradcheck(p);
    if (!earned)
        gr_report(d, GR_D_REGIME_RECEIPT_MISSING, place(p), "gradus op conform FOLDER --keep", "%.*s is %s: no receipt of a full pass holds for it",
                  GR_STR_ARG(p->op->id), gr_trust_name(p->trust));
    if (earned && needs && !checked)
        gr_report(d, GR_D_REGIME_GRADCHECK_MISSING, place(p), "gradus op conform FOLDER --keep",
                  "the backward of %.*s was checked by no receipt that holds", GR_STR_ARG(p->op->id));
    return note(p, "receipt", earned) && (!needs || note(p, "gradcheck", checked));
}

static bool add_file(publishing *p, gr_str name, gr_str text) {
    gr_value *o = gr_value_new(p->a, GR_V_OBJECT);
    p->bytes += text.n;
    return o && gr_put_str(p->a, o, "path", name) && gr_put_count(p->a, o, "bytes", text.n) && gr_put_hash(p->a, o, "hash", gr_sha256_of(text.p, text.n)) &&
           gr_value_push(p->a, p->files, o);
}

static bool list_bundle(publishing *p) {
    for (uint32_t i = 0; i < gr_op_files(p->op); i++) {
        gr_str text, name = gr_op_file(p->op, i, &text);
        GR_TRY(add_file(p, name, text));
    }
    for (uint32_t i = 0; i < p->receipts->array.n; i++) {
        const gr_value *path = gr_value_get(p->receipts->array.v[i], "file");
        gr_str text;
        size_t skip = p->op->folder.n + 1;
        GR_TRY(gr_file_read(p->a, &p->s->diags, path->s, (size_t)4 << 20, &text));
        GR_TRY(add_file(p, (gr_str){path->s.p + skip, path->s.n - skip}, text));
    }
    return true;
}

static bool check(publishing *p) {
    gr_arena scratch = {0};
    gr_example example;
    GR_TRY(gr_op_trust(p->s, p->a, p->op, &p->receipts, &p->trust));
    bool made = gr_put_str(p->a, p->report, "op", p->op->id) && gr_put_str(p->a, p->report, "visibility", p->public_ ? GR_STR("public") : GR_STR("shared")) &&
                check_license(p);
    if (made && p->public_) {
        made = note(p, "metadata", gr_op_check_metadata(&scratch, &p->s->diags, p->op));
        made = made && note(p, "example", p->op->example && gr_example_run(p->a, &p->s->diags, p->s->catalog, p->op, &example)) && check_trust(p);
    }
    gr_arena_free(&scratch);
    return made && gr_put_str(p->a, p->report, "trust", gr_str_of(gr_trust_name(p->trust))) && list_bundle(p) && gr_value_set(p->a, p->report, "files", p->files) &&
           gr_put_count(p->a, p->report, "bytes", p->bytes) && gr_put_hash(p->a, p->report, "content", p->op->hash) &&
           gr_value_set(p->a, p->report, "publishable", gr_value_new_bool(p->a, p->ok));
}

static void print_row(gr_buf *b, const gr_value *report, const char *key, const char *name) {
    const gr_value *v = gr_value_get(report, key);
    if (v) gr_buf_printf(b, "  %-9s %.*s\n", name, GR_STR_ARG(v->s));
}

static void print(gr_buf *b, const publishing *p) {
    gr_buf_printf(b, "publish  %.*s, %s (dry run: nothing is sent)\n", GR_STR_ARG(p->op->id), p->public_ ? "public" : "shared");
    print_row(b, p->report, "license", "licence");
    print_row(b, p->report, "metadata", "metadata");
    print_row(b, p->report, "example", "example");
    print_row(b, p->report, "trust", "trust");
    print_row(b, p->report, "gradcheck", "gradcheck");
    for (uint32_t i = 0; i < p->files->array.n; i++) {
        const gr_value *f = p->files->array.v[i], *path = gr_value_get(f, "path"), *hash = gr_value_get(f, "hash");
        gr_buf_printf(b, "  file      %.*s %lld bytes %.*s\n", GR_STR_ARG(path->s), (long long)gr_value_get(f, "bytes")->i, GR_STR_ARG(hash->s));
    }
    print_row(b, p->report, "content", "content");
    gr_buf_printf(b, "  bundle    %u files, %llu bytes\n  verdict   %s\n", p->files->array.n, (unsigned long long)p->bytes, p->ok ? "publishable" : "refused");
}

char *gr_op_publish(gr_session *s, const char *what, bool public_, bool json, bool *publishable) {
    gr_arena a = {0};
    gr_buf b = {0};
    char *text = NULL;
    publishing p = {.s = s, .a = &a, .op = gr_session_op(s, gr_str_of(what)), .public_ = public_, .ok = true};
    *publishable = false;
    if (!p.op) return NULL;
    p.report = gr_value_new(&a, GR_V_OBJECT);
    p.files = gr_value_new(&a, GR_V_ARRAY);
    if (p.report && p.files && check(&p)) {
        *publishable = p.ok;
        if (!json) print(&b, &p);
        text = json ? gr_text_json(s, p.report) : gr_text_take(s, &b, true);
    } else if (gr_arena_failed(&a)) {
        gr_report_oom(&s->diags);
    }
    gr_arena_free(&a);
    return text;
}
