/* prepare.c: a program made ready on the session's executor, its runs and results. */
#include "api/inputs.h"
#include "api/session.h"

static bool refuse_red(gr_program *p) {
    const gr_plan *plan = &p->plan;
    gr_report(&p->session->diags, GR_D_RUN_RED, (gr_place){.document = p->document}, NULL, "the verdict of \"%.*s\" is red",
              GR_STR_ARG(p->graph.name));
    gr_buf fixes = {0};
    for (uint32_t i = 0; i < plan->fixes_n; i++)
        gr_buf_printf(&fixes, "%s%.*s", i ? "; or " : "", GR_STR_ARG(plan->fixes[i].change));
    if (fixes.p) gr_report_hint(&p->session->diags, "%s", fixes.p);
    gr_buf_free(&fixes);
    return false;
}

static const gr_loaded *find_loaded(const gr_program *p, gr_str node) {
    for (uint32_t i = 0; i < p->loaded_n; i++)
        if (gr_str_eq(p->loaded[i].node, node)) return &p->loaded[i];
    return NULL;
}

static gr_tensor tensor_of_array(const gr_array *x) {
    gr_tensor t = {.dtype = gr_dtype_name(x->dtype), .rank = x->rank, .data = x->data, .bytes = x->bytes};
    for (uint32_t i = 0; i < x->rank; i++) t.dims[i] = x->dims[i];
    return t;
}

/* Whether an op reads value v as indices (`index` in its op.toml). */
static bool is_index(const gr_graph *g, gr_value_id v) {
    for (uint32_t i = 0; i < g->nodes_n; i++) {
        const gr_call *c = &g->nodes[i].call;
        for (uint32_t k = 0; k < c->op->index_n; k++)
            for (uint32_t s = 0; s < c->op->sig.operands_n; s++)
                for (uint32_t o = c->operand_first[s]; o < c->operand_first[s + 1]; o++)
                    if (g->nodes[i].args[o] == v && gr_str_eq(c->op->sig.operands[s].name, c->op->index[k])) return true;
    }
    return false;
}

/* An input that stays in its file. */
static bool take_source(gr_prepared *r, uint32_t i, const gr_loaded *l) {
    gr_program *p = r->program;
    gr_host_source s = {.read = gr_loaded_read_device, .user = (void *)(uintptr_t)l};
    gr_value_id v = p->inputs[i];
    if (l->array.dtype != p->graph.values[v].type.dtype || !gr_type_device_bytes(&p->graph.values[v].type, &s.bytes))
        return GR_BUG(&p->session->diags, "A7", "a streamed input of another type");
    if ((l->array.dtype == GR_DTYPE_I64 || l->array.dtype == GR_DTYPE_U64) && is_index(&p->graph, v))
        return gr_report(&p->session->diags, GR_D_CANVAS_STREAM_BAD, (gr_place){.document = p->document}, "store them as i32, or leave out \"stream\"",
                         "\"%.*s\" holds 64-bit indices, which are all checked before a run", GR_STR_ARG(l->node));
    r->input_source[i] = l;
    return p->session->api->source(r->exec, &p->session->diags, v, s);
}

/* Inputs whose file was read at compile time. */
static bool write_loaded(gr_prepared *r) {
    gr_program *p = r->program;
    for (uint32_t i = 0; i < p->inputs_n; i++) {
        const gr_loaded *l = find_loaded(p, p->graph.values[p->inputs[i]].input);
        if (!l || l->in_batches || r->attached[i]) continue;
        gr_tensor t = tensor_of_array(&l->array);
        GR_TRY(l->disk ? take_source(r, i, l) : gr_write(r, i, &t));
    }
    return true;
}

static void hold(gr_prepared *r, uint32_t place, gr_buffer *b) {
    b->refs++;
    gr_buffer_free(r->attached[place]);
    r->attached[place] = b;
}

/* The buffers that desc gives to inputs, by graph value; with an input that is updated in place its output. NULL when memory fails. */
static gr_persist **share(gr_prepared *r) {
    const gr_program *p = r->program;
    gr_persist **shared = gr_heap_alloc((size_t)p->graph.values_n + 1, sizeof(gr_persist *));
    for (uint32_t i = 0; shared && r->desc.inputs && i < p->inputs_n; i++) {
        gr_value_id v = p->inputs[i];
        gr_buffer *b = r->desc.inputs[i];
        if (!b || b->session != p->session || !p->plan.tensors[v].pages) continue;
        shared[v] = b->persist;
        hold(r, i, b);
        for (uint32_t o = 0; o < p->graph.outputs_n; o++) {
            gr_value_id w = p->graph.outputs[o].value;
            if (w == v || !gr_plan_is_resident(&p->plan, v) || p->plan.tensors[w].first_buffer != p->plan.tensors[v].first_buffer) continue;
            shared[w] = b->persist;
            hold(r, p->inputs_n + o, b);
        }
    }
    r->desc.inputs = NULL;
    return shared;
}

gr_prepared *gr_prepare(gr_program *p, const gr_prepare_desc *desc) {
    gr_session *s = p->session;
    if (!p->has_plan || !s->api) {
        gr_report(&s->diags, GR_D_RUN_NO_EXECUTOR, (gr_place){0}, "open the session with a device", "the session only compiles");
        return NULL;
    }
    if (p->plan.verdict == GR_RED) return refuse_red(p) ? NULL : NULL;
    gr_prepared *r = gr_heap_alloc(1, sizeof *r);
    if (!r) {
        gr_report_oom(&s->diags);
        return NULL;
    }
    r->program = p;
    p->refs++;
    if (desc) r->desc = *desc;
    gr_exec_options o = {.timestamps = r->desc.timestamps, .progress = r->desc.progress, .progress_user = r->desc.progress_user,
                         .threads = s->threads, .wide = r->desc.wide};
    r->input_hash = gr_heap_alloc(p->inputs_n, sizeof *r->input_hash);
    r->input_given = gr_heap_alloc(p->inputs_n, sizeof *r->input_given);
    r->input_source = gr_heap_alloc(p->inputs_n, sizeof *r->input_source);
    r->attached = gr_heap_alloc((size_t)p->inputs_n + p->graph.outputs_n, sizeof(gr_buffer *));
    bool ok = r->input_hash && r->input_given && r->input_source && r->attached ? true : gr_report_oom(&s->diags);
    for (int i = 0; ok && i < 2; i++) {
        uint32_t n = p->graph.outputs_n;
        r->slot[i].array = gr_heap_alloc(n, sizeof *r->slot[i].array);
        if (!r->slot[i].array) ok = gr_report_oom(&s->diags);
    }
    gr_persist **shared = ok ? share(r) : NULL;
    if (ok && !shared) ok = gr_report_oom(&s->diags);
    o.shared = shared;
    if (ok) r->exec = s->api->prepare(s->device, &s->diags, &p->plan, &o);
    gr_heap_free(shared);
    if (ok && r->exec && write_loaded(r)) return r;
    gr_prepared_free(r);
    return NULL;
}

static void free_slot(gr_prepared *r, int i) {
    for (uint32_t v = 0; r->slot[i].array && v < r->program->graph.outputs_n; v++) {
        gr_heap_free(r->slot[i].array[v].data);
        r->slot[i].array[v] = (gr_array){0};
    }
    r->slot[i].run = 0;
}

void gr_prepared_free(gr_prepared *r) {
    if (!r) return;
    gr_program *p = r->program;
    for (int i = 0; i < 2; i++) {
        free_slot(r, i);
        gr_heap_free(r->slot[i].array);
    }
    if (r->exec) p->session->api->release(r->exec);
    for (uint32_t i = 0; r->attached && i < p->inputs_n + p->graph.outputs_n; i++) gr_buffer_free(r->attached[i]);
    gr_heap_free(r->attached);
    gr_heap_free(r->input_hash);
    gr_heap_free(r->input_given);
    gr_heap_free(r->input_source);
    gr_heap_free(r);
    gr_program_free(p);
}

static bool array_of_tensor(const gr_tensor *t, gr_array *out) {
    *out = (gr_array){.dtype = gr_dtype_find(gr_str_of(t->dtype)), .rank = t->rank, .data = (void *)(uintptr_t)t->data, .bytes = t->bytes};
    for (unsigned i = 0; i < t->rank && i < GR_RANK_MAX; i++) out->dims[i] = t->dims[i];
    size_t bytes;
    return t->rank <= GR_RANK_MAX && (t->data || !t->bytes) && gr_dims_bytes(out->dtype, out->dims, out->rank, &bytes) && bytes == t->bytes;
}

static bool same_shape(const gr_type *want, const gr_array *x) {
    if (want->rank != x->rank) return false;
    for (uint32_t i = 0; i < x->rank; i++)
        if (want->dim[i].n != x->dims[i]) return false;
    return true;
}

/* Kernels narrow 64-bit indices to i32: none may become another number by that. */
static bool check_indices(gr_diags *d, const gr_graph *g, gr_value_id v, const gr_array *x) {
    bool wide = x->dtype == GR_DTYPE_I64 || x->dtype == GR_DTYPE_U64;
    if (!wide || !is_index(g, v)) return true;
    uint64_t n = gr_array_count(x);
    for (uint64_t i = 0; i < n; i++) {
        int64_t at = gr_array_get_i64(x, i);
        if (at <= INT32_MAX && at >= (x->dtype == GR_DTYPE_I64 ? INT32_MIN : 0)) continue;
        gr_buf shown = {0};
        gr_array_print_element(&shown, x, i);
        gr_report(d, GR_D_RUN_INDEX_OUT_OF_RANGE, (gr_place){0}, "indices are -2147483648 to 2147483647; no dimension is longer",
                  "element %llu of input \"%.*s\" is %s", (unsigned long long)i, GR_STR_ARG(g->values[v].name), shown.p ? shown.p : "");
        gr_buf_free(&shown);
        return false;
    }
    return true;
}

static bool write_packed(gr_prepared *r, gr_value_id v, const gr_array *x, const gr_array *exact) {
    gr_session *s = r->program->session;
    uint64_t n;
    if (!gr_type_device_bytes(&r->program->graph.values[v].type, &n)) return false;
    if (!r->desc.wide && n == x->bytes && gr_pack_copies(x->dtype)) return s->api->write(r->exec, &s->diags, v, x->data, n); /* as it is */
    void *packed = n <= SIZE_MAX ? gr_heap_alloc((size_t)n, 1) : NULL;
    if (!packed) return gr_report_oom(&s->diags);
    gr_pack(packed, x);
    bool ok = s->api->write(r->exec, &s->diags, v, packed, n);
    gr_heap_free(packed);
    if (ok && r->desc.wide && s->api->write_wide && exact->dtype == GR_DTYPE_F64)
        ok = s->api->write_wide(r->exec, &s->diags, v, exact->data, gr_array_count(exact));
    return ok;
}

bool gr_write(gr_prepared *r, unsigned input, const gr_tensor *value) {
    gr_program *p = r->program;
    gr_diags *d = &p->session->diags;
    gr_array given, x;
    if (input >= p->inputs_n || !array_of_tensor(value, &given))
        return gr_report(d, GR_D_RUN_INPUT_SIZE, (gr_place){0}, NULL, "input %u: no such input, or data of another size than its shape", input);
    const gr_graph_value *gv = &p->graph.values[p->inputs[input]];
    gr_arena scratch = {0};
    x = given;
    bool ok = true;
    if (given.dtype == GR_DTYPE_F64 && gr_dtype_is_float(gv->type.dtype))
        ok = gr_array_convert(&scratch, d, &given, gv->type.dtype, &x, NULL);
    if (ok && (x.dtype != gv->type.dtype || !same_shape(&gv->type, &x))) {
        gr_buf want = {0}, got = {0};
        gr_type_print(&want, &gv->type);
        gr_array_print_type(&got, &given);
        ok = gr_report(d, GR_D_RUN_INPUT_SIZE, (gr_place){0}, "compile again for another shape", "input \"%.*s\" is %s, the data is %s",
                       GR_STR_ARG(gv->name), want.p, got.p);
        gr_buf_free(&want);
        gr_buf_free(&got);
    }
    ok = ok && check_indices(d, &p->graph, p->inputs[input], &x) && write_packed(r, p->inputs[input], &x, &given);
    if (ok) {
        r->input_given[input] = !r->desc.unrecorded;
        if (r->input_given[input]) r->input_hash[input] = gr_sha256_of(given.data, given.bytes);
        r->input_source[input] = NULL;
    }
    gr_arena_free(&scratch);
    return ok;
}

/* What stays on the device between runs has no content unless a buffer brings it. */
static bool residents_attached(gr_prepared *r) {
    const gr_program *p = r->program;
    for (uint32_t i = 0; i < p->inputs_n && !r->complete; i++)
        if (gr_plan_is_resident(&p->plan, p->inputs[i]) && !r->attached[i])
            return gr_report(&p->session->diags, GR_D_RUN_INPUT_MISSING, (gr_place){0}, "attach a buffer with gr_attach_input", "\"%s\" is updated in place and has no buffer", gr_program_input_name(p, i));
    return r->complete = true;
}

gr_run gr_submit(gr_prepared *r) {
    gr_session *s = r->program->session;
    if (!residents_attached(r)) return 0;
    int i = (int)(r->next % 2);
    free_slot(r, i);
    gr_ticket t = s->api->submit(r->exec, &s->diags);
    if (!t) return 0;
    r->slot[i].run = ++r->next;
    r->slot[i].ticket = t;
    return r->next;
}

static int slot_of(const gr_prepared *r, gr_run run) {
    for (int i = 0; i < 2; i++)
        if (run && r->slot[i].run == run) return i;
    return -1;
}

bool gr_done(gr_prepared *r, gr_run run) {
    int i = slot_of(r, run);
    return i >= 0 && r->program->session->api->poll(r->exec, r->slot[i].ticket);
}

bool gr_wait(gr_prepared *r, gr_run run) {
    int i = slot_of(r, run);
    gr_session *s = r->program->session;
    if (i >= 0) return s->api->wait(r->exec, &s->diags, r->slot[i].ticket);
    return gr_report(&s->diags, GR_D_RUN_TICKET_UNKNOWN, (gr_place){0}, "keep at most the last two runs", "no run %llu", (unsigned long long)run);
}

/* Whether a shared buffer holds the value: nothing of it is read back. */
static bool is_shared(const gr_prepared *r, gr_value_id v) {
    const gr_program *p = r->program;
    for (uint32_t i = 0; i < p->inputs_n; i++)
        if (p->inputs[i] == v && r->attached[i]) return true;
    for (uint32_t i = 0; i < p->graph.outputs_n; i++)
        if (p->graph.outputs[i].value == v && r->attached[p->inputs_n + i]) return true;
    return false;
}

/* Unpacks an output from device layout on first use. */
static gr_array *result_array(gr_prepared *r, int i, unsigned output) {
    gr_program *p = r->program;
    gr_array *x = &r->slot[i].array[output];
    gr_value_id v = p->graph.outputs[output].value;
    if (is_shared(r, v)) return NULL;
    if (x->data) return x;
    const gr_type *t = &p->graph.values[v].type;
    uint64_t n = 0, live = 0;
    gr_array a = {.dtype = t->dtype, .rank = t->rank};
    for (uint32_t k = 0; k < t->rank; k++) a.dims[k] = t->dim[k].n;
    const void *bytes = p->session->api->output(r->exec, r->slot[i].ticket, v, &n, &live);
    if (t->bounded && t->rank && live <= a.dims[0]) a.dims[0] = live;
    if (!gr_dims_bytes(a.dtype, a.dims, a.rank, &a.bytes)) return NULL;
    if (!bytes && a.bytes) return NULL;
    a.data = gr_heap_alloc(a.bytes, 1);
    if (!a.data) {
        gr_report_oom(&p->session->diags);
        return NULL;
    }
    gr_unpack(&a, bytes);
    *x = a;
    return x;
}

gr_tensor gr_result(gr_prepared *r, gr_run run, unsigned output) {
    int i = slot_of(r, run);
    if (i < 0 || output >= r->program->graph.outputs_n) return (gr_tensor){0};
    gr_tensor wide = r->desc.wide ? gr_result_wide(r, run, output) : (gr_tensor){0};
    if (wide.data) return wide; /* the narrow one was not computed */
    const gr_array *x = result_array(r, i, output);
    return x ? tensor_of_array(x) : (gr_tensor){0};
}

gr_tensor gr_result_wide(gr_prepared *r, gr_run run, unsigned output) {
    int i = slot_of(r, run);
    gr_session *s = r->program->session;
    if (i < 0 || output >= r->program->graph.outputs_n || !s->api->output_wide) return (gr_tensor){0};
    gr_value_id v = r->program->graph.outputs[output].value;
    const gr_type *t = &r->program->graph.values[v].type;
    uint64_t n = 0;
    const double *wide = gr_dtype_is_float(t->dtype) && !is_shared(r, v) ? s->api->output_wide(r->exec, r->slot[i].ticket, v, &n) : NULL;
    if (!wide) return (gr_tensor){0};
    gr_tensor x = {.dtype = "f64", .rank = t->rank, .data = wide};
    uint64_t count = 1;
    for (uint32_t k = 0; k < t->rank; k++) count *= x.dims[k] = t->dim[k].n;
    x.bytes = (size_t)count * sizeof(double);
    return x;
}

void gr_release(gr_prepared *r, gr_run run) {
    int i = slot_of(r, run);
    if (i < 0) return;
    r->program->session->api->ticket_release(r->exec, r->slot[i].ticket);
    free_slot(r, i);
}

unsigned gr_times(gr_prepared *r, gr_run run, const char **nodes, double *seconds, unsigned max) {
    int i = slot_of(r, run);
    if (i < 0) return 0;
    gr_step_time t[256];
    uint32_t n = r->program->session->api->times(r->exec, r->slot[i].ticket, t, 256);
    for (uint32_t k = 0; k < n && k < max && k < 256; k++) {
        if (nodes) nodes[k] = r->program->plan.steps[t[k].step].node.p;
        if (seconds) seconds[k] = t[k].seconds;
    }
    return n;
}

uint64_t gr_created_bytes(const gr_prepared *r) { return r->program->session->api->created_bytes(r->exec); }

static bool attach(gr_prepared *r, uint32_t place, gr_value_id v, gr_buffer *b) {
    gr_session *s = r->program->session;
    if (!b || b->session != s)
        return gr_report(&s->diags, GR_D_RUN_BUFFER_RANGE, (gr_place){0}, "make it with gr_buffer_new in this session", "no buffer of this session");
    GR_TRY(s->api->attach(r->exec, &s->diags, v, b->persist));
    hold(r, place, b);
    return true;
}

bool gr_attach_input(gr_prepared *r, unsigned input, gr_buffer *b) {
    gr_program *p = r->program;
    if (input < p->inputs_n) return attach(r, input, p->inputs[input], b);
    return gr_report(&p->session->diags, GR_D_RUN_INPUT_SIZE, (gr_place){0}, NULL, "no input %u", input);
}

bool gr_attach_output(gr_prepared *r, unsigned output, gr_buffer *b) {
    gr_program *p = r->program;
    if (output < p->graph.outputs_n) return attach(r, p->inputs_n + output, p->graph.outputs[output].value, b);
    return gr_report(&p->session->diags, GR_D_RUN_INPUT_SIZE, (gr_place){0}, NULL, "no output %u", output);
}
