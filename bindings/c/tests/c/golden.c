/* Replays golden cases from a folder: one line each, the same as tests/golden/streams.txt holds.
 *
 * The folder is made by `cargo run -p quaver-tests --bin golden_files -- FOLDER`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay.h"

/* Enough for every golden case; a failure names the status. */
#define ARENA_WORDS 65536
#define FUTURES_WORDS 16384
#define WIDTH 4096

static QUAVER_ARENA(arena, ARENA_WORDS);
static QUAVER_ARENA(futures, FUTURES_WORDS);
static quaver_output outputs[WIDTH];
static float row[WIDTH];
static uint8_t flags[WIDTH];

static void fail(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", which, what);
    exit(1);
}

/* The whole of a file, in memory of malloc. */
static void *contents(const char *folder, const char *name, const char *extension, size_t *bytes) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, extension);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) fail("cannot be opened", path);
    *bytes = (size_t)ftell(file);
    rewind(file);
    void *read = malloc(*bytes + 1);
    if (!read || fread(read, 1, *bytes, file) != *bytes) fail("cannot be read", path);
    fclose(file);
    return read;
}

int main(int count, char **arguments) {
    if (count != 2) fail("give the folder of the cases", arguments[0]);
    const replay_memory memory = {arena, ARENA_WORDS, futures, FUTURES_WORDS, outputs, row, flags, WIDTH};
    char path[1024], name[256], task[32];
    size_t inputs;
    snprintf(path, sizeof path, "%s/index.txt", arguments[1]);
    FILE *index = fopen(path, "r");
    if (!index) fail("cannot be opened", path);
    while (fscanf(index, "%255s %31s %zu", name, task, &inputs) == 3) {
        size_t model_bytes, row_bytes;
        void *model = contents(arguments[1], name, "qvr", &model_bytes);
        float *rows = contents(arguments[1], name, "rows", &row_bytes);
        golden_case golden = {name, task, model, model_bytes, rows, row_bytes / sizeof(float) / inputs, inputs};
        uint64_t hash;
        int32_t status = replay(&golden, &memory, &hash);
        if (status != QUAVER_OK) fail(quaver_status_text(status), name);
        printf("%s steps=%zu hash=%016" PRIX64 "\n", name, golden.row_count, hash);
        free(rows);
        free(model);
    }
    fclose(index);
    return 0;
}
