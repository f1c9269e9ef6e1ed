/* session.h: what the files behind include/gradus.h share. Not for clients. */
#ifndef GR_API_SESSION_H
#define GR_API_SESSION_H

#include "gradus.h"
#include "array/archive.h"
#include "ladder/run/run.h"
#include "regime/regime.h"

typedef struct gr_broken_op { gr_str folder, id; } gr_broken_op;

/* Objects count who holds them: the client by one, a program its session, a prepared plan its program and the buffers
 * attached to it, a buffer its session. Freed at zero, so that the client may free in any order. */
struct gr_session {
    unsigned refs;
    gr_arena arena;      /* lives as long as the session */
    gr_diags diags;
    gr_buf report;       /* text of the last gr_session_report */
    gr_catalog *catalog;
    gr_str catalog_dir;
    GR_VEC(gr_broken_op) broken; /* left out when a folder was loaded */
    gr_device_kind wanted;
    unsigned threads;
    const gr_exec_api *api; /* NULL: compile only */
    void *device;           /* gr_gpu * behind the webgpu executor */
    gr_target target;
    gr_str adapter, banner, library; /* library: path of the WebGPU implementation, or empty */
    const gr_value *profile;         /* measured, or from the cache; NULL until asked for, and on the oracle */
};

/* An input of the class "disk". Its hash takes a reading of the whole file: it is made when a record or a checkpoint wants it. */
typedef struct gr_disk {
    gr_parts parts;
    bool hashed;
    gr_sha256 hash;
} gr_disk;

/* Inputs as found: arrays in host layout, converted to the declared dtype. */
typedef struct gr_loaded {
    gr_str node;
    gr_array array;  /* without data where disk is */
    gr_disk *disk;   /* or NULL */
    gr_sha256 hash;  /* of array's data: gr_loaded_hash */
    bool is_loaded;
    bool in_batches; /* the program takes it row by row: nothing of it is written at first */
} gr_loaded;

struct gr_program {
    unsigned refs;
    gr_session *session;
    gr_str document; /* path or name */
    gr_str text;
    gr_arena arena[GR_RUNG_PLAN + 1]; /* one a rung; [0] holds document text and inputs */
    bool is_op; /* of gr_compile_op */
    bool has_canvas, has_flow, has_graph, has_kernels, has_plan;
    gr_canvas canvas;
    gr_flow flow;
    gr_graph drawn; /* as lowered from the flow */
    gr_graph graph; /* after rewrites: what kernels and plan speak of */
    gr_kernels kernels;
    gr_plan plan;
    gr_target target;
    gr_loaded *loaded; uint32_t loaded_n;
    gr_value_id *inputs; uint32_t inputs_n;
    gr_tier declared_tier;
    bool allow_heavy;
    enum gr_train_part train;
    uint64_t rows;        /* of a batch; 0: all */
    gr_str parameters;    /* folder, or empty */
    gr_program *data;     /* whose loaded arrays are shared; NULL: its own */
};

typedef struct gr_run_state { gr_run run; gr_ticket ticket; void **unpacked; } gr_run_state;

struct gr_prepared {
    gr_program *program;
    gr_exec *exec;
    gr_prepare_desc desc;
    gr_sha256 *input_hash; /* by input */
    bool *input_given;
    const gr_loaded **input_source; /* by input: the file that it is read from in parts, or NULL */
    gr_buffer **attached; /* inputs, then outputs; NULL where none is */
    struct { gr_run run; gr_ticket ticket; gr_array *array; double **wide; uint64_t *wide_n; } slot[2]; /* results unpacked on demand */
    gr_run next;
    bool complete; /* every resident value has its buffer */
};

struct gr_buffer {
    unsigned refs;
    gr_session *session;
    gr_persist *persist;
};

/* Opens the executor that desc asks for; settles api, device, target, adapter and banner. */
bool gr_session_open_device(gr_session *s);
void gr_session_close_device(gr_session *s);
/* The hash of the WebGPU library's file, computed once for a device; false where there is none or it cannot be read. */
bool gr_session_library_hash(gr_session *s, gr_sha256 *out);
/* What was measured of the device: measured now, or by an earlier session and kept in the user's cache folder; NULL on the oracle. */
bool gr_session_profile(gr_session *s, const gr_value **out);
struct gr_gpu_profile;
bool gr_session_profile_measure(gr_session *s, const struct gr_gpu_profile **out, const gr_value **value); /* in any case; a device only */
/* The session's executor as the regime sees it. */
bool gr_session_regime(gr_session *s, gr_regime_device *d);
/* An id of the catalog, or an op's folder, which is loaded under the id that its path says, with its neighbours. NULL: reported. */
const gr_op *gr_session_op(gr_session *s, gr_str what);
/* An op of the catalog, or cli/op-unknown with what may have been meant. One that was left out is loaded again for its complaints. */
const gr_op *gr_session_find_op(gr_session *s, gr_str id);
/* Loads a folder of ops. What is broken is left out with the warning contract/op-left-out: only who needs it fails. False when
 * the folder itself cannot be read, which is an error. */
bool gr_session_load(gr_session *s, gr_str root);
/* Whether an op of that id was left out; then its complaints are reported as errors. */
bool gr_session_report_broken(gr_session *s, gr_str id);
/* A tree as text for the caller; NULL v is out of memory. */
char *gr_text_json(gr_session *s, const gr_value *v);
/* Lowers an already built graph through kernels to a plan (program->drawn is set). */
bool gr_program_lower_graph(gr_program *p, const gr_compile_desc *desc);
/* Adds the gradients that desc asks for to the drawn graph. ones: of an output of several elements, with ones for its
 * cotangent; else graph/gradient-seed. */
bool gr_program_differentiate(gr_program *p, const gr_compile_desc *desc, bool ones);
gr_program *gr_program_new(gr_session *s, gr_str document);
/* Compiles the document of another program again, for another part or number of rows; its data is shared. */
gr_program *gr_program_again(gr_program *like, const gr_compile_desc *desc);
/* Outputs of the train block alone; for the step also backward and update, whose outputs are the parameters and states. */
bool gr_program_make_step(gr_program *p);
/* "…/user/kemal/median@1" names user/kemal/median@1; other folders their last part. */
gr_str gr_op_id_from_path(gr_str path);
/* Gives a buffer's text to the caller; NULL without `ok`, which somebody has reported, and when memory failed, which is
 * reported here. b is empty then. */
char *gr_text_take(gr_session *s, gr_buf *b, bool ok);

#endif
