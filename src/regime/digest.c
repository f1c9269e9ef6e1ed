/* digest.c: the hashes that say what a receipt is about. */
#include "regime/receipt.h"

typedef struct digests {
    gr_arena *a;
    const gr_catalog *catalog;
    GR_VEC(gr_digest) list; /* sorted by name */
    GR_VEC(const gr_op *) open; /* whose bodies are still to be followed */
} digests;

/* False when memory fails. *is_new may be NULL. */
static bool insert(digests *g, gr_str name, gr_sha256 hash, bool *is_new) {
    uint32_t at = 0;
    while (at < g->list.n && gr_str_cmp(g->list.v[at].name, name) < 0) at++;
    bool known = at < g->list.n && gr_str_eq(g->list.v[at].name, name);
    if (is_new) *is_new = !known;
    if (known) return true;
    GR_TRY(GR_PUSH(g->a, &g->list));
    memmove(g->list.v + at + 1, g->list.v + at, (g->list.n - 1 - at) * sizeof *g->list.v);
    g->list.v[at] = (gr_digest){name, hash};
    return true;
}

/* ---- one op ---------------------------------------------------------------------- */

static void put_named(gr_buf *b, gr_str name, gr_str text) {
    gr_buf_printf(b, "\n%.*s %zu\n", GR_STR_ARG(name), text.n);
    gr_buf_str(b, text);
}

/* op.toml as it stands. */
static gr_str contract_text(const gr_op *op) {
    gr_str text = {0};
    for (uint32_t i = 0; i < gr_op_files(op); i++)
        if (gr_str_eqz(gr_op_file(op, i, &text), "op.toml")) return text;
    return GR_STR("");
}

static bool hash_reference(const gr_op *op, gr_sha256 *out) {
    gr_buf b = {0};
    for (uint32_t i = 0; i < op->map.by_dtype_n; i++)
        gr_buf_printf(&b, "\n%s -> %s: %.*s", gr_dtype_name(op->map.by_dtype[i].dtype), gr_dtype_name(op->map.by_dtype[i].out),
                      GR_STR_ARG(op->map.by_dtype[i].expr));
    put_named(&b, GR_STR("functions"), op->map.functions);
    put_named(&b, GR_STR("graph"), op->graph.text);
    put_named(&b, op->reference.file, op->reference.wgsl);
    for (uint32_t i = 0; i < op->variants_n; i++) put_named(&b, op->variants[i].file, op->variants[i].wgsl);
    *out = gr_sha256_of(b.p ? b.p : "", b.n);
    bool ok = !b.failed;
    gr_buf_free(&b);
    return ok;
}

/* How much of op.toml counts. Neither has what only people and importers read: no result follows from it. */
typedef enum claims { CLAIMS_CONTRACT, CLAIMS_DEFINITION /* what the op computes: without its gradient */ } claims;

static bool counts(gr_str key, claims which) {
    static const char *const aside[] = {"summary", "description", "tags", "author", "license", "references", "example", "import"};
    for (size_t k = 0; k < sizeof aside / sizeof *aside; k++)
        if (gr_str_eqz(key, aside[k])) return false;
    return which == CLAIMS_CONTRACT || (!gr_str_eqz(key, "optimizer") && !gr_str_eqz(key, "backward"));
}

/* In canonical form, so that neither comments nor order count. */
static bool put_claims(gr_arena *a, gr_buf *b, const gr_op *op, claims which) {
    const gr_value *root = gr_op_document(op);
    gr_value *kept = gr_value_new(a, GR_V_OBJECT);
    gr_buf text = {0};
    for (uint32_t i = 0; kept && i < root->object.n; i++) {
        const gr_member *m = &root->object.v[i];
        gr_str key = gr_str_dup(a, m->key);
        if (counts(m->key, which) && (!key.p || !gr_value_set(a, kept, key.p, m->value))) return false;
    }
    if (kept && gr_json_canonical(&text, kept)) gr_buf_str(b, gr_buf_view(&text));
    else gr_buf_str(b, contract_text(op)); /* a number without a canonical form */
    bool ok = kept && !text.failed;
    gr_buf_free(&text);
    return ok;
}

static bool is_wgsl(gr_str name) { return gr_str_ends(name, ".wgsl"); }

static bool hash_definition(gr_arena *a, const gr_op *op, gr_sha256 *out) {
    gr_buf b = {0};
    bool ok = put_claims(a, &b, op, CLAIMS_DEFINITION);
    for (uint32_t i = 0; i < gr_op_files(op); i++) {
        gr_str text, name = gr_op_file(op, i, &text);
        if (is_wgsl(name)) put_named(&b, name, text);
    }
    *out = gr_sha256_of(b.p ? b.p : "", b.n);
    ok = ok && !b.failed;
    gr_buf_free(&b);
    return ok;
}

static bool hash_contract(gr_arena *a, const gr_op *op, gr_sha256 *out) {
    gr_buf b = {0};
    bool ok = put_claims(a, &b, op, CLAIMS_CONTRACT) && !b.failed;
    *out = gr_sha256_of(b.p ? b.p : "", b.n);
    gr_buf_free(&b);
    return ok;
}

/* ---- what it uses ------------------------------------------------------------------- */

static bool follow(digests *g, const gr_frag *f) {
    for (uint32_t i = 0; i < f->nodes_n; i++) {
        const gr_op *op = f->nodes[i].constant ? NULL : gr_catalog_find(g->catalog, f->nodes[i].op);
        gr_sha256 h;
        bool is_new;
        if (!op) continue; /* gr_catalog_check has complained */
        GR_TRY(hash_definition(g->a, op, &h) && insert(g, op->id, h, &is_new));
        if (!is_new) continue;
        const gr_op **slot = GR_PUSH(g->a, &g->open);
        GR_TRY(slot);
        *slot = op;
    }
    return true;
}

static bool find_uses(gr_arena *a, const gr_catalog *catalog, const gr_op *op, gr_op_digests *out) {
    digests g = {.a = a, .catalog = catalog};
    GR_TRY(follow(&g, &op->graph) && follow(&g, &op->backward.graph));
    while (g.open.n) GR_TRY(follow(&g, &g.open.v[--g.open.n]->graph));
    out->uses = g.list.v;
    out->uses_n = g.list.n;
    return true;
}

static bool find_kernels(gr_arena *a, const gr_op *op, gr_op_digests *out) {
    digests g = {.a = a};
    for (uint32_t i = 0; i < op->kernels_n; i++) GR_TRY(insert(&g, op->kernels[i].file, op->kernels[i].hash, NULL));
    out->kernels = g.list.v;
    out->kernels_n = g.list.n;
    return true;
}

bool gr_op_digest(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, gr_op_digests *out) {
    *out = (gr_op_digests){.subject = op->hash};
    bool ok = hash_contract(a, op, &out->contract) && hash_reference(op, &out->reference) && find_kernels(a, op, out) && find_uses(a, catalog, op, out);
    return ok || gr_report_oom(d);
}

bool gr_profile_hash(const gr_value *profile, gr_sha256 *out) {
    gr_buf b = {0};
    bool ok = !profile || gr_json_canonical(&b, profile);
    if (ok && !profile) gr_buf_puts(&b, "{}");
    *out = gr_sha256_of(b.p ? b.p : "", b.n);
    ok = ok && !b.failed;
    gr_buf_free(&b);
    return ok;
}

void gr_profile_slug(gr_buf *out, gr_str adapter) {
    size_t start = out->n;
    for (size_t i = 0; i < adapter.n && i < 80; i++) {
        char c = adapter.p[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) gr_buf_putc(out, c);
        else if (out->n > start && out->p[out->n - 1] != '-') gr_buf_putc(out, '-');
    }
    if (out->n > start && out->p[out->n - 1] == '-') out->p[--out->n] = 0;
    if (out->n == start) gr_buf_puts(out, "unnamed");
}
