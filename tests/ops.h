/* ops.h: ops made up for tests of flow and graph: contracts without kernels. Include after cmocka.h. */
#ifndef GR_TESTS_OPS_H
#define GR_TESTS_OPS_H

#include "golden.h"
#include "contract/contract.h"

typedef struct test_op { const char *id, *signature, *more; } test_op;

static const test_op test_ops[] = {
    {"t/one@1", "one(x: T[..s]) -> y: T[..s]  T in f32, i32, bool", "contract_only = true\n"},
    {"t/add@1", "add(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]  T in f32, i32", "contract_only = true\n"},
    {"t/add@2", "add(a: T[..s], b: T[..t]) -> y: T[..broadcast(s, t)]  T in f32, i32, f64", "contract_only = true\n"},
    {"t/window@1", "window(x: f32[n]; w: u32 in 1..=31 odd = 7) -> y: f32[n - w + 1]  where n >= w", "contract_only = true\n"},
    {"t/join@1", "join(xs: T[..s]*; axis: u32 = 0) -> y: T[..concat(s, axis)]  T in f32, i32", "contract_only = true\n"},
    {"t/cut@1", "cut(x: T[..s]; splits: u32[*], axis: u32 = 0) -> ys: T[..split(s, axis, splits)]*  T in f32, i32", "contract_only = true\n"},
    {"t/pair@1", "pair(x: f32[..s], bias: f32[..s]?; mode: \\\"up\\\" | \\\"down\\\" = \\\"up\\\", p: f32 = 0.5) -> values: f32[..s], places: i32[..s]", "contract_only = true\n"},
    {"t/sum@1", "sum(x: T[..s]; axes: u32[*] = all, keep_dimensions: bool = false) -> y: T[..drop(s, axes, keep_dimensions)]  T in f32, i32", "contract_only = true\n"},
    {"t/cast@1", "cast(x: T[..s]; type: dtype) -> y: type[..s]  T in f32, i32, bool", "contract_only = true\n"},
    {"t/twice@1", "twice(x: T[..s]) -> y: T[..s]  T in f32, i32", "graph = \"\"\"\n%y = t/add %x %x\n\"\"\"\n"},
    {"t/mean@1", "mean(x: f32[..s]; axes: u32[*] = all) -> y: f32[..drop(s, axes, false)]", "graph = \"\"\"\n%sum = t/sum %x axes=axes\n%n = constant size(x) / max(size(y), 1) : f32[]\n%d = t/twice %n\n%y = t/add %sum %d\n\"\"\"\n"},
    {"t/again@1", "again(x: f32[..s]) -> y: f32[..s]", "graph = \"\"\"\n%y = t/again %x\n\"\"\"\n"},
    {"t/wrong@1", "wrong(x: f32[..s]) -> y: f32[..s]", "graph = \"\"\"\n%y = t/sum %x\n\"\"\"\n"},
    {"t/perhaps@1", "perhaps(x: f32[..s], bias: f32[..s]?; twice: bool = false) -> y: f32[..s]",
     "graph = \"\"\"\n%two = constant 2 : f32[] if twice\n%a = t/add %x %two if twice\n%a = t/one %x if not twice\n%y = t/add %a %bias if given(bias)\n%y = t/one %a if not given(bias)\n\"\"\"\n"},
    {"t/both@1", "both(x: f32[..s]; k: u32 = 1) -> y: f32[..s]", "graph = \"\"\"\n%y = t/one %x if k > 0\n%y = t/twice %x if k > 1\n\"\"\"\n"},
    {"t/joined@1", "joined(xs: f32[..s]*; axis: u32 = 0) -> y: f32[..concat(s, axis)]", "graph = \"\"\"\n%y = t/join %xs axis=axis\n\"\"\"\n"},
};

/* A catalog of them; fails the test when one does not load. */
static inline gr_catalog *test_catalog(void) {
    gr_catalog *c = gr_catalog_new();
    gr_diags d;
    gr_diags_init(&d);
    assert_non_null(c);
    for (size_t i = 0; i < sizeof test_ops / sizeof *test_ops; i++) {
        gr_buf b = {0};
        const test_op *o = &test_ops[i];
        gr_buf_printf(&b, "signature = \"%s\"\ncategory = \"pointwise\"\ntolerance = \"default\"\nsummary = \"A test.\"\ndescription = \"A test.\"\ntags = [\"test\"]\nauthor = \"Gradus\"\nlicense = \"Apache-2.0\"\n[body]\n%s\n[backward]\nform = \"none\"\nreason = \"a test\"\n",
                      o->signature, o->more);
        gr_str name = GR_STR("op.toml"), text = gr_buf_view(&b);
        const gr_op *op = gr_catalog_add(c, &d, gr_str_of(o->id), &name, &text, 1);
        if (!op) golden_show(&d, text);
        assert_non_null(op);
        gr_buf_free(&b);
    }
    gr_diags_free(&d);
    return c;
}

/* The catalog of the product and the examples' ops. */
static inline gr_catalog *real_catalog(void) {
    gr_catalog *c = gr_catalog_new();
    gr_diags d;
    gr_arena a = {0};
    gr_diags_init(&d);
    assert_non_null(c);
    gr_catalog_load(c, &d, golden_path(&a, "catalog"));
    gr_catalog_load(c, &d, golden_path(&a, "examples/ops"));
    gr_diags_free(&d);
    gr_arena_free(&a);
    return c;
}

#endif
