/* Replays the golden cases on a board: one line each, the same as tests/golden/streams.txt holds. The cases are
 * in flash, in the table of cases.S. */
#include <string.h>

#include "platform.h"
#include "replay.h"

#define ARENA_WORDS 65536
#define FUTURES_WORDS 16384
#define WIDTH 4096

extern const golden_case golden_cases[];
extern const uint32_t golden_count;

static QUAVER_ARENA(arena, ARENA_WORDS);
static QUAVER_ARENA(futures, FUTURES_WORDS);
static quaver_output outputs[WIDTH];
static float row[WIDTH];
static uint8_t flags[WIDTH];

static void print_hash(uint64_t hash) {
    char digits[17];
    for (int i = 15; i >= 0; i--, hash >>= 4) digits[i] = "0123456789ABCDEF"[hash & 15];
    digits[16] = '\0';
    platform_print(digits);
}

int main(void) {
    const replay_memory memory = {arena, ARENA_WORDS, futures, FUTURES_WORDS, outputs, row, flags, WIDTH};
    for (uint32_t i = 0; i < golden_count; i++) {
        uint64_t hash;
        int32_t status = replay(&golden_cases[i], &memory, &hash);
        platform_print(golden_cases[i].name);
        if (status != QUAVER_OK) {
            platform_print(": ");
            platform_print(quaver_status_text(status));
            return 1;
        }
        platform_print(" steps=");
        platform_print_number((float)golden_cases[i].row_count, 0);
        platform_print(" hash=");
        print_hash(hash);
        platform_print("\n");
    }
    return 0;
}
