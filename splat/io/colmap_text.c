/* COLMAP's text files: a record a line (images: two), fields between spaces, # comments. */
#include <stdio.h>

#include "base/lex.h"
#include "splat/io/colmap.h"

typedef struct lines {
    gr_arena *a;
    gr_diags *d;
    gr_str name, text;
    size_t at;
    uint32_t line;
    gr_str whole, rest; /* of the line at hand */
    bool ok;            /* of the line at hand */
} lines;

static bool next_line(lines *l) {
    if (l->at >= l->text.n) return false;
    const char *p = l->text.p + l->at, *end = memchr(p, '\n', l->text.n - l->at);
    l->whole = (gr_str){p, end ? (size_t)(end - p) : l->text.n - l->at};
    l->at += l->whole.n + (end != NULL);
    l->line++;
    if (l->whole.n && l->whole.p[l->whole.n - 1] == '\r') l->whole.n--;
    l->rest = l->whole;
    l->ok = true;
    return true;
}

static void spaces(lines *l) {
    while (l->rest.n && (*l->rest.p == ' ' || *l->rest.p == '\t')) l->rest.p++, l->rest.n--;
}

/* The next line that is neither empty nor a comment. */
static bool record(lines *l) {
    while (next_line(l)) {
        spaces(l);
        if (l->rest.n && *l->rest.p != '#') return true;
    }
    return false;
}

/* One complaint a line: what follows a wrong field is shifted and means nothing. */
static void wrong(lines *l, const char *p, const char *what, gr_str got) {
    gr_place at = {.document = l->name, .line = l->line, .col = (uint32_t)(p - l->whole.p) + 1};
    if (got.n > 40) got.n = 40;
    if (l->ok && got.n) gr_report(l->d, GR_D_SPLAT_COLMAP_TEXT, at, NULL, "expected %s, found \"%.*s\"", what, GR_STR_ARG(got));
    else if (l->ok) gr_report(l->d, GR_D_SPLAT_COLMAP_TEXT, at, NULL, "expected %s, found the end of the line", what);
    l->ok = false;
}

static gr_str field(lines *l) {
    spaces(l);
    gr_str w = {l->rest.p, 0};
    while (w.n < l->rest.n && w.p[w.n] != ' ' && w.p[w.n] != '\t') w.n++;
    l->rest.p += w.n, l->rest.n -= w.n;
    return w;
}

static double number(lines *l, const char *what) {
    gr_str w = field(l);
    gr_value v = {0};
    if (gr_number_parse(w, &v) && !(v.kind == GR_V_FLOAT && v.f - v.f != 0))
        return v.kind == GR_V_INT ? (double)v.i : v.kind == GR_V_UINT ? (double)v.u : v.f;
    wrong(l, w.p, what, w);
    return 0;
}

static uint32_t integer(lines *l, const char *what, uint32_t most) {
    gr_str w = field(l);
    gr_value v = {0};
    if (gr_number_parse(w, &v) && v.kind == GR_V_INT && v.i >= 0 && v.i <= most) return (uint32_t)v.i;
    wrong(l, w.p, what, w);
    return 0;
}

static void end_of_line(lines *l) {
    spaces(l);
    if (l->rest.n) wrong(l, l->rest.p, "the end of the line", l->rest);
}

static lines open_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text) { return (lines){.a = a, .d = d, .name = name, .text = text}; }

bool gr_colmap_cameras_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_colmap *out) {
    lines l = open_text(a, d, name, text);
    bool ok = true;
    for (; record(&l); ok = ok && l.ok) {
        char who[48];
        double params[8] = {0};
        gr_colmap_camera c = {.id = integer(&l, "a camera id", UINT32_MAX)};
        gr_str model = field(&l);
        gr_camera_model m = gr_camera_model_find(model);
        gr_place at = {.document = name, .line = l.line, .col = (uint32_t)(model.p - l.whole.p) + 1};
        if (m == GR_CAMERA_MODELS) {
            gr_report(d, GR_D_SPLAT_CAMERA_MODEL, at, "undistort the pictures with COLMAP's image_undistorter",
                      "camera %u has the unknown model \"%.*s\"; SIMPLE_PINHOLE, PINHOLE, SIMPLE_RADIAL, RADIAL, OPENCV and OPENCV_FISHEYE are known", c.id,
                      (int)(model.n > 40 ? 40 : model.n), model.p);
            l.ok = false;
            continue;
        }
        uint32_t width = integer(&l, "a width in pixels", UINT32_MAX), height = integer(&l, "a height in pixels", UINT32_MAX);
        for (uint32_t k = 0; k < gr_camera_model_params(m); k++) params[k] = number(&l, "a camera parameter");
        end_of_line(&l);
        if (!l.ok) continue;
        snprintf(who, sizeof who, "line %u, camera %u", l.line, c.id);
        l.ok = gr_camera_make(d, name, who, m, width, height, params, &c.camera);
        gr_colmap_camera *slot = GR_PUSH(a, &out->camera);
        if (!slot) return gr_report_oom(d);
        *slot = c;
    }
    return ok;
}

/* The rest of the line, without spaces at its end: names may hold spaces. */
static gr_str name_field(lines *l) {
    spaces(l);
    gr_str w = l->rest;
    while (w.n && (w.p[w.n - 1] == ' ' || w.p[w.n - 1] == '\t')) w.n--;
    if (!w.n) wrong(l, l->rest.p, "the name of a picture", w);
    return w;
}

bool gr_colmap_images_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_colmap *out) {
    lines l = open_text(a, d, name, text);
    bool ok = true;
    while (record(&l)) {
        double q[4], t[3];
        gr_colmap_image m = {.id = integer(&l, "an image id", UINT32_MAX)};
        for (int k = 0; k < 4; k++) q[k] = number(&l, "a part of the quaternion");
        for (int k = 0; k < 3; k++) t[k] = number(&l, "a part of the translation");
        m.camera_id = integer(&l, "a camera id", UINT32_MAX);
        m.name = gr_str_dup(a, name_field(&l));
        if (!m.name.p) return gr_report_oom(d);
        if (l.ok && !gr_pose_from_quaternion(q, t, &m.pose)) {
            gr_report(d, GR_D_SPLAT_POSE, (gr_place){.document = name, .line = l.line}, NULL, "image %u (%.*s): a quaternion of zeros is no pose", m.id, GR_STR_ARG(m.name));
            l.ok = false;
        }
        gr_colmap_image *slot = l.ok ? GR_PUSH(a, &out->image) : &m;
        if (!slot) return gr_report_oom(d);
        *slot = m;
        ok = ok && l.ok;
        next_line(&l); /* the points seen, which may be an empty line: not used */
    }
    return ok;
}

bool gr_colmap_points_text(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_colmap *out) {
    lines l = open_text(a, d, name, text);
    uint64_t n = 0;
    bool ok = true;
    while (record(&l)) n++;
    GR_TRY(gr_points_new(a, d, n, &out->points));
    l = open_text(a, d, name, text);
    for (uint64_t i = 0; record(&l); i++) {
        number(&l, "a point id");
        for (uint64_t k = 0; k < 3; k++) out->points.position[3 * i + k] = (float)number(&l, "a coordinate");
        for (uint64_t k = 0; k < 3; k++) out->points.colour[3 * i + k] = (uint8_t)integer(&l, "a colour from 0 to 255", 255);
        number(&l, "an error");
        ok = ok && l.ok;
    }
    gr_points_clean(d, name, &out->points);
    return ok;
}
