/* Quaver next to another Rust library, linked into one program. */
#include <stdio.h>

#include "grip_force.h"

int64_t neighbour_sum(uint32_t count);

static QUAVER_ARENA(arena, GRIP_FORCE_ARENA_WORDS);

int main(void) {
    quaver_predictor *predictor;
    quaver_output force;
    int32_t status = quaver_predictor_load(grip_force_model, sizeof grip_force_model, arena,
                                           GRIP_FORCE_ARENA_WORDS, &predictor);
    if (status == QUAVER_OK) status = quaver_predictor_step(predictor, NULL, 0, &force, 1);
    printf("%d %lld\n", (int)status, (long long)neighbour_sum(101));
    return status == QUAVER_OK && neighbour_sum(101) == 5050 ? 0 : 1;
}
