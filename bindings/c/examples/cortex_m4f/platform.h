/* What the firmware needs of its board: somewhere to print to, and an end. */
#ifndef PLATFORM_H
#define PLATFORM_H

void platform_print(const char *text);
void platform_print_number(float value, int decimals);
void platform_exit(int status);

#endif
