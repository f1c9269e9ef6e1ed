/* Called documents: each is read once for every call, so that its nodes have places of their own. */
#include "ladder/canvas/canvas_int.h"
#include "base/file.h"

enum { DOCUMENT_MAX = 64 << 20 };

typedef struct loader {
    gr_arena *a;
    gr_diags *d;
    gr_str path[GR_CANVAS_DEPTH_MAX + 2]; /* documents being read, outermost first */
    int depth;
    uint32_t nodes, errors_before; /* nodes: of all documents together */
} loader;

static bool load_scope(loader *l, gr_canvas *c, gr_str folder, int nesting);

static bool already_open(loader *l, const gr_canvas_node *n, gr_str path) {
    for (int i = 0; i < l->depth; i++)
        if (gr_str_eq(l->path[i], path))
            return !gr_report(l->d, GR_D_CANVAS_CALL_CYCLE, gr_canvas_below(l->a, n->at, "file"), "to do something again use a repeat block",
                              "\"%.*s\" is being read already: it calls itself", GR_STR_ARG(path));
    return false;
}

/* "a/./b/../c" as "a/c", so that one file has one name. A leading ".." stays. */
static gr_str normal(gr_arena *a, gr_str path) {
    char *p = gr_arena_strndup(a, path.p, path.n);
    if (!p) return (gr_str){0};
    size_t n = 0;
    for (size_t i = 0; i < path.n;) {
        size_t end = i;
        while (end < path.n && path.p[end] != '/') end++;
        gr_str part = {path.p + i, end - i};
        size_t start = n; /* of the last part written */
        while (start && p[start - 1] != '/') start--;
        bool up = gr_str_eqz(part, ".."), can_up = n > start && !gr_str_eqz((gr_str){p + start, n - start}, "..");
        if (up && can_up) n = start ? start - 1 : 0;
        else if (part.n && !gr_str_eqz(part, ".")) {
            if (n && p[n - 1] != '/') p[n++] = '/';
            memmove(p + n, part.p, part.n);
            n += part.n;
        } else if (!part.n && i == 0) p[n++] = '/';
        i = end + 1;
    }
    return (gr_str){p, n};
}

static bool load_one(loader *l, gr_canvas_node *n, gr_str folder, int nesting) {
    gr_str path = normal(l->a, gr_path_join(l->a, folder, n->file)), text;
    if (!path.n) return gr_report_oom(l->d);
    if (already_open(l, n, path)) return false;
    if (l->depth > GR_CANVAS_DEPTH_MAX)
        return gr_report(l->d, GR_D_CANVAS_TOO_DEEP, n->at, "flatten the calls", "documents call each other deeper than %d", GR_CANVAS_DEPTH_MAX);
    if (!gr_file_read(l->a, l->d, path, DOCUMENT_MAX, &text)) {
        gr_report_related(l->d, gr_canvas_below(l->a, n->at, "file"), "called here");
        return false;
    }
    gr_canvas *c = GR_NEW(l->a, gr_canvas);
    if (!c) return gr_report_oom(l->d);
    GR_TRY(gr_canvas_parse(l->a, l->d, path, text, c));
    n->body = c;
    l->path[l->depth++] = path;
    bool ok = load_scope(l, c, gr_path_dir(path), nesting + 1);
    l->depth--;
    return ok;
}

static bool load_scope(loader *l, gr_canvas *c, gr_str folder, int nesting) {
    bool ok = true;
    if (nesting > GR_CANVAS_DEPTH_MAX) return gr_report(l->d, GR_D_CANVAS_TOO_DEEP, c->at, "flatten the calls", "canvases nest deeper than %d", GR_CANVAS_DEPTH_MAX);
    if (c->nodes_n > GR_CANVAS_NODES_MAX - l->nodes) return gr_report(l->d, GR_D_CANVAS_TOO_LARGE, c->at, NULL, "all documents together have over %d nodes", GR_CANVAS_NODES_MAX);
    l->nodes += c->nodes_n;
    for (uint32_t i = 0; i < c->nodes_n && !l->d->out_of_memory && l->d->errors - l->errors_before < GR_CANVAS_ERRORS_MAX; i++) {
        gr_canvas_node *n = &c->nodes[i];
        if (n->block == GR_BLOCK_CALL && n->file.n) ok = load_one(l, n, folder, nesting) && ok;
        else if (n->body) ok = load_scope(l, n->body, folder, nesting + 1) && ok;
        if (n->other) ok = load_scope(l, n->other, folder, nesting + 1) && ok;
    }
    return ok;
}

bool gr_canvas_load_calls(gr_arena *a, gr_diags *d, gr_canvas *c) {
    loader l = {.a = a, .d = d, .depth = 1, .errors_before = d->errors};
    l.path[0] = normal(a, c->document);
    if (!l.path[0].p) return gr_report_oom(d);
    return load_scope(&l, c, gr_path_dir(c->document), 0);
}
