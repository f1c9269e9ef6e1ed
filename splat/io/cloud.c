#include "splat/io/cloud.h"

#include "base/file.h"

bool gr_cloud_new(gr_arena *a, gr_diags *d, uint32_t n, uint32_t sh_degree, gr_cloud *out) {
    *out = (gr_cloud){.n = n, .sh_degree = sh_degree};
    out->mean = gr_arena_alloc(a, n, 3 * sizeof(float));
    out->scale = gr_arena_alloc(a, n, 3 * sizeof(float));
    out->rotation = gr_arena_alloc(a, n, 4 * sizeof(float));
    out->opacity = gr_arena_alloc(a, n, sizeof(float));
    out->sh = gr_arena_alloc(a, n, gr_sh_count(sh_degree) * 3 * sizeof(float));
    return (out->mean && out->scale && out->rotation && out->opacity && out->sh) || gr_report_oom(d);
}

bool gr_cloud_degree(gr_arena *a, gr_diags *d, const gr_cloud *c, uint32_t sh_degree, gr_cloud *out) {
    uint32_t from = 3 * gr_sh_count(c->sh_degree), to = 3 * gr_sh_count(sh_degree), both = from < to ? from : to;
    *out = *c;
    if (from == to) return true;
    out->sh_degree = sh_degree;
    out->sh = gr_arena_alloc(a, c->n, to * sizeof(float));
    if (!out->sh) return gr_report_oom(d);
    for (size_t i = 0; i < c->n; i++) memcpy(out->sh + i * to, c->sh + i * from, both * sizeof(float));
    return true;
}

const char *gr_cloud_format_name(gr_cloud_format f) {
    static const char *const names[] = {"none", "PLY", "compressed PLY", "SPZ", ".splat"};
    return names[f];
}

/* The ending whatever its case. */
static bool ends(gr_str s, const char *suffix) {
    size_t n = strlen(suffix);
    if (s.n < n) return false;
    for (size_t i = 0; i < n; i++)
        if ((s.p[s.n - n + i] | 0x20) != (suffix[i] | 0x20)) return false;
    return true;
}

gr_cloud_format gr_cloud_format_of(gr_str name, gr_str bytes) {
    if (gr_str_starts(bytes, "ply\n") || gr_str_starts(bytes, "ply\r")) return GR_CLOUD_PLY;
    if (gr_str_starts(bytes, "\x1f\x8b") || gr_str_starts(bytes, "NGSP")) return GR_CLOUD_SPZ;
    if (ends(name, ".splat")) return GR_CLOUD_SPLAT;
    return ends(name, ".ply") ? GR_CLOUD_PLY : ends(name, ".spz") ? GR_CLOUD_SPZ : GR_CLOUD_NONE;
}

/* Splats that are not finite would poison a training or a picture without a word. */
static void warn_not_finite(gr_diags *d, gr_str name, const gr_cloud *c) {
    const struct { const float *p; uint32_t k; } part[] = {
        {c->mean, 3}, {c->scale, 3}, {c->rotation, 4}, {c->opacity, 1}, {c->sh, 3 * gr_sh_count(c->sh_degree)}};
    uint32_t bad = 0, first = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        bool ok = true;
        for (size_t j = 0; j < sizeof part / sizeof *part; j++)
            for (uint32_t k = 0; k < part[j].k; k++) {
                float v = part[j].p[(size_t)i * part[j].k + k];
                ok = ok && v - v == 0;
            }
        if (!ok && bad++ == 0) first = i;
    }
    if (bad)
        gr_report(d, GR_D_SPLAT_NOT_FINITE, (gr_place){.document = name}, "they are kept as they are; a viewer may drop or show them as black",
                  "%u of %u splats hold a value that is not finite; the first is splat %u", bad, c->n, first);
}

bool gr_cloud_read(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_cloud *out, gr_cloud_format *format) {
    gr_cloud_format f = gr_cloud_format_of(name, bytes);
    bool ok = false;
    switch (f) {
    case GR_CLOUD_PLY:
    case GR_CLOUD_COMPRESSED_PLY: ok = gr_cloud_read_ply(a, d, name, bytes, out, &f); break;
    case GR_CLOUD_SPZ: ok = gr_cloud_read_spz(a, d, name, bytes, out); break;
    case GR_CLOUD_SPLAT: ok = gr_cloud_read_splat(a, d, name, bytes, out); break;
    case GR_CLOUD_NONE:
        return gr_report(d, GR_D_SPLAT_UNKNOWN_FILE, (gr_place){.document = name}, "formats: .ply (standard or compressed), .spz, .splat",
                         "%.*s is no splat file: neither its first bytes nor its ending are known", GR_STR_ARG(name));
    }
    if (ok) warn_not_finite(d, name, out);
    if (format) *format = f;
    return ok;
}

bool gr_cloud_load(gr_arena *a, gr_diags *d, gr_str path, gr_cloud *out, gr_cloud_format *format) {
    gr_str bytes;
    GR_TRY(gr_file_read(a, d, path, (size_t)8 << 30, &bytes));
    return gr_cloud_read(a, d, path, bytes, out, format);
}

bool gr_cloud_write(gr_buf *out, gr_diags *d, gr_str name, const gr_cloud *c, gr_cloud_format format) {
    switch (format) {
    case GR_CLOUD_PLY: gr_cloud_write_ply(out, c); break;
    case GR_CLOUD_SPZ: GR_TRY(gr_cloud_write_spz(out, d, name, c)); break;
    case GR_CLOUD_SPLAT: GR_TRY(gr_cloud_write_splat(out, d, name, c)); break;
    case GR_CLOUD_COMPRESSED_PLY:
    case GR_CLOUD_NONE:
        return gr_report(d, GR_D_SPLAT_UNKNOWN_FILE, (gr_place){.document = name}, "endings that can be written: .ply, .spz, .splat",
                         "the ending of %.*s names no splat format that can be written", GR_STR_ARG(name));
    }
    return !out->failed || gr_report_oom(d);
}

bool gr_cloud_save(gr_diags *d, gr_str path, const gr_cloud *c) {
    gr_cloud_format f = ends(path, ".ply") ? GR_CLOUD_PLY : ends(path, ".spz") ? GR_CLOUD_SPZ : ends(path, ".splat") ? GR_CLOUD_SPLAT : GR_CLOUD_NONE;
    if (ends(path, ".compressed.ply")) f = GR_CLOUD_COMPRESSED_PLY;
    gr_buf b = {0};
    bool ok = gr_cloud_write(&b, d, path, c, f) && gr_file_write(d, path, b.p, b.n);
    gr_buf_free(&b);
    return ok;
}
