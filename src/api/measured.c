/* measured.c: the numeric profile of the session's device, measured once and kept in the user's cache folder. */
#include "api/session.h"

#include "base/file.h"

#ifdef __wasi__
bool gr_session_profile(gr_session *s, const gr_value **out) {
    *out = s->profile;
    return true;
}
#else

#include "ladder/run/webgpu/profile.h"

#include <stdlib.h>

/* XDG_CACHE_HOME/gradus, or HOME/.cache/gradus; {0} where neither is set. */
static gr_str cache_folder(gr_arena *a) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return gr_path_join(a, gr_str_of(cache), GR_STR("gradus"));
    if (home && home[0] == '/') return gr_path_join(a, gr_str_of(home), GR_STR(".cache/gradus"));
    return (gr_str){0};
}

/* Named after what decides a profile: adapter with its driver, library, engine, version of the measurement. {0}: none. */
static gr_str cache_path(gr_session *s, gr_arena *a) {
    gr_str folder = cache_folder(a);
    gr_sha256 library, key;
    char text[72];
    gr_buf b = {0};
    if (!folder.n || !gr_session_library_hash(s, &library)) return (gr_str){0};
    gr_gpu_info_print_json(&b, gr_gpu_get_info(s->device));
    gr_sha256_text(text, library);
    gr_buf_printf(&b, "\n%s\n%s\n%d", text, gr_version(), (int)GR_PROFILE_VERSION);
    key = gr_sha256_of(b.p ? b.p : "", b.n);
    gr_buf_free(&b);
    gr_sha256_text(text, key);
    char *name = gr_arena_printf(a, "profile-%.32s.json", text + 7);
    return name ? gr_path_join(a, folder, gr_str_of(name)) : (gr_str){0};
}

/* A cached profile must name this library and this version; anything else is measured again. */
static const gr_value *from_cache(gr_session *s, gr_str path) {
    gr_diags quiet;
    gr_str text = {0};
    gr_doc doc;
    gr_sha256 library;
    const gr_value *found = NULL;
    gr_diags_init(&quiet);
    if (path.n && gr_file_exists(path) && gr_file_read(&s->arena, &quiet, path, (size_t)1 << 20, &text) &&
        gr_json_parse(&s->arena, &quiet, path, text, &doc) && gr_session_library_hash(s, &library)) {
        char hash[72];
        gr_sha256_text(hash, library);
        const gr_value *l = gr_value_get(doc.root, "library"), *v = gr_value_get(doc.root, "version"), *e = gr_value_get(doc.root, "errors");
        if (l && l->kind == GR_V_STRING && gr_str_eqz(l->s, hash) && v && v->kind == GR_V_INT && v->i == GR_PROFILE_VERSION && e &&
            e->kind == GR_V_ARRAY)
            found = doc.root;
    }
    gr_diags_free(&quiet);
    return found;
}

/* Not being able to keep it is no error: it is measured again next time. */
static void to_cache(gr_str path, const gr_value *profile) {
    gr_diags quiet;
    gr_buf b = {0};
    gr_diags_init(&quiet);
    if (path.n && gr_json_pretty(&b, profile) && gr_dir_make(&quiet, gr_path_dir(path))) gr_file_write(&quiet, path, b.p, b.n);
    gr_buf_free(&b);
    gr_diags_free(&quiet);
}

bool gr_session_profile_measure(gr_session *s, const struct gr_gpu_profile **out, const gr_value **value) {
    gr_arena a = {0};
    gr_gpu_profile *p = GR_NEW(&s->arena, gr_gpu_profile);
    bool ok = p ? gr_gpu_profile_measure(&s->arena, &s->diags, s->device, p) : gr_report_oom(&s->diags);
    s->profile = ok ? gr_gpu_profile_value(&s->arena, p) : NULL;
    if (ok && !s->profile) ok = gr_report_oom(&s->diags);
    if (ok) to_cache(cache_path(s, &a), s->profile);
    gr_arena_free(&a);
    *out = p;
    *value = s->profile;
    return ok;
}

bool gr_session_profile(gr_session *s, const gr_value **out) {
    gr_arena a = {0};
    const gr_gpu_profile *p;
    if (s->device && !s->profile) s->profile = from_cache(s, cache_path(s, &a));
    gr_arena_free(&a);
    *out = s->profile;
    return !s->device || s->profile || gr_session_profile_measure(s, &p, out);
}
#endif

/* The first entry of a builtin holds; sin, cos and tan are measured up to pi only, where these are periodic. */
static bool accuracy_of(gr_session *s, const gr_value *profile, gr_regime_device *d) {
    const gr_value *errors = gr_value_get(profile, "errors");
    uint32_t n = errors && errors->kind == GR_V_ARRAY ? errors->array.n : 0;
    gr_eval_accuracy *kept = GR_NEW_N(&s->arena, gr_eval_accuracy, n);
    if (!kept) return gr_report_oom(&s->diags);
    d->accuracy = kept;
    d->accuracy_n = 0;
    for (uint32_t i = 0; i < n; i++) {
        const gr_value *e = errors->array.v[i], *name = gr_value_get(e, "builtin");
        gr_diags quiet;
        double ulps = 0, absolute = 0;
        gr_doc doc = {0};
        gr_diags_init(&quiet);
        bool ok = name && name->kind == GR_V_STRING && gr_value_f64(&s->arena, &quiet, &doc, e, "ulps", true, &ulps) &&
                  gr_value_f64(&s->arena, &quiet, &doc, e, "absolute", true, &absolute);
        gr_diags_free(&quiet);
        for (uint32_t k = 0; ok && k < d->accuracy_n; k++) ok = !gr_str_eq(kept[k].builtin, name->s);
        ok = ok && !gr_str_eqz(name->s, "sin") && !gr_str_eqz(name->s, "cos") && !gr_str_eqz(name->s, "tan"); /* wgsl builtin */
        if (ok) kept[d->accuracy_n++] = (gr_eval_accuracy){name->s, ulps, absolute};
    }
    return true;
}

bool gr_session_regime(gr_session *s, gr_regime_device *d) {
    const gr_value *profile;
    if (!s->api) return gr_report(&s->diags, GR_D_RUN_NO_EXECUTOR, (gr_place){0}, "open the session with a device", "the session only compiles");
    *d = gr_regime_oracle();
    d->engine = gr_str_of(gr_version());
    if (!s->device) return true;
    d->api = s->api;
    d->device = s->device;
    d->target = s->target;
    d->adapter = s->adapter;
    d->flushes = true; /* allowed everywhere, and the samples of the profile leave subnormal results out */
    GR_TRY(gr_session_profile(s, &profile));
    d->profile = (gr_value *)profile;
    const gr_value *selections = gr_value_get(profile, "flushes_selections");
    d->flushes_selections = selections && selections->kind == GR_V_BOOL && selections->b;
    return accuracy_of(s, profile, d);
}
