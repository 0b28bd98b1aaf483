// Quaver for C++17: the functions of quaver.h as classes. Header only; no heap, no exceptions needed.
//
// A stream lives in an arena that stays where it is. `Owned` has both in one object, whose size is known when the
// program is compiled:
//
//     #include "quaver.hpp"
//     #include "grip_force.h" // written by `quaver export --c`
//
//     quaver::Owned<quaver::Predictor, grip_force::arena_words> predictor(grip_force_model);
//     if (!predictor.status()) return fail(predictor.status().text());
//     std::array<quaver::Output, grip_force::outputs> force;
//     predictor.step(emg, force);
//
// Everything is noexcept. Where exceptions are wanted, `quaver::require(status)` throws one.
//
// Licensed under MIT or Apache-2.0, at your choice.
#ifndef QUAVER_HPP
#define QUAVER_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#if defined(__cpp_exceptions)
#include <stdexcept>
#else
#include <cstdlib>
#endif

#include "quaver.h"

namespace quaver {

// A view of values in a row, as std::span of C++20: of an array, a std::array, a std::vector, or pointer and count.
template <typename T>
class Span {
public:
    constexpr Span() noexcept = default;
    constexpr Span(T *data, std::size_t size) noexcept : data_(data), size_(size) {}
    template <std::size_t N>
    constexpr Span(T (&array)[N]) noexcept : data_(array), size_(N) {}
    template <typename Container,
              typename = std::enable_if_t<std::is_convertible_v<
                  decltype(std::declval<Container &>().data()), T *>>>
    constexpr Span(Container &container) noexcept : data_(container.data()), size_(container.size()) {}
    template <typename Container,
              typename = std::enable_if_t<std::is_convertible_v<
                  decltype(std::declval<const Container &>().data()), T *>>>
    constexpr Span(const Container &container) noexcept : data_(container.data()), size_(container.size()) {}

    constexpr T *data() const noexcept { return data_; }
    constexpr std::size_t size() const noexcept { return size_; }
    constexpr T *begin() const noexcept { return data_; }
    constexpr T *end() const noexcept { return data_ + size_; }
    constexpr T &operator[](std::size_t index) const noexcept { return data_[index]; }

private:
    T *data_ = nullptr;
    std::size_t size_ = 0;
};

// Whether a call worked, and if not, why.
class [[nodiscard]] Status {
public:
    constexpr Status(std::int32_t code = QUAVER_OK) noexcept : code_(code) {}
    constexpr explicit operator bool() const noexcept { return code_ == QUAVER_OK; }
    constexpr std::int32_t code() const noexcept { return code_; }
    const char *text() const noexcept { return quaver_status_text(code_); }
    friend constexpr bool operator==(Status a, Status b) noexcept { return a.code_ == b.code_; }
    friend constexpr bool operator!=(Status a, Status b) noexcept { return a.code_ != b.code_; }

private:
    std::int32_t code_;
};

// Throws if a call did not work; without exceptions in the compiler, ends the program.
inline void require(Status status) {
    if (status) return;
#if defined(__cpp_exceptions)
    throw std::runtime_error(status.text());
#else
    std::abort();
#endif
}

// A prediction of one value, in raw units.
struct Output : quaver_output {
    // The error bar.
    float std_dev() const noexcept { return std::sqrt(variance); }
};
static_assert(sizeof(Output) == sizeof(quaver_output), "an output has no members of its own");

using Score = quaver_score;
using Info = quaver_info;
using AdaptOptions = quaver_adapt_options;
using Model = Span<const unsigned char>;

// Whether this program was compiled with the header of the library that it is linked with.
inline bool abi_matches() noexcept {
    return quaver_abi_version() == QUAVER_ABI_VERSION;
}

inline Status model_info(Model model, Info &info) noexcept {
    return quaver_model_info(model.data(), model.size(), &info);
}

inline AdaptOptions default_adapt_options() noexcept {
    AdaptOptions options;
    quaver_adapt_options_default(&options);
    return options;
}

// Memory for one stream. It does not move: the stream points into it.
template <std::size_t Words>
class Arena {
public:
    Arena() noexcept = default;
    Arena(const Arena &) = delete;
    Arena &operator=(const Arena &) = delete;

    void *data() noexcept { return words_; }
    static constexpr std::size_t size() noexcept { return Words; }

private:
    std::uint64_t words_[(Words + 1) / 2];
};

// What every stream of rows can do. `Functions` are those of its kind in quaver.h.
template <typename Functions>
class Stream {
public:
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;

    // Whether it was loaded.
    Status status() const noexcept { return status_; }
    // For functions of quaver.h that this header has not.
    typename Functions::Handle *handle() noexcept { return handle_; }

    // Reads one row in raw units and predicts. NaN is a missing channel.
    Status step(Span<const float> row, Span<Output> outputs = {}) noexcept {
        return Functions::step(handle_, row.data(), row.size(), outputs.data(), outputs.size());
    }
    // The same with a variance per channel.
    Status step(Span<const float> mean, Span<const float> variance, Span<Output> outputs) noexcept {
        if (variance.size() != mean.size()) return QUAVER_ERROR_SHORT;
        return Functions::step_uncertain(handle_, mean.data(), variance.data(), mean.size(), outputs.data(),
                                         outputs.size());
    }
    Status prediction(Span<Output> outputs) noexcept {
        return Functions::prediction(handle_, outputs.data(), outputs.size());
    }
    Status score(Score &score) noexcept { return Functions::score(handle_, &score); }
    Status residuals(Span<float> residuals) noexcept {
        return Functions::residuals(handle_, residuals.data(), residuals.size());
    }
    Status implausible(Span<std::uint8_t> channels) noexcept {
        return Functions::implausible(handle_, channels.data(), channels.size());
    }
    Status reset() noexcept { return Functions::reset(handle_); }
    Status save(Span<float> words) noexcept { return Functions::save(handle_, words.data(), words.size()); }
    Status restore(Span<const float> words) noexcept {
        return Functions::restore(handle_, words.data(), words.size());
    }
    Status check() noexcept { return Functions::check(handle_); }

protected:
    Stream() noexcept = default;
    typename Functions::Handle *handle_ = nullptr;
    Status status_ = QUAVER_ERROR_HANDLE;
};

namespace detail {
// The functions of one kind of stream, by their names in quaver.h.
#define QUAVER_FUNCTIONS(Name, kind, read)                                                                   \
    struct Name {                                                                                            \
        using Handle = quaver_##kind;                                                                        \
        static Status step(Handle *handle, const float *row, std::size_t count, Output *outputs,             \
                           std::size_t size) noexcept {                                                      \
            return quaver_##kind##_##read(handle, row, count, outputs, size);                                \
        }                                                                                                    \
        static Status step_uncertain(Handle *handle, const float *mean, const float *variance,               \
                                     std::size_t count, Output *outputs, std::size_t size) noexcept {        \
            return quaver_##kind##_##read##_uncertain(handle, mean, variance, count, outputs, size);         \
        }                                                                                                    \
        static Status prediction(Handle *handle, Output *outputs, std::size_t size) noexcept {               \
            return quaver_##kind##_prediction(handle, outputs, size);                                        \
        }                                                                                                    \
        static constexpr auto score = quaver_##kind##_score;                                                 \
        static constexpr auto residuals = quaver_##kind##_residuals;                                         \
        static constexpr auto implausible = quaver_##kind##_implausible;                                     \
        static constexpr auto reset = quaver_##kind##_reset;                                                 \
        static constexpr auto save = quaver_##kind##_save;                                                   \
        static constexpr auto restore = quaver_##kind##_restore;                                             \
        static constexpr auto check = quaver_##kind##_check;                                                 \
    }
QUAVER_FUNCTIONS(PredictorFunctions, predictor, step);
QUAVER_FUNCTIONS(DenoiserFunctions, denoiser, step);
QUAVER_FUNCTIONS(SamplerFunctions, sampler, observe);
QUAVER_FUNCTIONS(AdaptiveFunctions, adaptive, step);
#undef QUAVER_FUNCTIONS

// 32 bits of a generator of the standard library, or of anything that is called alike.
template <typename Generator>
std::uint32_t next_bits(void *state) {
    static_assert(Generator::min() == 0 && Generator::max() >= 0xFFFFFFFFu, "a generator of at least 32 bits");
    return static_cast<std::uint32_t>((*static_cast<Generator *>(state))());
}
} // namespace detail

// Rows in, means and variances out.
class Predictor : public Stream<detail::PredictorFunctions> {
public:
    Predictor(Model model, void *arena, std::size_t arena_words) noexcept {
        status_ = quaver_predictor_load(model.data(), model.size(), arena, arena_words, &handle_);
    }
    Status step_token(std::size_t token, Span<Output> outputs = {}) noexcept {
        return quaver_predictor_step_token(handle_, token, outputs.data(), outputs.size());
    }
    Status observe(Span<const float> truth) noexcept {
        return quaver_predictor_observe(handle_, truth.data(), truth.size());
    }
    Status interval(std::size_t index, float level, float &low, float &high) noexcept {
        return quaver_predictor_interval(handle_, index, level, &low, &high);
    }
};

// Noisy rows in, denoised rows with error bars out.
class Denoiser : public Stream<detail::DenoiserFunctions> {
public:
    Denoiser(Model model, void *arena, std::size_t arena_words) noexcept {
        status_ = quaver_denoiser_load(model.data(), model.size(), arena, arena_words, &handle_);
    }
    Status expected(Span<Output> outputs) noexcept {
        return quaver_denoiser_expected(handle_, outputs.data(), outputs.size());
    }
};

// Follows rows, predicts the next one and samples continuations. `step` observes.
class Sampler : public Stream<detail::SamplerFunctions> {
public:
    Sampler(Model model, void *arena, std::size_t arena_words) noexcept {
        status_ = quaver_sampler_load(model.data(), model.size(), arena, arena_words, &handle_);
    }
    template <typename Generator>
    Status sample(Generator &generator, std::int32_t feed, Span<float> row) noexcept {
        return quaver_sampler_sample(handle_, detail::next_bits<Generator>, &generator, feed, row.data(), row.size());
    }
};

// A predictor whose output layer learns from labels.
class AdaptivePredictor : public Stream<detail::AdaptiveFunctions> {
public:
    AdaptivePredictor(Model model, void *arena, std::size_t arena_words,
                      const AdaptOptions &options = default_adapt_options()) noexcept {
        status_ = quaver_adaptive_load(model.data(), model.size(), &options, arena, arena_words, &handle_);
    }
    Status learn(Span<const float> truth) noexcept {
        return quaver_adaptive_learn(handle_, truth.data(), truth.size(), nullptr);
    }
    Status forget() noexcept { return quaver_adaptive_forget(handle_); }
};

// A stream with its arena.
template <typename Kind, std::size_t Words>
class Owned : private Arena<Words>, public Kind {
public:
    template <typename... Options>
    explicit Owned(Model model, const Options &...options) noexcept
        : Kind(model, Arena<Words>::data(), Words, options...) {}
};

} // namespace quaver

#endif
