/* A build without protobuf-c. */
#include "import/onnx.h"

bool gr_onnx_read(gr_arena *a, gr_diags *d, gr_str file, gr_str bytes, gr_onnx_model *out) {
    (void)a;
    (void)bytes;
    *out = (gr_onnx_model){.file = file};
    return gr_report(d, GR_D_IMPORT_NO_PROTOBUF, (gr_place){.document = file}, "install libprotobuf-c-dev and protobuf-c-compiler and build again",
                     "this build cannot read ONNX models");
}
