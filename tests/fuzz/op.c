/* op.toml: an op from memory, whose other files are missing, is taken or refused with a reason. A composed map is derived. */
#include "contract/contract.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    gr_catalog *c = gr_catalog_new();
    if (!c) return 0;
    gr_diags d;
    gr_diags_init(&d);
    const gr_str name = GR_STR("op.toml"), text = {(const char *)data, size};
    const gr_op *op = gr_catalog_add(c, &d, GR_STR("abs@1"), &name, &text, 1);
    if ((op != NULL) != gr_diags_ok(&d)) abort();
    if (op) {
        gr_buf out = {0};
        gr_op_print(&out, op);
        gr_catalog_check(c, &d);
        for (uint32_t i = 0; op->body == GR_BODY_MAP && op->backward.form == GR_BACKWARD_COMPOSED && i < op->sig.operands_n; i++) { /* and derived twice */
            const gr_op *one = NULL, *two = NULL;
            if (gr_catalog_derive(c, &d, op, i, &one) && one) gr_catalog_derive(c, &d, one, i, &two);
        }
        gr_buf_free(&out);
    }
    gr_diags_free(&d);
    gr_catalog_free(c);
    return 0;
}
