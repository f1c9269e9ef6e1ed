/* derive_int.h: gradients of map bodies as content. Private to src/contract. */
#ifndef GR_CONTRACT_DERIVE_INT_H
#define GR_CONTRACT_DERIVE_INT_H

#include "contract/contract_int.h"

/* The documents of the op that is the gradient of a map body by an operand of the signature: op.toml, and functions.wgsl
 * or empty. toml is empty when the gradient is zero everywhere. In the arena. False when something was
 * reported: wgsl/not-differentiable, or what the map itself is reported for. */
bool gr_op_derive(gr_arena *a, gr_diags *d, const gr_op *op, uint32_t operand, gr_str *toml, gr_str *functions);

#endif
