/* ply.h: PLY files of any layout, as typed columns.
 *
 * Format: Turk, "The PLY polygon file format", 1994. ascii, binary little- and big-endian; names of types in both styles (float,
 * float32). List properties are read past, not kept. */
#ifndef GR_SPLAT_PLY_H
#define GR_SPLAT_PLY_H

#include "base/diag.h"

typedef enum gr_ply_type {
    GR_PLY_NONE = 0, GR_PLY_I8, GR_PLY_U8, GR_PLY_I16, GR_PLY_U16, GR_PLY_I32, GR_PLY_U32, GR_PLY_F32, GR_PLY_F64,
} gr_ply_type;

typedef struct gr_ply_property {
    gr_str name;
    gr_ply_type type;
    gr_ply_type list;  /* type of the count of a list; NONE for a scalar */
    uint32_t offset;   /* in a row */
} gr_ply_property;

typedef struct gr_ply_element {
    gr_str name;
    uint64_t count;
    GR_VEC(gr_ply_property) property;
    bool lists;          /* has list properties: rows are not kept, data is NULL */
    uint32_t stride;     /* bytes of a row */
    const uint8_t *data; /* count rows; a view of the file, or of the arena for ascii */
} gr_ply_element;

typedef enum gr_ply_form { GR_PLY_FORM_NONE = 0, GR_PLY_ASCII, GR_PLY_LITTLE, GR_PLY_BIG } gr_ply_form;

typedef struct gr_ply {
    gr_ply_form form;
    GR_VEC(gr_ply_element) element;
    gr_str name; /* of the document */
} gr_ply;

/* `bytes` must outlive out. splat/ply-header with the line; splat/ply-data for a short file (with what is missing) or an ascii
 * value that is no number (with its line). */
bool gr_ply_read(gr_arena *a, gr_diags *d, gr_str name, gr_str bytes, gr_ply *out);
const gr_ply_element *gr_ply_find(const gr_ply *p, const char *element); /* NULL when absent */
/* Index of a scalar property; -1 when absent. */
int gr_ply_property_find(const gr_ply_element *e, const char *property);
/* Row i as a number. */
double gr_ply_get(const gr_ply *p, const gr_ply_element *e, uint64_t i, int property);
/* The whole column into dst[i * step]; f32 values keep their bits. */
void gr_ply_column_f32(const gr_ply *p, const gr_ply_element *e, int property, float *dst, uint32_t step);

#endif
