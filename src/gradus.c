/* gradus.c: the ladder as one list of calls.
 *
 * A document is lowered rung by rung; each rung is verified before the next one reads it, and
 * each keeps its own arena, so that `explain` can print any of them afterwards. */
#include "api/session.h"

#include "api/inputs.h"

#include "base/file.h"

const char *gr_version(void) { return "0.1.0"; }

gr_program *gr_program_new(gr_session *s, gr_str document) {
    gr_program *p = gr_heap_alloc(1, sizeof *p);
    if (!p) {
        gr_report_oom(&s->diags);
        return NULL;
    }
    p->refs = 1;
    p->session = s;
    s->refs++;
    p->target = s->target;
    p->document = gr_str_dup(&p->arena[0], document);
    return p;
}

void gr_program_free(gr_program *p) {
    if (!p || --p->refs) return;
    gr_session *s = p->session;
    gr_program_close_files(p);
    for (int i = 0; i <= GR_RUNG_PLAN; i++) gr_arena_free(&p->arena[i]);
    if (p->data) gr_program_free(p->data);
    gr_heap_free(p);
    gr_session_free(s);
}

static bool usable(void *user, const gr_graph *g, uint32_t node) {
    const gr_program *p = user;
    return gr_kernel_usable(&p->target, g->tier, &g->nodes[node].call);
}

/* The kernels without fusion, for `explain`: the plan has settled for them. */
static bool lower_apart(gr_program *p) {
    gr_tier declared = p->graph.tier;
    p->target.fuse = false;
    p->graph.tier = p->kernels.tier;
    bool ok = gr_graph_lower(&p->arena[GR_RUNG_KERNEL], &p->session->diags, &p->graph, p->session->catalog, &p->target, &p->kernels);
    p->graph.tier = declared;
    return ok;
}

/* Kernels are chosen for the tier that is run, the plan compares it with the declared one. */
static bool declare_tier(gr_program *p) {
    p->graph.tier = p->declared_tier;
    if (p->kernels.graph == &p->graph) return true;
    gr_graph *fused = GR_NEW(&p->arena[GR_RUNG_KERNEL], gr_graph);
    if (!fused) return gr_report_oom(&p->session->diags);
    *fused = *p->kernels.graph;
    fused->tier = p->declared_tier;
    p->kernels.graph = fused;
    return true;
}

/* Segments whose inside is computed again: asked for, or declared by the train block. */
static unsigned segments_of(const gr_program *p, const gr_compile_desc *desc) {
    return desc->checkpoint || p->train != GR_TRAIN_STEP ? desc->checkpoint : gr_canvas_training(&p->canvas)->train->segments;
}

/* Rung 3 to 5: rewrites, kernels, plan. */
bool gr_program_lower_graph(gr_program *p, const gr_compile_desc *desc) {
    gr_session *s = p->session;
    gr_diags *d = &s->diags;
    gr_arena *graph = &p->arena[GR_RUNG_GRAPH], *kernel = &p->arena[GR_RUNG_KERNEL], *plan = &p->arena[GR_RUNG_PLAN];
    gr_graph expanded, live, cut;
    p->has_graph = true;
    p->graph = p->drawn;
    p->declared_tier = p->drawn.tier;
    gr_plan_options o = {.tier = desc->tier ? gr_tier_find(gr_str_of(desc->tier)) : GR_TIER_NONE, .budget_gpu = desc->budget_gpu};
    if (desc->tier && o.tier == GR_TIER_NONE)
        return gr_report(d, GR_D_CLI_OPTION_VALUE, (gr_place){0}, "debug, prod or fast", "\"%s\" is not a tier", desc->tier);
    if (o.tier != GR_TIER_NONE) p->drawn.tier = o.tier;
    p->target.reference = desc->reference;
    p->target.fuse = !desc->no_fuse;
    p->target.heavy_allowed = desc->allow_heavy_cpu;
    p->allow_heavy = desc->allow_heavy_cpu;

    GR_TRY(gr_graph_verify(d, &p->drawn));
    if (p->train) GR_TRY(gr_program_make_step(p) && gr_graph_verify(d, &p->drawn));
    if (desc->gradient_n) GR_TRY(gr_program_differentiate(p, desc, p->is_op) && gr_graph_verify(d, &p->drawn));
    GR_TRY(gr_graph_opt_expand(graph, d, &p->drawn, s->catalog, desc->reference, usable, p, &expanded));
    GR_TRY(gr_graph_opt_common(graph, d, &expanded, &live));
    if (segments_of(p, desc)) {
        GR_TRY(gr_graph_opt_checkpoint(graph, d, &live, segments_of(p, desc), &cut));
        live = cut;
    }
    GR_TRY(gr_graph_opt_dead(graph, d, &live, &p->graph));
    GR_TRY(gr_graph_verify(d, &p->graph));

    GR_TRY(gr_graph_lower(kernel, d, &p->graph, s->catalog, &p->target, &p->kernels));
    GR_TRY(gr_kernels_verify(d, &p->kernels));
    p->has_kernels = true;

    GR_TRY(declare_tier(p));
    GR_TRY(gr_kernels_lower(plan, d, &p->kernels, s->catalog, &o, &p->plan));
    GR_TRY(gr_plan_verify(d, &p->plan));
    if (p->kernels.target.fuse && !p->plan.target.fuse) GR_TRY(lower_apart(p)); /* the plan came out better so */
    p->has_plan = true;
    return gr_program_list_inputs(p);
}

/* What the caller wants of a train block. */
static bool take_training(gr_program *p, const gr_compile_desc *desc) {
    const gr_canvas_node *train = gr_canvas_training(&p->canvas);
    p->train = desc->train;
    p->parameters = desc->parameters ? gr_str_dup(&p->arena[0], gr_str_of(desc->parameters)) : (gr_str){0};
    if (!desc->train) return true;
    if (!train)
        return gr_report(&p->session->diags, GR_D_RUN_NO_TRAIN_BLOCK, p->canvas.at, "add a node with \"block\": \"train\"; see docs/training.md",
                         "\"%.*s\" has no train block", GR_STR_ARG(p->document));
    p->rows = desc->rows ? desc->rows : train->train->batch;
    return true;
}

/* Rung 1 to 3: a drawn document. */
static bool lower_canvas(gr_program *p, const gr_compile_desc *desc) {
    gr_session *s = p->session;
    gr_diags *d = &s->diags;
    gr_input_type *types;
    uint32_t types_n;

    GR_TRY(gr_canvas_parse(&p->arena[GR_RUNG_CANVAS], d, p->document, p->text, &p->canvas));
    GR_TRY(gr_canvas_load_calls(&p->arena[GR_RUNG_CANVAS], d, &p->canvas));
    GR_TRY(gr_canvas_verify(d, &p->canvas));
    p->has_canvas = true;
    GR_TRY(take_training(p, desc));

    GR_TRY(gr_canvas_lower(&p->arena[GR_RUNG_FLOW], d, &p->canvas, s->catalog, &p->flow));
    GR_TRY(gr_flow_verify(d, &p->flow));
    p->has_flow = true;

    GR_TRY(gr_program_load_inputs(p, &types, &types_n));
    return gr_flow_lower(&p->arena[GR_RUNG_GRAPH], d, &p->flow, s->catalog, types, types_n, &p->drawn);
}

static bool compile(gr_program *p, const gr_compile_desc *desc) {
    gr_compile_desc none = {0};
    bool canvas = !gr_str_ends(p->document, ".graph");
    if (canvas) GR_TRY(lower_canvas(p, desc ? desc : &none));
    else if (desc && desc->train)
        return gr_report(&p->session->diags, GR_D_RUN_NO_TRAIN_BLOCK, (gr_place){.document = p->document}, "train a canvas document with a train block", "a graph's text has no train block");
    else GR_TRY(gr_graph_parse(&p->arena[GR_RUNG_GRAPH], &p->session->diags, p->document, p->text, p->session->catalog, &p->drawn));
    return gr_program_lower_graph(p, desc ? desc : &none);
}

gr_program *gr_compile_text(gr_session *s, const char *name, const char *text, size_t n, const gr_compile_desc *desc) {
    gr_program *p = gr_program_new(s, gr_str_of(name));
    if (!p) return NULL;
    p->text = gr_str_dup(&p->arena[0], (gr_str){text, n});
    if (p->text.p && compile(p, desc)) return p;
    gr_program_free(p);
    return NULL;
}

gr_program *gr_program_again(gr_program *like, const gr_compile_desc *desc) {
    gr_program *p = gr_program_new(like->session, like->document);
    if (!p) return NULL;
    p->text = like->text;
    p->data = like;
    like->refs++;
    if (compile(p, desc)) return p;
    gr_program_free(p);
    return NULL;
}

/* User content that travels with a document: the folder ops/ beside it. */
static bool load_ops_beside(gr_program *p) {
    gr_str ops = gr_path_join(&p->arena[0], gr_path_dir(p->document), GR_STR("ops"));
    if (!ops.n) return gr_report_oom(&p->session->diags);
    if (!gr_file_exists(ops)) return true;
    return gr_session_load(p->session, ops);
}

gr_program *gr_compile_file(gr_session *s, const char *path, const gr_compile_desc *desc) {
    gr_program *p = gr_program_new(s, gr_str_of(path));
    if (!p) return NULL;
    if (load_ops_beside(p) && gr_file_read(&p->arena[0], &s->diags, p->document, (size_t)64 << 20, &p->text) && compile(p, desc)) return p;
    gr_program_free(p);
    return NULL;
}

const char *gr_program_verdict(const gr_program *p) {
    return p->plan.verdict == GR_GREEN ? "green" : p->plan.verdict == GR_YELLOW ? "yellow" : "red";
}

const char *gr_program_tier(const gr_program *p) { return gr_tier_name(p->plan.tier); }
const char *gr_program_guarantee(const gr_program *p) { return gr_guarantee_name(p->plan.guarantee); }
