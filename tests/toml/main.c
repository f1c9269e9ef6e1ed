/* gradus-toml FILE: FILE holds TOML documents, each followed by a zero byte. Prints a line for each: "reject NAME LINE:COL"
 * or its value as JSON in which every scalar says its type: {"i":"12"} {"f":"0x3ff0000000000000"} {"b":true} {"s":"x"} {"d":""}. */
#include "base/file.h"
#include "base/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put(gr_buf *out, const gr_value *v) {
    uint64_t bits;
    switch (v->kind) {
    case GR_V_BOOL: gr_buf_puts(out, v->b ? "{\"b\":true}" : "{\"b\":false}"); break;
    case GR_V_INT: gr_buf_printf(out, "{\"i\":\"%" PRId64 "\"}", v->i); break;
    case GR_V_UINT: gr_buf_printf(out, "{\"i\":\"%" PRIu64 "\"}", v->u); break;
    case GR_V_FLOAT:
        memcpy(&bits, &v->f, sizeof bits);
        if (v->f != v->f) gr_buf_puts(out, "{\"f\":\"nan\"}");
        else gr_buf_printf(out, "{\"f\":\"0x%016" PRIx64 "\"}", bits);
        break;
    case GR_V_STRING:
        gr_buf_puts(out, "{\"s\":");
        gr_json_string(out, v->s);
        gr_buf_putc(out, '}');
        break;
    case GR_V_DATETIME: gr_buf_puts(out, "{\"d\":\"\"}"); break;
    case GR_V_ARRAY:
        gr_buf_putc(out, '[');
        for (uint32_t i = 0; i < v->array.n; i++) {
            if (i) gr_buf_putc(out, ',');
            put(out, v->array.v[i]);
        }
        gr_buf_putc(out, ']');
        break;
    case GR_V_OBJECT:
        gr_buf_puts(out, "{\"o\":[");
        for (uint32_t i = 0; i < v->object.n; i++) {
            gr_buf_puts(out, i ? ",[" : "[");
            gr_json_string(out, v->object.v[i].key);
            gr_buf_putc(out, ',');
            put(out, v->object.v[i].value);
            gr_buf_putc(out, ']');
        }
        gr_buf_puts(out, "]}");
        break;
    case GR_V_NONE:
    case GR_V_NULL: gr_buf_puts(out, "\"?\""); break;
    }
}

static void one(gr_str text) {
    gr_arena a = {0};
    gr_diags d;
    gr_doc doc;
    gr_buf out = {0};
    gr_diags_init(&d);
    if (gr_toml_parse(&a, &d, GR_STR("<toml>"), text, &doc)) put(&out, doc.root);
    else if (d.list.n) gr_buf_printf(&out, "reject %s %u:%u", gr_diag_text(d.list.v[0].name), d.list.v[0].place.line, d.list.v[0].place.col);
    else gr_buf_puts(&out, "reject without a word");
    puts(out.p ? out.p : "out of memory");
    gr_buf_free(&out);
    gr_diags_free(&d);
    gr_arena_free(&a);
}

int main(int argc, char **argv) {
    gr_arena a = {0};
    gr_diags d;
    gr_str all;
    gr_diags_init(&d);
    if (argc != 2 || !gr_file_read(&a, &d, gr_str_of(argv[1]), 0, &all)) return 2;
    for (size_t at = 0; at < all.n;) {
        const char *end = memchr(all.p + at, 0, all.n - at);
        size_t n = end ? (size_t)(end - all.p) - at : all.n - at;
        one((gr_str){all.p + at, n});
        at += n + 1;
    }
    gr_diags_free(&d);
    gr_arena_free(&a);
    return 0;
}
