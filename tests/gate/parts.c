/* The gate's parts: configurations laid flat, commands filled in, load and power of a planted machine, locks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/lock.h"
#include "gate/config.h"
#include "gate/proc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct room { gr_arena a; gr_diags d; char dir[64]; } room;

static room open_room(void) {
    room r = {.dir = "/tmp/gradus-gate-XXXXXX"};
    gr_diags_init(&r.d);
    assert_non_null(mkdtemp(r.dir));
    return r;
}

static void close_room(room *r) {
    char *command = gr_arena_printf(&r->a, "rm -rf %s", r->dir);
    assert_int_equal(system(command), 0);
    gr_diags_free(&r->d);
    gr_arena_free(&r->a);
}

static void plant(room *r, const char *name, const char *text) {
    char *path = gr_arena_printf(&r->a, "%s/%s", r->dir, name);
    assert_true(gr_dir_make(&r->d, gr_path_dir(gr_str_of(path))));
    assert_true(gr_file_write(&r->d, gr_str_of(path), text, strlen(text)));
}

static gate_keys keys(room *r, const char *toml) {
    gr_doc doc;
    gate_keys k;
    assert_true(gr_toml_parse(&r->a, &r->d, GR_STR("t"), gr_str_of(toml), &doc));
    assert_true(gate_keys_of(&r->a, &r->d, doc.root, &k));
    return k;
}

static void configurations_are_flat_and_compared_by_value(void **state) {
    (void)state;
    room r = open_room();
    gate_keys off = keys(&r, "a = 1\n[t]\nb = \"x\"\nc = [1, 2]\n[t.u]\nd = true\n");
    assert_int_equal(off.n, 4);
    assert_true(gr_str_eqz(gate_keys_find(&off, GR_STR("t.u.d"))->value, "true"));
    assert_true(gr_str_eqz(gate_keys_find(&off, GR_STR("t.c"))->value, "[1,2]"));
    gate_keys on = keys(&r, "a = 1.0\n[t]\nc = [1, 2]\nb = \"y\"\nu = { d = true }\n");
    gate_flag *flags;
    uint32_t n;
    assert_true(gate_config_flags(&r.a, &r.d, &off, &on, NULL, 0, &flags, &n)); /* 1 and 1.0 are one value, order says nothing */
    assert_int_equal(n, 1);
    assert_true(gr_str_eqz(flags[0].name, "t.b") && gr_str_eqz(flags[0].off, "\"x\"") && gr_str_eqz(flags[0].on, "\"y\""));
    on = keys(&r, "a = 1\n[t]\nb = \"x\"\nc = [1, 2]\ne = 1\n");
    assert_false(gate_config_flags(&r.a, &r.d, &off, &on, NULL, 0, &flags, &n)); /* t.u.d is gone and t.e new */
    assert_true(gr_diags_has(&r.d, GR_D_GATE_FLAGS_DIFFER));
    gr_str both[] = {GR_STR("t.u.d"), GR_STR("t.e")};
    assert_true(gate_config_flags(&r.a, &r.d, &off, &on, both, 2, &flags, &n));
    assert_true(flags[0].on.n == 0 && flags[1].off.n == 0);
    close_room(&r);
}

static void commands_are_filled_and_quoted(void **state) {
    (void)state;
    room r = open_room();
    const char *pairs[] = {"config", "a b's.toml", "out", "out/1"};
    assert_string_equal(gate_fill(&r.a, "run {config} --out {out} {pair} {", pairs, 2), "run 'a b'\\''s.toml' --out out/1 {pair} {");
    gr_str out, err;
    assert_true(gate_capture_shell(&r.a, gate_fill(&r.a, "printf %s {config}; echo no >&2", pairs, 2), &out, &err));
    assert_true(gr_str_eqz(out, "a b's.toml") && gr_str_eqz(err, "no\n"));
    assert_false(gate_capture_shell(&r.a, "exit 3", &out, NULL));
    assert_false(gate_capture(&r.a, (const char *const[]){"/nowhere/at-all", NULL}, &out, NULL));
    close_room(&r);
}

static void a_machine_is_read(void **state) {
    (void)state;
    room r = open_room();
    assert_false(gate_load_now(r.dir).known);
    assert_int_equal(gate_power_now(r.dir), GATE_POWER_UNKNOWN);
    plant(&r, "proc/loadavg", "1.50 2.00 0.25 1/234 5678\n");
    plant(&r, "proc/stat", "cpu  100 20 30 4000 50 6 7 8 0 0\ncpu0 1 2 3\n");
    gate_load l = gate_load_now(r.dir);
    assert_true(l.known && l.load1 == 1.5 && l.load15 == 0.25);
    assert_true(fabs(l.busy - 171.0 / (double)sysconf(_SC_CLK_TCK)) < 1e-12); /* idle and waiting for disks left out */
    plant(&r, "sys/class/power_supply/BAT0/type", "Battery\n");
    assert_int_equal(gate_power_now(r.dir), GATE_POWER_BATTERY);
    plant(&r, "sys/class/power_supply/AC/type", "Mains\n");
    plant(&r, "sys/class/power_supply/AC/online", "0\n");
    assert_int_equal(gate_power_now(r.dir), GATE_POWER_BATTERY);
    plant(&r, "sys/class/power_supply/AC/online", "1\n");
    assert_int_equal(gate_power_now(r.dir), GATE_POWER_MAINS);
    close_room(&r);
}

static void load_is_evidence_by_the_rule(void **state) {
    (void)state;
    gate_run r = {.before = {.known = true}, .other_cores = 0.4, .gpu_others = -1};
    assert_false(gate_run_loaded(&r, 0.5));
    assert_true(gate_run_loaded(&r, 0.3));
    r.before.known = false;
    assert_false(gate_run_loaded(&r, 0.3));
    r.gpu_others = 1;
    assert_true(gate_run_loaded(&r, 0.5));
    r.gpu_others = 0, r.power_before = GATE_POWER_MAINS, r.power_after = GATE_POWER_BATTERY;
    assert_true(gate_run_loaded(&r, 0.5));
}

static void code_is_told_from_documents(void **state) {
    (void)state;
    static const char *const code[] = {"src/a.c", "catalog/add@1/main.wgsl", "configs/a.toml", "meson.build", "tools/build"};
    static const char *const other[] = {"README.md", "docs/gate.md", "docs/images/a.svg", "findings/a.toml", "LICENSE", "man/gradus.1", "out/gate/s/done"};
    for (size_t i = 0; i < sizeof code / sizeof *code; i++) assert_true(gate_path_is_code(gr_str_of(code[i])));
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) assert_false(gate_path_is_code(gr_str_of(other[i])));
}

static void revisions_differ_by_path_and_content(void **state) {
    (void)state;
    gr_arena a = {0};
    gr_str paths[] = {GR_STR("a"), GR_STR("b")}, hashes[] = {GR_STR("1"), GR_STR("2")}, changed[] = {GR_STR("1"), GR_STR("3")};
    gate_revision x = {GR_STR("c"), paths, hashes, 2}, y = {GR_STR("c"), paths, changed, 2}, z = {GR_STR("c"), paths, hashes, 1};
    assert_int_equal(gate_revision_diff(&a, &x, &x).path_n, 0);
    assert_int_equal(gate_revision_diff(&a, &x, &y).path_n, 1);
    assert_true(gr_str_eqz(gate_revision_diff(&a, &x, &y).paths[0], "b"));
    assert_int_equal(gate_revision_diff(&a, &x, &z).path_n, 1);
    gr_arena_free(&a);
}

static void note_owner(void *user, gr_str owner) { *(bool *)user = owner.n && owner.p[0] == 'f'; }

static void a_lock_waits_for_its_owner(void **state) {
    (void)state;
    room r = open_room();
    char *path = gr_arena_printf(&r.a, "%s/lock", r.dir);
    gr_lock mine, none;
    bool told = false;
    assert_true(gr_lock_take(&r.d, path, "first\n", NULL, NULL, &mine) && mine.held);
    pid_t pid = fork();
    if (pid == 0) { /* an open of its own: the lock is another's */
        gr_lock theirs;
        close(mine.fd);
        alarm(20);
        _exit(gr_lock_take(&r.d, path, "second", note_owner, &told, &theirs) && told ? 0 : 1);
    }
    usleep(50000);
    gr_lock_release(&mine);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    setenv("GRADUS_DEVICE_LOCKED", "1", 1);
    assert_true(gr_lock_device(&r.d, "x", NULL, NULL, &none) && !none.held);
    unsetenv("GRADUS_DEVICE_LOCKED");
    assert_false(gr_lock_take(&r.d, "/nowhere/at/all", "x", NULL, NULL, &none));
    close_room(&r);
}

static void a_result_may_be_toml_or_json(void **state) {
    (void)state;
    room r = open_room();
    gate_result x;
    double v = 0;
    assert_true(gate_result_parse(&r.a, &r.d, GR_STR("r"), GR_STR("[metrics]\npsnr = 30\n[config]\na = 1\n"), &x));
    assert_true(gate_number(&x.metrics, "psnr", &v) && v == 30 && x.config.n == 1);
    assert_true(gate_result_parse(&r.a, &r.d, GR_STR("r"), GR_STR(" {\"metrics\": {\"psnr\": 31.5, \"note\": \"x\"}}"), &x));
    assert_true(gate_number(&x.metrics, "psnr", &v) && v == 31.5);
    assert_false(gate_number(&x.metrics, "note", &v) || gate_number(&x.metrics, "ssim", &v));
    assert_false(gate_result_parse(&r.a, &r.d, GR_STR("r"), GR_STR("metrics = 3\n"), &x));
    close_room(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_are_flat_and_compared_by_value),
        cmocka_unit_test(commands_are_filled_and_quoted),
        cmocka_unit_test(a_machine_is_read),
        cmocka_unit_test(load_is_evidence_by_the_rule),
        cmocka_unit_test(code_is_told_from_documents),
        cmocka_unit_test(revisions_differ_by_path_and_content),
        cmocka_unit_test(a_lock_waits_for_its_owner),
        cmocka_unit_test(a_result_may_be_toml_or_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
