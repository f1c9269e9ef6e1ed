#include "api/session.h"

#include "base/file.h"
#include "wgsl/wgsl.h"

#include <stdlib.h>
#include <unistd.h>

char *gr_text_take(gr_session *s, gr_buf *b, bool ok) {
    if (!ok || b->failed || !b->p) {
        if (ok || b->failed) gr_report_oom(&s->diags);
        gr_buf_free(b);
        return NULL;
    }
    char *p = b->p;
    *b = (gr_buf){0};
    return p;
}

void gr_text_free(char *text) { gr_heap_free(text); }

/* The folder of the running program; {0} where that cannot be known. */
static gr_str program_folder(gr_arena *a) {
#ifdef __linux__
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    if (n > 0 && (size_t)n < sizeof path) return gr_str_dup(a, gr_path_dir((gr_str){path, (size_t)n}));
#endif
    (void)a;
    return (gr_str){0};
}

/* The catalog folder: as given, below GRADUS_ROOT, beside the build folder that the program is in, installed under share/, or
 * here: last, since a folder of that name in somebody's project is more likely theirs. */
static gr_str find_catalog(gr_session *s, const char *given) {
    gr_arena *a = &s->arena;
    const char *root = getenv("GRADUS_ROOT");
    gr_str program = program_folder(a), places[3] = {{0}, {0}, GR_STR("catalog")};
    if (given) return gr_str_dup(a, gr_str_of(given));
    if (root && *root) return gr_path_join(a, gr_str_of(root), GR_STR("catalog"));
    if (program.n) {
        gr_str above = gr_path_dir(program);
        places[0] = gr_path_join(a, gr_path_dir(above), GR_STR("catalog"));
        places[1] = gr_path_join(a, above, GR_STR("share/gradus/catalog"));
    }
    for (int i = 0; i < 3; i++)
        if (places[i].n && gr_file_exists(places[i])) return places[i];
    return places[2];
}

gr_session *gr_session_new(const gr_session_desc *desc) {
    gr_session_desc none = {0};
    if (!desc) desc = &none;
    gr_session *s = gr_heap_alloc(1, sizeof *s);
    if (!s) return NULL;
    s->refs = 1;
    gr_diags_init(&s->diags);
    s->wanted = desc->device;
    s->threads = desc->threads;
    s->catalog = gr_catalog_new();
    if (!s->catalog) {
        gr_session_free(s);
        return NULL;
    }
    s->catalog_dir = find_catalog(s, desc->catalog);
    gr_catalog_load(s->catalog, &s->diags, s->catalog_dir);
    for (const char *const *r = desc->op_roots; r && *r; r++) gr_catalog_load(s->catalog, &s->diags, gr_str_of(*r));
    gr_catalog_check(s->catalog, &s->diags);
    gr_session_open_device(s);
    return s;
}

void gr_session_free(gr_session *s) {
    if (!s || --s->refs) return;
    gr_session_close_device(s);
    gr_catalog_free(s->catalog);
    gr_buf_free(&s->report);
    gr_diags_free(&s->diags);
    gr_arena_free(&s->arena);
    gr_heap_free(s);
}

const char *gr_session_report(gr_session *s, bool json) {
    gr_buf_clear(&s->report);
    if (json) gr_diags_print_json(&s->report, &s->diags);
    else gr_diags_print(&s->report, &s->diags, (gr_str){0});
    return s->report.p ? s->report.p : "";
}

int gr_session_exit_code(const gr_session *s) { return gr_diags_exit_code(&s->diags); }
void gr_session_clear(gr_session *s) { gr_diags_clear(&s->diags); }
const char *gr_session_executor(const gr_session *s) { return s->api ? s->api->name : "none"; }
const char *gr_session_adapter(const gr_session *s) { return s->adapter.n ? s->adapter.p : ""; }
const char *gr_session_banner(const gr_session *s) { return s->banner.n ? s->banner.p : ""; }

/* ---- content ---------------------------------------------------------------------- */

unsigned gr_catalog_size(const gr_session *s) { return gr_catalog_count(s->catalog); }

const char *gr_catalog_id(const gr_session *s, unsigned i) {
    return i < gr_catalog_count(s->catalog) ? gr_catalog_at(s->catalog, i)->id.p : NULL;
}

/* "…/user/kemal/median@1" names user/kemal/median@1; other folders their last part. */
gr_str gr_op_id_from_path(gr_str path) {
    while (path.n && path.p[path.n - 1] == '/') path.n--;
    size_t last = path.n;
    while (last && path.p[last - 1] != '/') last--;
    for (size_t i = 0; i + 5 < path.n; i++)
        if ((i == 0 || path.p[i - 1] == '/') && memcmp(path.p + i, "user/", 5) == 0) last = i;
    return (gr_str){path.p + last, path.n - last};
}

bool gr_op_add(gr_session *s, const char *folder, const char *id) {
    gr_str path = gr_str_of(folder);
    return gr_catalog_load_op(s->catalog, &s->diags, path, id ? gr_str_of(id) : gr_op_id_from_path(path)) != NULL &&
           gr_catalog_check(s->catalog, &s->diags);
}

bool gr_wgsl_check_file(gr_session *s, const char *path) {
    gr_arena a;
    gr_str text;
    gr_arena_init(&a, (size_t)1 << 30);
    bool ok = gr_file_read(&a, &s->diags, gr_str_of(path), (size_t)16 << 20, &text) &&
              gr_wgsl_load(&a, &s->diags, gr_str_of(path), text, &(gr_wgsl_options){0}) != NULL;
    gr_arena_free(&a);
    return ok;
}

/* ---- shared buffers ----------------------------------------------------------------- */

gr_buffer *gr_buffer_new(gr_session *s, const char *name, uint64_t bytes) {
    if (!s->api) {
        gr_report(&s->diags, GR_D_RUN_NO_EXECUTOR, (gr_place){0}, "open the session with a device", "the session only compiles");
        return NULL;
    }
    gr_buffer *b = gr_heap_alloc(1, sizeof *b);
    if (!b) {
        gr_report_oom(&s->diags);
        return NULL;
    }
    b->refs = 1;
    b->session = s;
    b->persist = s->api->persist_new(s->device, &s->diags, gr_str_of(name), bytes);
    if (!b->persist) {
        gr_heap_free(b);
        return NULL;
    }
    s->refs++;
    return b;
}

void gr_buffer_free(gr_buffer *b) {
    if (!b || --b->refs) return;
    gr_session *s = b->session;
    s->api->persist_free(b->persist);
    gr_heap_free(b);
    gr_session_free(s);
}

bool gr_buffer_write(gr_buffer *b, uint64_t offset, const void *data, uint64_t n) {
    return b->session->api->persist_write(b->persist, &b->session->diags, offset, data, n);
}

bool gr_buffer_read(gr_buffer *b, uint64_t offset, void *data, uint64_t n) {
    return b->session->api->persist_read(b->persist, &b->session->diags, offset, data, n);
}
