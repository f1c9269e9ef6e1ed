/* gradcheck_print.c: what a gradcheck says, for people and as JSON. */
#include "regime/gradcheck_int.h"

/* Two digits: "2.2e-16". */
static void figure(gr_buf *b, double v) {
    if (v == 0) gr_buf_putc(b, '0');
    else gr_buf_printf(b, v >= 0.01 && v < 100 ? "%.2g" : "%.1e", v);
}

static const char *state_name(gr_gradcheck_state s) {
    static const char *const t[] = {"unset", "passed", "failed", "none"};
    return t[s];
}

static double worst_control(const gr_gradcheck *c) {
    double worst = 0;
    for (int i = 0; i < GR_CORRUPT_COUNT; i++)
        if (c->control[i].worst > worst) worst = c->control[i].worst;
    return worst;
}

static bool controls_hold(const gr_gradcheck *c) {
    bool ok = c->control[GR_CORRUPT_OFFSET].offered > 0;
    for (int i = 0; i < GR_CORRUPT_COUNT; i++) ok = ok && (!c->control[i].offered || c->control[i].rejected);
    return ok;
}

static void print_line(gr_buf *b, size_t begin, bool passed) {
    size_t width = b->n - begin;
    gr_buf_printf(b, "%*s%s\n", width < 57 ? (int)(57 - width) : 1, "", passed ? "PASS" : "FAIL");
}

void gr_gradcheck_print(gr_buf *b, const gr_gradcheck *c) {
    gr_buf_printf(b, "gradcheck  %.*s   ", GR_STR_ARG(c->op->id));
    if (c->state == GR_GRADCHECK_NONE) {
        gr_buf_printf(b, "none: %.*s\n", GR_STR_ARG(c->reason));
        return;
    }
    gr_buf_printf(b, "%u cases, oracle, f64%s\n", c->cases, c->options.second ? ", second derivatives" : "");
    gr_buf_printf(b, "  probes    %llu live, %llu skipped (order crossing within h)\n", (unsigned long long)c->live, (unsigned long long)c->skipped);
    gr_buf_printf(b, "  grid      %llu live, %llu skipped (zeros and ties)\n", (unsigned long long)c->grid_live, (unsigned long long)c->grid_skipped);
    size_t begin = b->n;
    gr_buf_puts(b, "  worst     dual ");
    figure(b, c->worst_dual);
    gr_buf_puts(b, ", differences ");
    figure(b, c->worst_differences);
    print_line(b, begin, c->shrunk.n == 0 && c->live > 0);
    begin = b->n;
    if (controls_hold(c)) {
        gr_buf_puts(b, "  control   corrupted vjp rejected (worst ");
        figure(b, worst_control(c));
        gr_buf_putc(b, ')');
    } else {
        gr_buf_puts(b, "  control   corrupted vjp not rejected");
    }
    print_line(b, begin, controls_hold(c));
    if (c->device_ran) {
        begin = b->n;
        gr_buf_printf(b, "  device    %u cases, %llu elements, worst ", c->device_cases, (unsigned long long)c->device_counts.passed);
        figure(b, c->device_worst);
        gr_buf_puts(b, " of the tolerance");
        print_line(b, begin, c->device_counts.failed == 0 && c->device_counts.passed);
        gr_buf_printf(b, "            on %.*s\n", GR_STR_ARG(c->adapter));
    }
    if (c->state == GR_GRADCHECK_PASSED) return;
    gr_buf_printf(b, "\n%.*s\n", GR_STR_ARG(c->reason));
    if (c->shrunk.n) gr_buf_printf(b, "smallest case: %.*s\n%.*s", GR_STR_ARG(c->shrunk), GR_STR_ARG(c->failure));
}

static bool put(gr_arena *a, gr_value *o, const char *key, gr_str s) { return gr_value_set(a, o, key, gr_value_new_str(a, s)); }
static bool put_count(gr_arena *a, gr_value *o, const char *key, uint64_t n) { return gr_value_set(a, o, key, gr_value_new_i64(a, (int64_t)n)); }
static bool put_f64(gr_arena *a, gr_value *o, const char *key, double v) { return gr_value_set(a, o, key, gr_value_new_f64(a, v)); }

static gr_value *controls_value(gr_arena *a, const gr_gradcheck *c) {
    gr_value *list = gr_value_new(a, GR_V_ARRAY);
    for (int i = 0; list && i < GR_CORRUPT_COUNT; i++) {
        gr_value *o = gr_value_new(a, GR_V_OBJECT);
        bool ok = o && put(a, o, "corruption", gr_str_of(c->control[i].name)) && put_count(a, o, "offered", c->control[i].offered) &&
                  put_count(a, o, "rejected", c->control[i].rejected) && put_f64(a, o, "worst", c->control[i].worst);
        if (!ok || !gr_value_push(a, list, o)) return NULL;
    }
    return list;
}

static bool put_device(gr_arena *a, gr_value *o, const gr_gradcheck *c) {
    gr_value *v = gr_value_new(a, GR_V_OBJECT);
    const gr_counts *n = &c->device_counts;
    return v && put(a, v, "adapter", c->adapter) && put_count(a, v, "cases", c->device_cases) && put_count(a, v, "passed", n->passed) &&
           put_count(a, v, "ambiguous", n->ambiguous) && put_count(a, v, "unresolved", n->unresolved) && put_count(a, v, "out_of_domain", n->out_of_domain) &&
           put_count(a, v, "failed", n->failed) && put_f64(a, v, "worst_over_bound", c->device_worst) && gr_value_set(a, o, "device", v);
}

gr_value *gr_gradcheck_value(gr_arena *a, const gr_gradcheck *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    if (!o || !put(a, o, "op", c->op->id) || !put(a, o, "state", gr_str_of(state_name(c->state)))) return NULL;
    if (c->state == GR_GRADCHECK_NONE) return put(a, o, "reason", c->reason) ? o : NULL;
    gr_value *controls = controls_value(a, c);
    bool ok = controls && put_count(a, o, "order", c->options.second ? 2 : 1) && put_f64(a, o, "bound", GR_GRADCHECK_BOUND) &&
              put_count(a, o, "seed", c->options.seed) && put_count(a, o, "cases", c->cases) && put_count(a, o, "live", c->live) &&
              put_count(a, o, "skipped", c->skipped) && put_count(a, o, "grid_live", c->grid_live) && put_count(a, o, "grid_skipped", c->grid_skipped) &&
              put_count(a, o, "unresolved", c->unresolved) && put_count(a, o, "out_of_domain", c->out_of_domain) &&
              put_f64(a, o, "worst_dual", c->worst_dual) && put_f64(a, o, "worst_differences", c->worst_differences) &&
              gr_value_set(a, o, "controls", controls);
    if (ok && c->device_ran) ok = put_device(a, o, c);
    if (ok && c->state == GR_GRADCHECK_FAILED) ok = put(a, o, "reason", c->reason) && put(a, o, "shrunk", c->shrunk) && put(a, o, "failure", c->failure);
    return ok ? o : NULL;
}
