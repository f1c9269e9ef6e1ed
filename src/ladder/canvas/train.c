/* Training as a document says it: the keys of a train block, of a parameter's initial values and of an input's windows. */
#include "ladder/canvas/canvas_int.h"
#include "base/lex.h"
#include "base/math.h"

#include <math.h>

/* One object of the document being read. */
typedef struct reader {
    gr_arena *a;
    gr_diags *d;
    const gr_doc *doc;
    const gr_value *o;
    gr_diag_name name; /* what a value out of its range is */
} reader;

static bool bad(const reader *r, const char *key, const char *hint, const char *what) {
    const gr_value *v = gr_value_get(r->o, key);
    return gr_report(r->d, r->name, gr_value_place(r->doc, v ? v : r->o, r->a), hint, "\"%s\" %s", key, what);
}

/* A number of [lo, hi]; an absent key leaves *out. */
static bool number(const reader *r, const char *key, bool need, double lo, double hi, const char *hint, double *out) {
    double v = *out;
    GR_TRY(gr_value_f64(r->a, r->d, r->doc, r->o, key, need, &v));
    if (!(v >= lo && v <= hi) && gr_value_get(r->o, key)) return bad(r, key, hint, "is out of its range");
    *out = v;
    return true;
}

static bool count(const reader *r, const char *key, bool need, int64_t lo, int64_t hi, const char *hint, uint64_t *out) {
    int64_t v = (int64_t)*out;
    GR_TRY(gr_value_i64(r->a, r->d, r->doc, r->o, key, need, &v));
    if ((v < lo || v > hi) && gr_value_get(r->o, key)) return bad(r, key, hint, "is out of its range");
    *out = (uint64_t)v;
    return true;
}

/* The number of a word in a list that ends with NULL, from 1; 0 when absent, *ok false when it is another word. */
static int word(const reader *r, const gr_value *o, const char *key, const char *const *words, bool *ok) {
    gr_str s = {0};
    if (!gr_value_str(r->a, r->d, r->doc, o, key, false, &s)) return *ok = false;
    if (!s.p) return 0;
    gr_buf all = {0};
    for (int i = 0; words[i]; i++) {
        if (gr_str_eqz(s, words[i])) return gr_buf_free(&all), i + 1;
        gr_buf_printf(&all, "%s%s", i ? ", " : "", words[i]);
    }
    gr_report(r->d, r->name, gr_value_place(r->doc, gr_value_get(o, key), r->a), NULL, "\"%s\" is \"%.*s\"", key, s.n > 60 ? 60 : (int)s.n, s.p);
    gr_report_hint(r->d, "write one of %s", all.p ? all.p : "");
    gr_buf_free(&all);
    return *ok = false;
}

/* The object under a key, with its keys known; *out NULL when absent. */
static bool object(const reader *r, const char *key, bool need, const char *const *keys, reader *out) {
    gr_value *v = NULL;
    *out = *r;
    GR_TRY(gr_value_object(r->a, r->d, r->doc, r->o, key, need, &v));
    out->o = v;
    return !v || gr_value_known(r->a, r->d, r->doc, v, keys);
}

/* ---- windows --------------------------------------------------------------------- */

bool gr_canvas_read_window(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n) {
    static const char *const keys[] = {"size", "stride", NULL};
    const reader r = {a, d, doc, o, GR_D_CANVAS_WINDOW_BAD};
    reader w;
    GR_TRY(object(&r, "window", false, keys, &w));
    if (!w.o) return true;
    n->stride = 1;
    if (!n->file.n) return bad(&r, "window", "give the input a \"file\": its data is cut into windows", "stands on an input without a file");
    bool ok = count(&w, "size", true, 1, INT32_MAX, "write the elements of a window, 1 or more", &n->window);
    return count(&w, "stride", false, 1, INT32_MAX, "write the elements between the starts of two windows, 1 or more", &n->stride) && ok;
}

bool gr_canvas_read_stream(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n) {
    static const char *const words[] = {"memory", "disk", NULL};
    reader r = {a, d, doc, o, GR_D_CANVAS_STREAM_BAD};
    bool ok = true;
    n->on_disk = word(&r, o, "stream", words, &ok) == 2;
    if (!ok || !n->on_disk) return ok;
    if (!n->file.n) return bad(&r, "stream", "give the input a \"file\"", "stands on an input without a file");
    return !n->window || bad(&r, "stream", "leave out one of the two", "stands beside \"window\"");
}

/* ---- initial values ------------------------------------------------------------------ */

static const char *const init_words[] = {"zeros", "ones", "constant", "uniform", "normal", "lecun_uniform", "lecun_normal",
                                         "kaiming_uniform", "kaiming_normal", "xavier_uniform", "xavier_normal", NULL};

static bool read_init_object(reader *r, gr_canvas_init *i) {
    static const char *const keys[] = {"kind", "value", "low", "high", "mean", "deviation", "gain", "fan_in", "fan_out", NULL};
    const double most = 1e30;
    bool ok = gr_value_known(r->a, r->d, r->doc, r->o, keys);
    i->kind = (gr_init)word(r, r->o, "kind", init_words, &ok);
    if (!i->kind && ok) return bad(r, "kind", "write { \"kind\": \"kaiming_uniform\" }", "is missing");
    if (i->kind == GR_INIT_CONSTANT) return number(r, "value", true, -most, most, "write a number", &i->a) && ok;
    if (i->kind == GR_INIT_UNIFORM) {
        ok = number(r, "low", true, -most, most, "write a number", &i->a) && number(r, "high", true, -most, most, "write a number", &i->b) && ok;
        return ok && i->a > i->b ? bad(r, "low", "write the lesser number first", "is over \"high\"") : ok;
    }
    if (i->kind == GR_INIT_NORMAL) {
        i->b = 1;
        ok = number(r, "mean", false, -most, most, "write a number", &i->a) && ok;
        return number(r, "deviation", false, 0, most, "write a number from 0 on", &i->b) && ok;
    }
    i->gain = 1;
    ok = number(r, "gain", false, 0, most, "write a number from 0 on", &i->gain) && ok;
    ok = number(r, "fan_in", false, 1, 1e15, "write how many inputs a result has, 1 or more", &i->fan_in) && ok;
    return number(r, "fan_out", false, 1, 1e15, "write how many results an input goes into, 1 or more", &i->fan_out) && ok;
}

/* Initial values need sizes that data does not give. */
static bool check_init(reader *r, const gr_canvas_node *n) {
    bool fixed = n->shape_given;
    for (uint32_t k = 0; k < n->shape_n; k++) fixed = fixed && n->shape[k].fixed;
    if (n->file.n) return bad(r, "init", "keep one of the two", "stands beside a \"file\"");
    if (!fixed) return bad(r, "init", "declare \"shape\" with numbers: [64, 32]", "needs a shape of fixed sizes");
    return !n->dtype || gr_dtype_is_float(n->dtype) || bad(r, "init", "declare \"dtype\": \"f32\", or none", "is for floats");
}

bool gr_canvas_read_init(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n) {
    reader r = {a, d, doc, o, GR_D_CANVAS_INIT_BAD};
    const gr_value *v = gr_value_get(o, "init");
    bool ok = true;
    if (!v) return true;
    n->init = (gr_canvas_init){.gain = 1, .b = 1};
    if (v->kind == GR_V_STRING) {
        n->init.kind = (gr_init)word(&r, o, "init", init_words, &ok);
        if (ok && (n->init.kind == GR_INIT_CONSTANT || n->init.kind == GR_INIT_UNIFORM))
            return bad(&r, "init", "write { \"kind\": \"uniform\", \"low\": -0.1, \"high\": 0.1 } or { \"kind\": \"constant\", \"value\": 1 }", "needs numbers");
    } else {
        reader i = r;
        i.o = v;
        if (v->kind != GR_V_OBJECT) return bad(&r, "init", "write \"zeros\" or { \"kind\": \"normal\", \"deviation\": 0.02 }", "is neither a word nor an object");
        ok = read_init_object(&i, &n->init);
    }
    return ok && check_init(&r, n);
}

void gr_canvas_print_init(gr_buf *out, const gr_canvas_init *i) {
    const struct { const char *key; double v, unless; bool there; } all[] = {
        {"value", i->a, (double)NAN, i->kind == GR_INIT_CONSTANT},  {"low", i->a, (double)NAN, i->kind == GR_INIT_UNIFORM},
        {"high", i->b, (double)NAN, i->kind == GR_INIT_UNIFORM},    {"mean", i->a, 0, i->kind == GR_INIT_NORMAL},
        {"deviation", i->b, 1, i->kind == GR_INIT_NORMAL},          {"gain", i->gain, 1, i->kind >= GR_INIT_LECUN_UNIFORM},
        {"fan_in", i->fan_in, 0, i->kind >= GR_INIT_LECUN_UNIFORM}, {"fan_out", i->fan_out, 0, i->kind >= GR_INIT_LECUN_UNIFORM}};
    gr_buf_printf(out, ", \"init\": { \"kind\": \"%s\"", init_words[i->kind - 1]);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (!all[k].there || !(all[k].v < all[k].unless || all[k].v > all[k].unless || isnan(all[k].unless))) continue;
        gr_buf_printf(out, ", \"%s\": ", all[k].key);
        gr_buf_f64(out, all[k].v);
    }
    gr_buf_puts(out, " }");
}

/* ---- the train block ------------------------------------------------------------------ */

static const char *const schedules[] = {"constant", "step", "cosine", "ramp", NULL};

static bool read_optimizer(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"op", "params", NULL};
    const gr_value *v = gr_value_get(r->o, "optimizer");
    gr_value *params = NULL;
    reader p;
    if (v && v->kind == GR_V_STRING) {
        t->op = v->s;
        return t->op.n || bad(r, "optimizer", "name an op that has an [optimizer] table; see `gradus catalog`", "names no op");
    }
    GR_TRY(object(r, "optimizer", true, keys, &p));
    bool ok = gr_value_str(r->a, r->d, r->doc, p.o, "op", true, &t->op);
    ok = gr_value_object(r->a, r->d, r->doc, p.o, "params", false, &params) && ok;
    t->params = params;
    return ok;
}

static bool read_rate(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"schedule", "first", "last", "factor", "every", "warmup", NULL};
    static const char hint[] = "write a number over 0, such as 0.001";
    const gr_value *v = gr_value_get(r->o, "rate");
    reader p;
    bool ok = true;
    t->schedule = GR_SCHEDULE_CONSTANT;
    t->factor = 0.1;
    if (!v || v->kind == GR_V_INT || v->kind == GR_V_FLOAT) return number(r, "rate", true, 1e-30, 1e30, hint, &t->rate);
    GR_TRY(object(r, "rate", true, keys, &p));
    int s = word(&p, p.o, "schedule", schedules, &ok);
    if (s) t->schedule = (gr_schedule)s;
    ok = number(&p, "first", true, 1e-30, 1e30, hint, &t->rate) && ok;
    ok = number(&p, "last", false, 0, 1e30, "write a number from 0 on", &t->last_rate) && ok;
    ok = number(&p, "factor", false, 1e-30, 1, "write a number over 0 and up to 1", &t->factor) && ok;
    ok = count(&p, "warmup", false, 0, INT32_MAX, "write a number of steps", &t->warmup) && ok;
    ok = count(&p, "every", t->schedule == GR_SCHEDULE_STEP, 1, INT32_MAX, "write a number of steps, 1 or more", &t->every) && ok;
    bool ends = t->schedule == GR_SCHEDULE_COSINE || t->schedule == GR_SCHEDULE_RAMP;
    if (!ends && gr_value_get(p.o, "last")) ok = bad(&p, "last", "take the schedule cosine or ramp", "belongs to another schedule");
    if (t->schedule != GR_SCHEDULE_STEP && (gr_value_get(p.o, "factor") || gr_value_get(p.o, "every")))
        ok = bad(&p, gr_value_get(p.o, "factor") ? "factor" : "every", "take the schedule step", "belongs to another schedule");
    return ok;
}

static bool read_batch(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"dimension", "size", "order", "last", NULL}, *const orders[] = {"shuffled", "given", NULL},
                      *const lasts[] = {"partial", "drop", NULL};
    reader p;
    GR_TRY(object(r, "batch", true, keys, &p));
    bool ok = gr_value_str(r->a, r->d, r->doc, p.o, "dimension", true, &t->dimension);
    if (ok && !gr_symbol_valid(t->dimension)) ok = bad(&p, "dimension", "write the name of a dimension of the inputs, such as \"n\"", "is no name");
    ok = count(&p, "size", true, 1, INT32_MAX, "write a number of rows, 1 or more", &t->batch) && ok;
    t->in_order = word(&p, p.o, "order", orders, &ok) == 2;
    t->drop_last = word(&p, p.o, "last", lasts, &ok) == 2;
    return ok;
}

static bool read_evaluate(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"part", "rows", "every", NULL}, *const rows[] = {"drawn", "last", NULL};
    reader p;
    GR_TRY(object(r, "evaluate", false, keys, &p));
    if (!p.o) return true;
    bool ok = true;
    t->evaluate_every = 1;
    ok = number(&p, "part", true, 1e-9, 0.999999, "write the part of the rows to keep for evaluation: over 0, below 1", &t->test);
    t->test_last = word(&p, p.o, "rows", rows, &ok) == 2;
    return count(&p, "every", false, 1, INT32_MAX, "write a number of epochs, 1 or more", &t->evaluate_every) && ok;
}

static bool read_stop(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"metric", "best", "patience", "difference", NULL}, *const bests[] = {"least", "greatest", NULL};
    reader p;
    t->metric = GR_STR("loss");
    GR_TRY(object(r, "stop", false, keys, &p));
    if (!p.o) return true;
    bool ok = gr_value_str(r->a, r->d, r->doc, p.o, "metric", false, &t->metric);
    t->greatest = word(&p, p.o, "best", bests, &ok) == 2;
    ok = count(&p, "patience", false, 1, INT32_MAX, "write a number of evaluations, 1 or more", &t->patience) && ok;
    ok = number(&p, "difference", false, 0, 1e30, "write a number from 0 on", &t->least) && ok;
    return t->evaluate_every ? ok : bad(r, "stop", "add \"evaluate\": { \"part\": 0.2 }", "needs an evaluation to look at");
}

static bool read_length(const reader *r, gr_canvas_train *t) {
    static const char hint[] = "write a number, 1 or more";
    bool ok = count(r, "epochs", false, 1, INT32_MAX, hint, &t->epochs);
    ok = count(r, "steps", false, 1, INT32_MAX, hint, &t->steps) && ok;
    if (ok && !t->epochs == !t->steps)
        ok = gr_report(r->d, r->name, gr_value_place(r->doc, r->o, r->a), "write \"epochs\": 20, or \"steps\": 1000",
                       "a train block needs %s of \"epochs\" and \"steps\"", t->epochs ? "only one" : "one");
    return ok;
}

static bool read_checkpoint(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"every", NULL};
    reader p;
    GR_TRY(object(r, "checkpoint", false, keys, &p));
    return !p.o || count(&p, "every", true, 1, INT32_MAX, "write a number of steps, 1 or more", &t->checkpoint_every);
}

static bool read_clip(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"norm", "value", NULL};
    static const char hint[] = "write a number over 0";
    reader p;
    GR_TRY(object(r, "clip", false, keys, &p));
    if (!p.o) return true;
    bool ok = number(&p, "norm", false, 1e-30, 1e30, hint, &t->clip_norm);
    ok = number(&p, "value", false, 1e-30, 1e30, hint, &t->clip_value) && ok;
    return ok && !(t->clip_norm > 0) == !(t->clip_value > 0) ? bad(r, "clip", "write { \"norm\": 1 } or { \"value\": 0.5 }", "needs one of \"norm\" and \"value\"") : ok;
}

/* The constants are those that PyTorch's GradScaler starts from. */
static bool read_precision(const reader *r, gr_canvas_train *t) {
    static const char *const keys[] = {"kind", "scale", "growth", "backoff", "interval", NULL}, *const kinds[] = {"full", "mixed", NULL};
    const gr_value *v = gr_value_get(r->o, "precision");
    reader p = *r;
    bool ok = true;
    t->scale = 65536;
    t->growth = 2;
    t->backoff = 0.5;
    t->interval = 2000;
    if (!v) return true;
    if (v->kind == GR_V_STRING) return t->mixed = word(r, r->o, "precision", kinds, &ok) == 2, ok;
    GR_TRY(object(r, "precision", true, keys, &p));
    t->mixed = word(&p, p.o, "kind", kinds, &ok) == 2;
    ok = number(&p, "scale", false, 1, 16777216, "write a number from 1 to 16777216", &t->scale) && ok;
    ok = number(&p, "growth", false, 1, 1024, "write a number from 1 on", &t->growth) && ok;
    ok = number(&p, "backoff", false, 1e-6, 0.999999, "write a number over 0 and below 1", &t->backoff) && ok;
    ok = count(&p, "interval", false, 1, INT32_MAX, "write a number of steps, 1 or more", &t->interval) && ok;
    return !ok || t->mixed || bad(&p, "kind", "write \"mixed\", or leave \"precision\" out", "is not \"mixed\": there is nothing to scale");
}

bool gr_canvas_read_train(gr_arena *a, gr_diags *d, const gr_doc *doc, const gr_value *o, gr_canvas_node *n) {
    const reader r = {a, d, doc, o, GR_D_CANVAS_TRAIN_BAD};
    gr_canvas_train *t = GR_NEW(a, gr_canvas_train);
    uint64_t segments = 0;
    if (!t) return gr_report_oom(d);
    n->train = t;
    bool ok = read_optimizer(&r, t);
    ok = read_rate(&r, t) && ok;
    ok = read_batch(&r, t) && ok;
    ok = read_length(&r, t) && ok;
    ok = read_evaluate(&r, t) && ok;
    ok = read_stop(&r, t) && ok;
    ok = read_checkpoint(&r, t) && ok;
    ok = read_clip(&r, t) && ok;
    ok = read_precision(&r, t) && ok;
    ok = count(&r, "segments", false, 0, 100000, "write a number of segments; 0 computes nothing again", &segments) && ok;
    t->segments = (uint32_t)segments;
    return ok;
}

/* ---- printing ---------------------------------------------------------------------------- */

static void put_number(gr_buf *out, const char *key, double v) {
    gr_buf_printf(out, ", \"%s\": ", key);
    gr_buf_f64(out, v);
}

static void put_count(gr_buf *out, const char *key, uint64_t v) { gr_buf_printf(out, ", \"%s\": %llu", key, (unsigned long long)v); }

static void print_rate(gr_buf *out, const gr_canvas_train *t) {
    gr_buf_printf(out, ", \"rate\": { \"schedule\": \"%s\"", schedules[t->schedule - 1]);
    put_number(out, "first", t->rate);
    if (t->last_rate > 0) put_number(out, "last", t->last_rate);
    if (t->schedule == GR_SCHEDULE_STEP) put_number(out, "factor", t->factor), put_count(out, "every", t->every);
    if (t->warmup) put_count(out, "warmup", t->warmup);
    gr_buf_puts(out, " }");
}

static void print_watch(gr_buf *out, const gr_canvas_train *t) {
    if (!t->evaluate_every) return;
    gr_buf_puts(out, ", \"evaluate\": { \"part\": ");
    gr_buf_f64(out, t->test);
    if (t->test_last) gr_buf_puts(out, ", \"rows\": \"last\"");
    if (t->evaluate_every > 1) put_count(out, "every", t->evaluate_every);
    gr_buf_puts(out, " }, \"stop\": { \"metric\": ");
    gr_json_string(out, t->metric);
    if (t->greatest) gr_buf_puts(out, ", \"best\": \"greatest\"");
    if (t->patience) put_count(out, "patience", t->patience);
    if (t->least > 0) put_number(out, "difference", t->least);
    gr_buf_puts(out, " }");
}

void gr_canvas_print_train(gr_buf *out, const gr_canvas_train *t) {
    gr_buf_puts(out, ", \"optimizer\": { \"op\": ");
    gr_json_string(out, t->op);
    if (t->params) {
        gr_buf_puts(out, ", \"params\": ");
        gr_json_inline(out, t->params);
    }
    gr_buf_puts(out, " }");
    print_rate(out, t);
    gr_buf_puts(out, ", \"batch\": { \"dimension\": ");
    gr_json_string(out, t->dimension);
    put_count(out, "size", t->batch);
    if (t->in_order) gr_buf_puts(out, ", \"order\": \"given\"");
    if (t->drop_last) gr_buf_puts(out, ", \"last\": \"drop\"");
    gr_buf_puts(out, " }");
    put_count(out, t->epochs ? "epochs" : "steps", t->epochs ? t->epochs : t->steps);
    print_watch(out, t);
    if (t->checkpoint_every) gr_buf_printf(out, ", \"checkpoint\": { \"every\": %llu }", (unsigned long long)t->checkpoint_every);
    if (t->clip_norm > 0 || t->clip_value > 0) {
        gr_buf_printf(out, ", \"clip\": { \"%s\": ", t->clip_norm > 0 ? "norm" : "value");
        gr_buf_f64(out, t->clip_norm > 0 ? t->clip_norm : t->clip_value);
        gr_buf_puts(out, " }");
    }
    if (t->mixed) {
        gr_buf_puts(out, ", \"precision\": { \"kind\": \"mixed\"");
        put_number(out, "scale", t->scale), put_number(out, "growth", t->growth), put_number(out, "backoff", t->backoff);
        put_count(out, "interval", t->interval);
        gr_buf_puts(out, " }");
    }
    if (t->segments) put_count(out, "segments", t->segments);
}

/* ---- what is asked of it ------------------------------------------------------------------- */

const gr_canvas_node *gr_canvas_training(const gr_canvas *c) {
    for (uint32_t i = 0; i < c->nodes_n; i++)
        if (c->nodes[i].block == GR_BLOCK_TRAIN) return &c->nodes[i];
    return NULL;
}

/* Warm-up rises linearly and ends at the full rate; the rest of the steps goes down the schedule. */
double gr_canvas_rate(const gr_canvas_train *t, uint64_t step, uint64_t total) {
    if (step < t->warmup) return t->rate * (double)(step + 1) / (double)t->warmup;
    uint64_t at = step - t->warmup, of = total > t->warmup ? total - t->warmup : 1;
    double x = of > 1 ? (double)at / (double)(of - 1) : 0;
    if (x > 1) x = 1;
    switch (t->schedule) {
    case GR_SCHEDULE_STEP: return t->rate * gr_pow(t->factor, (double)(at / t->every));
    case GR_SCHEDULE_COSINE: return t->last_rate + (t->rate - t->last_rate) * 0.5 * (1 + gr_cos(3.14159265358979323846 * x));
    case GR_SCHEDULE_RAMP: return t->rate + (t->last_rate - t->rate) * x;
    default: return t->rate;
    }
}
