/* receipt.c: receipts on file: showing, keeping beside an op, verifying by a rerun, and the trust they give. */
#include "api/receipt.h"

#include "base/file.h"
#include "regime/gradcheck.h"
#include "regime/put.h"

enum { RECEIPT_BYTES = 4 << 20, CASES_MOST = 100000 };

static bool load(gr_session *s, gr_arena *a, gr_diags *d, gr_str path, gr_receipt *out) {
    gr_str text;
    (void)s;
    return gr_file_read(a, d, path, RECEIPT_BYTES, &text) && gr_receipt_parse(a, d, path, text, out);
}

char *gr_receipt_show(gr_session *s, const char *path, bool json) {
    gr_arena a = {0};
    gr_receipt r;
    gr_buf b = {0};
    char *text = NULL;
    if (load(s, &a, &s->diags, gr_str_of(path), &r)) {
        if (json) gr_json_pretty(&b, r.doc.root);
        else gr_receipt_print(&b, &r);
        text = gr_text_take(s, &b, true);
    }
    gr_arena_free(&a);
    return text;
}

bool gr_receipt_device(gr_session *s, const char *path, gr_device_kind *out) {
    gr_arena a = {0};
    gr_receipt r;
    bool ok = load(s, &a, &s->diags, gr_str_of(path), &r);
    if (ok) *out = gr_str_eqz(r.executor, "oracle") ? GR_DEVICE_CPU : GR_DEVICE_AUTO;
    gr_arena_free(&a);
    return ok;
}

gr_value *gr_session_receipt(gr_session *s, gr_arena *a, const gr_conformance *c) {
    gr_gradcheck g = {.state = GR_GRADCHECK_NONE};
    gr_gradcheck_options o = {0};
    bool full = c->passed && c->cases_wanted >= GR_CASES_FULL && c->op->backward.form != GR_BACKWARD_NONE;
    if (full && (!gr_op_gradcheck(a, &s->diags, s->catalog, c->op, &o, &g) || g.state == GR_GRADCHECK_FAILED)) return NULL;
    return gr_receipt_make(a, &s->diags, s->catalog, c, g.state == GR_GRADCHECK_PASSED ? gr_gradcheck_value(a, &g) : NULL);
}

/* ---- verifying --------------------------------------------------------------------- */

/* Whether this session's executor and profile are those of the receipt. */
static bool same_profile(gr_session *s, const gr_receipt *r, const gr_regime_device *device) {
    gr_sha256 here;
    gr_place at = {.document = r->doc.name};
    const char *executor = device->api->name;
    if (!gr_profile_hash(device->profile, &here)) return gr_report_oom(&s->diags);
    if (gr_str_eqz(r->executor, executor) && gr_sha256_eq(here, r->profile)) return true;
    return gr_report(&s->diags, GR_D_REGIME_OTHER_PROFILE, at, "conform again here: gradus op conform",
                     "it was minted by %.*s on %.*s, this is %s on %.*s%s", GR_STR_ARG(r->executor), GR_STR_ARG(r->adapter), executor,
                     GR_STR_ARG(device->adapter), gr_str_eq(r->adapter, device->adapter) ? ", whose measured profile differs" : "");
}

static gr_receipt_verdict rerun(gr_session *s, gr_arena *a, const gr_receipt *r, const gr_op *op, const gr_regime_device *device) {
    gr_conformance c;
    gr_conform_options o = {.cases = r->cases};
    gr_place at = {.document = r->doc.name};
    if (!gr_op_conform(a, &s->diags, s->catalog, op, device, &o, &c)) return GR_RECEIPT_NOT_RUN;
    if (!c.passed) { /* regime/not-conforming has been reported */
        gr_report(&s->diags, GR_D_REGIME_NOT_REPRODUCED, at, NULL, "the rerun does not pass: %.*s", GR_STR_ARG(c.reason));
        return GR_RECEIPT_BROKEN;
    }
    gr_value *again = gr_session_receipt(s, a, &c);
    if (!again) return gr_diags_has(&s->diags, GR_D_REGIME_GRADCHECK_FAILED) ? GR_RECEIPT_BROKEN : GR_RECEIPT_NOT_RUN;
    return gr_receipt_compare(a, &s->diags, r, again) ? GR_RECEIPT_REPRODUCED : GR_RECEIPT_BROKEN;
}

static gr_receipt_verdict verify(gr_session *s, gr_arena *a, const char *path, const char *what) {
    gr_receipt r;
    gr_op_digests now;
    gr_regime_device device;
    if (!load(s, a, &s->diags, gr_str_of(path), &r)) return gr_diags_exit_code(&s->diags) == 2 ? GR_RECEIPT_BROKEN : GR_RECEIPT_NOT_RUN;
    const gr_op *op = gr_session_op(s, gr_str_of(what));
    if (!op || !gr_op_digest(a, &s->diags, s->catalog, op, &now)) return GR_RECEIPT_NOT_RUN;
    if (!gr_receipt_report(&s->diags, &r, op, &now)) return GR_RECEIPT_BROKEN;
    if (r.cases == 0 || r.cases > CASES_MOST) {
        gr_report(&s->diags, GR_D_REGIME_RECEIPT_INVALID, (gr_place){.document = r.doc.name}, NULL, "%u cases cannot have been run", r.cases);
        return GR_RECEIPT_BROKEN;
    }
    if (!gr_session_regime(s, &device)) return GR_RECEIPT_NOT_RUN;
    if (!same_profile(s, &r, &device)) return gr_diags_has(&s->diags, GR_D_REGIME_OTHER_PROFILE) ? GR_RECEIPT_CONFORM_AGAIN : GR_RECEIPT_NOT_RUN;
    return rerun(s, a, &r, op, &device);
}

gr_receipt_verdict gr_receipt_verify(gr_session *s, const char *path, const char *what) {
    gr_arena a = {0};
    gr_receipt_verdict v = verify(s, &a, path, what);
    gr_arena_free(&a);
    return v;
}

/* ---- receipts beside an op ------------------------------------------------------------ */

char *gr_receipt_keep(gr_session *s, const char *what, const char *receipt) {
    gr_arena a = {0};
    gr_receipt r;
    gr_buf name = {0}, path = {0};
    const gr_op *op = gr_session_op(s, gr_str_of(what));
    bool ok = op && gr_receipt_parse(&a, &s->diags, GR_STR("<receipt>"), gr_str_of(receipt), &r);
    if (ok) {
        gr_profile_slug(&name, r.adapter);
        gr_buf_printf(&path, "%.*s/receipts", GR_STR_ARG(op->folder));
        ok = !name.failed && !path.failed && gr_dir_make(&s->diags, gr_buf_view(&path));
        gr_buf_printf(&path, "/%s.json", name.p ? name.p : "");
        ok = ok && gr_file_write(&s->diags, gr_buf_view(&path), receipt, strlen(receipt));
    }
    gr_buf_free(&name);
    gr_arena_free(&a);
    return gr_text_take(s, &path, ok);
}

static const char *const trust_names[] = {"unverified", "stale", "sampled", "conforming"};

/* One receipt of the folder: what it says and whether it holds. */
static gr_value *kept_value(gr_session *s, gr_arena *a, gr_str path, const gr_op *op, const gr_op_digests *now, gr_trust *trust) {
    gr_diags quiet;
    gr_receipt r;
    gr_buf why = {0};
    gr_diags_init(&quiet);
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    bool ok = o && path.n && gr_put_str(a, o, "file", path), read = ok && load(s, a, &quiet, path, &r);
    gr_trust worth = GR_TRUST_STALE;
    if (!read && quiet.list.n) gr_buf_printf(&why, "%s: %.*s", gr_diag_text(quiet.list.v[0].name), GR_STR_ARG(quiet.list.v[0].message));
    if (read) {
        unsigned stale = gr_receipt_stale(&r, op, now) & ~(unsigned)GR_STALE_CONTENT;
        if (stale) gr_receipt_stale_print(&why, &r, now, stale);
        else worth = r.cases < GR_CASES_FULL ? GR_TRUST_SAMPLED : GR_TRUST_CONFORMING;
        ok = ok && gr_put_hash(a, o, "digest", r.digest) && gr_put_str(a, o, "executor", r.executor) && gr_put_str(a, o, "adapter", r.adapter) &&
             gr_put_hash(a, o, "profile_digest", r.profile) && gr_put_str(a, o, "suite", r.suite) && gr_put_count(a, o, "cases", r.cases) &&
             gr_value_set(a, o, "result", gr_value_get(r.doc.root, "result"));
    }
    ok = ok && gr_put_str(a, o, "state", gr_str_of(trust_names[worth]));
    if (ok && why.n) ok = gr_put_str(a, o, "changed", gr_str_dup(a, gr_buf_view(&why)));
    if (worth > *trust) *trust = worth;
    ok = ok && !quiet.out_of_memory && !why.failed; /* a receipt that memory was short for is not a stale one */
    gr_buf_free(&why);
    gr_diags_free(&quiet);
    return ok ? o : NULL;
}

bool gr_op_trust(gr_session *s, gr_arena *a, const gr_op *op, gr_value **list, gr_trust *trust) {
    gr_op_digests now;
    gr_str *names = NULL, folder = op->folder.n ? gr_path_join(a, op->folder, GR_STR("receipts")) : (gr_str){0};
    uint32_t n = 0;
    *trust = GR_TRUST_UNVERIFIED;
    *list = gr_value_new(a, GR_V_ARRAY);
    if (!*list) return gr_report_oom(&s->diags);
    if (!folder.n || !gr_file_exists(folder)) return true;
    GR_TRY(gr_op_digest(a, &s->diags, s->catalog, op, &now) && gr_dir_list(a, &s->diags, folder, &names, &n));
    for (uint32_t i = 0; i < n && i < 64; i++) {
        if (!gr_str_ends(names[i], ".json")) continue;
        gr_value *v = kept_value(s, a, gr_path_join(a, folder, names[i]), op, &now, trust);
        if (!v || !gr_value_push(a, *list, v)) return gr_report_oom(&s->diags);
    }
    return true;
}

const char *gr_trust_name(gr_trust t) { return trust_names[t]; }
