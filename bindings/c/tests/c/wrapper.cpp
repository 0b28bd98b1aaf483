// The C++ wrapper: with exceptions and without (-fno-exceptions), in C++17 and C++20.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "grip_force.h"
#include "quaver.hpp"

#define CHECK(condition)                                                      \
    do {                                                                      \
        if (!(condition)) {                                                   \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                     \
        }                                                                     \
    } while (0)

using GripForce = quaver::Owned<quaver::Predictor, grip_force::arena_words>;

static_assert(grip_force::inputs == 8 && GRIP_FORCE_INPUT_EMG3 == 2);
static_assert(sizeof(GripForce) >= 4 * grip_force::arena_words);
static_assert(!std::is_copy_constructible_v<GripForce> && !std::is_move_constructible_v<GripForce>);
static_assert(noexcept(std::declval<GripForce &>().step({}, {})));

static std::vector<unsigned char> contents(const char *path) {
    std::vector<unsigned char> bytes;
    std::FILE *file = std::fopen(path, "rb");
    CHECK(file);
    for (int byte; (byte = std::fgetc(file)) != EOF;) bytes.push_back(static_cast<unsigned char>(byte));
    std::fclose(file);
    return bytes;
}

static void a_predictor() {
    static GripForce predictor(grip_force_model), other(grip_force_model);
    CHECK(predictor.status());
    std::array<float, grip_force::inputs> emg{14.0f, 9.5f, 8.0f, 4.25f, 6.0f, 11.5f, 20.25f, 17.0f};
    std::array<quaver::Output, grip_force::outputs> force, again;
    CHECK(predictor.step(emg, force));
    CHECK(force[GRIP_FORCE_OUTPUT_FORCE_N].std_dev() > 0.0f);
    const float row[8] = {14.0f, 9.5f, 8.0f, 4.25f, 6.0f, 11.5f, 20.25f, 17.0f};
    CHECK(other.step(row, again)); // any container
    CHECK(std::memcmp(force.data(), again.data(), sizeof force) == 0);
    const std::vector<float> variances(8, 4.0f), short_one(3, 1.0f);
    CHECK(other.step(row, variances, again));
    CHECK(other.step(row, short_one, again) == quaver::Status(QUAVER_ERROR_SHORT));
    std::array<float, grip_force::saved_words> saved;
    CHECK(predictor.save(saved) && other.restore(saved));
    CHECK(predictor.step(emg, force) && other.step(emg, again));
    CHECK(std::memcmp(force.data(), again.data(), sizeof force) == 0);
    float low, high;
    CHECK(predictor.interval(0, 0.9f, low, high) && low < high);
}

static void failures_have_a_text() {
    static quaver::Owned<quaver::Predictor, 100> too_small(grip_force_model);
    CHECK(!too_small.status() && too_small.status().code() == QUAVER_ERROR_ARENA);
    CHECK(std::strstr(too_small.status().text(), "arena"));
    CHECK(!too_small.step({}, {})); // a stream that was not loaded
#if defined(__cpp_exceptions)
    bool thrown = false;
    try {
        quaver::require(too_small.status());
    } catch (const std::runtime_error &error) {
        thrown = std::strstr(error.what(), "arena") != nullptr;
    }
    CHECK(thrown);
#endif
    quaver::require(QUAVER_OK);
}

static void latent_models(const char *denoiser_path, const char *sampler_path) {
    const std::vector<unsigned char> noisy = contents(denoiser_path), next = contents(sampler_path);
    static quaver::Arena<2048> memory, more;
    quaver::Denoiser denoiser(noisy, memory.data(), memory.size());
    quaver::Sampler sampler(next, more.data(), more.size());
    std::array<quaver::Output, 3> row;
    CHECK(denoiser.status() && denoiser.step(std::array<float, 3>{12.5f, NAN, 3.0f}, row));
    std::mt19937 generator(7);
    std::array<float, 3> sampled;
    CHECK(sampler.status() && sampler.step(std::array<float, 3>{12.5f, 31.0f, 3.0f}));
    CHECK(sampler.sample(generator, QUAVER_FEED_DRAW, sampled) && std::isfinite(sampled[0]));
}

static void adaptation() {
    static quaver::Arena<4096> memory;
    quaver::AdaptivePredictor adaptive(grip_force_model, memory.data(), memory.size());
    const std::array<float, 8> emg{14.0f, 9.5f, 8.0f, 4.25f, 6.0f, 11.5f, 20.25f, 17.0f};
    std::array<quaver::Output, 1> before, after;
    CHECK(adaptive.status() && adaptive.step(emg, before));
    for (int i = 0; i < 200; i++)
        CHECK(adaptive.step(emg) && adaptive.learn(std::array<float, 1>{before[0].mean + 10.0f}));
    CHECK(adaptive.step(emg, after) && after[0].mean > before[0].mean + 5.0f);
}

int main(int count, char **paths) {
    CHECK(count == 3 && quaver::abi_matches());
    a_predictor();
    failures_have_a_text();
    latent_models(paths[1], paths[2]);
    adaptation();
    std::puts("the wrapper works");
}
