"""The golden streams, bit for bit, as streams/src/replay.rs replays them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import quaver
from conftest import ROOT, bits

FNV_OFFSET, FNV_PRIME, MASK = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1
# Futures and steps of rollouts; rows after which reducers are taught, and before which a second sequence begins.
FUTURES, AHEAD, LESSONS, SECOND = 5, 6, (8, 14), 25


def fnv1a(data: bytes, value: int = FNV_OFFSET) -> int:
    for byte in data:
        value = (value ^ byte) * FNV_PRIME & MASK
    return value


def numbers(step: quaver.Step) -> list[Any]:
    """Every number of a prediction, in the order of streams/src/fingerprint.rs."""
    found: list[Any] = [step.mean, step.epistemic, step.aleatoric]
    if step.surprise is not None:
        found += [[step.surprise], step.z]
    if step.novelty is not None:
        found.append([step.novelty])
    if step.anomaly is not None:
        found.append([step.anomaly.score])
    return found + [step.implausible]


def truth(model: quaver.Model, row: np.ndarray) -> np.ndarray:
    """A row as a truth about the outputs: any will do, and what is beyond its end is not known."""
    values = np.full(model.outputs, np.nan, np.float32)
    values[: len(row)] = row[: model.outputs]
    return values


def follow(model: quaver.Model, rows: np.ndarray) -> Iterable[Any]:
    stream = model.start()
    for row in rows:
        yield from numbers(stream.step(row))
        if model.kind == "predictor":
            stream.observe(truth(model, row))


def adapt(model: quaver.Model, rows: np.ndarray, covariance: str) -> Iterable[Any]:
    stream = model.adaptive(covariance=covariance, forgetting=0.95, correlation=4.0)
    for row in rows:
        stream.learn(truth(model, row))
        yield from numbers(stream.step(row))


def text(model: quaver.Model, rows: np.ndarray) -> Iterable[Any]:
    stream, none = model.start(), (1 << 64) - 1
    for row in rows:
        ones = np.flatnonzero(row == 1.0)
        yield from numbers(stream.step_token(int(ones[0]) if len(ones) else none))
    yield from numbers(stream.step_token(none))
    chance = quaver.Random(fnv1a(b"text"))
    for temperature in (1.0, 0.7, 2.5, 0.0):
        for _ in range(AHEAD):
            yield from numbers(stream.step_token(stream.draw_class(chance, temperature)))


def sample(model: quaver.Model, rows: np.ndarray) -> Iterable[Any]:
    stream = model.start()
    for row in rows:
        stream.step(row)
    chance = quaver.Random(fnv1a(b"sample"))
    for feed in ("draw", "mean"):
        yield stream.sample(AHEAD, chance, feed).ravel()
    yield from numbers(stream.step([0.5, np.nan, -0.25]))


def rollouts(model: quaver.Model, rows: np.ndarray) -> Iterable[Any]:
    levels = (0.1, 0.5, 0.9)
    found = model.sample(rows, AHEAD, draws=FUTURES, seed=quaver.Random(fnv1a(b"fan")), quantiles=levels)
    for ahead in range(AHEAD):
        for channel in range(3):
            yield [found.mean[ahead, channel], found.std_dev[ahead, channel]]
            yield [found.quantiles[level][ahead, channel] for level in levels]


def reduce(model: quaver.Model, rows: np.ndarray) -> Iterable[Any]:
    try:
        stream = model.reducer(new_classes=1, examples=len(LESSONS))
    except ValueError:  # classes are not told apart by prototypes
        stream = model.reducer()
    for index, row in enumerate(rows):
        if index == SECOND:
            stream.begin()
        stream.step(row)
        if index in LESSONS:
            stream.teach(model.classes)
        embedding = stream.embedding()
        assert embedding is not None
        yield from (embedding.mean, embedding.variance)
        found = stream.classify()
        if found is not None:
            yield [found.index, found.novelty, float(found.known)]
            yield [] if found.distance is None else [found.distance]
            yield found.probabilities


def replay(model: quaver.Model, task: str, rows: np.ndarray) -> Iterable[Any]:
    if task in ("adapt", "adaptdiagonal"):
        return adapt(model, rows, "full" if task == "adapt" else "diagonal")
    return {"follow": follow, "text": text, "sample": sample, "rollouts": rollouts, "reduce": reduce}[task](model, rows)


def test_golden_streams(golden_folder: Path) -> None:
    lines = (ROOT / "tests" / "golden" / "streams.txt").read_text().splitlines()
    expected = {line.split()[0]: line for line in lines if not line.startswith("#")}
    found = {}
    for entry in (golden_folder / "index.txt").read_text().splitlines():
        name, task, inputs = entry.split()
        rows = np.fromfile(golden_folder / f"{name}.rows", "<f4").reshape(-1, int(inputs))
        model = quaver.Model.load(golden_folder / f"{name}.qvr")
        words = np.concatenate([np.asarray(part, "<f4").ravel() for part in replay(model, task, rows)])
        found[name] = f"{name} steps={len(rows)} hash={fnv1a(words.tobytes()):016X}"
    assert len(found) > 400
    differing = [name for name in expected if found.get(name) != expected[name]]
    assert not differing, f"{len(differing)} of {len(expected)} streams: {differing[:10]}"
    assert found.keys() == expected.keys()


FIXTURES = sorted((ROOT / "tests" / "fixtures").glob("*.qvr"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_checkpoints_of_the_past_answer_with_the_same_bits(path: Path) -> None:
    model = quaver.Model.load(path)
    lines = path.with_suffix(".txt").read_text().splitlines()
    rows = [bits(line.split()[1:]) for line in lines if line.startswith("row")]
    expected = [line.split()[1:] for line in lines if line.startswith("outputs")]
    assert len(rows) == len(expected) > 0
    stream = model.reducer() if model.kind == "reducer" else model.start()
    for row, words in zip(rows, expected):
        answer = stream.step(row)
        if answer is not None:
            parts = [answer.mean, answer.epistemic, answer.aleatoric]
            if model.kind == "predictor":
                stream.observe(truth(model, row))
        else:
            embedding, found = stream.embedding(), stream.classify()
            parts = [embedding.mean, embedding.variance]
            if found is not None:
                parts += [found.probabilities, [found.novelty]]
        numbers = np.concatenate([np.asarray(part, np.float32).ravel() for part in parts])
        assert [f"{word:08x}" for word in numbers.view(np.uint32)] == words
