/* The catalog: ops by id, loaded from folders; the seven roles. */
#include "contract/derive_int.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>

enum { FOLDER_DEPTH = 8, FOLDER_FILES = 256, FILE_BYTES = 4 << 20, DERIVED_ORDERS = 8 };

/* Gradients of map bodies, made when they are first asked for. They follow from the ops, so that making one does not
 * change what a catalog is. */
typedef struct derived_ops {
    gr_arena arena;
    gr_map at;             /* id -> entry */
    GR_VEC(const gr_op *) ops; /* NULL for one that is zero everywhere */
} derived_ops;

struct gr_catalog {
    derived_ops *derived;
    gr_arena arena;
    GR_VEC(gr_op *) ops; /* sorted by id */
    const gr_op *role[GR_ROLE_COUNT];
};

gr_catalog *gr_catalog_new(void) {
    gr_catalog *c = gr_heap_alloc(1, sizeof *c);
    if (!c) return NULL;
    gr_arena_init(&c->arena, (size_t)1 << 30);
    c->derived = gr_heap_alloc(1, sizeof *c->derived);
    if (c->derived) {
        gr_arena_init(&c->derived->arena, (size_t)256 << 20);
        return c;
    }
    gr_heap_free(c);
    return NULL;
}

void gr_catalog_free(gr_catalog *c) {
    if (!c) return;
    gr_arena_free(&c->derived->arena);
    gr_heap_free(c->derived);
    gr_arena_free(&c->arena);
    gr_heap_free(c);
}

static const gr_op *find_loaded(const gr_catalog *c, gr_str id); /* without derived ops */

/* ---- adding ---- */

static gr_place op_place(const gr_op *op, const char *key, gr_arena *a) {
    const gr_value *v = gr_value_get(op->source->doc.root, key);
    return gr_value_place(&op->source->doc, v ? v : op->source->doc.root, a);
}

static bool claim_role(gr_catalog *c, gr_diags *d, const gr_op *op) {
    if (!op->role) return true;
    const gr_op *other = c->role[op->role];
    if (other && !gr_str_eq(other->name, op->name)) {
        gr_report(d, GR_D_CONTRACT_ROLE_REPEATED, op_place(op, "role", &c->arena), "each role has one provider: remove one claim",
                  "%.*s and %.*s both claim the role %s", GR_STR_ARG(op->id), GR_STR_ARG(other->id), gr_role_name(op->role));
        gr_report_related(d, op_place(other, "role", &c->arena), "the other claim");
        return false;
    }
    if (!other || op->version > other->version) c->role[op->role] = op;
    return true;
}

/* op in the place of the one at `at`; what was derived of that is derived anew. */
static bool replace(gr_catalog *c, gr_diags *d, uint32_t at, gr_op *op) {
    gr_op *old = c->ops.v[at];
    if (old->role && c->role[old->role] == old) c->role[old->role] = NULL;
    GR_TRY(claim_role(c, d, op));
    c->ops.v[at] = op;
    c->derived->at = (gr_map){0};
    c->derived->ops.n = 0;
    return true;
}

static bool insert(gr_catalog *c, gr_diags *d, gr_op *op, bool over) {
    uint32_t at = 0;
    while (at < c->ops.n && gr_str_cmp(c->ops.v[at]->id, op->id) < 0) at++;
    if (at < c->ops.n && gr_str_eq(c->ops.v[at]->id, op->id)) {
        if (over) return replace(c, d, at, op);
        if (gr_sha256_eq(c->ops.v[at]->hash, op->hash)) return true; /* the same content again */
        gr_report(d, GR_D_CONTRACT_OP_REPEATED, op_place(op, "signature", &c->arena), "give one of them another version",
                  "there is a different op %.*s already", GR_STR_ARG(op->id));
        gr_report_related(d, op_place(c->ops.v[at], "signature", &c->arena), "the first");
        return false;
    }
    GR_TRY(claim_role(c, d, op));
    gr_op **slot = GR_PUSH(&c->arena, &c->ops);
    if (!slot) return gr_report_oom(d);
    memmove(c->ops.v + at + 1, c->ops.v + at, (c->ops.n - 1 - at) * sizeof *c->ops.v);
    c->ops.v[at] = op;
    return true;
}

/* Reads and checks an op into an arena; NULL when something was reported. deep: in every choice of dtypes. */
static gr_op *read_checked(gr_arena *a, gr_diags *d, gr_str id, gr_str folder, const gr_str *names, const gr_str *texts, uint32_t n, bool deep) {
    gr_op *op = GR_NEW(a, gr_op);
    if (!op) {
        gr_report_oom(d);
        return NULL;
    }
    if (!gr_op_read(a, d, id, folder, names, texts, n, op)) {
        if (gr_arena_failed(a)) gr_report_oom(d);
        return NULL;
    }
    gr_arena scratch;
    gr_arena_init(&scratch, (size_t)256 << 20);
    bool ok = gr_op_check_document(&scratch, d, op) && gr_op_check_wgsl(&scratch, d, op, deep) && gr_op_check_category(&scratch, d, op);
    gr_arena_free(&scratch);
    return ok ? op : NULL;
}

static const gr_op *add(gr_catalog *c, gr_diags *d, gr_str id, gr_str folder, const gr_str *names, const gr_str *texts, uint32_t n, bool over) {
    gr_op *op = read_checked(&c->arena, d, id, folder, names, texts, n, false);
    return op && insert(c, d, op, over) ? find_loaded(c, op->id) : NULL;
}

const gr_op *gr_op_alone(gr_arena *a, gr_diags *d, gr_str id, const gr_str *names, const gr_str *texts, uint32_t n) {
    return read_checked(a, d, id, (gr_str){0}, names, texts, n, false);
}

const gr_op *gr_catalog_add(gr_catalog *c, gr_diags *d, gr_str id, const gr_str *names, const gr_str *texts, uint32_t n) {
    return add(c, d, id, (gr_str){0}, names, texts, n, false);
}

/* ---- folders ---- */

static bool is_text(gr_str name) {
    return gr_str_ends(name, ".toml") || gr_str_ends(name, ".wgsl") || gr_str_ends(name, ".md") || gr_str_ends(name, ".txt") ||
           gr_str_ends(name, ".json");
}

static const gr_op *load_folder(gr_catalog *c, gr_diags *d, gr_str folder, gr_str id, bool over) {
    gr_arena tmp;
    gr_str *names = NULL, *texts = NULL;
    uint32_t n = 0, kept = 0;
    const gr_op *op = NULL;
    gr_arena_init(&tmp, (size_t)64 << 20);
    if (!gr_dir_list(&tmp, d, folder, &names, &n)) goto done;
    if (n > FOLDER_FILES) {
        gr_report(d, GR_D_CONTRACT_TOO_LARGE, (gr_place){.document = folder}, NULL, "an op's folder holds %u files, at most %d are read", n,
                  FOLDER_FILES);
        goto done;
    }
    texts = GR_NEW_N(&tmp, gr_str, n);
    if (!texts) {
        gr_report_oom(d);
        goto done;
    }
    for (uint32_t i = 0; i < n; i++) { /* the content of an op is its text files */
        if (names[i].p[0] == '.' || !is_text(names[i])) continue;
        gr_str path = gr_path_join(&tmp, folder, names[i]);
        if (!gr_file_read(&tmp, d, path, FILE_BYTES, &texts[kept])) goto done;
        names[kept++] = names[i];
    }
    op = add(c, d, id, folder, names, texts, kept, over);
done:
    gr_arena_free(&tmp);
    return op;
}

const gr_op *gr_catalog_load_op(gr_catalog *c, gr_diags *d, gr_str folder, gr_str id) { return load_folder(c, d, folder, id, false); }
const gr_op *gr_catalog_load_op_over(gr_catalog *c, gr_diags *d, gr_str folder, gr_str id) { return load_folder(c, d, folder, id, true); }

typedef struct walk {
    gr_catalog *c;
    gr_diags *d;
    gr_arena *tmp;
    gr_on_broken_op *on_broken; void *user;
} walk;

static bool load_one(walk *w, gr_str path, gr_str id) {
    gr_diags own;
    if (!w->on_broken) return gr_catalog_load_op(w->c, w->d, path, id) != NULL;
    gr_diags_init(&own);
    if (!gr_catalog_load_op(w->c, &own, path, id)) w->on_broken(w->user, path, id, &own);
    gr_diags_free(&own);
    return true;
}

/* A folder with @ in its name is an op; another one may hold more. Plain files are passed over. */
static bool load_below(walk *w, gr_str folder, gr_str prefix, int depth) {
    gr_diags *d = w->d;
    gr_arena *tmp = w->tmp;
    gr_str *names;
    uint32_t n;
    bool ok = true;
    GR_TRY(gr_dir_list(tmp, d, folder, &names, &n));
    for (uint32_t i = 0; i < n; i++) {
        if (names[i].p[0] == '.') continue;
        gr_str path = gr_path_join(tmp, folder, names[i]);
        char *id = gr_arena_printf(tmp, "%.*s%s%.*s", GR_STR_ARG(prefix), prefix.n ? "/" : "", GR_STR_ARG(names[i]));
        if (!path.n || !id) return gr_report_oom(d);
        if (gr_str_has(names[i], '@')) {
            ok = load_one(w, path, gr_str_of(id)) && ok;
            continue;
        }
        gr_diags quiet;
        gr_str *inner;
        uint32_t inner_n;
        gr_diags_init(&quiet);
        bool folder_too = !gr_str_has(names[i], '.') && depth < FOLDER_DEPTH && gr_dir_list(tmp, &quiet, path, &inner, &inner_n);
        bool short_of_memory = quiet.out_of_memory;
        gr_diags_free(&quiet);
        if (short_of_memory) return gr_report_oom(d);
        if (folder_too) ok = load_below(w, path, gr_str_of(id), depth + 1) && ok;
    }
    return ok;
}

bool gr_catalog_load_each(gr_catalog *c, gr_diags *d, gr_str root, gr_on_broken_op *on_broken, void *user) {
    gr_arena tmp;
    walk w = {c, d, &tmp, on_broken, user};
    gr_arena_init(&tmp, (size_t)64 << 20);
    bool ok = load_below(&w, root, (gr_str){0}, 0);
    gr_arena_free(&tmp);
    return ok;
}

bool gr_catalog_load(gr_catalog *c, gr_diags *d, gr_str root) { return gr_catalog_load_each(c, d, root, NULL, NULL); }

/* ---- finding ---- */

static gr_str bare(gr_str id) {
    for (size_t i = id.n; i > 0; i--)
        if (id.p[i - 1] == '@') return (gr_str){id.p, i - 1};
    return id;
}

/* id against name + "@": below 0, or 0 when it begins with it, or above. */
static int compare_name(gr_str id, gr_str name) {
    size_t n = id.n < name.n ? id.n : name.n;
    int d = n ? memcmp(id.p, name.p, n) : 0;
    if (d) return d;
    if (id.n <= name.n) return -1;
    return (unsigned char)id.p[name.n] - '@';
}

/* Ids are sorted, so that the versions of a name stand together. */
static const gr_op *find_loaded(const gr_catalog *c, gr_str id) {
    const gr_op *best = NULL;
    gr_str name = bare(id);
    uint32_t lo = 0, hi = c->ops.n;
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (compare_name(c->ops.v[mid]->id, name) < 0) lo = mid + 1;
        else hi = mid;
    }
    for (; lo < c->ops.n && compare_name(c->ops.v[lo]->id, name) == 0; lo++) {
        const gr_op *op = c->ops.v[lo];
        bool match = name.n != id.n ? gr_str_eq(op->id, id) : gr_str_eq(bare(op->id), id);
        if (match && (!best || op->version > best->version)) best = op;
    }
    return best;
}

/* How often a name has been derived, at most. */
static uint32_t order_of(gr_str name) {
    uint32_t n = 0;
    for (size_t i = name.n; i > 0 && name.p[i - 1] != '/'; i--) n += name.p[i - 1] == '.';
    return n;
}

/* "foo.d_x" or "foo.d_x@1": the gradient of foo by x, behind the last ".d_". */
static const gr_op *find_derived(const gr_catalog *c, gr_str id) {
    gr_str name = bare(id), version = {id.p + name.n, id.n - name.n};
    size_t dot = name.n;
    while (dot > 0 && name.p[dot - 1] != '.') dot--;
    gr_str operand = {name.p + dot, name.n - dot};
    if (dot < 2 || !gr_str_starts(operand, "d_") || id.n > 1024 || order_of(name) > DERIVED_ORDERS) return NULL;
    char base[1040];
    size_t n = dot - 1;
    memcpy(base, id.p, n);
    if (version.n) memcpy(base + n, version.p, version.n);
    const gr_op *from = gr_catalog_find(c, (gr_str){base, n + version.n}), *op = NULL;
    int p = from ? gr_sig_find_operand(&from->sig, (gr_str){operand.p + 2, operand.n - 2}) : -1;
    gr_diags quiet;
    if (p < 0 || from->body != GR_BODY_MAP || from->backward.form != GR_BACKWARD_COMPOSED) return NULL;
    gr_diags_init(&quiet);
    gr_catalog_derive(c, &quiet, from, (uint32_t)p, &op);
    gr_diags_free(&quiet);
    return op;
}

const gr_op *gr_catalog_find(const gr_catalog *c, gr_str id) {
    const gr_op *op = find_loaded(c, id);
    return op ? op : find_derived(c, id);
}

/* ---- gradients of map bodies ---- */

static bool derive(const gr_catalog *c, gr_diags *d, const gr_op *op, uint32_t operand, gr_str id, const gr_op **out) {
    gr_arena scratch;
    gr_str texts[2], names[2] = {GR_STR("op.toml"), GR_STR("functions.wgsl")};
    gr_arena_init(&scratch, (size_t)64 << 20);
    bool ok = gr_op_derive(&scratch, d, op, operand, &texts[0], &texts[1]);
    *out = ok && texts[0].n ? read_checked(&c->derived->arena, d, id, (gr_str){0}, names, texts, texts[1].n ? 2 : 1, true) : NULL;
    ok = ok && (*out || !texts[0].n);
    gr_arena_free(&scratch);
    return ok;
}

bool gr_catalog_derive(const gr_catalog *c, gr_diags *d, const gr_op *op, uint32_t operand, const gr_op **out) {
    derived_ops *all = c->derived;
    gr_str name = bare(op->id), by = op->sig.operands[operand].name;
    char *id = gr_arena_printf(&all->arena, "%.*s.d_%.*s%.*s", GR_STR_ARG(name), GR_STR_ARG(by), (int)(op->id.n - name.n), op->id.p + name.n);
    uint32_t at;
    if (!id) return gr_report_oom(d);
    *out = find_loaded(c, gr_str_of(id));
    if (*out) return true;
    if (gr_map_get(&all->at, gr_str_of(id), &at)) {
        *out = all->ops.v[at];
        return true;
    }
    GR_TRY(derive(c, d, op, operand, gr_str_of(id), out));
    const gr_op **slot = GR_PUSH(&all->arena, &all->ops);
    if (!slot || !gr_map_put(&all->arena, &all->at, gr_str_of(id), all->ops.n - 1)) return gr_report_oom(d);
    *slot = *out;
    return true;
}

const gr_op *gr_catalog_role(const gr_catalog *c, gr_role role) {
    return role > GR_ROLE_NONE && role < GR_ROLE_COUNT ? c->role[role] : NULL;
}

uint32_t gr_catalog_count(const gr_catalog *c) { return c->ops.n; }
const gr_op *gr_catalog_at(const gr_catalog *c, uint32_t i) { return i < c->ops.n ? c->ops.v[i] : NULL; }

/* The id, its part behind the last slash, or the id without version may be what was meant. */
gr_str gr_catalog_near(const gr_catalog *c, gr_str id) {
    gr_nearest n = gr_nearest_start(bare(id));
    gr_str best = {0};
    for (uint32_t i = 0; i < c->ops.n; i++) {
        const gr_op *op = c->ops.v[i];
        int before = n.distance;
        gr_nearest_add(&n, bare(op->id));
        gr_nearest_add(&n, op->name);
        if (n.distance < before) best = op->id;
    }
    return best;
}

/* ---- fragments against the catalog ---- */

static void check_node(const gr_catalog *c, gr_diags *d, const gr_op *op, const gr_piece *src, const gr_frag_node *n, bool *ok) {
    if (n->constant) return;
    const gr_op *to = gr_catalog_find(c, n->op);
    gr_place at = gr_piece_place(src, n->offset);
    if (!to) {
        *ok = false;
        gr_str near = gr_catalog_near(c, n->op);
        gr_report(d, GR_D_CONTRACT_OP_UNKNOWN, at, NULL, "%.*s uses the op %.*s, which the catalog does not have", GR_STR_ARG(op->id),
                  GR_STR_ARG(n->op));
        if (near.n) gr_report_hint(d, "did you mean %.*s?", GR_STR_ARG(near));
        return;
    }
    for (uint32_t i = 0; i < n->params_n; i++) {
        if (gr_sig_find_param(&to->sig, n->params[i].name) >= 0) continue;
        *ok = false;
        gr_report(d, GR_D_CONTRACT_PARAMETER_UNKNOWN, gr_piece_place(src, n->params[i].offset), NULL, "%.*s has no parameter %.*s",
                  GR_STR_ARG(to->id), GR_STR_ARG(n->params[i].name));
    }
    bool many = to->sig.outputs_n == 1 && to->sig.outputs[0].variadic;
    if (!many && n->results_n != to->sig.outputs_n)
        *ok = gr_report(d, GR_D_CONTRACT_OPERAND_COUNT, at, NULL, "%.*s gives %u results, %u are named", GR_STR_ARG(to->id),
                        to->sig.outputs_n, n->results_n);
}

static bool check_frag(const gr_catalog *c, gr_diags *d, const gr_op *op, const gr_piece *src, const gr_frag *f) {
    bool ok = true;
    for (uint32_t i = 0; i < f->nodes_n; i++) check_node(c, d, op, src, &f->nodes[i], &ok);
    return ok;
}

/* A body of other ops is exact only when all of them are. */
static bool check_graph_category(const gr_catalog *c, gr_diags *d, const gr_op *op) {
    if (op->body != GR_BODY_GRAPH || op->category > GR_CATEGORY_COMPARISON) return true;
    for (uint32_t i = 0; i < op->graph.nodes_n; i++) {
        const gr_op *to = op->graph.nodes[i].constant ? NULL : gr_catalog_find(c, op->graph.nodes[i].op);
        if (!to || to->category <= GR_CATEGORY_COMPARISON) continue;
        return gr_report(d, GR_D_CONTRACT_CATEGORY_FALSE, gr_piece_place(&op->source->graph, op->graph.nodes[i].offset),
                         "claim the category of the arithmetic it does", "%.*s claims the category %s, but its body uses %.*s, which is %s",
                         GR_STR_ARG(op->id), gr_category_name(op->category), GR_STR_ARG(to->id), gr_category_name(to->category));
    }
    return true;
}

bool gr_catalog_check_op(const gr_catalog *c, gr_diags *d, const gr_op *op) {
    bool ok = check_frag(c, d, op, &op->source->graph, &op->graph);
    ok = check_frag(c, d, op, &op->source->backward, &op->backward.graph) && ok;
    for (uint32_t i = 0; i < op->imports_n; i++) {
        const gr_op *shell = &op->imports[i].shell;
        if (!op->imports[i].direct) ok = check_frag(c, d, shell, &shell->source->graph, &shell->graph) && ok;
    }
    return check_graph_category(c, d, op) && ok;
}

bool gr_catalog_check(const gr_catalog *c, gr_diags *d) {
    bool ok = true;
    for (uint32_t i = 0; i < c->ops.n; i++) ok = gr_catalog_check_op(c, d, c->ops.v[i]) && ok;
    return ok;
}
