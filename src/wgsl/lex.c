/* Lexer: UTF-8 text to tokens, template lists marked.
 *
 * Three passes, because '<' and '>' mean an operator or a bracket depending on what
 * follows: (1) fine tokens, where a run such as ">>=" is one token a character;
 * (2) the template-list discovery of the specification, which marks brackets;
 * (3) unmarked runs are joined into operators by the longest match. */
#include "wgsl/wgsl_int.h"

#include <stdio.h>
#include <string.h>

typedef struct lexer {
    gr_wgsl_front *f;
    gr_str s;
    uint32_t at;
    GR_VEC(gr_wgsl_tok) tok;
    uint32_t bad;
} lexer;

static const char *const tok_text[GR_TK_COUNT] = {
    [GR_TK_EOF] = "the end of the text",
    [GR_TK_IDENT] = "an identifier",
    [GR_TK_INT] = "an integer",
    [GR_TK_FLOAT] = "a number",
#define GR_WGSL_KEYWORD(name) [GR_TK_##name] = #name,
#define GR_WGSL_PUNCT(id, text) [GR_TK_##id] = text,
#include "wgsl/token.def"
#undef GR_WGSL_KEYWORD
#undef GR_WGSL_PUNCT
};

const char *gr_wgsl_tok_text(gr_wgsl_tok_kind k) { return k < GR_TK_COUNT ? tok_text[k] : "?"; }

static const char *const reserved[] = {
    "NULL", "Self", "abstract", "active", "alignas", "alignof", "as", "asm", "asm_fragment", "async", "attribute",
    "auto", "await", "become", "cast", "catch", "class", "co_await", "co_return", "co_yield", "coherent",
    "column_major", "common", "compile", "compile_fragment", "concept", "const_cast", "consteval", "constexpr",
    "constinit", "crate", "debugger", "decltype", "delete", "demote", "demote_to_helper", "do", "dynamic_cast",
    "enum", "explicit", "export", "extends", "extern", "external", "fallthrough", "filter", "final", "finally",
    "friend", "from", "fxgroup", "get", "goto", "groupshared", "highp", "impl", "implements", "import", "inline",
    "instanceof", "interface", "layout", "lowp", "macro", "macro_rules", "match", "mediump", "meta", "mod", "module",
    "move", "mut", "mutable", "namespace", "new", "nil", "noexcept", "noinline", "nointerpolation", "non_coherent",
    "noncoherent", "noperspective", "null", "nullptr", "of", "operator", "package", "packoffset", "partial", "pass",
    "patch", "pixelfragment", "precise", "precision", "premerge", "priv", "protected", "pub", "public", "readonly",
    "ref", "regardless", "register", "reinterpret_cast", "require", "resource", "restrict", "self", "set", "shared",
    "sizeof", "smooth", "snorm", "static", "static_assert", "static_cast", "std", "subroutine", "super", "target",
    "template", "this", "thread_local", "throw", "trait", "try", "type", "typedef", "typeid", "typename", "typeof",
    "union", "unless", "unorm", "unsafe", "unsized", "use", "using", "varying", "virtual", "volatile", "wgsl",
    "where", "with", "writeonly", "yield",
};

bool gr_wgsl_is_reserved(gr_str word) {
    size_t lo = 0, hi = sizeof reserved / sizeof *reserved;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        int c = gr_str_cmp(word, gr_str_of(reserved[mid]));
        if (c == 0) return true;
        if (c < 0) hi = mid;
        else lo = mid + 1;
    }
    return false;
}

static bool bad_token(lexer *l, uint32_t at, const char *hint, const char *message) {
    l->bad++;
    return gr_wgsl_error(l->f, GR_D_WGSL_TOKEN, at, hint, "%s", message);
}

static bool push(lexer *l, uint32_t kind, uint32_t from) {
    gr_wgsl_tok *t = GR_PUSH(l->f->arena, &l->tok);
    if (!t) return gr_wgsl_oom(l->f);
    *t = (gr_wgsl_tok){.kind = (uint16_t)kind, .offset = from, .end = l->at};
    return true;
}

/* One code point at `at`; its length, or 0 when the bytes are not UTF-8. */
static uint32_t decode(gr_str s, uint32_t at, uint32_t *cp) {
    const unsigned char *p = (const unsigned char *)s.p + at;
    size_t left = s.n - at;
    uint32_t c = p[0], n = c < 0x80 ? 1 : c >= 0xC2 && c < 0xE0 ? 2 : (c & 0xF0) == 0xE0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    if (n == 0 || n > left) return 0;
    static const uint32_t first[5] = {0, 0x7F, 0x1F, 0x0F, 0x07}, least[5] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t v = c & first[n];
    for (uint32_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) return 0;
        v = v << 6 | (p[i] & 0x3Fu);
    }
    if (v < least[n] || v > 0x10FFFF || (v >= 0xD800 && v <= 0xDFFF)) return 0;
    *cp = v;
    return n;
}

static bool is_line_break(uint32_t cp) { return (cp >= 0x0A && cp <= 0x0D) || cp == 0x85 || cp == 0x2028 || cp == 0x2029; }
static bool is_blank(uint32_t cp) { return cp == ' ' || cp == '\t' || is_line_break(cp) || cp == 0x200E || cp == 0x200F; }

static char peek(const lexer *l, uint32_t ahead) { return l->at + ahead < l->s.n ? l->s.p[l->at + ahead] : '\0'; }

static void skip_line_comment(lexer *l) {
    while (l->at < l->s.n) {
        uint32_t cp = 0, n = decode(l->s, l->at, &cp);
        if (n && is_line_break(cp)) return;
        if (n == 0 || cp == 0) {
            bad_token(l, l->at, NULL, n ? "a comment holds a null character" : "a comment is not valid UTF-8");
            n = 1;
        }
        l->at += n;
    }
}

/* Block comments nest; the count replaces recursion. */
static void skip_block_comment(lexer *l) {
    uint32_t open = l->at, depth = 0;
    do {
        if (l->at >= l->s.n) {
            bad_token(l, open, "close it with */", "a block comment is not closed");
            return;
        }
        if (peek(l, 0) == '/' && peek(l, 1) == '*') depth++, l->at += 2;
        else if (peek(l, 0) == '*' && peek(l, 1) == '/') depth--, l->at += 2;
        else {
            uint32_t cp = 0, n = decode(l->s, l->at, &cp);
            if (n == 0 || cp == 0)
                bad_token(l, l->at, NULL, n ? "a comment holds a null character" : "a comment is not valid UTF-8");
            l->at += n ? n : 1;
        }
    } while (depth);
}

static bool digit(char c, bool hex) {
    return (c >= '0' && c <= '9') || (hex && ((c | 32) >= 'a' && (c | 32) <= 'f'));
}

static uint32_t digits(lexer *l, bool hex) {
    uint32_t n = 0;
    while (digit(peek(l, 0), hex)) l->at++, n++;
    return n;
}

/* Exponent if one stands here; true when consumed. */
static bool exponent(lexer *l, char letter) {
    if ((peek(l, 0) | 32) != letter) return false;
    uint32_t k = peek(l, 1) == '+' || peek(l, 1) == '-' ? 2 : 1;
    if (!digit(peek(l, k), false)) return false;
    l->at += k;
    digits(l, false);
    return true;
}

/* Numbers by the six patterns of the specification; the value is read later. */
static bool lex_number(lexer *l) {
    uint32_t from = l->at;
    bool hex = peek(l, 0) == '0' && (peek(l, 1) | 32) == 'x', is_float = false, has_exp;
    if (hex) l->at += 2;
    uint32_t whole = digits(l, hex), fraction = 0;
    if (peek(l, 0) == '.') {
        l->at++;
        fraction = digits(l, hex);
        is_float = true;
    }
    if (whole + fraction == 0) return bad_token(l, from, NULL, "a hexadecimal literal has no digits");
    has_exp = exponent(l, hex ? 'p' : 'e');
    is_float |= has_exp;
    char suffix = peek(l, 0);
    bool float_suffix = (suffix == 'f' || suffix == 'h') && (!hex || has_exp);
    if (float_suffix) is_float = true, l->at++;
    else if (!is_float && (suffix == 'i' || suffix == 'u')) l->at++;
    if (!hex && whole > 1 && l->s.p[from] == '0' && !is_float)
        return bad_token(l, from, "remove the leading zeros", "an integer literal has leading zeros");
    if (l->at - from > 4096) return bad_token(l, from, NULL, "a number literal is longer than 4096 characters");
    uint32_t cp = 0;
    if (l->at < l->s.n && decode(l->s, l->at, &cp) && (gr_wgsl_xid_continue(cp)))
        return bad_token(l, from, "literals end in i, u, f, h or nothing", "a number literal runs into a letter or digit");
    return push(l, is_float ? GR_TK_FLOAT : GR_TK_INT, from);
}

static uint32_t keyword(gr_str word) {
    for (uint32_t k = GR_TK_alias; k <= GR_TK_while; k++)
        if (gr_str_eqz(word, tok_text[k])) return k;
    return GR_TK_IDENT;
}

static bool lex_word(lexer *l) {
    uint32_t from = l->at, cp, n;
    while (l->at < l->s.n && (n = decode(l->s, l->at, &cp)) && gr_wgsl_xid_continue(cp)) l->at += n;
    gr_str word = {l->s.p + from, l->at - from};
    if (gr_str_eqz(word, "_")) return push(l, GR_TK_UNDERSCORE, from);
    return push(l, keyword(word), from);
}

/* Operators other than those with '<', '>' and '=' in front, longest first. */
static bool lex_punct(lexer *l) {
    static const uint16_t order[] = {
        GR_TK_ARROW, GR_TK_NE, GR_TK_AND_AND, GR_TK_OR_OR, GR_TK_PLUS_PLUS, GR_TK_MINUS_MINUS, GR_TK_PLUS_EQ,
        GR_TK_MINUS_EQ, GR_TK_STAR_EQ, GR_TK_SLASH_EQ, GR_TK_PERCENT_EQ, GR_TK_AMP_EQ, GR_TK_PIPE_EQ, GR_TK_CARET_EQ,
        GR_TK_LPAREN, GR_TK_RPAREN, GR_TK_LBRACKET, GR_TK_RBRACKET, GR_TK_LBRACE, GR_TK_RBRACE, GR_TK_COMMA,
        GR_TK_DOT, GR_TK_COLON, GR_TK_SEMICOLON, GR_TK_AT, GR_TK_ASSIGN, GR_TK_LT, GR_TK_GT, GR_TK_PLUS, GR_TK_MINUS,
        GR_TK_STAR, GR_TK_SLASH, GR_TK_PERCENT, GR_TK_AMP, GR_TK_PIPE, GR_TK_CARET, GR_TK_BANG, GR_TK_TILDE,
    };
    uint32_t from = l->at;
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const char *t = tok_text[order[i]];
        size_t n = strlen(t);
        if (n > l->s.n - l->at || memcmp(l->s.p + l->at, t, n) != 0) continue;
        l->at += (uint32_t)n;
        return push(l, order[i], from);
    }
    return false;
}

static void bad_character(lexer *l, uint32_t cp, uint32_t n) {
    char shown[64];
    if (n == 0) bad_token(l, l->at, NULL, "the text is not valid UTF-8");
    else {
        snprintf(shown, sizeof shown, "a stray character U+%04X", (unsigned)cp);
        bad_token(l, l->at, cp == 0xFEFF ? "remove the byte order mark" : NULL, shown);
    }
    l->at += n ? n : 1;
}

static void lex_fine(lexer *l) {
    while (l->at < l->s.n && l->bad < GR_WGSL_MAX_SYNTAX_ERRORS && !l->f->oom) {
        uint32_t cp = 0, n = decode(l->s, l->at, &cp);
        char c = peek(l, 0), d = peek(l, 1);
        if (n && is_blank(cp)) l->at += n;
        else if (c == '/' && d == '/') skip_line_comment(l);
        else if (c == '/' && d == '*') skip_block_comment(l);
        else if (digit(c, false) || (c == '.' && digit(d, false))) lex_number(l);
        else if (n && (cp == '_' || gr_wgsl_xid_start(cp))) lex_word(l);
        else if (n == 0 || cp >= 0x80 || !lex_punct(l)) bad_character(l, cp, n);
    }
}

/* The template-list discovery of the specification over fine tokens. */
typedef struct pending {
    uint32_t tok, depth;
} pending;

static bool adjacent(const gr_wgsl_tok *t, uint32_t i, uint32_t n) { return i + 1 < n && t[i].end == t[i + 1].offset; }

static bool mark_templates(lexer *l) {
    gr_wgsl_tok *t = l->tok.v;
    uint32_t n = l->tok.n, depth = 0;
    GR_VEC(pending) stack = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = t[i].kind;
        if ((k == GR_TK_IDENT || (k >= GR_TK_alias && k <= GR_TK_while)) && i + 1 < n && t[i + 1].kind == GR_TK_LT) {
            i++;
            if (adjacent(t, i, n) && (t[i + 1].kind == GR_TK_LT || t[i + 1].kind == GR_TK_ASSIGN)) {
                i++;
                continue;
            }
            pending *p = GR_PUSH(l->f->arena, &stack);
            if (!p) return gr_wgsl_oom(l->f);
            *p = (pending){i, depth};
        } else if (k == GR_TK_GT) {
            if (stack.n && stack.v[stack.n - 1].depth == depth) {
                t[stack.v[--stack.n].tok].template_mark = true;
                t[i].template_mark = true;
            } else if (adjacent(t, i, n) && t[i + 1].kind == GR_TK_ASSIGN) {
                i++;
            }
        } else if (k == GR_TK_LPAREN || k == GR_TK_LBRACKET) {
            depth++;
        } else if (k == GR_TK_RPAREN || k == GR_TK_RBRACKET) {
            while (stack.n && stack.v[stack.n - 1].depth >= depth) stack.n--;
            if (depth) depth--;
        } else if (k == GR_TK_ASSIGN && adjacent(t, i, n) && t[i + 1].kind == GR_TK_ASSIGN) {
            i++;
        } else if (k == GR_TK_SEMICOLON || k == GR_TK_LBRACE || k == GR_TK_COLON || k == GR_TK_ASSIGN) {
            depth = 0;
            stack.n = 0;
        } else if (k == GR_TK_AND_AND || k == GR_TK_OR_OR) {
            while (stack.n && stack.v[stack.n - 1].depth >= depth) stack.n--;
        }
    }
    return true;
}

/* Joins unmarked '<', '>' and '=' into the longest operators, in place. */
static void join_operators(lexer *l) {
    static const struct { uint16_t a, b, joined; } rule[] = {
        {GR_TK_LT, GR_TK_LT, GR_TK_SHL},     {GR_TK_GT, GR_TK_GT, GR_TK_SHR},     {GR_TK_LT, GR_TK_ASSIGN, GR_TK_LE},
        {GR_TK_GT, GR_TK_ASSIGN, GR_TK_GE},  {GR_TK_ASSIGN, GR_TK_ASSIGN, GR_TK_EQ}, {GR_TK_SHL, GR_TK_ASSIGN, GR_TK_SHL_EQ},
        {GR_TK_SHR, GR_TK_ASSIGN, GR_TK_SHR_EQ},
    };
    gr_wgsl_tok *t = l->tok.v;
    uint32_t out = 0;
    for (uint32_t i = 0; i < l->tok.n; i++) {
        gr_wgsl_tok *last = out ? &t[out - 1] : NULL;
        bool joined = false;
        for (size_t r = 0; last && r < sizeof rule / sizeof *rule && !joined; r++) {
            if (last->kind != rule[r].a || t[i].kind != rule[r].b || last->template_mark || t[i].template_mark ||
                last->end != t[i].offset)
                continue;
            last->kind = rule[r].joined;
            last->end = t[i].end;
            joined = true;
        }
        if (!joined) t[out++] = t[i];
    }
    l->tok.n = out;
}

bool gr_wgsl_lex(gr_wgsl_front *f) {
    lexer l = {.f = f, .s = f->m->text};
    lex_fine(&l);
    if (l.bad || f->oom || !mark_templates(&l)) return false;
    join_operators(&l);
    l.at = (uint32_t)l.s.n;
    if (!push(&l, GR_TK_EOF, (uint32_t)l.s.n)) return false;
    f->tok = l.tok.v;
    f->tok_n = l.tok.n;
    return true;
}
