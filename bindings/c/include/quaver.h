/* Quaver: recurrent networks with error bars, one sample at a time.
 *
 * Made by cbindgen from bindings/c/src; do not edit. To refresh it: QUAVER_REFRESH=1 cargo test --test header
 *
 * The caller owns all memory. A model is an array that stays where it is, in flash or in RAM; an arena is memory
 * for one stream, of quaver_arena_words(...) words of four bytes, aligned to 8 bytes; a handle is a pointer into
 * an arena. There is no heap, no global state and nothing to free. A handle is used by one call at a time;
 * different handles are independent.
 *
 * Functions return QUAVER_OK or a negative status, with a text by quaver_status_text. A wrong argument does
 * nothing but that, as far as a pointer shows that it is wrong. What they cannot see, the caller promises: that
 * pointers are to as many values as the count says, and that model and arena stay where they are.
 * Memory for results may be overwritten by zeros when a call fails.
 *
 * Licensed under MIT or Apache-2.0, at your choice.
 */

#ifndef QUAVER_H
#define QUAVER_H

#include <stddef.h>
#include <stdint.h>

/* Handles are larger where pointers are. */
#if UINTPTR_MAX > 0xFFFFFFFFu
#define QUAVER_POINTERS_64 1
#else
#define QUAVER_POINTERS_32 1
#endif

/* An arena of some words, with the alignment that it needs: static QUAVER_ARENA(name, words); */
#define QUAVER_ARENA(name, words) uint64_t name[((words) + 1) / 2]

/**
 * The version of this interface. It grows when a program that was compiled with an older header would no
 * longer work with this library; functions may be added without.
 */
#define QUAVER_ABI_VERSION 1

/**
 * Alignment of an arena, in bytes.
 */
#define QUAVER_ARENA_ALIGNMENT 8

/**
 * It worked.
 */
#define QUAVER_OK 0

/**
 * A pointer is null where something is needed.
 */
#define QUAVER_ERROR_NULL -1

/**
 * A pointer is not aligned.
 */
#define QUAVER_ERROR_MISALIGNED -2

/**
 * Memory that is written overlaps another argument, the arena or the model.
 */
#define QUAVER_ERROR_OVERLAP -3

/**
 * Not a handle of this kind.
 */
#define QUAVER_ERROR_HANDLE -4

/**
 * The handle is in use by another call.
 */
#define QUAVER_ERROR_BUSY -5

/**
 * The memory for a result is too short.
 */
#define QUAVER_ERROR_SHORT -6

/**
 * An argument is outside of its range.
 */
#define QUAVER_ERROR_RANGE -7

/**
 * Not a checkpoint.
 */
#define QUAVER_ERROR_MAGIC -20

/**
 * A checkpoint in a signed envelope.
 */
#define QUAVER_ERROR_SIGNED -21

/**
 * A checkpoint of another kind.
 */
#define QUAVER_ERROR_KIND -22

/**
 * A format version that this library does not read.
 */
#define QUAVER_ERROR_VERSION -23

/**
 * The checkpoint is truncated, or longer than it says.
 */
#define QUAVER_ERROR_LENGTH -24

/**
 * The checksum does not match.
 */
#define QUAVER_ERROR_CRC -25

/**
 * The header cannot be decoded.
 */
#define QUAVER_ERROR_HEADER -26

/**
 * A value of the checkpoint or a setting is outside of its range.
 */
#define QUAVER_ERROR_INVALID -27

/**
 * The layout of the model is not built into this library.
 */
#define QUAVER_ERROR_NOT_BUILT_IN -28

/**
 * The arena is too small.
 */
#define QUAVER_ERROR_ARENA -29

/**
 * A step takes longer than allowed.
 */
#define QUAVER_ERROR_BUDGET -30

/**
 * A saved state has another length.
 */
#define QUAVER_ERROR_STATE -31

/**
 * A state holds a value that no step can have left.
 */
#define QUAVER_ERROR_STATE_VALUE -32

/**
 * An error that this interface has no code for.
 */
#define QUAVER_ERROR_UNKNOWN -99

/**
 * A checkpoint of one network: load it as a predictor.
 */
#define QUAVER_KIND_PREDICTOR 1

/**
 * A latent model that removes noise: load it as a denoiser.
 */
#define QUAVER_KIND_DENOISER 2

/**
 * A latent model that predicts and samples rows: load it as a sampler.
 */
#define QUAVER_KIND_SAMPLER 3

/**
 * Feed back the mean of the next row: smooth futures.
 */
#define QUAVER_FEED_MEAN 0

/**
 * Feed back a draw of the next row: futures like the data, noise included.
 */
#define QUAVER_FEED_DRAW 1

/**
 * All numbers of the covariance of what is learned: exact.
 */
#define QUAVER_COVARIANCE_FULL 0

/**
 * Its diagonal alone: less memory, learns more slowly.
 */
#define QUAVER_COVARIANCE_DIAGONAL 1

/**
 * No anomaly, or a model without limits.
 */
#define QUAVER_ANOMALY_NONE 0

/**
 * The row is unlikely given the rows before it.
 */
#define QUAVER_ANOMALY_UNLIKELY 1

/**
 * The row is far from the training rows.
 */
#define QUAVER_ANOMALY_DISTANT 2

/**
 * A channel has been off its prediction for some time in one direction.
 */
#define QUAVER_ANOMALY_SHIFTED 3

/**
 * A channel has been predicted worse than usual for some time.
 */
#define QUAVER_ANOMALY_NOISY 4

/**
 * A channel has not been what the other channels suggest for some time.
 */
#define QUAVER_ANOMALY_MISMATCHED 5

/**
 * A channel changes more from row to row than it should.
 */
#define QUAVER_ANOMALY_ROUGH 6

/**
 * A channel changes less from row to row than it should.
 */
#define QUAVER_ANOMALY_QUIET 7

/**
 * A channel repeats one value.
 */
#define QUAVER_ANOMALY_STUCK 8

/**
 * A channel returns to the same value above or below its mean.
 */
#define QUAVER_ANOMALY_SATURATED 9

/**
 * The value of a channel is outside of its plausible range.
 */
#define QUAVER_ANOMALY_IMPLAUSIBLE 10

/**
 * An anomaly that this interface has no code for.
 */
#define QUAVER_ANOMALY_OTHER 99

#if defined(QUAVER_POINTERS_32)
/**
 * Words of a predictor's handle.
 */
#define QUAVER_PREDICTOR_WORDS 200
#endif

#if defined(QUAVER_POINTERS_64)
/**
 * Words of a predictor's handle.
 */
#define QUAVER_PREDICTOR_WORDS 288
#endif

#if defined(QUAVER_POINTERS_32)
/**
 * Words of a denoiser's handle.
 */
#define QUAVER_DENOISER_WORDS 376
#endif

#if defined(QUAVER_POINTERS_64)
/**
 * Words of a denoiser's handle.
 */
#define QUAVER_DENOISER_WORDS 544
#endif

#if defined(QUAVER_POINTERS_32)
/**
 * Words of a sampler's handle.
 */
#define QUAVER_SAMPLER_WORDS 376
#endif

#if defined(QUAVER_POINTERS_64)
/**
 * Words of a sampler's handle.
 */
#define QUAVER_SAMPLER_WORDS 544
#endif

#if defined(QUAVER_POINTERS_32)
/**
 * Words of the handle of an adaptive predictor.
 */
#define QUAVER_ADAPTIVE_WORDS 224
#endif

#if defined(QUAVER_POINTERS_64)
/**
 * Words of the handle of an adaptive predictor.
 */
#define QUAVER_ADAPTIVE_WORDS 336
#endif

#if defined(QUAVER_POINTERS_32)
/**
 * Words of the handle of rollouts.
 */
#define QUAVER_ROLLOUTS_WORDS 16
#endif

#if defined(QUAVER_POINTERS_64)
/**
 * Words of the handle of rollouts.
 */
#define QUAVER_ROLLOUTS_WORDS 32
#endif

/**
 * A predictor whose output layer learns from labels.
 */
typedef struct quaver_adaptive quaver_adaptive;

/**
 * A model with one stream that removes noise from rows.
 */
typedef struct quaver_denoiser quaver_denoiser;

/**
 * A model with one stream: rows in, means and variances out.
 */
typedef struct quaver_predictor quaver_predictor;

/**
 * Many sampled futures of a sampler.
 */
typedef struct quaver_rollouts quaver_rollouts;

/**
 * A model with one stream that predicts the next row and samples continuations.
 */
typedef struct quaver_sampler quaver_sampler;

/**
 * How an adaptive predictor learns from labels.
 */
typedef struct quaver_adapt_options {
    /**
     * `QUAVER_COVARIANCE_FULL` or `QUAVER_COVARIANCE_DIAGONAL`.
     */
    int32_t covariance;
    /**
     * Prior variance of each weight, in units of the output's noise variance: from 1e-6 to 1e6.
     */
    float prior;
    /**
     * Forgetting factor of a label: above 0.9, at most 1.
     */
    float forgetting;
    /**
     * Successive labels that carry the information of one: from 1 to 1e6.
     */
    float correlation;
} quaver_adapt_options;

/**
 * Mean and variance of one output, in raw units.
 */
typedef struct quaver_output {
    /**
     * Expected value; the probability of a one for a binary output.
     */
    float mean;
    /**
     * Total predictive variance: epistemic + aleatoric. The error bar is its square root.
     */
    float variance;
    /**
     * The part propagated through the network: uncertain inputs, states and weights.
     */
    float epistemic;
    /**
     * The part that more knowledge does not remove: the noise of the observations.
     */
    float aleatoric;
} quaver_output;

/**
 * Scores of the row just read. NaN where the model has none, before the first row, and for a row without an
 * observed channel.
 */
typedef struct quaver_score {
    /**
     * Negative log-likelihood of the row given those before it, in nats.
     */
    float surprise;
    /**
     * Squared distance from the training rows per channel; about 1 for ordinary rows.
     */
    float novelty;
    /**
     * Distance up to which a row counts as familiar.
     */
    float familiar;
    /**
     * Score of the most suspicious statistic; 1 is the limit for the chosen rate of false alarms.
     */
    float anomaly;
    /**
     * What that statistic has seen: one of `QUAVER_ANOMALY_*`.
     */
    int32_t anomaly_kind;
    /**
     * The channel at fault; -1 if it is the row as a whole, or there is no anomaly.
     */
    int32_t anomaly_channel;
    /**
     * Whether the anomaly score exceeds its limit: 1 or 0.
     */
    int32_t is_anomalous;
    /**
     * Whether the row is unlike the training rows: 1 or 0.
     */
    int32_t is_novel;
    /**
     * Channels of the row whose values were implausible and treated as missing.
     */
    uint32_t implausible;
    /**
     * Implausible values since the stream was started or reset.
     */
    uint32_t implausible_total;
} quaver_score;

/**
 * What a checkpoint holds, and what it takes to run it.
 */
typedef struct quaver_info {
    /**
     * What to load it as: one of `QUAVER_KIND_*`.
     */
    int32_t kind;
    /**
     * Channels of a row.
     */
    uint32_t inputs;
    /**
     * Values of a prediction.
     */
    uint32_t outputs;
    /**
     * Latent variables; 0 for one network.
     */
    uint32_t latents;
    /**
     * Words of an arena, the handle included.
     */
    uint32_t arena_words;
    /**
     * Words of a saved stream.
     */
    uint32_t saved_words;
    /**
     * Words of each future of rollouts; 0 unless it is a sampler.
     */
    uint32_t future_words;
    /**
     * Whether the outputs predict the next input row: 1 or 0.
     */
    int32_t predicts_next;
    /**
     * Whether steps run in kernels in assembler, for which the model must lie at a multiple of four: 1 or 0.
     */
    int32_t is_accelerated;
    /**
     * Checksum of the checkpoint: a name for exactly this model.
     */
    uint32_t crc;
    /**
     * Multiply-accumulates of the most expensive step.
     */
    uint64_t step_cost;
} quaver_info;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The settings that suit labels at the sensors' rate of some hundred per second.
 */
int32_t quaver_adapt_options_default(quaver_adapt_options *options);

/**
 * Words of an arena for an adaptive predictor, the handle included; 0 if the model does not load.
 */
size_t quaver_adaptive_arena_words(const void *model,
                                   size_t bytes,
                                   const quaver_adapt_options *options);

/**
 * Checks a checkpoint of one network and starts a stream that has learned nothing yet, in an arena of
 * `quaver_adaptive_arena_words`. Otherwise as `quaver_predictor_load`.
 */
int32_t quaver_adaptive_load(const void *model,
                             size_t bytes,
                             const quaver_adapt_options *options,
                             void *arena,
                             size_t arena_words,
                             quaver_adaptive **adaptive);

/**
 * Reads one row in raw units and predicts with what was learned so far.
 *
 * A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
 * a count of 0; `quaver_adaptive_prediction` copies them later.
 */
int32_t quaver_adaptive_step(quaver_adaptive *adaptive,
                             const float *row,
                             size_t count,
                             quaver_output *outputs,
                             size_t output_count);

/**
 * Like `quaver_adaptive_step`, for values that are themselves uncertain: one variance per channel, in squared raw
 * units.
 */
int32_t quaver_adaptive_step_uncertain(quaver_adaptive *adaptive,
                                       const float *mean,
                                       const float *variance,
                                       size_t count,
                                       quaver_output *outputs,
                                       size_t output_count);

/**
 * Learns the true values of what was just predicted, one per output, NaN where there is none. `learned`, which
 * may be null, becomes 0 if there was nothing to learn, else 1.
 */
int32_t quaver_adaptive_learn(quaver_adaptive *adaptive,
                              const float *truth,
                              size_t count,
                              int32_t *learned);

/**
 * Forgets what was learned from labels, and continues the stream: another arm, another machine.
 */
int32_t quaver_adaptive_forget(quaver_adaptive *adaptive);

/**
 * Words of a saved stream with what was learned; 0 if the handle is none.
 */
size_t quaver_adaptive_saved_words(quaver_adaptive *adaptive);

/**
 * Copies the last prediction; before the first row, the prediction of it.
 */
int32_t quaver_adaptive_prediction(quaver_adaptive *adaptive,
                                   quaver_output *outputs,
                                   size_t output_count);

/**
 * Scores of the row just read: surprise, novelty, anomaly, implausible values.
 */
int32_t quaver_adaptive_score(quaver_adaptive *adaptive, quaver_score *score);

/**
 * Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
 * missing, and for models that do not predict their own inputs.
 */
int32_t quaver_adaptive_residuals(quaver_adaptive *adaptive,
                                  float *residuals,
                                  size_t count);

/**
 * Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
 */
int32_t quaver_adaptive_implausible(quaver_adaptive *adaptive,
                                    uint8_t *channels,
                                    size_t count);

/**
 * Forgets every row, and keeps what was learned from labels.
 */
int32_t quaver_adaptive_reset(quaver_adaptive *adaptive);

/**
 * Copies the state of the stream into `words`, of which there must be exactly `quaver_adaptive_saved_words`.
 */
int32_t quaver_adaptive_save(quaver_adaptive *adaptive,
                             float *words,
                             size_t count);

/**
 * Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
 * state are refused, and the stream stays as it is.
 */
int32_t quaver_adaptive_restore(quaver_adaptive *adaptive,
                                const float *words,
                                size_t count);

/**
 * Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
 */
int32_t quaver_adaptive_check(quaver_adaptive *adaptive);

/**
 * Checks a checkpoint and starts a stream in `arena`: `quaver_arena_words` words, aligned to 8 bytes. Both
 * must stay where they are for as long as the handle is used; there is nothing to free. On an error the handle
 * is null.
 */
int32_t quaver_denoiser_load(const void *model,
                             size_t bytes,
                             void *arena,
                             size_t arena_words,
                             quaver_denoiser **denoiser);

/**
 * Reads one noisy row in raw units and estimates it without the noise.
 *
 * A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
 * a count of 0; `quaver_denoiser_prediction` copies them later.
 */
int32_t quaver_denoiser_step(quaver_denoiser *denoiser,
                             const float *row,
                             size_t count,
                             quaver_output *outputs,
                             size_t output_count);

/**
 * Like `quaver_denoiser_step`, for values that are themselves uncertain: one variance per channel, in squared raw
 * units.
 */
int32_t quaver_denoiser_step_uncertain(quaver_denoiser *denoiser,
                                       const float *mean,
                                       const float *variance,
                                       size_t count,
                                       quaver_output *outputs,
                                       size_t output_count);

/**
 * Predicts the next row, noise included, without advancing the stream. It is the last prediction from then on.
 */
int32_t quaver_denoiser_expected(quaver_denoiser *denoiser,
                                 quaver_output *outputs,
                                 size_t output_count);

/**
 * Copies the last prediction, or the last expected row.
 */
int32_t quaver_denoiser_prediction(quaver_denoiser *denoiser,
                                   quaver_output *outputs,
                                   size_t output_count);

/**
 * Scores of the row just read: surprise, novelty, anomaly, implausible values.
 */
int32_t quaver_denoiser_score(quaver_denoiser *denoiser, quaver_score *score);

/**
 * Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
 * missing, and for models that do not predict their own inputs.
 */
int32_t quaver_denoiser_residuals(quaver_denoiser *denoiser,
                                  float *residuals,
                                  size_t count);

/**
 * Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
 */
int32_t quaver_denoiser_implausible(quaver_denoiser *denoiser,
                                    uint8_t *channels,
                                    size_t count);

/**
 * Forgets everything seen; the prediction is then the one before the first row.
 */
int32_t quaver_denoiser_reset(quaver_denoiser *denoiser);

/**
 * Copies the state of the stream into `words`, of which there must be exactly `saved_words` of `quaver_model_info`.
 */
int32_t quaver_denoiser_save(quaver_denoiser *denoiser,
                             float *words,
                             size_t count);

/**
 * Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
 * state are refused, and the stream stays as it is.
 */
int32_t quaver_denoiser_restore(quaver_denoiser *denoiser,
                                const float *words,
                                size_t count);

/**
 * Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
 */
int32_t quaver_denoiser_check(quaver_denoiser *denoiser);

/**
 * The version of the interface that this library has; a program compares it with `QUAVER_ABI_VERSION` of its
 * header.
 */
uint32_t quaver_abi_version(void);

/**
 * The version of the library, such as "0.1.0".
 */
const char *quaver_version(void);

/**
 * A sentence about a status, in English. Never null.
 */
const char *quaver_status_text(int32_t status);

/**
 * Words of four bytes that an arena for a stream of this checkpoint needs, the handle included; 0 if it does
 * not load: `quaver_model_info` returns why. For an adaptive predictor, see `quaver_adaptive_arena_words`.
 */
size_t quaver_arena_words(const void *model,
                          size_t bytes);

/**
 * Checks a checkpoint, as loading does, and describes it. A second look at a model in flash.
 */
int32_t quaver_model_info(const void *model, size_t bytes, quaver_info *result);

/**
 * Copies the name of input `index`, with a NUL at its end. `QUAVER_ERROR_SHORT` if it has more than `size` - 1
 * bytes of UTF-8, `QUAVER_ERROR_RANGE` if there is no such input or inputs have no names.
 */
int32_t quaver_model_input_name(const void *model,
                                size_t bytes,
                                size_t index,
                                char *name,
                                size_t size);

/**
 * Copies the name of output `index`, as `quaver_model_input_name` does for inputs.
 */
int32_t quaver_model_output_name(const void *model,
                                 size_t bytes,
                                 size_t index,
                                 char *name,
                                 size_t size);

/**
 * Checks a checkpoint and starts a stream in `arena`: `quaver_arena_words` words, aligned to 8 bytes. Both
 * must stay where they are for as long as the handle is used; there is nothing to free. On an error the handle
 * is null.
 */
int32_t quaver_predictor_load(const void *model,
                              size_t bytes,
                              void *arena,
                              size_t arena_words,
                              quaver_predictor **predictor);

/**
 * Reads one row in raw units and predicts: a mean and a variance for every output.
 *
 * A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
 * a count of 0; `quaver_predictor_prediction` copies them later.
 */
int32_t quaver_predictor_step(quaver_predictor *predictor,
                              const float *row,
                              size_t count,
                              quaver_output *outputs,
                              size_t output_count);

/**
 * Like `quaver_predictor_step`, for values that are themselves uncertain: one variance per channel, in squared raw
 * units.
 */
int32_t quaver_predictor_step_uncertain(quaver_predictor *predictor,
                                        const float *mean,
                                        const float *variance,
                                        size_t count,
                                        quaver_output *outputs,
                                        size_t output_count);

/**
 * Reads one token of a model of text, by its index among the inputs, and predicts. An index beyond the last is a
 * missing token.
 */
int32_t quaver_predictor_step_token(quaver_predictor *predictor,
                                    size_t token,
                                    quaver_output *outputs,
                                    size_t output_count);

/**
 * Draws a class by the probabilities of the last prediction of a categorical model, in proportion to
 * p^(1/`temperature`). `next` returns 32 random bits.
 */
int32_t quaver_predictor_draw_class(quaver_predictor *predictor,
                                    float temperature,
                                    uint32_t (*next)(void *state),
                                    void *state,
                                    size_t *class_);

/**
 * Tells the stream the truth about its last prediction, one value per output, NaN where it is not known: the
 * width of error bars follows it, if the model was exported so. For models of other columns.
 */
int32_t quaver_predictor_observe(quaver_predictor *predictor,
                                 const float *truth,
                                 size_t count);

/**
 * Whether the width of error bars follows the truth: 1, as at the start, or 0.
 */
int32_t quaver_predictor_track(quaver_predictor *predictor, int32_t on);

/**
 * Both ends of the central interval of a level, such as 0.9, around output `index` of the last prediction.
 */
int32_t quaver_predictor_interval(quaver_predictor *predictor,
                                  size_t index,
                                  float level,
                                  float *low,
                                  float *high);

/**
 * Copies the last prediction; before the first row, the prediction of it.
 */
int32_t quaver_predictor_prediction(quaver_predictor *predictor,
                                    quaver_output *outputs,
                                    size_t output_count);

/**
 * Scores of the row just read: surprise, novelty, anomaly, implausible values.
 */
int32_t quaver_predictor_score(quaver_predictor *predictor, quaver_score *score);

/**
 * Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
 * missing, and for models that do not predict their own inputs.
 */
int32_t quaver_predictor_residuals(quaver_predictor *predictor,
                                   float *residuals,
                                   size_t count);

/**
 * Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
 */
int32_t quaver_predictor_implausible(quaver_predictor *predictor,
                                     uint8_t *channels,
                                     size_t count);

/**
 * Forgets everything seen; the prediction is then the one before the first row.
 * Widths that followed the truth are forgotten as well.
 */
int32_t quaver_predictor_reset(quaver_predictor *predictor);

/**
 * Copies the state of the stream into `words`, of which there must be exactly `saved_words` of `quaver_model_info`.
 */
int32_t quaver_predictor_save(quaver_predictor *predictor,
                              float *words,
                              size_t count);

/**
 * Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
 * state are refused, and the stream stays as it is.
 */
int32_t quaver_predictor_restore(quaver_predictor *predictor,
                                 const float *words,
                                 size_t count);

/**
 * Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
 */
int32_t quaver_predictor_check(quaver_predictor *predictor);

/**
 * A generator for those who have none: SplitMix64 (Steele, Lea and Flood 2014), the upper half of each number.
 * `state` points to a `uint64_t` that holds the seed at first. Returns 0 for a state that is null or
 * misaligned.
 */
uint32_t quaver_splitmix64(void *state);

/**
 * Words of an arena for `futures` futures of a sampler, the handle included; 0 if the handle is none.
 */
size_t quaver_rollouts_arena_words(quaver_sampler *sampler,
                                   size_t futures);

/**
 * Starts `futures` futures at the present of a sampler, in an arena of `quaver_rollouts_arena_words`. The
 * sampler may go on observing; its arena must stay where it is.
 */
int32_t quaver_rollouts_start(quaver_sampler *sampler,
                              size_t futures,
                              void *arena,
                              size_t arena_words,
                              quaver_rollouts **rollouts);

/**
 * Takes every future back: the next step is one from the present of the sampler.
 */
int32_t quaver_rollouts_restart(quaver_rollouts *rollouts);

/**
 * Extends every future by one step. `sampler` is the one that the rollouts were started with; it lends its
 * scratch memory, and its stream is unchanged afterwards.
 */
int32_t quaver_rollouts_advance(quaver_rollouts *rollouts,
                                quaver_sampler *sampler,
                                uint32_t (*next)(void *state),
                                void *state,
                                int32_t feed);

/**
 * Number of steps that the futures are ahead; 0 if the handle is none.
 */
size_t quaver_rollouts_horizon(quaver_rollouts *rollouts);

/**
 * Mean of a channel over the futures. `QUAVER_ERROR_RANGE` before the first step, or without such a channel.
 */
int32_t quaver_rollouts_mean(quaver_rollouts *rollouts,
                             quaver_sampler *sampler,
                             size_t channel,
                             float *mean);

/**
 * Standard deviation of a channel over the futures; 0 for one future.
 */
int32_t quaver_rollouts_std_dev(quaver_rollouts *rollouts,
                                quaver_sampler *sampler,
                                size_t channel,
                                float *std_dev);

/**
 * Quantile `q`, from 0 to 1, of a channel over the futures.
 */
int32_t quaver_rollouts_quantile(quaver_rollouts *rollouts,
                                 quaver_sampler *sampler,
                                 size_t channel,
                                 float q,
                                 float *quantile);

/**
 * The values of a channel, future by future, at most `count` of them.
 */
int32_t quaver_rollouts_values(quaver_rollouts *rollouts,
                               quaver_sampler *sampler,
                               size_t channel,
                               float *values,
                               size_t count);

/**
 * Checks a checkpoint and starts a stream in `arena`: `quaver_arena_words` words, aligned to 8 bytes. Both
 * must stay where they are for as long as the handle is used; there is nothing to free. On an error the handle
 * is null.
 */
int32_t quaver_sampler_load(const void *model,
                            size_t bytes,
                            void *arena,
                            size_t arena_words,
                            quaver_sampler **sampler);

/**
 * Reads one row in raw units and predicts the next one.
 *
 * A NaN is a missing channel, and so is every channel beyond the end of a short row. `outputs` may be null with
 * a count of 0; `quaver_sampler_prediction` copies them later.
 */
int32_t quaver_sampler_observe(quaver_sampler *sampler,
                               const float *row,
                               size_t count,
                               quaver_output *outputs,
                               size_t output_count);

/**
 * Like `quaver_sampler_observe`, for values that are themselves uncertain: one variance per channel, in squared raw
 * units.
 */
int32_t quaver_sampler_observe_uncertain(quaver_sampler *sampler,
                                         const float *mean,
                                         const float *variance,
                                         size_t count,
                                         quaver_output *outputs,
                                         size_t output_count);

/**
 * Samples the next row, in raw units, and feeds it back: the stream is then as if it had observed that row.
 * `next` returns 32 random bits, `feed` is `QUAVER_FEED_DRAW` or `QUAVER_FEED_MEAN`.
 */
int32_t quaver_sampler_sample(quaver_sampler *sampler,
                              uint32_t (*next)(void *state),
                              void *state,
                              int32_t feed,
                              float *row,
                              size_t count);

/**
 * A copy of the stream in an arena of its own, of as many words. It needs the model, but not the first stream.
 */
int32_t quaver_sampler_fork(quaver_sampler *sampler,
                            void *arena,
                            size_t arena_words,
                            quaver_sampler **fork);

/**
 * Copies the last prediction: that of the next row.
 */
int32_t quaver_sampler_prediction(quaver_sampler *sampler,
                                  quaver_output *outputs,
                                  size_t output_count);

/**
 * Scores of the row just read: surprise, novelty, anomaly, implausible values.
 */
int32_t quaver_sampler_score(quaver_sampler *sampler, quaver_score *score);

/**
 * Residuals of the row just read in predicted standard deviations, one per output; NaN where a channel was
 * missing, and for models that do not predict their own inputs.
 */
int32_t quaver_sampler_residuals(quaver_sampler *sampler,
                                 float *residuals,
                                 size_t count);

/**
 * Channels of the row just read whose values were implausible: 1 for each of those, 0 for all others.
 */
int32_t quaver_sampler_implausible(quaver_sampler *sampler,
                                   uint8_t *channels,
                                   size_t count);

/**
 * Forgets everything seen; the prediction is then the one before the first row.
 */
int32_t quaver_sampler_reset(quaver_sampler *sampler);

/**
 * Copies the state of the stream into `words`, of which there must be exactly `saved_words` of `quaver_model_info`.
 */
int32_t quaver_sampler_save(quaver_sampler *sampler,
                            float *words,
                            size_t count);

/**
 * Continues from a saved state, of this stream or of another one of the same model. Words that cannot be a
 * state are refused, and the stream stays as it is.
 */
int32_t quaver_sampler_restore(quaver_sampler *sampler,
                               const float *words,
                               size_t count);

/**
 * Checks that the memory of the stream is one that steps can have left: for a task that watches over others.
 */
int32_t quaver_sampler_check(quaver_sampler *sampler);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* QUAVER_H */
