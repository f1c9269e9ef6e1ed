/* record.c: the run record: what ran, on what, under which promises, and the hashes of what
 * went in and came out. Canonical JSON (RFC 8785), so that equal runs give equal records. */
#include "api/record.h"
#include "api/inputs.h"
#include "api/receipt.h"

static void put_str(gr_arena *a, gr_value *obj, const char *key, gr_str s) { gr_value_set(a, obj, key, gr_value_new_str(a, s)); }

static void put_hash(gr_arena *a, gr_value *obj, const char *key, gr_sha256 h) {
    char text[72];
    gr_sha256_text(text, h);
    put_str(a, obj, key, gr_str_dup(a, gr_str_of(text)));
}

/* Each op used, once, by id with its content hash: built-in and user content alike. */
static gr_value *ops_of(gr_arena *a, const gr_graph *g) {
    gr_value *list = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; list && i < g->nodes_n; i++) {
        const gr_op *op = g->nodes[i].call.op;
        if (!gr_value_get_str(list, op->id)) {
            char *id = gr_arena_strndup(a, op->id.p, op->id.n);
            if (id) put_hash(a, list, id, op->hash);
        }
    }
    return list;
}

/* NULL when a streamed one cannot be read again: it has been reported. */
static gr_value *inputs_of(gr_arena *a, const gr_prepared *r) {
    const gr_program *p = r->program;
    gr_value *obj = gr_value_new(a, GR_V_OBJECT);
    gr_sha256 hash;
    for (uint32_t i = 0; obj && i < p->inputs_n; i++)
        if (r->input_source[i]) {
            if (!gr_loaded_hash(r->input_source[i], &p->session->diags, &hash)) return NULL;
            put_hash(a, obj, gr_program_input_name(p, i), hash);
        } else if (r->input_given[i]) put_hash(a, obj, gr_program_input_name(p, i), r->input_hash[i]);
    return obj;
}

/* NULL when an output cannot be had: it has been reported. */
static gr_value *outputs_of(gr_arena *a, gr_prepared *r, gr_run run) {
    const gr_program *p = r->program;
    uint64_t errors = p->session->diags.errors;
    gr_value *obj = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; obj && i < p->graph.outputs_n; i++) {
        gr_tensor t = gr_result(r, run, i);
        if (p->session->diags.errors != errors) return NULL;
        if (t.dtype) put_hash(a, obj, gr_program_output_name(p, i), gr_sha256_of(t.data, t.bytes));
    }
    return obj;
}

static gr_value *effects_of(gr_arena *a, const gr_program *p) {
    gr_value *obj = gr_value_new(a, GR_V_OBJECT), *reads = gr_value_new(a, GR_V_ARRAY), *writes = gr_value_new(a, GR_V_ARRAY);
    for (uint32_t i = 0; reads && writes && p->has_canvas && i < p->canvas.nodes_n; i++) {
        const gr_canvas_node *n = &p->canvas.nodes[i];
        if (n->file.n) gr_value_push(a, reads, gr_value_new_str(a, n->file));
        for (uint32_t k = 0; k < n->files_n; k++) gr_value_push(a, writes, gr_value_new_str(a, n->files[k]));
    }
    gr_value_set(a, obj, "reads", reads);
    gr_value_set(a, obj, "writes", writes);
    return obj;
}

/* The receipt that holds for an op on this profile; NULL when there is none, with the reason in *why. */
static const gr_value *receipt_here(const gr_value *list, gr_str profile, const char **why) {
    *why = list->array.n ? "stale" : "absent";
    for (uint32_t i = 0; i < list->array.n; i++) {
        const gr_value *r = list->array.v[i], *state = gr_value_get(r, "state"), *on = gr_value_get(r, "profile_digest");
        if (!state || !on || !gr_str_eqz(state->s, gr_trust_name(GR_TRUST_CONFORMING))) continue;
        if (gr_str_eq(on->s, profile)) return gr_value_get(r, "digest");
        *why = "another profile";
    }
    return NULL;
}

/* For each op used: the digest of its receipt, or why it has none here. */
static gr_value *receipts_of(gr_session *s, gr_arena *a, const gr_graph *g, gr_str profile) {
    gr_value *all = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; all && i < g->nodes_n; i++) {
        const gr_op *op = g->nodes[i].call.op;
        gr_value *list;
        gr_trust trust;
        const char *why;
        if (gr_value_get_str(all, op->id)) continue;
        if (!gr_op_trust(s, a, op, &list, &trust)) return NULL;
        const gr_value *digest = receipt_here(list, profile, &why);
        char *id = gr_arena_strndup(a, op->id.p, op->id.n);
        if (!id || !gr_value_set(a, all, id, gr_value_new_str(a, digest ? digest->s : gr_str_of(why)))) return NULL;
    }
    return all;
}

static bool put_trust(gr_arena *a, gr_value *obj, gr_session *s, const gr_graph *g) {
    const gr_value *profile;
    gr_sha256 hash;
    char text[72];
    GR_TRY(gr_session_profile(s, &profile));
    if (!gr_profile_hash(profile, &hash)) return gr_report_oom(&s->diags);
    gr_sha256_text(text, hash);
    put_str(a, obj, "profile_digest", gr_str_dup(a, gr_str_of(text)));
    gr_value *receipts = receipts_of(s, a, g, gr_str_of(text));
    return receipts && gr_value_set(a, obj, "receipts", receipts) ? true : gr_report_oom(&s->diags);
}

static void put_engine(gr_arena *a, gr_value *obj, gr_session *s) {
    gr_sha256 library;
    gr_value *e = gr_value_new(a, GR_V_OBJECT);
    put_str(a, e, "gradus", gr_str_of(gr_version()));
    if (s->library.n) {
        put_str(a, e, "webgpu_library", s->library);
        if (gr_session_library_hash(s, &library)) put_hash(a, e, "webgpu_library_hash", library);
    }
    gr_value_set(a, obj, "engine", e);
}

static void put_promises(gr_arena *a, gr_value *obj, const gr_program *p) {
    put_str(a, obj, "determinism_tier", gr_str_of(gr_program_tier(p)));
    put_str(a, obj, "tier_declared", gr_str_of(gr_tier_name(p->declared_tier)));
    gr_value_set(a, obj, "tier_lowered", gr_value_new_bool(a, p->plan.tier_lowered));
    put_str(a, obj, "tolerance_demand", gr_str_of(p->plan.tolerance ? gr_tolerance_name(p->plan.tolerance) : "none"));
    put_str(a, obj, "guarantee", gr_str_of(gr_program_guarantee(p)));
    put_str(a, obj, "verdict", gr_str_of(gr_program_verdict(p)));
    gr_value_set(a, obj, "heavy_cpu_allowed", gr_value_new_bool(a, p->allow_heavy));
    gr_value_set(a, obj, "seed", gr_value_new_i64(a, (int64_t)(p->graph.seed & INT64_MAX)));
}

bool gr_record_program(gr_arena *a, gr_value *obj, gr_program *p) {
    gr_session *s = p->session;
    gr_sha256 plan;
    if (!gr_plan_hash(&p->plan, &plan)) return gr_report_oom(&s->diags);
    put_str(a, obj, "document", p->document);
    put_hash(a, obj, "document_hash", p->has_canvas ? p->canvas.hash : gr_sha256_of(p->text.p, p->text.n));
    put_promises(a, obj, p);
    put_hash(a, obj, "plan_hash", plan);
    put_str(a, obj, "executor", gr_str_of(gr_session_executor(s)));
    put_str(a, obj, "adapter", gr_str_of(gr_session_adapter(s)));
    put_str(a, obj, "banner", gr_str_of(gr_session_banner(s)));
    gr_value_set(a, obj, "ops", ops_of(a, &p->graph));
    gr_value_set(a, obj, "effects", effects_of(a, p));
    gr_value *data = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; data && i < p->loaded_n; i++) {
        const char *name = gr_arena_strndup(a, p->loaded[i].node.p, p->loaded[i].node.n);
        gr_sha256 hash;
        GR_TRY(gr_loaded_hash(&p->loaded[i], &s->diags, &hash));
        if (name) put_hash(a, data, name, hash);
    }
    gr_value_set(a, obj, "inputs", data);
    GR_TRY(put_trust(a, obj, s, &p->graph));
    put_engine(a, obj, s);
    return !gr_arena_failed(a) || gr_report_oom(&s->diags);
}

/* Inputs are those of this run, whatever the document's files hold. */
char *gr_run_record(gr_prepared *r, gr_run run) {
    gr_program *p = r->program;
    gr_session *s = p->session;
    gr_arena a = {0};
    gr_buf out = {0};
    uint32_t errors = s->diags.errors;
    gr_value *obj = gr_value_new(&a, GR_V_OBJECT);
    put_str(&a, obj, "gradus", GR_STR("run/1"));
    bool ok = obj && gr_record_program(&a, obj, p);
    gr_value *inputs = inputs_of(&a, r);
    gr_value_set(&a, obj, "inputs", inputs);
    gr_value *outputs = outputs_of(&a, r, run);
    gr_value_set(&a, obj, "outputs", outputs);
    ok = ok && inputs && outputs && !gr_arena_failed(&a) && gr_json_canonical(&out, obj);
    gr_arena_free(&a);
    if (ok) gr_buf_putc(&out, '\n');
    else if (s->diags.errors == errors) gr_report_oom(&s->diags);
    return gr_text_take(s, &out, ok);
}
