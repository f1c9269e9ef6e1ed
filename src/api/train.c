/* A training: programs for the step and the evaluation, the loop over steps, and what the client asks of it. */
#include "api/train.h"

#include <limits.h>
#include <math.h>

static gr_diags *diags(gr_training *t) { return &t->session->diags; }

/* ---- programs ------------------------------------------------------------------------- */

static gr_compile_desc compile_desc(const gr_training *t, enum gr_train_part part, uint64_t rows) {
    return (gr_compile_desc){.tier = t->desc.tier, .budget_gpu = t->desc.budget_gpu, .allow_heavy_cpu = t->desc.allow_heavy_cpu,
                             .parameters = t->desc.parameters, .train = part, .rows = rows};
}

static unsigned input_named(const gr_program *p, gr_str name) {
    for (unsigned i = 0; i < p->inputs_n; i++)
        if (gr_str_eq(p->graph.values[p->inputs[i]].input, name)) return i;
    return UINT_MAX;
}

static unsigned output_named(const gr_program *p, gr_str name) {
    for (unsigned i = 0; i < p->graph.outputs_n; i++)
        if (gr_str_eq(p->graph.outputs[i].name, name)) return i;
    return UINT_MAX;
}

static gr_str below_block(gr_training *t, gr_str name) {
    char *p = gr_arena_printf(&t->arena, "%.*s.%.*s", GR_STR_ARG(t->block->id), GR_STR_ARG(name));
    return p ? gr_str_of(p) : (gr_str){0};
}

/* Which inputs get rows, and where the quantities come out. */
static bool wire(gr_training *t, gr_loop *l) {
    const gr_program *p = l->program;
    l->batch_input = GR_NEW_N(&t->arena, unsigned, p->loaded_n);
    l->batch_data = GR_NEW_N(&t->arena, const gr_loaded *, p->loaded_n);
    if (!l->batch_input || !l->batch_data) return gr_report_oom(diags(t));
    for (uint32_t i = 0; i < p->loaded_n; i++) {
        unsigned input = input_named(p, p->loaded[i].node);
        if (!p->loaded[i].in_batches || input == UINT_MAX) continue;
        l->batch_input[l->batch_input_n] = input;
        l->batch_data[l->batch_input_n++] = &p->loaded[i];
    }
    l->step_input = input_named(p, below_block(t, GR_STR("step")));
    l->rate_input = input_named(p, below_block(t, GR_STR("rate")));
    l->scale_input = input_named(p, below_block(t, GR_STR("scale")));
    char *factor = gr_arena_printf(&t->arena, "%.*s/factor", GR_STR_ARG(t->block->id));
    if (!factor) return gr_report_oom(diags(t));
    l->factor_output = output_named(p, gr_str_of(factor));
    for (uint32_t i = 0; i < t->quantity_n; i++) l->output[i] = output_named(p, below_block(t, t->quantity[i]));
    return true;
}

static bool add_loop(gr_training *t, int which, enum gr_train_part part, uint64_t rows) {
    gr_loop *l = &t->loop[which];
    gr_compile_desc desc = compile_desc(t, part, rows);
    *l = (gr_loop){.part = part, .rows = rows, .program = gr_program_again(t->loop[GR_LOOP_STEP].program, &desc)};
    return l->program && wire(t, l);
}

/* Names behind "fit.": the loss first, then in the document's order. */
static bool find_quantities(gr_training *t) {
    const gr_program *p = t->loop[GR_LOOP_STEP].program;
    gr_str id = t->block->id;
    t->quantity[t->quantity_n++] = GR_STR("loss");
    for (uint32_t i = 0; i < p->graph.outputs_n; i++) {
        gr_str name = p->graph.outputs[i].name;
        if (name.n <= id.n || name.p[id.n] != '.' || memcmp(name.p, id.p, id.n)) continue;
        name = (gr_str){name.p + id.n + 1, name.n - id.n - 1};
        if (gr_str_eqz(name, "loss")) continue;
        if (t->quantity_n == GR_TRAIN_QUANTITIES_MAX)
            return gr_report(diags(t), GR_D_CANVAS_TRAIN_LINK, t->block->at, "link fewer", "more than %d quantities go into \"%.*s\"", GR_TRAIN_QUANTITIES_MAX, GR_STR_ARG(id));
        t->quantity[t->quantity_n++] = name;
    }
    for (uint32_t i = 0; i < t->quantity_n; i++)
        if (gr_str_eq(t->quantity[i], t->train->metric)) t->watched = i;
    return true;
}

/* Parameters of the document, then states, in the order of the step's inputs. */
static bool find_slots(gr_training *t) {
    const gr_program *p = t->loop[GR_LOOP_STEP].program;
    t->slot = GR_NEW_N(&t->arena, gr_slot, p->inputs_n);
    if (!t->slot) return gr_report_oom(diags(t));
    for (int state = 0; state < 2; state++)
        for (uint32_t i = 0; i < p->inputs_n; i++) {
            const gr_graph_value *v = &p->graph.values[p->inputs[i]];
            gr_slot s = {.name = v->input, .type = v->type, .is_state = state};
            if (v->source != (state ? GR_SOURCE_STATE : GR_SOURCE_PARAMETER)) continue;
            if (!gr_type_device_bytes(&v->type, &s.bytes)) return GR_BUG(diags(t), "T1", "a parameter has no size");
            t->slot[t->slot_n++] = s;
        }
    return true;
}

/* Steps of an epoch and in all. */
static void settle_length(gr_training *t) {
    uint64_t b = t->train->batch;
    t->per_epoch = t->train->drop_last ? t->train_n / b : (t->train_n + b - 1) / b;
    t->declared = t->train->steps ? t->train->steps : t->train->epochs * t->per_epoch;
    t->total = t->desc.steps ? t->desc.steps : t->declared;
}

/* The further plans: the step for what is left of an epoch, the evaluation in batches and for what is left of the test rows. A step that no
 * epoch makes, since there are fewer rows than a batch has, is kept for its place: its plan is what is shown. */
static bool add_loops(gr_training *t) {
    uint64_t b = t->train->batch, rest = t->train_n % b;
    uint64_t test = t->train->evaluate_every ? t->test_n : 0;
    if (rest && !t->train->drop_last) GR_TRY(add_loop(t, GR_LOOP_STEP_LAST, GR_TRAIN_STEP, rest));
    if (test >= b) GR_TRY(add_loop(t, GR_LOOP_TEST, GR_TRAIN_EVALUATE, b));
    return test % b == 0 || add_loop(t, GR_LOOP_TEST_LAST, GR_TRAIN_EVALUATE, test % b);
}

gr_training *gr_training_open(gr_session *s, const char *path, const gr_train_desc *desc) {
    gr_training *t = gr_heap_alloc(1, sizeof *t);
    if (!t) {
        gr_report_oom(&s->diags);
        return NULL;
    }
    t->session = s;
    s->refs++;
    if (desc) t->desc = *desc;
    if (t->desc.out) t->out = gr_str_dup(&t->arena, gr_str_of(t->desc.out));
    t->curve.width = t->evaluation.width = 0;
    gr_loop *l = &t->loop[GR_LOOP_STEP];
    gr_compile_desc with = compile_desc(t, GR_TRAIN_STEP, 0);
    l->program = gr_compile_file(s, path, &with);
    bool ok = l->program != NULL;
    if (ok) {
        t->block = gr_canvas_training(&l->program->canvas);
        t->train = t->block->train;
        l->part = GR_TRAIN_STEP;
        l->rows = t->train->batch;
    }
    ok = ok && find_quantities(t) && wire(t, l) && find_slots(t) && gr_training_split(t);
    if (ok) settle_length(t);
    if (ok) t->mixed.scale = t->train->scale;
    ok = ok && add_loops(t);
    t->curve.width = 3 + t->quantity_n;
    t->evaluation.width = 2 + t->quantity_n;
    if (ok) return t;
    gr_training_free(t);
    return NULL;
}

void gr_training_free(gr_training *t) {
    if (!t) return;
    gr_session *s = t->session;
    for (int i = GR_LOOP_COUNT; i-- > 0;) gr_prepared_free(t->loop[i].ready);
    for (uint32_t i = 0; i < t->slot_n; i++) {
        gr_buffer_free(t->slot[i].buffer);
        gr_heap_free(t->slot[i].best.data);
        gr_heap_free(t->slot[i].copy.data);
    }
    for (int i = GR_LOOP_COUNT; i-- > 0;) gr_program_free(t->loop[i].program);
    gr_table_free(&t->curve);
    gr_table_free(&t->evaluation);
    gr_arena_free(&t->arena);
    gr_heap_free(t);
    gr_session_free(s);
}

/* ---- preparing -------------------------------------------------------------------------- */

/* Staging of a plan of which two runs are in flight: the next step is submitted before the last one is read. */
static uint64_t second_staging(const gr_training *t, int i) {
    uint64_t rest = t->train_n % t->train->batch, whole = t->train_n / t->train->batch, sum = 0;
    bool last = rest && !t->train->drop_last;
    if (t->train->mixed) return 0;
    bool twice = i == GR_LOOP_STEP ? whole > 1 || !last : i == GR_LOOP_STEP_LAST && whole == 0;
    const gr_plan *p = &t->loop[i].program->plan;
    for (uint32_t k = 0; k < p->buffers_n && twice && t->total > 1; k++)
        if (p->buffers[k].kind == GR_BUFFER_STAGING_UP || p->buffers[k].kind == GR_BUFFER_STAGING_DOWN) sum += p->buffers[k].bytes;
    return sum;
}

/* Bytes beside parameters and states of every plan, or of the largest, and those once. */
static uint64_t planned(const gr_training *t, bool largest) {
    uint64_t sum = 0, most = 0, kept = 0;
    for (int i = 0; i < GR_LOOP_COUNT; i++) {
        if (!t->loop[i].program || (i == GR_LOOP_STEP && t->train_n < t->train->batch)) continue;
        const gr_plan *p = &t->loop[i].program->plan;
        uint64_t own = p->peak_total - p->peak[GR_MEM_PARAMETERS] - p->peak[GR_MEM_OPTIMIZER_STATE] + second_staging(t, i);
        sum += own;
        if (own > most) most = own;
    }
    for (uint32_t i = 0; i < t->slot_n; i++) kept += t->slot[i].bytes < 16 ? 16 : (t->slot[i].bytes + 15) / 16 * 16;
    return kept + (largest ? most : sum);
}

uint64_t gr_training_planned_bytes(const gr_training *t) {
    uint64_t budget = t->loop[GR_LOOP_STEP].program->plan.budget;
    return planned(t, budget && planned(t, false) > budget);
}

static const gr_loaded *initial(const gr_training *t, gr_str name) {
    const gr_program *p = t->loop[GR_LOOP_STEP].program;
    for (uint32_t i = 0; i < p->loaded_n; i++)
        if (gr_str_eq(p->loaded[i].node, name)) return &p->loaded[i];
    return NULL;
}

/* The buffers, with what they hold at first: initial values, or zeros for states. */
static bool make_buffers(gr_training *t) {
    for (uint32_t i = 0; i < t->slot_n; i++) {
        gr_slot *s = &t->slot[i];
        const gr_loaded *first = s->is_state ? NULL : initial(t, s->name);
        gr_array zeros = {.dtype = s->type.dtype, .rank = s->type.rank};
        for (uint32_t k = 0; k < zeros.rank; k++) zeros.dims[k] = s->type.dim[k].n;
        if (!first && !s->is_state)
            return gr_report(diags(t), GR_D_RUN_INPUT_MISSING, t->block->at, "give the parameter a \"file\" or \"init\"", "nothing says what \"%.*s\" is at first", GR_STR_ARG(s->name));
        uint64_t bytes = s->bytes < 16 ? 16 : (s->bytes + 15) / 16 * 16; /* as buffers of a plan are */
        s->buffer = gr_buffer_new(t->session, s->name.p, bytes);
        if (!s->buffer || !gr_dims_bytes(zeros.dtype, zeros.dims, zeros.rank, &zeros.bytes)) return false;
        zeros.data = first ? NULL : gr_heap_alloc(zeros.bytes ? zeros.bytes : 1, 1);
        bool ok = first || zeros.data ? gr_slot_write(t, s, first ? &first->array : &zeros) : gr_report_oom(diags(t));
        gr_heap_free(zeros.data);
        GR_TRY(ok);
    }
    return true;
}

static bool is_used(const gr_training *t, int i) { return t->loop[i].program && (i != GR_LOOP_STEP || t->train_n >= t->train->batch); }

/* Makes a plan ready; where they do not fit together, the others are given back first. Nothing may be in flight then. */
static bool ready(gr_training *t, gr_loop *l) {
    if (l->ready) return true;
    for (int i = 0; i < GR_LOOP_COUNT && t->one_at_a_time; i++) {
        gr_prepared_free(t->loop[i].ready);
        t->loop[i].ready = NULL;
    }
    gr_buffer **inputs = gr_heap_alloc((size_t)l->program->inputs_n + 1, sizeof(gr_buffer *));
    if (!inputs) return gr_report_oom(diags(t));
    for (uint32_t i = 0; i < t->slot_n; i++) {
        unsigned in = input_named(l->program, t->slot[i].name);
        if (in != UINT_MAX) inputs[in] = t->slot[i].buffer;
    }
    l->ready = gr_prepare(l->program, &(gr_prepare_desc){.inputs = inputs, .unrecorded = true});
    gr_heap_free(inputs);
    return l->ready != NULL;
}

static bool prepare(gr_training *t) {
    bool found = false;
    uint64_t budget = t->loop[GR_LOOP_STEP].program->plan.budget;
    for (int i = 0; i < GR_LOOP_COUNT; i++)
        if (t->loop[i].program && t->loop[i].program->plan.verdict == GR_RED) return gr_prepare(t->loop[i].program, NULL) != NULL;
    GR_TRY(make_buffers(t));
    t->one_at_a_time = budget && planned(t, false) > budget;
    for (int i = 0; i < GR_LOOP_COUNT && !t->one_at_a_time; i++)
        if (is_used(t, i)) GR_TRY(ready(t, &t->loop[i]));
    if (t->desc.resume && t->out.n) GR_TRY(gr_training_load(t, &found));
    return t->prepared = true;
}

/* ---- the loop ------------------------------------------------------------------------------ */

static void tell(gr_training *t, gr_train_event e) {
    e.steps = t->total;
    e.values_n = t->quantity_n;
    if (t->desc.on_event) t->desc.on_event(t->desc.user, &e);
}

static bool read_quantities(gr_training *t, gr_loop *l, gr_run run, double *out) {
    for (uint32_t i = 0; i < t->quantity_n; i++) {
        gr_tensor x = gr_result(l->ready, run, l->output[i]);
        gr_array a = {.dtype = x.dtype ? gr_dtype_find(gr_str_of(x.dtype)) : GR_DTYPE_NONE, .rank = x.rank, .data = (void *)(uintptr_t)x.data, .bytes = x.bytes};
        if (!x.dtype || !x.data) return false;
        out[i] = gr_array_get_f64(&a, 0);
    }
    return true;
}

static bool check_loss(gr_training *t, uint64_t step, double loss) {
    if (isfinite(loss)) return true;
    return gr_report(diags(t), GR_D_RUN_LOSS_NOT_FINITE, t->block->at, "take a smaller rate or a warmup, or look for a division or log of 0 with --tier debug",
                     "the loss of step %llu is %s", (unsigned long long)step + 1, isnan(loss) ? "no number" : loss > 0 ? "infinite" : "minus infinite");
}

/* Whether the step changed anything: its gradients were finite. In mixed precision the loss scale moves. */
static bool settle_factor(gr_training *t, gr_loop *l, gr_run run, uint64_t step, bool *taken) {
    const double least = 1.0 / 65536, most = 16777216;
    float factor;
    *taken = true;
    if (l->factor_output == UINT_MAX) return true;
    gr_tensor x = gr_result(l->ready, run, l->factor_output);
    if (!x.data || x.bytes != sizeof factor) return false;
    memcpy(&factor, x.data, sizeof factor);
    *taken = factor > 0;
    if (*taken) {
        if (!t->train->mixed || ++t->mixed.good < t->train->interval) return true;
        t->mixed.good = 0;
        if (t->mixed.scale * t->train->growth <= most) t->mixed.scale *= t->train->growth;
        return true;
    }
    if (!t->train->mixed)
        return gr_report(diags(t), GR_D_RUN_LOSS_NOT_FINITE, t->block->at, "take a smaller rate or a warmup", "the gradients of step %llu are infinite or no numbers", (unsigned long long)step + 1);
    t->mixed.good = 0;
    t->mixed.skipped++;
    t->mixed.scale *= t->train->backoff;
    return t->mixed.scale >= least || gr_report(diags(t), GR_D_RUN_LOSS_SCALE, t->block->at, "leave out \"precision\": the model does not fit f16, or diverges; a smaller rate may help",
                                                "at step %llu the loss scale fell below %g", (unsigned long long)step + 1, least);
}

/* Waits for the step in flight and takes its quantities. */
static bool land(gr_training *t) {
    bool taken;
    double row[3 + GR_TRAIN_QUANTITIES_MAX];
    gr_loop *l = t->flying.loop;
    if (!l) return true;
    t->flying.loop = NULL;
    GR_TRY(gr_wait(l->ready, t->flying.run) && read_quantities(t, l, t->flying.run, row + 3) && settle_factor(t, l, t->flying.run, t->flying.step, &taken));
    gr_release(l->ready, t->flying.run);
    uint64_t epoch = t->flying.step / t->per_epoch;
    row[0] = (double)t->flying.step + 1;
    row[1] = (double)epoch;
    row[2] = t->flying.rate;
    GR_TRY(gr_table_add(&t->curve, diags(t), row));
    tell(t, (gr_train_event){.kind = GR_TRAIN_EVENT_STEP, .step = t->flying.step + 1, .epoch = epoch, .rate = t->flying.rate, .values = row + 3});
    return !taken || check_loss(t, t->flying.step, row[3]);
}

static bool write_scalar(gr_loop *l, unsigned input, const char *dtype, const void *v) {
    gr_tensor x = {.dtype = dtype, .data = v, .bytes = 4};
    return input == UINT_MAX || gr_write(l->ready, input, &x);
}

/* Submits the next step; the one before it is read while this one runs. */
static bool launch(gr_training *t) {
    uint64_t n;
    const uint64_t *rows = gr_training_batch(t, t->step, &n);
    gr_loop *l = &t->loop[n == t->train->batch ? GR_LOOP_STEP : GR_LOOP_STEP_LAST];
    float rate = (float)gr_canvas_rate(t->train, t->step, t->declared);
    uint64_t taken = t->step - t->mixed.skipped; /* the optimizer has not seen the others */
    int32_t number = taken < INT32_MAX ? (int32_t)taken + 1 : INT32_MAX;
    float scale = (float)t->mixed.scale;
    if (t->flying.loop != l) GR_TRY(land(t));
    GR_TRY(ready(t, l));
    GR_TRY(gr_training_feed(t, l, rows) && write_scalar(l, l->step_input, "i32", &number) && write_scalar(l, l->rate_input, "f32", &rate) && write_scalar(l, l->scale_input, "f32", &scale));
    gr_run run = gr_submit(l->ready);
    if (!run || !land(t)) return false;
    t->flying.loop = l;
    t->flying.run = run;
    t->flying.step = t->step++;
    t->flying.rate = (double)rate;
    return !t->train->mixed || land(t); /* the next loss scale hangs on this step */
}

/* Means over the test rows, batch by batch. */
static bool measure(gr_training *t, double *mean) {
    double part[GR_TRAIN_QUANTITIES_MAX];
    uint64_t n;
    for (uint32_t i = 0; i < t->quantity_n; i++) mean[i] = 0;
    for (uint64_t at = 0; at < t->test_n; at += n) {
        gr_loop *l = &t->loop[t->test_n - at >= t->train->batch ? GR_LOOP_TEST : GR_LOOP_TEST_LAST];
        n = l->rows;
        GR_TRY(ready(t, l));
        GR_TRY(gr_training_feed(t, l, t->test_rows + at));
        gr_run run = gr_submit(l->ready);
        if (!run || !gr_wait(l->ready, run) || !read_quantities(t, l, run, part)) return false;
        gr_release(l->ready, run);
        for (uint32_t i = 0; i < t->quantity_n; i++) mean[i] += part[i] * (double)n / (double)t->test_n;
    }
    return true;
}

static bool evaluate(gr_training *t) {
    double row[2 + GR_TRAIN_QUANTITIES_MAX];
    GR_TRY(measure(t, row + 2) && check_loss(t, t->step - 1, row[2]));
    row[0] = (double)t->step;
    row[1] = (double)((t->step - 1) / t->per_epoch);
    double v = row[2 + t->watched];
    bool better = t->best_step == 0 || (t->train->greatest ? v > t->best + t->train->least : v < t->best - t->train->least);
    if (better) {
        t->best = v;
        t->best_step = t->step;
        t->waited = 0;
        GR_TRY(gr_slot_keep_best(t));
    } else {
        t->waited++;
    }
    t->gave_up = t->train->patience && t->waited >= t->train->patience;
    GR_TRY(gr_table_add(&t->evaluation, diags(t), row));
    tell(t, (gr_train_event){.kind = GR_TRAIN_EVENT_EVALUATED, .step = t->step, .epoch = (uint64_t)row[1], .values = row + 2, .best = better});
    return true;
}

static bool save(gr_training *t) {
    if (!t->out.n) return true;
    GR_TRY(gr_training_save(t));
    gr_str path = gr_training_checkpoint_path(t);
    tell(t, (gr_train_event){.kind = GR_TRAIN_EVENT_CHECKPOINT, .step = t->step, .path = path.p});
    return true;
}

/* What is due after step number t->step. An evaluation stands at the end of every so many epochs and at the very end; where the client
 * ends sooner than the document says, it comes behind the checkpoint, so that who goes on does not see it. */
static bool after_step(gr_training *t) {
    uint64_t every = t->train->evaluate_every * t->per_epoch;
    bool ended = t->step == t->total, cut = ended && t->step < t->declared && every && t->step % every;
    bool look = every && !cut && (t->step % every == 0 || ended);
    bool keep = t->train->checkpoint_every && t->step % t->train->checkpoint_every == 0;
    if (!look && !keep && !ended) return true;
    GR_TRY(land(t));
    if (look) GR_TRY(evaluate(t));
    if (keep || ended || t->gave_up) GR_TRY(save(t));
    return !cut || evaluate(t);
}

bool gr_training_run(gr_training *t, uint64_t steps) {
    if (!t->prepared) GR_TRY(prepare(t));
    uint64_t until = steps && steps < t->total - t->step ? t->step + steps : t->total;
    bool began = t->step < until && !t->gave_up;
    while (t->step < until && !t->gave_up && !t->stop)
        if (!launch(t) || !after_step(t)) {
            t->flying.loop = NULL;
            return false;
        }
    GR_TRY(land(t));
    if (t->stop && !gr_training_ended(t)) GR_TRY(save(t));
    if (began && gr_training_ended(t)) tell(t, (gr_train_event){.kind = GR_TRAIN_EVENT_ENDED, .step = t->step, .best = t->best_step == t->step});
    return true;
}

/* ---- what the client asks ---------------------------------------------------------------------- */

gr_program *gr_training_program(gr_training *t) { return t->loop[GR_LOOP_STEP].program; }
unsigned gr_training_quantities(const gr_training *t) { return t->quantity_n; }
const char *gr_training_quantity(const gr_training *t, unsigned i) { return i < t->quantity_n ? t->quantity[i].p : NULL; }
void gr_training_stop(gr_training *t) { t->stop = true; }
bool gr_training_stopped(const gr_training *t) { return t->stop; }
bool gr_training_ended(const gr_training *t) { return t->prepared && (t->step >= t->total || t->gave_up); }
uint64_t gr_training_step(const gr_training *t) { return t->step; }

unsigned gr_training_parameters(const gr_training *t) {
    unsigned n = 0;
    while (n < t->slot_n && !t->slot[n].is_state) n++;
    return n;
}

const char *gr_training_parameter_name(const gr_training *t, unsigned i) { return i < gr_training_parameters(t) ? t->slot[i].name.p : NULL; }

static gr_tensor tensor_of(const gr_array *x) {
    gr_tensor t = {.dtype = gr_dtype_name(x->dtype), .rank = x->rank, .data = x->data, .bytes = x->bytes};
    for (uint32_t i = 0; i < x->rank; i++) t.dims[i] = x->dims[i];
    return t;
}

gr_tensor gr_training_parameter(gr_training *t, unsigned i, bool best) {
    if (i >= gr_training_parameters(t) || (!t->prepared && !prepare(t))) return (gr_tensor){0};
    gr_slot *s = &t->slot[i];
    if (best && s->best.data) return tensor_of(&s->best);
    gr_heap_free(s->copy.data);
    s->copy = (gr_array){0};
    return gr_slot_read(t, s, &s->copy) ? tensor_of(&s->copy) : (gr_tensor){0};
}

bool gr_training_hash(gr_training *t, bool best, char out[72]) {
    gr_sha256_state h;
    gr_sha256_init(&h);
    for (unsigned i = 0; i < gr_training_parameters(t); i++) {
        gr_tensor x = gr_training_parameter(t, i, best);
        if (!x.dtype) return false;
        gr_sha256_update(&h, t->slot[i].name.p, t->slot[i].name.n + 1);
        gr_sha256_update(&h, x.dtype, strlen(x.dtype) + 1);
        for (unsigned k = 0; k < x.rank; k++) {
            uint8_t le[8];
            for (int b = 0; b < 8; b++) le[b] = (uint8_t)(x.dims[k] >> 8 * b);
            gr_sha256_update(&h, le, 8);
        }
        gr_sha256_update(&h, x.data, x.bytes);
    }
    gr_sha256_text(out, gr_sha256_final(&h));
    return true;
}

uint64_t gr_training_created_bytes(const gr_training *t) {
    uint64_t total = 0;
    for (int i = 0; i < GR_LOOP_COUNT; i++)
        if (t->loop[i].ready) total += gr_created_bytes(t->loop[i].ready);
    for (uint32_t i = 0; i < t->slot_n; i++)
        if (t->slot[i].buffer) total += t->slot[i].bytes < 16 ? 16 : (t->slot[i].bytes + 15) / 16 * 16;
    return total;
}
