#include "splat/io/points.h"

#include "splat/io/ply.h"

bool gr_points_new(gr_arena *a, gr_diags *d, uint64_t n, gr_points *out) {
    *out = (gr_points){0};
    if (n > INT32_MAX) return gr_report(d, GR_D_SPLAT_PLY_DATA, (gr_place){0}, NULL, "%llu points are more than 2^31 - 1", (unsigned long long)n);
    *out = (gr_points){(uint32_t)n, gr_arena_alloc(a, (size_t)n, 3 * sizeof(float)), gr_arena_alloc(a, (size_t)n, 3)};
    return (out->position && out->colour) || gr_report_oom(d);
}

bool gr_points_read_ply(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_points *out) {
    static const char *const axis[] = {"x", "y", "z"}, *const colour[] = {"red", "green", "blue"}, *const other[] = {"r", "g", "b"};
    gr_ply ply;
    GR_TRY(gr_ply_read(a, d, name, bytes, &ply));
    const gr_ply_element *e = gr_ply_find(&ply, "vertex");
    if (!e || e->lists)
        return gr_report(d, GR_D_SPLAT_PLY_PROPERTY, (gr_place){.document = name}, NULL, "there is no element vertex of plain numbers");
    GR_TRY(gr_points_new(a, d, e->count, out));
    memset(out->colour, 128, 3 * (size_t)out->n);
    for (int k = 0; k < 3; k++) {
        int p = gr_ply_property_find(e, axis[k]), c = gr_ply_property_find(e, colour[k]);
        if (c < 0) c = gr_ply_property_find(e, other[k]);
        if (p < 0) return gr_report(d, GR_D_SPLAT_PLY_PROPERTY, (gr_place){.document = name}, NULL, "element vertex has no property %s", axis[k]);
        gr_ply_column_f32(&ply, e, p, out->position + k, 3);
        for (uint64_t i = 0; c >= 0 && i < out->n; i++) {
            double v = gr_ply_get(&ply, e, i, c) * (e->property.v[c].type >= GR_PLY_F32 ? 255 : 1);
            out->colour[3 * i + (uint64_t)k] = (uint8_t)(v > 0 ? v < 255 ? v + 0.5 : 255 : 0);
        }
    }
    gr_points_clean(d, name, out);
    return true;
}

void gr_points_clean(gr_diags *d, gr_str name, gr_points *p) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const float *v = p->position + 3 * (size_t)i;
        if (v[0] - v[0] != 0 || v[1] - v[1] != 0 || v[2] - v[2] != 0) continue;
        memmove(p->position + 3 * (size_t)kept, v, 12);
        memmove(p->colour + 3 * (size_t)kept++, p->colour + 3 * (size_t)i, 3);
    }
    if (kept < p->n)
        gr_report(d, GR_D_SPLAT_POINTS_NOT_FINITE, (gr_place){.document = name}, NULL, "%u of %u points are not finite and were dropped", p->n - kept, p->n);
    p->n = kept;
}
