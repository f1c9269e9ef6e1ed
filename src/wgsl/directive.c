/* enable, requires, diagnostic: directives and filters. */
#include "wgsl/wgsl_int.h"

#include <string.h>

static bool enable(gr_wgsl_front *f, const gr_wgsl_directive *d, gr_str name) {
    static const char *const graphics[] = {"clip_distances", "dual_source_blending", "primitive_index"};
    const gr_wgsl_options none = {0}, *o = f->opt ? f->opt : &none;
    if (gr_str_eqz(name, "f16") && !o->no_f16) return f->m->enable_f16 = true;
    if (gr_str_eqz(name, "subgroups") && !o->no_subgroups) return f->m->enable_subgroups = true;
    for (size_t i = 0; i < sizeof graphics / sizeof *graphics; i++)
        if (gr_str_eqz(name, graphics[i]))
            return gr_wgsl_error(f, GR_D_WGSL_UNSUPPORTED, d->offset, "the subset has compute shaders only",
                                 "the extension %.*s is outside the compute subset", GR_STR_ARG(name));
    return gr_wgsl_error(f, GR_D_WGSL_FEATURE, d->offset, "f16 and subgroups can be enabled",
                         "the extension '%.*s' is not available", GR_STR_ARG(name));
}

static bool require(gr_wgsl_front *f, const gr_wgsl_directive *d, gr_str name) {
    static const char *const known[] = {"readonly_and_readwrite_storage_textures",
                                        "packed_4x8_integer_dot_product",
                                        "unrestricted_pointer_parameters",
                                        "pointer_composite_access",
                                        "subgroup_id",
                                        "subgroup_uniformity",
                                        "texture_and_sampler_let"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (gr_str_eqz(name, known[i])) return true;
    return gr_wgsl_error(f, GR_D_WGSL_FEATURE, d->offset, NULL, "the language feature '%.*s' is not available",
                         GR_STR_ARG(name));
}

static bool known_severity(gr_str s) {
    return gr_str_eqz(s, "error") || gr_str_eqz(s, "warning") || gr_str_eqz(s, "info") || gr_str_eqz(s, "off");
}

static bool known_rule(gr_str s) {
    return gr_str_eqz(s, "derivative_uniformity") || gr_str_eqz(s, "subgroup_uniformity") ||
           gr_str_starts(s, "chromium.") || memchr(s.p, '.', s.n);
}

static bool check_filter(gr_wgsl_front *f, uint32_t offset, gr_str severity, gr_str rule) {
    if (!known_severity(severity))
        return gr_wgsl_error(f, GR_D_WGSL_DIRECTIVE, offset, "error, warning, info or off", "'%.*s' is no severity",
                             GR_STR_ARG(severity));
    if (!known_rule(rule))
        gr_wgsl_error(f, GR_D_WGSL_UNKNOWN_RULE, offset, "subgroup_uniformity and derivative_uniformity are known",
                      "the diagnostic rule '%.*s' is not known", GR_STR_ARG(rule));
    return true;
}

/* Two filters of one rule in one place must agree. */
static bool conflict(gr_wgsl_front *f, uint32_t offset, gr_str rule) {
    return gr_wgsl_error(f, GR_D_WGSL_DIRECTIVE, offset, "remove one of them",
                         "two filters give the rule '%.*s' different severities", GR_STR_ARG(rule));
}

bool gr_wgsl_check_diagnostic_attrs(gr_wgsl_front *f, const gr_wgsl_attr *a, uint32_t n) {
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        if (a[i].kind != GR_WA_DIAGNOSTIC) continue;
        ok &= check_filter(f, a[i].offset, a[i].arg[0]->ident.name, a[i].rule);
        for (uint32_t k = 0; k < i && i < 64; k++)
            if (a[k].kind == GR_WA_DIAGNOSTIC && gr_str_eq(a[k].rule, a[i].rule))
                ok = gr_wgsl_error(f, GR_D_WGSL_ATTRIBUTE, a[i].offset, "remove one of them",
                                   "two filters name the rule '%.*s'", GR_STR_ARG(a[i].rule));
    }
    return ok;
}

bool gr_wgsl_check_directives(gr_wgsl_front *f) {
    bool ok = true;
    for (uint32_t i = 0; i < f->m->directive_n; i++) {
        const gr_wgsl_directive *d = &f->m->directive[i];
        if (gr_str_eqz(d->keyword, "diagnostic")) {
            ok &= check_filter(f, d->offset, d->name[0], d->name[1]);
            for (uint32_t k = 0; k < i && i < 64; k++) {
                const gr_wgsl_directive *e = &f->m->directive[k];
                if (gr_str_eqz(e->keyword, "diagnostic") && gr_str_eq(e->name[1], d->name[1]) &&
                    !gr_str_eq(e->name[0], d->name[0]))
                    ok = conflict(f, d->offset, d->name[1]);
            }
            continue;
        }
        for (uint32_t k = 0; k < d->name_n; k++)
            ok &= gr_str_eqz(d->keyword, "enable") ? enable(f, d, d->name[k]) : require(f, d, d->name[k]);
    }
    return ok;
}
