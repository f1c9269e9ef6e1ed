/* plot.h: a line plot as SVG text; the same bytes on every machine. */
#ifndef GR_ARRAY_PLOT_H
#define GR_ARRAY_PLOT_H

#include "array/array.h"

enum { GR_PLOT_PANELS_MAX = 32, GR_PLOT_LINES_MAX = 64 };

/* One line: y against its index, scaled: x = x0 + i * dx. dx 0 means 1. */
typedef struct gr_plot_line {
    gr_str label;    /* legend; may be empty */
    gr_array y;      /* any numeric dtype, read flat; non-finite values break the line */
    double x0, dx;   /* in units of the x axis */
    uint32_t panel;  /* from 0, top to bottom */
    gr_str y_label;  /* of the panel, with unit: "ECG (mV)"; the first non-empty one counts */
} gr_plot_line;

typedef struct gr_plot {
    gr_str title, x_label;
    const gr_plot_line *lines;
    uint32_t line_n;
    uint32_t width, panel_height; /* pixels; 0 means 960 and 200 */
} gr_plot;

/* Appends one SVG document. Long lines are reduced to the least and greatest sample of every
 * pixel column, so that no peak is lost. array/plot for too many lines or panels or a bad size. */
bool gr_plot_svg(gr_buf *out, gr_diags *d, const gr_plot *plot);

#endif
