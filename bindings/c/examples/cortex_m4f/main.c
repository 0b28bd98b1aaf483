/* Grip force from eight EMG channels on a Cortex-M4F: a model in flash, an arena in RAM, one row at a time. */
#include <math.h>

#include "grip_force.h" /* written by `quaver export --c` */
#include "platform.h"
#include "quaver.h"

static QUAVER_ARENA(arena, GRIP_FORCE_ARENA_WORDS);

static void fail(int32_t status) {
    platform_print(quaver_status_text(status));
    platform_print("\n");
    platform_exit(1);
}

int main(void) {
    static const float rows[3][8] = {
        {14.0f, 9.5f, 8.0f, 4.25f, 6.0f, 11.5f, 20.25f, 17.0f},
        {14.0f, 9.5f, NAN, 4.25f, 6.0f, 11.5f, 20.25f, 17.0f}, /* one electrode has come off */
        {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN},              /* and now all of them */
    };
    quaver_predictor *predictor;
    int32_t status = quaver_predictor_load(grip_force_model, sizeof grip_force_model, arena,
                                           GRIP_FORCE_ARENA_WORDS, &predictor);
    if (status != QUAVER_OK) fail(status);
    for (int i = 0; i < 3; i++) {
        quaver_output force;
        status = quaver_predictor_step(predictor, rows[i], 8, &force, 1);
        if (status != QUAVER_OK) fail(status);
        platform_print_number(force.mean, 1);
        platform_print(" +- ");
        platform_print_number(sqrtf(force.variance), 1);
        platform_print(" N\n");
    }
    return 0;
}
