#!/usr/bin/env python3
"""Writes fixed_table.rs: the tables of moments/fixed.rs, from integrals. Plain Python, a few seconds.

    python3 fixed_table.py > fixed_table.rs

Every entry is a word: base in the upper half, slope in the lower. The value at fraction f of the segment is the upper half
of word + slope * f, so that one multiply-accumulate reads and interpolates. f has 15 bits in ROOTS and 13 in CELLS.
"""
import math

OCTAVES, HIGHEST = 32, 11       # variances from 2^-20 to 2^12
PARTS = 16                      # segments per octave
ROWS, CELLS, STEP = 16, 64, 1 / 16  # rho in steps of 1/16, tau in [0, 4) in steps of 1/16


def moments(tau, rho):
    """E[tanh(a)] and V[tanh(a)]/(v rho^2) for a of mean tau/rho and variance v = (1/rho^2 - 1) 2/pi."""
    tau, sign = abs(tau), math.copysign(1, tau)
    if rho == 0:
        mean = math.erf(tau * math.sqrt(math.pi) / 2)
        return sign * mean, (1 - mean * mean) * math.pi / 2
    m, v = tau / rho, (1 / rho**2 - 1) * 2 / math.pi
    at_m = math.tanh(m)
    if v == 0:
        return sign * at_m, (1 - at_m * at_m) ** 2
    s = math.sqrt(v)
    nodes = max(200, int(48 * s))
    total = first = second = 0.0
    for node in range(-nodes, nodes + 1):
        r = 9 * node / nodes
        weight = math.exp(-0.5 * r * r)
        # About tanh(m), so that a small variance does not cancel.
        value = math.tanh(m + s * r) - at_m
        total += weight
        first += weight * value
        second += weight * value * value
    shift = first / total
    return sign * (at_m + shift), (second / total - shift * shift) / (v * rho * rho)


def levelled(low, middle, high):
    """A node moved so that straight lines between nodes are off by as much on either side of the curve."""
    return middle - (low - 2 * middle + high) / 16


def word(begin, end, bits):
    """Base and slope of a segment whose ends are in units of the base, for fractions of some bits."""
    slope = round((end - begin) * 2 ** (16 - bits))
    base = max(round(begin - (slope % 65536) / 65536), 0)
    assert 0 <= base < 32768 and -32768 <= slope < 32768, (begin, end)
    return base << 16 | slope % 65536


def roots():
    """1/sqrt(1 + pi v/2) in 15 bits, octaves from the highest down."""
    def rho(v):
        return 32767 / math.sqrt(1 + math.pi * v / 2)
    for octave in range(OCTAVES):
        start = 2.0 ** (HIGHEST - octave)
        nodes = [levelled(*(rho(start * (1 + (part + d) / PARTS)) for d in (-1, 0, 1))) for part in range(PARTS + 1)]
        yield [word(min(a, 32767), min(b, 32767), 15) for a, b in zip(nodes, nodes[1:])]


def cells():
    grid = [[moments(STEP * (cell - 1), row / ROWS) for cell in range(CELLS + 3)] for row in range(ROWS + 1)]
    def node(row, cell, which):
        here = grid[row][cell + 1][which]
        value = levelled(grid[row][cell][which], here, grid[row][cell + 2][which])
        if 0 < row < ROWS:
            value += levelled(grid[row - 1][cell + 1][which], here, grid[row + 1][cell + 1][which]) - here
        return max(value, 0) if cell or which else 0
    for row in range(ROWS + 1):
        means = [min(32768 * node(row, cell, 0), 32767) for cell in range(CELLS + 1)]
        # Everything beyond the last node gets its value: halfway to where tanh ends.
        means[-1] = (means[-1] + 32767) / 2
        ratios = [16384 * node(row, cell, 1) for cell in range(CELLS + 1)]
        yield [pair for cell in range(CELLS) for pair in
               (word(means[cell], means[cell + 1], 13), word(ratios[cell], ratios[cell + 1], 13))]


def rust(words):
    signed = [str(w - (1 << 32) if w >> 31 else w) for w in words]
    lines = [", ".join(signed[i:i + 8]) for i in range(0, len(signed), 8)]
    return "    [\n        " + ",\n        ".join(lines) + ",\n    ],"


def table(name, comment, rows, width):
    print(f"\n/// {comment}\npub(crate) static {name}: [[i32; {width}]; {len(rows)}] = [")
    print("\n".join(rust(row) for row in rows))
    print("];")


print("//! Written by `fixed_table.py`: see there for what the words mean.\n")
print("#![cfg_attr(rustfmt, rustfmt_skip)]\n#![allow(clippy::unreadable_literal)]")
table("ROOTS", "ρ by octave of the variance, from 2¹¹ down, and by sixteenth of an octave.", list(roots()), PARTS)
table("CELLS", "Mean and variance ratio side by side, by sixteenths of ρ and of τ.", list(cells()), 2 * CELLS)
