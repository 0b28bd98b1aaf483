// What a loop needs of Linux to be on time: locked memory, a priority of its own, absolute deadlines.
#ifndef REALTIME_HPP
#define REALTIME_HPP

#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace realtime {

constexpr int priority = 80;

inline std::int64_t now_ns() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Sleeps until a point in time. An absolute one: errors of single periods do not add up.
inline void sleep_until_ns(std::int64_t deadline) {
    timespec time;
    time.tv_sec = static_cast<time_t>(deadline / 1'000'000'000);
    time.tv_nsec = static_cast<long>(deadline % 1'000'000'000);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) == EINTR) {
    }
}

// Keeps every page in RAM, now and later; null, or why it is not allowed.
inline const char *lock_memory() {
    return mlockall(MCL_CURRENT | MCL_FUTURE) == 0 ? nullptr : std::strerror(errno);
}

// Runs before everything that is not real-time; null, or why it is not allowed.
inline const char *raise_priority() {
    sched_param parameters{};
    parameters.sched_priority = priority;
    return sched_setscheduler(0, SCHED_FIFO, &parameters) == 0 ? nullptr : std::strerror(errno);
}

} // namespace realtime

#endif
