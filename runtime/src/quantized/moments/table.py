#!/usr/bin/env python3
"""Writes table.rs: the tables of quantized/moments/mod.rs, from integrals. Plain Python, some ten seconds.

    python3 table.py > table.rs

ROOTS: every entry is a word with a base in the upper half and a slope in the lower. The value at fraction f of the segment is the
upper half of word + slope * f, for a fraction of 15 bits: one multiply-accumulate reads and interpolates.

CELLS: every cell holds two planes over (tau, rho) as four words: constant of the mean, with 28 fractional bits; constant of the
ratio, with 27; slopes in tau, that of the mean in the lower half and that of the ratio in the upper; slopes in rho likewise. tau
has 13 fractional bits, rho 15. Planes fit their own cell alone and are not continuous: steps are within the error of the fit.
"""
import math

OCTAVES = 13                        # of v + OFFSET, from 2^11 down
OFFSET = 5 / 8                      # near 2/pi, where 1 + pi v/2 doubles, and short enough for an instruction
PARTS = 32                          # segments per octave
ROWS, CELLS, STEP = 8, 64, 1 / 16   # rho in steps of 1/8, tau in [0, 4) in steps of 1/16
NODES = 4                           # intervals between the points of a cell that a plane is fitted to, either way

TAU, RHO = 1 << 13, 1 << 15
MEAN, RATIO = 1 << 28, 1 << 27


def rho_of(v):
    """1/sqrt(1 + pi v/2), a little less where v is near 1: then E hardly depends on rho for a given tau."""
    return 1 / math.sqrt(1 + math.pi * v / 2 + v / (5 + 5 * v))


def variance_of(rho):
    """The inverse of rho_of: the positive root of a quadratic equation."""
    a, t = math.pi / 2, 1 / rho**2 - 1
    b = a + 0.2 - t
    return (math.sqrt(b * b + 4 * a * t) - b) / (2 * a)


def moments(tau, rho):
    """E[tanh(a)] and V[tanh(a)]/(v rho^2) for a of mean tau/rho and the variance v that belongs to rho."""
    if rho == 0:
        mean = math.erf(tau * math.sqrt(math.pi) / 2)
        return mean, (1 - mean * mean) * math.pi / 2
    m, v = tau / rho, variance_of(rho)
    at_m = math.tanh(m)
    if rho == 1:
        return at_m, (1 - at_m * at_m) ** 2
    s = math.sqrt(v)
    nodes = max(100, int(24 * s))
    total = first = second = 0.0
    for node in range(-nodes, nodes + 1):
        r = 8 * node / nodes
        weight = math.exp(-0.5 * r * r)
        # About tanh(m), so that a small variance does not cancel.
        value = math.tanh(m + s * r) - at_m
        total += weight
        first += weight * value
        second += weight * value * value
    shift = first / total
    return at_m + shift, (second / total - shift * shift) / (v * rho * rho)


def levelled(low, middle, high):
    """A node moved so that straight lines between nodes are off by as much on either side of the curve."""
    return middle - (low - 2 * middle + high) / 16


def word(begin, end):
    """Base and slope of a segment whose ends are in units of the base."""
    slope = round((end - begin) * 2)
    base = max(round(begin - (slope % 65536) / 65536), 0)
    assert 0 <= base < 32768 and -32768 <= slope < 32768, (begin, end)
    return base << 16 | slope % 65536


def roots():
    """rho in 15 bits, octaves of v + OFFSET from the highest down."""
    def rho(v):
        return 32767 * rho_of(max(v, 0))
    for octave in range(OCTAVES):
        start = 2.0 ** (11 - octave)
        def node(part):
            return levelled(*(rho(start * (1 + (part + d) / PARTS) - OFFSET) for d in (-1, 0, 1)))
        nodes = [min(node(part), 32767) for part in range(PARTS + 1)]
        yield [word(a, b) for a, b in zip(nodes, nodes[1:])]


def plane(points, one, tau_bits, rho_bits, fits):
    """The plane nearest to (tau, rho, value), as integers: constant and two slopes.

    Slopes by least squares, which separate on a grid; the constant so that the largest errors on both sides are equal, then
    moved until every corner `fits`.
    """
    count = len(points)
    middle = [sum(point[axis] for point in points) / count for axis in range(3)]
    def slope(axis):
        along = [point[axis] - middle[axis] for point in points]
        return sum(d * point[2] for d, point in zip(along, points)) / sum(d * d for d in along)
    by_tau, by_rho = round(slope(0) * one / tau_bits), round(slope(1) * one / rho_bits)
    assert max(abs(by_tau), abs(by_rho)) < 32768, (by_tau, by_rho)
    # The kernels cut fractions of tau and rho off: half a unit each is missing on average.
    rest = [p[2] * one - by_tau * (p[0] * tau_bits - 0.5) - by_rho * (p[1] * rho_bits - 0.5) for p in points]
    constant = round((max(rest) + min(rest)) / 2)
    ends = [(round(point[0] * tau_bits), round(point[1] * rho_bits)) for point in points]
    taus, rhos = sorted({tau for tau, _ in ends}), sorted({rho for _, rho in ends})
    for tau in (taus[0], taus[-1] - 1):
        for rho in (rhos[0], min(rhos[-1], 32768) - 1):
            constant += fits(constant + by_tau * tau + by_rho * rho, rho)
    return constant, by_tau % 65536, by_rho % 65536


def mean_fits(value, _):
    """What is missing to keep a mean within 0 and 1."""
    return -min(value, 0) + min(MEAN - 1 - value, 0)


def ratio_fits(value, rho):
    """What is missing to keep a ratio above 0 and its product with rho^2 below 1."""
    limit = int(RATIO * 32768**2 / max(rho * rho, 1)) - 4
    return -min(value, 0) + min(limit - value, 0)


def cells():
    taus = [STEP * node / NODES for node in range(CELLS * NODES + 1)]
    rhos = [node / NODES / ROWS for node in range(ROWS * NODES + 1)]
    grid = [[moments(tau, rho) for tau in taus] for rho in rhos]
    for row in range(ROWS):
        words = []
        for cell in range(CELLS):
            places = [(n + NODES * row, m + NODES * cell) for n in range(NODES + 1) for m in range(NODES + 1)]
            def value(n, m, which):
                # Everything beyond the last cell gets the value at its end: halfway to where tanh ends.
                beyond = (1 - grid[n][-1][0]) / 2 if cell == CELLS - 1 and which == 0 else 0
                return grid[n][m][which] + beyond
            def points(which):
                return [(taus[m], rhos[n], value(n, m, which)) for n, m in places]
            mean, mean_tau, mean_rho = plane(points(0), MEAN, TAU, RHO, mean_fits)
            ratio, ratio_tau, ratio_rho = plane(points(1), RATIO, TAU, RHO, ratio_fits)
            words += [mean, ratio, ratio_tau << 16 | mean_tau, ratio_rho << 16 | mean_rho]
        yield words


def rust(words):
    signed = [str(w - (1 << 32) if w >> 31 == 1 else w) for w in words]
    lines = [", ".join(signed[i:i + 8]) for i in range(0, len(signed), 8)]
    return "    " + ",\n    ".join(lines) + ","


def table(name, comment, rows, of):
    words = [word for row in rows for word in row]
    width = f"{len(words)}" if of == 1 else f"{len(words) // of}"
    kind = "i32" if of == 1 else f"[i32; {of}]"
    print(f"\n/// {comment}\npub(in crate::quantized) static {name}: [{kind}; {width}] = [")
    if of == 1:
        print(rust(words))
    else:
        signed = [str(w - (1 << 32) if w >> 31 == 1 else w) for w in words]
        for i in range(0, len(signed), 2 * of):
            groups = [signed[j:j + of] for j in range(i, i + 2 * of, of)]
            print("    " + ", ".join("[" + ", ".join(group) + "]" for group in groups) + ",")
    print("];")


print("//! Written by `table.py`: see there for what the words mean.\n")
print("#![cfg_attr(rustfmt, rustfmt_skip)]\n#![allow(clippy::unreadable_literal)]")
table("ROOTS", "ρ by octave of v + 5/8, from 2¹¹ down, and by part of the octave.", list(roots()), 1)
table("CELLS", "Planes of mean and variance ratio, by eighths of ρ and sixteenths of τ.", list(cells()), 4)
