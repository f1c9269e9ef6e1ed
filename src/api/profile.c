/* gr_profile: what arithmetic on the session's executor does. */
#include "api/session.h"

#include "base/value.h"

/* The oracle needs no measurement: its rules are those of the evaluator (docs/wgsl-subset.md). */
static bool oracle_profile(gr_buf *out, bool json) {
    static const char *const row[][2] = {
        {"contraction", "separate"},      {"fma", "fused"},
        {"subnormal_operands", "kept"},   {"subnormal_results", "kept"},
        {"nan", "canonical at stores"},   {"overflow", "infinity"},
        {"f16_store", "nearest even"},    {"elementary_functions", "f64 within 1 ULP, rounded once to f32"},
        {"order", "fixed"},
    };
    gr_buf_puts(out, json ? "{\n  \"adapter\": null,\n  \"executor\": \"oracle\",\n  \"facts\": {" : "executor   CPU oracle (WGSL evaluator): by definition, the same bits everywhere\n\nfacts\n");
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        gr_buf_printf(out, json ? "%s\n    \"%s\": \"%s\"" : "%s  %-22s %s\n", json && i ? "," : "", row[i][0], row[i][1]);
    gr_buf_puts(out, json ? "\n  }\n}\n" : "");
    return !out->failed;
}

#ifdef __wasi__
static bool device_profile(gr_session *s, gr_buf *out, bool json) {
    (void)s, (void)out, (void)json;
    return false;
}
#else
#include "ladder/run/webgpu/profile.h"

/* Measures anew, and what conformance and records find in the cache from now on is this. */
static bool device_profile(gr_session *s, gr_buf *out, bool json) {
    const gr_gpu_profile *p;
    const gr_value *v;
    GR_TRY(gr_session_profile_measure(s, &p, &v));
    if (json) return gr_json_pretty(out, v);
    gr_gpu_profile_print(out, p);
    return true;
}
#endif

char *gr_profile(gr_session *s, bool json) {
    gr_buf b = {0};
    bool ok = true;
    if (s->device) ok = device_profile(s, &b, json);
    else if (s->api) ok = oracle_profile(&b, json);
    else ok = gr_report(&s->diags, GR_D_RUN_NO_ADAPTER, (gr_place){0}, NULL, "this session has no executor to measure");
    return gr_text_take(s, &b, ok);
}
