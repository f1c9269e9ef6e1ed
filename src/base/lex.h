/* lex.h: the scanner that the text forms of the rungs share, and an index of lines.
 *
 * Tokens: words (`tier`, `user/kemal/windowed_median@1`), values (`%median`, `%top.values`),
 * JSON strings, numbers (`-3`, `0.5`, `1e-6`, `inf`, `-inf`, `nan`), single punctuation marks and the end of a
 * line. `#` starts a comment. Words and values take letters, digits and `_ . / @ ~ -`; a word starts
 * with a letter or `_`. Every token knows line and column (code points), at linear cost however long
 * a line is. */
#ifndef GR_BASE_LEX_H
#define GR_BASE_LEX_H

#include "base/value.h"

typedef enum gr_token_kind {
    GR_TOKEN_NONE = 0, GR_TOKEN_END, GR_TOKEN_LINE, /* end of the text, of a line */
    GR_TOKEN_WORD, GR_TOKEN_VALUE, GR_TOKEN_STRING, GR_TOKEN_NUMBER, GR_TOKEN_MARK,
} gr_token_kind;

typedef struct gr_token {
    gr_token_kind kind;
    gr_str text;        /* VALUE without '%'; STRING with its quotes */
    uint32_t line, col; /* of its first character, from 1 */
} gr_token;

typedef struct gr_lex {
    gr_arena *a;
    gr_diags *d;
    gr_diag_name syntax; /* what a malformed text is called, e.g. graph/syntax */
    gr_str document, text;
    size_t at;
    uint32_t line, col;
    gr_token now;   /* the token to be taken next */
    uint32_t errors;
} gr_lex;

/* Scans the first token. The text must outlive what is parsed: names are views of it. */
void gr_lex_init(gr_lex *l, gr_arena *a, gr_diags *d, gr_diag_name syntax, gr_str document, gr_str text);
gr_token gr_lex_take(gr_lex *l); /* gives now and scans the next */
gr_place gr_lex_place(const gr_lex *l, gr_token t);
/* Reports `syntax` at the token to come: "expected WHAT, found ...". Returns false. */
bool gr_lex_expected(gr_lex *l, const char *what, const char *hint);
bool gr_lex_is_mark(const gr_lex *l, char c);
bool gr_lex_is_word(const gr_lex *l, const char *word);
/* Takes it when it is there. */
bool gr_lex_try_mark(gr_lex *l, char c);
bool gr_lex_try_word(gr_lex *l, const char *word);
/* Takes it or reports. */
bool gr_lex_mark(gr_lex *l, char c);
bool gr_lex_word(gr_lex *l, const char *what, gr_str *out);
bool gr_lex_value(gr_lex *l, const char *what, gr_str *out);
bool gr_lex_string(gr_lex *l, const char *what, gr_str *out); /* decoded */
bool gr_lex_u64(gr_lex *l, const char *what, uint64_t *out);
/* One or more ends of lines, or the end of the text; before a closing brace none is needed. */
bool gr_lex_line(gr_lex *l);
void gr_lex_skip_lines(gr_lex *l);
/* Past the end of this line, for going on after an error. */
void gr_lex_recover(gr_lex *l);
/* A number token as INT, UINT or FLOAT (inf and nan included); false when it is no number. */
bool gr_number_parse(gr_str text, gr_value *out);
/* A JSON value; lines may end inside brackets. A bare word is taken as a string, and inf,
 * -inf, nan as floats. NULL when reported. */
gr_value *gr_lex_json(gr_lex *l);

/* One line of JSON: ", " and ": " as separators, members in document order, -0 kept, and
 * inf, -inf, nan as such words (that is what gr_lex_json reads back). */
void gr_json_inline(gr_buf *out, const gr_value *v);

/* Line and column of any offset in constant time after one pass over the text. */
typedef struct gr_lines {
    gr_str text;
    struct { uint32_t line, col; } *mark; /* at every 256th byte */
} gr_lines;
bool gr_lines_init(gr_arena *a, gr_str text, gr_lines *out); /* false when memory fails */
void gr_lines_at(const gr_lines *l, size_t offset, uint32_t *line, uint32_t *col);

#endif
