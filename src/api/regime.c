/* regime.c: conformance of one op on the session's device, and new op folders. */
#include "api/session.h"

#include "base/file.h"
#include "regime/gradcheck.h"
#include "regime/regime.h"

/* user/me/op@1 may use other ops below the same root; their faults are not this op's. */
static void load_neighbours(gr_session *s, gr_str folder, gr_str id) {
    while (folder.n && folder.p[folder.n - 1] == '/') folder.n--;
    if (gr_catalog_find(s->catalog, id) || !gr_str_starts(id, "user/") || folder.n < id.n) return;
    gr_diags quiet;
    gr_diags_init(&quiet);
    gr_str root = {folder.p, folder.n - id.n};
    gr_catalog_load(s->catalog, &quiet, root.n ? root : GR_STR("."));
    gr_diags_free(&quiet);
}

/* An id of the catalog, or a folder: then under the id that its path says. */
static const gr_op *op_of(gr_session *s, gr_str what) {
    const gr_op *op = gr_catalog_find(s->catalog, what);
    if (op) return op;
    gr_str toml = gr_path_join(&s->arena, what, GR_STR("op.toml"));
    if (!toml.n || !gr_file_exists(toml)) {
        gr_report(&s->diags, GR_D_CLI_OP_UNKNOWN, (gr_place){0}, "an id of `gradus catalog`, or a folder with an op.toml", "there is no op \"%.*s\"",
                  GR_STR_ARG(what));
        return NULL;
    }
    gr_str id = gr_op_id_from_path(what);
    load_neighbours(s, what, id);
    op = gr_catalog_find(s->catalog, id);
    if (!op) op = gr_catalog_load_op(s->catalog, &s->diags, what, id);
    return op && gr_catalog_check(s->catalog, &s->diags) ? op : NULL;
}

#ifdef __wasi__
static bool measure(gr_session *s, gr_arena *a, gr_regime_device *d) {
    (void)s, (void)a, (void)d;
    return true;
}
#else
#include "ladder/run/webgpu/profile.h"

static bool measure(gr_session *s, gr_arena *a, gr_regime_device *d) {
    gr_gpu_profile *p = GR_NEW(a, gr_gpu_profile);
    if (!p) return gr_report_oom(&s->diags);
    d->accuracy_n = 0;
    GR_TRY(gr_gpu_profile_measure(a, &s->diags, s->device, p));
    d->flushes = true; /* allowed everywhere, and the samples of the profile leave subnormal results out */
    gr_eval_accuracy *kept = GR_NEW_N(a, gr_eval_accuracy, p->accuracy_n);
    if (!kept) return gr_report_oom(&s->diags);
    for (uint32_t i = 0; i < p->accuracy_n; i++) {
        gr_str name = p->accuracy[i].builtin; /* measured up to pi only, where these are periodic: */
        bool periodic = gr_str_eqz(name, "sin") || gr_str_eqz(name, "cos") || gr_str_eqz(name, "tan"); /* wgsl builtin */
        if (!periodic) kept[d->accuracy_n++] = p->accuracy[i];
    }
    d->accuracy = kept;
    d->profile = gr_gpu_profile_value(a, p);
    return true;
}
#endif

static bool device_of(gr_session *s, gr_arena *a, gr_regime_device *d) {
    if (!s->api) return gr_report(&s->diags, GR_D_RUN_NO_EXECUTOR, (gr_place){0}, "open the session with a device", "the session only compiles");
    *d = gr_regime_oracle();
    d->engine = gr_str_of(gr_version());
    if (!s->device) return true;
    d->api = s->api;
    d->device = s->device;
    d->target = s->target;
    d->adapter = s->adapter;
    return measure(s, a, d);
}

static char *text_of(gr_session *s, const gr_value *v, bool canonical) {
    gr_buf b = {0};
    if (!v) {
        gr_report_oom(&s->diags);
        return NULL;
    }
    return gr_text_take(s, &b, canonical ? gr_json_canonical(&b, v) : gr_json_pretty(&b, v));
}

char *gr_conform(gr_session *s, const char *what, bool json, unsigned cases, char **receipt) {
    gr_arena a = {0};
    gr_regime_device device;
    gr_conformance c;
    gr_conform_options o = {.cases = cases};
    char *text = NULL;
    if (receipt) *receipt = NULL;
    const gr_op *op = op_of(s, gr_str_of(what ? what : ""));
    if (op && device_of(s, &a, &device) && gr_op_conform(&a, &s->diags, s->catalog, op, &device, &o, &c)) {
        if (json) {
            text = text_of(s, gr_conformance_value(&a, &c, false), false);
        } else {
            gr_buf b = {0};
            gr_conformance_print(&b, &c);
            text = gr_text_take(s, &b, true);
        }
        if (receipt && c.passed) *receipt = text_of(s, gr_conformance_value(&a, &c, true), true);
    }
    gr_arena_free(&a);
    return text;
}

char *gr_check_gradient(gr_session *s, const char *what, bool json, unsigned probes, unsigned long long seed, bool second, char **value) {
    gr_arena a = {0};
    gr_regime_device device;
    gr_gradcheck c;
    gr_gradcheck_options o = {.probes = probes, .seed = seed, .second = second, .device = s->device ? &device : NULL};
    char *text = NULL;
    if (value) *value = NULL;
    const gr_op *op = op_of(s, gr_str_of(what ? what : ""));
    if (op && (!s->device || device_of(s, &a, &device)) && gr_op_gradcheck(&a, &s->diags, s->catalog, op, &o, &c)) {
        gr_buf b = {0};
        if (json) text = text_of(s, gr_gradcheck_value(&a, &c), false);
        else gr_gradcheck_print(&b, &c), text = gr_text_take(s, &b, true);
        if (value) *value = text_of(s, gr_gradcheck_value(&a, &c), true);
    }
    gr_arena_free(&a);
    return text;
}

bool gr_op_new(gr_session *s, const char *name, const char *folder) { return gr_op_scaffold(&s->diags, gr_str_of(name), gr_str_of(folder)); }
