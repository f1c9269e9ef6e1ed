/* scaffold.c: the files of a new op, complete enough to conform as they stand. */
#include "base/file.h"
#include "regime/regime.h"

static const char TOML[] =
    "signature = \"%.*s(x: f32[n]; w: u32 in 1..=31 = 3) -> y: f32[n - w + 1] where n >= w\"\n"
    "category = \"reduction\"\n"
    "tolerance = \"tight\"\n"
    "\n"
    "summary = \"Sum of every window of w samples.\"\n"
    "\n"
    "[body]\n"
    "reference = \"reference.wgsl\"\n"
    "binding = \"\"\"\n"
    "bind x = read x\n"
    "bind y = write y\n"
    "bind p = uniform { count = n - w + 1, w = w }\n"
    "pass main over n - w + 1\n"
    "\"\"\"\n"
    "\n"
    "[[kernel]]\n"
    "file = \"kernel.wgsl\"\n"
    "order = \"fixed\"\n"
    "binding = \"\"\"\n"
    "bind x = read x\n"
    "bind y = write y\n"
    "bind p = uniform { count = n - w + 1, w = w }\n"
    "pass main over n - w + 1\n"
    "\"\"\"\n"
    "\n"
    "[backward]\n"
    "form = \"none\"\n"
    "reason = \"not written yet\"\n"
    "\n"
    "[example]\n"
    "inputs = { x = [1.0, 2.0, 3.0, 4.0] }\n"
    "params = { w = 3 }\n"
    "outputs = { y = [6.0, 9.0] }\n";

static const char WGSL[] =
    "struct Params { count: u32, w: u32 }\n"
    "@group(0) @binding(0) var<storage, read> x: array<f32>;\n"
    "@group(0) @binding(1) var<storage, read_write> y: array<f32>;\n"
    "@group(0) @binding(2) var<uniform> p: Params;\n"
    "\n"
    "@compute @workgroup_size(64)\n"
    "fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {\n"
    "  let i = id.y * (groups.x * 64u) + id.x;\n"
    "  if (i >= p.count) { return; }\n"
    "  var sum = 0.0;\n"
    "  for (var j = 0u; j < p.w; j++) { sum += x[i + j]; }\n"
    "  y[i] = sum;\n"
    "}\n";

static bool is_name(gr_str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || s.p[i] == '_' || (i && s.p[i] >= '0' && s.p[i] <= '9'))) return false;
    return s.n > 0 && s.n <= 64;
}

static bool write_file(gr_diags *d, gr_str folder, const char *name, const char *head, gr_str text) {
    gr_arena a = {0};
    gr_buf b = {0};
    gr_str path = gr_path_join(&a, folder, gr_str_of(name));
    gr_buf_puts(&b, head);
    gr_buf_str(&b, text);
    bool ok = path.n && !b.failed ? gr_file_write(d, path, b.p, b.n) : gr_report_oom(d);
    gr_buf_free(&b);
    gr_arena_free(&a);
    return ok;
}

bool gr_op_scaffold(gr_diags *d, gr_str name, gr_str folder) {
    if (!is_name(name))
        return gr_report(d, GR_D_REGIME_EXISTS, (gr_place){0}, "small letters, digits and _, beginning with a letter", "\"%.*s\" is no name of an op",
                         GR_STR_ARG(name));
    if (gr_file_exists(folder))
        return gr_report(d, GR_D_REGIME_EXISTS, (gr_place){.document = folder}, "name a folder that does not exist", "it exists already");
    gr_buf toml = {0};
    gr_buf_printf(&toml, TOML, GR_STR_ARG(name));
    bool ok = !toml.failed ? gr_dir_make(d, folder) && write_file(d, folder, "op.toml", "", gr_buf_view(&toml)) : gr_report_oom(d);
    gr_buf_free(&toml);
    return ok && write_file(d, folder, "reference.wgsl", "// What is true, written to be read.\n", GR_STR(WGSL)) &&
           write_file(d, folder, "kernel.wgsl", "// What is fast. It must agree with reference.wgsl.\n", GR_STR(WGSL));
}
