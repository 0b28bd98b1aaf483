/* Replays a golden case through the C interface, as streams/src/replay.rs does in Rust. */
#ifndef REPLAY_H
#define REPLAY_H

#include "quaver.h"

typedef struct golden_case {
    const char *name;
    const char *task; /* follow, sample, rollouts, adapt, adaptdiagonal or text */
    const void *model;
    size_t model_bytes;
    const float *rows; /* row after row */
    size_t row_count;
    size_t inputs;
} golden_case;

/* Memory for a case: words of an arena, of one for rollouts, and values of a row. */
typedef struct replay_memory {
    void *arena;
    size_t arena_words;
    void *futures;
    size_t futures_words;
    quaver_output *outputs;
    float *row;
    uint8_t *flags;
    size_t width;
} replay_memory;

/* FNV-1a over the bits of every number predicted. The status says whether anything failed. */
int32_t replay(const golden_case *golden, const replay_memory *memory, uint64_t *hash);

#endif
