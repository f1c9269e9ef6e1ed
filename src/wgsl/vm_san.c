/* The sanitizer: what every word of memory has been through.
 *
 * Lanes run in lockstep here, so a race never shows in the values: it is found from epochs. A
 * barrier begins a new epoch of its memory for the workgroup. Two accesses of a word conflict
 * when one writes, they come from different invocations, and both lie in one epoch of one
 * workgroup, or in different workgroups. Atomics cannot conflict with one another, and WGSL's
 * types keep other accesses away from them. */
#include "wgsl/vm_run.h"

typedef struct touch {
    uint32_t group; /* workgroup + 1, 0 none; low 32 bits */
    uint32_t epoch;
    uint32_t at;
    uint16_t lane;
    bool many;      /* reads: by several lanes of the epoch */
    bool groups;    /* reads: by several workgroups */
} touch;

typedef struct shadow {
    touch write, read;
    bool written;
} shadow;

enum { KINDS_MAX = 256 };
typedef struct seen { uint32_t at; uint32_t name; } seen;

struct vm_san {
    shadow **word;       /* by object; NULL for private memory and constants */
    size_t *words;
    bool *known;         /* by object: whether its words hold something when a dispatch begins */
    uint8_t *private_written; /* a private cell and lane */
    uint32_t epoch[2];   /* workgroup, storage */
    seen reported[KINDS_MAX]; uint32_t reported_n;
};

/* First time at this place? Counts errors. */
static bool news(vm_state *s, gr_diag_name name, uint32_t at) {
    vm_san *z = s->san;
    if (gr_diag_severity(name) == GR_ERROR) s->stats.findings++;
    for (uint32_t k = 0; k < z->reported_n; k++)
        if (z->reported[k].at == at && z->reported[k].name == (uint32_t)name) return false;
    if (z->reported_n == KINDS_MAX) return false;
    z->reported[z->reported_n++] = (seen){at, (uint32_t)name};
    return true;
}

static const char *space_of(const vm_object *o) {
    return o->space == VM_LOCAL ? "private" : o->space == VM_WORKGROUP ? "workgroup" : o->storage ? "storage" : "uniform";
}

/* "invocation (x, y, z)" by global id. */
static void who(const vm_state *s, uint32_t lane, uint32_t id[3]) {
    uint64_t at = s->first_group, plane = (uint64_t)s->grid[0] * s->grid[1];
    const uint32_t group[3] = {(uint32_t)(at % s->grid[0]), (uint32_t)(at % plane / s->grid[0]), (uint32_t)(at / plane)};
    for (int k = 0; k < 3; k++) id[k] = group[k] * s->p->size[k] + s->local[k][lane];
}

static size_t words_of(const vm_state *s, uint32_t object) {
    const vm_object *o = &s->p->object.v[object];
    if (o->space == VM_WORKGROUP) return s->p->workgroup_cells;
    return o->space == VM_BUFFER && o->storage ? (size_t)(s->memory[object].size / s->p->unit + 1) : 0;
}

static bool uninitialised(const vm_object *o, const gr_eval_binding *b, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (b[k].group == o->group && b[k].binding == o->binding) return b[k].uninitialised;
    return false;
}

/* A new dispatch: what an earlier one of the same state did to storage is behind a barrier. */
void vm_san_dispatch(vm_state *s) {
    vm_san *z = s->san;
    for (uint32_t k = 0; k < s->p->object.n; k++) {
        if (!z->word[k] || s->p->object.v[k].space != VM_BUFFER) continue;
        for (size_t w = 0; w < z->words[k]; w++) z->word[k][w] = (shadow){.written = z->known[k]};
    }
}

bool vm_san_init(vm_state *s, const gr_eval_binding *b, uint32_t n) {
    const vm_program *p = s->p;
    vm_san *z = vm_state_alloc(s, 1, sizeof *z);
    if (!z) return gr_report_oom(s->d);
    s->san = z;
    z->word = vm_state_alloc(s, p->object.n + 1, sizeof *z->word);
    z->words = vm_state_alloc(s, p->object.n + 1, sizeof *z->words);
    z->private_written = vm_state_alloc(s, (size_t)p->local_top * s->n + 1, 1);
    z->known = vm_state_alloc(s, p->object.n + 1, sizeof *z->known);
    if (!z->word || !z->words || !z->known || !z->private_written) return gr_report_oom(s->d);
    shadow *shared = NULL;
    size_t total = 0;
    for (uint32_t k = 0; k < p->object.n; k++) total += p->object.v[k].space == VM_BUFFER ? words_of(s, k) : 0;
    shadow *block = vm_state_alloc(s, total + 1, sizeof *block);
    shared = vm_state_alloc(s, (size_t)p->workgroup_cells + 1, sizeof *shared);
    if (!block || !shared) return gr_report_oom(s->d);
    for (uint32_t k = 0; k < p->object.n; k++) {
        const vm_object *o = &p->object.v[k];
        z->words[k] = words_of(s, k);
        if (!z->words[k]) continue;
        z->word[k] = o->space == VM_WORKGROUP ? shared : block;
        if (o->space != VM_BUFFER) continue;
        z->known[k] = !uninitialised(o, b, n);
        block += z->words[k];
    }
    vm_san_dispatch(s);
    return true;
}

/* A new workgroup: fresh workgroup memory, new epochs. */
void vm_san_batch(vm_state *s) {
    vm_san *z = s->san;
    z->epoch[0]++;
    z->epoch[1]++;
    for (uint32_t k = 0; k < s->p->object.n; k++) {
        if (s->p->object.v[k].space != VM_WORKGROUP) continue;
        memset(z->word[k], 0, sizeof(shadow) * s->p->workgroup_cells);
        return; /* one block for all */
    }
}

void vm_san_zero(vm_state *s, const vm_code *k) {
    const vm_object *o = &s->p->object.v[k->object];
    memset(s->san->private_written + (size_t)o->base * s->n, !o->implicit_zero, (size_t)o->cells * s->n);
}

/* ------------------------------------------------------------------ findings */

static void report_race(vm_state *s, const vm_code *k, uint32_t lane, uint32_t word, const touch *other, const char *did,
                        const char *had) {
    const vm_object *o = &s->p->object.v[k->object];
    if (!news(s, GR_D_WGSL_DATA_RACE, k->at)) return;
    uint32_t id[3];
    who(s, lane, id);
    bool across = other->group != (uint32_t)s->first_group + 1;
    const char *hint = across ? "workgroups run in any order: use atomics, or split the work into two dispatches"
                       : o->space == VM_WORKGROUP ? "put workgroupBarrier() between the two accesses"
                                                  : "put storageBarrier() between the two accesses";
    gr_report(s->d, GR_D_WGSL_DATA_RACE, vm_place(s, k->at), hint,
              "invocation (%u, %u, %u) %s word %u of %s variable \"%.*s\", which another invocation of %s workgroup %s",
              id[0], id[1], id[2], did, word, space_of(o), GR_STR_ARG(o->name), across ? "another" : "its", had);
    gr_report_related(s->d, vm_place(s, other->at), "the other access, by local invocation %u of workgroup %u",
                      (unsigned)other->lane, other->group - 1);
}

static void report_unwritten(vm_state *s, const vm_code *k, uint32_t lane, uint32_t word) {
    const vm_object *o = &s->p->object.v[k->object];
    gr_diag_name name = o->space == VM_LOCAL ? GR_D_WGSL_IMPLICIT_ZERO : GR_D_WGSL_UNINITIALISED_READ;
    if (!news(s, name, k->at)) return;
    uint32_t id[3];
    who(s, lane, id);
    gr_report(s->d, name, vm_place(s, k->at), "store a value first, even where zero is meant",
              "invocation (%u, %u, %u) reads word %u of %s variable \"%.*s\", which nothing has written",
              id[0], id[1], id[2], word, space_of(o), GR_STR_ARG(o->name));
}

static bool conflicts(const vm_state *s, const touch *t, uint32_t lane, uint32_t epoch) {
    if (!t->group) return false;
    if (t->groups || t->group != (uint32_t)s->first_group + 1) return true;
    return t->epoch == epoch && (t->many || t->lane != lane);
}

static void remember(const vm_state *s, touch *t, uint32_t lane, uint32_t epoch, uint32_t at) {
    uint32_t group = (uint32_t)s->first_group + 1;
    bool same = t->group == group && t->epoch == epoch;
    bool groups = t->groups || (t->group && t->group != group);
    *t = (touch){group, epoch, at, (uint16_t)lane, same && (t->many || t->lane != lane), groups};
}

static void touch_word(vm_state *s, const vm_code *k, uint32_t lane, uint32_t word, vm_access access) {
    vm_san *z = s->san;
    const vm_object *o = &s->p->object.v[k->object];
    if (word >= z->words[k->object]) return;
    shadow *w = &z->word[k->object][word];
    uint32_t epoch = z->epoch[o->space == VM_BUFFER];
    if (access == VM_ACCESS_READ && !w->written && !o->atomic) report_unwritten(s, k, lane, word);
    if (access != VM_ACCESS_READ) w->written = true;
    if (access == VM_ACCESS_ATOMIC) return;
    bool write = access == VM_ACCESS_WRITE;
    if (conflicts(s, &w->write, lane, epoch)) report_race(s, k, lane, word, &w->write, write ? "writes" : "reads", "wrote");
    else if (write && conflicts(s, &w->read, lane, epoch)) report_race(s, k, lane, word, &w->read, "writes", "read");
    if (write) {
        remember(s, &w->write, lane, epoch, k->at);
        w->write.many = w->write.groups = false;
    } else {
        remember(s, &w->read, lane, epoch, k->at);
    }
}

static void touch_private(vm_state *s, const vm_code *k, uint32_t lane, uint32_t element, vm_access access) {
    uint8_t *w = &s->san->private_written[element];
    if (access == VM_ACCESS_READ && !*w)
        report_unwritten(s, k, lane, element / s->n - s->p->object.v[k->object].base);
    if (access != VM_ACCESS_READ) *w = 1;
}

/* w: elements of the access; buffers are shadowed by unit. */
void vm_san_access(vm_state *s, const vm_code *k, const vm_where *w, vm_access access) {
    const vm_object *o = &s->p->object.v[k->object];
    const vm_memory *m = &s->memory[k->object];
    uint32_t shift = k->cls == 'H' ? 0 : m->shift32;
    for (uint32_t i = 0; i < s->n; i++) {
        if (!s->mask[i]) continue;
        uint32_t e = vm_element(w, i);
        if (o->space == VM_LOCAL) touch_private(s, k, i, e, access);
        else if (s->san->word[k->object]) touch_word(s, k, i, e << shift, access);
    }
}

void vm_san_check(vm_state *s, const vm_code *k) {
    const uint32_t *idx = vm_at(s, k->a);
    uint32_t limit = k->limit;
    if (k->used & OPERAND_E) memcpy(&limit, vm_at(s, k->e), sizeof limit);
    bool row = k->row & OPERAND_A;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t v = idx[row ? i : 0];
        if (!s->mask[i] || v <= limit || !news(s, GR_D_WGSL_OUT_OF_BOUNDS, k->at)) continue;
        uint32_t id[3];
        who(s, i, id);
        const vm_object *o = k->object < s->p->object.n ? &s->p->object.v[k->object] : NULL;
        gr_str name = o ? o->name : GR_STR("a vector or matrix");
        gr_report(s->d, GR_D_WGSL_OUT_OF_BOUNDS, vm_place(s, k->at), "guard the access, or size the dispatch to the data",
                  k->sub ? "invocation (%u, %u, %u) uses index %d in \"%.*s\", which has %u elements"
                         : "invocation (%u, %u, %u) uses index %u in \"%.*s\", which has %u elements",
                  id[0], id[1], id[2], v, GR_STR_ARG(name), limit + 1);
    }
}

static void check_uniform(vm_state *s, const vm_code *k) {
    const uint32_t *rows[2] = {k->row & OPERAND_A ? vm_at(s, k->a) : NULL, k->row & OPERAND_B ? vm_at(s, k->b) : NULL};
    for (int r = 0; r < 2; r++)
        for (uint32_t i = 1; rows[r] && i < s->p->invocations; i++) {
            if (rows[r][i] == rows[r][0] || !news(s, GR_D_WGSL_NON_UNIFORM_LOAD, k->at)) continue;
            gr_report(s->d, GR_D_WGSL_NON_UNIFORM_LOAD, vm_place(s, k->at), "every invocation must load the same place",
                      "invocation %u of the workgroup loads another element than invocation 0", i);
        }
}

void vm_san_barrier(vm_state *s, const vm_code *k) {
    if (s->active && s->active < s->p->invocations && news(s, GR_D_WGSL_NON_UNIFORM_BARRIER, k->at))
        gr_report(s->d, GR_D_WGSL_NON_UNIFORM_BARRIER, vm_place(s, k->at),
                  "move the barrier out of the branch or loop, and do not return before it",
                  "%u of the %u invocations of workgroup %llu reach this barrier", s->active, s->p->invocations,
                  (unsigned long long)s->first_group);
    if (k->sub & 4) check_uniform(s, k);
    if (k->sub & 5) s->san->epoch[0]++;
    if (k->sub & 2) s->san->epoch[1]++;
}
