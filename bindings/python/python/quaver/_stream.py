"""Streams: a model that reads row by row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, TypeVar, Union

import numpy as np

from . import _quaver
from ._arrays import floats, row_of
from ._results import Classification, Embedding, Futures, Step, check_level, classification, step

Seed = Union[int, _quaver.Random]
_S = TypeVar("_S", bound="_Stream")


def random(seed: Seed) -> _quaver.Random:
    return seed if isinstance(seed, _quaver.Random) else _quaver.Random(seed)


def check_count(value: int, what: str) -> int:
    if value < 1:
        raise ValueError(f"{what} must be at least 1, found {value}")
    return value


class _Stream:
    """What all streams have in common."""

    def __init__(self, model: _quaver.Model, adapt: Any = None, teach: Any = None) -> None:
        self._model, self._adapt, self._teach = model, adapt, teach
        self._stream = _quaver.Stream(model, adapt, teach)

    def reset(self) -> None:
        """Forgets every row. What was learned from labels or taught stays."""
        self._stream.reset()

    @property
    def implausible_count(self) -> int:
        """Values outside of their plausible ranges since the stream was started or reset."""
        return self._stream.implausible_count()

    def save(self) -> np.ndarray:
        """The state of the stream as numbers, to be stored and restored, here or in a later program."""
        return floats(self._stream.save())

    def restore(self, state: Any) -> None:
        """Continues from a saved state of this model; a state that cannot be one is refused, and nothing changes."""
        self._stream.restore(np.ascontiguousarray(state, dtype="<f4").tobytes())

    def fork(self: _S) -> _S:
        """A copy of the stream that goes on by itself."""
        other = type(self)(self._model, self._adapt, self._teach)
        other._stream.restore(bytes(self._stream.save()))
        return other

    def _read(self, row: Any, variance: Any) -> Any:
        inputs = self._model.inputs
        var = b"" if variance is None else row_of(variance, inputs, "variance")
        return self._stream.step(row_of(row, inputs), var)


class Stream(_Stream):
    """A stream of a predictor, a denoiser or a sampler, from ``Model.start``."""

    def step(self, row: Any, variance: Any = None) -> Step:
        """Reads a row, NaN where a value is missing, and predicts; ``variance`` is that of its values, if they are
        uncertain themselves."""
        return step(self._read(row, variance))

    def step_token(self, token: int) -> Step:
        """Reads a token by its index, for models of text; one beyond the vocabulary is a missing one."""
        return step(self._stream.step_token(token))

    @property
    def prediction(self) -> Step:
        """The last prediction; before the first row, the prediction of it."""
        return step(self._stream.prediction())

    def expected(self) -> Step:
        """Denoisers: the prediction of the next row, noise included."""
        return step(self._stream.expected())

    def interval(self, level: float = 0.9) -> np.ndarray:
        """Predictors: both ends of the central interval of a level around every output, (outputs, 2)."""
        return np.asarray(self._stream.interval(check_level(level)), np.float32)

    def observe(self, truth: Any) -> None:
        """Predictors that were exported with ``track``: the truth about the last prediction, NaN where it is not
        known; the width of the error bars follows."""
        self._stream.observe(row_of(truth, self._model.outputs, "truth"))

    def draw_class(self, seed: Seed, temperature: float = 1.0) -> int:
        """Models of classes or text: a draw from the last prediction."""
        if not temperature >= 0:
            raise ValueError(f"temperature must not be negative, found {temperature}")
        return self._stream.draw_class(temperature, random(seed))

    def sample(self, steps: int, seed: Seed, feed: str = "draw") -> np.ndarray:
        """Samplers: the next rows, (steps, channels), each fed back, so that the stream then is as if it had read
        them. ``feed`` is "draw", or "mean" for rows without noise."""
        words = _quaver.sample(self._stream, check_count(steps, "steps"), random(seed), feed)
        return floats(words).reshape(steps, -1)

    def futures(
        self, draws: int, steps: int, seed: Seed, feed: str = "draw", quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Futures:
        """Samplers: many continuations from here. The stream stays where it is."""
        for level in quantiles:
            if not 0 <= level <= 1:
                raise ValueError(f"quantiles must be from 0 to 1, found {level}")
        size = (check_count(draws, "draws"), check_count(steps, "steps"))
        found = _quaver.futures(self._stream, size, random(seed), feed, list(quantiles))
        values, means, std_devs, levels = (floats(words) for words in found)
        channels = self._model.outputs
        by_level = levels.reshape(len(quantiles), steps, channels)
        return Futures(
            np.ascontiguousarray(values.reshape(steps, draws, channels).transpose(1, 0, 2)),
            means.reshape(steps, channels),
            std_devs.reshape(steps, channels),
            dict(zip(quantiles, by_level)),
        )


class AdaptiveStream(_Stream):
    """A stream of a predictor whose output layer learns from labels, from ``Model.adaptive``."""

    def step(self, row: Any, variance: Any = None) -> Step:
        """Reads a row and predicts with what was learned so far."""
        return step(self._read(row, variance))

    @property
    def prediction(self) -> Step:
        """The last prediction; before the first row, the prediction of it."""
        return step(self._stream.prediction())

    def learn(self, truth: Any) -> bool:
        """Learns the true values of what was just predicted, NaN where there is none; whether there was anything
        to learn. A model of its own next input learns the row before it reads it."""
        return self._stream.learn(row_of(truth, self._model.outputs, "truth"))

    def forget(self) -> None:
        """Forgets what was learned, and continues the stream."""
        self._stream.forget()


class Reducer(_Stream):
    """A stream of a reducer, from ``Model.reducer``: rows in, one uncertain point out, and its class."""

    def begin(self) -> None:
        """Begins a sequence: forgets all rows, and keeps what was taught."""
        self._stream.reset()

    def step(self, row: Any, variance: Any = None) -> None:
        """Reads a row."""
        self._read(row, variance)

    def embedding(self) -> Optional[Embedding]:
        """The point of the rows in the window; None before the first."""
        words = _quaver.embedding(self._stream)
        return None if words is None else Embedding(*floats(words).reshape(2, -1))

    def classify(self) -> Optional[Classification]:
        """The class of the rows in the window; None before the first, and without a classifier."""
        return classification(_quaver.classify(self._stream))

    def teach(self, index: int) -> bool:
        """Teaches that the rows just read are an example of a class; those from the number of the checkpoint's on
        are new ones. False if there is no such class or no memory left."""
        return _quaver.teach(self._stream, index)

    @property
    def taught(self) -> np.ndarray:
        """What was taught, to be stored."""
        return floats(_quaver.taught(self._stream))

    def restore_taught(self, taught: Any) -> None:
        """Takes over what was taught before, to a stream of the same model."""
        if not _quaver.restore_taught(self._stream, np.ascontiguousarray(taught, dtype="<f4").tobytes()):
            raise ValueError("this was not taught to a stream of this model, or there is no room for it here")

    def forget(self) -> None:
        """Forgets what was taught."""
        self._stream.forget()

    def fork(self) -> Reducer:
        """A copy of the stream, with what was taught."""
        other = super().fork()
        if len(self.taught):
            other.restore_taught(self.taught)
        return other
