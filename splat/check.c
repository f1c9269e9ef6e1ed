/* gradus splat check CONFIG: every mistake at once, the configuration as resolved with verdicts, and what the data set holds. */
#include <stdio.h>

#include "splat/config.h"
#include "splat/verbs.h"

static void print_scene(gr_buf *b, const gr_scene *s, bool json) {
    if (json) {
        gr_buf_printf(b, ", \"scene\": {\"kind\": \"%s\", \"train\": %u, \"test\": %u, \"points\": %u, \"extent\": ", s->kind, s->train_n, s->test_n, s->points.n);
        gr_buf_f64(b, s->extent);
        gr_buf_putc(b, '}');
        return;
    }
    const gr_camera *c = &s->view.v[0].camera;
    gr_buf_printf(b, "\n# data: %s, %u views to train on and %u held out, the first of %u x %u pixels%s, %u points, extent %.6g\n", s->kind, s->train_n, s->test_n, c->width,
                  c->height, gr_camera_distorted(c) ? " (distorted: straightened when loaded)" : "", s->points.n, s->extent);
}

static bool check(const gr_args *args, gr_arena *a, gr_diags *d) {
    gr_config c = gr_config_default();
    gr_scene scene;
    gr_buf b = {0};
    bool defaults = gr_args_get(args, "defaults"), data = false, ok = true;
    if (!defaults && !args->arg_n) {
        gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, "gradus splat check CONFIG, or gradus splat check --defaults", "no configuration is named");
        return false;
    }
    if (!defaults) {
        ok = gr_config_load(a, d, gr_str_of(args->arg[0]), args->many, args->many_n, &c);
        gr_setup s = gr_config_apply(&c);
        /* The data is looked at even when a key is wrong, so that one run finds everything. */
        if (s.scene.path.n && !gr_args_get(args, "no-data")) data = gr_scene_load(a, d, &s.scene, &scene), ok = ok && data;
    }
    if (args->json && ok) gr_buf_puts(&b, "{\"config\": "), gr_config_json(&b, &c);
    else if (!args->json && !args->quiet) gr_config_print(&b, &c, "", true);
    if (data && ok) print_scene(&b, &scene, args->json);
    if (args->json && ok) gr_buf_puts(&b, "}\n");
    if (b.n) fwrite(b.p, 1, b.n, stdout);
    gr_buf_free(&b);
    return ok;
}

static int run(const gr_args *args, gr_diags *d) {
    gr_arena a = {0};
    bool ok = check(args, &a, d);
    gr_arena_free(&a);
    return ok ? 0 : gr_diags_exit_code(d);
}

const gr_verb gr_verb_check = {
    "check", "[CONFIG]", "Find every mistake of a configuration and its data; print it as resolved.",
    "  gradus splat check examples/splat/synth.toml\n  gradus splat check --defaults --json\n", 0, 1, run,
    {{"set", "TABLE.KEY=VALUE", "Set one key, in TOML; may be given again", true}, {"no-data", NULL, "Do not look at the data set", false}, {"defaults", NULL, "Print the defaults of every key", false}}, gr_config_help};
