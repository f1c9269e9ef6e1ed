/* import.c: the model's values and nodes in order, and the rules tried on each. */
#include "import/import_int.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- shared --------------------------------------------------------------------------------------------------- */

uint32_t import_value(importer *m, value v) {
    value *to = GR_PUSH(m->a, &m->values);
    if (!to) {
        gr_report_oom(m->d);
        return NO_VALUE;
    }
    *to = v;
    return m->values.n - 1;
}

gr_type import_type(const gr_array *x) {
    gr_type t = {.dtype = x->dtype, .rank = x->rank};
    for (uint32_t i = 0; i < x->rank; i++) t.dim[i].n = x->dims[i];
    return t;
}

gr_str import_node_text(gr_arena *a, const gr_onnx_node *n) {
    const char *z = gr_arena_printf(a, "node \"%.*s\" (%s%.*s%s%.*s)", GR_STR_ARG(n->name), "", GR_STR_ARG(n->domain), n->domain.n ? "." : "", GR_STR_ARG(n->op));
    return gr_str_of(z ? z : "");
}

static gr_place place(const importer *m) { return (gr_place){.document = m->m->file}; }

static bool define(importer *m, gr_str name, uint32_t v) {
    if (gr_map_get(&m->at, name, NULL))
        return gr_report(m->d, GR_D_IMPORT_VALUE, place(m), NULL, "the value \"%.*s\" is made twice", GR_STR_ARG(name));
    return gr_map_put(m->a, &m->at, name, v) || gr_report_oom(m->d);
}

/* ---- rules -------------------------------------------------------------------------------------------------------- */

static bool collect_rules(importer *m) {
    for (uint32_t i = 0; i < gr_catalog_count(m->c); i++) {
        const gr_op *op = gr_catalog_at(m->c, i);
        for (uint32_t k = 0; k < op->imports_n; k++) {
            gr_import_rule *to = GR_PUSH(m->a, &m->rules);
            if (!to) return gr_report_oom(m->d);
            *to = op->imports[k];
            to->home = op;
        }
    }
    return true;
}

static int64_t version_of(const importer *m, gr_str domain) {
    for (uint32_t i = 0; i < m->m->domains_n; i++)
        if (gr_str_eq(m->m->domains[i].domain, domain)) return m->m->domains[i].version;
    return m->m->opset;
}

static bool is_for(const importer *m, const gr_import_rule *r, const gr_onnx_node *n, bool any_version) {
    int64_t v = any_version ? 0 : version_of(m, n->domain);
    return gr_str_eq(r->shell.sig.name, n->op) && gr_str_eq(r->domain, n->domain) && (any_version || (v >= r->since && v <= r->until));
}

/* What is structure and no arithmetic: the one operator that the importer knows by name, and those it refuses by name. */
static bool is_constant(const gr_onnx_node *n) { return !n->domain.n && gr_str_eqz(n->op, "Constant"); }
static bool is_control(const gr_onnx_node *n) {
    static const char *const names[] = {"If", "Loop", "Scan", "SequenceMap"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!n->domain.n && gr_str_eqz(n->op, names[i])) return true;
    return false;
}

static bool has_rule(const importer *m, const gr_onnx_node *n) {
    for (uint32_t i = 0; i < m->rules.n; i++)
        if (is_for(m, &m->rules.v[i], n, false)) return true;
    return is_constant(n);
}

/* ---- operators without a rule ---------------------------------------------------------------------------------------- */

/* "DepthToSpace" as an op would be called: depth_to_space. */
static gr_str snake(gr_arena *a, gr_str s) {
    gr_buf b = {0};
    for (size_t i = 0; i < s.n; i++) {
        bool upper = s.p[i] >= 'A' && s.p[i] <= 'Z', after_lower = i && (s.p[i - 1] < 'A' || s.p[i - 1] > 'Z');
        if (upper && after_lower) gr_buf_putc(&b, '_');
        gr_buf_putc(&b, upper ? (char)(s.p[i] + 32) : s.p[i]);
    }
    gr_str out = gr_str_dup(a, gr_buf_view(&b));
    gr_buf_free(&b);
    return out;
}

static int shared_prefix(gr_str x, gr_str y) {
    int n = 0;
    while ((size_t)n < x.n && (size_t)n < y.n && x.p[n] == y.p[n]) n++;
    return n;
}

/* The op that is spelled nearest: by distance, else by how it begins. */
static gr_str nearest(importer *m, gr_str name) {
    gr_str id = gr_catalog_near(m->c, name), best = {0};
    int most = 3;
    if (id.n) return id;
    for (uint32_t i = 0; i < gr_catalog_count(m->c); i++) {
        int n = shared_prefix(gr_catalog_at(m->c, i)->name, name);
        if (n > most) most = n, best = gr_catalog_at(m->c, i)->id;
    }
    return best;
}

static void complain_of(importer *m, const gr_onnx_node *n, const gr_buf *nodes, uint32_t count) {
    gr_report(m->d, GR_D_IMPORT_UNSUPPORTED, place(m), NULL, "%.*s%s%.*s: %u node%s: %.*s%s", GR_STR_ARG(n->domain), n->domain.n ? "." : "", GR_STR_ARG(n->op), count, count == 1 ? "" : "s",
              GR_STR_ARG(gr_buf_view(nodes)), count > 8 ? ", ..." : "");
    int64_t least = INT64_MAX, most = 0;
    for (uint32_t i = 0; i < m->rules.n; i++) {
        if (!is_for(m, &m->rules.v[i], n, true)) continue;
        if (m->rules.v[i].since < least) least = m->rules.v[i].since;
        if (m->rules.v[i].until > most) most = m->rules.v[i].until;
    }
    gr_str near = nearest(m, snake(m->a, n->op));
    if (least != INT64_MAX) gr_report_hint(m->d, "it is imported from version %lld on", (long long)least);
    else if (is_control(n)) gr_report_hint(m->d, "control flow of a model is not imported: export it without, or draw it as a block");
    else if (near.n) gr_report_hint(m->d, "the nearest op is %.*s; an [import] rule of an op of yours can bring the operator in (docs/interchange.md)", GR_STR_ARG(near));
}

static bool check_supported(importer *m) {
    gr_map seen = {0};
    bool ok = true;
    for (uint32_t i = 0; i < m->m->nodes_n; i++) {
        const gr_onnx_node *n = &m->m->nodes[i];
        gr_buf nodes = {0};
        uint32_t count = 0;
        if (has_rule(m, n)) continue;
        char *key = gr_arena_printf(m->a, "%.*s.%.*s", GR_STR_ARG(n->domain), GR_STR_ARG(n->op));
        if (!key || gr_map_get(&seen, gr_str_of(key), NULL)) continue;
        if (!gr_map_put(m->a, &seen, gr_str_of(key), i)) return gr_report_oom(m->d);
        for (uint32_t k = i; k < m->m->nodes_n; k++) {
            const gr_onnx_node *o = &m->m->nodes[k];
            if (!gr_str_eq(o->op, n->op) || !gr_str_eq(o->domain, n->domain)) continue;
            if (count++ < 8) gr_buf_printf(&nodes, "%s%.*s", count > 1 ? ", " : "", GR_STR_ARG(o->name));
        }
        complain_of(m, n, &nodes, count);
        gr_buf_free(&nodes);
        ok = false;
    }
    return ok;
}

/* ---- inputs and weights ------------------------------------------------------------------------------------------------ */

static bool add_weights(importer *m) {
    for (uint32_t i = 0; i < m->m->weights_n; i++) {
        const gr_onnx_tensor *w = &m->m->weights[i];
        uint32_t v = import_value(m, (value){.name = w->name, .from = FROM_WEIGHT, .type = import_type(&w->array), .known = &w->array});
        if (v == NO_VALUE || !define(m, w->name, v)) return false;
    }
    return true;
}

static bool find_size(const importer *m, gr_str name, uint64_t *n) {
    for (uint32_t i = 0; i < m->o->sizes_n; i++)
        if (gr_str_eq(m->o->sizes[i].name, name)) {
            *n = m->o->sizes[i].n;
            return true;
        }
    return false;
}

static bool settle_dim(importer *m, const gr_onnx_value *x, uint32_t i, gr_dim *out) {
    char own[256];
    snprintf(own, sizeof own, "%.*s.%u", GR_STR_ARG(x->name), i);
    gr_str name = x->dims[i].name.n ? x->dims[i].name : gr_str_of(own);
    if (x->dims[i].known) out->n = x->dims[i].n;
    else if (!find_size(m, name, &out->n) && !find_size(m, gr_str_of(own), &out->n)) {
        gr_report(m->d, GR_D_IMPORT_SHAPE, place(m), NULL, "dimension %u of input \"%.*s\"%s%.*s%s is not known", i, GR_STR_ARG(x->name), x->dims[i].name.n ? ", \"" : "", GR_STR_ARG(x->dims[i].name),
                  x->dims[i].name.n ? "\"," : "");
        gr_report_hint(m->d, "say how large it is: --set %.*s=1", GR_STR_ARG(name));
        return false;
    }
    return true;
}

static bool add_inputs(importer *m) {
    bool ok = true;
    for (uint32_t i = 0; i < m->m->inputs_n; i++) {
        const gr_onnx_value *x = &m->m->inputs[i];
        if (gr_map_get(&m->at, x->name, NULL)) continue; /* an initializer with a name to override it by */
        gr_type t = {.dtype = x->dtype, .rank = x->rank};
        if (!x->dtype) ok = gr_report(m->d, GR_D_IMPORT_DTYPE, place(m), NULL, "input \"%.*s\" has elements of type %s (%d)", GR_STR_ARG(x->name), gr_onnx_dtype_name(x->code), x->code);
        if (!x->has_shape) ok = gr_report(m->d, GR_D_IMPORT_SHAPE, place(m), "write the model with shapes", "input \"%.*s\" has no shape", GR_STR_ARG(x->name));
        for (uint32_t k = 0; k < x->rank; k++) ok = settle_dim(m, x, k, &t.dim[k]) && ok;
        uint32_t v = import_value(m, (value){.name = x->name, .from = FROM_INPUT, .type = t});
        if (v == NO_VALUE || !define(m, x->name, v)) return false;
    }
    return ok;
}

/* Sizes that no input has are a mistake in the command. */
static bool check_sizes(importer *m) {
    bool ok = true;
    for (uint32_t i = 0; i < m->o->sizes_n; i++) {
        bool used = false;
        for (uint32_t k = 0; k < m->m->inputs_n; k++)
            for (uint32_t j = 0; j < m->m->inputs[k].rank; j++) {
                char own[256];
                snprintf(own, sizeof own, "%.*s.%u", GR_STR_ARG(m->m->inputs[k].name), j);
                used = used || gr_str_eq(m->o->sizes[i].name, m->m->inputs[k].dims[j].name) || gr_str_eqz(m->o->sizes[i].name, own);
            }
        if (!used) ok = gr_report(m->d, GR_D_IMPORT_SHAPE, place(m), NULL, "no input has a dimension \"%.*s\"", GR_STR_ARG(m->o->sizes[i].name));
    }
    return ok;
}

/* ---- order ----------------------------------------------------------------------------------------------------------------- */

enum { UNSEEN = 0, OPEN, DONE };
typedef struct ordering { importer *m; gr_map maker; uint8_t *state; uint32_t *stack, *next, depth, *order, n; } ordering;

static bool index_makers(ordering *o) {
    importer *m = o->m;
    for (uint32_t i = 0; i < m->m->nodes_n; i++)
        for (uint32_t k = 0; k < m->m->nodes[i].out_n; k++) {
            gr_str name = m->m->nodes[i].out[k];
            if (!name.n) continue;
            if (gr_map_get(&o->maker, name, NULL) || gr_map_get(&m->at, name, NULL))
                return gr_report(m->d, GR_D_IMPORT_VALUE, place(m), NULL, "%.*s makes the value \"%.*s\", which is made elsewhere too", GR_STR_ARG(import_node_text(m->a, &m->m->nodes[i])), GR_STR_ARG(name));
            if (!gr_map_put(m->a, &o->maker, name, i)) return gr_report_oom(m->d);
        }
    return true;
}

/* One step of a depth-first walk: the node on top is done, or an input's maker goes on top of it. */
static bool step(ordering *o) {
    importer *m = o->m;
    uint32_t at = o->stack[o->depth - 1], maker;
    const gr_onnx_node *n = &m->m->nodes[at];
    while (o->next[at] < n->in_n) {
        gr_str name = n->in[o->next[at]++];
        if (!name.n || gr_map_get(&m->at, name, NULL)) continue;
        if (!gr_map_get(&o->maker, name, &maker))
            return gr_report(m->d, GR_D_IMPORT_VALUE, place(m), NULL, "%.*s reads \"%.*s\", which nothing makes", GR_STR_ARG(import_node_text(m->a, n)), GR_STR_ARG(name));
        if (o->state[maker] == OPEN)
            return gr_report(m->d, GR_D_IMPORT_CYCLE, place(m), NULL, "%.*s needs \"%.*s\", which needs its own result", GR_STR_ARG(import_node_text(m->a, n)), GR_STR_ARG(name));
        if (o->state[maker] == DONE) continue;
        o->state[maker] = OPEN;
        o->stack[o->depth++] = maker;
        return true;
    }
    o->state[at] = DONE;
    o->order[o->n++] = at;
    o->depth--;
    return true;
}

static bool order_nodes(importer *m, uint32_t **order) {
    uint32_t n = m->m->nodes_n;
    ordering o = {.m = m, .state = GR_NEW_N(m->a, uint8_t, n), .stack = GR_NEW_N(m->a, uint32_t, n), .next = GR_NEW_N(m->a, uint32_t, n), .order = GR_NEW_N(m->a, uint32_t, n)};
    if (!o.state || !o.stack || !o.next || !o.order) return gr_report_oom(m->d);
    GR_TRY(index_makers(&o));
    for (uint32_t i = 0; i < n; i++) {
        if (o.state[i] != UNSEEN) continue;
        o.state[i] = OPEN;
        o.stack[o.depth++] = i;
        while (o.depth) GR_TRY(step(&o));
    }
    *order = o.order;
    return true;
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------- */

/* The operator that is a value itself. */
static bool constant_node(importer *m, const gr_onnx_node *n, uint32_t *out) {
    gr_array *x = GR_NEW(m->a, gr_array);
    if (!x) return gr_report_oom(m->d);
    const gr_onnx_attribute *t = n->attributes_n == 1 ? &n->attributes[0] : NULL;
    uint64_t dims[1] = {t ? t->n : 0};
    bool ints = t && (t->kind == GR_ONNX_INT || t->kind == GR_ONNX_INTS), list = t && (t->kind == GR_ONNX_INTS || t->kind == GR_ONNX_FLOATS);
    if (t && t->kind == GR_ONNX_TENSOR) *x = t->t;
    else if (ints || list || (t && t->kind == GR_ONNX_FLOAT)) {
        GR_TRY(gr_array_new(m->a, m->d, ints ? GR_DTYPE_I64 : GR_DTYPE_F32, dims, list ? 1 : 0, x));
        for (uint32_t i = 0; i < (list ? t->n : 1); i++) {
            if (ints) gr_array_set_i64(x, i, list ? t->ints[i] : t->i);
            else gr_array_set_f64(x, i, list ? t->floats[i] : t->f);
        }
    } else {
        return gr_report(m->d, GR_D_IMPORT_ATTRIBUTE, place(m), NULL, "%.*s holds no numbers", GR_STR_ARG(import_node_text(m->a, n)));
    }
    if (n->out_n != 1) return gr_report(m->d, GR_D_IMPORT_VALUE, place(m), NULL, "%.*s has %u outputs", GR_STR_ARG(import_node_text(m->a, n)), n->out_n);
    out[0] = import_value(m, (value){.name = n->out[0], .from = FROM_CONSTANT, .type = import_type(x), .known = x});
    return out[0] != NO_VALUE;
}

/* The first complaint of a rule's trial, with the node in front; the name of ours where it has one. */
static void report_trial(importer *m, const gr_onnx_node *n, const gr_diags *trial) {
    const gr_diag *g = NULL;
    for (uint32_t i = 0; i < trial->list.n && !g; i++)
        if (trial->list.v[i].severity == GR_ERROR) g = &trial->list.v[i];
    bool ours = g && (g->name == GR_D_IMPORT_CONSTANT || g->name == GR_D_IMPORT_ATTRIBUTE);
    if (trial->out_of_memory || !g) gr_report_oom(m->d);
    else gr_report(m->d, ours ? g->name : GR_D_IMPORT_ATTRIBUTE, place(m), NULL, "%.*s: %.*s", GR_STR_ARG(import_node_text(m->a, n)), GR_STR_ARG(g->message));
    if (g && g->hint.n) gr_report_hint(m->d, "%.*s", GR_STR_ARG(g->hint));
}

/* Whether a rule was for operands of another rank: then another rule's complaint says more. */
static bool is_for_other_rank(const gr_diags *trial) { return gr_diags_has(trial, GR_D_CONTRACT_OPERAND_RANK); }

/* The rules of the operator one after another; where none fits, the first complaint of one for operands of this rank stands. */
static bool import_node(importer *m, const gr_onnx_node *n, const uint32_t *in, uint32_t *out) {
    gr_diags trial[2];
    uint32_t now = 0;
    bool ok = false, kept = false;
    gr_diags_init(&trial[0]);
    gr_diags_init(&trial[1]);
    for (uint32_t i = 0; i < m->rules.n && !ok; i++) {
        if (!is_for(m, &m->rules.v[i], n, false)) continue;
        gr_diags_clear(&trial[now]);
        ok = import_apply(m, &trial[now], &m->rules.v[i], n, in, out);
        if (!ok && !kept && !is_for_other_rank(&trial[now])) kept = true, now = 1; /* the other one stays */
    }
    if (!ok) report_trial(m, n, &trial[0]);
    gr_diags_free(&trial[0]);
    gr_diags_free(&trial[1]);
    return ok;
}

static bool import_one(importer *m, const gr_onnx_node *n, bool *skipped) {
    uint32_t *in = GR_NEW_N(m->a, uint32_t, n->in_n), *out = GR_NEW_N(m->a, uint32_t, n->out_n);
    if (!in || !out) return gr_report_oom(m->d);
    for (uint32_t i = 0; i < n->in_n; i++) {
        in[i] = NO_VALUE;
        if (n->in[i].n && !gr_map_get(&m->at, n->in[i], &in[i])) { /* its maker failed and said why */
            *skipped = true;
            return false;
        }
    }
    GR_TRY(is_constant(n) ? constant_node(m, n, out) : import_node(m, n, in, out));
    for (uint32_t i = 0; i < n->out_n; i++)
        if (n->out[i].n && !gr_map_put(m->a, &m->at, n->out[i], out[i])) return gr_report_oom(m->d);
    return true;
}

static bool import_nodes(importer *m) {
    uint32_t *order = NULL;
    bool ok = true;
    GR_TRY(order_nodes(m, &order));
    for (uint32_t i = 0; i < m->m->nodes_n; i++) {
        bool skipped = false;
        ok = import_one(m, &m->m->nodes[order[i]], &skipped) && ok;
        if (m->d->out_of_memory) return false;
    }
    return ok;
}

/* ---- what the outputs need ------------------------------------------------------------------------------------------------------- */

static void keep(importer *m, uint32_t v) {
    if (v == NO_VALUE) return;
    m->values.v[v].live = true;
    if (m->values.v[v].from == FROM_OP) m->calls.v[m->values.v[v].call].live = true;
}

/* Calls stand in order: one pass from the last to the first. */
static uint32_t find_live(importer *m, const uint32_t *outputs) {
    uint32_t dropped = 0;
    for (uint32_t i = 0; i < m->m->outputs_n; i++) keep(m, outputs[i]);
    for (uint32_t i = m->calls.n; i-- > 0;) {
        const call *c = &m->calls.v[i];
        dropped += !c->live;
        for (uint32_t k = 0; c->live && k < c->resolved.operands_n; k++) keep(m, c->in[k]);
    }
    return dropped;
}

static bool find_outputs(importer *m, uint32_t *outputs) {
    bool ok = m->m->outputs_n || gr_report(m->d, GR_D_IMPORT_FILE, place(m), NULL, "the model has no outputs");
    for (uint32_t i = 0; i < m->m->outputs_n; i++)
        if (!gr_map_get(&m->at, m->m->outputs[i].name, &outputs[i]))
            ok = gr_report(m->d, GR_D_IMPORT_VALUE, place(m), NULL, "nothing makes the output \"%.*s\"", GR_STR_ARG(m->m->outputs[i].name));
    return ok;
}

bool gr_import_onnx(gr_arena *a, gr_diags *d, const gr_catalog *c, const gr_onnx_model *model, const gr_import_options *o, gr_imported *out) {
    importer m = {.a = a, .d = d, .c = c, .m = model, .o = o};
    uint32_t *outputs = GR_NEW_N(a, uint32_t, model->outputs_n);
    *out = (gr_imported){0};
    if (!outputs) return gr_report_oom(d);
    GR_TRY(collect_rules(&m));
    bool supported = check_supported(&m), sizes = check_sizes(&m);
    GR_TRY(add_weights(&m));
    bool inputs = add_inputs(&m);
    GR_TRY(supported && sizes && inputs && import_nodes(&m) && find_outputs(&m, outputs));
    out->dropped_n = find_live(&m, outputs);
    if (out->dropped_n) gr_report(d, GR_D_IMPORT_DROPPED, (gr_place){.document = model->file}, NULL, "%u calls of ops were left out: no output needs them", out->dropped_n);
    out->folded_n = m.folded;
    return import_document(&m, outputs, out);
}
