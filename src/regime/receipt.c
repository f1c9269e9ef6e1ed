/* receipt.c: making, writing, reading and comparing receipts. docs/receipts.md describes every key. */
#include "regime/receipt.h"
#include "regime/put.h"
#include "regime/regime_int.h"

enum { RECEIPT_LIST = 4096 }; /* entries of any list or table */

/* ---- making ------------------------------------------------------------------------ */

static const char *control_text(gr_control_state s) {
    static const char *const t[] = {"not tried", "rejected", "equivalent", "accepted"};
    return t[s];
}

static gr_value *digests_value(gr_arena *a, const gr_digest *list, uint32_t n) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; o && i < n; i++) {
        gr_str key = gr_str_dup(a, list[i].name);
        if (!key.p || !gr_put_hash(a, o, key.p, list[i].hash)) return NULL;
    }
    return o;
}

static gr_value *inputs_value(gr_arena *a, const gr_op_digests *of, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT), *list = gr_value_new(a, GR_V_ARRAY);
    for (uint32_t i = 0; list && i < c->instantiations_n; i++)
        if (!gr_value_push(a, list, gr_hash_value(a, c->instantiations[i]))) return NULL;
    bool ok = o && gr_put_hash(a, o, "contract", of->contract) && gr_put_hash(a, o, "reference", of->reference) &&
              gr_value_set(a, o, "kernels", digests_value(a, of->kernels, of->kernels_n)) && gr_value_set(a, o, "instantiations", list) &&
              gr_value_set(a, o, "uses", digests_value(a, of->uses, of->uses_n));
    return ok ? o : NULL;
}

static gr_value *counts_value(gr_arena *a, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    bool ok = o && gr_put_count(a, o, "cases", c->cases) && gr_put_count(a, o, "runs", c->runs) && gr_put_count(a, o, "skipped", c->skipped) &&
              gr_put_count(a, o, "passed", c->counts.passed) && gr_put_count(a, o, "ambiguous", c->counts.ambiguous) &&
              gr_put_count(a, o, "unresolved", c->counts.unresolved) && gr_put_count(a, o, "out_of_domain", c->counts.out_of_domain);
    return ok ? o : NULL;
}

static gr_value *result_value(gr_arena *a, const gr_conformance *c, const gr_value *gradcheck) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT), *controls = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; controls && i < GR_CONTROLS && c->controls[i].name; i++)
        if (!gr_put_str(a, controls, c->controls[i].name, gr_str_of(control_text(c->controls[i].state)))) return NULL;
    gr_value *grad = gr_value_new(a, GR_V_NULL);
    if (grad && gradcheck) *grad = *gradcheck;
    bool ok = o && gr_value_set(a, o, "counts", counts_value(a, c)) && gr_value_set(a, o, "worst_over_bound", gr_value_new_f64(a, c->worst)) &&
              gr_value_set(a, o, "controls", controls) && gr_value_set(a, o, "gradcheck", grad);
    return ok ? o : NULL;
}

static gr_value *run_value(gr_arena *a, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    gr_sha256 profile;
    bool ok = o && gr_put_str(a, o, "executor", gr_str_of(c->device.api->name)) && gr_put_str(a, o, "adapter", c->device.adapter) &&
              gr_put_str(a, o, "engine", c->device.engine) && gr_profile_hash(c->device.profile, &profile) &&
              gr_put_hash(a, o, "profile_digest", profile) && (!c->device.profile || gr_value_set(a, o, "profile", c->device.profile));
    return ok ? o : NULL;
}

static bool hash_of_value(const gr_value *v, gr_sha256 *out) {
    gr_buf b = {0};
    bool ok = v && gr_json_canonical(&b, v) && !b.failed;
    *out = gr_sha256_of(b.p ? b.p : "", b.n);
    gr_buf_free(&b);
    return ok;
}

gr_value *gr_receipt_make(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_conformance *c, const gr_value *gradcheck) {
    gr_op_digests of;
    gr_sha256 own;
    if (!c->passed || c->altered) return NULL;
    GR_TRY_NULL(gr_op_digest(a, d, catalog, c->op, &of));
    gr_value *o = gr_value_new(a, GR_V_OBJECT), *subject = gr_value_new(a, GR_V_OBJECT), *definition = gr_value_new(a, GR_V_OBJECT);
    bool ok = o && subject && definition && gr_put_str(a, subject, "op", c->op->id) && gr_put_hash(a, subject, "digest", of.subject) &&
              gr_put_str(a, definition, "suite", GR_STR(GR_SUITE_VERSION)) && gr_put_hash(a, definition, "seed", c->seed) &&
              gr_put_str(a, definition, "category", gr_str_of(gr_category_name(c->op->category))) &&
              gr_put_str(a, definition, "tolerance", gr_str_of(gr_tolerance_name(c->op->tolerance))) &&
              gr_put_count(a, definition, "cases", c->cases_wanted) && gr_put_str(a, o, "kind", GR_STR(GR_RECEIPT_KIND)) &&
              gr_value_set(a, o, "subject", subject) && gr_value_set(a, o, "definition", definition) &&
              gr_value_set(a, o, "inputs", inputs_value(a, &of, c)) && gr_value_set(a, o, "result", result_value(a, c, gradcheck)) &&
              gr_value_set(a, o, "run", run_value(a, c)) && hash_of_value(o, &own) && gr_put_hash(a, o, "digest", own);
    if (!ok) gr_report_oom(d);
    return ok ? o : NULL;
}

bool gr_receipt_write(gr_buf *out, const gr_value *receipt) {
    bool ok = receipt && gr_json_canonical(out, receipt);
    gr_buf_putc(out, '\n');
    return ok && !out->failed;
}

/* ---- reading ------------------------------------------------------------------------- */

typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    const gr_doc *doc;
    bool ok;
} reader;

static void invalid(reader *r, const gr_value *at, const char *what, gr_str key) {
    if (!r->ok) return; /* the first complaint says enough */
    r->ok = gr_report(r->d, GR_D_REGIME_RECEIPT_INVALID, gr_value_place(r->doc, at, r->a), "docs/receipts.md describes every key", "%s \"%.*s\"", what,
                      (int)(key.n > 60 ? 60 : key.n), key.p);
}

static const gr_value *member(reader *r, const gr_value *o, const char *key, gr_value_kind kind) {
    const gr_value *v = o ? gr_value_get(o, key) : NULL;
    if (o && !v) invalid(r, o, "a receipt needs the key", gr_str_of(key));
    else if (v && v->kind != kind) invalid(r, v, "wrong type of value for", gr_str_of(key));
    return v && v->kind == kind ? v : NULL;
}

/* No other keys than these; may ends in NULL. */
static void only(reader *r, const gr_value *o, const char *const *may) {
    for (uint32_t i = 0; o && i < o->object.n; i++) {
        bool known = false;
        for (const char *const *k = may; *k; k++) known = known || gr_str_eqz(o->object.v[i].key, *k);
        if (!known) invalid(r, o->object.v[i].value, "a receipt has no key", o->object.v[i].key);
    }
}

static gr_str text(reader *r, const gr_value *o, const char *key) {
    const gr_value *v = member(r, o, key, GR_V_STRING);
    return v ? v->s : (gr_str){0};
}

static gr_sha256 hash(reader *r, const gr_value *o, const char *key) {
    gr_sha256 h = {{0}};
    const gr_value *v = member(r, o, key, GR_V_STRING);
    if (v && !gr_sha256_parse(v->s, &h)) invalid(r, v, "this is no sha256: digest:", gr_str_of(key));
    return h;
}

static uint64_t count(reader *r, const gr_value *o, const char *key) {
    const gr_value *v = member(r, o, key, GR_V_INT);
    if (v && (v->i < 0 || v->i > INT64_C(1) << 53)) invalid(r, v, "out of range:", gr_str_of(key));
    return v && v->i > 0 ? (uint64_t)v->i : 0;
}

static void table(reader *r, const gr_value *o, const char *key, gr_digest **list, uint32_t *n) {
    const gr_value *t = member(r, o, key, GR_V_OBJECT);
    if (t && t->object.n > RECEIPT_LIST) invalid(r, t, "too many entries:", gr_str_of(key));
    if (!t || !r->ok) return;
    *list = GR_NEW_N(r->a, gr_digest, t->object.n);
    if (!*list) r->ok = gr_report_oom(r->d);
    for (uint32_t i = 0; r->ok && i < t->object.n; i++) {
        const gr_value *v = t->object.v[i].value;
        (*list)[i].name = t->object.v[i].key;
        if (v->kind != GR_V_STRING || !gr_sha256_parse(v->s, &(*list)[i].hash)) invalid(r, v, "this is no sha256: digest:", t->object.v[i].key);
        *n = i + 1;
    }
}

static void read_inputs(reader *r, const gr_value *o, gr_receipt *out) {
    static const char *const keys[] = {"contract", "reference", "kernels", "instantiations", "uses", NULL};
    only(r, o, keys);
    out->of.contract = hash(r, o, "contract");
    out->of.reference = hash(r, o, "reference");
    table(r, o, "kernels", &out->of.kernels, &out->of.kernels_n);
    table(r, o, "uses", &out->of.uses, &out->of.uses_n);
    const gr_value *list = member(r, o, "instantiations", GR_V_ARRAY);
    for (uint32_t i = 0; list && i < list->array.n; i++) {
        gr_sha256 h;
        if (list->array.v[i]->kind != GR_V_STRING || !gr_sha256_parse(list->array.v[i]->s, &h))
            invalid(r, list->array.v[i], "this is no sha256: digest:", GR_STR("instantiations"));
    }
}

static void read_result(reader *r, const gr_value *o) {
    static const char *const keys[] = {"counts", "worst_over_bound", "controls", "gradcheck", NULL};
    static const char *const counts[] = {"cases", "runs", "skipped", "passed", "ambiguous", "unresolved", "out_of_domain", NULL};
    only(r, o, keys);
    const gr_value *c = member(r, o, "counts", GR_V_OBJECT), *worst = o ? gr_value_get(o, "worst_over_bound") : NULL;
    only(r, c, counts);
    for (const char *const *k = counts; *k; k++) count(r, c, *k);
    member(r, o, "controls", GR_V_OBJECT);
    if (o && (!worst || (worst->kind != GR_V_FLOAT && worst->kind != GR_V_INT))) invalid(r, o, "a receipt needs the number", GR_STR("worst_over_bound"));
    if (o && !gr_value_get(o, "gradcheck")) invalid(r, o, "a receipt needs the key", GR_STR("gradcheck"));
}

static void read_run(reader *r, const gr_value *o, gr_receipt *out) {
    static const char *const keys[] = {"executor", "adapter", "engine", "profile_digest", "profile", NULL};
    gr_sha256 now;
    only(r, o, keys);
    out->executor = text(r, o, "executor");
    out->adapter = text(r, o, "adapter");
    text(r, o, "engine");
    out->profile = hash(r, o, "profile_digest");
    const gr_value *p = o ? gr_value_get(o, "profile") : NULL;
    out->has_profile = p != NULL;
    if (p && p->kind != GR_V_OBJECT) invalid(r, p, "wrong type of value for", GR_STR("profile"));
    if (r->ok && o && !gr_profile_hash(p, &now)) r->ok = gr_report_oom(r->d);
    if (r->ok && o && !gr_sha256_eq(now, out->profile))
        r->ok = gr_report(r->d, GR_D_REGIME_RECEIPT_CHANGED, gr_value_place(r->doc, o, r->a), NULL, "profile_digest is not the digest of the profile");
}

static void read_all(reader *r, const gr_value *root, gr_receipt *out) {
    static const char *const keys[] = {"kind", "subject", "definition", "inputs", "result", "run", "digest", NULL};
    static const char *const subject[] = {"op", "digest", NULL};
    static const char *const definition[] = {"suite", "seed", "category", "tolerance", "cases", NULL};
    only(r, root, keys);
    if (!gr_str_eqz(text(r, root, "kind"), GR_RECEIPT_KIND)) invalid(r, root, "the kind is not", GR_STR(GR_RECEIPT_KIND));
    const gr_value *s = member(r, root, "subject", GR_V_OBJECT), *f = member(r, root, "definition", GR_V_OBJECT);
    only(r, s, subject);
    only(r, f, definition);
    out->op = text(r, s, "op");
    out->of.subject = hash(r, s, "digest");
    out->suite = text(r, f, "suite");
    hash(r, f, "seed");
    text(r, f, "category");
    out->tolerance = text(r, f, "tolerance");
    out->cases = (uint32_t)(count(r, f, "cases") & 0xffffff);
    read_inputs(r, member(r, root, "inputs", GR_V_OBJECT), out);
    read_result(r, member(r, root, "result", GR_V_OBJECT));
    read_run(r, member(r, root, "run", GR_V_OBJECT), out);
    out->digest = hash(r, root, "digest");
}

/* The digest over everything else, and the bytes as RFC 8785 writes them. */
static bool check_bytes(gr_arena *a, gr_diags *d, const gr_receipt *r) {
    gr_value *rest = gr_value_new(a, GR_V_OBJECT);
    gr_sha256 now;
    gr_buf b = {0};
    for (uint32_t i = 0; rest && i < r->doc.root->object.n; i++) {
        const gr_member *m = &r->doc.root->object.v[i];
        gr_str key = gr_str_dup(a, m->key);
        if (!gr_str_eqz(key, "digest") && (!key.p || !gr_value_set(a, rest, key.p, m->value))) rest = NULL;
    }
    bool made = rest && hash_of_value(rest, &now) && gr_receipt_write(&b, r->doc.root);
    bool same = made && gr_str_eq(gr_buf_view(&b), r->doc.text);
    gr_buf_free(&b);
    if (!made) return gr_report_oom(d);
    if (!gr_sha256_eq(now, r->digest)) {
        char is[72], says[72];
        gr_sha256_text(is, now);
        gr_sha256_text(says, r->digest);
        return gr_report(d, GR_D_REGIME_RECEIPT_CHANGED, (gr_place){.document = r->doc.name}, "mint it again: gradus op conform",
                         "its digest says %s, its content has %s", says, is);
    }
    return same || gr_report(d, GR_D_REGIME_RECEIPT_CHANGED, (gr_place){.document = r->doc.name}, "mint it again: gradus op conform",
                             "the bytes are not those of the canonical form (RFC 8785, and a newline)");
}

bool gr_receipt_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text_, gr_receipt *out) {
    gr_diags own;
    *out = (gr_receipt){0};
    gr_diags_init(&own);
    bool parsed = gr_json_parse(a, &own, name, text_, &out->doc);
    if (!parsed && own.out_of_memory) gr_report_oom(d);
    else if (!parsed && own.list.n)
        gr_report(d, GR_D_REGIME_RECEIPT_INVALID, own.list.v[0].place, "docs/receipts.md describes every key", "%.*s", GR_STR_ARG(own.list.v[0].message));
    gr_diags_free(&own);
    GR_TRY(parsed);
    reader r = {a, d, &out->doc, true};
    if (out->doc.root->kind != GR_V_OBJECT) invalid(&r, out->doc.root, "a receipt is one", GR_STR("object"));
    if (r.ok) read_all(&r, out->doc.root, out);
    return r.ok && check_bytes(a, d, out);
}

/* ---- holding it against an op ----------------------------------------------------------- */

static const gr_digest *look_up(const gr_digest *list, uint32_t n, gr_str name) {
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eq(list[i].name, name)) return &list[i];
    return NULL;
}

/* The first name whose digest differs, is new or is gone; NULL when all agree. */
static const gr_str *differing(const gr_digest *x, uint32_t n, const gr_digest *y, uint32_t m) {
    for (uint32_t i = 0; i < n; i++) {
        const gr_digest *other = look_up(y, m, x[i].name);
        if (!other || !gr_sha256_eq(other->hash, x[i].hash)) return &x[i].name;
    }
    for (uint32_t i = 0; i < m; i++)
        if (!look_up(x, n, y[i].name)) return &y[i].name;
    return NULL;
}

static const gr_str *differing_kernel(const gr_receipt *r, const gr_op_digests *now) {
    return differing(r->of.kernels, r->of.kernels_n, now->kernels, now->kernels_n);
}

static const gr_str *differing_use(const gr_receipt *r, const gr_op_digests *now) {
    return differing(r->of.uses, r->of.uses_n, now->uses, now->uses_n);
}

unsigned gr_receipt_stale(const gr_receipt *r, const gr_op *op, const gr_op_digests *now) {
    unsigned s = gr_str_eq(r->op, op->id) ? 0 : GR_STALE_OP;
    if (!gr_sha256_eq(r->of.contract, now->contract)) s |= GR_STALE_CONTRACT;
    if (!gr_sha256_eq(r->of.reference, now->reference)) s |= GR_STALE_REFERENCE;
    if (differing_kernel(r, now)) s |= GR_STALE_KERNEL;
    if (differing_use(r, now)) s |= GR_STALE_USES;
    if (!gr_str_eqz(r->suite, GR_SUITE_VERSION)) s |= GR_STALE_SUITE;
    if (!gr_sha256_eq(r->of.subject, now->subject)) s |= GR_STALE_CONTENT;
    return s;
}

void gr_receipt_stale_print(gr_buf *out, const gr_receipt *r, const gr_op_digests *now, unsigned stale) {
    const gr_str *kernel = differing_kernel(r, now), *use = differing_use(r, now);
    const char *comma = "";
    if (stale & GR_STALE_OP) gr_buf_printf(out, "another op (%.*s)", GR_STR_ARG(r->op)), comma = ", ";
    if (stale & GR_STALE_CONTRACT) gr_buf_printf(out, "%scontract", comma), comma = ", ";
    if (stale & GR_STALE_REFERENCE) gr_buf_printf(out, "%sreference", comma), comma = ", ";
    if (stale & GR_STALE_KERNEL && kernel) gr_buf_printf(out, "%skernel %.*s", comma, GR_STR_ARG(*kernel)), comma = ", ";
    if (stale & GR_STALE_USES && use) gr_buf_printf(out, "%sthe op %.*s that it uses", comma, GR_STR_ARG(*use)), comma = ", ";
    if (stale & GR_STALE_SUITE) gr_buf_printf(out, "%ssuite %.*s to %s", comma, GR_STR_ARG(r->suite), GR_SUITE_VERSION);
}

bool gr_receipt_report(gr_diags *d, const gr_receipt *r, const gr_op *op, const gr_op_digests *now) {
    static const char again[] = "conform again: gradus op conform";
    unsigned s = gr_receipt_stale(r, op, now);
    gr_place folder = {.document = op->folder.n ? op->folder : op->id};
    if (s & GR_STALE_OP)
        return gr_report(d, GR_D_REGIME_RECEIPT_OTHER_OP, folder, NULL, "the receipt is for %.*s, the op is %.*s", GR_STR_ARG(r->op), GR_STR_ARG(op->id));
    if (s & GR_STALE_CONTRACT)
        gr_report(d, GR_D_REGIME_CONTRACT_CHANGED, folder, again, "op.toml is not the one that the receipt was minted for");
    if (s & GR_STALE_REFERENCE)
        gr_report(d, GR_D_REGIME_REFERENCE_CHANGED, folder, again, "what is true of %.*s is not what the receipt was minted for", GR_STR_ARG(op->id));
    if (s & GR_STALE_KERNEL)
        gr_report(d, GR_D_REGIME_KERNEL_CHANGED, folder, again, "the kernel %.*s is not the one that the receipt was minted for",
                  GR_STR_ARG(*differing_kernel(r, now)));
    if (s & GR_STALE_USES)
        gr_report(d, GR_D_REGIME_USES_CHANGED, folder, again, "the op %.*s, which %.*s uses, is not the one that the receipt was minted for",
                  GR_STR_ARG(*differing_use(r, now)), GR_STR_ARG(op->id));
    if (s & GR_STALE_SUITE)
        gr_report(d, GR_D_REGIME_SUITE_CHANGED, folder, again, "the receipt is of suite %.*s, this is suite %s", GR_STR_ARG(r->suite), GR_SUITE_VERSION);
    if (s == GR_STALE_CONTENT)
        gr_report(d, GR_D_REGIME_CONTENT_CHANGED, folder, NULL, "a file that is neither contract nor kernel nor reference has changed");
    return (s & ~(unsigned)GR_STALE_CONTENT) == 0;
}

/* ---- comparing with a rerun ---------------------------------------------------------------- */

typedef struct difference { gr_buf path; const gr_value *x, *y; } difference;

static bool find_difference(const gr_value *x, const gr_value *y, difference *out);

static bool in_member(gr_str key, const gr_value *x, const gr_value *y, difference *out) {
    size_t n = out->path.n;
    gr_buf_printf(&out->path, "/%.*s", GR_STR_ARG(key));
    if (!x || !y ? (out->x = x, out->y = y, true) : find_difference(x, y, out)) return true;
    out->path.n = n;
    return false;
}

static bool find_difference(const gr_value *x, const gr_value *y, difference *out) {
    if (gr_value_equal(x, y)) return false;
    out->x = x;
    out->y = y;
    if (x->kind != GR_V_OBJECT || y->kind != GR_V_OBJECT) return true;
    for (uint32_t i = 0; i < x->object.n; i++)
        if (in_member(x->object.v[i].key, x->object.v[i].value, gr_value_get_str(y, x->object.v[i].key), out)) return true;
    for (uint32_t i = 0; i < y->object.n; i++)
        if (!gr_value_get_str(x, y->object.v[i].key) && in_member(y->object.v[i].key, NULL, y->object.v[i].value, out)) return true;
    return true;
}

static void print_short(gr_buf *b, const gr_value *v) {
    gr_buf text_ = {0};
    if (v && gr_json_canonical(&text_, v)) gr_buf_printf(b, "%.*s%s", (int)(text_.n > 80 ? 80 : text_.n), text_.p, text_.n > 80 ? "..." : "");
    else gr_buf_puts(b, "nothing");
    gr_buf_free(&text_);
}

bool gr_receipt_compare(gr_arena *a, gr_diags *d, const gr_receipt *r, const gr_value *again) {
    static const char *const parts[] = {"definition", "inputs", "result"};
    difference diff = {0};
    bool same = true;
    (void)a;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && same; i++)
        same = !in_member(gr_str_of(parts[i]), gr_value_get(r->doc.root, parts[i]), gr_value_get(again, parts[i]), &diff);
    if (!same) {
        gr_buf x = {0}, y = {0};
        print_short(&x, diff.x);
        print_short(&y, diff.y);
        gr_report(d, GR_D_REGIME_NOT_REPRODUCED, (gr_place){.document = r->doc.name, .pointer = gr_buf_view(&diff.path)},
                  "the receipt was edited, or was minted by another engine", "the receipt says %.*s, the rerun %.*s", GR_STR_ARG(gr_buf_view(&x)),
                  GR_STR_ARG(gr_buf_view(&y)));
        gr_buf_free(&x);
        gr_buf_free(&y);
    }
    gr_buf_free(&diff.path);
    return same;
}

/* ---- for people -------------------------------------------------------------------------------- */

static void row_count(gr_buf *out, const gr_value *counts, const char *key) {
    const gr_value *v = gr_value_get(counts, key);
    gr_buf_printf(out, "%lld", v ? (long long)v->i : 0LL);
}

void gr_receipt_print(gr_buf *out, const gr_receipt *r) {
    char hash_[72];
    const gr_value *result = gr_value_get(r->doc.root, "result"), *counts = gr_value_get(result, "counts"), *controls = gr_value_get(result, "controls");
    const gr_value *worst = gr_value_get(result, "worst_over_bound"), *grad = gr_value_get(result, "gradcheck");
    gr_sha256_text(hash_, r->of.subject);
    gr_buf_printf(out, "receipt  %.*s\n  subject   %s\n  class     %.*s, suite %.*s, %u cases%s\n", GR_STR_ARG(r->op), hash_, GR_STR_ARG(r->tolerance),
                  GR_STR_ARG(r->suite), r->cases, r->cases < GR_CASES_FULL ? ": a sample, which earns no trust" : "");
    gr_buf_puts(out, "  elements  ");
    row_count(out, counts, "passed");
    gr_buf_puts(out, " passed, ");
    row_count(out, counts, "ambiguous");
    gr_buf_puts(out, " ambiguous, ");
    row_count(out, counts, "unresolved");
    gr_buf_puts(out, " unresolved, ");
    row_count(out, counts, "out_of_domain");
    gr_buf_puts(out, " out of domain\n  worst     ");
    double w = worst->kind == GR_V_INT ? (double)worst->i : worst->f;
    gr_buf_f64(out, w < 1e9 ? (double)(int64_t)(w * 1000 + 0.5) / 1000 : w);
    gr_buf_puts(out, " of the tolerance\n");
    for (uint32_t i = 0; i < controls->object.n; i++)
        if (controls->object.v[i].value->kind == GR_V_STRING)
            gr_buf_printf(out, "  control   %.*s %.*s\n", GR_STR_ARG(controls->object.v[i].key), GR_STR_ARG(controls->object.v[i].value->s));
    gr_buf_printf(out, "  gradcheck %s\n", grad->kind == GR_V_NULL ? "none" : "passed");
    gr_sha256_text(hash_, r->profile);
    gr_buf_printf(out, "  ran on    %.*s, %.*s\n  profile   %s\n", GR_STR_ARG(r->executor), GR_STR_ARG(r->adapter), hash_);
    gr_sha256_text(hash_, r->digest);
    gr_buf_printf(out, "  digest    %s\n", hash_);
}
