/* Op documents: op.toml and the files of its folder, read into a gr_op. */
#include "contract/contract_int.h"

#include <stdio.h>

typedef struct loader {
    gr_arena *a;
    gr_diags *d;
    gr_op *op;
    struct gr_op_source *src;
    bool ok;
} loader;

static gr_place place(loader *l, const gr_value *v) { return gr_value_place(&l->src->doc, v, l->a); }

static void keep(loader *l, bool ok) { l->ok = l->ok && ok; }

/* ---- pieces ---- */

gr_piece gr_piece_of_value(gr_arena *a, const gr_doc *doc, const gr_value *v) {
    gr_place at = gr_value_place(doc, v, a);
    gr_str t = doc->text;
    size_t i = v->offset;
    bool multi = i + 2 < t.n && t.p[i + 1] == t.p[i] && t.p[i + 2] == t.p[i];
    size_t open = multi ? 3 : 1;
    bool newline = multi && i + open < t.n && (t.p[i + open] == '\n' || t.p[i + open] == '\r');
    return (gr_piece){.document = at.document,
                      .pointer = at.pointer,
                      .text = v->s,
                      .line = at.line + newline,
                      .col = newline ? 1 : at.col + (uint32_t)open};
}

static bool string_piece(loader *l, const gr_value *obj, const char *key, bool need, gr_piece *out) {
    gr_str s = {0};
    bool ok = gr_value_str(l->a, l->d, &l->src->doc, obj, key, need, &s);
    keep(l, ok);
    const gr_value *v = gr_value_get(obj, key);
    if (!ok || !v) return false;
    *out = gr_piece_of_value(l->a, &l->src->doc, v);
    return true;
}

static gr_str get_str(loader *l, const gr_value *obj, const char *key, bool need) {
    gr_str s = {0};
    keep(l, gr_value_str(l->a, l->d, &l->src->doc, obj, key, need, &s));
    return s;
}

static bool get_strings(loader *l, const gr_value *obj, const char *key, gr_str **out, uint32_t *n) {
    gr_value *list = NULL;
    keep(l, gr_value_array(l->a, l->d, &l->src->doc, obj, key, false, &list));
    if (!list) return false;
    *out = GR_NEW_N(l->a, gr_str, list->array.n);
    if (!*out) {
        l->ok = gr_report_oom(l->d);
        return false;
    }
    for (uint32_t i = 0; i < list->array.n; i++) {
        const gr_value *v = list->array.v[i];
        if (v->kind == GR_V_STRING) {
            (*out)[(*n)++] = v->s;
            continue;
        }
        l->ok = gr_report(l->d, GR_D_BASE_VALUE_TYPE, place(l, v), "write strings", "\"%s\" takes a list of strings", key);
    }
    return true;
}

/* Index of the word in a NULL-terminated list, from 1; 0 when absent or reported. */
static int get_word(loader *l, const gr_value *obj, const char *key, bool need, const char *const *words) {
    gr_str s = get_str(l, obj, key, need);
    if (!s.p) return 0;
    gr_buf all = {0};
    int found = 0;
    for (int i = 0; words[i] && !found; i++) {
        if (gr_str_eqz(s, words[i])) found = i + 1;
        gr_buf_printf(&all, "%s%s", i ? ", " : "", words[i]);
    }
    if (!found) {
        l->ok = gr_report(l->d, GR_D_CONTRACT_WORD_UNKNOWN, place(l, gr_value_get(obj, key)), NULL, "\"%s\" cannot be \"%.*s\"", key,
                          (int)(s.n > 60 ? 60 : s.n), s.p);
        gr_report_hint(l->d, "it is one of: %s", all.p ? all.p : "");
    }
    gr_buf_free(&all);
    return found;
}

static bool find_file(loader *l, const gr_value *obj, const char *key, gr_str name, gr_str *text) {
    for (uint32_t i = 0; i < l->src->files_n; i++)
        if (gr_str_eq(l->src->files[i], name)) {
            *text = l->src->texts[i];
            return true;
        }
    l->ok = gr_report(l->d, GR_D_CONTRACT_FILE_MISSING, place(l, gr_value_get(obj, key)), "put the file into the op's folder",
                      "there is no file %.*s beside op.toml", (int)(name.n > 100 ? 100 : name.n), name.p);
    return false;
}

static bool known(loader *l, const gr_value *obj, const char *const *keys) {
    bool ok = gr_value_known(l->a, l->d, &l->src->doc, obj, keys);
    keep(l, ok);
    return ok;
}

/* ---- claims ---- */

static void read_tolerance(loader *l, const gr_value *root) {
    static const char *const keys[] = {"class", "reason", NULL};
    const gr_value *v = gr_value_get(root, "tolerance");
    if (v && v->kind == GR_V_OBJECT) {
        known(l, v, keys);
        l->op->tolerance = (gr_tolerance)get_word(l, v, "class", true, gr_tolerance_words + 1);
        l->op->tolerance_reason = get_str(l, v, "reason", false);
    } else {
        l->op->tolerance = (gr_tolerance)get_word(l, root, "tolerance", true, gr_tolerance_words + 1);
    }
}

/* index = ["indices"]: operands of the signature. */
static void read_index(loader *l, const gr_value *root) {
    gr_op *op = l->op;
    if (!get_strings(l, root, "index", &op->index, &op->index_n) || !op->sig.name.n) return;
    for (uint32_t i = 0; i < op->index_n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < op->sig.operands_n; k++) found = found || gr_str_eq(op->sig.operands[k].name, op->index[i]);
        if (!found)
            l->ok = gr_report(l->d, GR_D_CONTRACT_NAME_UNKNOWN, place(l, gr_value_get(root, "index")), "list operands of the signature",
                              "%.*s is no operand", (int)(op->index[i].n > 60 ? 60 : op->index[i].n), op->index[i].p);
    }
}

/* [optimizer]: operands by what they are; that they fit the signature is checked with the op. */
static void read_optimizer(loader *l, const gr_value *root) {
    static const char *const keys[] = {"weight", "gradient", "state", "step", "rate", "factor", "square", "scale", "clip", "convert", NULL};
    gr_optimizer *o = &l->op->optimizer;
    gr_value *t = NULL;
    keep(l, gr_value_object(l->a, l->d, &l->src->doc, root, "optimizer", false, &t));
    if (!t || !known(l, t, keys)) return;
    o->declared = true;
    o->weight = get_str(l, t, "weight", true);
    o->gradient = get_str(l, t, "gradient", true);
    o->step = get_str(l, t, "step", false);
    o->rate = get_str(l, t, "rate", true);
    o->factor = get_str(l, t, "factor", false);
    o->square = get_str(l, t, "square", false);
    o->scale = get_str(l, t, "scale", false);
    o->clip = get_str(l, t, "clip", false);
    o->convert = get_str(l, t, "convert", false);
    get_strings(l, t, "state", &o->state, &o->state_n);
}

static void read_claims(loader *l, const gr_value *root) {
    static const char *const zeros[] = {"same", "any", NULL};
    l->op->category = (gr_category)get_word(l, root, "category", true, gr_category_words + 1);
    l->op->role = (gr_role)get_word(l, root, "role", false, gr_role_words + 1);
    l->op->zero_sign = gr_str_of(zeros[get_word(l, root, "zero_sign", false, zeros) == 2]);
    read_tolerance(l, root);
    read_index(l, root);
    keep(l, gr_value_bool(l->a, l->d, &l->src->doc, root, "mixed_precision", false, &l->op->mixed));
    read_optimizer(l, root);
}

/* ---- kernels and the reference ---- */

static void read_dtypes(loader *l, const gr_value *obj, gr_kernel_decl *k) {
    gr_str *words = NULL;
    uint32_t n = 0;
    if (!get_strings(l, obj, "dtypes", &words, &n)) return;
    k->dtypes = GR_NEW_N(l->a, gr_dtype, n);
    if (!k->dtypes) {
        l->ok = gr_report_oom(l->d);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        gr_dtype t = gr_dtype_find(words[i]);
        if (t) k->dtypes[k->dtypes_n++] = t;
        else
            l->ok = gr_report(l->d, GR_D_CONTRACT_DTYPE_UNKNOWN, place(l, gr_value_get(obj, "dtypes")),
                              "the dtypes are f16 f32 f64 i8 u8 i32 u32 i64 u64 bool", "%.*s is not a dtype",
                              (int)(words[i].n > 60 ? 60 : words[i].n), words[i].p);
    }
}

static void read_binding(loader *l, const gr_value *obj, gr_kernel_decl *k, gr_piece *piece) {
    if (!string_piece(l, obj, "binding", true, piece)) return;
    bool ok = gr_binding_parse_piece(l->a, l->d, piece, &k->binding);
    keep(l, ok && (!l->op->sig.name.n || gr_binding_check_names(l->d, piece, &l->op->sig, &k->binding)));
}

static void read_wgsl(loader *l, const gr_value *obj, const char *key, gr_kernel_decl *k) {
    k->file = get_str(l, obj, key, true);
    if (!k->file.p || !find_file(l, obj, key, k->file, &k->wgsl)) return;
    k->hash = gr_sha256_of(k->wgsl.p, k->wgsl.n);
}

static void read_when(loader *l, const gr_value *obj, gr_kernel_decl *k) {
    gr_piece p;
    if (!string_piece(l, obj, "when", false, &p)) return;
    k->when = gr_expr_parse_piece(l->a, l->d, &p);
    gr_scope scope = {.sig = &l->op->sig, .outputs = true};
    keep(l, k->when && (!l->op->sig.name.n || gr_expr_check(l->d, &p, &scope, k->when, GR_K_BOOL)));
}

static void read_requires(loader *l, const gr_value *obj, gr_kernel_decl *k) {
    static const char *const features[] = {"subgroups", "shader-f16", "timestamp-query", NULL};
    if (!get_strings(l, obj, "requires", &k->requires_, &k->requires_n)) return;
    for (uint32_t i = 0; i < k->requires_n; i++) {
        bool found = gr_str_starts(k->requires_[i], "max_"); /* a limit, as in max_compute_invocations >= 512 */
        for (int w = 0; features[w] && !found; w++) found = gr_str_eqz(k->requires_[i], features[w]);
        if (!found)
            l->ok = gr_report(l->d, GR_D_CONTRACT_WORD_UNKNOWN, place(l, gr_value_get(obj, "requires")),
                              "the features are subgroups and shader-f16; a limit begins with max_", "a kernel cannot require \"%.*s\"",
                              (int)(k->requires_[i].n > 60 ? 60 : k->requires_[i].n), k->requires_[i].p);
    }
}

static void read_kernel(loader *l, const gr_value *obj, gr_kernel_decl *k, gr_piece *piece) {
    static const char *const keys[] = {"file", "order", "requires", "dtypes", "when", "binding", NULL}, *const orders[] = {
                                                                                                            "fixed", "unordered", NULL};
    if (obj->kind != GR_V_OBJECT) {
        l->ok = gr_report(l->d, GR_D_BASE_VALUE_TYPE, place(l, obj), "write [[kernel]]", "a kernel is a table");
        return;
    }
    known(l, obj, keys);
    read_wgsl(l, obj, "file", k);
    k->order = (gr_order)get_word(l, obj, "order", true, orders);
    read_requires(l, obj, k);
    read_dtypes(l, obj, k);
    read_when(l, obj, k);
    read_binding(l, obj, k, piece);
}

/* [[kernel]] and [[body.variant]]. */
static void read_list(loader *l, const gr_value *obj, const char *key, gr_kernel_decl **out, uint32_t *out_n, gr_piece **pieces) {
    gr_value *list = NULL;
    keep(l, gr_value_array(l->a, l->d, &l->src->doc, obj, key, false, &list));
    if (!list) return;
    uint32_t n = list->array.n;
    *out = GR_NEW_N(l->a, gr_kernel_decl, n);
    *pieces = GR_NEW_N(l->a, gr_piece, n);
    if (!*out || !*pieces) {
        l->ok = gr_report_oom(l->d);
        return;
    }
    *out_n = n;
    for (uint32_t i = 0; i < n; i++) read_kernel(l, list->array.v[i], &(*out)[i], &(*pieces)[i]);
}

static void read_kernels(loader *l, const gr_value *root) {
    read_list(l, root, "kernel", &l->op->kernels, &l->op->kernels_n, &l->src->kernels);
}

/* ---- the body ---- */

/* default, i64, "i64 -> f32", "-> f32". */
static bool map_key(gr_str key, gr_dtype *in, gr_dtype *out) {
    if (gr_str_eqz(key, "default")) return true;
    size_t at = 0;
    while (at + 1 < key.n && (key.p[at] != '-' || key.p[at + 1] != '>')) at++;
    if (at + 1 >= key.n) return (*in = gr_dtype_find(key)) != GR_DTYPE_NONE;
    gr_str x = {key.p, at}, y = {key.p + at + 2, key.n - at - 2};
    while (x.n && x.p[x.n - 1] == ' ') x.n--;
    while (y.n && y.p[0] == ' ') y.p++, y.n--;
    *in = gr_dtype_find(x);
    *out = gr_dtype_find(y);
    return *out && (*in || !x.n);
}

static void read_map(loader *l, const gr_value *body, const gr_value *map) {
    gr_op *op = l->op;
    op->body = GR_BODY_MAP;
    gr_str file = get_str(l, body, "functions", false);
    if (file.p) find_file(l, body, "functions", file, &op->map.functions);
    bool one = map->kind == GR_V_STRING;
    if (!one && (map->kind != GR_V_OBJECT || !map->object.n)) {
        l->ok = gr_report(l->d, GR_D_BASE_VALUE_TYPE, place(l, map), "write map = \"a + b\", or [body.map] with default and dtypes",
                          "\"map\" takes an expression or a table of expressions");
        return;
    }
    uint32_t n = one ? 1 : map->object.n;
    op->map.by_dtype = gr_arena_alloc(l->a, n, sizeof *op->map.by_dtype);
    if (!op->map.by_dtype) {
        l->ok = gr_report_oom(l->d);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        gr_str key = one ? GR_STR("default") : map->object.v[i].key;
        const gr_value *v = one ? map : map->object.v[i].value;
        gr_dtype t = GR_DTYPE_NONE, to = GR_DTYPE_NONE;
        bool named = map_key(key, &t, &to);
        if (v->kind != GR_V_STRING) {
            l->ok = gr_report(l->d, GR_D_BASE_VALUE_TYPE, place(l, v), "write a WGSL expression in quotes", "\"%.*s\" takes a string",
                              (int)(key.n > 60 ? 60 : key.n), key.p);
            continue;
        }
        if (!named) {
            l->ok = gr_report(l->d, GR_D_CONTRACT_DTYPE_UNKNOWN, place(l, v),
                              "the keys are default, dtypes, and pairs such as \"i64 -> f32\" and \"-> f32\"", "\"%.*s\" is not a dtype",
                              (int)(key.n > 60 ? 60 : key.n), key.p);
            continue;
        }
        op->map.by_dtype[op->map.by_dtype_n].dtype = t;
        op->map.by_dtype[op->map.by_dtype_n].out = to;
        op->map.by_dtype[op->map.by_dtype_n++].expr = v->s;
    }
}

static void read_graph(loader *l, const gr_value *body) {
    l->op->body = GR_BODY_GRAPH;
    if (string_piece(l, body, "graph", true, &l->src->graph)) keep(l, gr_frag_parse_piece(l->a, l->d, &l->src->graph, &l->op->graph));
}

static void read_reference(loader *l, const gr_value *body) {
    l->op->body = GR_BODY_REFERENCE;
    l->op->reference.order = GR_ORDER_FIXED;
    read_wgsl(l, body, "reference", &l->op->reference);
    read_dtypes(l, body, &l->op->reference);
    read_binding(l, body, &l->op->reference, &l->src->reference);
    read_list(l, body, "variant", &l->op->variants, &l->op->variants_n, &l->src->variants);
}

/* An op written down before its body: contract_only = true, with the binding that is meant. */
static void read_contract_only(loader *l, const gr_value *body) {
    bool yes = true;
    l->op->body = GR_BODY_CONTRACT_ONLY;
    keep(l, gr_value_bool(l->a, l->d, &l->src->doc, body, "contract_only", true, &yes));
    if (!yes)
        l->ok = gr_report(l->d, GR_D_CONTRACT_BODY_INVALID, place(l, gr_value_get(body, "contract_only")), "write a body instead",
                          "contract_only = false says nothing");
    if (gr_value_get(body, "binding")) read_binding(l, body, &l->op->reference, &l->src->reference);
}

static void read_body(loader *l, const gr_value *root) {
    static const char *const keys[] = {"map",     "graph",  "reference", "contract_only", "functions",
                                       "binding", "dtypes", "variant",   "cpu",           NULL};
    static const char *const cpus[] = {"kernel", "reference", "graph", "map", NULL};
    gr_value *body = NULL;
    keep(l, gr_value_object(l->a, l->d, &l->src->doc, root, "body", true, &body));
    if (!body) return;
    known(l, body, keys);
    const gr_value *map = gr_value_get(body, "map"), *graph = gr_value_get(body, "graph"), *reference = gr_value_get(body, "reference"),
                   *only = gr_value_get(body, "contract_only");
    int n = (map != NULL) + (graph != NULL) + (reference != NULL) + (only != NULL);
    if (n != 1) {
        l->ok = gr_report(l->d, GR_D_CONTRACT_BODY_INVALID, place(l, body), "write one of map, graph and reference",
                          n ? "[body] has %d bodies" : "[body] has %d bodies: none of map, graph, reference", n);
        return;
    }
    if (map) read_map(l, body, map);
    else if (graph) read_graph(l, body);
    else if (reference) read_reference(l, body);
    else read_contract_only(l, body);
    if (!reference && !only && gr_value_get(body, "binding"))
        l->ok = gr_report(l->d, GR_D_CONTRACT_BODY_INVALID, place(l, gr_value_get(body, "binding")), "remove it; kernels have their own",
                          "a binding goes with a reference only");
    int cpu = get_word(l, body, "cpu", false, cpus);
    const char *other = map ? "map" : graph ? "graph" : reference ? "reference" : "contract_only";
    l->op->cpu = gr_str_of(cpu ? cpus[cpu - 1] : other);
    bool fits = !cpu || gr_str_eqz(l->op->cpu, other) || (gr_str_eqz(l->op->cpu, "kernel") && gr_value_get(root, "kernel"));
    if (!fits)
        l->ok = gr_report(l->d, GR_D_CONTRACT_BODY_INVALID, place(l, gr_value_get(body, "cpu")), NULL,
                          "cpu = \"%.*s\" names a body that the op does not have", GR_STR_ARG(l->op->cpu));
}

/* ---- backward, split, metadata ---- */

static void read_backward(loader *l, const gr_value *root) {
    static const char *const keys[] = {"form", "graph", "saves", "convention", "reason", "stops", NULL}, *const forms[] = {"composed",
                                                                                                                           "declared",
                                                                                                                           "none", NULL};
    gr_value *b = NULL;
    keep(l, gr_value_object(l->a, l->d, &l->src->doc, root, "backward", true, &b));
    if (!b) return;
    gr_backward *w = &l->op->backward;
    known(l, b, keys);
    w->form = (gr_backward_form)get_word(l, b, "form", true, forms);
    w->convention = get_str(l, b, "convention", false);
    w->reason = get_str(l, b, "reason", false);
    if (!get_strings(l, b, "saves", &w->saves, &w->saves_n)) w->saves = NULL;
    get_strings(l, b, "stops", &w->stops, &w->stops_n);
    if (string_piece(l, b, "graph", w->form == GR_BACKWARD_DECLARED, &l->src->backward))
        keep(l, gr_frag_parse_piece(l->a, l->d, &l->src->backward, &w->graph));
    if (w->form != GR_BACKWARD_DECLARED && gr_value_get(b, "graph"))
        l->ok = gr_report(l->d, GR_D_CONTRACT_BACKWARD_INVALID, place(l, gr_value_get(b, "graph")), "write form = \"declared\"",
                          "only a declared backward has a graph");
    if (w->form == GR_BACKWARD_NONE && !w->reason.n)
        l->ok = gr_report(l->d, GR_D_CONTRACT_REASON_MISSING, place(l, b), "add reason = \"...\"",
                          "a backward of the form none needs a reason");
}

static void read_split(loader *l, const gr_value *root) {
    if (!string_piece(l, root, "split", false, &l->src->split)) return;
    bool ok = gr_splits_parse_piece(l->a, l->d, &l->src->split, &l->op->splits, &l->op->splits_n);
    keep(l, ok && (!l->op->sig.name.n || gr_splits_check(l->d, &l->src->split, &l->op->sig, l->op->splits, l->op->splits_n)));
}

static void read_metadata(loader *l, const gr_value *root) {
    gr_op *op = l->op;
    op->summary = get_str(l, root, "summary", true);
    op->description = get_str(l, root, "description", false);
    op->author = get_str(l, root, "author", false);
    op->license = get_str(l, root, "license", false);
    get_strings(l, root, "tags", &op->tags, &op->tags_n);
    get_strings(l, root, "references", &op->references, &op->references_n);
    keep(l, gr_value_object(l->a, l->d, &l->src->doc, root, "example", false, &op->example));
    keep(l, gr_value_object(l->a, l->d, &l->src->doc, root, "import", false, &op->import_));
}

/* ---- id ---- */

/* A derived op is called after the one it comes from, with a dot that the name in a signature cannot have. */
static bool same_name(gr_str id, gr_str name) {
    bool same = id.n == name.n;
    for (size_t i = 0; same && i < id.n; i++) same = id.p[i] == name.p[i] || (id.p[i] == '.' && name.p[i] == '_');
    return same;
}

/* "user/kemal/median@1": name behind the last slash, version behind the @. */
static void read_id(loader *l, gr_str id) {
    gr_op *op = l->op;
    size_t slash = id.n, at = 0;
    while (slash > 0 && id.p[slash - 1] != '/') slash--;
    for (at = slash; at < id.n && id.p[at] != '@'; at++) continue;
    gr_str name = {id.p + slash, at - slash};
    uint64_t version = 0;
    for (size_t i = at + 1; i < id.n; i++)
        version = id.p[i] >= '0' && id.p[i] <= '9' && version < 100000 ? version * 10 + (uint64_t)(id.p[i] - '0') : 1000000;
    op->id = id;
    op->name = op->sig.name;
    op->version = (uint32_t)version;
    gr_place where = l->src->signature.document.n ? gr_piece_place(&l->src->signature, 0) : gr_place_doc("op.toml");
    if (!version || version >= 1000000)
        l->ok = gr_report(l->d, GR_D_CONTRACT_ID_MISMATCH, where, "name the folder NAME@VERSION, as in add@1", "the id %.*s has no version",
                          GR_STR_ARG(id));
    else if (op->sig.name.n && !same_name(name, op->sig.name))
        l->ok = gr_report(l->d, GR_D_CONTRACT_ID_MISMATCH, where, "rename the folder or the signature",
                          "the folder is %.*s, the signature says %.*s", GR_STR_ARG(name), GR_STR_ARG(op->sig.name));
}

/* ---- all ---- */

/* sha256 over the canonical JSON object of file name to sha256 of its bytes. */
static bool hash_folder(loader *l) {
    gr_value *o = gr_value_new(l->a, GR_V_OBJECT);
    for (uint32_t i = 0; o && i < l->src->files_n; i++) {
        char hex[72];
        gr_sha256_text(hex, gr_sha256_of(l->src->texts[i].p, l->src->texts[i].n));
        gr_str name = gr_str_dup(l->a, l->src->files[i]);
        if (!name.p || !gr_value_set(l->a, o, name.p, gr_value_new_str(l->a, gr_str_of(hex)))) o = NULL;
    }
    gr_buf b = {0};
    bool ok = o && gr_json_canonical(&b, o);
    if (ok) l->op->hash = gr_sha256_of(b.p, b.n);
    gr_buf_free(&b);
    return ok || gr_report_oom(l->d);
}

static void read_document(loader *l, const gr_value *root, gr_str id) {
    static const char *const keys[] = {"signature", "category",    "tolerance", "zero_sign", "role",    "index",   "split",
                                       "summary",   "description", "tags",      "author",    "license", "references",
                                       "body",      "kernel",      "backward",  "example",   "import",  "optimizer", "mixed_precision", NULL};
    known(l, root, keys);
    if (string_piece(l, root, "signature", true, &l->src->signature) && !gr_sig_parse_piece(l->a, l->d, &l->src->signature, &l->op->sig)) {
        l->ok = false;
        l->op->sig.name = (gr_str){0}; /* nothing is checked against it */
    }
    read_id(l, id);
    read_claims(l, root);
    read_body(l, root);
    read_kernels(l, root);
    read_backward(l, root);
    read_split(l, root);
    read_metadata(l, root);
}

static bool copy_files(loader *l, const gr_str *names, const gr_str *texts, uint32_t n) {
    l->src->files = GR_NEW_N(l->a, gr_str, n);
    l->src->texts = GR_NEW_N(l->a, gr_str, n);
    if (!l->src->files || !l->src->texts) return gr_report_oom(l->d);
    for (uint32_t i = 0; i < n; i++) {
        l->src->files[i] = gr_str_dup(l->a, names[i]);
        l->src->texts[i] = gr_str_dup(l->a, texts[i].p ? texts[i] : GR_STR(""));
        if (!l->src->files[i].p || !l->src->texts[i].p) return gr_report_oom(l->d);
    }
    l->src->files_n = n;
    return true;
}

bool gr_op_read(gr_arena *a, gr_diags *d, gr_str id, gr_str folder, const gr_str *names, const gr_str *texts, uint32_t n, gr_op *out) {
    *out = (gr_op){0};
    loader l = {.a = a, .d = d, .op = out, .src = GR_NEW(a, struct gr_op_source), .ok = true};
    out->source = l.src;
    out->folder = gr_str_dup(a, folder.p ? folder : GR_STR(""));
    id = gr_str_dup(a, id);
    if (!l.src || !out->folder.p || !id.p) return gr_report_oom(d);
    out->id = id;
    GR_TRY(copy_files(&l, names, texts, n));
    gr_str base = out->folder.n ? out->folder : id, toml = {0};
    char *doc = gr_arena_printf(a, "%.*s/op.toml", GR_STR_ARG(base));
    if (!doc) return gr_report_oom(d);
    for (uint32_t i = 0; i < n; i++)
        if (gr_str_eqz(l.src->files[i], "op.toml")) toml = l.src->texts[i];
    if (!toml.p)
        return gr_report(d, GR_D_CONTRACT_FILE_MISSING, gr_place_doc(doc), "an op's contract is the file op.toml",
                         "the folder of %.*s has no op.toml", GR_STR_ARG(id));
    GR_TRY(gr_toml_parse(a, d, gr_str_of(doc), toml, &l.src->doc));
    read_document(&l, l.src->doc.root, id);
    if (!hash_folder(&l)) return false;
    if (l.ok && out->import_) l.ok = gr_op_read_imports(a, d, out);
    return l.ok && !gr_arena_failed(a);
}

uint32_t gr_op_files(const gr_op *op) { return op->source->files_n; }
const gr_value *gr_op_document(const gr_op *op) { return op->source->doc.root; }

gr_str gr_op_file(const gr_op *op, uint32_t i, gr_str *text) {
    if (text) *text = op->source->texts[i];
    return op->source->files[i];
}
