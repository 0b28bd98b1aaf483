"""What models answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from ._arrays import floats


@dataclass(frozen=True)
class Prediction:
    """Predictions of all rows of one sequence, or of a batch, in raw units.

    All arrays have the first dimensions of X. ``surprise`` is the negative log-likelihood of a row in nats,
    ``novelty`` its squared distance from the training rows per channel, ``anomaly`` a score with the limit 1;
    each is NaN where the model does not compute it.
    """

    mean: np.ndarray
    variance: np.ndarray
    epistemic: np.ndarray
    aleatoric: np.ndarray
    surprise: np.ndarray
    novelty: np.ndarray
    anomaly: np.ndarray
    _quantiles: Callable[[float], list[float]] = field(repr=False, compare=False)

    @property
    def std_dev(self) -> np.ndarray:
        """The square root of the variance."""
        return np.asarray(np.sqrt(self.variance))

    def interval(self, level: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of the central interval of a level: by the checkpoint's conformal quantiles if it has them,
        else those of a normal distribution."""
        half = np.asarray(self._quantiles(check_level(level)), np.float32) * self.std_dev
        return self.mean - half, self.mean + half


def check_level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1, found {level}")
    return level


def record_width(outputs: int) -> int:
    """Numbers of a record: four of every output, and three scores of the row."""
    return 4 * outputs + 3


def predictions(records: np.ndarray, outputs: int, quantiles: Callable[[float], list[float]]) -> Prediction:
    """Of records (..., record_width) as the compiled half writes them."""
    parts = [np.ascontiguousarray(records[..., part * outputs : (part + 1) * outputs]) for part in range(4)]
    scores = [np.ascontiguousarray(records[..., 4 * outputs + score]) for score in range(3)]
    mean, variance, epistemic, aleatoric = parts
    surprise, novelty, anomaly = scores
    return Prediction(mean, variance, epistemic, aleatoric, surprise, novelty, anomaly, quantiles)


@dataclass(frozen=True)
class Anomaly:
    """The most suspicious statistic of a row: what it has seen, in which channel (None: the row as a whole), and
    its score, with the limit 1."""

    kind: str
    channel: Optional[int]
    score: float


@dataclass(frozen=True)
class Step:
    """The prediction of a stream after a row, in raw units.

    ``surprise`` (nats) and ``z`` (one per channel, NaN where it was missing) score the row just read, ``novelty``
    is its squared distance from the training rows per channel, and ``familiar`` the limit of familiar ones; None
    where the model does not compute them. ``implausible`` lists channels that were outside of their plausible
    range, and treated as missing.
    """

    mean: np.ndarray
    variance: np.ndarray
    epistemic: np.ndarray
    aleatoric: np.ndarray
    surprise: Optional[float]
    z: Optional[np.ndarray]
    novelty: Optional[float]
    familiar: Optional[float]
    anomaly: Optional[Anomaly]
    implausible: list[int]

    @property
    def std_dev(self) -> np.ndarray:
        """The square root of the variance."""
        return np.asarray(np.sqrt(self.variance))


def step(found: Any) -> Step:
    """Of what the compiled half returns."""
    words, surprise, novelty, anomaly, implausible = found
    mean, variance, epistemic, aleatoric = floats(words).reshape(4, -1)
    nll, z = (None, None) if surprise is None else (surprise[0], floats(surprise[1]))
    distance, familiar = novelty or (None, None)
    suspicious = None if anomaly is None else Anomaly(*anomaly)
    return Step(mean, variance, epistemic, aleatoric, nll, z, distance, familiar, suspicious, implausible)


@dataclass(frozen=True)
class Futures:
    """Sampled continuations: ``values`` (draws, steps, channels); over the draws ``mean``, ``std_dev`` (steps,
    channels), and ``quantiles``, an array (steps, channels) for every level."""

    values: np.ndarray
    mean: np.ndarray
    std_dev: np.ndarray
    quantiles: dict[float, np.ndarray]


@dataclass(frozen=True)
class Embedding:
    """Mean and variance of every component: (components,), or (sequences, components)."""

    mean: np.ndarray
    variance: np.ndarray


@dataclass(frozen=True)
class Classification:
    """The class of a sequence.

    ``index`` counts the checkpoint's classes, then those that were taught; ``name`` is None for the latter.
    ``known`` is False where ``novelty`` exceeds the checkpoint's threshold: it is none of the classes.
    """

    index: int
    name: Optional[str]
    distance: Optional[float]
    novelty: float
    known: bool
    probabilities: np.ndarray

    @property
    def probability(self) -> float:
        """Of the class."""
        return float(self.probabilities[self.index])


def classification(found: Any) -> Optional[Classification]:
    """Of what the compiled half returns."""
    if found is None:
        return None
    index, name, distance, novelty, known, probabilities = found
    return Classification(index, name, distance, novelty, known, floats(probabilities))
