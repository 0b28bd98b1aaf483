/* The board of QEMU: output and the end of the program by semihosting. */
#include "platform.h"

#include <stdint.h>

#define SYS_OPEN 0x01
#define SYS_WRITE 0x05
#define SYS_EXIT_EXTENDED 0x20

static uint32_t semihosting(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void platform_print(const char *text) {
    static uint32_t console;
    if (!console) {
        const struct {
            const char *name;
            uint32_t mode, length;
        } open = {":tt", 4 /* for writing: standard output */, 3};
        console = semihosting(SYS_OPEN, &open);
    }
    uint32_t length = 0;
    while (text[length]) length++;
    const struct {
        uint32_t handle;
        const char *text;
        uint32_t length;
    } write = {console, text, length};
    semihosting(SYS_WRITE, &write);
}

/* Fixed point, so that no printf with floats has to be linked. */
void platform_print_number(float value, int decimals) {
    char digits[24], *next = digits + sizeof digits;
    int32_t scale = 1;
    for (int i = 0; i < decimals; i++) scale *= 10;
    float rounded = value * (float)scale + (value < 0.0f ? -0.5f : 0.5f);
    int32_t fixed = (int32_t)rounded;
    uint32_t rest = fixed < 0 ? 0u - (uint32_t)fixed : (uint32_t)fixed;
    *--next = '\0';
    for (int i = 0; i <= decimals || rest; i++) {
        if (i == decimals && decimals > 0) *--next = '.';
        *--next = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (fixed < 0) *--next = '-';
    platform_print(next);
}

void platform_exit(int status) {
    const uint32_t arguments[2] = {0x20026u /* the application exits */, (uint32_t)status};
    semihosting(SYS_EXIT_EXTENDED, arguments);
    for (;;) {
    }
}
