// A control loop at 1 kHz around a model with error bars.
//
//   control_loop [--seconds S] [--fast] [--fault NAME] [--at S] [--seed N]
//   control_loop --record FILE [--seconds S] [--seed N]
//
// Each period: read encoder and EMG, step the model, compute a torque, sleep until the next period. --fast does not
// sleep; --record writes the rows that the model was trained on. Exits with 3 if the controller stopped.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "controller.hpp"
#include "joint.hpp"
#include "joint_model.h"
#include "quaver.hpp"
#include "realtime.hpp"

namespace {

constexpr double period = 1e-3;

struct Options {
    double seconds = 10.0, fault_at = 2.0;
    unsigned seed = 1;
    bool fast = false;
    Fault fault = Fault::none;
    const char *record = nullptr;
};

[[noreturn]] void fail(const char *what, const char *why) {
    std::fprintf(stderr, "control_loop: %s: %s\n", what, why);
    std::exit(1);
}

Fault fault_of(const char *name) {
    const std::pair<const char *, Fault> faults[] = {{"encoder-lost", Fault::encoder_lost},
                                                     {"encoder-stuck", Fault::encoder_stuck},
                                                     {"encoder-offset", Fault::encoder_offset},
                                                     {"emg-lost", Fault::emg_lost}};
    for (const auto &[known, fault] : faults)
        if (std::strcmp(name, known) == 0) return fault;
    fail(name, "faults are encoder-lost, encoder-stuck, encoder-offset and emg-lost");
}

double number(const char *option, const char *text) {
    char *end;
    const double value = std::strtod(text, &end);
    if (end == text || *end || !(value >= 0.0)) fail(option, "a number that is not negative is needed");
    return value;
}

Options parse(int count, char **arguments) {
    Options options;
    for (int i = 1; i < count; i++) {
        const char *option = arguments[i];
        if (std::strcmp(option, "--fast") == 0) {
            options.fast = true;
            continue;
        }
        if (++i == count) fail(option, "a value is missing, or there is no such option");
        const char *value = arguments[i];
        if (std::strcmp(option, "--seconds") == 0) options.seconds = number(option, value);
        else if (std::strcmp(option, "--at") == 0) options.fault_at = number(option, value);
        else if (std::strcmp(option, "--seed") == 0) options.seed = static_cast<unsigned>(number(option, value));
        else if (std::strcmp(option, "--fault") == 0) options.fault = fault_of(value);
        else if (std::strcmp(option, "--record") == 0) options.record = value;
        else fail(option, "there is no such option");
    }
    return options;
}

// The rows of a person who moves the joint with some help of the motor: what the model is trained on.
int record(const Options &options) {
    std::FILE *file = std::fopen(options.record, "w");
    if (!file) fail(options.record, std::strerror(errno));
    std::fputs("encoder_deg,emg_flexor,emg_extensor,torque_nm,angle_deg,velocity_deg_s\n", file);
    Joint joint(options.seed);
    std::mt19937 generator(options.seed + 1);
    std::normal_distribution<double> normal;
    double detour = 0.0, phase = 6.0 * normal(generator);
    for (double time = 0.0; time < options.seconds; time += period) {
        const Sensors row = joint.read(Fault::none);
        std::fprintf(file, "%.4f,%.4f,%.4f,%.4f,%.4f,%.4f\n", row.encoder_deg, row.emg_flexor, row.emg_extensor,
                     row.torque_nm, joint.angle_deg(), joint.velocity_deg_s());
        // Other movements than those of the controller, so that the model has seen more than it will need.
        detour += (30.0 * normal(generator) * std::sqrt(period) - 0.5 * detour * period);
        const Controller::Reference wanted = Controller::reference(time + phase);
        const double torque = 0.15 * (wanted.angle_deg + detour - joint.angle_deg()) -
                              0.012 * joint.velocity_deg_s() + 1.0;
        joint.advance(std::clamp(torque, -6.0, 6.0), period);
    }
    return std::fclose(file) == 0 ? 0 : 1;
}

void print_percentiles(const char *what, std::vector<double> &values) {
    std::sort(values.begin(), values.end());
    const auto at = [&](double level) { return values[static_cast<std::size_t>(level * (values.size() - 1))]; };
    std::printf("%-22s %9.2f %9.2f %9.2f %9.2f %9.2f\n", what, at(0.0), at(0.5), at(0.99), at(0.999), at(1.0));
}

// Everything that the loop notes, allocated before it starts.
struct Notes {
    explicit Notes(std::size_t count) : step_us(count), jitter_us(count), total_us(count) {}
    std::vector<double> step_us, jitter_us, total_us;
    double squared_error = 0.0, widest_deg = 0.0, smallest_gain = 1.0, stopped_at = -1.0, last_torque = 0.0;
    std::size_t inside = 0, rows = 0;
};

// The model with its arena: a static, so that its size is known when the program is linked.
quaver::Owned<quaver::Predictor, joint_model::arena_words> model(joint_model_model);

void run(const Options &options, Notes &notes) {
    Joint joint(options.seed);
    Controller controller;
    std::array<quaver::Output, joint_model::outputs> estimate;
    quaver::Score score;
    std::int64_t deadline = realtime::now_ns();
    for (std::size_t i = 0; i < notes.step_us.size(); i++) {
        deadline += static_cast<std::int64_t>(period * 1e9);
        if (!options.fast) realtime::sleep_until_ns(deadline);
        const std::int64_t woken = realtime::now_ns();
        const double time = static_cast<double>(i) * period;
        const Sensors sensors = joint.read(time >= options.fault_at ? options.fault : Fault::none);
        const std::array<float, joint_model::inputs> row = sensors.row();

        const std::int64_t before = realtime::now_ns();
        const quaver::Status status = model.step(row, estimate);
        const std::int64_t after = realtime::now_ns();
        if (!status || !model.score(score)) fail("the model", status.text());

        const quaver::Output &angle = estimate[JOINT_MODEL_OUTPUT_ANGLE_DEG];
        const quaver::Output &velocity = estimate[JOINT_MODEL_OUTPUT_VELOCITY_DEG_S];
        const double error = angle.mean - joint.angle_deg();
        const double torque = controller.torque(Controller::reference(time), angle, velocity, score);
        joint.advance(torque, period);

        notes.rows++;
        notes.squared_error += error * error;
        notes.inside += std::abs(error) < 1.645 * angle.std_dev();
        notes.widest_deg = std::max(notes.widest_deg, static_cast<double>(angle.std_dev()));
        notes.smallest_gain = std::min(notes.smallest_gain, controller.gain());
        notes.last_torque = torque;
        if (controller.stopped() && notes.stopped_at < 0.0) notes.stopped_at = time;
        notes.step_us[i] = static_cast<double>(after - before) * 1e-3;
        notes.jitter_us[i] = options.fast ? 0.0 : static_cast<double>(woken - deadline) * 1e-3;
        notes.total_us[i] = static_cast<double>(realtime::now_ns() - woken) * 1e-3;
    }
}

} // namespace

int main(int count, char **arguments) {
    const Options options = parse(count, arguments);
    if (options.record) return record(options);
    if (!model.status()) fail("the model does not load", model.status().text());
    Notes notes(std::max<std::size_t>(1, static_cast<std::size_t>(options.seconds / period)));
    if (!options.fast) {
        const char *locked = realtime::lock_memory(), *raised = realtime::raise_priority();
        std::printf("memory %s%s\n", locked ? "not locked: " : "locked", locked ? locked : "");
        std::printf("priority %s%s\n", raised ? "as usual: " : "of SCHED_FIFO", raised ? raised : "");
    }
    run(options, notes);
    const double rows = static_cast<double>(notes.rows);
    std::printf("%zu rows, angle within %.2f deg (rms), 90 %% interval covers %.1f %%\n", notes.rows,
                std::sqrt(notes.squared_error / rows), 100.0 * static_cast<double>(notes.inside) / rows);
    std::printf("widest error bar %.2f deg, smallest gain %.3f\n", notes.widest_deg, notes.smallest_gain);
    std::printf("%-22s %9s %9s %9s %9s %9s\n", "microseconds", "least", "median", "99 %", "99.9 %", "most");
    print_percentiles("step of the model", notes.step_us);
    if (!options.fast) print_percentiles("late at wake-up", notes.jitter_us);
    print_percentiles("whole period", notes.total_us);
    if (notes.stopped_at < 0.0) return 0;
    std::printf("stopped at %.3f s, last torque %.4f Nm\n", notes.stopped_at, notes.last_torque);
    return 3;
}
