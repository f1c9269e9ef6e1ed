/* Every program of tests/wgsl/valid is accepted and prints to a fixed point; every one of
 * tests/wgsl/invalid is refused with the diagnostic and line of its first line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "corpus.h"

#include <stdio.h>

typedef struct tally {
    uint32_t wrong;
} tally;

static void complain(tally *t, const corpus_file *c, const char *what, const gr_diags *d) {
    gr_buf b = {0};
    gr_diags_print(&b, d, c->text);
    print_error("%.*s: %s\n%s", GR_STR_ARG(c->path), what, b.p ? b.p : "");
    gr_buf_free(&b);
    t->wrong++;
}

static gr_wgsl_module *load(gr_arena *a, gr_diags *d, gr_str name, gr_str text) {
    gr_arena_init(a, 256u << 20);
    gr_diags_init(d);
    return gr_wgsl_load(a, d, name, text, NULL);
}

/* W1: what a reader can reach is typed and concrete. */
static bool concrete(const gr_wgsl_expr *e) {
    if (!e) return true;
    if (!e->type) return false;
    const gr_wgsl_type *t = e->type;
    while (t->kind == GR_WT_ARRAY || t->kind == GR_WT_VEC || t->kind == GR_WT_MAT) t = t->elem;
    if (t->kind == GR_WT_ABSTRACT_INT || t->kind == GR_WT_ABSTRACT_FLOAT) return false;
    if (e->value) return e->value->type == e->type;
    switch (e->kind) {
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_ADDRESS_OF:
    case GR_WE_DEREF: return concrete(e->unary.a);
    case GR_WE_LOAD: return !e->is_ref && e->unary.a->is_ref && e->type == e->unary.a->type && concrete(e->unary.a);
    case GR_WE_BINARY: return concrete(e->binary.a) && concrete(e->binary.b) && !e->binary.a->is_ref && !e->binary.b->is_ref;
    case GR_WE_INDEX: return concrete(e->index.base) && concrete(e->index.index);
    case GR_WE_MEMBER: return (e->member.field || e->member.swizzle_n) && concrete(e->member.base);
    case GR_WE_CALL:
        for (uint32_t i = 0; i < e->call.arg_n; i++)
            if (!concrete(e->call.arg[i]) || e->call.arg[i]->is_ref) return false;
        return e->call.call == GR_WC_FUNCTION ? e->call.function != NULL : e->call.call == GR_WC_BUILTIN ? e->call.builtin != GR_WB_NONE : e->call.construct != GR_WN_NONE;
    default: return e->kind == GR_WE_IDENT && e->ident.decl;
    }
}

static bool sound(const gr_wgsl_stmt *s) {
    if (!s) return true;
    switch (s->kind) {
    case GR_WS_BLOCK:
        for (uint32_t i = 0; i < s->block.n; i++)
            if (!sound(s->block.v[i])) return false;
        return true;
    case GR_WS_DECL: return s->decl->kind == GR_WD_CONST || (s->decl->type && concrete(s->decl->init) && (!s->decl->init || s->decl->init->type == s->decl->type));
    case GR_WS_ASSIGN:
    case GR_WS_INCREMENT:
    case GR_WS_DECREMENT: return (!s->assign.lhs || (s->assign.lhs->is_ref && concrete(s->assign.lhs))) && concrete(s->assign.rhs);
    case GR_WS_IF: return concrete(s->branch.cond) && sound(s->branch.then) && sound(s->branch.otherwise);
    case GR_WS_SWITCH:
        for (uint32_t i = 0; i < s->select.n; i++)
            if (!sound(s->select.v[i].body)) return false;
        return concrete(s->select.cond);
    case GR_WS_LOOP: return sound(s->loop.body) && sound(s->loop.continuing) && concrete(s->loop.break_if);
    case GR_WS_FOR: return sound(s->loop_for.init) && concrete(s->loop_for.cond) && sound(s->loop_for.update) && sound(s->loop_for.body);
    case GR_WS_WHILE: return concrete(s->loop_while.cond) && sound(s->loop_while.body);
    case GR_WS_RETURN:
    case GR_WS_CALL: return concrete(s->expr);
    default: return true;
    }
}

static void check_round_trip(tally *t, const corpus_file *c, const gr_wgsl_module *m) {
    gr_buf first = {0}, second = {0};
    gr_arena a;
    gr_diags d;
    gr_wgsl_print(&first, m);
    gr_wgsl_module *again = load(&a, &d, c->path, gr_buf_view(&first));
    if (!again) {
        complain(t, &(corpus_file){.path = c->path, .text = gr_buf_view(&first)}, "its print is refused", &d);
    } else {
        gr_wgsl_print(&second, again);
        if (!gr_str_eq(gr_buf_view(&first), gr_buf_view(&second))) complain(t, c, "its print is no fixed point", &d);
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
    gr_buf_free(&first);
    gr_buf_free(&second);
}

static void on_valid(void *ctx, const corpus_file *c) {
    tally *t = ctx;
    gr_arena a;
    gr_diags d;
    gr_wgsl_module *m = load(&a, &d, c->path, c->text);
    if (!m) complain(t, c, "refused", &d);
    for (uint32_t i = 0; m && i < m->functions_n; i++)
        if (!sound(m->functions[i]->body)) complain(t, c, "its tree breaks an invariant of ast.h", &d);
    if (m) check_round_trip(t, c, m);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void on_invalid(void *ctx, const corpus_file *c) {
    tally *t = ctx;
    gr_arena a;
    gr_diags d;
    gr_wgsl_module *m = load(&a, &d, c->path, c->text);
    const gr_diag *first = NULL;
    for (uint32_t i = 0; i < d.list.n && !first; i++)
        if (d.list.v[i].severity == GR_ERROR) first = &d.list.v[i];
    if (m || !first) complain(t, c, "accepted", &d);
    else if (!gr_str_eqz(c->expect, gr_diag_text(first->name)) || first->place.line != c->line) complain(t, c, "refused for another reason than its first line says", &d);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

static void valid_programs(void **state) {
    (void)state;
    tally t = {0};
    assert_true(corpus_walk(true, on_valid, &t) >= 300);
    assert_int_equal(t.wrong, 0);
}

static void invalid_programs(void **state) {
    (void)state;
    tally t = {0};
    assert_true(corpus_walk(false, on_invalid, &t) >= 300);
    assert_int_equal(t.wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(valid_programs), cmocka_unit_test(invalid_programs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
