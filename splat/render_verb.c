/* gradus splat eval and render. */
#include <stdio.h>

#include "base/file.h"
#include "base/lex.h"
#include "splat/path.h"
#include "splat/run.h"
#include "splat/verbs.h"

/* ---- eval ------------------------------------------------------------------------------------------ */

static void print_scores(const gr_run_setup *r) {
    const gr_trainer *t = &r->trainer;
    gr_buf b = {0};
    bool json = r->args->json;
    const gr_evaluation *e = &t->evaluation[t->evaluation_n - 1];
    gr_buf_puts(&b, json ? "{\"views\": [" : "");
    for (uint32_t i = 0; i < t->score_n; i++) {
        gr_str name = t->desc.scene->view.v[t->score[i].view].name;
        if (json) {
            gr_buf_puts(&b, i ? ", {\"name\": " : "{\"name\": "), gr_json_string(&b, name);
            gr_buf_puts(&b, ", \"psnr\": "), gr_buf_f64(&b, t->score[i].score.psnr), gr_buf_puts(&b, ", \"ssim\": "), gr_buf_f64(&b, t->score[i].score.ssim), gr_buf_putc(&b, '}');
        } else {
            gr_buf_printf(&b, "%-32.*s %8.3f dB  ssim %.4f\n", GR_STR_ARG(name), t->score[i].score.psnr, t->score[i].score.ssim);
        }
    }
    if (json) gr_buf_puts(&b, "], \"psnr\": "), gr_buf_f64(&b, e->psnr), gr_buf_puts(&b, ", \"ssim\": "), gr_buf_f64(&b, e->ssim), gr_buf_printf(&b, ", \"splats\": %u}\n", t->state.n);
    else gr_buf_printf(&b, "%-32s %8.3f dB  ssim %.4f  of %u splats\n", "mean", e->psnr, e->ssim, t->state.n);
    fwrite(b.p, 1, b.n, stdout);
    gr_buf_free(&b);
}

static bool eval(gr_run_setup *r) {
    const char *splats = gr_args_get(r->args, "splats"), *pictures = gr_args_get(r->args, "pictures");
    r->desc.cloud = splats ? gr_str_of(splats) : gr_path_join(&r->a, gr_run_folder(r), GR_STR("splats.ply"));
    if (!r->scene.test_n)
        return gr_report(r->d, GR_D_SPLAT_NO_VIEWS, (gr_place){.document = r->scene.source}, "set data.test_every", "no view is held out for tests");
    GR_TRY(gr_run_trainer(r) && gr_trainer_evaluate(&r->trainer, pictures ? gr_str_of(pictures) : (gr_str){0}));
    print_scores(r);
    return true;
}

static int run_eval(const gr_args *args, gr_diags *d) {
    gr_run_setup r;
    bool ok = gr_run_open(&r, args, d) && eval(&r);
    return gr_run_close(&r, ok);
}

const gr_verb gr_verb_eval = {
    "eval", "CONFIG", "PSNR and SSIM of every held-out view, of trained splats or of any file of splats.",
    "  gradus splat eval examples/splat/synth.toml\n  gradus splat eval garden.toml --splats other.spz --pictures seen\n", 1, 1, run_eval,
    {{"splats", "FILE", "Splats to look at (default splats.ply in the folder of the results)", false}, {"out", "DIR", "Folder of the results (default out/NAME)", false},
     {"pictures", "DIR", "Write what is rendered as PNG", false}, GR_RUN_OPTIONS}, NULL};

/* ---- render ------------------------------------------------------------------------------------------ */

static bool real(const gr_args *args, gr_diags *d, const char *option, double lo, double hi, double *out) {
    const char *text = gr_args_get(args, option);
    gr_value v = {0};
    if (!text) return true;
    double x = gr_number_parse(gr_str_of(text), &v) ? v.kind == GR_V_INT ? (double)v.i : v.f : lo - 1;
    if (!(x >= lo && x <= hi)) return gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--%s takes a number from %g to %g, not \"%s\"", option, lo, hi, text);
    *out = x;
    return true;
}

static bool axis(const gr_args *args, gr_diags *d, double up[3]) {
    const char *text = gr_args_get(args, "up");
    static const char *const names[] = {"x", "y", "z"};
    if (!text) text = "z";
    double sign = *text == '-' ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (!strcmp(text + (sign < 0), names[k])) {
            up[k] = sign;
            return true;
        }
    return gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--up takes x, y, z, -x, -y or -z, not \"%s\"", text);
}

static bool frames_of(const gr_args *args, gr_arena *a, gr_diags *d, const gr_cloud *c, gr_frames *out) {
    uint32_t width = 0, height = 0;
    gr_orbit o = {.frames = 60, .fov = 45, .elevation = 25};
    gr_str text, path = args->arg_n > 1 ? gr_str_of(args->arg[1]) : (gr_str){0};
    GR_TRY(gr_args_u32(args, d, "width", 1, GR_IMAGE_SIDE_MAX, &width) && gr_args_u32(args, d, "height", 1, GR_IMAGE_SIDE_MAX, &height));
    GR_TRY(gr_args_u32(args, d, "orbit", 1, GR_FRAMES_MAX, &o.frames) && real(args, d, "fov", 1, 170, &o.fov) && real(args, d, "elevation", -89, 89, &o.elevation));
    GR_TRY(real(args, d, "distance", 1e-6, 1e9, &o.distance) && axis(args, d, o.up));
    if (path.n && gr_args_get(args, "orbit")) return gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "a camera path and --orbit exclude one another");
    if (path.n) return gr_file_read(a, d, path, (size_t)256 << 20, &text) && gr_path_read(a, d, path, text, width, height, out);
    o.width = width ? width : 640;
    o.height = height ? height : o.width * 3 / 4 ? o.width * 3 / 4 : 1;
    return gr_path_orbit(a, d, c, &o, out);
}

static bool one_frame(gr_diags *d, gr_session *s, gr_step *step, const gr_frame *f, const float background[3], uint32_t degree, gr_str path) {
    gr_step_view v = {.camera = f->camera, .pose = f->pose, .degree = degree, .background = {background[0], background[1], background[2]}};
    float *rgb = gr_heap_alloc(3 * (size_t)f->camera.width * f->camera.height, sizeof *rgb);
    gr_image m = {0};
    if (!rgb) return gr_report_oom(d);
    bool ok = gr_step_render(step, &v, rgb, NULL, NULL);
    if (!ok) gr_session_drain(d, s);
    ok = ok && gr_picture_bytes(d, rgb, f->camera.width, f->camera.height, &m) && gr_image_save_png(d, path, &m);
    gr_image_free(&m);
    gr_heap_free(rgb);
    return ok;
}

/* The device's copy of a cloud. */
static gr_step *load_splats(gr_diags *d, gr_session *s, const gr_setup *setup, const gr_cloud *c, const gr_frames *f) {
    gr_state state;
    gr_step_desc desc = {.setup = setup, .cap = c->n ? c->n : 1, .sh_degree = c->sh_degree};
    for (uint32_t i = 0; i < f->list.n; i++) {
        if (f->list.v[i].camera.width > desc.width) desc.width = f->list.v[i].camera.width;
        if (f->list.v[i].camera.height > desc.height) desc.height = f->list.v[i].camera.height;
    }
    bool ok = gr_state_new(d, desc.cap, c->sh_degree, &state);
    if (ok) gr_state_set(&state, c);
    gr_step *step = ok ? gr_step_new(s, &desc) : NULL;
    if (step && !gr_step_write(step, &state, GR_STEP_ALL)) gr_step_free(step), step = NULL;
    gr_state_free(&state);
    return step;
}

static bool render(gr_run_setup *r, gr_device_kind device) {
    gr_cloud c;
    gr_frames f;
    gr_str folder = gr_str_of(gr_args_get(r->args, "out") ? gr_args_get(r->args, "out") : "frames");
    const char *behind = gr_args_get(r->args, "background");
    gr_setup setup = gr_config_apply(&r->config);
    if (behind && strcmp(behind, "white") && strcmp(behind, "black")) return gr_report(r->d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--background takes white or black, not \"%s\"", behind);
    float shade = behind && !strcmp(behind, "black") ? 0 : 1;
    const float background[3] = {shade, shade, shade};
    GR_TRY(gr_cloud_load(&r->a, r->d, gr_str_of(r->args->arg[0]), &c, NULL) && frames_of(r->args, &r->a, r->d, &c, &f) && gr_dir_make(r->d, folder));
    setup.train.antialiased = c.antialiased;
    r->session = gr_session_new(&(gr_session_desc){.device = device});
    if (!r->session) return gr_report_oom(r->d);
    if (gr_session_exit_code(r->session)) return gr_session_drain(r->d, r->session);
    if (*gr_session_banner(r->session)) fprintf(stderr, "%s\n", gr_session_banner(r->session));
    gr_step *step = load_splats(r->d, r->session, &setup, &c, &f);
    bool ok = step || (gr_session_drain(r->d, r->session), false);
    for (uint32_t i = 0; ok && i < f.list.n; i++)
        ok = one_frame(r->d, r->session, step, &f.list.v[i], background, c.sh_degree, gr_path_join(&r->a, folder, gr_str_of(gr_arena_printf(&r->a, "%05u.png", i))));
    gr_step_free(step);
    if (ok && r->args->json) printf("{\"frames\": %u, \"splats\": %u}\n", f.list.n, c.n);
    else if (ok && !r->args->quiet)
        printf("%.*s: %u frames of %u splats, 00000.png on; a film of them: ffmpeg -framerate 30 -i %.*s/%%05d.png -pix_fmt yuv420p film.mp4\n", GR_STR_ARG(folder), f.list.n, c.n, GR_STR_ARG(folder));
    return ok;
}

static int run_render(const gr_args *args, gr_diags *d) {
    gr_run_setup r = {.d = d, .args = args, .lock.fd = -1, .config = gr_config_default()};
    const char *device = gr_args_get(args, "device");
    gr_device_kind kind = !device || !strcmp(device, "auto") ? GR_DEVICE_AUTO : !strcmp(device, "gpu") ? GR_DEVICE_GPU : !strcmp(device, "cpu") ? GR_DEVICE_CPU : GR_DEVICE_NONE_;
    r.config.train_tier = GR_TIER_DEBUG;
    bool ok = kind != GR_DEVICE_NONE_ || gr_report(d, GR_D_SPLAT_USAGE, (gr_place){0}, NULL, "--device takes gpu, cpu or auto, not \"%s\"", device);
    ok = ok && render(&r, kind);
    return gr_run_close(&r, ok);
}

const gr_verb gr_verb_render = {
    "render", "SPLATS [PATH]", "Pictures along a camera path (nerfstudio's viewer or a transforms.json), or once around the splats.",
    "  gradus splat render out/synth/splats.ply --orbit 90 --out frames\n  gradus splat render scene.spz path.json --background black\n", 1, 2, run_render,
    {{"out", "DIR", "Folder of the PNG frames (default frames)", false}, {"orbit", "N", "Frames of a turn around the splats (default 60, without a path)", false},
     {"width", "N", "Pixels across (default: of the path, or 640)", false}, {"height", "N", "Pixels down (default: of the path, or three quarters of the width)", false},
     {"fov", "DEGREES", "Vertical field of view of an orbit (default 45)", false}, {"elevation", "DEGREES", "Height of an orbit (default 25)", false},
     {"distance", "N", "Radius of an orbit (default: 3 times the median distance of a splat)", false}, {"up", "AXIS", "Which way is up: x, y, z, -x, -y, -z (default z)", false},
     {"background", "white|black", "Behind the splats (default white)", false}, {"device", "gpu|cpu|auto", "Where to run (default auto)", false}}, NULL};
