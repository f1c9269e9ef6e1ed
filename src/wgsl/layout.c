/* Layout constraints of the address spaces that the host sees. */
#include "wgsl/wgsl_int.h"

/* Uniform buffers: arrays and structs are aligned to 16, array strides are multiples of 16, and a
 * member after a struct starts at least roundUp(16, its size) behind that struct's start. */
static uint64_t required_align(const gr_wgsl_type *t, bool uniform) {
    bool wide = uniform && (t->kind == GR_WT_ARRAY || t->kind == GR_WT_STRUCT);
    return wide ? gr_wgsl_round_up(t->align, 16) : t->align;
}

static bool check_struct(gr_wgsl_front *f, const gr_wgsl_type *t, gr_wgsl_space s, uint32_t offset) {
    bool uniform = s == GR_WGSL_SPACE_UNIFORM;
    for (uint32_t i = 0; i < t->member_n; i++) {
        const gr_wgsl_member *m = &t->member[i], *prev = i ? &t->member[i - 1] : NULL;
        uint64_t want = required_align(m->type, uniform);
        if (want && m->at % want) {
            gr_wgsl_error(f, GR_D_WGSL_LAYOUT, m->offset, "give it @align(16)",
                          "the member '%.*s' of %.*s lies at byte %llu, but in %s it must be aligned to %llu",
                          GR_STR_ARG(m->name), GR_STR_ARG(t->name), (unsigned long long)m->at, gr_wgsl_space_text(s),
                          (unsigned long long)want);
            gr_wgsl_related(f, offset, "used here");
            return false;
        }
        if (uniform && prev && prev->type->kind == GR_WT_STRUCT &&
            m->at - prev->at < gr_wgsl_round_up(prev->size, 16)) {
            gr_wgsl_error(f, GR_D_WGSL_LAYOUT, m->offset, "give it @align(16)",
                          "the member '%.*s' must lie at least %llu bytes after the start of the structure before it",
                          GR_STR_ARG(m->name), (unsigned long long)gr_wgsl_round_up(prev->size, 16));
            gr_wgsl_related(f, offset, "used here");
            return false;
        }
        if (!gr_wgsl_check_layout(f, m->type, s, offset)) return false;
    }
    return true;
}

bool gr_wgsl_check_layout(gr_wgsl_front *f, const gr_wgsl_type *t, gr_wgsl_space s, uint32_t offset) {
    if (s != GR_WGSL_SPACE_UNIFORM && s != GR_WGSL_SPACE_STORAGE) return true;
    if (t->kind == GR_WT_STRUCT) {
        union {
            const gr_wgsl_type *from;
            gr_wgsl_type *to;
        } u = {t};
        if (t->layout_checked >> s & 1)
            return true; /* also keeps shared structures from being walked again and again */
        u.to->layout_checked |= (uint8_t)(1u << s);
        return check_struct(f, t, s, offset);
    }
    if (t->kind != GR_WT_ARRAY) return true;
    if (s == GR_WGSL_SPACE_UNIFORM && t->stride % 16)
        return gr_wgsl_error(
            f, GR_D_WGSL_LAYOUT, offset, "use vec4 elements, or a structure of @size(16)",
            "in uniform, elements of an array must lie a multiple of 16 bytes apart, and those of %.*s lie %llu apart",
            GR_STR_ARG(t->text), (unsigned long long)t->stride);
    return gr_wgsl_check_layout(f, t->elem, s, offset);
}
