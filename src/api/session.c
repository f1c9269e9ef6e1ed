#include "api/session.h"

#include "base/file.h"
#include "wgsl/wgsl.h"

#include <stdlib.h>

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

/* The catalog folder: as given, below GRADUS_ROOT, beside the build folder that the program is in, installed under share/, or
 * here: last, since a folder of that name in somebody's project is more likely theirs. */
static gr_str find_catalog(gr_session *s, const char *given) {
    gr_arena *a = &s->arena;
    const char *root = getenv("GRADUS_ROOT");
    gr_str program = gr_program_path(a), places[3] = {{0}, {0}, GR_STR("catalog")};
    if (given) return gr_str_dup(a, gr_str_of(given));
    if (root && *root) return gr_path_join(a, gr_str_of(root), GR_STR("catalog"));
    if (program.n) {
        gr_str above = gr_path_dir(gr_path_dir(program));
        places[0] = gr_path_join(a, gr_path_dir(above), GR_STR("catalog"));
        places[1] = gr_path_join(a, above, GR_STR("share/gradus/catalog"));
    }
    for (int i = 0; i < 3; i++)
        if (places[i].n && gr_file_exists(places[i])) return places[i];
    return places[2];
}

static void leave_out(void *user, gr_str folder, gr_str id, const gr_diags *why) {
    gr_session *s = user;
    gr_broken_op *b = GR_PUSH(&s->arena, &s->broken);
    gr_place at = why->list.n ? why->list.v[0].place : (gr_place){.document = folder};
    if (why->out_of_memory || !b) {
        gr_report_oom(&s->diags);
        return;
    }
    *b = (gr_broken_op){gr_str_dup(&s->arena, folder), gr_str_dup(&s->arena, id)};
    gr_report(&s->diags, GR_D_CONTRACT_OP_LEFT_OUT, at, NULL, "%.*s is left out: %s: %.*s", GR_STR_ARG(id),
              why->list.n ? gr_diag_text(why->list.v[0].name) : "", why->list.n ? (int)why->list.v[0].message.n : 0,
              why->list.n ? why->list.v[0].message.p : "");
    gr_report_hint(&s->diags, "gradus op check %.*s", GR_STR_ARG(folder));
    for (uint32_t i = 0; why->list.n && i < why->list.v[0].related_n; i++)
        gr_report_related(&s->diags, why->list.v[0].related[i].place, "%.*s", GR_STR_ARG(why->list.v[0].related[i].message));
}

bool gr_session_load(gr_session *s, gr_str root) { return gr_catalog_load_each(s->catalog, &s->diags, root, leave_out, s); }

/* Fragments may name ops of any root: once all are loaded. */
static void check_fragments(gr_session *s) {
    for (uint32_t i = 0; i < gr_catalog_count(s->catalog); i++) {
        const gr_op *op = gr_catalog_at(s->catalog, i);
        gr_diags own;
        gr_diags_init(&own);
        if (!gr_catalog_check_op(s->catalog, &own, op)) leave_out(s, op->folder, op->id, &own);
        gr_diags_free(&own);
    }
}

static bool same_op(gr_str broken, gr_str id) {
    return gr_str_eq(broken, id) || (broken.n > id.n && broken.p[id.n] == '@' && !memcmp(broken.p, id.p, id.n));
}

bool gr_session_report_broken(gr_session *s, gr_str id) {
    for (uint32_t i = 0; i < s->broken.n; i++)
        if (same_op(s->broken.v[i].id, id)) {
            const gr_op *op = gr_catalog_load_op(s->catalog, &s->diags, s->broken.v[i].folder, s->broken.v[i].id);
            if (op) gr_catalog_check_op(s->catalog, &s->diags, op);
            return !gr_diags_ok(&s->diags);
        }
    return false;
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
    gr_session_load(s, s->catalog_dir);
    for (const char *const *r = desc->op_roots; r && *r; r++) gr_session_load(s, gr_str_of(*r));
    check_fragments(s);
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

void gr_complain(gr_session *s, const char *message) { gr_report(&s->diags, GR_D_CLI_USAGE, (gr_place){0}, NULL, "%s", message); }

char *gr_complaint(const char *message) {
    gr_diags d;
    gr_buf b = {0};
    gr_diags_init(&d);
    gr_report(&d, GR_D_CLI_USAGE, (gr_place){0}, NULL, "%s", message);
    gr_diags_print_json(&b, &d);
    gr_diags_free(&d);
    return b.failed ? NULL : b.p;
}

bool gr_text_save(gr_session *s, const char *path, const char *text) {
    gr_str p = gr_str_of(path);
    return gr_dir_make(&s->diags, gr_path_dir(p)) && gr_file_write(&s->diags, p, text, strlen(text));
}

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
    const gr_op *op = gr_catalog_load_op(s->catalog, &s->diags, path, id ? gr_str_of(id) : gr_op_id_from_path(path));
    return op && gr_catalog_check_op(s->catalog, &s->diags, op);
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
