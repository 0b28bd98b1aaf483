#!/usr/bin/env python3
"""Fits instruction_weights.rs to instructions.json, the measurements of `cargo xtask bench --json`. No packages needed.

Instructions are those of the worst row. Cases marked held_out are not fitted; a test compares predictions with them.

    python3 instructions.py > instruction_weights.rs

Least squares on relative errors, with no weight below zero: sizes of the bench are few, parts grow together, and no part
of a step takes back instructions of another, but for two that stand for cheaper code than was summed up before.
"""
import json, os

CORES = ["M0", "M3", "M4F", "M33", "M55", "RV32"]
VECTORS = ["M55"]  # those among them whose kernels have vectors
# Layouts, and whether weights have variances: those are measured apart, because another code runs them.
LAYOUTS = [("fast", False), ("small", False), ("fast", True), ("mean", False)]
SCORED = 6  # place of the channels that are scored among the parts
APART = 8  # and of the blocks that count apart
READ = 4  # place of the units that are read as inputs among those of latent models
GATED = 3  # place of the lists of gated recurrent units among those of lists
GATES = {"elman": 1, "lstm": 4, "gru": 3}


def turn_of(case, cell):
    """Groups of rows that a layer's kernel takes at a time."""
    return 4 if case["core"] in VECTORS and case["layout"] != "small" and cell not in ("gru", "output") else 1


def parts(case):
    predicts = case["target"].startswith("next")
    outputs = case["inputs"] if predicts else 1
    return network_parts(case, case["cell"], case["inputs"], outputs, outputs if predicts else 0)


def network_parts(case, cell, inputs, outputs, scored=0):
    """The parts of one network; a dense layer has no state. Blocks of groups that are left over from turns count twice: in a turn
    two groups share what is read; and a turn has the moments of all its groups, whether they are there or not."""
    hidden = case["hidden"]
    up = lambda value, multiple: -(-value // multiple) * multiple
    state = 0 if cell == "dense" else hidden
    # The state begins a new pair of columns, in gated recurrent units a new block.
    maps = [(GATES.get(cell, 1) * hidden, up(inputs, 8 if cell == "gru" else 2) + state), (outputs, hidden)]
    # Units are filled in twice: for their own layer, and for the map above.
    groups = [(up(r, 4) // 4, up(c, 8) // 8, turn) for (r, c), turn in zip(maps, [turn_of(case, cell), 1])]
    layer, output = [(rows + rows % turn) * cols for rows, cols, turn in groups]
    apart = layer if is_apart(case, cell) else 0
    units = lambda kind: hidden if cell == kind else 0
    rows = sum(up(rows, turn) for rows, _, turn in groups)
    return [1, layer + output - apart, rows, units("lstm"), inputs, state + hidden, scored, units("gru"), apart]


def is_apart(case, cell):
    """Whether blocks and lists of a layer count apart: in most layouts GRUs have no kernel with vectors."""
    return case["core"] in VECTORS and cell == "gru"


def sparse_parts(case):
    """The same of a pruned network, where a map with lists has no blocks; and its maps with lists, lists, their pairs of columns, and lists of
    gated recurrent units, which some cores walk in compiled code; and pairs of these where they count apart."""
    inputs, hidden, cell = case["inputs"], case["hidden"], case["cell"]
    half = lambda value: -(-value // 2)
    outputs = inputs if case["target"].startswith("next") else 1
    groups = {"lstm": hidden, "gru": 3 * -(-hidden // 4), "elman": -(-hidden // 4)}[cell]
    numbers, maps, lists, pairs, gated, apart = parts(case), 0, 0, 0, 0, 0
    for count, columns, kind in [(groups, half(inputs) + half(hidden), cell), (-(-outputs // 4), half(hidden), "output")]:
        left = count * columns - int(case["pruned"] * count * columns + 0.5)
        # A list takes 17 bytes for each of 16: nearly all blocks are shorter without.
        if 17 * left < 16 * count * columns:
            is_gated, turn = is_apart(case, kind), turn_of(case, kind)
            maps, lists, pairs = maps + 1, lists + count, pairs + (0 if is_gated else left)
            gated, apart = gated + (count if kind == "gru" else 0), apart + (left if is_gated else 0)
            numbers[APART if is_gated else 1] -= (count + count % turn) * -(-2 * columns // 8)
    return numbers, [maps, lists, pairs, gated, apart]


def extension_parts(case):
    """Of an input density: itself, channels, their squares and cubes, as in a Cholesky factorisation; of the detection of
    faults with error bars that follow the truth: itself, channels, and outputs."""
    n, target = case["inputs"], case["target"]
    outputs = n if "next" in target else 1
    follows = "following" in target
    return [1, n, n * n, n * n * n] + ([1, n, outputs] if follows else [0, 0, 0])


def linear_parts(case):
    """Of a linear part: itself, inputs that enter its ring, and weights."""
    return [1, case["inputs"], case["inputs"] * int(case["target"][len("linear"):])]


def draw_count(case):
    """Draws of each look ahead; 0 if latents are fed by their moments."""
    return int(case["target"][len("draws"):]) if case["target"].startswith("draws") else 0


def latent_parts(case):
    """What a latent model adds to its networks: itself, channels; values that are drawn and averaged, where it has half as many
    latents as channels; recurrent units whose state is copied for each draw; and units that a denoiser's generative network reads,
    which are in the range of its codes and take less than inputs."""
    denoises = case["cell"] == "vosp"
    draws = (2 if denoises else 1) * draw_count(case)
    copied, read = (0, case["hidden"]) if denoises else (case["hidden"], 0)
    values = draws * (case["inputs"] + -(-case["inputs"] // 2))
    return [1, case["inputs"], values, draws * copied, max(draws, 2) * read]


def latent_base(case, weights):
    """What both networks of a latent model take: recognition once, generation as often as it runs."""
    channels, latents, hidden = case["inputs"], -(-case["inputs"] // 2), case["hidden"]
    looks, denoises = max(draw_count(case), 1), case["cell"] == "vosp"
    passes = 2 * looks if denoises else 1 + looks
    of = lambda cell, inputs, outputs: sum(weight * part for weight, part in zip(weights, network_parts(case, cell, inputs, outputs)))
    generative = of("dense", hidden + latents, channels) if denoises else of("lstm", channels + latents, channels)
    return of("lstm", channels, latents) + passes * generative


def fit(cases, parts, base=lambda case: 0, start=None, saved=None):
    """Weights that make the sum of squared relative errors smallest, one coordinate after the other; none below zero, but for that
    of a part which saves some of what the base has.

    With fewer cases than parts they begin at `start`, times one factor: what the cases do not tell apart stays in proportion."""
    lines = [[part / case["worst_instructions"] for part in parts(case)] for case in cases]
    weights = [0.0] * len(lines[0])
    misses = [1.0 - base(case) / case["worst_instructions"] for case in cases]
    if start and len(cases) < len(weights):
        shares = [sum(weight * part for weight, part in zip(start, line)) for line in lines]
        factor = sum(share * miss for share, miss in zip(shares, misses)) / sum(share ** 2 for share in shares)
        weights = [factor * weight for weight in start]
        misses = [miss - factor * share for share, miss in zip(shares, misses)]
    for _ in range(20_000):
        for i in range(len(weights)):
            size = sum(line[i] ** 2 for line in lines)
            if size:
                step = sum(line[i] * miss for line, miss in zip(lines, misses)) / size
                step = step if i == saved else max(step, -weights[i])
                weights[i] += step
                misses = [miss - step * line[i] for line, miss in zip(lines, misses)]
    return weights


folder = os.path.dirname(os.path.abspath(__file__))
measured = [case for case in json.load(open(os.path.join(folder, "instructions.json"))) if case["fits"]]
# Those that learn on the device are another handle, with labels that no prediction knows of.
measured = [case for case in measured if not case["target"].startswith("adapt")]
networks = [case for case in measured if case["cell"] in GATES and not case.get("held_out")]
counted = [case for case in networks if case["target"] in ("columns", "next")]
print("//! Written by `instructions.py`.\n\nuse quaver::checkpoint::Layout;\n")
print("/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM units, inputs, units filled in,")
print("/// channels scored, GRU units, blocks of GRUs where they count apart.")
print("pub(super) const PARTS: usize = 9;\n")
print("/// Instructions per part, by core, layout, and whether weights have variances.\n#[rustfmt::skip]")
varies = lambda case: case.get("weight_variance", False)
truth = lambda value: str(value).lower()
entries, weights = [], {}
for core in CORES:
    for layout, varied in LAYOUTS:
        cases = [case for case in counted if (case["core"], case["layout"], varies(case)) == (core, layout, varied)]
        if cases:
            found = fit(cases, parts, start=weights.get((core, "fast", False)))
            # Where no model that scores its inputs was measured: scores depend neither on the layout nor on weight variances.
            if not any(case["target"] == "next" for case in cases):
                found[SCORED] = weights[core, "fast", False][SCORED]
            weights[core, layout, varied] = found
            numbers = ", ".join(f"{weight:.3f}" for weight in found)
            entries.append(f'    ("{core}", Layout::{layout.capitalize()}, {truth(varied)}, [{numbers}]),')
print(f"pub(super) const WEIGHTS: [(&str, Layout, bool, [f64; PARTS]); {len(entries)}] = [")
print("\n".join(entries))
print("];")

print("\n/// Parts of the layout `sparse` that have a weight: maps with lists, lists, the pairs of columns in them, and")
print("/// lists of GRUs, which some cores walk in compiled code, and their pairs where they count apart.")
print("pub(super) const LIST_PARTS: usize = 5;\n")
print("/// Instructions per part of lists, by core and whether weights have variances, on top of what the layout")
print("/// `fast` takes without its blocks.\n#[rustfmt::skip]")
entries, lists = [], {}
for core in CORES:
    for varied in [False, True]:
        cases = [case for case in counted if (case["core"], case["layout"], varies(case)) == (core, "sparse", varied)]
        if cases:
            dense = lambda case: sum(weight * part for weight, part in zip(weights[core, "fast", varied], sparse_parts(case)[0]))
            # Some cores run dense GRUs with weight variances in compiled code, of which lists save a part.
            numbers = fit(cases, lambda case: sparse_parts(case)[1], dense, lists.get(core), GATED if varied else None)
            lists.setdefault(core, numbers)
            of_lists = lambda case: sum(weight * part for weight, part in zip(numbers, sparse_parts(case)[1]))
            # No prediction is better than a wrong one.
            if any(abs((dense(case) + of_lists(case)) / case["worst_instructions"] - 1) > 0.05 for case in cases):
                continue
            numbers = ", ".join(f"{weight:.3f}" for weight in numbers)
            entries.append(f'    ("{core}", {truth(varied)}, [{numbers}]),')
print(f"pub(super) const LIST_WEIGHTS: [(&str, bool, [f64; LIST_PARTS]); {len(entries)}] = [")
print("\n".join(entries))
print("];")

print("\n/// Parts of extensions that have a weight: the input density itself, its channels, their squares and cubes;")
print("/// following the truth and detecting faults, their channels, and outputs.")
print("pub(super) const EXTENSION_PARTS: usize = 7;\n")
print("/// Instructions per part of the extensions, by core, whatever the layout.\n#[rustfmt::skip]")
print(f"pub(super) const EXTENSION_WEIGHTS: [(&str, [f64; EXTENSION_PARTS]); {len(CORES)}] = [")
for core in CORES:
    extended = [case for case in networks if case["core"] == core and case["target"].split("-")[-1] in ("density", "following")]
    base = lambda case: sum(weight * part for weight, part in zip(weights[core, case["layout"], False], parts(case)))
    numbers = ", ".join(f"{weight:.3f}" for weight in fit(extended, extension_parts, base))
    print(f'    ("{core}", [{numbers}]),')
print("];")

print("\n/// Parts of a linear part that have a weight: itself, inputs that enter its ring, and weights.")
print("pub(super) const LINEAR_PARTS: usize = 3;\n")
print("/// Instructions per part of a linear part, by core, whatever the layout.\n#[rustfmt::skip]")
cores = [core for core in CORES if any(case["core"] == core and case["target"].startswith("linear") for case in networks)]
print(f"pub(super) const LINEAR_WEIGHTS: [(&str, [f64; LINEAR_PARTS]); {len(cores)}] = [")
for core in cores:
    linear = [case for case in networks if case["core"] == core and case["target"].startswith("linear")]
    base = lambda case: sum(weight * part for weight, part in zip(weights[core, case["layout"], False], parts(case)))
    numbers = ", ".join(f"{weight:.3f}" for weight in fit(linear, linear_parts, base))
    print(f'    ("{core}", [{numbers}]),')
print("];")

print("\n/// Parts of a latent model that have a weight: itself, channels, values that are drawn and averaged,")
print("/// recurrent units whose state is copied for each draw, and units that are read as inputs, which take less.")
print("pub(super) const LATENT_PARTS: usize = 5;\n")
print("/// Instructions per part of a latent model on top of its networks, by core.\n#[rustfmt::skip]")
is_latent = lambda case: case["cell"] in ("vosp", "storn") and (case["target"] == "follow" or draw_count(case) > 0)
latent = [case for case in measured if is_latent(case) and not case.get("held_out")]
cores = [core for core in CORES if any(case["core"] == core for case in latent)]
print(f"pub(super) const LATENT_WEIGHTS: [(&str, [f64; LATENT_PARTS]); {len(cores)}] = [")
for core in cores:
    base = lambda case: latent_base(case, weights[core, "fast", False])
    numbers = ", ".join(f"{weight:.3f}" for weight in fit([case for case in latent if case["core"] == core], latent_parts, base, saved=READ))
    print(f'    ("{core}", [{numbers}]),')
print("];")

print("\n/// Bytes of stack in a step (the worst row) and while loading, the most of all models that were measured, by")
print("/// core, cell, layout, and whether weights have variances; for a denoiser (`vosp`) and a sampler (`storn`)")
print("/// by the layout of both networks.\n#[rustfmt::skip]")
key_of = lambda case: (case["core"], case["cell"], case["layout"], varies(case))
keys = sorted({key_of(case) for case in measured if case["core"] in CORES}, key=lambda key: (CORES.index(key[0]), key))
most = lambda key, name: max(case[name] for case in measured if key_of(case) == key)
print(f"pub(super) const STACKS: [(&str, &str, Layout, bool, [u32; 2]); {len(keys)}] = [")
for key in keys:
    core, cell, layout, varied = key
    print(f'    ("{core}", "{cell}", Layout::{layout.capitalize()}, {truth(varied)}, [{most(key, "stack")}, {most(key, "load_stack")}]),')
print("];")
handle = lambda cells: max(case["handle"] for case in measured if case["cell"] in cells)
print("\n/// Bytes of a `Predictor`, and of a `Denoiser` or `Sampler`, on a core of 32 bits.")
print(f"pub(super) const HANDLES: [u32; 2] = [{handle(list(GATES))}, {handle(['vosp', 'storn'])}];")
