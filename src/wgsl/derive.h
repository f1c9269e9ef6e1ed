/* derive.h: the derivative of a WGSL function as WGSL text.
 *
 * Forward mode on the syntax tree: of a function whose body is one `return expression;` it gives the expression of the
 * tangent that follows from the tangent of one parameter. Functions that it calls get derivatives of their own, one
 * for each set of parameters with a tangent, so that nothing is multiplied by a tangent that is known to be
 * zero. The text is ordinary WGSL of the same subset and can be derived again.
 *
 * At a kink the tangent follows the branch taken, as the evaluator's dual mode does: abs at 0 that of +x, min, max and clamp
 * that of the operand they give, select and if that of the side chosen. floor, ceil, round, trunc, sign, step and
 * conversions to integers have tangent 0; rounding to a narrower float (also quantizeToF16) keeps it. A bitcast of a value with a tangent, pointers, and builtins without a rule
 * (determinant, refract, packing) are wgsl/not-differentiable. */
#ifndef GR_WGSL_DERIVE_H
#define GR_WGSL_DERIVE_H

#include "wgsl/wgsl.h"

enum { GR_WGSL_DERIVE_MAX = 1 << 18 /* bytes of derived text; beyond it wgsl/not-differentiable */ };

/* Derived functions, kept from one call to the next: those made first stay. */
typedef struct gr_wgsl_derived {
    gr_map names;   /* of functions in `text` */
    gr_buf text;    /* the caller frees it */
    gr_arena *arena; /* of the names */
} gr_wgsl_derived;

/* m: a loaded module. fn: the function; param: its parameter that has a tangent, called `tangent` in the result, a primary
 * expression. f16_name: how the type f16 is written in derived functions (an alias), or empty for f16. expr: in the
 * arena; empty when the tangent is zero everywhere. False when something was reported: wgsl/not-differentiable with
 * the place in m. */
bool gr_wgsl_derive(gr_arena *a, gr_diags *d, const gr_wgsl_module *m, gr_str fn, gr_str param, gr_str tangent, gr_str f16_name,
                    gr_wgsl_derived *functions, gr_str *expr);

/* Does the text have this word, as a whole identifier? */
bool gr_wgsl_text_names(gr_str text, gr_str word);

#endif
