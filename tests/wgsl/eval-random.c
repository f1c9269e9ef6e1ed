/* Random structured programs: many lanes at once must give what each invocation gives alone.
 *
 * Alone, everything is uniform and control flow is jumps; together, registers vary and control
 * is masks; under the sanitizer, workgroups are not packed. GRADUS_SEED and GRADUS_ROUNDS override. */
#include "wgsl/eval-harness.h"

#include "base/rng.h"

#include <stdlib.h>

enum { LANES = 48, VARS = 5, DEPTH = 4 };

typedef struct gen {
    gr_rng rng;
    gr_buf out;
    uint32_t loops;   /* names of counters */
    uint32_t budget;  /* statements left */
    bool in_function, in_loop, in_continuing;
    uint32_t functions; /* that may be called */
} gen;

static uint32_t below(gen *g, uint32_t n) { return gr_rng_below(&g->rng, n); }
static void put(gen *g, const char *z) { gr_buf_puts(&g->out, z); }

static void expr(gen *g, int depth) {
    static const char *const ops[] = {"+", "-", "*", "/", "%", "&", "|", "^"};
    switch (depth <= 0 ? below(g, 4) : below(g, 13)) {
        case 0: gr_buf_printf(&g->out, "n%u", below(g, 9)); return; /* no constant expressions: they may be errors */
        case 1: case 2: gr_buf_printf(&g->out, "v%u", below(g, VARS)); return;
        case 3: put(g, g->in_function ? "v0" : below(g, 2) ? "id" : "q[1]"); return;
        case 4: put(g, "q["), expr(g, depth - 1), put(g, " & 15u]"); return;
        case 5: put(g, "t["), expr(g, depth - 1), put(g, " & 7u]"); return;
        case 6: put(g, "select("), expr(g, depth - 1), put(g, ", "), expr(g, depth - 1), put(g, ", "), expr(g, 0), put(g, " < "), expr(g, 0), put(g, ")"); return;
        case 7:
            if (g->functions) {
                gr_buf_printf(&g->out, "fn%u(", below(g, g->functions));
                expr(g, depth - 2), put(g, ", "), expr(g, 0), put(g, ")");
                return;
            } /* fall through */
        case 8: put(g, "(("), expr(g, depth - 1), put(g, ") << ("), expr(g, 0), put(g, " & 7u))"); return;
        default:
            put(g, "("), expr(g, depth - 1);
            gr_buf_printf(&g->out, " %s ", ops[below(g, 8)]);
            expr(g, depth - 1), put(g, ")");
    }
}

static void condition(gen *g) {
    static const char *const ops[] = {"<", "<=", "==", "!=", ">", ">="};
    put(g, "("), expr(g, 1);
    gr_buf_printf(&g->out, " %s ", ops[below(g, 6)]);
    expr(g, 1);
    if (below(g, 4) == 0) gr_buf_puts(&g->out, below(g, 2) ? " && " : " || "), expr(g, 1), put(g, " > "), expr(g, 2);
    put(g, ")");
}

static void block(gen *g, int depth);

static void loop(gen *g, int depth) {
    uint32_t k = g->loops++;
    bool was = g->in_loop;
    g->in_loop = true;
    switch (below(g, 3)) {
        case 0:
            gr_buf_printf(&g->out, "for (var k%u = 0u; k%u < (", k, k), expr(g, 1);
            gr_buf_printf(&g->out, " & 7u); k%u++) ", k);
            block(g, depth);
            break;
        case 1:
            gr_buf_printf(&g->out, "{ var k%u = 0u; while (k%u < 6u && ", k, k), condition(g);
            gr_buf_printf(&g->out, ") { k%u++; ", k), block(g, depth), put(g, " } }");
            break;
        default:
            gr_buf_printf(&g->out, "{ var k%u = 0u; loop { if (k%u > 5u) { break; } ", k, k), block(g, depth);
            gr_buf_printf(&g->out, " continuing { k%u += 1u; v%u += k%u; break if v%u %% 5u == 3u; } } }", k, below(g, VARS), k, below(g, VARS));
    }
    g->in_loop = was;
}

static void choice(gen *g, int depth) {
    put(g, "switch "), expr(g, 1), put(g, " % 5u { case 0u: "), block(g, depth), put(g, " case 1u, 3u: "), block(g, depth);
    put(g, " default: "), block(g, depth), put(g, " }");
}

/* True when nothing may follow in the block. */
static bool statement(gen *g, int depth) {
    if (g->budget == 0) return false;
    g->budget--;
    put(g, "\n");
    switch (depth <= 0 ? below(g, 5) : below(g, 13)) {
        case 0: case 1: case 2: gr_buf_printf(&g->out, "v%u = ", below(g, VARS)), expr(g, 3), put(g, ";"); return false;
        case 3: gr_buf_printf(&g->out, "v%u += ", below(g, VARS)), expr(g, 2), put(g, ";"); return false;
        case 4: put(g, "t["), expr(g, 1), put(g, " & 7u] = "), expr(g, 2), put(g, ";"); return false;
        case 5: case 6: put(g, "if ("), condition(g), put(g, ") "), block(g, depth - 1); return false;
        case 7: put(g, "if ("), condition(g), put(g, ") "), block(g, depth - 1), put(g, " else "), block(g, depth - 1); return false;
        case 8: case 9: loop(g, depth - 1); return false;
        case 10: choice(g, depth - 1); return false;
        case 11:
            if (!g->in_loop) return false;
            put(g, "if ("), condition(g), put(g, below(g, 2) ? ") { break; }" : ") { continue; }");
            return false;
        default:
            put(g, "if ("), condition(g), put(g, ") { ");
            if (g->in_function) put(g, "return "), expr(g, 1), put(g, "; }");
            else put(g, "o[id] = v0 + 7u; return; }");
            return false;
    }
}

static void block(gen *g, int depth) {
    put(g, "{ ");
    uint32_t n = 1 + below(g, 4);
    for (uint32_t k = 0; k < n; k++)
        if (statement(g, depth)) break;
    put(g, " }");
}

static void variables(gen *g) {
    for (uint32_t k = g->in_function ? 2 : 0; k < VARS; k++) gr_buf_printf(&g->out, "  var v%u = %uu;\n", k, k + 1);
    put(g, "  var t: array<u32, 8> = array<u32, 8>(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);\n");
}

static void function(gen *g) {
    gr_buf_printf(&g->out, "fn fn%u(a: u32, b: u32) -> u32 {\n  var v0 = a; var v1 = b;\n", g->functions);
    g->in_function = true;
    g->budget = 8;
    variables(g);
    for (int k = 0; k < 3; k++) statement(g, 2);
    put(g, "\n  return "), expr(g, 2), put(g, ";\n}\n");
    g->in_function = false;
    g->functions++;
}

static void program(gen *g, uint32_t size) {
    put(g, "@group(0) @binding(0) var<storage, read_write> o: array<u32>;\n@group(0) @binding(1) var<storage, read> q: array<u32>;\n");
    for (uint32_t k = 0; k < 9; k++) gr_buf_printf(&g->out, "var<private> n%u = %uu;\n", k, k);
    uint32_t functions = below(g, 3);
    for (uint32_t k = 0; k < functions; k++) function(g);
    gr_buf_printf(&g->out, "@compute @workgroup_size(%u)\nfn main(@builtin(global_invocation_id) gid: vec3<u32>) {\n", size);
    put(g, "  let id = gid.x + q[16];\n");
    variables(g);
    g->budget = 25;
    for (int k = 0; k < 6; k++) statement(g, DEPTH);
    put(g, "\n  var sum = 0u;\n  for (var k = 0u; k < 8u; k++) { sum = sum * 31u + t[k]; }\n");
    put(g, "  o[id] = sum + v0 + 3u * v1 + 5u * v2 + 7u * v3 + 11u * v4;\n}\n");
}

/* `times` dispatches of `groups` workgroups, the k-th with ids from k on. */
static bool run(const char *text, gr_eval_mode mode, uint32_t groups, uint32_t times, uint32_t *o, gr_diags *d) {
    gr_arena a = {0};
    gr_wgsl_module *m = gr_wgsl_load(&a, d, GR_STR("random"), gr_str_of(text), NULL);
    const gr_eval_options opt = {.mode = mode, .step_limit = 1000000};
    gr_eval_program *p = m ? gr_eval_compile(&a, d, m, GR_STR(""), &opt) : NULL;
    uint32_t q[17] = {3};
    for (uint32_t k = 1; k < 16; k++) q[k] = k * 5 % 17;
    const gr_eval_binding b[] = {{.binding = 0, .bytes = o, .size = LANES * 4}, {.binding = 1, .bytes = q, .size = sizeof q}};
    const uint32_t grid[3] = {groups, 1, 1};
    bool ok = p != NULL;
    for (q[16] = 0; ok && q[16] < times; q[16]++) ok = gr_eval_dispatch(p, d, b, 2, grid, NULL);
    gr_arena_free(&a);
    return ok;
}

static void explain(const char *text, gr_diags *d, uint64_t seed) {
    gr_buf out = {0};
    gr_diags_print(&out, d, gr_str_of(text));
    fprintf(stderr, "GRADUS_SEED=%llu\n%s\n%s\n", (unsigned long long)seed, text, out.p ? out.p : "");
    gr_buf_free(&out);
}

static bool one(uint64_t seed) {
    gen many = {.rng = gr_rng_seed(seed)}, alone = {.rng = gr_rng_seed(seed)};
    static const uint32_t sizes[] = {1, 3, 16, 48};
    uint32_t size = sizes[seed % 4];
    program(&many, size), program(&alone, 1);
    uint32_t want[LANES] = {0}, got[LANES], checked[LANES], widened[LANES];
    memset(got, 0, sizeof got), memset(checked, 0, sizeof checked), memset(widened, 0, sizeof widened);
    gr_diags d;
    gr_diags_init(&d);
    bool ok = run(alone.out.p, GR_EVAL_F32, 1, LANES, want, &d) && run(many.out.p, GR_EVAL_F32, LANES / size, 1, got, &d) &&
              run(many.out.p, GR_EVAL_SANITIZER, LANES / size, 1, checked, &d) &&
              run(many.out.p, GR_EVAL_BOUNDED, LANES / size, 1, widened, &d);
    bool same = ok && memcmp(want, got, sizeof want) == 0 && memcmp(want, checked, sizeof want) == 0 && memcmp(want, widened, sizeof want) == 0;
    if (!same) explain(many.out.p, &d, seed);
    for (uint32_t k = 0; ok && !same && k < LANES; k++)
        if (want[k] != got[k] || want[k] != checked[k] || want[k] != widened[k])
            print_message("lane %u: alone %08x, together %08x, sanitizer %08x, bounded %08x\n", k, want[k], got[k], checked[k], widened[k]);
    gr_diags_free(&d);
    gr_buf_free(&many.out), gr_buf_free(&alone.out);
    return same;
}

static void lanes_together_are_lanes_alone(void **state) {
    (void)state;
    const char *seed = getenv("GRADUS_SEED"), *rounds = getenv("GRADUS_ROUNDS");
    uint64_t first = seed ? strtoull(seed, NULL, 10) : 1, n = rounds ? strtoull(rounds, NULL, 10) : seed ? 1 : 120;
    for (uint64_t k = 0; k < n; k++) assert_true(one(first + k));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_together_are_lanes_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
