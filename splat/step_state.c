/* step_state.c: the rows of the device as the host has them. On the device a row of geometry is mean, scale, rotation, opacity; the
 * harmonics, Adam's moments and the statistics have rows of their own. */
#include "step_int.h"

#include <string.h>

enum { CHUNK = 1 << 15 /* rows at a time */, GEOMETRY_GROUPS = 1 << GR_GROUP_MEANS | 1 << GR_GROUP_SCALE | 1 << GR_GROUP_ROTATION | 1 << GR_GROUP_OPACITY };
static const float unseen_opacity = -100; /* a logit that nothing is seen of */

static uint32_t place_of(gr_group g) { return g == GR_GROUP_MEANS ? 0 : g == GR_GROUP_SCALE ? 3 : g == GR_GROUP_ROTATION ? 6 : 10; }

static bool refuse(gr_step *s, const char *message) {
    gr_complain(gr_step_session(s), message);
    return false;
}

/* Rows from .. from + n of geometry or of harmonics between the device's form and the host's arrays; rows from x->n on are unseen. */
static void pack(const gr_state *x, float *const group[GR_GROUPS], bool values, unsigned groups, uint32_t from, uint32_t n, float *row) {
    for (uint32_t i = 0; i < n; i++, row += GR_STEP_ROW) {
        bool live = from + i < x->n;
        for (int g = 0; g < GR_GROUP_SH; g++) {
            uint32_t width = gr_group_width((gr_group)g, 0);
            if (!(groups & 1u << g)) continue;
            if (live) memcpy(row + place_of((gr_group)g), group[g] + (size_t)(from + i) * width, width * sizeof *row);
            else memset(row + place_of((gr_group)g), 0, width * sizeof *row);
        }
        if (!live && values) row[6] = 1, row[10] = unseen_opacity;
    }
}

static void unpack(const gr_state *x, float *const group[GR_GROUPS], unsigned groups, uint32_t from, uint32_t n, const float *row) {
    for (uint32_t i = 0; i < n && from + i < x->n; i++, row += GR_STEP_ROW)
        for (int g = 0; g < GR_GROUP_SH; g++) {
            uint32_t width = gr_group_width((gr_group)g, 0);
            if (groups & 1u << g) memcpy(group[g] + (size_t)(from + i) * width, row + place_of((gr_group)g), width * sizeof *row);
        }
}

/* One buffer of geometry. Where only some groups change the others are read first. */
static bool write_geometry(gr_step *s, gr_step_buffer b, const gr_state *x, float *const group[GR_GROUPS], unsigned groups, float *row) {
    gr_buffer *to = gr_step_buffer_at(s, b);
    uint32_t rows = groups == GEOMETRY_GROUPS ? x->cap : x->n;
    for (uint32_t from = 0; from < rows; from += CHUNK) {
        uint32_t n = rows - from < CHUNK ? rows - from : CHUNK;
        uint64_t at = (uint64_t)from * GR_STEP_ROW * sizeof *row, bytes = (uint64_t)n * GR_STEP_ROW * sizeof *row;
        if (groups != GEOMETRY_GROUPS && !gr_buffer_read(to, at, row, bytes)) return false;
        pack(x, group, b == GR_STEP_GEOMETRY && groups == GEOMETRY_GROUPS, groups, from, n, row);
        if (!gr_buffer_write(to, at, row, bytes)) return false;
    }
    return true;
}

static bool read_geometry(gr_step *s, gr_step_buffer b, const gr_state *x, float *const group[GR_GROUPS], unsigned groups, float *row) {
    for (uint32_t from = 0; from < x->n; from += CHUNK) {
        uint32_t n = x->n - from < CHUNK ? x->n - from : CHUNK;
        if (!gr_buffer_read(gr_step_buffer_at(s, b), (uint64_t)from * GR_STEP_ROW * sizeof *row, row, (uint64_t)n * GR_STEP_ROW * sizeof *row)) return false;
        unpack(x, group, groups, from, n, row);
    }
    return true;
}

/* Harmonics have the same rows on both sides; the device's further rows are zeros. */
static bool write_sh(gr_step *s, gr_step_buffer b, const gr_state *x, const float *sh, float *zeros) {
    uint64_t width = gr_group_width(GR_GROUP_SH, x->sh_degree) * sizeof *sh;
    if (x->n && !gr_buffer_write(gr_step_buffer_at(s, b), 0, sh, x->n * width)) return false;
    memset(zeros, 0, (size_t)CHUNK * GR_STEP_ROW * sizeof *zeros);
    uint32_t most = (uint32_t)(CHUNK * GR_STEP_ROW * sizeof *zeros / width);
    for (uint32_t from = x->n; from < x->cap; from += most) {
        uint32_t n = x->cap - from < most ? x->cap - from : most;
        if (!gr_buffer_write(gr_step_buffer_at(s, b), from * width, zeros, n * width)) return false;
    }
    return true;
}

static bool read_sh(gr_step *s, gr_step_buffer b, const gr_state *x, float *sh) {
    return !x->n || gr_buffer_read(gr_step_buffer_at(s, b), 0, sh, (uint64_t)x->n * gr_group_width(GR_GROUP_SH, x->sh_degree) * sizeof *sh);
}

static bool move_statistics(gr_step *s, const gr_state *x, bool write, float *row) {
    for (uint32_t from = 0; from < (write ? x->cap : x->n); from += CHUNK) {
        uint32_t end = write ? x->cap : x->n, n = end - from < CHUNK ? end - from : CHUNK;
        uint64_t at = 2 * (uint64_t)from * sizeof *row, bytes = 2 * (uint64_t)n * sizeof *row;
        if (!write && !gr_buffer_read(gr_step_buffer_at(s, GR_STEP_SEEN), at, row, bytes)) return false;
        for (uint32_t i = 0; i < n; i++) {
            bool live = from + i < x->n;
            if (write) row[2 * i] = live ? x->grad_sum[from + i] : 0, row[2 * i + 1] = live ? x->grad_count[from + i] : 0;
            else x->grad_sum[from + i] = row[2 * i], x->grad_count[from + i] = row[2 * i + 1];
        }
        if (write && !gr_buffer_write(gr_step_buffer_at(s, GR_STEP_SEEN), at, row, bytes)) return false;
    }
    return true;
}

/* Waits, and gives room for a chunk of rows of geometry. */
static float *begin(gr_step *s, const gr_state *x) {
    const gr_step_desc *d = gr_step_described(s);
    if (x->cap != d->cap || x->sh_degree != d->sh_degree || x->n > x->cap) return refuse(s, "a state of another capacity or degree than the step's") ? NULL : NULL;
    if (!gr_step_wait(s)) return NULL;
    float *row = gr_heap_alloc((size_t)CHUNK * GR_STEP_ROW, sizeof *row);
    if (!row) refuse(s, "no memory for rows of splats");
    return row;
}

bool gr_step_write(gr_step *s, const gr_state *x, unsigned what) {
    float *row = begin(s, x);
    bool ok = row != NULL;
    if (ok && what & GR_STEP_VALUES) ok = write_geometry(s, GR_STEP_GEOMETRY, x, x->value, GEOMETRY_GROUPS, row) && write_sh(s, GR_STEP_SH, x, x->value[GR_GROUP_SH], row);
    if (ok && what & GR_STEP_MOMENTS)
        ok = write_geometry(s, GR_STEP_GEOMETRY_M, x, x->m, GEOMETRY_GROUPS, row) && write_geometry(s, GR_STEP_GEOMETRY_V, x, x->v, GEOMETRY_GROUPS, row) &&
             write_sh(s, GR_STEP_SH_M, x, x->m[GR_GROUP_SH], row) && write_sh(s, GR_STEP_SH_V, x, x->v[GR_GROUP_SH], row);
    if (ok && what & GR_STEP_STATISTICS) ok = move_statistics(s, x, true, row);
    gr_heap_free(row);
    if (ok) gr_step_set_live(s, x->n);
    return ok;
}

bool gr_step_read(gr_step *s, gr_state *x, unsigned what) {
    float *row = begin(s, x);
    bool ok = row != NULL;
    if (ok && what & GR_STEP_VALUES) ok = read_geometry(s, GR_STEP_GEOMETRY, x, x->value, GEOMETRY_GROUPS, row) && read_sh(s, GR_STEP_SH, x, x->value[GR_GROUP_SH]);
    if (ok && what & GR_STEP_MOMENTS)
        ok = read_geometry(s, GR_STEP_GEOMETRY_M, x, x->m, GEOMETRY_GROUPS, row) && read_geometry(s, GR_STEP_GEOMETRY_V, x, x->v, GEOMETRY_GROUPS, row) &&
             read_sh(s, GR_STEP_SH_M, x, x->m[GR_GROUP_SH]) && read_sh(s, GR_STEP_SH_V, x, x->v[GR_GROUP_SH]);
    if (ok && what & GR_STEP_STATISTICS) ok = move_statistics(s, x, false, row);
    gr_heap_free(row);
    return ok;
}

bool gr_step_write_groups(gr_step *s, const gr_state *x, unsigned groups) {
    float *row = begin(s, x);
    bool ok = row != NULL;
    if (ok && groups & GEOMETRY_GROUPS) ok = write_geometry(s, GR_STEP_GEOMETRY, x, x->value, groups & GEOMETRY_GROUPS, row);
    if (ok && groups & 1u << GR_GROUP_SH) ok = write_sh(s, GR_STEP_SH, x, x->value[GR_GROUP_SH], row);
    gr_heap_free(row);
    if (ok) gr_step_set_live(s, x->n);
    return ok;
}

bool gr_step_read_groups(gr_step *s, gr_state *x, unsigned groups) {
    float *row = begin(s, x);
    bool ok = row != NULL;
    if (ok && groups & GEOMETRY_GROUPS) ok = read_geometry(s, GR_STEP_GEOMETRY, x, x->value, groups & GEOMETRY_GROUPS, row);
    if (ok && groups & 1u << GR_GROUP_SH) ok = read_sh(s, GR_STEP_SH, x, x->value[GR_GROUP_SH]);
    gr_heap_free(row);
    return ok;
}
