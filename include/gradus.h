/* gradus.h: the public interface of Gradus.
 *
 * A session owns a catalog of ops and, when asked for, a device. A program is a compiled document
 * (a canvas in JSON or a graph in text): every rung of it can be explained, and its plan with a
 * verdict stands before anything runs. A program is prepared once on a device and run
 * again and again; up to two runs are in flight.
 *
 * Errors: functions return NULL, 0 or false, and the session holds the diagnostics
 * (gr_session_report, gr_session_exit_code) until gr_session_clear. Strings returned are owned by the object
 * they came from unless said otherwise. A session is used by one thread at a time. Objects may be freed in any
 * order: a session lives on while a program, a prepared plan or a buffer of it does. */
#ifndef GRADUS_H
#define GRADUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

const char *gr_version(void); /* "0.1.0" */

/* ---- session ------------------------------------------------------------------ */

typedef struct gr_session gr_session;
typedef enum gr_device_kind {
    GR_DEVICE_AUTO = 0, /* a GPU; without one the CPU, and then loudly: gr_session_banner says so */
    GR_DEVICE_GPU,      /* a WebGPU adapter or run/no-adapter; a software adapter counts and is named as one */
    GR_DEVICE_CPU,      /* the oracle */
    GR_DEVICE_NONE_,    /* compile only */
} gr_device_kind;

typedef struct gr_session_desc {
    const char *catalog;          /* folder of the catalog; NULL: found beside the executable or in GRADUS_ROOT */
    const char *const *op_roots;  /* further folders of user content, NULL-terminated; may be NULL */
    gr_device_kind device;
    unsigned threads;             /* CPU executor; 0 = all processors */
} gr_session_desc;

/* Never NULL except when memory fails; trouble with catalog or device is in the diagnostics. */
gr_session *gr_session_new(const gr_session_desc *desc);
void gr_session_free(gr_session *s);
/* The diagnostics so far as text or as a JSON array; owned by the session until the next call. */
const char *gr_session_report(gr_session *s, bool json);
int gr_session_exit_code(const gr_session *s); /* 0 ok, 1 our bug, 2 user error, 3 environment */
void gr_session_clear(gr_session *s);
/* A client's own complaint of its user, among the session's diagnostics as cli/usage; or, without a session, as a JSON array
 * (free with gr_text_free). */
void gr_complain(gr_session *s, const char *message);
char *gr_complaint(const char *message);
/* Writes a file, folders above it included; a reader never sees half of it. */
bool gr_text_save(gr_session *s, const char *path, const char *text);
/* "webgpu", "oracle" or "none", and one line about the adapter. */
const char *gr_session_executor(const gr_session *s);
const char *gr_session_adapter(const gr_session *s);
/* Empty, or the warning that must stay visible while there is no GPU. */
const char *gr_session_banner(const gr_session *s);

/* ---- programs ------------------------------------------------------------------ */

typedef struct gr_program gr_program;
typedef enum gr_rung { GR_RUNG_NONE = 0, GR_RUNG_CANVAS, GR_RUNG_FLOW, GR_RUNG_GRAPH, GR_RUNG_KERNEL, GR_RUNG_PLAN } gr_rung;

typedef struct gr_compile_desc {
    const char *tier;           /* override, NULL = as declared; lowering is reported */
    uint64_t budget_gpu;        /* override in bytes, 0 = as declared */
    bool allow_heavy_cpu;       /* the explicit switch for red heavy work on the CPU */
    bool reference;             /* reference and graph bodies only (oracle) */
    bool no_fuse;               /* every node a kernel of its own: the reference path of map fusion (docs/kernel.md) */
    /* Reverse mode: the derivative of the sum of these outputs by inputs and parameters. Each gives an output "d_NAME" more. */
    const char *const *gradient; unsigned gradient_n;   /* names of outputs: floats of one element, unless a cotangent is given;
                                                           in gr_compile_op of any shape, with ones */
    const char *const *cotangent; unsigned cotangent_n; /* those whose cotangent is an input "d_NAME" of the output's type */
    unsigned checkpoint;        /* segments of the forward whose inside a backward computes again instead of keeping it; 0: none */
    const char *const *wrt; unsigned wrt_n;             /* names of inputs and parameters; none: all floats among them */
    const char *parameters;     /* a folder with NAME.npy for every parameter, in place of the document's files and initial values; NULL: none */
    /* Of a document with a train block (docs/training.md): its step with backward and update, or its evaluation, with the train block's
     * quantities for outputs; NONE: the workflow without training. rows: of a batch, 0 as declared. */
    enum gr_train_part { GR_TRAIN_NONE = 0, GR_TRAIN_STEP, GR_TRAIN_EVALUATE } train;
    uint64_t rows;
} gr_compile_desc;

/* A .json canvas or a .graph text. Op folders below ops/ beside the document are loaded first. Input files named in it are opened for their shapes only. A red plan still
 * gives a program (to explain); gr_prepare then refuses. NULL on errors. */
gr_program *gr_compile_file(gr_session *s, const char *path, const gr_compile_desc *desc);
gr_program *gr_compile_text(gr_session *s, const char *name, const char *text, size_t n, const gr_compile_desc *desc);
void gr_program_free(gr_program *p);

/* Text of one rung, or JSON; follow restricts to one node's trace (rung NONE: at every rung). The caller frees with
 * gr_text_free. NULL when the rung was not reached or the node does not exist. */
char *gr_explain(gr_program *p, gr_rung rung, const char *follow, bool json);
/* The plan as one JSON object: determinism_tier, tolerance_class, peak_memory, verdict, guarantee and more. */
char *gr_plan_json(gr_program *p);
void gr_text_free(char *text);
/* "green", "yellow" or "red". */
const char *gr_program_verdict(const gr_program *p);
const char *gr_program_tier(const gr_program *p);
const char *gr_program_guarantee(const gr_program *p);

/* ---- tensors --------------------------------------------------------------------- */

/* A view of host memory in C order. dtype: "f16" "f32" "f64" "i8" "u8" "i32" "u32" "i64" "u64" "bool". */
typedef struct gr_tensor {
    const char *dtype;
    unsigned rank;
    uint64_t dims[8];
    const void *data;
    size_t bytes;
} gr_tensor;

/* Reads .npy, .npz, .safetensors, .wav, .csv or .tsv, "w.safetensors#conv1.weight" where a file holds several arrays; the data is the
 * caller's (gr_tensor_free). Saving picks the format by the ending (docs/data-files.md). */
bool gr_tensor_load(gr_session *s, const char *path, gr_tensor *out);
void gr_tensor_free(gr_tensor *t);
bool gr_tensor_save(gr_session *s, const char *path, const gr_tensor *t);
/* Named tensors into one .npz or .safetensors. */
bool gr_tensors_save(gr_session *s, const char *path, const char *const *names, const gr_tensor *tensors, unsigned n);
/* What a data file holds: names, types, hashes; with '#' the elements of one array too. Text or JSON, free with gr_text_free; NULL
 * when it cannot be read. An array that we cannot read is listed all the same and is among the diagnostics. */
char *gr_data_show(gr_session *s, const char *path, bool json);
/* Arrays of files "FILE", "FILE#name" or "NAME=FILE" into one file. compress: .npz only. */
bool gr_data_convert(gr_session *s, const char *const *from, unsigned from_n, const char *to, bool compress);
/* Trained parameters into one .safetensors or .npz, by their names: of a training's folder or its checkpoint.safetensors (the best ones; the last
 * ones with `last`, or where nothing was evaluated), or of a folder of NAME.npy. *n: how many. run/checkpoint-bad for another file. */
bool gr_export(gr_session *s, const char *from, const char *to, bool last, bool compress, unsigned *n);
/* "sha256:..." of the data into out. */
void gr_tensor_hash(const gr_tensor *t, char out[72]);

/* Inputs (and parameters) and outputs by position. Names are canvas node ids. */
unsigned gr_program_inputs(const gr_program *p);
unsigned gr_program_outputs(const gr_program *p);
const char *gr_program_input_name(const gr_program *p, unsigned i);
const char *gr_program_output_name(const gr_program *p, unsigned i);
gr_tensor gr_program_input_type(const gr_program *p, unsigned i);  /* data NULL */
gr_tensor gr_program_output_type(const gr_program *p, unsigned i);

/* ---- models of other systems ------------------------------------------------------------- */

typedef struct gr_import_desc {
    const char *document, *weights;        /* files to write: the workflow, and its arrays (.safetensors or .npz) below its folder */
    const char *const *set; unsigned set_n; /* "N=1": sizes of named dimensions; "x.0=1" of dimension 0 of input x */
    const char *tier;                      /* of the document; NULL: debug */
} gr_import_desc;
typedef struct gr_import_result { unsigned nodes, weights, folded, dropped; } gr_import_result; /* ops and arrays written; results known at import; calls that no output needs */
/* An ONNX model by the [import] rules of the catalog (docs/interchange.md). The session needs a device: GR_DEVICE_CPU will do. */
bool gr_import(gr_session *s, const char *path, const gr_import_desc *desc, gr_import_result *out);

/* ---- running ----------------------------------------------------------------------- */

typedef struct gr_prepared gr_prepared;
typedef struct gr_buffer gr_buffer; /* outlives runs: gr_buffer_new */
typedef uint64_t gr_run;

typedef bool gr_on_progress(void *user, const char *node, uint64_t done, uint64_t total);
typedef struct gr_prepare_desc {
    bool timestamps;
    bool wide;                 /* oracle: f64 arithmetic, gr_result_wide */
    bool unrecorded;           /* gr_write takes no hash of the data, and gr_run_record gives none of its inputs: for loops that write in every run */
    gr_on_progress *progress;
    void *progress_user;
    gr_buffer *const *inputs; /* by input: as gr_attach_input, but before any buffer is made, so that nothing is made twice; NULL: none. An
                                 output that is such an input updated in place (docs/plan.md) is attached with it */
} gr_prepare_desc;

/* Creates every buffer and pipeline. Refuses a red plan. Input data of a canvas file is loaded from its files. */
gr_prepared *gr_prepare(gr_program *p, const gr_prepare_desc *desc);
void gr_prepared_free(gr_prepared *r);
bool gr_write(gr_prepared *r, unsigned input, const gr_tensor *value);
/* Starts a run; 0 on failure. At most two in flight: a third call waits for the first. */
gr_run gr_submit(gr_prepared *r);
bool gr_done(gr_prepared *r, gr_run run);
bool gr_wait(gr_prepared *r, gr_run run);
/* After gr_wait; data is owned by r until gr_release. dims[0] of a bounded output is its live count.
 * Of a wide preparation, outputs of floats are f64. */
gr_tensor gr_result(gr_prepared *r, gr_run run, unsigned output);
gr_tensor gr_result_wide(gr_prepared *r, gr_run run, unsigned output); /* f64; data NULL unless wide */
void gr_release(gr_prepared *r, gr_run run);
/* Seconds of each dispatch with its node; returns how many there are. Needs timestamps. */
unsigned gr_times(gr_prepared *r, gr_run run, const char **nodes, double *seconds, unsigned max);
uint64_t gr_created_bytes(const gr_prepared *r);

/* Buffers that outlive runs and are shared between prepared plans of one session. */
gr_buffer *gr_buffer_new(gr_session *s, const char *name, uint64_t bytes);
void gr_buffer_free(gr_buffer *b);
bool gr_buffer_write(gr_buffer *b, uint64_t offset, const void *data, uint64_t n);
bool gr_buffer_read(gr_buffer *b, uint64_t offset, void *data, uint64_t n);
/* Device layout: see docs/device-layout.md. An attached input is taken from the buffer at each run, gr_write does not
 * count; an attached output stays there: read it with gr_buffer_read, gr_result gives no data. */
bool gr_attach_input(gr_prepared *r, unsigned input, gr_buffer *b);
bool gr_attach_output(gr_prepared *r, unsigned output, gr_buffer *b);

/* The run record of a finished run as canonical JSON; free with gr_text_free. */
char *gr_run_record(gr_prepared *r, gr_run run);

/* Writes the files that the document's output blocks name (arrays, plots), NAME.npy for an output without a block (of a
 * .graph text, or a gradient), and the record run.json below dir,
 * which is made. on_file (may be NULL) hears of each file with its "sha256:...". */
typedef void gr_on_file(void *user, const char *path, const char *hash);
bool gr_write_outputs(gr_prepared *r, gr_run run, const char *dir, gr_on_file *on_file, void *user);

/* ---- training -------------------------------------------------------------------------
 * A document with a train block, trained: docs/training.md. The step is one prepared plan; parameters and the optimizer's state stay in
 * buffers on the device from the first step to the last. */

typedef struct gr_training gr_training;
typedef enum gr_train_event_kind { GR_TRAIN_EVENT_NONE = 0, GR_TRAIN_EVENT_STEP, GR_TRAIN_EVENT_EVALUATED, GR_TRAIN_EVENT_CHECKPOINT, GR_TRAIN_EVENT_ENDED } gr_train_event_kind;
typedef struct gr_train_event {
    gr_train_event_kind kind;
    uint64_t step, steps;   /* done, and in all */
    uint64_t epoch;         /* of the step, from 0 */
    double rate;            /* STEP: the learning rate */
    const double *values;   /* STEP: of the batch, EVALUATED: means over the test rows; as gr_training_quantity names them, the loss first */
    unsigned values_n;
    bool best;              /* EVALUATED: better than all before */
    const char *path;       /* CHECKPOINT: the file */
} gr_train_event;
typedef void gr_on_train(void *user, const gr_train_event *event);

typedef struct gr_train_desc {
    const char *tier;       /* the next three as in gr_compile_desc */
    uint64_t budget_gpu;
    bool allow_heavy_cpu;
    const char *parameters; /* start from these, as in gr_compile_desc */
    const char *out;        /* folder for the checkpoint and the results; NULL: nothing is written */
    uint64_t steps;         /* end after these many steps; 0: as declared. Schedules keep the declared length */
    bool resume;            /* go on from the checkpoint in out; without one from the start */
    gr_on_train *on_event;
    void *user;
} gr_train_desc;

/* Compiles the step and settles its verdict; nothing is allocated on the device. NULL on errors; a red plan gives an object whose
 * program can be explained. */
gr_training *gr_training_open(gr_session *s, const char *path, const gr_train_desc *desc);
void gr_training_free(gr_training *t);
/* The step's program, for gr_explain, gr_plan_json and the verdict; owned by t. */
gr_program *gr_training_program(gr_training *t);
unsigned gr_training_quantities(const gr_training *t);
const char *gr_training_quantity(const gr_training *t, unsigned i); /* "loss", "accuracy" */
/* Trains until the end, or for `steps` steps more (0: until the end). The first call prepares, and resumes where asked. False on errors;
 * a loss that is not finite is run/loss-not-finite. */
bool gr_training_run(gr_training *t, uint64_t steps);
/* Asks a run in progress to end after the current step; a checkpoint is written when there is a folder. May be called from a signal
 * handler. */
void gr_training_stop(gr_training *t);
bool gr_training_stopped(const gr_training *t); /* by gr_training_stop */
bool gr_training_ended(const gr_training *t);   /* all steps done, or no better for too long */
uint64_t gr_training_step(const gr_training *t); /* steps done */
/* The parameters as they are, or the best ones by evaluation; copies owned by t until the next call for the same index. */
unsigned gr_training_parameters(const gr_training *t);
const char *gr_training_parameter_name(const gr_training *t, unsigned i);
gr_tensor gr_training_parameter(gr_training *t, unsigned i, bool best);
/* "sha256:..." over names, types and bits of all of them. */
bool gr_training_hash(gr_training *t, bool best, char out[72]);
/* Bytes of all buffers at the same time: parameters and state once, and what the plans of the step, of the last batch of an epoch and of
 * the evaluation hold beside them. Where that is over the budget, one plan is made ready at a time and the largest counts. */
uint64_t gr_training_planned_bytes(const gr_training *t);
/* Bytes of buffers that exist now, those of parameters and state included. */
uint64_t gr_training_created_bytes(const gr_training *t);
/* Writes parameters/NAME.npy (the best ones where there was an evaluation), curve.csv, evaluation.csv, curve.svg and the record
 * train.json to the folder. */
bool gr_training_write(gr_training *t, gr_on_file *on_file, void *user);

/* ---- content ------------------------------------------------------------------------- */

unsigned gr_catalog_size(const gr_session *s);
const char *gr_catalog_id(const gr_session *s, unsigned i);
/* One op (an id or a folder) as text or JSON: source, claims, trust, receipts; NULL when absent. Free with gr_text_free. */
char *gr_op_show(gr_session *s, const char *id, bool json);
/* Checks an op folder and adds it to the session's catalog under `id` (NULL: from its path). */
bool gr_op_add(gr_session *s, const char *folder, const char *id);
/* Runs an op's kernels against its reference on generated cases, on the session's device (docs/conform.md). what: an id or an op
 * folder. cases: 0 for the default. The report as text or JSON, whether it passed or not (then regime/not-conforming is among the
 * diagnostics); NULL when it could not be run. *receipt (may be NULL): canonical JSON after a full pass, else NULL. Free both
 * with gr_text_free. */
char *gr_conform(gr_session *s, const char *what, bool json, unsigned cases, char **receipt);
/* Checks an op's backward against derivatives of its body on the oracle (docs/gradcheck.md); in a session with a GPU its gradient
 * runs there too. what: an id or an op folder. probes: 0 for the default; second: of the gradient's own gradient. The report as text or
 * JSON, whether it passed, failed (then regime/gradcheck-failed is among the diagnostics) or there is no backward; NULL when it
 * could not be run. *value (may be NULL): the report as canonical JSON. Free both with gr_text_free. */
char *gr_check_gradient(gr_session *s, const char *what, bool json, unsigned probes, unsigned long long seed, bool second, char **value);
/* The same, and every case as plain files below dir: docs/conform.md, tools/recompute-export. */
char *gr_conform_export(gr_session *s, const char *what, bool json, unsigned cases, const char *dir, char **receipt);
/* Whether an op may be shared (a licence) or made public (metadata, an example that is true, a receipt that holds, a gradient that was
 * checked), and the files that would be sent. Nothing is sent. The report as text or JSON; what is missing is among the diagnostics. */
char *gr_op_publish(gr_session *s, const char *what, bool public_, bool json, bool *publishable);
/* Markdown: the page of one op, with its example run on the oracle; the index of the catalog. Free with gr_text_free. */
char *gr_op_page(gr_session *s, const char *what);
char *gr_catalog_page(gr_session *s);
/* Receipts (docs/receipts.md). Text or the JSON of the file; NULL when it is none, or was changed. Free with gr_text_free. */
char *gr_receipt_show(gr_session *s, const char *path, bool json);
/* The device to open a session with for a rerun: the CPU for receipts of the oracle, else AUTO. */
bool gr_receipt_device(gr_session *s, const char *path, gr_device_kind *out);
typedef enum gr_receipt_verdict {
    GR_RECEIPT_NOT_RUN = 0,   /* could not be tried; reported */
    GR_RECEIPT_REPRODUCED,
    GR_RECEIPT_BROKEN,        /* the receipt, contract, reference or a kernel changed, or the rerun gives something else; the diagnostic says which */
    GR_RECEIPT_CONFORM_AGAIN, /* regime/other-profile: minted on another executor or profile than the session's */
} gr_receipt_verdict;
/* Reruns a receipt for an op (id or folder) on the session's device and compares everything it says. */
gr_receipt_verdict gr_receipt_verify(gr_session *s, const char *path, const char *what);
/* Writes a receipt to the folder receipts/ of an op (id or folder), named after its adapter; the path, free with gr_text_free. */
char *gr_receipt_keep(gr_session *s, const char *what, const char *receipt);
/* Makes an op folder to start from: contract, reference, kernel. folder must not exist; its last part is name@1. */
bool gr_op_new(gr_session *s, const char *name, const char *folder);
/* Parses and checks a WGSL module (docs/wgsl-subset.md). */
bool gr_wgsl_check_file(gr_session *s, const char *path);
/* A graph text with one node of op: inputs named by its operands, parameters as `k=v` strings in TOML
 * syntax, types from the tensors (optional operands absent: dtype NULL). Returns a compiled program
 * ready for gr_prepare. operand_names[i] names in[i]; a variadic operand's name repeats. */
gr_program *gr_compile_op(gr_session *s, const char *id, const char *const *operand_names, const gr_tensor *in, unsigned in_n,
                          const char *const *params, unsigned params_n, const gr_compile_desc *desc);

/* The numeric profile of the session's adapter as text or JSON; free with gr_text_free. */
char *gr_profile(gr_session *s, bool json);

#ifdef __cplusplus
}
#endif
#endif
