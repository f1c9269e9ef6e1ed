/* step_graph.c: the plans of a step as graph text, and the buffers that they share. */
#include "step_int.h"

uint32_t gr_step_tiles(uint32_t width, uint32_t height) { return ((width + 15) / 16) * ((height + 15) / 16); }

uint32_t gr_step_pairs(uint32_t cap, uint32_t width, uint32_t height) {
    uint64_t n = 8 * (uint64_t)cap + 128 * (uint64_t)gr_step_tiles(width, height);
    return n < 65536 ? 65536 : n > (UINT32_C(1) << 26) ? UINT32_C(1) << 26 : (uint32_t)n;
}

bool gr_step_has_map(const gr_setup *s) { return s->train.ssim && s->backend.ssim_reduce != GR_SSIM_REDUCE_GPU; }

/* Name, numbers a row, and what there is a row of: 1, splats, pairs, pixels or tiles. */
typedef enum many { ONE, SPLATS, PAIRS, PIXELS, TILES } many;
static const struct { const char *name; uint32_t width; many of; } buffers[GR_STEP_BUFFERS] = {
    {"geometry", GR_STEP_ROW, SPLATS}, {"sh", 0, SPLATS}, {"geometry_m", GR_STEP_ROW, SPLATS}, {"geometry_v", GR_STEP_ROW, SPLATS}, {"sh_m", 0, SPLATS},
    {"sh_v", 0, SPLATS}, {"statistics", 2, SPLATS}, {"camera", GR_STEP_CAMERA, ONE}, {"background", 3, ONE}, {"truth", 1, PIXELS}, {"rate", GR_STEP_ROW, ONE},
    {"sh_rate", 0, ONE}, {"step", 1, ONE}, {"weight", 2, ONE}, {"live", 1, ONE}, {"key", 2, ONE}, {"strength", 2, ONE}, {"splat", 9, SPLATS}, {"rect", 4, SPLATS}, {"place", 1, SPLATS},
    {"first", 2, SPLATS}, {"tile", 1, PAIRS}, {"owner", 1, PAIRS}, {"rank", 1, PAIRS}, {"range", 2, TILES}, {"count", 2, ONE}, {"image", 4, PIXELS},
    {"map", 3, PIXELS}, {"map", 3, PIXELS},
};

const char *gr_step_buffer_name(gr_step_buffer b) { return buffers[b].name; }

uint64_t gr_step_buffer_bytes(const gr_step_desc *d, gr_step_buffer b) {
    uint64_t rows = 1, width = buffers[b].width ? buffers[b].width : 3 * gr_sh_count(d->sh_degree);
    if (buffers[b].of == SPLATS) rows = d->cap;
    if (buffers[b].of == PAIRS) rows = d->pairs;
    if (buffers[b].of == PIXELS) rows = (uint64_t)d->width * d->height;
    if (buffers[b].of == TILES) rows = gr_step_tiles(d->width, d->height);
    return (4 * rows * width + 15) / 16 * 16; /* as buffers of a plan are */
}

/* ---- text ---------------------------------------------------------------------------------- */

typedef struct text {
    gr_buf *b;
    const gr_step_desc *d;
    uint32_t width, height, sh;
} text;

/* `%name = source "name" : dtype[rows, width]` */
static void take(const text *t, gr_step_buffer b, const char *source, const char *dtype) {
    uint32_t width = buffers[b].width ? buffers[b].width : 3 * t->sh;
    const char *name = buffers[b].name;
    gr_buf_printf(t->b, "  %%%s = %s \"%s\" : %s", name, source, name, dtype);
    switch (buffers[b].of) {
    case ONE: gr_buf_printf(t->b, b == GR_STEP_T || b == GR_STEP_LIVE ? "[]\n" : "[%u]\n", width); return;
    case SPLATS:
        if (b == GR_STEP_PLACE) gr_buf_printf(t->b, "[%u]\n", t->d->cap);
        else gr_buf_printf(t->b, "[%u, %u]\n", t->d->cap, width);
        return;
    case PAIRS: gr_buf_printf(t->b, "[%u]\n", t->d->pairs); return;
    case TILES: gr_buf_printf(t->b, "[%u, 2]\n", gr_step_tiles(t->width, t->height)); return;
    default: gr_buf_printf(t->b, width == 1 ? "[%u, %u]\n" : "[%u, %u, %u]\n", t->height, t->width, width); return;
    }
}

static void give(const text *t, const char *name, const char *value) { gr_buf_printf(t->b, "  output \"%s\" %%%s\n", name, value); }

static uint32_t bits_of(uint32_t n) {
    uint32_t bits = 0;
    for (; n; n >>= 1) bits++;
    return bits;
}

static void forward(const text *t) {
    const uint32_t n = gr_step_tiles(t->width, t->height);
    take(t, GR_STEP_GEOMETRY, "input", "f32");
    take(t, GR_STEP_SH, "input", "f32");
    take(t, GR_STEP_CAMERA_, "input", "f32");
    take(t, GR_STEP_BACKGROUND, "input", "f32");
    gr_buf_printf(t->b, "  %%harmonics = reshape %%sh new_shape=[%u, %u, 3]\n", t->d->cap, t->sh);
    gr_buf_printf(t->b, "  %%splat, %%depth, %%rect = splat_project %%geometry, %%harmonics, %%camera width=%u height=%u antialiased=%s @ node \"project\"\n", t->width, t->height,
                  t->d->setup->train.antialiased ? "true" : "false");
    gr_buf_printf(t->b, "  %%rows = iota count=%u type=u32 @ node \"sort_depth\"\n  %%all = constant %u : u32[1]\n", t->d->cap, t->d->cap);
    gr_buf_printf(t->b, "  %%near, %%order, %%place = sort_pairs %%depth, %%rows, %%all @ node \"sort_depth\"\n");
    gr_buf_printf(t->b, "  %%met, %%by, %%first, %%count = splat_emit %%splat, %%rect, %%order width=%u height=%u capacity=%u @ node \"emit\"\n", t->width, t->height, t->d->pairs);
    gr_buf_printf(t->b, "  %%tile, %%owner, %%rank = sort_pairs %%met, %%by, %%count bits=%u @ node \"sort_tiles\"\n", bits_of(n)); /* what no tile has is behind all */
    gr_buf_printf(t->b, "  %%range = splat_ranges %%tile, %%count tiles=%u @ node \"ranges\"\n", n);
    gr_buf_printf(t->b, "  %%image = splat_raster %%splat, %%owner, %%range, %%background width=%u height=%u @ node \"raster\"\n", t->width, t->height);
    for (int b = GR_STEP_SPLAT; b <= GR_STEP_IMAGE; b++) give(t, buffers[b].name, buffers[b].name);
}

static void loss(const text *t, bool update) {
    const gr_setup *s = t->d->setup;
    take(t, GR_STEP_IMAGE, "input", "f32");
    take(t, GR_STEP_TRUTH, "input", "u32");
    gr_buf_printf(t->b, "  %%loss, %%map, %%d_image = splat_loss %%image, %%truth lambda=%.9g window=%u @ node \"loss\"\n", s->train.ssim ? s->train.lambda_ssim : 0.0,
                  s->train.ssim_window ? s->train.ssim_window : 11);
    take(t, GR_STEP_COUNT, "input", "u32");
    gr_buf_printf(t->b, "  %%seen = identity %%count @ node \"count\"\n");
    give(t, "loss", "loss");
    give(t, "seen", "seen");
    if (update && gr_step_has_map(s)) give(t, "map", "map");
}

static void adam(const text *t, const char *what, const char *rate) {
    const gr_setup *s = t->d->setup;
    gr_buf_printf(t->b, "  %%%s_, %%%s_m_, %%%s_v_ = splat_adam %%%s, %%d_%s, %%%s_m, %%%s_v, %%%s, %%step beta1=%.9g beta2=%.9g epsilon=%.9g @ node \"adam\"\n", what, what, what, what,
                  what, what, what, rate, s->optim.beta1, s->optim.beta2, s->optim.epsilon);
    gr_buf_printf(t->b, "  output \"%s\" %%%s_\n  output \"%s_m\" %%%s_m_\n  output \"%s_v\" %%%s_v_\n", what, what, what, what, what, what);
}

static void backward(const text *t) {
    static const struct { gr_step_buffer b; const char *source, *dtype; } in[] = {
        {GR_STEP_GEOMETRY, "parameter", "f32"}, {GR_STEP_SH, "parameter", "f32"}, {GR_STEP_GEOMETRY_M, "state", "f32"}, {GR_STEP_GEOMETRY_V, "state", "f32"},
        {GR_STEP_SH_M, "state", "f32"}, {GR_STEP_SH_V, "state", "f32"}, {GR_STEP_SEEN, "state", "f32"}, {GR_STEP_CAMERA_, "input", "f32"},
        {GR_STEP_RATE, "input", "f32"}, {GR_STEP_SH_RATE, "input", "f32"}, {GR_STEP_T, "input", "i32"}, {GR_STEP_SPLAT, "input", "f32"}, {GR_STEP_RECT, "input", "u32"},
        {GR_STEP_PLACE, "input", "u32"}, {GR_STEP_FIRST, "input", "u32"}, {GR_STEP_TILE, "input", "u32"}, {GR_STEP_OWNER, "input", "u32"},
        {GR_STEP_RANK, "input", "u32"}, {GR_STEP_RANGE, "input", "u32"}};
    const char *mip = t->d->setup->train.antialiased ? "true" : "false";
    for (size_t i = 0; i < sizeof in / sizeof *in; i++) take(t, in[i].b, in[i].source, in[i].dtype);
    gr_buf_printf(t->b, "  %%d_splat = splat_raster_backward %%splat, %%tile, %%owner, %%range, %%image, %%d_image, %%place, %%first, %%rank width=%u height=%u @ node \"raster_backward\"\n",
                  t->width, t->height);
    gr_buf_printf(t->b, "  %%harmonics = reshape %%sh new_shape=[%u, %u, 3]\n", t->d->cap, t->sh);
    gr_buf_printf(t->b, "  %%d_seen, %%d_harmonics, _ = splat_project_backward %%geometry, %%harmonics, %%camera, %%d_splat width=%u height=%u antialiased=%s @ node \"project_backward\"\n",
                  t->width, t->height, mip);
    gr_buf_printf(t->b, "  %%d_sh = reshape %%d_harmonics new_shape=[%u, %u]\n", t->d->cap, 3 * t->sh);
    if (t->d->setup->train.mcmc) {
        take(t, GR_STEP_WEIGHT, "input", "f32");
        take(t, GR_STEP_LIVE, "input", "u32");
        gr_buf_printf(t->b, "  %%d_geometry = splat_regularise %%d_seen, %%geometry, %%weight, %%live @ node \"regularise\"\n");
    } else {
        gr_buf_printf(t->b, "  %%d_geometry = identity %%d_seen\n");
    }
    adam(t, "geometry", "rate");
    adam(t, "sh", "sh_rate");
    gr_buf_printf(t->b, "  %%statistics_ = splat_statistics %%statistics, %%d_splat, %%rect width=%u height=%u @ node \"statistics\"\n", t->width, t->height);
    give(t, "statistics", "statistics_");
}

static void noise(const text *t) {
    take(t, GR_STEP_GEOMETRY, "parameter", "f32");
    take(t, GR_STEP_KEY, "input", "u32");
    take(t, GR_STEP_STRENGTH, "input", "f32");
    gr_buf_printf(t->b, "  %%moved = splat_noise %%geometry, %%key, %%strength @ node \"noise\"\n");
    give(t, "geometry", "moved");
}

bool gr_step_text(gr_buf *out, const gr_step_desc *d, uint32_t width, uint32_t height, gr_step_part part) {
    static const char *const names[GR_STEP_PARTS] = {"splat_forward", "splat_update", "splat_loss", "splat_noise"};
    text t = {out, d, width, height, gr_sh_count(d->sh_degree)};
    gr_buf_printf(out, "graph %s {\n  tier %s\n", names[part], d->setup->train.tier);
    if (part == GR_STEP_FORWARD) forward(&t);
    else if (part == GR_STEP_NOISE) noise(&t);
    else loss(&t, part == GR_STEP_UPDATE);
    if (part == GR_STEP_UPDATE) backward(&t);
    gr_buf_printf(out, "}\n");
    return !out->failed;
}

bool gr_step_graph(gr_buf *out, const gr_step_desc *d, uint32_t width, uint32_t height, bool update) {
    gr_step_desc with = *d;
    if (!with.pairs) with.pairs = gr_step_pairs(d->cap, d->width, d->height);
    return gr_step_text(out, &with, width, height, update ? GR_STEP_UPDATE : GR_STEP_FORWARD);
}
