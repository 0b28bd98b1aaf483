/* Grip force from eight EMG channels: one row per line on standard input, numbers separated by blanks, `nan` for a
 * missing one. */
#include <math.h>
#include <stdio.h>

#include "grip_force.h" /* written by `quaver export --c` */

static QUAVER_ARENA(arena, GRIP_FORCE_ARENA_WORDS);

static int fail(int32_t status) {
    fprintf(stderr, "quaver: %s\n", quaver_status_text(status));
    return 1;
}

int main(void) {
    quaver_predictor *predictor;
    float row[GRIP_FORCE_INPUTS];
    quaver_output force[GRIP_FORCE_OUTPUTS];
    unsigned filled = 0;
    int32_t status = quaver_predictor_load(grip_force_model, sizeof grip_force_model, arena,
                                           GRIP_FORCE_ARENA_WORDS, &predictor);
    if (status != QUAVER_OK) return fail(status);
    while (scanf("%f", &row[filled]) == 1) {
        if (++filled < GRIP_FORCE_INPUTS) continue;
        filled = 0;
        status = quaver_predictor_step(predictor, row, GRIP_FORCE_INPUTS, force, GRIP_FORCE_OUTPUTS);
        if (status != QUAVER_OK) return fail(status);
        printf("%.1f N +- %.1f N\n", force[0].mean, sqrtf(force[0].variance));
    }
    return 0;
}
