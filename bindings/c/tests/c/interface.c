/* The interface as a C program meets it: what works, and that every wrong argument that can be told from a right
 * one gets its error. Arguments: grip_force.qvr, denoiser.qvr, sampler.qvr of runtime/examples. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "quaver.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

#define OK(call) CHECK((call) == QUAVER_OK)

typedef struct file {
    unsigned char *bytes;
    size_t count;
} file;

static file read_file(const char *path) {
    FILE *stream = fopen(path, "rb");
    CHECK(stream && !fseek(stream, 0, SEEK_END));
    file read = {NULL, (size_t)ftell(stream)};
    rewind(stream);
    read.bytes = malloc(read.count);
    CHECK(read.bytes && fread(read.bytes, 1, read.count, stream) == read.count);
    fclose(stream);
    return read;
}

/* An arena of exactly as many words, so that a sanitizer sees every word beyond it. */
static void *new_arena(size_t words) {
    void *arena = malloc(4 * words);
    CHECK(arena && words > 0);
    return arena;
}

static const float emg[] = {14.0f, 9.5f, NAN, 4.25f, 6.0f, 11.5f, 20.25f, 17.0f};

static void texts_and_versions(void) {
    CHECK(quaver_abi_version() == QUAVER_ABI_VERSION);
    CHECK(strlen(quaver_version()) >= 5);
    CHECK(strcmp(quaver_status_text(QUAVER_OK), "ok") == 0);
    for (int32_t status = -120; status < 20; status++) CHECK(strlen(quaver_status_text(status)) > 1);
}

static void sizes_and_names(file model) {
    quaver_info info;
    char name[32];
    OK(quaver_model_info(model.bytes, model.count, &info));
    CHECK(info.kind == QUAVER_KIND_PREDICTOR && info.inputs == 8 && info.outputs == 1);
    CHECK(info.arena_words == quaver_arena_words(model.bytes, model.count));
    CHECK(info.arena_words > QUAVER_PREDICTOR_WORDS && info.step_cost > 0);
    OK(quaver_model_input_name(model.bytes, model.count, 0, name, sizeof name));
    CHECK(strlen(name) > 0);
    CHECK(quaver_model_input_name(model.bytes, model.count, 8, name, sizeof name) == QUAVER_ERROR_RANGE);
    OK(quaver_model_output_name(model.bytes, model.count, 0, name, sizeof name));
    CHECK(quaver_model_output_name(model.bytes, model.count, 0, name, strlen(name)) == QUAVER_ERROR_SHORT);
    CHECK(quaver_model_output_name(model.bytes, model.count, 0, NULL, 4) == QUAVER_ERROR_NULL);
    CHECK(quaver_arena_words(NULL, 10) == 0 && quaver_arena_words(model.bytes, 0) == 0);
    CHECK(quaver_model_info(NULL, 0, &info) == QUAVER_ERROR_LENGTH);
    CHECK(quaver_model_info(NULL, 1, &info) == QUAVER_ERROR_NULL);
    CHECK(quaver_model_info(model.bytes, model.count, NULL) == QUAVER_ERROR_NULL);
    CHECK(quaver_model_info(model.bytes, model.count, (quaver_info *)model.bytes) == QUAVER_ERROR_OVERLAP);
}

static void damaged_checkpoints(file model) {
    quaver_info info;
    unsigned char *copy = malloc(model.count);
    CHECK(copy);
    memcpy(copy, model.bytes, model.count);
    CHECK(quaver_model_info(copy, model.count - 4, &info) == QUAVER_ERROR_LENGTH);
    copy[model.count / 2] ^= 1;
    CHECK(quaver_model_info(copy, model.count, &info) == QUAVER_ERROR_CRC);
    copy[4] = 99;
    CHECK(quaver_model_info(copy, model.count, &info) == QUAVER_ERROR_VERSION);
    memcpy(copy, "QVSG", 4);
    CHECK(quaver_model_info(copy, model.count, &info) == QUAVER_ERROR_SIGNED);
    memcpy(copy, "PNG!", 4);
    CHECK(quaver_model_info(copy, model.count, &info) == QUAVER_ERROR_MAGIC);
    free(copy);
}

static void a_predictor(file model) {
    size_t words = quaver_arena_words(model.bytes, model.count);
    void *arena = new_arena(words);
    quaver_predictor *predictor;
    quaver_output before, output, again;
    quaver_score score;
    float low, high, residual, saved[100];
    quaver_info info;
    OK(quaver_model_info(model.bytes, model.count, &info));
    CHECK(info.saved_words == 100);
    OK(quaver_predictor_load(model.bytes, model.count, arena, words, &predictor));
    OK(quaver_predictor_prediction(predictor, &before, 1));
    OK(quaver_predictor_step(predictor, emg, 8, &output, 1));
    CHECK(isfinite(output.mean) && output.variance > 0.0f && output.mean != before.mean);
    CHECK(fabsf(output.epistemic + output.aleatoric - output.variance) < 1e-3f * output.variance);
    OK(quaver_predictor_interval(predictor, 0, 0.9f, &low, &high));
    CHECK(low < output.mean && output.mean < high);
    CHECK(quaver_predictor_interval(predictor, 1, 0.9f, &low, &high) == QUAVER_ERROR_RANGE);
    OK(quaver_predictor_score(predictor, &score));
    CHECK(isnan(score.surprise)); /* it predicts another column */
    OK(quaver_predictor_residuals(predictor, &residual, 1));
    CHECK(isnan(residual));

    OK(quaver_predictor_save(predictor, saved, 100));
    CHECK(quaver_predictor_save(predictor, saved, 99) == QUAVER_ERROR_STATE);
    OK(quaver_predictor_save(predictor, saved, 100));
    OK(quaver_predictor_step(predictor, emg, 8, &output, 1));
    OK(quaver_predictor_restore(predictor, saved, 100));
    OK(quaver_predictor_step(predictor, emg, 8, &again, 1));
    CHECK(memcmp(&output, &again, sizeof output) == 0);
    saved[0] = NAN;
    CHECK(quaver_predictor_restore(predictor, saved, 100) == QUAVER_ERROR_STATE_VALUE);
    OK(quaver_predictor_check(predictor));
    OK(quaver_predictor_reset(predictor));
    OK(quaver_predictor_prediction(predictor, &again, 1));
    CHECK(memcmp(&before, &again, sizeof again) == 0);

    /* A certain row is one with variances of zero; an uncertain one has wider error bars. */
    float zeros[8] = {0}, ones[8] = {25, 25, 25, 25, 25, 25, 25, 25};
    OK(quaver_predictor_step(predictor, emg, 8, &output, 1));
    OK(quaver_predictor_reset(predictor));
    OK(quaver_predictor_step_uncertain(predictor, emg, zeros, 8, &again, 1));
    CHECK(memcmp(&output, &again, sizeof output) == 0);
    OK(quaver_predictor_reset(predictor));
    OK(quaver_predictor_step_uncertain(predictor, emg, ones, 8, &again, 1));
    CHECK(again.epistemic > output.epistemic);
    OK(quaver_predictor_step(predictor, NULL, 0, &again, 1)); /* every channel is missing */
    OK(quaver_predictor_observe(predictor, &output.mean, 1));
    OK(quaver_predictor_track(predictor, 0));
    free(arena);
}

static void wrong_arguments(file model) {
    size_t words = quaver_arena_words(model.bytes, model.count);
    char *arena = new_arena(words + 2), *bytes = (char *)model.bytes;
    quaver_predictor *predictor = (quaver_predictor *)arena;
    quaver_output output;
    float row[9] = {0};
    CHECK(quaver_predictor_load(bytes, model.count, arena, words - 1, &predictor) == QUAVER_ERROR_ARENA);
    CHECK(predictor == NULL);
    CHECK(quaver_predictor_load(bytes, model.count, arena, 3, &predictor) == QUAVER_ERROR_ARENA);
    CHECK(quaver_predictor_load(bytes, model.count, NULL, words, &predictor) == QUAVER_ERROR_NULL);
    CHECK(quaver_predictor_load(NULL, model.count, arena, words, &predictor) == QUAVER_ERROR_NULL);
    CHECK(quaver_predictor_load(bytes, model.count, arena, words, NULL) == QUAVER_ERROR_NULL);
    CHECK(quaver_predictor_load(bytes, model.count, arena + 4, words, &predictor) == QUAVER_ERROR_MISALIGNED);
    CHECK(quaver_predictor_load(bytes, model.count, arena, SIZE_MAX / 2, &predictor) == QUAVER_ERROR_RANGE);
    CHECK(quaver_predictor_load(arena, 100, arena, words, &predictor) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_predictor_load(bytes, model.count, arena, words, (quaver_predictor **)arena) ==
          QUAVER_ERROR_OVERLAP);
    OK(quaver_predictor_load(bytes, model.count, arena, words, &predictor));

    CHECK(quaver_predictor_step(NULL, emg, 8, &output, 1) == QUAVER_ERROR_NULL);
    CHECK(quaver_predictor_step(predictor, NULL, 8, &output, 1) == QUAVER_ERROR_NULL);
    CHECK(quaver_predictor_step(predictor, emg, 8, NULL, 1) == QUAVER_ERROR_NULL);
    OK(quaver_predictor_step(predictor, emg, 8, NULL, 0));
    CHECK(quaver_predictor_step(predictor, (float *)((char *)row + 1), 8, &output, 1) == QUAVER_ERROR_MISALIGNED);
    CHECK(quaver_predictor_step(predictor, row, SIZE_MAX / 2, &output, 1) == QUAVER_ERROR_RANGE);
    CHECK(quaver_predictor_step(predictor, row, 8, (quaver_output *)row, 1) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_predictor_step(predictor, (float *)(arena + 400), 8, &output, 1) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_predictor_step(predictor, row, 8, (quaver_output *)(arena + 4 * words - 16), 1) ==
          QUAVER_ERROR_OVERLAP);
    CHECK(quaver_predictor_step(predictor, row, 8, (quaver_output *)(bytes + 64), 1) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_predictor_residuals(predictor, row, 0) == QUAVER_ERROR_SHORT);

    /* Not handles of this kind: another kind, a copy elsewhere, a moved and an overwritten arena. */
    CHECK(quaver_denoiser_reset((quaver_denoiser *)predictor) == QUAVER_ERROR_HANDLE);
    CHECK(quaver_predictor_reset((quaver_predictor *)(arena + 8)) == QUAVER_ERROR_HANDLE);
    CHECK(quaver_predictor_reset((quaver_predictor *)(arena + 1)) == QUAVER_ERROR_MISALIGNED);
    char *moved = new_arena(words);
    memcpy(moved, arena, 4 * words);
    CHECK(quaver_predictor_reset((quaver_predictor *)moved) == QUAVER_ERROR_HANDLE);
    free(moved);
    memset(arena, 0, 4 * words);
    CHECK(quaver_predictor_reset(predictor) == QUAVER_ERROR_HANDLE);
    free(arena);
}

static void kinds(file predictor, file denoiser, file sampler) {
    QUAVER_ARENA(arena, 2048);
    quaver_predictor *p;
    quaver_denoiser *d;
    quaver_sampler *s;
    CHECK(quaver_predictor_load(denoiser.bytes, denoiser.count, arena, 2048, &p) == QUAVER_ERROR_KIND);
    CHECK(quaver_denoiser_load(predictor.bytes, predictor.count, arena, 2048, &d) == QUAVER_ERROR_KIND);
    CHECK(quaver_denoiser_load(sampler.bytes, sampler.count, arena, 2048, &d) == QUAVER_ERROR_KIND);
    CHECK(quaver_sampler_load(denoiser.bytes, denoiser.count, arena, 2048, &s) == QUAVER_ERROR_KIND);
}

static void a_denoiser(file model) {
    size_t words = quaver_arena_words(model.bytes, model.count);
    void *arena = new_arena(words);
    quaver_denoiser *denoiser;
    quaver_output row[3], expected[3];
    quaver_score score;
    const float noisy[3] = {12.5f, NAN, 3.0f};
    OK(quaver_denoiser_load(model.bytes, model.count, arena, words, &denoiser));
    for (int i = 0; i < 5; i++) OK(quaver_denoiser_step(denoiser, noisy, 3, row, 3));
    CHECK(row[1].variance > 0.0f && isfinite(row[1].mean));
    OK(quaver_denoiser_score(denoiser, &score));
    CHECK(isfinite(score.surprise));
    OK(quaver_denoiser_expected(denoiser, expected, 3));
    CHECK(expected[0].variance > row[0].variance);
    CHECK(quaver_denoiser_step(denoiser, noisy, 3, row, 2) == QUAVER_ERROR_SHORT);
    free(arena);
}

/* A generator that uses the handle that it draws for. */
static quaver_sampler *in_use;
static int32_t nested;
static uint32_t reentrant(void *state) {
    nested = quaver_sampler_reset(in_use);
    return quaver_splitmix64(state);
}

static void a_sampler(file model) {
    size_t words = quaver_arena_words(model.bytes, model.count);
    void *arena = new_arena(words), *other = new_arena(words);
    quaver_sampler *sampler, *fork;
    quaver_rollouts *rollouts;
    const float row[3] = {12.5f, 31.0f, 3.0f};
    float next[3], forked[3], low, high, mean, values[16];
    uint64_t state = 7, same = 7;
    OK(quaver_sampler_load(model.bytes, model.count, arena, words, &sampler));
    OK(quaver_sampler_observe(sampler, row, 3, NULL, 0));
    OK(quaver_sampler_fork(sampler, other, words, &fork));
    OK(quaver_sampler_sample(sampler, quaver_splitmix64, &state, QUAVER_FEED_DRAW, next, 3));
    OK(quaver_sampler_sample(fork, quaver_splitmix64, &same, QUAVER_FEED_DRAW, forked, 3));
    CHECK(memcmp(next, forked, sizeof next) == 0);
    CHECK(quaver_sampler_sample(sampler, NULL, &state, QUAVER_FEED_DRAW, next, 3) == QUAVER_ERROR_NULL);
    CHECK(quaver_sampler_sample(sampler, quaver_splitmix64, &state, 7, next, 3) == QUAVER_ERROR_RANGE);
    CHECK(quaver_sampler_sample(sampler, quaver_splitmix64, &state, QUAVER_FEED_DRAW, next, 2) ==
          QUAVER_ERROR_SHORT);
    in_use = sampler;
    OK(quaver_sampler_sample(sampler, reentrant, &state, QUAVER_FEED_DRAW, next, 3));
    CHECK(nested == QUAVER_ERROR_BUSY);
    CHECK(quaver_splitmix64(NULL) == 0);

    size_t future_words = quaver_rollouts_arena_words(sampler, 16);
    void *futures = new_arena(future_words);
    OK(quaver_rollouts_start(sampler, 16, futures, future_words, &rollouts));
    CHECK(quaver_rollouts_mean(rollouts, sampler, 0, &mean) == QUAVER_ERROR_RANGE); /* not advanced yet */
    for (int i = 0; i < 5; i++)
        OK(quaver_rollouts_advance(rollouts, sampler, quaver_splitmix64, &state, QUAVER_FEED_DRAW));
    CHECK(quaver_rollouts_horizon(rollouts) == 5);
    OK(quaver_rollouts_quantile(rollouts, sampler, 0, 0.1f, &low));
    OK(quaver_rollouts_quantile(rollouts, sampler, 0, 0.9f, &high));
    OK(quaver_rollouts_mean(rollouts, sampler, 0, &mean));
    CHECK(low < mean && mean < high);
    OK(quaver_rollouts_values(rollouts, sampler, 0, values, 16));
    float sum = 0.0f;
    for (int i = 0; i < 16; i++) sum += values[i];
    CHECK(fabsf(sum / 16 - mean) < 1e-3f * (1.0f + fabsf(mean)));
    CHECK(quaver_rollouts_mean(rollouts, fork, 0, &mean) == QUAVER_ERROR_HANDLE);
    CHECK(quaver_rollouts_mean(rollouts, sampler, 3, &mean) == QUAVER_ERROR_RANGE);
    CHECK(quaver_rollouts_mean(rollouts, sampler, 0, (float *)arena) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_rollouts_mean(rollouts, sampler, 0, (float *)futures) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_rollouts_start(sampler, 17, futures, future_words, &rollouts) == QUAVER_ERROR_ARENA);
    CHECK(quaver_rollouts_start(sampler, 1, arena, words, &rollouts) == QUAVER_ERROR_OVERLAP);
    CHECK(quaver_rollouts_arena_words(sampler, SIZE_MAX / 2) == 0);
    free(futures);
    free(other);
    free(arena);
}

static void an_adaptive_predictor(file model) {
    quaver_adapt_options options, wrong;
    OK(quaver_adapt_options_default(&options));
    size_t words = quaver_adaptive_arena_words(model.bytes, model.count, &options);
    void *arena = new_arena(words);
    quaver_adaptive *adaptive;
    quaver_output before, after;
    int32_t learned;
    OK(quaver_adaptive_load(model.bytes, model.count, &options, arena, words, &adaptive));
    OK(quaver_adaptive_step(adaptive, emg, 8, &before, 1));
    float truth = before.mean + 10.0f, nothing = NAN;
    for (int i = 0; i < 200; i++) {
        OK(quaver_adaptive_step(adaptive, emg, 8, NULL, 0));
        OK(quaver_adaptive_learn(adaptive, &truth, 1, &learned));
        CHECK(learned == 1);
    }
    OK(quaver_adaptive_step(adaptive, emg, 8, &after, 1));
    CHECK(after.mean > before.mean + 5.0f);
    OK(quaver_adaptive_learn(adaptive, &nothing, 1, &learned));
    CHECK(learned == 0);
    size_t saved_words = quaver_adaptive_saved_words(adaptive);
    float *saved = malloc(4 * saved_words);
    OK(quaver_adaptive_save(adaptive, saved, saved_words));
    OK(quaver_adaptive_forget(adaptive));
    OK(quaver_adaptive_restore(adaptive, saved, saved_words));
    free(saved);
    wrong = options;
    wrong.covariance = 5;
    CHECK(quaver_adaptive_load(model.bytes, model.count, &wrong, arena, words, &adaptive) == QUAVER_ERROR_RANGE);
    CHECK(adaptive == NULL);
    wrong = options;
    wrong.prior = -1.0f;
    CHECK(quaver_adaptive_load(model.bytes, model.count, &wrong, arena, words, &adaptive) == QUAVER_ERROR_INVALID);
    CHECK(quaver_adaptive_load(model.bytes, model.count, NULL, arena, words, &adaptive) == QUAVER_ERROR_NULL);
    free(arena);
}

int main(int count, char **paths) {
    CHECK(count == 4);
    file predictor = read_file(paths[1]), denoiser = read_file(paths[2]), sampler = read_file(paths[3]);
    texts_and_versions();
    sizes_and_names(predictor);
    damaged_checkpoints(predictor);
    a_predictor(predictor);
    wrong_arguments(predictor);
    kinds(predictor, denoiser, sampler);
    a_denoiser(denoiser);
    a_sampler(sampler);
    an_adaptive_predictor(predictor);
    free(predictor.bytes);
    free(denoiser.bytes);
    free(sampler.bytes);
    puts("the interface works");
    return 0;
}
