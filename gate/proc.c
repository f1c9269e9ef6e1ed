#include "gate/proc.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CAPTURE_MAX = 4 << 20, GRACE_S = 5 };

static void child(const gate_proc *p, pid_t parent, const sigset_t *before) {
    sigprocmask(SIG_SETMASK, before, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127); /* it died before we asked to be told */
    int in = open("/dev/null", O_RDONLY), log = open(p->log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (in < 0 || log < 0) _exit(127);
    dup2(in, 0), dup2(log, 1), dup2(log, 2);
    for (const char *const *e = p->environment; e && *e; e++) putenv((char *)(uintptr_t)*e);
    execl("/bin/sh", "sh", "-c", p->command, (char *)NULL);
    _exit(127);
}

static double seconds(struct timeval t) { return (double)t.tv_sec + (double)t.tv_usec * 1e-6; }

/* Ends a session: asks, waits a little, insists. */
static void end_child(pid_t pid, struct rusage *use, int *status) {
    kill(-pid, SIGTERM);
    for (int i = 0; i < GRACE_S * 50; i++) {
        if (wait4(pid, status, WNOHANG, use) != 0) break;
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    kill(-pid, SIGKILL);
    wait4(pid, status, 0, use); /* fails when it was waited for above */
}

/* Waits for SIGCHLD rather than polling, so that the end is noticed at once. */
static void wait_child(const gate_proc *p, pid_t pid, double start, const sigset_t *set, gate_exit *out) {
    struct rusage use = {0};
    int status = 0;
    for (;;) {
        pid_t got = wait4(pid, &status, WNOHANG, &use);
        out->elapsed = gr_clock_seconds() - start;
        if (got == pid || (got < 0 && errno != EINTR)) break;
        int sig = sigtimedwait(set, NULL, &(struct timespec){.tv_sec = 1});
        if (sig > 0 && sig != SIGCHLD) {
            out->interrupted = true;
            end_child(pid, &use, &status);
            break;
        }
        if (sig < 0 && p->tick) p->tick(p->user, pid);
    }
    out->cpu = seconds(use.ru_utime) + seconds(use.ru_stime);
    out->code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    out->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

bool gate_proc_run(gr_diags *d, const gate_proc *p, gate_exit *out) {
    *out = (gate_exit){0};
    sigset_t set, before;
    sigemptyset(&set);
    sigaddset(&set, SIGCHLD), sigaddset(&set, SIGINT), sigaddset(&set, SIGTERM), sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, &before);
    fflush(NULL);
    pid_t parent = getpid();
    double start = gr_clock_seconds();
    pid_t pid = fork();
    if (pid == 0) child(p, parent, &before);
    if (pid > 0) wait_child(p, pid, start, &set, out);
    int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (pid > 0) return true;
    return gr_report(d, GR_D_GATE_RUN_FAILED, (gr_place){0}, NULL, "cannot start %s: %s", p->command, strerror(error));
}

/* Both pipes at once, so that neither fills up unread. Text beyond the limit is read and dropped. */
static void drain(int out, int err, gr_buf *to_out, gr_buf *to_err) {
    struct pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
    char step[4096];
    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        if (poll(fds, 2, -1) < 0 && errno != EINTR) return;
        for (int i = 0; i < 2; i++) {
            if (fds[i].fd < 0 || !fds[i].revents) continue;
            ssize_t n = read(fds[i].fd, step, sizeof step);
            gr_buf *to = i ? to_err : to_out;
            if (n > 0 && to->n + (size_t)n < CAPTURE_MAX) gr_buf_put(to, step, (size_t)n);
            if (n == 0 || (n < 0 && errno != EINTR)) fds[i].fd = -1;
        }
    }
}

static gr_str take(gr_arena *a, gr_buf *b) {
    gr_str s = gr_str_dup(a, gr_buf_view(b));
    gr_buf_free(b);
    return s.p ? s : GR_STR("");
}

bool gate_capture(gr_arena *a, const char *const *argv, gr_str *out, gr_str *err) {
    int po[2], pe[2], status = 0;
    if (pipe2(po, O_CLOEXEC) != 0) return false;
    if (pipe2(pe, O_CLOEXEC) != 0) return close(po[0]), close(po[1]), false;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        int in = open("/dev/null", O_RDONLY);
        dup2(in, 0), dup2(po[1], 1), dup2(pe[1], 2);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(po[1]), close(pe[1]);
    gr_buf o = {0}, e = {0};
    if (pid > 0) drain(po[0], pe[0], &o, &e);
    close(po[0]), close(pe[0]);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    gr_str text = take(a, &o), complaint = take(a, &e);
    if (out) *out = text;
    if (err) *err = complaint;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool gate_capture_shell(gr_arena *a, const char *command, gr_str *out, gr_str *err) {
    return gate_capture(a, (const char *const[]){"/bin/sh", "-c", command, NULL}, out, err);
}

/* 'text', with every ' as '\''; plain where nothing in it means anything to a shell. */
static void quote(gr_buf *b, const char *text) {
    if (*text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:,+@%=-")]) {
        gr_buf_puts(b, text);
        return;
    }
    gr_buf_putc(b, '\'');
    for (; *text; text++)
        if (*text == '\'') gr_buf_puts(b, "'\\''");
        else gr_buf_putc(b, *text);
    gr_buf_putc(b, '\'');
}

char *gate_fill(gr_arena *a, const char *text, const char *const *pairs, uint32_t n) {
    gr_buf b = {0};
    while (*text) {
        uint32_t hit = n;
        size_t length = 0;
        for (uint32_t i = 0; i < n && hit == n && *text == '{'; i++) {
            length = strlen(pairs[2 * i]);
            if (strncmp(text + 1, pairs[2 * i], length) == 0 && text[1 + length] == '}') hit = i;
        }
        if (hit < n) quote(&b, pairs[2 * hit + 1]), text += length + 2;
        else gr_buf_putc(&b, *text++);
    }
    char *z = gr_arena_strndup(a, b.p ? b.p : "", b.n);
    bool failed = b.failed;
    gr_buf_free(&b);
    return failed ? NULL : z;
}
