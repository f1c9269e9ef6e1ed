#include "gate/verdict.h"

#include <math.h>
#include <stddef.h>

gate_rule gate_rule_default(void) {
    return (gate_rule){.floor = 0.01, .sigmas = 2, .guard = 0.05, .alpha = 0.05, .looks = 1};
}

gate_retry gate_retry_default(void) { return (gate_retry){.sigmas = 3, .floor = 0.01}; }

double gate_mean(const double *v, uint32_t n) {
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += v[i];
    return n ? sum / n : 0;
}

double gate_sigma(const double *v, uint32_t n) {
    if (n < 2) return 0;
    double mean = gate_mean(v, n), sum = 0;
    for (uint32_t i = 0; i < n; i++) sum += (v[i] - mean) * (v[i] - mean);
    return sqrt(sum / (n - 1));
}

/* A(t|dof) = P(|T| < t) as a finite sum in theta = atan(t / sqrt(dof)). */
double gate_t_tail(double t, uint32_t dof) {
    const double pi = 3.14159265358979323846;
    double theta = atan(fabs(t) / sqrt(dof)), c = cos(theta), sum = 0, term;
    if (dof % 2) {
        term = c;
        for (uint32_t k = 1; k + 2 <= dof; k += 2) sum += term, term *= c * c * (k + 1) / (k + 2);
        sum = 2 / pi * (theta + sin(theta) * sum);
    } else {
        term = 1;
        for (uint32_t k = 0; k + 2 <= dof; k += 2) sum += term, term *= c * c * (k + 1) / (k + 2);
        sum *= sin(theta);
    }
    double tail = (1 - sum) / 2;
    return t < 0 ? 1 - tail : tail;
}

/* The logarithm of the tail is nearly straight in log t: false position (Illinois) needs about ten steps. */
double gate_t_quantile(double p, uint32_t dof) {
    if (p > 0.5) return -gate_t_quantile(1 - p, dof);
    double low = 0, high = 1;
    while (gate_t_tail(high, dof) > p && high < 1e12) low = high, high *= 2;
    double f_low = log(gate_t_tail(low, dof) / p), f_high = log(gate_t_tail(high, dof) / p);
    for (int i = 0, side = 0; i < 100 && high - low > 1e-13 * high && f_low > 0 && f_high < 0; i++) {
        double at = (low * f_high - high * f_low) / (f_high - f_low), f = log(gate_t_tail(at, dof) / p);
        if (fabs(f) < 1e-13) return at;
        if (f > 0) {
            low = at, f_low = f;
            if (side == 1) f_high /= 2;
            side = 1;
        } else {
            high = at, f_high = f;
            if (side == -1) f_low /= 2;
            side = -1;
        }
    }
    return f_high == 0 ? high : (low + high) / 2;
}

static gate_guard guard_of(double quality, double spread, const gate_rule *rule) {
    if (quality >= -rule->guard) return GATE_GUARD_HELD;
    return rule->gradients_untouched && -quality <= spread ? GATE_GUARD_NOISE : GATE_GUARD_BREACHED;
}

static double spread_of(const double *v, uint32_t n) {
    double least = v[0], most = v[0];
    for (uint32_t i = 1; i < n; i++) least = fmin(least, v[i]), most = fmax(most, v[i]);
    return most - least;
}

/* The criteria on the runs of which keep_off[i] and keep_on[i] are set; a pair counts for the signs when both are. The
 * gain is the mean of the pairs' deltas, and of the arms' means where a run has lost its partner. */
static gate_criteria criteria_of(const gate_pairs *s, const gate_rule *rule, const bool *keep_off, const bool *keep_on) {
    double delta[GATE_PAIRS_MAX], off[GATE_PAIRS_MAX], on[GATE_PAIRS_MAX], q_off[GATE_PAIRS_MAX], q_on[GATE_PAIRS_MAX];
    uint32_t pairs = 0, offs = 0, ons = 0;
    gate_criteria c = {.signs = true};
    for (uint32_t i = 0; i < s->n; i++) {
        if (keep_off[i]) q_off[offs] = s->q_off[i], off[offs++] = s->off[i];
        if (keep_on[i]) q_on[ons] = s->q_on[i], on[ons++] = s->on[i];
        if (!keep_off[i] || !keep_on[i]) continue;
        delta[pairs] = s->on[i] / s->off[i] - 1;
        c.signs = c.signs && delta[pairs++] < 0;
    }
    if (pairs == 0) return c;
    c.delta = offs == ons ? gate_mean(delta, pairs) : gate_mean(on, ons) / gate_mean(off, offs) - 1;
    c.sigma_off = gate_sigma(off, offs) / gate_mean(off, offs);
    c.threshold = -fmax(rule->sigmas * c.sigma_off, rule->floor);
    c.gain = c.delta <= c.threshold;
    if (s->quality) {
        c.quality = gate_mean(q_on, ons) - gate_mean(q_off, offs);
        c.guard = guard_of(c.quality, spread_of(q_off, offs), rule);
    }
    c.holds = c.gain && c.signs && c.guard != GATE_GUARD_BREACHED;
    return c;
}

static void find_worst(const gate_pairs *s, gate_verdict *v) {
    double off = gate_mean(s->off, s->n), on = gate_mean(s->on, s->n), most = -1;
    for (uint32_t i = 0; i < s->n; i++)
        for (int arm = 0; arm < 2; arm++) {
            double far = arm ? fabs(s->on[i] / on - 1) : fabs(s->off[i] / off - 1);
            if (far > most) most = far, v->worst_pair = i, v->worst_is_on = arm == 1;
        }
}

/* Every way of leaving something out. With fewer than three pairs nothing can be left out and still be a series. */
static void leave_out(const gate_pairs *s, const gate_rule *rule, gate_verdict *v) {
    bool off[GATE_PAIRS_MAX], on[GATE_PAIRS_MAX];
    for (uint32_t i = 0; i < s->n; i++) off[i] = on[i] = true;
    for (uint32_t i = 0; i < s->n; i++) {
        off[i] = on[i] = false;
        v->without[i] = criteria_of(s, rule, off, on);
        off[i] = on[i] = true;
        v->fragile = v->fragile || v->without[i].holds != v->all.holds;
    }
    *(v->worst_is_on ? &on[v->worst_pair] : &off[v->worst_pair]) = false;
    v->without_worst = criteria_of(s, rule, off, on);
    v->fragile = v->fragile || v->without_worst.holds != v->all.holds;
}

static void test_pairs(const gate_pairs *s, gate_verdict *v) {
    double delta[GATE_PAIRS_MAX];
    for (uint32_t i = 0; i < s->n; i++) delta[i] = s->on[i] / s->off[i] - 1;
    v->p = 1;
    v->low = -INFINITY, v->high = INFINITY;
    if (s->n < 2) return;
    v->sigma_delta = gate_sigma(delta, s->n);
    double error = v->sigma_delta / sqrt(s->n), reach = error * gate_t_quantile(v->alpha, s->n - 1);
    v->low = v->all.delta - reach, v->high = v->all.delta + reach;
    if (error > 0) v->p = gate_t_tail(-v->all.delta / error, s->n - 1);
    else v->p = v->all.delta < 0 ? 0 : 1;
    v->significant = v->p <= v->alpha;
}

gate_verdict gate_judge(const gate_pairs *s, const gate_rule *rule) {
    gate_verdict v = {.alpha = rule->alpha / (rule->looks ? rule->looks : 1)};
    bool every[GATE_PAIRS_MAX];
    for (uint32_t i = 0; i < s->n; i++) every[i] = true;
    v.all = criteria_of(s, rule, every, every);
    v.guard_spread = s->quality ? spread_of(s->q_off, s->n) : 0;
    find_worst(s, &v);
    if (s->n >= 3) leave_out(s, rule, &v);
    test_pairs(s, &v);
    if (v.all.holds && v.significant) v.decision = GATE_ADOPT;
    else if (v.all.guard == GATE_GUARD_BREACHED || v.low > -rule->floor) v.decision = GATE_REJECT;
    else v.decision = GATE_UNDECIDED;
    return v;
}

bool gate_safe(const gate_verdict *v) {
    return (v->decision == GATE_ADOPT && !v->fragile) || v->decision == GATE_REJECT;
}

const char *gate_retry_blocked(uint32_t n, bool load_known, const gate_retry *r) {
    if (!load_known) return "the load of this machine cannot be read, so there is never evidence";
    if (r->sigma > 0 || n >= 3) return n >= 2 ? NULL : "an arm of one run has no others to compare with";
    return "an arm of fewer than three runs leaves no sigma when one is left out, and there is no A/A calibration";
}

bool gate_outlier(const double *v, uint32_t n, uint32_t i, const gate_retry *r, double *z) {
    double others[GATE_PAIRS_MAX];
    uint32_t m = 0;
    if (gate_retry_blocked(n, true, r)) return false;
    for (uint32_t k = 0; k < n; k++)
        if (k != i) others[m++] = v[k];
    double mean = gate_mean(others, m);
    double sigma = r->sigma > 0 ? r->sigma : fmax(gate_sigma(others, m) / mean * sqrt(1 + 1.0 / m), r->floor);
    double far = (v[i] / mean - 1) / sigma;
    if (z) *z = far;
    return far > r->sigmas;
}
