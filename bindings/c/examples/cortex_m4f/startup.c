/* Start-up of a Cortex-M4F in the manner of CMSIS: vector table, initial values, floating-point unit, main. */
#include <stdint.h>

extern uint32_t stack_top[], data_start[], data_end[], data_load[], bss_start[], bss_end[];
int main(void);
void platform_exit(int status);

void Reset_Handler(void);

void Default_Handler(void) {
    platform_exit(2);
}

/* The first entry is the initial stack pointer, all others are functions. */
typedef union {
    uint32_t *stack;
    void (*handler)(void);
} vector;

__attribute__((section(".vectors"), used)) static const vector vectors[16] = {
    {.stack = stack_top},
    {.handler = Reset_Handler},
    {.handler = Default_Handler}, /* NMI */
    {.handler = Default_Handler}, /* HardFault */
    {.handler = Default_Handler}, /* MemManage */
    {.handler = Default_Handler}, /* BusFault */
    {.handler = Default_Handler}, /* UsageFault */
};

static void copy_initial_values(void) {
    const uint32_t *from = data_load;
    for (uint32_t *to = data_start; to < data_end; to++) *to = *from++;
    for (uint32_t *to = bss_start; to < bss_end; to++) *to = 0;
}

void Reset_Handler(void) {
    /* Full access to the floating-point unit, coprocessors 10 and 11, before any of its instructions. */
    volatile uint32_t *const CPACR = (volatile uint32_t *)0xE000ED88u;
    *CPACR |= 0xFu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
    copy_initial_values();
    platform_exit(main());
}
