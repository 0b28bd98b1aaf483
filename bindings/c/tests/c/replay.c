#include "replay.h"

#include <math.h>
#include <string.h>

/* Where FNV-1a starts, and what it multiplies by (Fowler, Noll and Vo). */
#define FNV_OFFSET UINT64_C(0xCBF29CE484222325)
#define FNV_PRIME UINT64_C(0x00000100000001B3)

/* Futures of rollouts, and steps ahead of each kind: those of streams/src/replay.rs. */
#define FUTURES 5
#define AHEAD 6

#define TRY(call)                                                                                  \
    do {                                                                                           \
        int32_t status_ = (call);                                                                  \
        if (status_ != QUAVER_OK) return status_;                                                  \
    } while (0)

static uint64_t extend(uint64_t hash, const void *bytes, size_t count) {
    const uint8_t *byte = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ byte[i]) * FNV_PRIME;
    return hash;
}

static uint64_t seed(const char *label) {
    return extend(FNV_OFFSET, label, strlen(label));
}

static void add(uint64_t *hash, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint8_t bytes[4] = {(uint8_t)bits, (uint8_t)(bits >> 8), (uint8_t)(bits >> 16), (uint8_t)(bits >> 24)};
    *hash = extend(*hash, bytes, sizeof bytes);
}

static int is(const golden_case *golden, const char *task) {
    return strcmp(golden->task, task) == 0;
}

/* Every number of a prediction, in the order of streams/src/fingerprint.rs. */
static void add_prediction(uint64_t *hash, const replay_memory *memory, size_t outputs, size_t inputs,
                           const quaver_score *score) {
    for (size_t i = 0; i < outputs; i++) add(hash, memory->outputs[i].mean);
    for (size_t i = 0; i < outputs; i++) add(hash, memory->outputs[i].epistemic);
    for (size_t i = 0; i < outputs; i++) add(hash, memory->outputs[i].aleatoric);
    if (!isnan(score->surprise)) {
        add(hash, score->surprise);
        for (size_t i = 0; i < outputs; i++) add(hash, memory->row[i]);
    }
    if (!isnan(score->novelty)) add(hash, score->novelty);
    if (!isnan(score->anomaly)) add(hash, score->anomaly);
    for (size_t i = 0; i < inputs; i++)
        if (memory->flags[i]) add(hash, (float)i);
}

/* Adds the last prediction of a stream of this kind. */
#define ADD_LAST(kind, stream)                                                                     \
    do {                                                                                           \
        quaver_score score_;                                                                       \
        TRY(quaver_##kind##_prediction(stream, memory->outputs, memory->width));                   \
        TRY(quaver_##kind##_score(stream, &score_));                                               \
        TRY(quaver_##kind##_residuals(stream, memory->row, memory->width));                        \
        TRY(quaver_##kind##_implausible(stream, memory->flags, memory->width));                    \
        add_prediction(hash, memory, info->outputs, info->inputs, &score_);                        \
    } while (0)

static int32_t follow(const golden_case *golden, const quaver_info *info, const replay_memory *memory,
                      uint64_t *hash) {
    quaver_predictor *predictor;
    TRY(quaver_predictor_load(golden->model, golden->model_bytes, memory->arena, memory->arena_words, &predictor));
    for (size_t i = 0; i < golden->row_count; i++) {
        const float *row = golden->rows + i * golden->inputs;
        TRY(quaver_predictor_step(predictor, row, golden->inputs, memory->outputs, memory->width));
        ADD_LAST(predictor, predictor);
        TRY(quaver_predictor_observe(predictor, row, golden->inputs));
    }
    return QUAVER_OK;
}

static int32_t text(const golden_case *golden, const quaver_info *info, const replay_memory *memory,
                    uint64_t *hash) {
    static const float temperatures[] = {1.0f, 0.7f, 2.5f, 0.0f};
    quaver_predictor *predictor;
    TRY(quaver_predictor_load(golden->model, golden->model_bytes, memory->arena, memory->arena_words, &predictor));
    for (size_t i = 0; i <= golden->row_count; i++) {
        size_t token = 0;
        const float *row = golden->rows + i * golden->inputs;
        while (i < golden->row_count && token < golden->inputs && row[token] != 1.0f) token++;
        if (i == golden->row_count || token == golden->inputs) token = SIZE_MAX; /* a token that is none */
        TRY(quaver_predictor_step_token(predictor, token, NULL, 0));
        ADD_LAST(predictor, predictor);
    }
    uint64_t state = seed("text");
    for (size_t i = 0; i < sizeof temperatures / sizeof *temperatures; i++)
        for (int ahead = 0; ahead < AHEAD; ahead++) {
            size_t token;
            TRY(quaver_predictor_draw_class(predictor, temperatures[i], quaver_splitmix64, &state, &token));
            TRY(quaver_predictor_step_token(predictor, token, NULL, 0));
            ADD_LAST(predictor, predictor);
        }
    return QUAVER_OK;
}

static int32_t adapt(const golden_case *golden, const quaver_info *info, const replay_memory *memory,
                     uint64_t *hash) {
    quaver_adapt_options options;
    quaver_adaptive *adaptive;
    TRY(quaver_adapt_options_default(&options));
    options.covariance = is(golden, "adapt") ? QUAVER_COVARIANCE_FULL : QUAVER_COVARIANCE_DIAGONAL;
    options.forgetting = 0.95f;
    options.correlation = 4.0f;
    TRY(quaver_adaptive_load(golden->model, golden->model_bytes, &options, memory->arena, memory->arena_words,
                             &adaptive));
    for (size_t i = 0; i < golden->row_count; i++) {
        const float *row = golden->rows + i * golden->inputs;
        TRY(quaver_adaptive_learn(adaptive, row, golden->inputs, NULL));
        TRY(quaver_adaptive_step(adaptive, row, golden->inputs, NULL, 0));
        ADD_LAST(adaptive, adaptive);
    }
    return QUAVER_OK;
}

static int32_t denoise(const golden_case *golden, const quaver_info *info, const replay_memory *memory,
                       uint64_t *hash) {
    quaver_denoiser *denoiser;
    TRY(quaver_denoiser_load(golden->model, golden->model_bytes, memory->arena, memory->arena_words, &denoiser));
    for (size_t i = 0; i < golden->row_count; i++) {
        TRY(quaver_denoiser_step(denoiser, golden->rows + i * golden->inputs, golden->inputs, NULL, 0));
        ADD_LAST(denoiser, denoiser);
    }
    return QUAVER_OK;
}

static int32_t sample(quaver_sampler *sampler, const quaver_info *info, const replay_memory *memory,
                      uint64_t *hash) {
    static const int32_t feeds[] = {QUAVER_FEED_DRAW, QUAVER_FEED_MEAN};
    static const float last[] = {0.5f, NAN, -0.25f};
    uint64_t state = seed("sample");
    for (int feed = 0; feed < 2; feed++)
        for (int ahead = 0; ahead < AHEAD; ahead++) {
            TRY(quaver_sampler_sample(sampler, quaver_splitmix64, &state, feeds[feed], memory->row, memory->width));
            for (size_t i = 0; i < info->outputs; i++) add(hash, memory->row[i]);
        }
    TRY(quaver_sampler_observe(sampler, last, 3, NULL, 0));
    ADD_LAST(sampler, sampler);
    return QUAVER_OK;
}

static int32_t roll_out(quaver_sampler *sampler, const replay_memory *memory, uint64_t *hash) {
    static const float levels[] = {0.1f, 0.5f, 0.9f};
    quaver_rollouts *rollouts;
    uint64_t state = seed("fan");
    TRY(quaver_rollouts_start(sampler, FUTURES, memory->futures, memory->futures_words, &rollouts));
    for (int ahead = 0; ahead < AHEAD; ahead++) {
        TRY(quaver_rollouts_advance(rollouts, sampler, quaver_splitmix64, &state, QUAVER_FEED_DRAW));
        for (size_t channel = 0; channel < 3; channel++) {
            float value;
            add(hash, quaver_rollouts_mean(rollouts, sampler, channel, &value) ? NAN : value);
            add(hash, quaver_rollouts_std_dev(rollouts, sampler, channel, &value) ? NAN : value);
            for (int i = 0; i < 3; i++)
                add(hash, quaver_rollouts_quantile(rollouts, sampler, channel, levels[i], &value) ? NAN : value);
        }
    }
    return QUAVER_OK;
}

static int32_t observe(const golden_case *golden, const quaver_info *info, const replay_memory *memory,
                       uint64_t *hash) {
    quaver_sampler *sampler;
    TRY(quaver_sampler_load(golden->model, golden->model_bytes, memory->arena, memory->arena_words, &sampler));
    for (size_t i = 0; i < golden->row_count; i++) {
        TRY(quaver_sampler_observe(sampler, golden->rows + i * golden->inputs, golden->inputs, NULL, 0));
        if (is(golden, "follow")) ADD_LAST(sampler, sampler);
    }
    if (is(golden, "sample")) return sample(sampler, info, memory, hash);
    if (is(golden, "rollouts")) return roll_out(sampler, memory, hash);
    return QUAVER_OK;
}

int32_t replay(const golden_case *golden, const replay_memory *memory, uint64_t *hash) {
    quaver_info info;
    *hash = FNV_OFFSET;
    TRY(quaver_model_info(golden->model, golden->model_bytes, &info));
    if (is(golden, "text")) return text(golden, &info, memory, hash);
    if (is(golden, "adapt") || is(golden, "adaptdiagonal")) return adapt(golden, &info, memory, hash);
    if (info.kind == QUAVER_KIND_PREDICTOR) return follow(golden, &info, memory, hash);
    if (info.kind == QUAVER_KIND_DENOISER) return denoise(golden, &info, memory, hash);
    return observe(golden, &info, memory, hash);
}
