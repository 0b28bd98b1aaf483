// Grip force from eight EMG channels: one row per line on standard input, numbers separated by blanks, `nan` for a
// missing one.
#include <array>
#include <cstdio>

#include "grip_force.h" // written by `quaver export --c`
#include "quaver.hpp"

static quaver::Owned<quaver::Predictor, grip_force::arena_words> predictor(grip_force_model);

int main() {
    quaver::require(predictor.status());
    std::array<float, grip_force::inputs> row;
    std::array<quaver::Output, grip_force::outputs> force;
    std::size_t filled = 0;
    while (std::scanf("%f", &row[filled]) == 1) {
        if (++filled < row.size()) continue;
        filled = 0;
        quaver::require(predictor.step(row, force));
        std::printf("%.1f N +- %.1f N\n", force[0].mean, force[0].std_dev());
    }
}
