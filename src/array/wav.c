/* WAV: RIFF chunks; "fmt " says how samples are coded, "data" holds them, frame by frame. PCM of 8 (unsigned), 16, 24 and 32 bits,
 * floats of 32 and 64; WAVE_FORMAT_EXTENSIBLE; RF64 with its chunk "ds64" for files beyond 4 GiB. Samples are numbers:
 * PCM of b bits is its integer divided by 2^(b-1), which f32 holds exactly up to 24 bits and f64 always. */
#include "array/archive.h"

enum { PCM = 1, FLOAT = 3, EXTENSIBLE = 0xFFFE };
/* gr_entry.form of the samples. */
enum { FORM_RATE = 0, FORM_U8 = 8, FORM_I16 = 16, FORM_I24 = 24, FORM_I32 = 32, FORM_F32 = 132, FORM_F64 = 164 };

typedef struct reader {
    gr_diags *d;
    gr_archive *f;
    uint32_t coding, channels, rate, bits, block;
    bool has_format, has_data;
    uint64_t wide_data;    /* of ds64; 0: none */
    uint64_t at, size;     /* samples */
} reader;

static uint32_t number(const uint8_t *p, int n) {
    uint32_t v = 0;
    while (n-- > 0) v = v << 8 | p[n];
    return v;
}

static bool damaged(const reader *r, const char *what) {
    return gr_report(r->d, GR_D_ARRAY_WAV, (gr_place){.document = r->f->file.name}, "write it as PCM of 16 bits or as floats", "%s", what);
}

static bool read_format(reader *r, uint64_t at, uint64_t n) {
    uint8_t p[40];
    if (n < 16) return damaged(r, "the chunk \"fmt \" is too short");
    size_t have = n < sizeof p ? (size_t)n : sizeof p;
    GR_TRY(gr_reader_read(&r->f->file, r->d, at, have, p));
    r->coding = number(p, 2);
    r->channels = number(p + 2, 2);
    r->rate = number(p + 4, 4);
    r->block = number(p + 12, 2);
    r->bits = number(p + 14, 2);
    if (r->coding == EXTENSIBLE) {
        if (have < 40 || memcmp(p + 26, "\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14) != 0) return damaged(r, "an extended coding that is neither PCM nor floats");
        if (number(p + 18, 2) > r->bits) return damaged(r, "more valid bits than a sample has");
        r->coding = number(p + 24, 2);
    }
    if (r->coding != PCM && r->coding != FLOAT)
        return gr_report(r->d, GR_D_ARRAY_WAV, (gr_place){.document = r->f->file.name}, "write it as PCM of 16 bits or as floats", "samples of coding %u are compressed", r->coding);
    bool known = r->coding == PCM ? r->bits == 8 || r->bits == 16 || r->bits == 24 || r->bits == 32 : r->bits == 32 || r->bits == 64;
    if (!known) return gr_report(r->d, GR_D_ARRAY_WAV, (gr_place){.document = r->f->file.name}, "write it as PCM of 16 bits or as floats", "samples of %u bits", r->bits);
    if (!r->channels || r->block != r->channels * r->bits / 8) return damaged(r, "the size of a frame is not what channels and bits need");
    r->has_format = true;
    return true;
}

static bool read_chunk(reader *r, const uint8_t *head, uint64_t at, uint64_t *n) {
    uint8_t p[16];
    uint64_t left = r->f->file.size - at;
    *n = number(head + 4, 4);
    bool data = memcmp(head, "data", 4) == 0;
    if (data && *n == 0xFFFFFFFF && r->wide_data) *n = r->wide_data;
    if (*n > left) return damaged(r, "a chunk is longer than the file");
    if (memcmp(head, "fmt ", 4) == 0) return r->has_format ? damaged(r, "the chunk \"fmt \" stands twice") : read_format(r, at, *n);
    if (memcmp(head, "ds64", 4) == 0) {
        if (*n < 16) return damaged(r, "the chunk \"ds64\" is too short");
        GR_TRY(gr_reader_read(&r->f->file, r->d, at, sizeof p, p));
        r->wide_data = (uint64_t)number(p + 12, 4) << 32 | number(p + 8, 4);
    }
    if (!data) return true;
    if (r->has_data) return damaged(r, "the chunk \"data\" stands twice");
    r->has_data = true;
    r->at = at;
    r->size = *n;
    return true;
}

static bool read_chunks(reader *r) {
    uint8_t head[12];
    uint64_t size = r->f->file.size, n;
    if (size < 12) return damaged(r, "the file is shorter than a RIFF header");
    GR_TRY(gr_reader_read(&r->f->file, r->d, 0, 12, head));
    if ((memcmp(head, "RIFF", 4) != 0 && memcmp(head, "RF64", 4) != 0) || memcmp(head + 8, "WAVE", 4) != 0) return damaged(r, "the RIFF header is missing");
    for (uint64_t at = 12; size - at >= 8;) {
        GR_TRY(gr_reader_read(&r->f->file, r->d, at, 8, head));
        GR_TRY(read_chunk(r, head, at + 8, &n));
        at += 8 + n;
        at += n & 1 && at < size; /* chunks are padded to even */
    }
    if (!r->has_format || !r->has_data) return damaged(r, "one of the chunks \"fmt \" and \"data\" is missing");
    return r->size % r->block == 0 || damaged(r, "the last frame is cut off");
}

bool gr_wav_contents(gr_arena *a, gr_diags *d, gr_archive *f) {
    reader r = {.d = d, .f = f};
    GR_TRY(read_chunks(&r));
    f->entries = GR_NEW_N(a, gr_entry, 2);
    if (!f->entries) return gr_report_oom(d);
    gr_array type = {.dtype = r.bits == 64 || (r.coding == PCM && r.bits == 32) ? GR_DTYPE_F64 : GR_DTYPE_F32, .rank = r.channels > 1 ? 2 : 1};
    type.dims[0] = r.size / r.block;
    if (r.channels > 1) type.dims[1] = r.channels;
    f->entries[0] = (gr_entry){.name = GR_STR("samples"), .type = type, .at = r.at, .size = r.size, .form = r.coding == PCM ? r.bits : 100 + r.bits};
    f->entries[1] = (gr_entry){.name = GR_STR("rate"), .type = {.dtype = GR_DTYPE_U32}, .plain = r.rate, .form = FORM_RATE};
    f->n = 2;
    return true;
}

static void decode(const gr_entry *e, const uint8_t *p, gr_array *x) {
    uint64_t n = gr_array_count(x);
    for (uint64_t i = 0; i < n; i++) {
        if (e->form == FORM_U8) ((float *)x->data)[i] = ((float)p[i] - 128) / 128;
        if (e->form == FORM_I16) ((float *)x->data)[i] = (float)(int16_t)number(p + 2 * i, 2) / 32768;
        if (e->form == FORM_I24) ((float *)x->data)[i] = (float)((int32_t)(number(p + 3 * i, 3) << 8) >> 8) / 8388608;
        if (e->form == FORM_I32) ((double *)x->data)[i] = (double)(int32_t)number(p + 4 * i, 4) / 2147483648.0;
    }
}

bool gr_wav_get(const gr_archive *f, gr_arena *a, gr_diags *d, const gr_entry *e, gr_array *out) {
    gr_arena temporary = {0};
    gr_str raw;
    GR_TRY(gr_array_new(a, d, e->type.dtype, e->type.dims, e->type.rank, out));
    if (e->form == FORM_RATE) {
        *(uint32_t *)out->data = (uint32_t)e->plain;
        return true;
    }
    if (e->form == FORM_F32 || e->form == FORM_F64) return gr_reader_read(&f->file, d, e->at, out->bytes, out->data);
    bool ok = gr_reader_part(&f->file, &temporary, d, e->at, e->size, &raw);
    if (ok) decode(e, (const uint8_t *)raw.p, out);
    gr_arena_free(&temporary);
    return ok;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

typedef struct writer { gr_buf *out; gr_diags *d; const gr_array *x; uint32_t rate, bits, channels; bool pcm; uint64_t bytes; } writer;

static void put(gr_buf *b, uint64_t v, int n) {
    for (int i = 0; i < n; i++) gr_buf_putc(b, (char)(v >> 8 * i & 255));
}

/* Extended where the plain form does not say enough: more than two channels, PCM beyond 16 bits. */
static void put_header(const writer *w) {
    bool extended = w->channels > 2 || (w->pcm && w->bits > 16);
    uint32_t format = extended ? 40 : w->pcm ? 16 : 18, frame = w->channels * w->bits / 8;
    uint64_t pad = w->bytes & 1;
    gr_buf_puts(w->out, "RIFF");
    put(w->out, 4 + 8 + format + (w->pcm ? 0 : 12) + 8 + w->bytes + pad, 4);
    gr_buf_puts(w->out, "WAVEfmt ");
    put(w->out, format, 4);
    put(w->out, extended ? EXTENSIBLE : w->pcm ? PCM : FLOAT, 2);
    put(w->out, w->channels, 2);
    put(w->out, w->rate, 4);
    put(w->out, (uint64_t)w->rate * frame, 4);
    put(w->out, frame, 2);
    put(w->out, w->bits, 2);
    if (format == 18) put(w->out, 0, 2);
    if (extended) {
        put(w->out, 22, 2), put(w->out, w->bits, 2), put(w->out, 0, 4);
        put(w->out, w->pcm ? PCM : FLOAT, 2);
        gr_buf_put(w->out, "\0\0\0\0\x10\0\x80\0\0\xAA\0\x38\x9B\x71", 14);
    }
    if (!w->pcm) { /* how many frames, which the format asks for beside PCM */
        gr_buf_puts(w->out, "fact");
        put(w->out, 4, 4), put(w->out, w->bytes / frame, 4);
    }
    gr_buf_puts(w->out, "data");
    put(w->out, w->bytes, 4);
}

/* To nearest even, for |v| below 2^51: the sum has no bits behind the point. */
static double nearest(double v) {
    volatile double magic = 6755399441055744.0, sum = v + magic;
    return sum - magic;
}

static bool put_samples(const writer *w) {
    uint64_t n = gr_array_count(w->x), clipped = 0;
    for (uint64_t i = 0; i < n; i++) {
        double v = gr_array_get_f64(w->x, i), scale = (double)(1ull << (w->bits - 1));
        float narrow = (float)v;
        uint64_t raw = 0;
        if (!w->pcm) {
            memcpy(&raw, w->bits == 64 ? (void *)&v : (void *)&narrow, w->bits / 8);
        } else {
            if (v != v) return gr_report(w->d, GR_D_ARRAY_WAV, (gr_place){0}, "replace it, or write floats", "sample %llu is not a number, which PCM cannot hold", (unsigned long long)i);
            double s = v * scale, least = -scale, greatest = scale - 1;
            s = s < 2 * least ? 2 * least : s > 2 * scale ? 2 * scale : nearest(s);
            clipped += s < least || s > greatest;
            int64_t k = (int64_t)(s < least ? least : s > greatest ? greatest : s);
            raw = (uint64_t)(w->bits == 8 ? k + 128 : k);
        }
        put(w->out, raw, (int)w->bits / 8);
    }
    if (w->bytes & 1) gr_buf_putc(w->out, 0);
    if (clipped)
        gr_report(w->d, GR_D_ARRAY_WAV_CLIPPED, (gr_place){0}, "scale it, or write floats", "%llu of %llu samples lie outside of [-1, 1) and were clipped", (unsigned long long)clipped, (unsigned long long)n);
    return true;
}

bool gr_wav_write(gr_buf *out, gr_diags *d, const gr_array *x, uint32_t rate, uint32_t bits) {
    uint64_t channels = x->rank == 2 ? x->dims[1] : 1;
    writer w = {.out = out, .d = d, .x = x, .rate = rate, .pcm = bits != 0, .bits = bits ? bits : x->dtype == GR_DTYPE_F64 ? 64 : 32};
    if (!gr_dtype_is_float(x->dtype) || x->rank < 1 || x->rank > 2 || !channels || channels > 1024)
        return gr_report(d, GR_D_ARRAY_WAV, (gr_place){0}, "samples are floats in [-1, 1), of shape [frames] or [frames, channels]", "an array of %s with %u dimensions is no sound",
                         gr_dtype_name(x->dtype), x->rank);
    if (bits && bits != 8 && bits != 16 && bits != 24 && bits != 32) return gr_report(d, GR_D_ARRAY_WAV, (gr_place){0}, "use 8, 16, 24 or 32", "PCM of %u bits", bits);
    if (!rate) return gr_report(d, GR_D_ARRAY_WAV, (gr_place){0}, "name the file \"sound.wav#rate=44100\"", "the rate of the samples is not known");
    uint64_t bytes = gr_array_count(x);
    if (bytes > 0xFFFFFF00u / (w.bits / 8)) return gr_report(d, GR_D_ARRAY_TOO_LARGE, (gr_place){0}, "write .npy", "more than 4 GiB of samples do not fit a WAV file");
    w.bytes = bytes * (w.bits / 8);
    w.channels = (uint32_t)channels;
    put_header(&w);
    return put_samples(&w) && (!out->failed || gr_report_oom(d));
}
