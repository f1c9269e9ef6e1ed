/* diag.h: diagnostics as data.
 *
 * Functions that can meet bad input take a gr_diags sink, report into it and
 * return false or NULL. Three kinds of complaint are never mixed: user error,
 * environment error, our own bug (an invariant). Names are `rung/what-is-wrong`;
 * the .def files of src/base/names are the one table from which the enum, the text and
 * docs/diagnostics.md come. */
#ifndef GR_BASE_DIAG_H
#define GR_BASE_DIAG_H

#include "base/str.h"

typedef enum gr_diag_kind {
    GR_DIAG_NO_KIND = 0,
    GR_DIAG_USER,        /* exit code 2: the input is wrong; collect and continue */
    GR_DIAG_ENVIRONMENT, /* exit code 3: no adapter, device lost, disk full, no memory */
    GR_DIAG_BUG,         /* exit code 1: an invariant of ours does not hold */
} gr_diag_kind;

typedef enum gr_severity { GR_SEVERITY_NONE = 0, GR_NOTE, GR_WARNING, GR_ERROR } gr_severity;

typedef enum gr_diag_name {
    GR_D_NONE = 0,
#define GR_DIAG(id, text, severity, kind, summary) GR_D_##id,
#include "base/names/all.def"
#undef GR_DIAG
    GR_D_COUNT
} gr_diag_name;

const char *gr_diag_text(gr_diag_name name);    /* "canvas/tier-missing" */
const char *gr_diag_summary(gr_diag_name name); /* one sentence for the docs */
gr_severity gr_diag_severity(gr_diag_name name);
gr_diag_kind gr_diag_kind_of(gr_diag_name name);
gr_diag_name gr_diag_find(gr_str text); /* GR_D_NONE when unknown */

/* Where. Any field may be empty. Offsets are turned into line:col by the reporter. */
typedef struct gr_place {
    gr_str document; /* file name or a made-up name such as "<graph>" */
    gr_str pointer;  /* JSON pointer inside the document, or empty */
    uint32_t line, col; /* from 1; 0 unknown; col counts UTF-8 code points */
} gr_place;

typedef struct gr_related {
    gr_place place;
    gr_str message;
} gr_related;

typedef struct gr_diag {
    gr_diag_name name;
    gr_severity severity;
    gr_place place;
    gr_str message; /* with the actual values */
    gr_str hint;    /* what to change; may be empty */
    gr_related related[4];
    uint32_t related_n;
    gr_str trail; /* "node median -> op user/kemal/windowed_median@1 -> dispatch 0"; may be empty */
} gr_diag;

/* The sink owns copies of all text in its own arena. Keeps at most GR_DIAGS_MAX
 * entries and counts the rest, so that hostile input cannot grow it without bound. */
enum { GR_DIAGS_MAX = 1000 };
typedef struct gr_diags {
    gr_arena arena;
    GR_VEC(gr_diag) list;
    uint32_t errors, warnings, dropped;
    gr_diag_kind worst; /* bug > environment > user, among errors */
    bool out_of_memory;
} gr_diags;

void gr_diags_init(gr_diags *d);
void gr_diags_free(gr_diags *d);
void gr_diags_clear(gr_diags *d);
static inline bool gr_diags_ok(const gr_diags *d) { return d->errors == 0; }
/* True when some entry has this name. */
bool gr_diags_has(const gr_diags *d, gr_diag_name name);

/* Adds an entry; place, hint and message are copied. Returns false always, so
 * that `return gr_report(...)` reads well. hint may be NULL. */
bool gr_report(gr_diags *d, gr_diag_name name, gr_place at, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Attach to the newest entry. */
void gr_report_related(gr_diags *d, gr_place at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void gr_report_hint(gr_diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void gr_report_trail(gr_diags *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* base/out-of-memory, at most once a sink, needs no memory. Returns false. */
bool gr_report_oom(gr_diags *d);
/* Our own bug: names the invariant, e.g. GR_BUG(d, "P7", "buffer %u has no owner", id). Returns false. */
#define GR_BUG(d, invariant, ...) gr_report_bug((d), (invariant), __FILE__, __LINE__, __VA_ARGS__)
bool gr_report_bug(gr_diags *d, const char *invariant, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* "file.json:3:7: error canvas/tier-missing: message\n  hint: ...\n" with the source line
 * and a caret where `source` (may be {0}) is the document's text. */
void gr_diag_print(gr_buf *out, const gr_diag *g, gr_str source);
void gr_diags_print(gr_buf *out, const gr_diags *d, gr_str source);
/* One JSON array of objects, keys as in this header. */
void gr_diags_print_json(gr_buf *out, const gr_diags *d);
/* 0 ok, 1 our bug, 2 user error, 3 environment. */
int gr_diags_exit_code(const gr_diags *d);

/* line and col (code points) of a byte offset. */
void gr_text_line_col(gr_str text, size_t offset, uint32_t *line, uint32_t *col);
gr_place gr_place_at(gr_str document, gr_str text, size_t offset);
static inline gr_place gr_place_doc(const char *document) {
    return (gr_place){.document = gr_str_of(document)};
}

/* Forwards a failure that has already been reported. */
#define GR_TRY(x) do { if (!(x)) return false; } while (0)
#define GR_TRY_NULL(x) do { if (!(x)) return NULL; } while (0)

#endif
