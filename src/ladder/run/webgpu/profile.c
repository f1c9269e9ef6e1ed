#include "ladder/run/webgpu/profile_int.h"

bool gr_gpu_profile_measure(gr_arena *a, gr_diags *d, gr_gpu *g, gr_gpu_profile *out) {
    *out = (gr_gpu_profile){.adapter = gr_gpu_get_info(g)};
    return gr_gpu_library_hash(g, d, &out->library) && profile_facts(a, d, g, out) && profile_errors(a, d, g, out);
}

void gr_gpu_profile_print(gr_buf *out, const gr_gpu_profile *p) {
    char hash[72];
    gr_sha256_text(hash, p->library);
    gr_gpu_info_print(out, p->adapter);
    gr_buf_printf(out, "  sha256     %s\n", hash + 7);
    if (p->subgroup_max) gr_buf_printf(out, "  subgroups  %u to %u lanes seen\n", p->subgroup_min, p->subgroup_max);
    gr_buf_puts(out, "\nfacts\n");
    for (uint32_t i = 0; i < p->facts_n; i++)
        gr_buf_printf(out, "  %-22s %-14s %s\n", p->facts[i].name, p->facts[i].value, p->facts[i].about);
    gr_buf_puts(out, "\nerrors          worst ulps  ulps (|r| >= 1/2)  + absolute   domain\n");
    for (uint32_t i = 0; i < p->errors_n; i++) {
        const gr_profile_error *e = &p->errors[i];
        gr_buf_printf(out, "  %-12s  %11.4g  %17.4g  %10.3g   %s\n", e->builtin, e->worst_ulps, e->ulps, e->absolute, e->domain);
    }
}

static gr_value *str(gr_arena *a, const char *z) { return gr_value_new_str(a, gr_str_of(z)); }

static gr_value *adapter_value(gr_arena *a, const gr_gpu_info *i) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT);
    bool ok = o && gr_value_set(a, o, "vendor", gr_value_new_str(a, i->vendor)) &&
              gr_value_set(a, o, "architecture", gr_value_new_str(a, i->architecture)) &&
              gr_value_set(a, o, "device", gr_value_new_str(a, i->device)) &&
              gr_value_set(a, o, "description", gr_value_new_str(a, i->description)) &&
              gr_value_set(a, o, "backend", gr_value_new_str(a, i->backend)) && gr_value_set(a, o, "type", str(a, gr_gpu_type_text(i->type))) &&
              gr_value_set(a, o, "timestamps", gr_value_new_bool(a, i->timestamps)) &&
              gr_value_set(a, o, "shader_f16", gr_value_new_bool(a, i->shader_f16)) &&
              gr_value_set(a, o, "subgroups", gr_value_new_bool(a, i->subgroups)) &&
              gr_value_set(a, o, "max_buffer", gr_value_new_i64(a, (int64_t)i->limits.max_buffer)) &&
              gr_value_set(a, o, "max_storage_binding", gr_value_new_i64(a, (int64_t)i->limits.max_storage_binding)) &&
              gr_value_set(a, o, "max_workgroup_storage", gr_value_new_i64(a, i->limits.max_workgroup_storage)) &&
              gr_value_set(a, o, "max_invocations", gr_value_new_i64(a, i->limits.max_invocations));
    return ok ? o : NULL;
}

static gr_value *error_value(gr_arena *a, const gr_profile_error *e) {
    gr_value *o = gr_value_new(a, GR_V_OBJECT), *at = gr_value_new(a, GR_V_ARRAY);
    bool ok = o && at && gr_value_set(a, o, "builtin", str(a, e->builtin)) && gr_value_set(a, o, "domain", str(a, e->domain)) &&
              gr_value_set(a, o, "samples", gr_value_new_i64(a, e->samples)) && gr_value_set(a, o, "skipped", gr_value_new_i64(a, e->skipped)) &&
              gr_value_set(a, o, "worst_ulps", gr_value_new_f64(a, e->worst_ulps)) && gr_value_set(a, o, "ulps", gr_value_new_f64(a, e->ulps)) &&
              gr_value_set(a, o, "absolute", gr_value_new_f64(a, e->absolute)) && gr_value_push(a, at, gr_value_new_f64(a, e->worst_at[0])) &&
              gr_value_push(a, at, gr_value_new_f64(a, e->worst_at[1])) && gr_value_set(a, o, "worst_at", at);
    return ok ? o : NULL;
}

gr_value *gr_gpu_profile_value(gr_arena *a, const gr_gpu_profile *p) {
    char hash[72];
    gr_sha256_text(hash, p->library);
    gr_value *o = gr_value_new(a, GR_V_OBJECT), *facts = gr_value_new(a, GR_V_OBJECT), *errors = gr_value_new(a, GR_V_ARRAY);
    bool ok = o && facts && errors;
    for (uint32_t i = 0; i < p->facts_n && ok; i++) ok = gr_value_set(a, facts, p->facts[i].name, str(a, p->facts[i].value));
    for (uint32_t i = 0; i < p->errors_n && ok; i++) ok = gr_value_push(a, errors, error_value(a, &p->errors[i]));
    ok = ok && gr_value_set(a, o, "version", gr_value_new_i64(a, GR_PROFILE_VERSION)) && gr_value_set(a, o, "adapter", adapter_value(a, p->adapter)) &&
         gr_value_set(a, o, "library", gr_value_new_str(a, gr_str_dup(a, gr_str_of(hash)))) &&
         gr_value_set(a, o, "contracts", gr_value_new_bool(a, p->contracts)) &&
         gr_value_set(a, o, "flushes_subnormals", gr_value_new_bool(a, p->flushes_subnormals)) &&
         gr_value_set(a, o, "flushes_selections", gr_value_new_bool(a, p->flushes_selections)) &&
         gr_value_set(a, o, "subgroup_min", gr_value_new_i64(a, p->subgroup_min)) &&
         gr_value_set(a, o, "subgroup_max", gr_value_new_i64(a, p->subgroup_max)) && gr_value_set(a, o, "facts", facts) &&
         gr_value_set(a, o, "errors", errors);
    return ok ? o : NULL;
}
