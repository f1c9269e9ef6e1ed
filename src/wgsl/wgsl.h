/* wgsl.h: WGSL modules: load (parse and check), reflect, specialise, print.
 *
 * The compute subset of docs/wgsl-subset.md. Inside it a module is accepted or rejected as the
 * WGSL specification says; a feature outside it is wgsl/unsupported, naming the feature. */
#ifndef GR_WGSL_WGSL_H
#define GR_WGSL_WGSL_H

#include "base/diag.h"
#include "wgsl/ast.h"

/* Re-binds a module-scope `alias name = ...;` to another type, written in WGSL ("f16"). */
typedef struct gr_wgsl_rebind {
    gr_str alias;
    gr_str type;
} gr_wgsl_rebind;

/* All zero is the default. */
typedef struct gr_wgsl_options {
    const gr_wgsl_rebind *rebind; uint32_t rebind_n;
    bool no_f16;       /* `enable f16;` is wgsl/feature-unavailable */
    bool no_subgroups; /* the same for `enable subgroups;` */
    bool force_f16;    /* f16 may be used without the directive (for re-bound aliases) */
} gr_wgsl_options;

/* A compute entry point and what it statically uses. */
typedef struct gr_wgsl_entry {
    gr_str name;
    const gr_wgsl_function *fn;
    uint32_t workgroup_size[3]; /* 0 where an override decides */
    const gr_wgsl_decl **resource; uint32_t resource_n; /* uniform and storage vars, by (group, binding) */
    const gr_wgsl_decl **overrides; uint32_t overrides_n;
    const gr_wgsl_decl **workgroup; uint32_t workgroup_n; /* workgroup vars */
    uint64_t workgroup_bytes; /* sum of their sizes rounded up to 16; override-sized ones count 0 */
    bool uses_barrier, uses_subgroups, uses_atomics, uses_array_length;
} gr_wgsl_entry;

typedef struct gr_wgsl_module {
    gr_str name, text; /* document name for diagnostics, and the text (views of the caller's, must outlive) */
    gr_arena *arena;
    gr_wgsl_directive *directive; uint32_t directive_n;
    gr_wgsl_decl **decl; uint32_t decl_n;               /* module scope, in text order */
    gr_wgsl_function **functions; uint32_t functions_n; /* callees before callers */
    gr_wgsl_decl **vars; uint32_t vars_n;               /* module-scope variables */
    gr_wgsl_decl **overrides; uint32_t overrides_n;
    gr_wgsl_entry *entry; uint32_t entry_n;
    const gr_wgsl_type **types; uint32_t types_n; /* by id */
    uint32_t decl_ids; /* number of ids given to declarations */
    bool enable_f16, enable_subgroups;
} gr_wgsl_module;

/* Parses and checks. Everything, the module included, is allocated in `arena` (give it a limit
 * for untrusted text); name and text must outlive it. Collects as many diagnostics as make
 * sense; NULL when there was an error. */
gr_wgsl_module *gr_wgsl_load(gr_arena *arena, gr_diags *d, gr_str name, gr_str text, const gr_wgsl_options *opt);

/* Syntax only: for printing and tools. Types, declarations and constants are not filled in. */
gr_wgsl_module *gr_wgsl_parse(gr_arena *arena, gr_diags *d, gr_str name, gr_str text);

/* Canonical WGSL text of a module: parsing it and printing again gives the same bytes. */
void gr_wgsl_print(gr_buf *out, const gr_wgsl_module *m);
void gr_wgsl_print_expr(gr_buf *out, const gr_wgsl_expr *e);
/* A constant as WGSL text, e.g. vec2<f32>(1.0, 0.5). */
void gr_wgsl_print_const(gr_buf *out, const gr_wgsl_const *c);

const gr_wgsl_entry *gr_wgsl_find_entry(const gr_wgsl_module *m, gr_str name);
const gr_wgsl_decl *gr_wgsl_find_decl(const gr_wgsl_module *m, gr_str name); /* module scope */
const char *gr_wgsl_builtin_text(gr_wgsl_builtin b);
const char *gr_wgsl_op_text(gr_wgsl_op op);
const char *gr_wgsl_space_text(gr_wgsl_space s);
const char *gr_wgsl_access_text(gr_wgsl_access a);
const char *gr_wgsl_builtin_value_text(gr_wgsl_builtin_value v);
gr_place gr_wgsl_place(const gr_wgsl_module *m, uint32_t offset);

/* ---------------------------------------------------------- specialisation */

/* Overrides are given by name, or by the decimal @id where there is one. */
typedef struct gr_wgsl_override_value {
    gr_str key;
    double value;
} gr_wgsl_override_value;

/* A module and entry point with every override that it uses decided. */
typedef struct gr_wgsl_spec {
    const gr_wgsl_module *module;
    const gr_wgsl_entry *entry;
    const gr_wgsl_const **override_value; /* by override_index; NULL where unused and undecided */
    uint32_t workgroup_size[3];
    uint64_t workgroup_bytes;
    gr_arena *arena;
} gr_wgsl_spec;

/* Evaluates overrides, workgroup size, array counts and every override-expression of the entry
 * point and its callees (pipeline-creation errors). False when something was reported. */
bool gr_wgsl_specialize(gr_arena *arena, gr_diags *d, const gr_wgsl_module *m, gr_str entry,
                        const gr_wgsl_override_value *values, uint32_t n, gr_wgsl_spec *out);
/* Value of a const- or override-expression under a specialisation; NULL when reported. */
const gr_wgsl_const *gr_wgsl_spec_eval(const gr_wgsl_spec *s, gr_diags *d, const gr_wgsl_expr *e);
/* Elements of a fixed or override-sized array; 0 for a runtime-sized one. */
uint32_t gr_wgsl_spec_count(const gr_wgsl_spec *s, const gr_wgsl_type *array);
/* Size in bytes with override-sized arrays resolved. */
uint64_t gr_wgsl_spec_size(const gr_wgsl_spec *s, const gr_wgsl_type *t);

#endif
