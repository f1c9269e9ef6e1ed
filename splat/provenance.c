/* What exactly was run, for result.toml and the report. */
#include "splat/result.h"

#include <stdio.h>

#include "base/file.h"
#include "base/hash.h"

static gr_str hash_text(gr_arena *a, gr_str text) {
    char hex[72];
    gr_sha256_text(hex, gr_sha256_of(text.p, text.n));
    return gr_str_dup(a, gr_str_of(hex));
}

/* The commit of the checkout in which the program lies; "" where there is none, or no git. */
static gr_str revision(gr_arena *a, gr_str program) {
    gr_str folder = gr_path_dir(program), out = GR_STR("");
    char line[80] = {0};
    if (!folder.n || memchr(folder.p, '\'', folder.n)) return out;
    FILE *f = popen(gr_arena_printf(a, "git -C '%.*s' rev-parse HEAD 2>/dev/null", GR_STR_ARG(folder)), "r");
    if (!f) return out;
    if (fgets(line, sizeof line, f) && strlen(line) >= 40) out = gr_str_dup(a, (gr_str){line, 40});
    pclose(f);
    return out;
}

/* The value of a string member of the profile. */
static gr_str member(gr_arena *a, const char *profile, const char *key) {
    gr_diags quiet;
    gr_doc doc = {0};
    gr_diags_init(&quiet);
    const gr_value *v = profile && gr_json_parse(a, &quiet, GR_STR("profile"), gr_str_of(profile), &doc) ? gr_value_get(doc.root, key) : NULL;
    gr_diags_free(&quiet);
    return v && v->kind == GR_V_STRING ? gr_str_dup(a, v->s) : GR_STR("");
}

/* The line of the plan that says what is promised of repeated runs. */
static gr_str guarantee(gr_arena *a, gr_step *step) {
    char *plan = gr_step_explain(step, GR_RUNG_PLAN), *at = plan ? strstr(plan, "guarantee") : NULL;
    gr_str out = GR_STR("");
    if (at) {
        at += strlen("guarantee");
        while (*at == ' ' || *at == ':') at++;
        out = gr_str_dup(a, (gr_str){at, strcspn(at, "\n")});
    }
    gr_text_free(plan);
    return out;
}

gr_provenance gr_provenance_of(gr_arena *a, gr_trainer *t) {
    gr_session *s = t->desc.session;
    gr_str program = gr_program_path(a);
    char hash[72];
    char *profile = strcmp(gr_session_executor(s), "webgpu") == 0 ? gr_profile(s, true) : NULL;
    gr_state_hash(&t->state, false, hash);
    gr_provenance p = {.version = gr_str_of(gr_version()), .binary = gr_file_hash(a, program), .library = member(a, profile, "library"), .revision = revision(a, program),
                       .profile = profile ? hash_text(a, gr_str_of(profile)) : GR_STR(""), .adapter = gr_str_dup(a, gr_str_of(gr_session_adapter(s))),
                       .executor = gr_str_dup(a, gr_str_of(gr_session_executor(s))), .guarantee = guarantee(a, t->step), .parameters = gr_str_dup(a, gr_str_of(hash))};
    gr_text_free(profile);
    return p;
}
