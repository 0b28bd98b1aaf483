// Quaver as an Arduino library: quaver.h, and quaver.hpp where the core compiles C++17.
#ifndef QUAVER_ARDUINO_H
#define QUAVER_ARDUINO_H

#include "quaver.h"

#if __cplusplus >= 201703L
#include "quaver.hpp"
#endif

#endif
