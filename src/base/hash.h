/* hash.h: SHA-256 for content addresses. Text form: "sha256:" and 64 hex digits. */
#ifndef GR_BASE_HASH_H
#define GR_BASE_HASH_H

#include "base/str.h"

typedef struct gr_sha256 { uint8_t b[32]; } gr_sha256;
typedef struct gr_sha256_state { uint32_t h[8]; uint64_t bytes; uint8_t block[64]; uint32_t fill; } gr_sha256_state;

void gr_sha256_init(gr_sha256_state *s);
void gr_sha256_update(gr_sha256_state *s, const void *p, size_t n);
gr_sha256 gr_sha256_final(gr_sha256_state *s);
/* One shot; uses OpenSSL natively (about 1 GB/s), the portable code in wasm. */
gr_sha256 gr_sha256_of(const void *p, size_t n);
gr_sha256 gr_sha256_portable(const void *p, size_t n);
bool gr_sha256_eq(gr_sha256 a, gr_sha256 b);
/* "sha256:..." (71 bytes + NUL) */
void gr_sha256_text(char out[72], gr_sha256 h);
bool gr_sha256_parse(gr_str text, gr_sha256 *out);

#endif
