/* What exactly was run, for result.toml and the report. */
#include "splat/result.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"

static gr_str hash_text(gr_arena *a, gr_str text) {
    char hex[72];
    gr_sha256_text(hex, gr_sha256_of(text.p, text.n));
    return gr_str_dup(a, gr_str_of(hex));
}

static gr_str self(gr_arena *a) {
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? gr_str_dup(a, (gr_str){path, (size_t)n}) : GR_STR("");
}

static gr_str hash_file(gr_arena *a, gr_str path) {
    gr_arena scratch = {0};
    gr_diags quiet;
    gr_str text, out = GR_STR("");
    gr_diags_init(&quiet);
    if (path.n && gr_file_read(&scratch, &quiet, path, (size_t)1 << 30, &text)) out = hash_text(a, text);
    gr_diags_free(&quiet);
    gr_arena_free(&scratch);
    return out;
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
    gr_str program = self(a);
    char hash[72];
    char *profile = strcmp(gr_session_executor(s), "webgpu") == 0 ? gr_profile(s, true) : NULL;
    gr_state_hash(&t->state, false, hash);
    gr_provenance p = {.version = gr_str_of(gr_version()), .binary = hash_file(a, program), .library = member(a, profile, "library"), .revision = revision(a, program),
                       .profile = profile ? hash_text(a, gr_str_of(profile)) : GR_STR(""), .adapter = gr_str_dup(a, gr_str_of(gr_session_adapter(s))),
                       .executor = gr_str_dup(a, gr_str_of(gr_session_executor(s))), .guarantee = guarantee(a, t->step), .parameters = gr_str_dup(a, gr_str_of(hash))};
    gr_text_free(profile);
    return p;
}
