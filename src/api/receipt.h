/* receipt.h: what receipts beside an op are worth; shared by cards, records, pages and publishing. */
#ifndef GR_API_RECEIPT_H
#define GR_API_RECEIPT_H

#include "api/session.h"
#include "regime/receipt.h"

/* Earned, never claimed. STALE: every receipt is for something else by now. SAMPLED: a fresh one, of fewer than 200 cases. */
typedef enum gr_trust { GR_TRUST_UNVERIFIED = 0, GR_TRUST_STALE, GR_TRUST_SAMPLED, GR_TRUST_CONFORMING } gr_trust;
const char *gr_trust_name(gr_trust t);

/* The receipts in the folder receipts/ of the op: objects with file, state, and, where they can be read, digest, executor, adapter,
 * profile_digest, suite, cases, result; changed says why one is stale. The best of them makes the trust. */
bool gr_op_trust(gr_session *s, gr_arena *a, const gr_op *op, gr_value **list, gr_trust *trust);

/* The receipt of a pass, with what gradcheck on the oracle finds where there is a backward and all cases were run. NULL: no pass, the
 * gradient is wrong (reported), or out of memory. */
gr_value *gr_session_receipt(gr_session *s, gr_arena *a, const gr_conformance *c);

#endif
