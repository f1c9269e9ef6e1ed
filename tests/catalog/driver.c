/* driver: runs many one-op programs in one session, for tests/catalog/values.py.
 *
 *   driver cpu|gpu|wide CASES DATA RESULTS
 *
 * CASES is text, one word list a line: `case OP`, `tier TIER`, `set PARAM=VALUE`, `in NAME DTYPE RANK D0 D1 ... OFFSET BYTES` (into
 * DATA), `run`. For every case one line goes to standard output: `ok N`, followed by N lines
 * `NAME DTYPE RANK D0 ... OFFSET BYTES` (into RESULTS), or `error DIAGNOSTICS-AS-JSON`. wide evaluates references in f64.
 * The first line is `session EXECUTOR ADAPTER`, or `none` where the machine has no such device. */
#include "gradus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_IN = 16, MAX_SET = 24 };

typedef struct driver {
    gr_session *s;
    char *data;
    size_t data_n;
    FILE *results;
    size_t written;
    bool wide;
    /* the case that is read */
    char op[128], tier[8]; /* tier: empty, or the one to run in */
    char names[MAX_IN][64], dtypes[MAX_IN][8];
    gr_tensor in[MAX_IN];
    unsigned in_n;
    char sets[MAX_SET][256];
    unsigned set_n;
} driver;

static char *read_all(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    long size = ftell(f);
    rewind(f);
    char *p = size >= 0 ? malloc((size_t)size + 1) : NULL;
    *n = p ? fread(p, 1, (size_t)size, f) : 0;
    if (p) p[*n] = 0;
    fclose(f);
    return p;
}

/* The next word as a number. */
static uint64_t number(char **rest) {
    char *end;
    uint64_t v = strtoull(*rest, &end, 10);
    *rest = end;
    return v;
}

static bool read_in(driver *r, char *line) {
    int used = 0;
    gr_tensor *t = &r->in[r->in_n];
    if (r->in_n == MAX_IN || sscanf(line, "in %63s %7s %u%n", r->names[r->in_n], r->dtypes[r->in_n], &t->rank, &used) != 3 || t->rank > 8) return false;
    char *rest = line + used;
    for (unsigned i = 0; i < t->rank; i++) t->dims[i] = number(&rest);
    uint64_t offset = number(&rest);
    t->bytes = (size_t)number(&rest);
    if (offset > r->data_n || t->bytes > r->data_n - offset) return false;
    t->data = r->data + offset;
    t->dtype = r->dtypes[r->in_n++];
    return true;
}

/* Inputs are named by their operands; those of a variadic one NAME_0, NAME_1, ... in order. */
static bool write_inputs(driver *r, gr_program *p, gr_prepared *x) {
    for (unsigned i = 0; i < gr_program_inputs(p); i++) {
        const char *want = gr_program_input_name(p, i);
        bool found = false;
        for (unsigned k = 0; k < r->in_n && !found; k++) {
            char numbered[80];
            unsigned nth = 0;
            for (unsigned j = 0; j < k; j++) nth += !strcmp(r->names[j], r->names[k]);
            snprintf(numbered, sizeof numbered, "%s_%u", r->names[k], nth);
            found = !strcmp(want, r->names[k]) || !strcmp(want, numbered);
            if (found && !gr_write(x, i, &r->in[k])) return false;
        }
        if (!found) return false;
    }
    return true;
}

static void print_output(driver *r, gr_program *p, gr_prepared *x, gr_run run, unsigned i) {
    gr_tensor t = r->wide ? gr_result_wide(x, run, i) : (gr_tensor){0};
    if (!t.data) t = gr_result(x, run, i);
    printf("%s %s %u", gr_program_output_name(p, i), t.dtype, t.rank);
    for (unsigned k = 0; k < t.rank; k++) printf(" %llu", (unsigned long long)t.dims[k]);
    printf(" %zu %zu\n", r->written, t.bytes);
    if (t.bytes) r->written += fwrite(t.data, 1, t.bytes, r->results);
    fflush(r->results); /* what was printed can be read, whatever happens next */
}

static void run_case(driver *r) {
    const char *names[MAX_IN], *sets[MAX_SET];
    for (unsigned i = 0; i < r->in_n; i++) names[i] = r->names[i];
    for (unsigned i = 0; i < r->set_n; i++) sets[i] = r->sets[i];
    gr_compile_desc desc = {.reference = r->wide, .tier = r->tier[0] ? r->tier : NULL};
    gr_prepare_desc how = {.wide = r->wide};
    gr_program *p = gr_compile_op(r->s, r->op, names, r->in, r->in_n, sets, r->set_n, &desc);
    gr_prepared *x = p ? gr_prepare(p, &how) : NULL;
    gr_run run = x && write_inputs(r, p, x) ? gr_submit(x) : 0;
    if (run && gr_wait(x, run)) {
        printf("ok %u\n", gr_program_outputs(p));
        for (unsigned i = 0; i < gr_program_outputs(p); i++) print_output(r, p, x, run, i);
    } else {
        const char *text = gr_session_report(r->s, true);
        printf("error ");
        for (; *text; text++) putchar(*text == '\n' ? ' ' : *text);
        putchar('\n');
    }
    gr_prepared_free(x);
    gr_program_free(p);
    gr_session_clear(r->s);
}

static bool take_line(driver *r, char *line) {
    if (!strncmp(line, "case ", 5)) {
        r->in_n = r->set_n = 0;
        r->tier[0] = 0;
        snprintf(r->op, sizeof r->op, "%s", line + 5);
        return true;
    }
    if (!strncmp(line, "set ", 4) && r->set_n < MAX_SET) {
        snprintf(r->sets[r->set_n++], sizeof r->sets[0], "%s", line + 4);
        return true;
    }
    if (!strncmp(line, "tier ", 5)) {
        snprintf(r->tier, sizeof r->tier, "%s", line + 5);
        return true;
    }
    if (!strncmp(line, "in ", 3)) return read_in(r, line);
    if (!strcmp(line, "run")) {
        run_case(r);
        return true;
    }
    return !*line;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "driver cpu|gpu|wide CASES DATA RESULTS\n");
        return 2;
    }
    static driver r;
    setvbuf(stdout, NULL, _IOLBF, 0); /* a crash in an adapter then names its case */
    size_t n;
    char *cases = read_all(argv[2], &n);
    r.data = read_all(argv[3], &r.data_n);
    r.results = fopen(argv[4], "wb");
    r.wide = !strcmp(argv[1], "wide");
    gr_session_desc desc = {.device = !strcmp(argv[1], "gpu") ? GR_DEVICE_GPU : GR_DEVICE_CPU, .threads = 2};
    r.s = cases && r.data && r.results ? gr_session_new(&desc) : NULL;
    bool ok = r.s != NULL;
    if (ok && gr_session_exit_code(r.s)) {
        printf("none %s\n", gr_session_exit_code(r.s) == 3 ? "" : gr_session_report(r.s, true));
        ok = gr_session_exit_code(r.s) == 3;
    } else if (ok) {
        printf("session %s %s\n", gr_session_executor(r.s), gr_session_adapter(r.s));
        gr_session_clear(r.s);
        for (char *line = cases; ok && line;) {
            char *end = strchr(line, '\n');
            if (end) *end++ = 0;
            ok = take_line(&r, line);
            if (!ok) fprintf(stderr, "bad line: %s\n", line);
            line = end;
        }
    }
    gr_session_free(r.s);
    free(cases);
    free(r.data);
    if (r.results) fclose(r.results);
    return ok ? 0 : 1;
}
