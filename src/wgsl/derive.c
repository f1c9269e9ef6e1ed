/* The derivative of a function: for every statement the tangents that change, before the statement itself. */
#include "wgsl/derive_int.h"

#include <stdio.h>

/* ---- names --------------------------------------------------------------------------------- */

static bool word_char(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || (unsigned char)c >= 128; }

bool gr_wgsl_text_names(gr_str text, gr_str word) {
    for (size_t i = 0; word.n && i + word.n <= text.n; i++) {
        const char *at = memchr(text.p + i, word.p[0], text.n - word.n + 1 - i);
        if (!at) return false;
        i = (size_t)(at - text.p);
        if (memcmp(at, word.p, word.n) != 0) continue;
        if (i + word.n < text.n && word_char(text.p[i + word.n])) continue;
        if (i == 0 || !word_char(text.p[i - 1])) return true;
    }
    return false;
}

/* `name` with the ending, and as many _ as make it a word that the module does not have. */
static gr_str fresh(deriving *x, gr_str name, const char *ending) {
    const char *p = gr_arena_printf(x->a, "%.*s%s", GR_STR_ARG(name), ending);
    while (p && gr_wgsl_text_names(x->m->text, gr_str_of(p))) p = gr_arena_printf(x->a, "%s_", p);
    if (!p) x->failed = !gr_report_oom(x->d);
    return p ? gr_str_of(p) : GR_STR("");
}

static void give_shadow(deriving *x, const gr_wgsl_decl *d) {
    if (!x->shadow[d->id].n) x->shadow[d->id] = fresh(x, d->name, "_d");
}

/* ---- which variables have a tangent ----------------------------------------------------------- */

/* The variable that a memory view is part of; NULL behind a pointer. */
static const gr_wgsl_decl *root(const gr_wgsl_expr *e) {
    for (;;) {
        switch (e->kind) {
        case GR_WE_IDENT: return e->ident.decl;
        case GR_WE_PAREN:
        case GR_WE_LOAD: e = e->unary.a; break;
        case GR_WE_INDEX: e = e->index.base; break;
        case GR_WE_MEMBER: e = e->member.base; break;
        default: return NULL;
        }
    }
}

static void activate(deriving *x, const gr_wgsl_decl *d) {
    if (!d || x->active[d->id] || d->module_scope) return;
    x->active[d->id] = x->changed = true;
}

static void follow(deriving *x, const gr_wgsl_stmt *s);

static void follow_all(deriving *x, gr_wgsl_stmt *const *v, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) follow(x, v[i]);
}

static void follow(deriving *x, const gr_wgsl_stmt *s) {
    if (!s) return;
    switch (s->kind) {
    case GR_WS_BLOCK: follow_all(x, s->block.v, s->block.n); return;
    case GR_WS_DECL: if (gr_derive_active(x, s->decl->init)) activate(x, s->decl); return;
    case GR_WS_ASSIGN: if (s->assign.lhs && gr_derive_active(x, s->assign.rhs)) activate(x, root(s->assign.lhs)); return;
    case GR_WS_IF: follow(x, s->branch.then); follow(x, s->branch.otherwise); return;
    case GR_WS_SWITCH: for (uint32_t i = 0; i < s->select.n; i++) follow(x, s->select.v[i].body); return;
    case GR_WS_LOOP: follow(x, s->loop.body); follow(x, s->loop.continuing); return;
    case GR_WS_FOR: follow(x, s->loop_for.init); follow(x, s->loop_for.body); follow(x, s->loop_for.update); return;
    case GR_WS_WHILE: follow(x, s->loop_while.body); return;
    default: return;
    }
}

/* ---- what must not happen on the way ------------------------------------------------------------ */

/* Bits of a value with a tangent may decide a branch, but may not become a float again: the way would be lost. The two
 * halves of such a detour are looked for in each function. */
static void inspect(deriving *x, const gr_wgsl_expr *e);

static bool uses_builtin(const gr_wgsl_function *f, gr_wgsl_builtin b) { return f->builtins[b / 64] >> (b % 64) & 1; }

static bool works_on_bits(const gr_wgsl_expr *e) {
    if (e->call.call == GR_WC_FUNCTION) return uses_builtin(e->call.function, GR_WB_bitcast);
    if (e->call.call != GR_WC_BUILTIN) return false;
    switch (e->call.builtin) {
    case GR_WB_bitcast:
    case GR_WB_pack2x16float: case GR_WB_pack2x16snorm: case GR_WB_pack2x16unorm: case GR_WB_pack4x8snorm: case GR_WB_pack4x8unorm:
    case GR_WB_unpack2x16float: case GR_WB_unpack2x16snorm: case GR_WB_unpack2x16unorm: case GR_WB_unpack4x8snorm: case GR_WB_unpack4x8unorm: return true;
    default: return false;
    }
}

static void inspect_call(deriving *x, const gr_wgsl_expr *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->call.arg_n; i++) {
        inspect(x, e->call.arg[i]);
        any = any || gr_derive_active(x, e->call.arg[i]);
    }
    if (!works_on_bits(e)) return;
    bool to_float = gr_derive_is_float(e->type);
    if (e->call.call == GR_WC_FUNCTION && any && to_float) return; /* derived itself, and looked at then */
    if (any && !to_float) x->to_bits = true;
    if (!any && to_float) x->from_bits = true;
    if ((any && to_float) || (x->to_bits && x->from_bits))
        gr_derive_refuse(x, e, "the gradient would have to pass through the bits of a float, and they have none");
}

static void inspect(deriving *x, const gr_wgsl_expr *e) {
    if (!e || e->value || x->failed) return;
    switch (e->kind) {
    case GR_WE_ADDRESS_OF:
        if (root(e->unary.a) && x->active[root(e->unary.a)->id]) gr_derive_refuse(x, e, "a pointer to a value with a derivative cannot be followed");
        return;
    case GR_WE_PAREN:
    case GR_WE_UNARY:
    case GR_WE_DEREF:
    case GR_WE_LOAD: inspect(x, e->unary.a); return;
    case GR_WE_BINARY: inspect(x, e->binary.a); inspect(x, e->binary.b); return;
    case GR_WE_INDEX: inspect(x, e->index.base); inspect(x, e->index.index); return;
    case GR_WE_MEMBER: inspect(x, e->member.base); return;
    case GR_WE_CALL: inspect_call(x, e); return;
    default: return;
    }
}

/* ---- statements ------------------------------------------------------------------------------------ */

static void statement(deriving *x, const gr_wgsl_stmt *s);

static void text(deriving *x, const char *s) { gr_buf_puts(&x->out, s); }

/* The statement itself, with its semicolon. */
static void copy(deriving *x, const gr_wgsl_stmt *s) {
    uint32_t end = s->end;
    while (end > s->offset && (x->m->text.p[end - 1] == ';' || x->m->text.p[end - 1] == ' ' || x->m->text.p[end - 1] == '\n')) end--;
    gr_derive_slice(x, s->offset, end);
    text(x, "; ");
}

/* f32, T of an f16, vec2<T>; only for variables without a written type. */
static void type_name(deriving *x, const gr_wgsl_decl *d, const gr_wgsl_type *t) {
    if (t->kind == GR_WT_F16) gr_buf_str(&x->out, x->f16_name);
    else if (t->kind == GR_WT_F32) text(x, "f32");
    else if (t->kind == GR_WT_VEC) {
        gr_buf_printf(&x->out, "vec%d<", t->n);
        type_name(x, d, t->elem);
        text(x, ">");
    } else gr_derive_refuse(x, d->init, "the variable %.*s of the type %.*s needs a written type to have a derivative", GR_STR_ARG(d->name), GR_STR_ARG(t->text));
}

static void declare(deriving *x, const gr_wgsl_stmt *s) {
    const gr_wgsl_decl *d = s->decl;
    inspect(x, d->init);
    if (!x->active[d->id]) {
        copy(x, s);
        return;
    }
    give_shadow(x, d);
    bool var = d->kind == GR_WD_VAR, from = gr_derive_active(x, d->init);
    gr_buf_printf(&x->out, "%s %.*s", var ? "var" : "let", GR_STR_ARG(x->shadow[d->id]));
    if (d->type_expr || !from) {
        text(x, ": ");
        if (d->type_expr) gr_derive_slice(x, d->type_expr->offset, d->type_expr->end);
        else type_name(x, d, d->type);
    }
    if (from) {
        text(x, " = ");
        gr_derive_tangent(x, d->init);
    }
    text(x, "; ");
    copy(x, s);
}

/* The tangent of the memory view on the left. */
static void place(deriving *x, const gr_wgsl_expr *lhs) { gr_derive_tangent(x, lhs); }

/* a *= r and a /= r, where a has a tangent and r may have one. */
static void scaled(deriving *x, const gr_wgsl_stmt *s, bool r) {
    const gr_wgsl_expr *a = s->assign.lhs, *b = s->assign.rhs;
    bool times = s->assign.op == GR_WO_MUL;
    place(x, a);
    text(x, " = ");
    place(x, a);
    text(x, times ? " * " : " / ");
    gr_derive_source(x, b, true);
    if (!r) return;
    text(x, times ? " + " : " - ");
    gr_derive_source(x, a, true);
    if (!times) {
        text(x, " / ");
        gr_derive_source(x, b, true);
        text(x, " / ");
        gr_derive_source(x, b, true);
    }
    text(x, " * ");
    gr_derive_tangent(x, b);
}

static void assign(deriving *x, const gr_wgsl_stmt *s) {
    const gr_wgsl_expr *lhs = s->assign.lhs, *rhs = s->assign.rhs;
    inspect(x, rhs);
    const gr_wgsl_decl *to = lhs ? root(lhs) : NULL;
    bool r = gr_derive_active(x, rhs);
    if (r && lhs && (!to || to->module_scope)) gr_derive_refuse(x, lhs, "a value with a derivative is stored where it cannot be followed");
    if (!to || !x->active[to->id] || !gr_derive_is_float(rhs->type) || x->failed) {
        copy(x, s);
        return;
    }
    switch (s->assign.op) {
    case GR_WO_NONE:
        place(x, lhs);
        text(x, " = ");
        gr_derive_tangent_or_zero(x, rhs);
        text(x, "; ");
        break;
    case GR_WO_ADD:
    case GR_WO_SUB:
        if (!r) break;
        place(x, lhs);
        text(x, s->assign.op == GR_WO_ADD ? " += " : " -= ");
        gr_derive_tangent(x, rhs);
        text(x, "; ");
        break;
    case GR_WO_MUL:
    case GR_WO_DIV:
        scaled(x, s, r);
        text(x, "; ");
        break;
    default:
        if (r) gr_derive_refuse(x, rhs, "the remainder by a value with a derivative is written in an expression, not with %s=", gr_wgsl_op_text(s->assign.op));
        break; /* a %= constant keeps the tangent */
    }
    copy(x, s);
}

static void block(deriving *x, const gr_wgsl_stmt *s) {
    text(x, "{ ");
    for (uint32_t i = 0; s && i < s->block.n; i++) statement(x, s->block.v[i]);
    text(x, "} ");
}

static void branch(deriving *x, const gr_wgsl_stmt *s) {
    inspect(x, s->branch.cond);
    text(x, "if ");
    gr_derive_source(x, s->branch.cond, false);
    text(x, " ");
    block(x, s->branch.then);
    if (!s->branch.otherwise) return;
    text(x, "else ");
    if (s->branch.otherwise->kind == GR_WS_IF) branch(x, s->branch.otherwise);
    else block(x, s->branch.otherwise);
}

static void choose(deriving *x, const gr_wgsl_stmt *s) {
    text(x, "switch ");
    gr_derive_source(x, s->select.cond, false);
    text(x, " { ");
    for (uint32_t i = 0; i < s->select.n; i++) {
        const gr_wgsl_case *c = &s->select.v[i];
        if (c->spelled_default) text(x, "default: ");
        else text(x, "case ");
        for (uint32_t k = 0; k < c->selector_n && !c->spelled_default; k++) {
            if (k) text(x, ", ");
            if (c->selector[k]) gr_derive_source(x, c->selector[k], false);
            else text(x, "default");
        }
        if (!c->spelled_default) text(x, ": ");
        block(x, c->body);
    }
    text(x, "} ");
}

static void loop(deriving *x, const gr_wgsl_stmt *body, const gr_wgsl_stmt *continuing, const gr_wgsl_expr *break_if) {
    text(x, "loop { ");
    for (uint32_t i = 0; i < body->block.n; i++) statement(x, body->block.v[i]);
    if (continuing || break_if) {
        text(x, "continuing { ");
        for (uint32_t i = 0; continuing && i < continuing->block.n; i++) statement(x, continuing->block.v[i]);
        if (break_if) {
            text(x, "break if ");
            gr_derive_source(x, break_if, false);
            text(x, "; ");
        }
        text(x, "} ");
    }
    text(x, "} ");
}

/* `for` as a loop, since its head has room for one statement: { init loop { if !cond break; { body } continuing { update } } }. */
static void loop_for(deriving *x, const gr_wgsl_stmt *s) {
    text(x, "{ ");
    if (s->loop_for.init) statement(x, s->loop_for.init);
    text(x, "loop { ");
    if (s->loop_for.cond) {
        text(x, "if (!(");
        gr_derive_source(x, s->loop_for.cond, false);
        text(x, ")) { break; } ");
    }
    block(x, s->loop_for.body);
    if (s->loop_for.update) {
        text(x, "continuing { ");
        statement(x, s->loop_for.update);
        text(x, "} ");
    }
    text(x, "} } ");
}

static void give_back(deriving *x, const gr_wgsl_stmt *s) {
    inspect(x, s->expr);
    text(x, "return ");
    if (s->expr) gr_derive_tangent_or_zero(x, s->expr);
    text(x, "; ");
}

static void statement(deriving *x, const gr_wgsl_stmt *s) {
    if (!s || x->failed) return;
    switch (s->kind) {
    case GR_WS_BLOCK: block(x, s); return;
    case GR_WS_DECL: declare(x, s); return;
    case GR_WS_ASSIGN: assign(x, s); return;
    case GR_WS_IF: branch(x, s); return;
    case GR_WS_SWITCH: choose(x, s); return;
    case GR_WS_LOOP: loop(x, s->loop.body, s->loop.continuing, s->loop.break_if); return;
    case GR_WS_FOR: loop_for(x, s); return;
    case GR_WS_WHILE:
        text(x, "while ");
        gr_derive_source(x, s->loop_while.cond, false);
        text(x, " ");
        block(x, s->loop_while.body);
        return;
    case GR_WS_RETURN: give_back(x, s); return;
    case GR_WS_CALL: inspect(x, s->expr); copy(x, s); return;
    case GR_WS_CONST_ASSERT:
    case GR_WS_EMPTY: return;
    default: copy(x, s); return; /* break, continue, increments of integers */
    }
}

/* ---- functions ----------------------------------------------------------------------------------------- */

gr_str gr_derive_function(deriving *x, const gr_wgsl_expr *at, const gr_wgsl_function *fn, uint64_t mask) {
    for (uint32_t i = 0; i < x->jobs; i++)
        if (x->job[i].fn == fn && x->job[i].mask == mask) return x->job[i].name;
    if (x->jobs == DERIVE_CALLS_MAX) {
        gr_derive_refuse(x, at, "over %d functions would have to be derived", DERIVE_CALLS_MAX);
        return (gr_str){0};
    }
    char ending[24];
    snprintf(ending, sizeof ending, "_d%llx", (unsigned long long)mask);
    gr_str name = fresh(x, fn->decl->name, ending);
    x->job[x->jobs++] = (derive_job){fn, mask, name};
    return name;
}

static void parameters(deriving *x, const derive_job *j) {
    for (uint32_t i = 0; i < j->fn->param_n; i++) {
        const gr_wgsl_decl *p = j->fn->param[i];
        gr_buf_printf(&x->out, "%s%.*s: ", i ? ", " : "", GR_STR_ARG(p->name));
        gr_derive_slice(x, p->type_expr->offset, p->type_expr->end);
    }
    for (uint32_t i = 0; i < j->fn->param_n; i++) {
        const gr_wgsl_decl *p = j->fn->param[i];
        if (!(j->mask >> i & 1)) continue;
        give_shadow(x, p);
        gr_buf_printf(&x->out, ", %.*s: ", GR_STR_ARG(x->shadow[p->id]));
        gr_derive_slice(x, p->type_expr->offset, p->type_expr->end);
    }
}

/* fn f_d1(x: T, y: T, x_d: T) -> T { ... } */
static void derive_function(deriving *x, const derive_job *j) {
    x->to_bits = x->from_bits = false;
    memset(x->active, 0, x->m->decl_ids * sizeof *x->active);
    for (uint32_t i = 0; i < j->fn->param_n; i++)
        if (j->mask >> i & 1) x->active[j->fn->param[i]->id] = true;
    do {
        x->changed = false;
        follow(x, j->fn->body);
    } while (x->changed);
    gr_buf_printf(&x->out, "fn %.*s(", GR_STR_ARG(j->name));
    parameters(x, j);
    text(x, ") -> ");
    gr_derive_slice(x, j->fn->result_expr->offset, j->fn->result_expr->end);
    text(x, " ");
    block(x, j->fn->body);
    text(x, "\n");
}

/* Every function that was asked for and is not there yet; deriving one may ask for more. */
static bool derive_functions(deriving *x) {
    for (uint32_t i = 0; i < x->jobs && !x->failed; i++) {
        derive_job j = x->job[i];
        if (gr_map_get(&x->functions->names, j.name, NULL)) continue;
        gr_buf_clear(&x->out);
        derive_function(x, &j);
        if (x->functions->text.n > GR_WGSL_DERIVE_MAX) gr_derive_refuse(x, NULL, "the derivative has over %d bytes of text", GR_WGSL_DERIVE_MAX);
        gr_buf_str(&x->functions->text, gr_buf_view(&x->out));
        gr_str name = gr_str_dup(x->functions->arena, j.name);
        bool memory = !x->functions->text.failed && !x->out.failed && name.p && gr_map_put(x->functions->arena, &x->functions->names, name, 1);
        if (!memory) return gr_report_oom(x->d);
    }
    return !x->failed;
}

/* ---- the call -------------------------------------------------------------------------------------------- */

static const gr_wgsl_function *find_function(const gr_wgsl_module *m, gr_str name) {
    for (uint32_t i = 0; i < m->functions_n; i++)
        if (gr_str_eq(m->functions[i]->decl->name, name)) return m->functions[i];
    return NULL;
}

static bool derive_expression(deriving *x, const gr_wgsl_function *fn, gr_str param, gr_str tangent, gr_arena *a, gr_str *expr) {
    const gr_wgsl_stmt *body = fn->body;
    if (body->block.n != 1 || body->block.v[0]->kind != GR_WS_RETURN) return GR_BUG(x->d, "W1", "only a function that returns an expression is derived as one");
    for (uint32_t i = 0; i < fn->param_n; i++) {
        if (!gr_str_eq(fn->param[i]->name, param)) continue;
        x->active[fn->param[i]->id] = gr_derive_is_float(fn->param[i]->type);
        x->shadow[fn->param[i]->id] = tangent;
    }
    const gr_wgsl_expr *e = body->block.v[0]->expr;
    inspect(x, e);
    if (!x->failed && gr_derive_active(x, e)) gr_derive_tangent(x, e);
    if (x->failed) return false;
    *expr = x->out.n ? gr_str_dup(a, gr_buf_view(&x->out)) : GR_STR("");
    return (expr->p && !x->out.failed) || gr_report_oom(x->d);
}

bool gr_wgsl_derive(gr_arena *a, gr_diags *d, const gr_wgsl_module *m, gr_str fn, gr_str param, gr_str tangent, gr_str f16_name,
                    gr_wgsl_derived *functions, gr_str *expr) {
    gr_arena scratch = {0};
    const gr_wgsl_function *f = find_function(m, fn);
    if (!f) return GR_BUG(d, "W3", "the module has no function %.*s", GR_STR_ARG(fn));
    deriving *x = GR_NEW(&scratch, deriving);
    bool ok = x != NULL;
    if (ok) {
        *x = (deriving){.a = &scratch, .d = d, .m = m, .f16_name = f16_name.n ? f16_name : GR_STR("f16"), .functions = functions};
        x->active = GR_NEW_N(&scratch, bool, m->decl_ids);
        x->shadow = GR_NEW_N(&scratch, gr_str, m->decl_ids);
        ok = x->active && x->shadow;
    }
    if (!ok) gr_report_oom(d);
    ok = ok && derive_expression(x, f, param, tangent, a, expr) && derive_functions(x);
    if (x) gr_buf_free(&x->out);
    gr_arena_free(&scratch);
    return ok;
}
