/* finding.h: what was learned, one TOML file a finding. The schema stands in docs/findings.md. */
#ifndef GR_GATE_FINDING_H
#define GR_GATE_FINDING_H

#include "gate/record.h"

enum { GATE_FINDINGS_MAX = 10000, GATE_RUNS_MAX = 4 * GATE_PAIRS_MAX };

typedef enum gate_status { GATE_NO_STATUS = 0, GATE_STABLE, GATE_PROVISIONAL, GATE_REJECTED } gate_status;
const char *gate_status_text(gate_status s);

typedef struct gate_strs { gr_str *v; uint32_t n; } gate_strs;

/* A row of the runs table. */
typedef struct gate_row {
    bool on, counts;
    uint32_t pair;         /* from 1 */
    double elapsed;
    bool has_quality; double quality;
    double load1, other_cores; /* NaN unknown */
    gr_str note;
} gate_row;

typedef struct gate_point { gr_str text, state, date; } gate_point; /* state: open, closed or moot */
typedef struct gate_section { gr_str title, text; } gate_section;   /* numbered from 1 by their order */

typedef struct gate_finding {
    gr_doc doc;
    gr_str id, title, date, task, milestone, program, polarity, follow_up_of, differs, quality;
    gate_status status;
    gate_strs axes, tags, links, config_paths;
    gate_rule rule;
    bool predicted; double predict_low, predict_high, removed;
    gate_keys decided;     /* [default]: what the default is by this finding */
    gate_keys defaults;    /* [defaults]: what they all were when it was measured */
    gate_keys off, on;     /* resolved */
    gate_keys provenance;
    gate_row *rows; uint32_t row_n;
    gate_point *points; uint32_t point_n;
    gate_section *sections; uint32_t section_n;
    gate_pairs pairs;      /* from the rows that count */
    gate_verdict verdict;  /* of them; zero without pairs */
    gr_str stale;          /* keys whose default has changed since; "" none. Set by gate_findings_check */
} gate_finding;

/* Reads and validates one. findings/field-invalid, findings/runs-incomplete. */
bool gate_finding_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gate_finding *out);
/* The same as text, for a new one. */
void gate_finding_print(gr_buf *out, const gate_finding *f);

/* A program whose defaults findings decide: a table of findings/programs.toml. */
typedef struct gate_program {
    gr_str name, defaults;       /* a command that prints the resolved defaults; "" none */
    gate_strs sources, configs;  /* globs: files where defaults stand, and configurations */
    gate_keys now;               /* what it printed; read once */
    bool known;
} gate_program;

typedef struct gate_index {
    gr_arena *a;
    gr_diags *d;
    gr_str dir;
    gate_finding *v; uint32_t n; /* by id */
    gate_program *programs; uint32_t program_n;
} gate_index;

/* Every *.toml of a folder but programs.toml. False when one does not read or validate; the others are there. */
bool gate_index_load(gate_index *x);
gate_finding *gate_index_find(const gate_index *x, gr_str id);
gate_program *gate_index_program(const gate_index *x, gr_str name);
/* Runs the defaults command of a program once. findings/program-failed. */
bool gate_program_read(gate_index *x, gate_program *p);
/* Links, citations, figures, verdicts, repeats, defaults, baselines. */
bool gate_index_check(gate_index *x);
/* The newest finding that decides a key of a program; NULL when none does. */
const gate_finding *gate_index_deciding(const gate_index *x, gr_str program, gr_str key);
bool gate_strs_has(const gate_strs *s, gr_str v);

/* ---- figures ------------------------------------------------------------------------------------------------- */

/* "{delta}" and the like become numbers with their unit; a name that is none stays as it is and is reported by the check. */
void gate_figures_expand(gr_buf *out, const gate_finding *f, gr_str text);
/* Placeholders without meaning, and typed figures (a number with %, s, ms or dB outside code) that nothing in the runs table
 * gives at the precision typed. findings/figure-differs. */
bool gate_figures_check(gr_diags *d, const gate_finding *f, gr_str text, gr_place at);

/* ---- pages --------------------------------------------------------------------------------------------------- */

/* Writes index.html, style.css, script.js and a page a finding to a folder. */
bool gate_site_render(gate_index *x, gr_str out);
/* CommonMark as HTML, raw HTML shown as text, links with harmless schemes only; `id §n` and §n become links. Without md4c:
 * paragraphs of plain text. */
void gate_markdown(gr_buf *out, const gate_index *x, const gate_finding *f, gr_str text);
void gate_html_signed(gr_buf *out, const char *text); /* our own text: real minus signs, no line ends before % */
void gate_html_percent(gr_buf *out, double share, int decimals); /* "−3.1 %", never −0 */
/* The next `id §n` or `§n` in text from *at on: its extent, id ("" alone) and n. */
bool gate_citation(gr_str text, size_t *at, size_t *end, gr_str *id, uint32_t *n);
void gate_plot_pairs(gr_buf *out, const gate_finding *f);    /* SVG */
void gate_plot_interval(gr_buf *out, const gate_finding *f); /* SVG */

#endif
