/* Runs one libFuzzer target over files, without libFuzzer: replay [--ext .wgsl] PATH... Folders are walked.
 * Speaks TAP: one test a PATH. The file at hand is named before it runs, so that a crash names its input. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATH_BYTES = 4096, FILE_BYTES = 1 << 24 };

typedef struct walk {
    const char *ext; /* only names that end so; NULL for all */
    uint8_t *bytes;  /* FILE_BYTES */
    unsigned files;
} walk;

static int ends_with(const char *s, const char *end) {
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* The target sees a block of exactly the file's size, so that a sanitizer notices one byte too far. */
static void replay_file(walk *w, const char *path) {
    if (w->ext && !ends_with(path, w->ext)) return;
    FILE *f = fopen(path, "rb");
    if (!f) return;
    size_t n = fread(w->bytes, 1, FILE_BYTES, f);
    fclose(f);
    uint8_t *exact = malloc(n ? n : 1);
    if (!exact) return;
    memcpy(exact, w->bytes, n);
    printf("# %s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
    w->files++;
}

static void replay(walk *w, const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) return;
    if (!S_ISDIR(st.st_mode)) {
        replay_file(w, path);
        return;
    }
    struct dirent **names;
    int n = scandir(path, &names, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char inner[PATH_BYTES];
        int m = snprintf(inner, sizeof inner, "%s/%s", path, names[i]->d_name);
        if (names[i]->d_name[0] != '.' && m > 0 && m < PATH_BYTES) replay(w, inner);
        free(names[i]);
    }
    if (n >= 0) free(names);
}

int main(int argc, char **argv) {
    walk w = {.bytes = malloc(FILE_BYTES)};
    int test = 0;
    if (!w.bytes) return 1;
    LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--ext") == 0 && i + 1 < argc) {
            w.ext = argv[++i];
            continue;
        }
        w.files = 0;
        replay(&w, argv[i]);
        printf("ok %d - %u inputs of %s\n", ++test, w.files, argv[i]);
    }
    printf("1..%d\n", test);
    free(w.bytes);
    return 0;
}
