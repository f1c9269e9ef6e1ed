#include "splat/image_decode.h"
#include "splat/io/zip.h"

#ifdef GR_HAVE_JPEG
#include <setjmp.h>
#include <stdio.h>
#include <jpeglib.h>

typedef struct failure {
    struct jpeg_error_mgr base; /* first: libjpeg hands out a pointer to it */
    jmp_buf back;
    char text[JMSG_LENGTH_MAX];
    uint8_t *row; /* what decoding owns, so that a jump loses nothing */
} failure;

static void on_error(j_common_ptr c) {
    failure *f = (failure *)c->err;
    c->err->format_message(c, f->text);
    longjmp(f->back, 1);
}

/* Kept instead of printed; counted by libjpeg in num_warnings. */
static void on_message(j_common_ptr c) {
    failure *f = (failure *)c->err;
    c->err->format_message(c, f->text);
}

/* Adobe stores CMYK turned over; everybody who writes CMYK without Adobe's mark does not. */
static void from_cmyk(const uint8_t *row, uint8_t *out, size_t n, bool adobe) {
    for (size_t i = 0; i < n; i++, row += 4)
        for (int c = 0; c < 3; c++) {
            int v = adobe ? row[c] : 255 - row[c], k = adobe ? row[3] : 255 - row[3];
            out[3 * i + (size_t)c] = (uint8_t)((v * k + 127) / 255);
        }
}

static bool decode(gr_diags *d, gr_str name, struct jpeg_decompress_struct *c, failure *f, gr_str bytes, gr_image *out) {
    jpeg_create_decompress(c);
    jpeg_mem_src(c, (const unsigned char *)bytes.p, (unsigned long)bytes.n);
    jpeg_read_header(c, TRUE);
    bool cmyk = c->jpeg_color_space == JCS_CMYK || c->jpeg_color_space == JCS_YCCK;
    c->out_color_space = cmyk ? JCS_CMYK : JCS_RGB;
    c->dct_method = JDCT_ISLOW;
    GR_TRY(gr_image_new(d, name, c->image_width, c->image_height, 3, out));
    f->row = gr_heap_alloc(c->image_width, 4);
    if (!f->row) return gr_report_oom(d);
    jpeg_start_decompress(c);
    while (c->output_scanline < c->output_height) {
        uint8_t *to = out->px + (size_t)c->output_scanline * out->width * 3;
        JSAMPROW rows[1] = {cmyk ? f->row : to};
        if (jpeg_read_scanlines(c, rows, 1) == 1 && cmyk) from_cmyk(f->row, to, out->width, c->saw_Adobe_marker);
    }
    jpeg_finish_decompress(c);
    return true;
}

/* The frame that libjpeg jumps back to has no variables of its own to lose. */
static bool guarded(gr_diags *d, gr_str name, struct jpeg_decompress_struct *c, failure *f, gr_str bytes, gr_image *out) {
    if (setjmp(f->back)) return gr_image_damaged(d, name, "JPEG", f->text);
    return decode(d, name, c, f, bytes, out);
}

bool gr_image_decode_jpeg(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    struct jpeg_decompress_struct c = {0};
    failure f = {0};
    c.err = jpeg_std_error(&f.base);
    f.base.error_exit = on_error;
    f.base.output_message = on_message;
    bool ok = guarded(d, name, &c, &f, bytes, out);
    if (ok && f.base.num_warnings)
        gr_report(d, GR_D_SPLAT_IMAGE_CUT, (gr_place){.document = name}, "copy the file again", "the JPEG is damaged: %s; what could be decoded is used", f.text);
    jpeg_destroy_decompress(&c);
    gr_heap_free(f.row);
    return ok;
}
#else
bool gr_image_decode_jpeg(gr_diags *d, gr_str name, gr_str bytes, gr_image *out) {
    (void)bytes, (void)out;
    return gr_library_missing(d, name, "JPEG", "libjpeg");
}
#endif
