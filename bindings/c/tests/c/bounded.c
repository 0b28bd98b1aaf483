/* A step makes no system call and no allocation: it runs where the kernel would kill the process for one, and every
 * allocation is counted. Linux only. */
#define _GNU_SOURCE
#include <linux/seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "grip_force.h"

static unsigned long allocations;

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size) {
    allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *pointer, size_t size) {
    allocations++;
    return __libc_realloc(pointer, size);
}

static QUAVER_ARENA(arena, GRIP_FORCE_ARENA_WORDS);

/* The kernel allows nothing but read, write, _exit and sigreturn from here on. */
static int forbid_system_calls(void) {
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
}

int main(int count, char **arguments) {
    /* With an argument, the check itself is checked: an allocation and a system call have to be found. */
    const int control = count > 1 ? atoi(arguments[1]) : 0;
    quaver_predictor *predictor;
    float row[GRIP_FORCE_INPUTS], saved[GRIP_FORCE_SAVED_WORDS];
    quaver_output force;
    quaver_score score;
    if (forbid_system_calls()) {
        perror("seccomp");
        return 77; /* not here */
    }
    const unsigned long before = allocations;
    int32_t failed =
        quaver_predictor_load(grip_force_model, sizeof grip_force_model, arena, GRIP_FORCE_ARENA_WORDS, &predictor);
    for (unsigned i = 0; i < 10000; i++) {
        for (unsigned j = 0; j < GRIP_FORCE_INPUTS; j++) row[j] = (float)((7 * i + 13 * j) % 41);
        if (i % 5 == 0) row[i % GRIP_FORCE_INPUTS] = 0.0f / 0.0f;
        failed |= quaver_predictor_step(predictor, row, GRIP_FORCE_INPUTS, &force, 1);
        failed |= quaver_predictor_score(predictor, &score);
        failed |= quaver_predictor_observe(predictor, &force.mean, 1);
        failed |= quaver_predictor_save(predictor, saved, GRIP_FORCE_SAVED_WORDS);
        failed |= quaver_predictor_restore(predictor, saved, GRIP_FORCE_SAVED_WORDS);
    }
    if (control == 1) {
        void *volatile block = malloc(16); /* volatile, or the compiler leaves both calls out */
        free(block);
    }
    if (control == 2) syscall(SYS_getpid);
    const char *text = "10000 steps without system call and allocation\n";
    if (failed || allocations != before) text = "a call failed, or allocations were made\n";
    const ssize_t written = write(1, text, strlen(text));
    syscall(SYS_exit, failed || allocations != before || written < 0);
}
