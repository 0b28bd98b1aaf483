"""Times training steps of a variance-propagating network in PyTorch, the way a careful user would write it.

    python bench_train.py CELL UNITS FORM STEPS COUNT

CELL is tanh or lstm, FORM the moments of sigmoid and tanh: accurate (Quaver's own) or paper (shorter, as published).
The network, its noise, its loss and its optimiser are those of trainer/examples/training_step.rs; weights and data are
drawn again, because time does not depend on them. Eager mode on two threads; the map of the inputs to pre-activations is
hoisted out of the loop over time, as in Quaver. Prints JSON.
"""

import json
import math
import sys
import time

import torch
import torch.nn.functional as F

LANES, KEYS, WARM_UP = 16, 88, 5
INPUT_KEEP, RECURRENT_KEEP, OUTPUT_KEEP = 0.9, 0.9, 0.5
LOG2_E = math.log2(math.e)


def dropout(mean, var, keep):
    """Moments of a unit that is kept with probability `keep`."""
    carried = keep * (1 - keep) * mean * mean
    return keep * mean, carried if var is None else carried + keep * var


def affine(mean, var, weight, bias=None):
    """Moments of an affine map with fixed weights (Bayer 2015, thesis, eqs. 17 and 18)."""
    return F.linear(mean, weight, bias), F.linear(var, weight * weight)


def product(a, b):
    """Moments of a product of independents (Bayer 2015, thesis, eqs. 14 and 15)."""
    (a_mean, a_var), (b_mean, b_var) = a, b
    return a_mean * b_mean, a_var * b_var + a_var * b_mean * b_mean + b_var * a_mean * a_mean


def paper_sigmoid(mean, var):
    """Bayer 2015, thesis, 2.3.4."""
    a, b = 4 - 2 * math.sqrt(2), -math.log(math.sqrt(2) - 1)
    first = torch.sigmoid(mean / torch.sqrt(1 + math.pi / 8 * var))
    second = torch.sigmoid(a * (mean - b) / torch.sqrt(1 + math.pi / 8 * a * a * var))
    return first, torch.clamp(second - first * first, min=0)


def accurate_sigmoid(mean, var):
    """Quaver's own form: see runtime/src/moments/logistic.rs."""
    rho = torch.rsqrt(1 + math.pi / 8 * var)
    doubt = 1 - rho
    reach = mean.abs() * rho / 8
    z = torch.clamp(reach, max=1)
    z2, rho2 = z * z, rho * rho
    rho4 = rho2 * rho2
    quadratic = rho * 16.02639 + rho4 * (z * -145.825 + 57.31571) + 13.20084
    quartic = rho * rho2 * (rho * 101.1231 - 30.64026) - 2.51213
    mean_correction = z2 * (z2 * quartic + quadratic) + rho2 * -1.914106 + rho4 * -1.137574
    constant = rho4 * -0.1980504 + rho * -0.7328633 + 0.6469397
    quadratic = rho * (rho * (rho * 50.41521 - 23.62039) + 18.23345) + 17.72756
    center = rho * (z * (z * -167.3624 + 434.2623) - 194.2702) + z * 29.05767 - 177.057
    spread_correction = z2 * (z2 * (rho * (rho2 * center + 17.52807)) + quadratic) + constant
    odds = torch.exp2(-torch.clamp(reach * (doubt * mean_correction + 8 * LOG2_E), max=126))
    hit = 1 / (1 + odds)
    miss = odds * hit
    bernoulli = miss * hit
    x = bernoulli * (var * rho * torch.exp2(doubt * spread_correction))
    return torch.where(mean < 0, miss, 1 - miss), bernoulli * x / (1 + x)


class Net(torch.nn.Module):
    """One recurrent layer and an output map, both on moments."""

    def __init__(self, cell, units, sigmoid):
        super().__init__()
        self.cell, self.units, self.sigmoid = cell, units, sigmoid
        rows = units * (4 if cell == "lstm" else 1)
        draw = lambda rows, columns: torch.nn.Parameter(torch.randn(rows, columns) / math.sqrt(columns))
        self.from_input, self.from_state, self.out = draw(rows, KEYS), draw(rows, units), draw(KEYS, units)
        self.bias = torch.nn.Parameter(torch.zeros(rows))
        self.out_bias = torch.nn.Parameter(torch.full((KEYS,), -0.8))

    def tanh(self, mean, var):
        mean, var = self.sigmoid(2 * mean, 4 * var)
        return 2 * mean - 1, 4 * var

    def forward(self, x):
        """Logits' moments for x [steps, lanes, keys]."""
        pre_mean, pre_var = affine(*dropout(x, None, INPUT_KEEP), self.from_input, self.bias)
        square = self.from_state * self.from_state
        state = memory = (x.new_zeros(LANES, self.units),) * 2
        means, variances = [], []
        # `unbind` rather than indexing: the gradient of an index copies the whole array at every step.
        for step_mean, step_var in zip(pre_mean.unbind(0), pre_var.unbind(0)):
            mean, var = dropout(*state, RECURRENT_KEEP)
            mean = torch.addmm(step_mean, mean, self.from_state.t())
            var = torch.addmm(step_var, var, square.t())
            state, memory = self.step(mean, var, memory)
            means.append(state[0])
            variances.append(state[1])
        noisy = dropout(torch.stack(means), torch.stack(variances), OUTPUT_KEEP)
        return affine(*noisy, self.out, self.out_bias)

    def step(self, mean, var, memory):
        """State and memory after one step, from the pre-activations."""
        if self.cell == "tanh":
            return self.tanh(mean, var), memory
        # The three gates are activated in one call.
        gates = self.sigmoid(mean[:, : 3 * self.units], var[:, : 3 * self.units])
        i, f, o = zip(*(moment.chunk(3, 1) for moment in gates))
        g = self.tanh(mean[:, 3 * self.units :], var[:, 3 * self.units :])
        kept, added = product(f, memory), product(i, g)
        memory = (kept[0] + added[0], kept[1] + added[1])
        return product(o, self.tanh(*memory)), memory


def main():
    cell, units, form, steps, count = sys.argv[1:]
    torch.set_num_threads(2)
    torch.manual_seed(1)
    sigmoid = accurate_sigmoid if form == "accurate" else paper_sigmoid
    net = Net(cell, int(units), sigmoid)
    adam = torch.optim.Adam(net.parameters(), lr=0.001)
    rolls = (torch.randn(int(steps) + 1, LANES, KEYS) > 1.7).float()
    x, target = rolls[:-1], rolls[1:]

    def step():
        adam.zero_grad()
        probability = sigmoid(*net(x))[0]
        loss = F.binary_cross_entropy(probability, target, reduction="sum") / (int(steps) * LANES)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 225.0)
        adam.step()

    milliseconds = []
    for index in range(WARM_UP + int(count)):
        begin = time.perf_counter()
        step()
        if index >= WARM_UP:
            milliseconds.append(1e3 * (time.perf_counter() - begin))
    print(json.dumps({"milliseconds": milliseconds, "version": torch.__version__}))


main()
