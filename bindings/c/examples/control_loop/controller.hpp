// A controller that trusts its estimate as far as the error bar reaches: its gain falls as the bar widens, and it
// stops when the model says that a sensor is faulty.
#ifndef CONTROLLER_HPP
#define CONTROLLER_HPP

#include <algorithm>
#include <cmath>

#include "quaver.hpp"

class Controller {
public:
    struct Reference {
        double angle_deg, velocity_deg_s;
    };

    // A slow movement up and down.
    static Reference reference(double seconds) {
        constexpr double pace = 2.0 * 3.141592653589793 * 0.25;
        return {45.0 + 20.0 * std::sin(pace * seconds), 20.0 * pace * std::cos(pace * seconds)};
    }

    // The torque for the next period, from the estimated angle and velocity and the score of the row.
    double torque(Reference reference, const quaver::Output &angle, const quaver::Output &velocity,
                  const quaver::Score &score) {
        anomalous_rows_ = score.is_anomalous ? anomalous_rows_ + 1 : 0;
        if (anomalous_rows_ >= rows_to_stop) stopped_ = true;
        // Half the gain where the error bar is as wide as `tolerated_deg`.
        const double width = angle.std_dev() / tolerated_deg;
        gain_ = 1.0 / (1.0 + width * width);
        if (stopped_) return last_torque_ *= release; // let go smoothly, never jump
        const double wanted = stiffness * (reference.angle_deg - angle.mean) +
                              damping * (reference.velocity_deg_s - velocity.mean) + 1.0;
        last_torque_ = std::clamp(gain_ * wanted, -limit_nm, limit_nm);
        return last_torque_;
    }

    double gain() const { return gain_; }
    bool stopped() const { return stopped_; }

private:
    static constexpr double stiffness = 0.15, damping = 0.012, limit_nm = 6.0, tolerated_deg = 3.0;
    // One row may be a false alarm; ten in a row, ten milliseconds, are not.
    static constexpr int rows_to_stop = 10;
    static constexpr double release = 0.97;
    int anomalous_rows_ = 0;
    double gain_ = 1.0, last_torque_ = 0.0;
    bool stopped_ = false;
};

#endif
