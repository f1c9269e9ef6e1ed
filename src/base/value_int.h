/* value_int.h: what the files of the value tree share. Private to value*.c. */
#ifndef GR_BASE_VALUE_INT_H
#define GR_BASE_VALUE_INT_H

#include "base/value.h"

/* A reader reports at most this many errors of one document: each place costs a
 * scan for its line, so the bound keeps hostile text linear. */
enum { GR_READER_ERRORS = 20 };

/* Appends a member without looking for an equal key; key is a view. False when memory fails. */
bool gr_value_add(gr_arena *a, gr_value *obj, gr_str key, gr_value *v, uint32_t offset);

/* Bytes of the UTF-8 sequence at p (n > 0 bytes left) and its scalar value; 0 when
 * it is overlong, a surrogate, beyond U+10FFFF or cut short. cp may be NULL. */
uint32_t gr_utf8_decode(const char *p, size_t n, uint32_t *cp);
/* Writes cp (a scalar value) into out; gives the number of bytes, 1 to 4. */
uint32_t gr_utf8_encode(char out[4], uint32_t cp);
/* First offset that is not valid UTF-8, or s.n. */
size_t gr_utf8_check(gr_str s);

/* The number that t[0..n) spells in C syntax (sign, digits, point, exponent), correctly
 * rounded. False when memory fails. */
bool gr_number_f64(gr_arena *a, const char *t, size_t n, double *out);
/* ECMAScript Number::toString of a finite v (ECMA-262 6.1.6.1.20; -0 gives "0"). */
void gr_number_ecma(gr_buf *out, double v);

#endif
