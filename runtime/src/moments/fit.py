"""Makes the coefficients of logistic.rs: run `python3 fit.py` (numpy and scipy) and paste what it prints.

The moments of a sigmoid of N(m, v) are fitted in the coordinates

    rho = 1/sqrt(1 + pi v/8)    1 for a deterministic input, 0 for an infinitely uncertain one
    z   = |m| rho / 8           cut off at 1, beyond which V is below 3e-7

by two polynomials without a term in z**1 (the moments are even in m and must have no kink at m = 0):

    1 - E = 1/(1 + 2**eta),  eta = z (8 log2(e) + (1 - rho) MEAN(z, rho))
    V = w x/(1 + x),         w = E (1 - E),  x = w v rho 2**((1 - rho) SPREAD(z, rho))

Both forms are exact for v -> 0 (V -> v f'(m)**2) and for v -> infinity (V -> E (1 - E)), whatever the polynomials
are. A linear programme minimises the largest error, in units of the tolerances below, of mean and variance at
once: to first order both are linear in the coefficients. The monomials are those that greedy elimination from
all z**{0,2..6} rho**{0..4}, followed by pairwise swaps, left over.
"""

import numpy as np
from scipy.optimize import linprog
from scipy.special import expit, log_ndtr, ndtr

C = np.pi / 8
Z_SCALE = 8.0
# Exponents of (z, rho).
MEAN = [(0, 2), (0, 4), (2, 0), (2, 1), (2, 4), (3, 4), (4, 0), (4, 3), (4, 4)]
SPREAD = [(0, 0), (0, 1), (0, 4), (2, 0), (2, 1), (2, 2), (2, 3), (4, 1), (4, 3), (4, 4), (5, 3), (5, 4), (6, 4)]

# Half of what is promised for tanh, whose mean is twice and whose variance is four times the sigmoid's.
MEAN_TOLERANCE = 1.25e-4
VAR_TOLERANCE = 6.2e-5
VAR_RELATIVE_TOLERANCE = 0.015
SMALLEST_VAR = 2.5e-7
# Of dE/dv at v = 0, which training sees long before the error of E shows.
CURVATURE_TOLERANCE = 2.5e-4
# The promise holds for |m| <= 16, sqrt(v) <= 16 here; beyond, errors may be larger by these factors.
OUTSIDE, OUTSIDE_RELATIVE = 2.0, 30.0


def exact(m, v):
    """1 - E, V and E[f'] for m >= 0, by the trapezoidal rule: its error is below exp(-39) at this step."""
    s = np.sqrt(v)
    step = min(1 / 3, 0.5 / s)
    n = int(14 / step)
    t = np.arange(-n, n + 1) * step
    weight = np.exp(-t * t / 2)
    weight /= weight.sum()
    # Differences from the value at the mean, free of cancellation.
    at, f = expit(-m), expit(s * t - m)
    fall = np.expm1(-np.abs(s * t))
    d = np.where(t > 0, -f * (1 - at) * fall, (1 - f) * at * fall)
    shift = weight @ d
    return at + shift, weight @ (d * d) - shift * shift, weight @ (f * (1 - f))


def grid():
    """Rows of z, rho, m, v, 1 - E, w, V, E[f']/rho, eta."""
    zs = np.concatenate([np.linspace(0, 3, 31), np.linspace(3.1, 8.5, 55)])
    rhos = (1 + np.cos(np.linspace(0, np.pi, 61)[1:-1])) / 2
    for rho in rhos[rhos > 0.004]:
        for z in zs:
            m, v = z / rho, (rho**-2 - 1) / C
            p, var, slope = exact(m, v)
            yield z, rho, m, v, p, p * (1 - p), var, slope / rho, np.log((1 - p) / p)
    for z in zs:  # v -> infinity
        r = z * np.sqrt(C)
        p = ndtr(-r)
        density = np.sqrt(C / (2 * np.pi)) * np.exp(-r * r / 2)
        yield z, 0, np.inf, np.inf, p, p * (1 - p), p * (1 - p), density, log_ndtr(r) - log_ndtr(-r)


def fit():
    z, rho, m, v, p, w, var, slope, eta = np.array(list(grid())).T
    x = np.where(rho > 0, var / np.maximum(slope * rho, 1e-300), 1e12)
    log_spread = np.log(var * C / (slope * (1 - rho**2) * w))
    inside = (m <= 16.2) & (v <= 16.2**2)
    slack, slack_relative = np.where(inside, 1, OUTSIDE), np.where(inside, 1, OUTSIDE_RELATIVE)

    def monomials(exponents, z=z, rho=rho):
        cut = np.minimum(z / Z_SCALE, 1)
        return np.stack([cut**i * rho**j for i, j in exponents], 1) * np.log(2)

    # d(1-E) = -w d eta;  d ln V = -(1 + 1/(1 + x)) (2E - 1) d eta + d ln spread/(1 + x)
    mean_columns = monomials(MEAN) * ((1 - rho) * z / Z_SCALE)[:, None]
    spread_columns = monomials(SPREAD) * ((1 - rho) / (1 + x))[:, None]
    var_by_eta = -(1 + 1 / (1 + x)) * (1 - 2 * p)
    mean_tolerance = np.minimum(MEAN_TOLERANCE * slack / w, 1)
    relative = VAR_RELATIVE_TOLERANCE * slack_relative * np.maximum(1, SMALLEST_VAR / var)
    var_tolerance = np.minimum(np.minimum(relative, VAR_TOLERANCE * slack / var), 1)

    # At v = 0: d eta/dv = -m C/2 (1 - MEAN ln2/8) = f''/(2 f') = -tanh(m/2)/2.
    m0 = np.linspace(0.05, 8, 160)
    curvature_columns = monomials(MEAN, m0, np.ones_like(m0)) * (m0 * C / 2 / Z_SCALE)[:, None]
    curvature = m0 * C / 2 - np.tanh(m0 / 2) / 2
    curvature_tolerance = CURVATURE_TOLERANCE / (expit(m0) * expit(-m0))

    rows = np.block([
        [mean_columns, np.zeros_like(spread_columns)],
        [mean_columns * var_by_eta[:, None], spread_columns],
        [curvature_columns, np.zeros((len(m0), len(SPREAD)))],
    ])
    target = np.concatenate([eta - z, var_by_eta * (eta - z) + log_spread / (1 + x), curvature])
    tolerance = np.concatenate([mean_tolerance, var_tolerance, curvature_tolerance])
    rows, target = rows / tolerance[:, None], target / tolerance
    scale = np.abs(rows).max(0)
    ones = np.ones((len(rows), 1))
    worst = linprog(
        np.append(np.zeros(rows.shape[1]), 1),
        A_ub=np.block([[rows / scale, -ones], [-rows / scale, -ones]]),
        b_ub=np.concatenate([target, -target]),
        bounds=(None, None),
        method="highs-ds",
    )
    coefficients = worst.x[:-1] / scale
    return coefficients[: len(MEAN)], coefficients[len(MEAN) :], worst.x[-1]


if __name__ == "__main__":
    mean, spread, worst = fit()
    print(f"largest error in units of the tolerance: {worst:.3f}")
    for name, exponents, values in [("MEAN", MEAN, mean), ("SPREAD", SPREAD, spread)]:
        print(name)
        for (i, j), value in zip(exponents, values):
            print(f"  z^{i} rho^{j}: {value:.7g}")
