/* scan.h: a small token reader for the text forms of the lower rungs.
 *
 * Tokens: { } = , alone; a JSON-quoted string; else a run of bytes up to white space, a quote or one of
 * those. The first error is reported with its place; after it every read fails and gives zeros. */
#ifndef GR_BASE_SCAN_H
#define GR_BASE_SCAN_H

#include "base/diag.h"
#include "base/hash.h"

typedef struct gr_scan {
    gr_arena *arena; /* for unescaped strings */
    gr_diags *d;
    gr_diag_name name; /* of syntax errors */
    gr_str document, text;
    size_t at, token_at; /* next byte; start of the last token */
    bool failed;
} gr_scan;

/* Reports at the last token; false always. */
bool gr_scan_fail(gr_scan *s, const char *what);
/* The next token, empty at the end of the text. Peek does not consume it. */
gr_str gr_scan_token(gr_scan *s);
gr_str gr_scan_peek(gr_scan *s);
bool gr_scan_is(gr_scan *s, const char *word);     /* consumes it when it is next */
bool gr_scan_expect(gr_scan *s, const char *word); /* or reports */
bool gr_scan_u64(gr_scan *s, uint64_t *out);
bool gr_scan_u32(gr_scan *s, uint32_t *out);
bool gr_scan_f64(gr_scan *s, double *out);         /* as gr_buf_f64 writes it */
bool gr_scan_string(gr_scan *s, gr_str *out);      /* a quoted string, unescaped */
bool gr_scan_name(gr_scan *s, gr_str *out);        /* a bare word or a quoted string */
bool gr_scan_hash(gr_scan *s, gr_sha256 *out);
bool gr_scan_hex(gr_scan *s, uint8_t **out, uint64_t *n); /* an even run of hex digits, or - for none */
/* Text between braces written as lines "| ...", see gr_buf_block. */
bool gr_scan_block(gr_scan *s, gr_str *out);
void gr_scan_skip_line(gr_scan *s); /* to the end of the line */
bool gr_scan_at_end(gr_scan *s);

/* "{" and every line of the text behind `indent` and "| ", then the brace. */
void gr_buf_block(gr_buf *b, gr_str text, const char *indent);
void gr_buf_quoted(gr_buf *b, gr_str s); /* JSON string */
void gr_buf_name(gr_buf *b, gr_str s);   /* bare where that is one token, else quoted */
void gr_buf_hex(gr_buf *b, const uint8_t *p, uint64_t n); /* or - for none */

#endif
