/* receipt.h: what a full pass leaves behind, and how it is held against an op later (docs/receipts.md).
 *
 * A receipt is one canonical JSON object (RFC 8785) in the shape of SLSA's provenance: the subject with its digest, the
 * definition of what was done, the inputs it was done to, the result, the run, and the digest of all that. It
 * limits trust, never execution. */
#ifndef GR_REGIME_RECEIPT_H
#define GR_REGIME_RECEIPT_H

#include "regime/regime.h"

#define GR_RECEIPT_KIND "gradus/receipt/1"
enum { GR_CASES_FULL = 200 }; /* a receipt for fewer cases says so and earns no trust */

typedef struct gr_digest { gr_str name; gr_sha256 hash; } gr_digest;

/* What a receipt is about. Lists are sorted by name. */
typedef struct gr_op_digests {
    gr_sha256 subject;                      /* of every file that is content: gr_op.hash */
    gr_sha256 contract;                     /* of op.toml, byte by byte */
    gr_sha256 reference;                    /* of what is true: WGSL references, map expressions and functions, graph text */
    gr_digest *kernels; uint32_t kernels_n; /* by file */
    gr_digest *uses; uint32_t uses_n;       /* ops that the body and the backward reach, by id: their definitions */
} gr_op_digests;

/* A definition is an op without what only people read: op.toml but for metadata, import names and backward, and its WGSL. */
bool gr_op_digest(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_op *op, gr_op_digests *out);

/* The receipt of a conformance that passed; NULL when it did not or memory failed. gradcheck: its value, or NULL where none was
 * carried out. */
gr_value *gr_receipt_make(gr_arena *a, gr_diags *d, const gr_catalog *catalog, const gr_conformance *c, const gr_value *gradcheck);
/* Canonical, with the newline that a receipt's file ends in. */
bool gr_receipt_write(gr_buf *out, const gr_value *receipt);

typedef struct gr_receipt {
    gr_doc doc;
    gr_str op, suite, tolerance, executor, adapter;
    uint32_t cases;
    gr_op_digests of;
    bool has_profile;
    gr_sha256 profile; /* of the canonical JSON of run.profile */
    gr_sha256 digest;
} gr_receipt;

/* Views into text. regime/receipt-invalid: not what docs/receipts.md describes; regime/receipt-changed: not the bytes that were
 * minted (not canonical, or another digest). */
bool gr_receipt_parse(gr_arena *a, gr_diags *d, gr_str name, gr_str text, gr_receipt *out);

/* What no longer holds, as bits. CONTENT (files that people read) alone does not make a receipt stale. */
enum { GR_STALE_OP = 1, GR_STALE_CONTRACT = 2, GR_STALE_REFERENCE = 4, GR_STALE_KERNEL = 8, GR_STALE_USES = 16, GR_STALE_SUITE = 32,
       GR_STALE_CONTENT = 64 };
unsigned gr_receipt_stale(const gr_receipt *r, const gr_op *op, const gr_op_digests *now);
/* One diagnostic for each bit: regime/receipt-other-op, regime/contract-changed, regime/reference-changed, regime/kernel-changed,
 * regime/uses-changed, regime/suite-changed, and the warning regime/content-changed. Returns whether nothing is stale. */
bool gr_receipt_report(gr_diags *d, const gr_receipt *r, const gr_op *op, const gr_op_digests *now);
/* "contract, kernel.wgsl" into out. */
void gr_receipt_stale_print(gr_buf *out, const gr_receipt *r, const gr_op_digests *now, unsigned stale);

/* Compares with the receipt of a rerun, key by key but for the digest: regime/not-reproduced with the key and both values. */
bool gr_receipt_compare(gr_arena *a, gr_diags *d, const gr_receipt *r, const gr_value *again);
void gr_receipt_print(gr_buf *out, const gr_receipt *r);

/* The hash that names a profile; of {} for an executor without one. */
bool gr_profile_hash(const gr_value *profile, gr_sha256 *out);
/* A file name for the receipts of an adapter: "llvmpipe-llvm-15-0-6-256-bits". */
void gr_profile_slug(gr_buf *out, gr_str adapter);

#endif
