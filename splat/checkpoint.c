#include "splat/checkpoint.h"

#include <stdio.h>

#include "array/archive.h"
#include "base/hash.h"
#include "base/lex.h"

static const char format[] = "gradus splat checkpoint 1";

/* Keys that may differ between a checkpoint and the training that goes on from it: no value that is trained depends on them. */
static bool shapes(gr_key k) {
    static const gr_key free_keys[] = {
        GR_KEY_data_path, GR_KEY_data_points, GR_KEY_data_cache_mib, GR_KEY_data_decode_threads, GR_KEY_train_log_every, GR_KEY_train_eval_every,
        GR_KEY_train_checkpoint_every, GR_KEY_backend_ssim_reduce, GR_KEY_backend_pipelining, GR_KEY_backend_host_schedule,
        GR_KEY_backend_refine_scratch_persist, GR_KEY_backend_refine_direct_write, GR_KEY_backend_budget_mib, GR_KEY_backend_lower_cap,
    };
    for (size_t i = 0; i < sizeof free_keys / sizeof *free_keys; i++)
        if (free_keys[i] == k) return false;
    return true;
}

void gr_checkpoint_config_hash(const gr_config *c, char out[72]) {
    gr_buf b = {0};
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        if (!shapes((gr_key)k)) continue;
        gr_buf_printf(&b, "%s.%s=", gr_key_table((gr_key)k), gr_key_name((gr_key)k));
        gr_config_value(&b, c, (gr_key)k);
        gr_buf_putc(&b, '\n');
    }
    gr_sha256_text(out, gr_sha256_of(gr_buf_view(&b).p, b.n));
    gr_buf_free(&b);
}

/* ---- writing -------------------------------------------------------------------------------- */

enum { ARRAYS = 3 * GR_GROUPS + 2 };
static const char *const prefixes[3] = {"", "m.", "v."};

/* The arrays of s in the order of the file's table; names stand in `text`. */
static void list_arrays(const gr_state *s, char text[ARRAYS][24], gr_named_array out[ARRAYS]) {
    for (int k = 0; k < 3; k++)
        for (int g = 0; g < GR_GROUPS; g++) {
            int i = k * GR_GROUPS + g;
            float *data = k == 0 ? s->value[g] : k == 1 ? s->m[g] : s->v[g];
            uint32_t width = gr_group_width((gr_group)g, s->sh_degree);
            snprintf(text[i], sizeof text[i], "%s%s", prefixes[k], gr_group_name((gr_group)g));
            out[i] = (gr_named_array){gr_str_of(text[i]), {GR_DTYPE_F32, 2, {s->n, width}, data, (size_t)s->n * width * sizeof(float)}};
        }
    snprintf(text[ARRAYS - 2], sizeof text[0], "grad_sum");
    snprintf(text[ARRAYS - 1], sizeof text[0], "grad_count");
    out[ARRAYS - 2] = (gr_named_array){gr_str_of(text[ARRAYS - 2]), {GR_DTYPE_F32, 1, {s->n}, s->grad_sum, s->n * sizeof(float)}};
    out[ARRAYS - 1] = (gr_named_array){gr_str_of(text[ARRAYS - 1]), {GR_DTYPE_F32, 1, {s->n}, s->grad_count, s->n * sizeof(float)}};
}

bool gr_checkpoint_save(gr_diags *d, gr_str path, const gr_checkpoint *c, const gr_state *s) {
    char text[ARRAYS][24], hash[72], step[16], degree[16];
    gr_named_array arrays[ARRAYS];
    gr_buf config = {0}, extent = {0};
    list_arrays(s, text, arrays);
    gr_checkpoint_config_hash(c->config, hash);
    gr_config_print(&config, c->config, "", false);
    gr_buf_f64(&extent, c->extent);
    snprintf(step, sizeof step, "%u", c->step);
    snprintf(degree, sizeof degree, "%u", s->sh_degree);
    const gr_text_pair metadata[] = {
        {GR_STR("format"), gr_str_of(format)}, {GR_STR("step"), gr_str_of(step)}, {GR_STR("sh_degree"), gr_str_of(degree)},
        {GR_STR("extent"), gr_buf_view(&extent)}, {GR_STR("config"), gr_buf_view(&config)}, {GR_STR("config_hash"), gr_str_of(hash)},
        {GR_STR("data_hash"), gr_str_of(c->data_hash ? c->data_hash : "")},
    };
    gr_save_options options = {.metadata = metadata, .metadata_n = sizeof metadata / sizeof *metadata};
    bool ok = config.failed || extent.failed ? gr_report_oom(d) : gr_archive_save(d, path, arrays, ARRAYS, &options);
    gr_buf_free(&config);
    gr_buf_free(&extent);
    return ok;
}

/* ---- reading ---------------------------------------------------------------------------------- */

static bool damaged(gr_diags *d, gr_str path, const char *what) {
    return gr_report(d, GR_D_SPLAT_CHECKPOINT, (gr_place){.document = path}, "name a checkpoint.safetensors that `gradus splat train` wrote", "%s", what);
}

static bool number(gr_arena *a, gr_str text, double most, double *out) {
    gr_value v = {0};
    gr_str z = gr_str_dup(a, text);
    if (!z.p || !z.n || !gr_number_parse(z, &v)) return false;
    *out = v.kind == GR_V_INT ? (double)v.i : v.kind == GR_V_FLOAT ? v.f : -1;
    return *out >= 0 && *out <= most;
}

static bool look(gr_arena *a, gr_diags *d, gr_str path, const gr_archive *f, gr_checkpoint_read *out) {
    double step = 0, degree = 0;
    uint32_t i = 0;
    *out = (gr_checkpoint_read){0};
    if (!gr_str_eqz(gr_archive_metadata(f, "format"), format)) return damaged(d, path, "this is no checkpoint of this trainer");
    if (!number(a, gr_archive_metadata(f, "step"), 4294967295.0, &step) || !number(a, gr_archive_metadata(f, "sh_degree"), GR_SH_DEGREE_MAX, &degree) || !number(a, gr_archive_metadata(f, "extent"), 1e300, &out->extent))
        return damaged(d, path, "step, sh_degree or extent of the checkpoint is no number");
    while (i < f->n && !gr_str_eqz(f->entries[i].name, "means")) i++;
    if (i == f->n || f->entries[i].type.rank != 2 || f->entries[i].type.dims[0] > UINT32_MAX) return damaged(d, path, "the checkpoint has no array \"means\" of splats");
    out->step = (uint32_t)step;
    out->sh_degree = (uint32_t)degree;
    out->n = (uint32_t)f->entries[i].type.dims[0];
    out->config = gr_str_dup(a, gr_archive_metadata(f, "config"));
    out->data_hash = gr_str_dup(a, gr_archive_metadata(f, "data_hash"));
    return (out->config.p && out->data_hash.p) || gr_report_oom(d);
}

bool gr_checkpoint_look(gr_arena *a, gr_diags *d, gr_str path, gr_checkpoint_read *out) {
    gr_archive f;
    bool ok = gr_archive_open(a, d, path, &f) && look(a, d, path, &f, out);
    gr_archive_close(&f);
    return ok;
}

static bool fill(gr_arena *a, gr_diags *d, gr_str path, const gr_archive *f, gr_state *s) {
    char text[ARRAYS][24];
    gr_named_array want[ARRAYS];
    list_arrays(s, text, want);
    for (int k = 0; k < ARRAYS; k++) {
        uint32_t i = 0;
        gr_array got;
        while (i < f->n && !gr_str_eq(f->entries[i].name, want[k].name)) i++;
        if (i == f->n || !gr_array_same_type(&f->entries[i].type, &want[k].array))
            return gr_report(d, GR_D_SPLAT_CHECKPOINT, (gr_place){.document = path}, NULL, "the array \"%s\" is not there, or is not f32 of %u splats", text[k], s->n);
        GR_TRY(gr_archive_get(f, a, d, i, &got));
        if (got.bytes) memcpy(want[k].array.data, got.data, got.bytes);
    }
    return true;
}

bool gr_checkpoint_load(gr_arena *a, gr_diags *d, gr_str path, uint32_t cap, uint32_t sh_degree, gr_checkpoint_read *out, gr_state *s) {
    gr_archive f;
    *s = (gr_state){0};
    bool ok = gr_archive_open(a, d, path, &f) && look(a, d, path, &f, out);
    if (ok && (out->n > cap || out->sh_degree != sh_degree))
        ok = gr_report(d, GR_D_SPLAT_CHECKPOINT, (gr_place){.document = path}, NULL, "the checkpoint holds %u splats of SH degree %u; this training has room for %u of degree %u",
                       out->n, out->sh_degree, cap, sh_degree);
    if (ok) ok = gr_state_new(d, cap, sh_degree, s);
    if (ok) s->n = out->n, ok = fill(a, d, path, &f, s);
    gr_archive_close(&f);
    return ok;
}

bool gr_checkpoint_fits(gr_arena *a, gr_diags *d, gr_str path, const gr_checkpoint_read *then, const gr_config *c) {
    gr_config old = gr_config_default();
    gr_buf x = {0}, y = {0};
    bool ok = true;
    GR_TRY(gr_config_read(a, d, path, then->config, &old));
    for (int k = 0; k < GR_KEY_COUNT; k++) {
        gr_buf_clear(&x), gr_buf_clear(&y);
        gr_config_value(&x, &old, (gr_key)k);
        gr_config_value(&y, c, (gr_key)k);
        if (shapes((gr_key)k) && !gr_str_eq(gr_buf_view(&x), gr_buf_view(&y)))
            ok = gr_report(d, GR_D_SPLAT_CHECKPOINT_CONFIG, (gr_place){.document = path}, "go on with the value that the training began with, or begin another one",
                           "%s.%s was %s when the checkpoint was written and is %s now", gr_key_table((gr_key)k), gr_key_name((gr_key)k), gr_buf_view(&x).p, gr_buf_view(&y).p);
    }
    gr_buf_free(&x);
    gr_buf_free(&y);
    return ok;
}
