#include "cli.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void complain(const cli_options *o, gr_session *s, const char *fmt, va_list ap) {
    char message[2048];
    vsnprintf(message, sizeof message, fmt, ap);
    if (s) {
        gr_complain(s, message);
    } else if (o->json) {
        char *text = gr_complaint(message);
        printf("{\"diagnostics\": %s}\n", text ? text : "[]");
        gr_text_free(text);
    } else {
        fprintf(stderr, "gradus: %s\n", message);
    }
}

int cli_usage(const cli_options *o, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    complain(o, NULL, fmt, ap);
    va_end(ap);
    return 2;
}

bool cli_complain(gr_session *s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    complain(NULL, s, fmt, ap);
    va_end(ap);
    return false;
}

/* "256MiB", "1.5 GiB", "4096" to bytes; false when malformed. */
static bool parse_bytes(const char *text, uint64_t *out) {
    static const struct { const char *unit; double factor; } units[] = {
        {"", 1}, {"B", 1}, {"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"TiB", 1099511627776.0},
        {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
    };
    char *end;
    double v = strtod(text, &end);
    while (*end == ' ') end++;
    if (end == text || !(v >= 0) || v > 1e18) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        if (v * units[i].factor > 9e18) return false;
        *out = (uint64_t)(v * units[i].factor);
        return true;
    }
    return false;
}

static bool device_of(const char *name, gr_device_kind *out) {
    if (!name || strcmp(name, "auto") == 0) *out = GR_DEVICE_AUTO;
    else if (strcmp(name, "gpu") == 0) *out = GR_DEVICE_GPU;
    else if (strcmp(name, "cpu") == 0) *out = GR_DEVICE_CPU;
    else return false;
    return true;
}

gr_session *cli_session(const cli_options *o, bool compile_only) {
    gr_session_desc desc = {.catalog = o->catalog, .op_roots = o->ops, .threads = o->threads};
    uint64_t bytes;
    if (!device_of(o->device, &desc.device)) {
        cli_usage(o, "--device takes gpu, cpu or auto, not \"%s\"", o->device);
        return NULL;
    }
    if (o->budget && !parse_bytes(o->budget, &bytes)) {
        cli_usage(o, "--budget takes a size such as 256MiB, not \"%s\"", o->budget);
        return NULL;
    }
    if (compile_only) desc.device = GR_DEVICE_NONE_;
    gr_session *s = gr_session_new(&desc);
    if (!s) cli_usage(o, "out of memory");
    return s;
}

gr_compile_desc cli_compile_desc(const cli_options *o) {
    gr_compile_desc d = {.tier = o->tier, .allow_heavy_cpu = o->allow_heavy, .checkpoint = o->checkpoint, .no_fuse = o->no_fuse,
                         .parameters = o->parameters, .train = o->train ? GR_TRAIN_STEP : GR_TRAIN_NONE};
    if (o->budget) parse_bytes(o->budget, &d.budget_gpu);
    return d;
}

int cli_finish(gr_session *s, const cli_options *o) {
    int code = gr_session_exit_code(s);
    const char *text = gr_session_report(s, false);
    fflush(stdout); /* results before complaints, also where both go to one place */
    if (*text && !o->json) fputs(text, stderr);
    gr_session_free(s);
    return code;
}

void cli_banner(const gr_session *s) {
    const char *b = gr_session_banner(s);
    if (*b) fprintf(stderr, "\n  !!  %s  !!\n\n", b);
}

/* Bytes of the UTF-8 character at s; 0 when it is none (overlong forms and surrogates included). */
static int utf8_bytes(const unsigned char *s) {
    int n = s[0] < 0x80 ? 1 : s[0] >= 0xC2 && s[0] < 0xE0 ? 2 : (s[0] & 0xF0) == 0xE0 ? 3 : s[0] >= 0xF0 && s[0] < 0xF5 ? 4 : 0;
    for (int i = 1; i < n; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    if ((s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xED && s[1] > 0x9F)) return 0;
    if ((s[0] == 0xF0 && s[1] < 0x90) || (s[0] == 0xF4 && s[1] > 0x8F)) return 0;
    return n;
}

void cli_json_string(FILE *f, const char *s) {
    fputc('"', f);
    for (const unsigned char *c = (const unsigned char *)s; c && *c;) {
        int n = utf8_bytes(c);
        if (*c == '"' || *c == '\\') fprintf(f, "\\%c", *c);
        else if (*c < 0x20) fprintf(f, "\\u%04x", *c);
        else if (n) fwrite(c, 1, (size_t)n, f);
        else fputs("\xEF\xBF\xBD", f);
        c += n ? n : 1;
    }
    fputc('"', f);
}

void cli_json_shape(FILE *f, const gr_tensor *t) {
    fputc('[', f);
    for (unsigned i = 0; i < t->rank; i++) fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)t->dims[i]);
    fputc(']', f);
}

bool cli_on_progress(void *user, const char *node, uint64_t done, uint64_t total) {
    cli_progress *p = user;
    int percent = total ? (int)(100.0 * (double)done / (double)total) : 100;
    double at = cli_now();
    if (p->start == 0) p->start = at;
    if (at - p->start < 1.0) return true; /* short work needs no progress */
    if (p->terminal && percent != p->last) fprintf(stderr, "\r  %3d %%  %-40.40s", percent, node);
    if (!p->terminal && percent / 10 != p->last / 10) fprintf(stderr, "  %3d %%  %s\n", percent, node);
    p->last = percent;
    return true;
}

void cli_progress_end(cli_progress *p) {
    if (p->terminal) fprintf(stderr, "\r%60s\r", "");
}

double cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double cli_median(double *v, unsigned n) {
    qsort(v, n, sizeof *v, ascending);
    return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}
