/* print.c: what a conformance says, for people and as JSON. */
#include "regime/conform_int.h"

static void print_operands(gr_buf *b, const gr_trial *t) {
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) {
        if (t->in[i].dtype == GR_DTYPE_NONE) continue;
        const gr_sig *s = &t->c.call.op->sig;
        uint32_t o = 0;
        while (o + 1 < s->operands_n && t->c.call.operand_first[o + 1] <= i) o++;
        gr_buf_printf(b, "  %.*s = ", GR_STR_ARG(s->operands[o].name));
        gr_array_print(b, &t->in[i], 32);
    }
}

static void print_output(gr_buf *b, const char *what, const gr_array *x, const gr_fail *f) {
    gr_buf_printf(b, "  %s", what);
    if (f->has_element) {
        gr_buf_printf(b, "[%llu] ", (unsigned long long)f->at);
        gr_array_print_element(b, x, f->at);
        gr_buf_puts(b, " of ");
    } else {
        gr_buf_putc(b, ' ');
    }
    gr_array_print(b, x, 16);
}

void gr_failure_print(gr_buf *b, const gr_trial *t, gr_values v, const gr_fail *f) {
    gr_buf_printf(b, "  %s, %s values\n", f->reason, gr_values_name(v));
    print_operands(b, t);
    if (t->has_truth && f->output < t->truth.out_n) print_output(b, "expected", &t->y[f->output].expected, f);
    if (t->has_got && f->output < t->truth.out_n) print_output(b, "got", &t->got[f->output], f);
    if (!f->has_element) return;
    gr_buf_puts(b, "  bound ");
    gr_buf_f64(b, f->tolerance);
    gr_buf_putc(b, '\n');
}

static const char *control_text(gr_control_state s) {
    static const char *const t[] = {"not tried", "rejected", "equivalent", "accepted"};
    return t[s];
}

void gr_conformance_print(gr_buf *b, const gr_conformance *c) {
    gr_buf_printf(b, "conform  %.*s on %.*s\n", GR_STR_ARG(c->op->id), GR_STR_ARG(c->device.adapter));
    gr_buf_printf(b, "  class     %s, suite %s\n", gr_tolerance_name(c->op->tolerance), GR_SUITE_VERSION);
    gr_buf_printf(b, "  cases     %u of shape and parameters, %u runs", c->cases, c->runs);
    if (c->skipped) gr_buf_printf(b, ", %u without a kernel here", c->skipped);
    for (uint32_t i = 0; c->kernels_n > 1 && i < c->kernels_n; i++)
        gr_buf_printf(b, "%s%.*s %u", i ? ", " : "\n  kernels   ", GR_STR_ARG(c->op->kernels[i].file), c->reached[i]);
    gr_buf_printf(b, "\n  elements  %llu passed, %llu ambiguous, %llu unresolved, %llu out of domain, %llu failed\n",
                  (unsigned long long)c->counts.passed, (unsigned long long)c->counts.ambiguous, (unsigned long long)c->counts.unresolved,
                  (unsigned long long)c->counts.out_of_domain, (unsigned long long)c->counts.failed);
    gr_buf_puts(b, "  worst     ");
    gr_buf_f64(b, (double)(int64_t)(c->worst * 1000 + 0.5) / 1000);
    gr_buf_puts(b, " of the tolerance\n");
    for (uint32_t i = 0; i < GR_CONTROLS && c->controls[i].name; i++)
        gr_buf_printf(b, "  control   %s %s\n", c->controls[i].name, control_text(c->controls[i].state));
    gr_buf_printf(b, "  verdict   %s\n", c->passed ? "PASS" : "FAIL");
    if (c->passed) return;
    gr_buf_printf(b, "\n%.*s\n", GR_STR_ARG(c->reason));
    if (c->shrunk.n) gr_buf_printf(b, "smallest case: %.*s\n%.*s", GR_STR_ARG(c->shrunk), GR_STR_ARG(c->failure));
}

static bool put(gr_arena *a, gr_value *o, const char *key, gr_str s) { return gr_value_set(a, o, key, gr_value_new_str(a, s)); }

static bool put_hash(gr_arena *a, gr_value *o, const char *key, gr_sha256 h) {
    char text[72];
    gr_sha256_text(text, h);
    return put(a, o, key, gr_str_dup(a, gr_str_of(text)));
}

static bool put_count(gr_arena *a, gr_value *o, const char *key, uint64_t n) { return gr_value_set(a, o, key, gr_value_new_i64(a, (int64_t)n)); }

static gr_value *counts_value(gr_arena *a, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    bool ok = o && put_count(a, o, "cases", c->cases) && put_count(a, o, "runs", c->runs) && put_count(a, o, "skipped", c->skipped) &&
              put_count(a, o, "passed", c->counts.passed) && put_count(a, o, "ambiguous", c->counts.ambiguous) &&
              put_count(a, o, "unresolved", c->counts.unresolved) && put_count(a, o, "out_of_domain", c->counts.out_of_domain) &&
              put_count(a, o, "failed", c->counts.failed);
    return ok ? o : NULL;
}

static gr_value *controls_value(gr_arena *a, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    for (uint32_t i = 0; o && i < GR_CONTROLS && c->controls[i].name; i++)
        if (!put(a, o, c->controls[i].name, gr_str_of(control_text(c->controls[i].state)))) return NULL;
    return o;
}

static gr_value *reached_value(gr_arena *a, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_ARRAY);
    for (uint32_t i = 0; o && i < c->kernels_n; i++)
        if (!gr_value_push(a, o, gr_value_new_i64(a, c->reached[i]))) return NULL;
    return o;
}

gr_value *gr_conformance_value(gr_arena *a, const gr_conformance *c) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT), *kernels = gr_value_new(a, GR_V_ARRAY);
    if (!o || !kernels) return NULL;
    for (uint32_t i = 0; i < c->kernels_n; i++) gr_value_push(a, kernels, gr_value_new_str(a, c->kernels[i]));
    bool ok = put(a, o, "kind", GR_STR("conformance")) && put(a, o, "op", c->op->id) &&
              put_hash(a, o, "op_hash", c->op->hash) && put_hash(a, o, "contract", c->contract) && put_hash(a, o, "reference", c->reference) &&
              gr_value_set(a, o, "kernels", kernels) && gr_value_set(a, o, "kernel_cases", reached_value(a, c)) && put(a, o, "suite", GR_STR(GR_SUITE_VERSION)) && put_hash(a, o, "seed", c->seed) &&
              put(a, o, "tolerance", gr_str_of(gr_tolerance_name(c->op->tolerance))) && gr_value_set(a, o, "counts", counts_value(a, c)) &&
              gr_value_set(a, o, "worst_over_bound", gr_value_new_f64(a, c->worst)) && gr_value_set(a, o, "controls", controls_value(a, c)) &&
              put(a, o, "executor", gr_str_of(c->device.api->name)) && put(a, o, "adapter", c->device.adapter) &&
              (!c->device.profile || gr_value_set(a, o, "profile", c->device.profile)) && put(a, o, "engine", c->device.engine) &&
              gr_value_set(a, o, "passed", gr_value_new_bool(a, c->passed)) && put(a, o, "reason", c->reason) && put(a, o, "shrunk", c->shrunk) &&
              put(a, o, "failure", c->failure);
    return ok ? o : NULL;
}

gr_regime_device gr_regime_oracle(void) {
    static const gr_eval_accuracy half_ulp[] = {
#define EXACT(name) {{name, sizeof name - 1}, 0.5, 0}
        EXACT("exp"), EXACT("exp2"), EXACT("log"), EXACT("log2"), EXACT("sin"), EXACT("cos"), EXACT("tan"), /* wgsl builtins */
        EXACT("asin"), EXACT("acos"), EXACT("atan"), EXACT("atan2"), EXACT("sinh"), EXACT("cosh"), EXACT("tanh"), /* wgsl builtins */
        EXACT("asinh"), EXACT("acosh"), EXACT("atanh"), EXACT("pow"), EXACT("sqrt"), EXACT("inverseSqrt"), EXACT("/"), /* wgsl builtins */
#undef EXACT
    };
    gr_regime_device d = {.api = gr_oracle_api(), .target = gr_target_oracle(), .adapter = GR_STR("CPU oracle (WGSL evaluator)"),
                          .accuracy = half_ulp, .accuracy_n = sizeof half_ulp / sizeof *half_ulp, .engine = GR_STR("")};
    d.target.adapter = d.adapter;
    return d;
}
