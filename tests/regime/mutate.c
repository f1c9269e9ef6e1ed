/* mutate.c: see mutate.h. Whether a mutant compiles is left to the compiler. */
#include "mutate.h"

#include "wgsl/wgsl_int.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct maker {
    gr_arena *a;
    gr_str text;
    uint32_t shift; /* of the text before an expression */
    mutants *out;
} maker;

static gr_str cut(const maker *m, uint32_t from, uint32_t to) { return (gr_str){m->text.p + from, to - from}; }

static void add(maker *m, const char *kind, uint32_t from, uint32_t to, char *with) {
    mutant *x = with ? GR_PUSH(m->a, m->out) : NULL;
    if (x) *x = (mutant){kind, from - m->shift, to - m->shift, gr_str_of(with)};
}

/* ---- operators ---- */

typedef struct turn { gr_wgsl_op from, to; const char *kind; } turn;
static const turn TURNS[] = {
    {GR_WO_LT, GR_WO_LE, "comparison"}, {GR_WO_LE, GR_WO_LT, "comparison"}, {GR_WO_GT, GR_WO_GE, "comparison"}, {GR_WO_GE, GR_WO_GT, "comparison"},
    {GR_WO_EQ, GR_WO_NE, "comparison"}, {GR_WO_NE, GR_WO_EQ, "comparison"}, {GR_WO_ADD, GR_WO_SUB, "arithmetic"}, {GR_WO_SUB, GR_WO_ADD, "arithmetic"},
    {GR_WO_MUL, GR_WO_DIV, "arithmetic"}, {GR_WO_DIV, GR_WO_MUL, "arithmetic"}, {GR_WO_MOD, GR_WO_MUL, "arithmetic"},
    {GR_WO_SHL, GR_WO_SHR, "arithmetic"}, {GR_WO_SHR, GR_WO_SHL, "arithmetic"}, {GR_WO_AND, GR_WO_OR, "logic"}, {GR_WO_OR, GR_WO_AND, "logic"},
    {GR_WO_XOR, GR_WO_OR, "logic"}, {GR_WO_LOGICAL_AND, GR_WO_LOGICAL_OR, "logic"}, {GR_WO_LOGICAL_OR, GR_WO_LOGICAL_AND, "logic"},
};

static const turn *turn_of(gr_wgsl_op op) {
    for (size_t i = 0; i < sizeof TURNS / sizeof *TURNS; i++)
        if (TURNS[i].from == op) return &TURNS[i];
    return NULL;
}

static bool commutes(gr_wgsl_op op) {
    return op == GR_WO_ADD || op == GR_WO_MUL || op == GR_WO_AND || op == GR_WO_OR || op == GR_WO_XOR || op == GR_WO_LOGICAL_AND ||
           op == GR_WO_LOGICAL_OR || op == GR_WO_EQ || op == GR_WO_NE;
}

static void of_binary(maker *m, const gr_wgsl_expr *e) {
    const turn *t = turn_of(e->binary.op);
    const char *op = gr_wgsl_op_text(e->binary.op);
    if (t) add(m, t->kind, e->binary.op_offset, e->binary.op_offset + (uint32_t)strlen(op), gr_arena_printf(m->a, "%s", gr_wgsl_op_text(t->to)));
    if (commutes(e->binary.op)) return;
    gr_str x = cut(m, e->binary.a->offset, e->binary.a->end), y = cut(m, e->binary.b->offset, e->binary.b->end);
    add(m, "swap", e->offset, e->end, gr_arena_printf(m->a, "((%.*s) %s (%.*s))", GR_STR_ARG(y), op, GR_STR_ARG(x)));
}

/* ---- literals ---- */

enum { LARGE = 1 << 12 };

static void of_literal(maker *m, const gr_wgsl_expr *e) {
    char text[64], with[96], *end;
    gr_str s = e->literal.text;
    if (s.n == 0 || s.n >= sizeof text) return;
    if (gr_str_eqz(s, "true") || gr_str_eqz(s, "false")) {
        add(m, "constant", e->offset, e->end, gr_arena_printf(m->a, "%s", s.n == 4 ? "false" : "true"));
        return;
    }
    memcpy(text, s.p, s.n);
    text[s.n] = 0;
    bool hex = s.n > 1 && (text[1] == 'x' || text[1] == 'X');
    bool whole = !strpbrk(text, hex ? ".pP" : ".eEfh");
    if (whole) {
        unsigned long long v = strtoull(text, &end, hex ? 16 : 10);
        snprintf(with, sizeof with, "%llu%s", v > LARGE ? v - v / 4 : v + 1, end); /* one more is below what a large number can show */
    } else {
        double v = strtod(text, &end), next = v + 1;
        if (next == v || v > 1e6) next = v * 1.5;
        snprintf(with, sizeof with, "%.17g", next);
        if (!strpbrk(with, ".e")) strcat(with, ".0");
        strncat(with, end, 2);
    }
    add(m, "constant", e->offset, e->end, gr_arena_printf(m->a, "%s", with));
}

/* ---- calls and indices ---- */

static void of_call(maker *m, const gr_wgsl_expr *e) {
    static const char *const other[][2] = {{"max", "min"}, {"min", "max"}, {"floor", "ceil"}, {"ceil", "floor"}, {"exp", "exp2"}, {"log", "log2"},
                                           {"sin", "cos"}, {"cos", "sin"}, {"abs", "sign"}, {"sqrt", "abs"}, {"any", "all"}, {"all", "any"}};
    const gr_wgsl_expr *f = e->call.callee;
    for (size_t i = 0; i < sizeof other / sizeof *other; i++)
        if (gr_str_eqz(f->ident.name, other[i][0])) add(m, "builtin", f->offset, f->offset + (uint32_t)f->ident.name.n, gr_arena_printf(m->a, "%s", other[i][1]));
    bool same = gr_str_eqz(f->ident.name, "max") || gr_str_eqz(f->ident.name, "min") || gr_str_eqz(f->ident.name, "dot");
    if (e->call.arg_n < 2 || same) return;
    const gr_wgsl_expr *x = e->call.arg[0], *y = e->call.arg[1];
    gr_str a = cut(m, x->offset, x->end), b = cut(m, y->offset, y->end);
    if (!gr_str_eq(a, b)) add(m, "swap", x->offset, y->end, gr_arena_printf(m->a, "%.*s, %.*s", GR_STR_ARG(b), GR_STR_ARG(a)));
}

static bool of_expr(void *ctx, gr_wgsl_expr *e) {
    maker *m = ctx;
    if (e->kind == GR_WE_LITERAL) of_literal(m, e);
    if (e->kind == GR_WE_BINARY) of_binary(m, e);
    if (e->kind == GR_WE_CALL) of_call(m, e);
    if (e->kind == GR_WE_INDEX && e->index.index->kind != GR_WE_LITERAL) {
        gr_str i = cut(m, e->index.index->offset, e->index.index->end);
        add(m, "index", e->index.index->offset, e->index.index->end, gr_arena_printf(m->a, "(%.*s) + 1", GR_STR_ARG(i)));
    }
    if (e->kind == GR_WE_UNARY && e->unary.op != GR_WO_NONE) add(m, "negate", e->offset, e->unary.a->offset, gr_arena_printf(m->a, " "));
    return true;
}

/* ---- statements ---- */

static void of_condition(maker *m, const gr_wgsl_expr *c) {
    if (c) add(m, "negate", c->offset, c->end, gr_arena_printf(m->a, "!(%.*s)", GR_STR_ARG(cut(m, c->offset, c->end))));
}

static void of_assignment(maker *m, const gr_wgsl_stmt *s) {
    const turn *t = turn_of(s->assign.op);
    if (!t || !s->assign.lhs || !s->assign.rhs) return;
    for (uint32_t at = s->assign.lhs->end; at < s->assign.rhs->offset; at++) {
        const char *op = gr_wgsl_op_text(s->assign.op);
        if (memcmp(m->text.p + at, op, strlen(op))) continue;
        add(m, "assignment", at, at + (uint32_t)strlen(op), gr_arena_printf(m->a, "%s", gr_wgsl_op_text(t->to)));
        return;
    }
}

static bool ends_with_semicolon(const maker *m, const gr_wgsl_stmt *s) { return s->end > s->offset && m->text.p[s->end - 1] == ';'; }

static void of_drop(maker *m, const gr_wgsl_stmt *s) {
    bool barrier = s->kind == GR_WS_CALL && memmem(m->text.p + s->offset, s->end - s->offset, "Barrier(", 8) != NULL;
    add(m, barrier ? "barrier" : "drop", s->offset, s->end, gr_arena_printf(m->a, "%s", ends_with_semicolon(m, s) ? ";" : " "));
}

static void walk(maker *m, gr_wgsl_stmt *s) {
    if (!s) return;
    switch (s->kind) {
        case GR_WS_BLOCK:
            for (uint32_t i = 0; i < s->block.n; i++) walk(m, s->block.v[i]);
            return;
        case GR_WS_DECL: gr_wgsl_visit_expr(s->decl->init, of_expr, m); return;
        case GR_WS_ASSIGN:
        case GR_WS_INCREMENT:
        case GR_WS_DECREMENT:
            of_drop(m, s);
            of_assignment(m, s);
            gr_wgsl_visit_expr(s->assign.lhs, of_expr, m);
            if (s->kind == GR_WS_ASSIGN) gr_wgsl_visit_expr(s->assign.rhs, of_expr, m);
            return;
        case GR_WS_IF:
            of_drop(m, s);
            of_condition(m, s->branch.cond);
            gr_wgsl_visit_expr(s->branch.cond, of_expr, m);
            walk(m, s->branch.then);
            if (s->branch.otherwise && s->branch.otherwise->kind == GR_WS_BLOCK) of_drop(m, &(gr_wgsl_stmt){.kind = GR_WS_BLOCK, .offset = s->branch.then->end, .end = s->branch.otherwise->end});
            walk(m, s->branch.otherwise);
            return;
        case GR_WS_SWITCH:
            gr_wgsl_visit_expr(s->select.cond, of_expr, m);
            for (uint32_t i = 0; i < s->select.n; i++) walk(m, s->select.v[i].body);
            return;
        case GR_WS_LOOP:
            walk(m, s->loop.body);
            walk(m, s->loop.continuing);
            gr_wgsl_visit_expr(s->loop.break_if, of_expr, m);
            return;
        case GR_WS_FOR:
            walk(m, s->loop_for.init);
            gr_wgsl_visit_expr(s->loop_for.cond, of_expr, m);
            walk(m, s->loop_for.update);
            walk(m, s->loop_for.body);
            return;
        case GR_WS_WHILE:
            gr_wgsl_visit_expr(s->loop_while.cond, of_expr, m);
            walk(m, s->loop_while.body);
            return;
        case GR_WS_RETURN:
            if (!s->expr) of_drop(m, s);
            gr_wgsl_visit_expr(s->expr, of_expr, m);
            return;
        case GR_WS_CALL:
        case GR_WS_BREAK:
        case GR_WS_CONTINUE:
            of_drop(m, s);
            if (s->kind == GR_WS_CALL) gr_wgsl_visit_expr(s->expr, of_expr, m);
            return;
        default: return;
    }
}

static bool make(gr_arena *a, gr_str text, uint32_t shift, mutants *out) {
    gr_diags d;
    gr_diags_init(&d);
    gr_wgsl_module *module = gr_wgsl_parse(a, &d, GR_STR("mutated"), text);
    maker m = {a, text, shift, out};
    for (uint32_t i = 0; module && i < module->decl_n; i++) {
        const gr_wgsl_decl *x = module->decl[i];
        if (x->kind == GR_WD_CONST) gr_wgsl_visit_expr(x->init, of_expr, &m);
        if (x->kind == GR_WD_FUNCTION) walk(&m, x->function->body);
    }
    gr_diags_free(&d);
    return module != NULL;
}

bool mutants_of_module(gr_arena *a, gr_str text, mutants *out) { return make(a, text, 0, out); }

bool mutants_of_expr(gr_arena *a, gr_str expr, mutants *out) {
    static const char head[] = "fn m() -> f32 { return ";
    char *text = gr_arena_printf(a, "%s%.*s; }\n", head, GR_STR_ARG(expr));
    return text && make(a, gr_str_of(text), sizeof head - 1, out);
}
