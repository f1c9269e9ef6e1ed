/* gradus splat export A B: splats from one file format to another. */
#include <stdio.h>

#include "base/hash.h"
#include "base/value.h"
#include "base/file.h"
#include "splat/io/cloud.h"
#include "splat/verbs.h"

static void print_result(const gr_args *args, const gr_cloud *c, gr_cloud_format from, gr_str written) {
    char hash[72];
    gr_buf b = {0};
    gr_sha256_text(hash, gr_sha256_of(written.p, written.n));
    if (args->json) {
        gr_buf_puts(&b, "{\"from\": ");
        gr_buf_printf(&b, "\"%s\", \"splats\": %u, \"sh_degree\": %u, \"bytes\": %zu, \"sha256\": \"%s\", \"path\": ", gr_cloud_format_name(from), c->n,
                      c->sh_degree, written.n, hash);
        gr_json_string(&b, gr_str_of(args->arg[1]));
        gr_buf_puts(&b, "}\n");
    } else if (!args->quiet) {
        gr_buf_printf(&b, "%s: %s, %u splats, SH degree %u\n%s: %zu bytes, %s\n", args->arg[0], gr_cloud_format_name(from), c->n, c->sh_degree,
                      args->arg[1], written.n, hash);
    }
    if (b.n) fwrite(b.p, 1, b.n, stdout);
    gr_buf_free(&b);
}

static bool convert(const gr_args *args, gr_arena *a, gr_diags *d) {
    gr_cloud c;
    gr_cloud_format from;
    gr_str path = gr_str_of(args->arg[1]), written;
    uint32_t degree = GR_SH_DEGREE_MAX;
    GR_TRY(gr_args_u32(args, d, "sh-degree", 0, GR_SH_DEGREE_MAX, &degree));
    GR_TRY(gr_cloud_load(a, d, gr_str_of(args->arg[0]), &c, &from));
    if (degree < c.sh_degree) GR_TRY(gr_cloud_degree(a, d, &c, degree, &c));
    GR_TRY(gr_cloud_save(d, path, &c));
    GR_TRY(gr_file_read(a, d, path, (size_t)8 << 30, &written));
    print_result(args, &c, from, written);
    return true;
}

static int run(const gr_args *args, gr_diags *d) {
    gr_arena a = {0};
    bool ok = convert(args, &a, d);
    gr_arena_free(&a);
    return ok ? 0 : gr_diags_exit_code(d);
}

const gr_verb gr_verb_export = {
    "export", "FROM TO", "Convert splats: .ply (standard and compressed), .spz and .splat in; .ply, .spz and .splat out.",
    "  gradus splat export scene.ply scene.spz\n  gradus splat export photo.compressed.ply plain.ply --sh-degree 0\n", 2, 2, run,
    {{"sh-degree", "0..3", "Keep harmonics up to this degree (default all)", false}}, NULL};
