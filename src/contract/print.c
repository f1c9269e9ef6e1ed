/* An op as text, for `catalog NAME`. */
#include "contract/contract_int.h"

static void print_lines(gr_buf *out, gr_str text) {
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        gr_buf_printf(out, "    %.*s\n", (int)n, text.p);
        text.p += n + (end != NULL);
        text.n -= n + (end != NULL);
    }
}

static void print_row(gr_buf *out, const char *key, gr_str value) {
    if (value.n) gr_buf_printf(out, "  %-12s %.*s\n", key, GR_STR_ARG(value));
}

static void print_list(gr_buf *out, const char *key, const gr_str *list, uint32_t n) {
    if (!n) return;
    gr_buf_printf(out, "  %-12s ", key);
    for (uint32_t i = 0; i < n; i++) gr_buf_printf(out, "%s%.*s", i ? ", " : "", GR_STR_ARG(list[i]));
    gr_buf_putc(out, '\n');
}

static void print_binding(gr_buf *out, const gr_binding *b) {
    gr_buf t = {0};
    gr_binding_print(&t, b);
    print_lines(out, gr_buf_view(&t));
    out->failed = out->failed || t.failed;
    gr_buf_free(&t);
}

static void print_body(gr_buf *out, const gr_op *op) {
    static const char *const bodies[] = {"none", "map", "graph", "reference", "contract only"};
    gr_buf_printf(out, "  %-12s %s, on the CPU its %.*s\n", "body", bodies[op->body], GR_STR_ARG(op->cpu));
    for (uint32_t i = 0; i < op->map.by_dtype_n; i++) {
        gr_dtype x = op->map.by_dtype[i].dtype, y = op->map.by_dtype[i].out;
        gr_buf_printf(out, "    %s%s%s: %.*s\n",
                      x   ? gr_dtype_name(x)
                      : y ? ""
                          : "default",
                      y ? x ? " -> " : "-> " : "", y ? gr_dtype_name(y) : "", GR_STR_ARG(op->map.by_dtype[i].expr));
    }
    gr_buf t = {0};
    gr_frag_print(&t, &op->graph);
    print_lines(out, gr_buf_view(&t));
    gr_buf_free(&t);
    if (op->body == GR_BODY_REFERENCE) print_binding(out, &op->reference.binding);
}

static void print_kernel(gr_buf *out, const gr_kernel_decl *k) {
    char hash[72];
    gr_sha256_text(hash, k->hash);
    gr_buf_printf(out, "  %-12s %.*s %s, order %s", "kernel", GR_STR_ARG(k->file), hash,
                  k->order == GR_ORDER_UNORDERED ? "unordered" : "fixed");
    for (uint32_t i = 0; i < k->requires_n; i++) gr_buf_printf(out, "%s%.*s", i ? ", " : ", requires ", GR_STR_ARG(k->requires_[i]));
    for (uint32_t i = 0; i < k->dtypes_n; i++) gr_buf_printf(out, "%s%s", i ? ", " : ", dtypes ", gr_dtype_name(k->dtypes[i]));
    if (k->when) {
        gr_buf_puts(out, ", when ");
        gr_expr_print(out, k->when);
    }
    gr_buf_putc(out, '\n');
    print_binding(out, &k->binding);
}

static void print_backward(gr_buf *out, const gr_backward *b) {
    static const char *const forms[] = {"unset", "composed", "declared", "none"};
    gr_buf_printf(out, "  %-12s %s%s%.*s\n", "backward", forms[b->form], b->reason.n ? ": " : "", GR_STR_ARG(b->reason));
    print_list(out, "saves", b->saves, b->saves_n);
    print_row(out, "convention", b->convention);
    gr_buf t = {0};
    gr_frag_print(&t, &b->graph);
    print_lines(out, gr_buf_view(&t));
    gr_buf_free(&t);
}

static void print_optimizer(gr_buf *out, const gr_optimizer *o) {
    gr_buf_printf(out, "  %-12s weight %.*s, gradient %.*s, state", "optimizer", GR_STR_ARG(o->weight), GR_STR_ARG(o->gradient));
    for (uint32_t i = 0; i < o->state_n; i++) gr_buf_printf(out, " %.*s", GR_STR_ARG(o->state[i]));
    if (o->step.n) gr_buf_printf(out, ", step %.*s", GR_STR_ARG(o->step));
    gr_buf_printf(out, ", rate %.*s", GR_STR_ARG(o->rate));
    if (o->factor.n) gr_buf_printf(out, ", factor %.*s", GR_STR_ARG(o->factor));
    gr_buf_putc(out, '\n');
}

void gr_op_print(gr_buf *out, const gr_op *op) {
    char hash[72];
    gr_sha256_text(hash, op->hash);
    gr_buf_printf(out, "%.*s  %s\n", GR_STR_ARG(op->id), hash);
    print_row(out, "summary", op->summary);
    print_row(out, "description", op->description);
    gr_buf_printf(out, "  %-12s ", "signature");
    gr_sig_print(out, &op->sig);
    gr_buf_printf(out, "\n  %-12s %s\n", "category", gr_category_name(op->category));
    gr_buf_printf(out, "  %-12s %s%s%.*s\n", "tolerance", gr_tolerance_name(op->tolerance), op->tolerance_reason.n ? ": " : "",
                  GR_STR_ARG(op->tolerance_reason));
    for (uint32_t i = 0; i < op->index_n; i++)
        gr_buf_printf(out, i ? " %.*s%s" : "  index        %.*s%s", GR_STR_ARG(op->index[i]), i + 1 == op->index_n ? "\n" : "");
    if (op->role) gr_buf_printf(out, "  %-12s %s\n", "role", gr_role_name(op->role));
    if (op->optimizer.declared) print_optimizer(out, &op->optimizer);
    print_body(out, op);
    for (uint32_t i = 0; i < op->kernels_n; i++) print_kernel(out, &op->kernels[i]);
    for (uint32_t i = 0; i < op->splits_n; i++) {
        gr_buf_puts(out, "  ");
        gr_split_print(out, &op->splits[i]);
    }
    print_backward(out, &op->backward);
    print_list(out, "tags", op->tags, op->tags_n);
    print_row(out, "author", op->author);
    print_row(out, "license", op->license);
    print_list(out, "references", op->references, op->references_n);
    print_row(out, "folder", op->folder);
}
