/* op.c: one op as a program of its own, and its card. */
#include "api/receipt.h"

const gr_op *gr_session_find_op(gr_session *s, gr_str id) {
    if (gr_session_report_broken(s, id)) return NULL;
    const gr_op *op = gr_catalog_find(s->catalog, id);
    if (op) return op;
    gr_report(&s->diags, GR_D_CLI_OP_UNKNOWN, (gr_place){0}, "gradus catalog lists all; --ops DIR adds a folder of ops", "there is no op \"%.*s\"",
              GR_STR_ARG(id));
    gr_str near = gr_catalog_near(s->catalog, id);
    if (near.n) gr_report_hint(&s->diags, "did you mean %.*s?", GR_STR_ARG(near));
    return NULL;
}

static void put_str(gr_arena *a, gr_value *obj, const char *key, gr_str s) { gr_value_set(a, obj, key, gr_value_new_str(a, s)); }

/* Where an op comes from: the catalog that Gradus brings, or somebody's folder. */
static gr_str source_of(const gr_session *s, const gr_op *op) {
    gr_str c = s->catalog_dir;
    bool own = op->folder.n > c.n && !memcmp(op->folder.p, c.p, c.n) && !gr_str_starts(op->id, "user/");
    return own ? GR_STR("built-in") : gr_str_starts(op->id, "user/") ? GR_STR("user") : GR_STR("folder");
}

static gr_value *strings(gr_arena *a, const gr_str *list, uint32_t n) {
    gr_value *v = gr_value_new(a, GR_V_ARRAY);
    for (uint32_t i = 0; v && i < n; i++)
        if (!gr_value_push(a, v, gr_value_new_str(a, list[i]))) return NULL;
    return v;
}

static gr_value *op_value(gr_session *s, gr_arena *a, const gr_op *op) {
    static const char *const forms[] = {"unset", "composed", "declared", "none"};
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    char hash[72];
    gr_buf sig = {0};
    gr_sig_print(&sig, &op->sig);
    gr_sha256_text(hash, op->hash);
    put_str(a, o, "id", op->id);
    put_str(a, o, "signature", gr_str_dup(a, gr_buf_view(&sig)));
    put_str(a, o, "category", gr_str_of(gr_category_name(op->category)));
    put_str(a, o, "tolerance", gr_str_of(gr_tolerance_name(op->tolerance)));
    put_str(a, o, "tolerance_reason", op->tolerance_reason);
    put_str(a, o, "summary", op->summary);
    put_str(a, o, "description", op->description);
    put_str(a, o, "author", op->author);
    put_str(a, o, "license", op->license);
    put_str(a, o, "hash", gr_str_dup(a, gr_str_of(hash)));
    put_str(a, o, "source", source_of(s, op));
    put_str(a, o, "folder", op->folder);
    put_str(a, o, "backward", gr_str_of(forms[op->backward.form]));
    gr_value_set(a, o, "tags", strings(a, op->tags, op->tags_n));
    gr_value_set(a, o, "references", strings(a, op->references, op->references_n));
    gr_value_set(a, o, "kernels", gr_value_new_i64(a, op->kernels_n));
    gr_buf_free(&sig);
    return o;
}

static void print_trust(gr_buf *out, gr_session *s, const gr_op *op, const gr_value *receipts, gr_trust trust) {
    gr_buf_printf(out, "  %-12s %.*s\n  %-12s %s\n", "source", GR_STR_ARG(source_of(s, op)), "trust", gr_trust_name(trust));
    for (uint32_t i = 0; i < receipts->array.n; i++) {
        const gr_value *r = receipts->array.v[i], *changed = gr_value_get(r, "changed"), *adapter = gr_value_get(r, "adapter");
        gr_buf_printf(out, "  %-12s %.*s: %.*s", "receipt", GR_STR_ARG(gr_value_get(r, "file")->s), GR_STR_ARG(gr_value_get(r, "state")->s));
        if (adapter) gr_buf_printf(out, " on %.*s, %lld cases", GR_STR_ARG(adapter->s), (long long)gr_value_get(r, "cases")->i);
        if (changed) gr_buf_printf(out, "; changed: %.*s", GR_STR_ARG(changed->s));
        gr_buf_putc(out, '\n');
    }
}

char *gr_op_show(gr_session *s, const char *id, bool json) {
    const gr_op *op = gr_session_op(s, gr_str_of(id ? id : ""));
    gr_arena a = {0};
    gr_buf out = {0};
    gr_value *receipts;
    gr_trust trust;
    bool ok = op && gr_op_trust(s, &a, op, &receipts, &trust);
    if (ok && json) {
        gr_value *o = op_value(s, &a, op);
        ok = o && gr_value_set(&a, o, "trust", gr_value_new_str(&a, gr_str_of(gr_trust_name(trust)))) && gr_value_set(&a, o, "receipts", receipts) &&
             gr_json_pretty(&out, o);
        if (!ok) gr_report_oom(&s->diags);
    } else if (ok) {
        gr_op_print(&out, op);
        print_trust(&out, s, op, receipts, trust);
    }
    gr_arena_free(&a);
    return gr_text_take(s, &out, ok);
}

/* ---- one-op programs ---------------------------------------------------------------- */

static bool type_of_tensor(gr_program *p, const char *name, const gr_tensor *t, gr_type *out) {
    *out = (gr_type){.dtype = gr_dtype_find(gr_str_of(t->dtype)), .rank = t->rank};
    if (out->dtype == GR_DTYPE_NONE || t->rank > GR_RANK_MAX)
        return gr_report(&p->session->diags, GR_D_RUN_INPUT_SIZE, (gr_place){0}, NULL, "operand \"%s\": dtype \"%s\", rank %u", name,
                         t->dtype ? t->dtype : "", t->rank);
    if (out->dtype == GR_DTYPE_F64) out->dtype = GR_DTYPE_F32;
    for (unsigned i = 0; i < t->rank; i++) out->dim[i].n = t->dims[i];
    return true;
}

/* The signature's operand order, absent optional operands as GR_NO_VALUE, from named tensors. */
static bool order_operands(gr_program *p, const gr_op *op, const char *const *names, const gr_tensor *in, unsigned in_n,
                           gr_value_id *args, uint32_t *args_n) {
    gr_arena *a = &p->arena[GR_RUNG_GRAPH];
    bool *used = GR_NEW_N(a, bool, in_n);
    if (!used) return gr_report_oom(&p->session->diags);
    *args_n = 0;
    for (uint32_t o = 0; o < op->sig.operands_n; o++) {
        const gr_sig_tensor *st = &op->sig.operands[o];
        uint32_t found = 0;
        for (unsigned i = 0; i < in_n; i++) {
            gr_type t;
            if (used[i] || !gr_str_eqz(st->name, names[i]) || (found && !st->variadic)) continue;
            GR_TRY(type_of_tensor(p, names[i], &in[i], &t));
            gr_str name = st->variadic ? gr_str_of(gr_arena_printf(a, "%s_%u", names[i], found)) : gr_str_dup(a, st->name);
            args[(*args_n)++] = gr_graph_add_input(a, &p->drawn, name, t, GR_SOURCE_INPUT);
            used[i] = true;
            found++;
        }
        if (!found && st->optional) args[(*args_n)++] = GR_NO_VALUE;
        else if (!found && !st->variadic)
            return gr_report(&p->session->diags, GR_D_CLI_OPERAND_UNKNOWN, (gr_place){0}, "give it with --in NAME=FILE",
                             "operand \"%.*s\" of %.*s has no value", GR_STR_ARG(st->name), GR_STR_ARG(op->id));
    }
    for (unsigned i = 0; i < in_n; i++)
        if (!used[i])
            return gr_report(&p->session->diags, GR_D_CLI_OPERAND_UNKNOWN, (gr_place){0}, NULL, "%.*s takes no operand \"%s\", or it is given twice",
                             GR_STR_ARG(op->id), names[i]);
    return true;
}

/* "k=v" with v in TOML; a bare word is taken as a string. */
static bool parse_param(gr_program *p, const char *text, gr_arg *out) {
    gr_arena *a = &p->arena[GR_RUNG_GRAPH];
    gr_diags *d = &p->session->diags;
    const char *eq = strchr(text, '=');
    if (!eq || eq == text)
        return gr_report(d, GR_D_CLI_OPTION_VALUE, (gr_place){0}, "for example --set axis=1", "\"%s\" is not NAME=VALUE", text);
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_doc *doc = GR_NEW(a, gr_doc);
    char *line = gr_arena_printf(a, "value = %s\n", eq + 1);
    bool ok = doc && line && gr_toml_parse(a, &quiet, GR_STR("--set"), gr_str_of(line), doc);
    if (!ok && line) {
        line = gr_arena_printf(a, "value = \"%s\"\n", eq + 1);
        ok = line && gr_toml_parse(a, d, GR_STR("--set"), gr_str_of(line), doc);
    }
    gr_diags_free(&quiet);
    if (!ok) return false;
    gr_str name = gr_str_dup(a, (gr_str){text, (size_t)(eq - text)});
    *out = (gr_arg){.name = name, .value = gr_value_get(doc->root, "value"), .at = gr_place_doc("--set")};
    return true;
}

static bool build_op_graph(gr_program *p, const gr_op *op, const char *const *names, const gr_tensor *in, unsigned in_n,
                           const char *const *params, unsigned params_n) {
    gr_arena *a = &p->arena[GR_RUNG_GRAPH];
    gr_graph *g = &p->drawn;
    uint32_t args_n = 0;
    gr_value_id *args = GR_NEW_N(a, gr_value_id, in_n + op->sig.operands_n);
    gr_arg *given = GR_NEW_N(a, gr_arg, params_n);
    if (!args || !given) return gr_report_oom(&p->session->diags);
    GR_TRY(order_operands(p, op, names, in, in_n, args, &args_n));
    bool ok = true;
    for (unsigned i = 0; i < params_n; i++) ok = parse_param(p, params[i], &given[i]) && ok;
    GR_TRY(ok);
    GR_TRY(gr_graph_add_node(a, &p->session->diags, g, op, args, args_n, given, params_n, op->name, gr_place_doc("op run"), NULL));
    const gr_call *call = &g->nodes[0].call;
    const gr_value_id *results = g->nodes[0].results;
    for (uint32_t o = 0; o < call->outputs_n; o++) {
        bool variadic = op->sig.outputs_n == 1 && op->sig.outputs[0].variadic;
        gr_str name = !variadic ? gr_str_dup(a, op->sig.outputs[o].name)
                               : gr_str_of(gr_arena_printf(a, "%.*s.%u", GR_STR_ARG(op->sig.outputs[0].name), o));
        if (results[o] == GR_NO_VALUE) continue; /* absent under its condition */
        if (!gr_graph_add_output(a, g, name, results[o])) return gr_report_oom(&p->session->diags);
    }
    return true;
}

gr_program *gr_compile_op(gr_session *s, const char *id, const char *const *operand_names, const gr_tensor *in, unsigned in_n,
                          const char *const *params, unsigned params_n, const gr_compile_desc *desc) {
    const gr_op *op = gr_session_find_op(s, gr_str_of(id ? id : ""));
    gr_compile_desc none = {0};
    gr_program *p = op ? gr_program_new(s, GR_STR("op run")) : NULL;
    if (!p) return NULL;
    p->drawn.name = op->name;
    p->drawn.tier = GR_TIER_DEBUG;
    p->is_op = true;
    if (build_op_graph(p, op, operand_names, in, in_n, params, params_n) && gr_program_lower_graph(p, desc ? desc : &none)) return p;
    gr_program_free(p);
    return NULL;
}
