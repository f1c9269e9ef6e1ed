/* Element types by their numbers in the ONNX standard (TensorProto.DataType). */
#include "import/onnx.h"

typedef struct row { const char *name; gr_dtype dtype; } row;
static const row rows[] = {
    {"UNDEFINED", GR_DTYPE_NONE}, {"FLOAT", GR_DTYPE_F32},      {"UINT8", GR_DTYPE_U8},        {"INT8", GR_DTYPE_I8},       {"UINT16", GR_DTYPE_U32},
    {"INT16", GR_DTYPE_I32},      {"INT32", GR_DTYPE_I32},      {"INT64", GR_DTYPE_I64},       {"STRING", GR_DTYPE_NONE},   {"BOOL", GR_DTYPE_BOOL},
    {"FLOAT16", GR_DTYPE_F16},    {"DOUBLE", GR_DTYPE_F32},     {"UINT32", GR_DTYPE_U32},      {"UINT64", GR_DTYPE_U64},    {"COMPLEX64", GR_DTYPE_NONE},
    {"COMPLEX128", GR_DTYPE_NONE}, {"BFLOAT16", GR_DTYPE_F32},  {"FLOAT8E4M3FN", GR_DTYPE_NONE}, {"FLOAT8E4M3FNUZ", GR_DTYPE_NONE}, {"FLOAT8E5M2", GR_DTYPE_NONE},
    {"FLOAT8E5M2FNUZ", GR_DTYPE_NONE}, {"UINT4", GR_DTYPE_NONE}, {"INT4", GR_DTYPE_NONE},      {"FLOAT4E2M1", GR_DTYPE_NONE},
};

static bool is_row(int32_t code) { return code >= 0 && (size_t)code < sizeof rows / sizeof *rows; }
gr_dtype gr_onnx_dtype(int32_t code) { return is_row(code) ? rows[code].dtype : GR_DTYPE_NONE; }
const char *gr_onnx_dtype_name(int32_t code) { return is_row(code) ? rows[code].name : "unknown"; }
