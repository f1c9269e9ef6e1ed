/* controls.c: results that are wrong on purpose. A suite that takes them proves nothing. */
#include "regime/conform_int.h"

enum { ZEROS, IDENTITY, DROPPED, ONES, SHIFTED };
static const char *const NAMES[GR_CONTROLS] = {"zeros", "copy", "dropped term", "ones", "shifted"};

static bool same_bits(const gr_array *x, const gr_array *y, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!gr_array_same_bits(&x[i], &y[i])) return false;
    return true;
}

static const gr_array *first_operand(const gr_trial *t) {
    for (uint32_t i = 0; i < t->c.call.operands_n; i++)
        if (t->in[i].dtype != GR_DTYPE_NONE && gr_array_count(&t->in[i])) return &t->in[i];
    return NULL;
}

/* The wrong result; false where there is none for this case. */
static bool wrong_result(uint32_t which, const gr_trial *t, const gr_array *got, gr_array *x) {
    const gr_array *in = first_operand(t);
    uint64_t n = gr_array_count(x), from = in ? gr_array_count(in) : 0;
    uint32_t size = gr_dtype_size(x->dtype);
    if ((which == IDENTITY && !in) || (which == SHIFTED && n < 2)) return false;
    for (uint64_t i = 0; i < n; i++) {
        if (which == ZEROS || which == ONES) gr_array_set_i64(x, i, which == ONES);
        else if (which == SHIFTED) memcpy((uint8_t *)x->data + i * size, (const uint8_t *)got->data + (i + 1) % n * size, size);
        else if (in->dtype == x->dtype) memcpy((uint8_t *)x->data + i * size, (const uint8_t *)in->data + i % from * size, size);
        else gr_array_set_f64(x, i, gr_array_get_f64(in, i % from));
    }
    return true;
}

static bool copies(gr_trial *t, gr_diags *d, gr_array *out) {
    for (uint32_t i = 0; i < t->truth.out_n; i++) GR_TRY(gr_array_new(&t->arena, d, t->got[i].dtype, t->got[i].dims, t->got[i].rank, &out[i]));
    return true;
}

static bool offer(gr_controls *k, gr_diags *d, uint32_t which, const gr_setting *g, gr_trial *t, gr_values v, const gr_array *wrong) {
    gr_counts counts = {0};
    double worst = 0;
    gr_fail f = {0};
    if (!same_bits(wrong, t->got, t->truth.out_n)) k->differs[which] = true;
    GR_TRY(gr_trial_compare(t, d, g, v, true, wrong, &counts, &worst, &f));
    if (f.failed) k->rejected[which] = true;
    return true;
}

/* The kernel itself, with the last element of the largest operand taken out. */
static bool drop_term(gr_controls *k, gr_diags *d, const gr_setting *g, gr_trial *t, gr_values v) {
    gr_array in[RUN_TENSORS], got[RUN_TENSORS], *x = NULL;
    for (uint32_t i = 0; i < t->c.call.operands_n; i++) {
        in[i] = t->in[i];
        if (in[i].dtype != GR_DTYPE_NONE && gr_array_count(&in[i]) && (!x || gr_array_count(&in[i]) > gr_array_count(x))) x = &in[i];
    }
    if (!x) return true;
    void *data = gr_arena_alloc(&t->arena, x->bytes + 16, 1);
    if (!data) return gr_report_oom(d);
    memcpy(data, x->data, x->bytes);
    x->data = data;
    gr_array_set_i64(x, gr_array_count(x) - 1, 0);
    gr_diags quiet;
    gr_diags_init(&quiet);
    bool ran = gr_trial_rerun(t, &quiet, in, got);
    gr_diags_free(&quiet);
    return !ran || offer(k, d, DROPPED, g, t, v, got);
}

bool gr_controls_try(gr_controls *k, gr_diags *d, const gr_setting *g, gr_trial *t, gr_values v) {
    for (uint32_t which = 0; which < GR_CONTROLS; which++) {
        gr_array wrong[RUN_TENSORS];
        bool made = true;
        if (k->rejected[which]) continue;
        if (which == DROPPED) {
            GR_TRY(drop_term(k, d, g, t, v));
            continue;
        }
        GR_TRY(copies(t, d, wrong));
        for (uint32_t i = 0; i < t->truth.out_n; i++) made = wrong_result(which, t, &t->got[i], &wrong[i]) && made;
        if (made) GR_TRY(offer(k, d, which, g, t, v, wrong));
    }
    return true;
}

bool gr_controls_settle(const gr_controls *k, gr_diags *d, gr_conformance *out) {
    uint32_t equivalent = 0, others = 0;
    const char *taken = NULL;
    for (uint32_t i = 0; i < GR_CONTROLS; i++) {
        gr_control_state s = k->rejected[i] ? GR_CONTROL_REJECTED : k->differs[i] ? GR_CONTROL_ACCEPTED : GR_CONTROL_EQUIVALENT;
        out->controls[i] = (gr_control){NAMES[i], s};
        if (i <= DROPPED && s == GR_CONTROL_ACCEPTED) taken = NAMES[i];
        if (i <= DROPPED) equivalent += s == GR_CONTROL_EQUIVALENT;
        others += s == GR_CONTROL_REJECTED;
    }
    if (!taken && (equivalent == 0 || others >= 2)) return true;
    out->reason = gr_str_of(taken ? "a control that differs from the kernel was not rejected" : "too few controls were rejected");
    return gr_report(d, GR_D_REGIME_NOT_CONFORMING, (gr_place){.document = out->op->id}, "the cases cannot tell a wrong kernel from a right one",
                     "%.*s%s%s", GR_STR_ARG(out->reason), taken ? ": " : "", taken ? taken : "");
}
