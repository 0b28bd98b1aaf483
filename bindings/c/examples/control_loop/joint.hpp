// A simulated joint: a motor and two muscles move it; a noisy encoder and two EMG channels observe it.
#ifndef JOINT_HPP
#define JOINT_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

// What goes wrong with a sensor.
enum class Fault { none, encoder_lost, encoder_stuck, encoder_offset, emg_lost };

// A row of the model: its inputs, in the order of the recording.
struct Sensors {
    float encoder_deg, emg_flexor, emg_extensor, torque_nm;
    std::array<float, 4> row() const { return {encoder_deg, emg_flexor, emg_extensor, torque_nm}; }
};

class Joint {
public:
    explicit Joint(unsigned seed) : generator_(seed) { next_effort(); }

    double angle_deg() const { return angle_ * degrees; }
    double velocity_deg_s() const { return velocity_ * degrees; }

    // Advances by one period with a torque of the motor, in Nm.
    void advance(double torque, double seconds) {
        torque_ = torque;
        if ((effort_left_ -= seconds) <= 0.0) next_effort();
        flexor_ += (std::max(effort_, 0.0) - flexor_) * seconds / muscle_delay;
        extensor_ += (std::max(-effort_, 0.0) - extensor_) * seconds / muscle_delay;
        const double muscles = muscle_torque * (flexor_ - extensor_);
        const double load = gravity * std::sin(angle_) + damping * velocity_;
        velocity_ += (torque + muscles - load) / inertia * seconds;
        angle_ += velocity_ * seconds;
        // The ends of the range of motion.
        if (angle_ < 0.0 || angle_ > range) {
            angle_ = std::clamp(angle_, 0.0, range);
            velocity_ = 0.0;
        }
    }

    // What the sensors show, with a fault if there is one.
    Sensors read(Fault fault) {
        const float encoder = static_cast<float>(angle_deg() + 0.4 * normal_(generator_));
        Sensors sensors{encoder, emg(flexor_), emg(extensor_), static_cast<float>(torque_)};
        switch (fault) {
        case Fault::none: last_encoder_ = encoder; break;
        case Fault::encoder_lost: sensors.encoder_deg = NAN; break;
        case Fault::encoder_stuck: sensors.encoder_deg = last_encoder_; break;
        case Fault::encoder_offset: sensors.encoder_deg += 15.0f; break;
        case Fault::emg_lost: sensors.emg_flexor = sensors.emg_extensor = NAN; break;
        }
        return sensors;
    }

private:
    static constexpr double degrees = 57.29577951308232;
    static constexpr double inertia = 0.06, damping = 0.4, gravity = 1.5, muscle_torque = 3.0;
    static constexpr double muscle_delay = 0.08, range = 120.0 / degrees;

    // The envelope of an EMG channel: noise in proportion to the activation, and a floor.
    float emg(double activation) {
        return static_cast<float>(std::abs(20.0 * activation * (1.0 + 0.25 * normal_(generator_)) +
                                           0.5 * normal_(generator_)));
    }

    // What the person tries to do for the next fraction of a second.
    void next_effort() {
        effort_ = std::clamp(0.5 * normal_(generator_), -1.0, 1.0);
        effort_left_ = 0.2 + 0.4 * std::abs(normal_(generator_));
    }

    std::mt19937 generator_;
    std::normal_distribution<double> normal_{0.0, 1.0};
    double angle_ = 30.0 / degrees, velocity_ = 0.0, torque_ = 0.0;
    double flexor_ = 0.0, extensor_ = 0.0, effort_ = 0.0, effort_left_ = 0.0;
    float last_encoder_ = 30.0f;
};

#endif
