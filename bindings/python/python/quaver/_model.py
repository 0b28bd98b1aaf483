"""A checkpoint, and what it does with whole sequences."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Optional, Union, overload

import numpy as np

from . import _program, _quaver
from ._arrays import Rows, described, floats, rows_of
from ._results import Classification, Embedding, Futures, Prediction, classification, predictions, record_width
from ._stream import AdaptiveStream, Reducer, Seed, Stream, check_count

# How a file begins that holds a signature around a checkpoint.
_SIGNED = b"QVSG"


class Model:
    """A model in the runtime: a predictor, a denoiser, a sampler or a reducer (``kind``).

    It is immutable, may be used by several threads, and can be pickled. Predictions have the bits that a
    microcontroller computes.
    """

    def __init__(self, checkpoint: bytes) -> None:
        self._model = _quaver.Model(bytes(checkpoint))

    @classmethod
    def load(cls, source: Union[str, os.PathLike[str], bytes]) -> Model:
        """Reads a checkpoint, a file that ``quaver export`` or ``Run.export`` wrote, or the bytes of one, and checks
        all of it."""
        if isinstance(source, (bytes, bytearray, memoryview)):
            return cls(bytes(source))
        path = Path(source)
        content = path.read_bytes()
        if content.startswith(_SIGNED):
            raise ValueError(
                f"{path} is a signed checkpoint; verify it and take the checkpoint out with "
                f"`quaver verify {path} --key KEY.pub -o MODEL.qvr`, then load that file"
            )
        try:
            return cls(content)
        except ValueError as error:
            raise ValueError(f"{path} is not a usable checkpoint: {error}") from None

    def __reduce__(self) -> Any:
        return type(self), (self.checkpoint,)

    def __repr__(self) -> str:
        return f"<quaver.Model: {self.kind}, {self.inputs} inputs, {self.outputs} outputs>"

    @property
    def kind(self) -> str:
        """"predictor", "denoiser", "sampler" or "reducer"."""
        return self._model.kind

    @property
    def checkpoint(self) -> bytes:
        """The bytes of the checkpoint."""
        return self._model.checkpoint

    @property
    def inputs(self) -> int:
        """Channels of a row."""
        return self._model.inputs

    @property
    def outputs(self) -> int:
        """Outputs of a prediction; of a reducer, components of an embedding."""
        return self._model.outputs

    @property
    def input_names(self) -> list[str]:
        """Names of the channels; empty if they have none."""
        return self._model.input_names

    @property
    def output_names(self) -> list[str]:
        """Names of the outputs; empty if they have none."""
        return self._model.output_names

    @property
    def classes(self) -> int:
        """Number of a reducer's classes."""
        return self._model.classes

    @property
    def class_names(self) -> list[str]:
        """Names of a reducer's classes; empty if they have none."""
        return self._model.class_names

    @property
    def predicts_next(self) -> bool:
        """Whether predictions are of the next row."""
        return self._model.predicts_next

    @property
    def arena_words(self) -> int:
        """Four-byte words of RAM that a stream takes on a device."""
        return self._model.arena_words

    # Whole sequences.

    @overload
    def predict(self, X: Sequence[np.ndarray], *, threads: Optional[int] = None) -> list[Prediction]: ...
    @overload
    def predict(self, X: Any, *, threads: Optional[int] = None) -> Prediction: ...
    def predict(self, X: Any, *, threads: Optional[int] = None) -> Union[Prediction, list[Prediction]]:
        """Predicts after every row of X, each sequence from the start.

        X is an array (rows, channels) or (sequences, rows, channels), a frame with columns of the names of the
        inputs, or a list of sequences, for which the result is a list; NaN is a missing value. Sequences are
        divided among ``threads``, by default one per core, without the interpreter's lock.
        """
        self._expect("predict", "predictor", "denoiser", "sampler")
        rows = self._rows(X)
        return self._predictions(rows, _quaver.predict(self._model, rows.to_bytes(), rows.lengths, _threads(threads)))

    @overload
    def denoise(self, X: Sequence[np.ndarray], *, threads: Optional[int] = None) -> list[Prediction]: ...
    @overload
    def denoise(self, X: Any, *, threads: Optional[int] = None) -> Prediction: ...
    def denoise(self, X: Any, *, threads: Optional[int] = None) -> Union[Prediction, list[Prediction]]:
        """Denoisers: estimates of the rows of X without their noise, from past and present rows alone."""
        self._expect("denoise", "denoiser")
        found: Union[Prediction, list[Prediction]] = self.predict(X, threads=threads)
        return found

    def adapt(
        self,
        X: Any,
        y: Any,
        *,
        covariance: str = "full",
        prior: float = 1.0,
        forgetting: float = 0.9999,
        correlation: float = 100.0,
        threads: Optional[int] = None,
    ) -> Union[Prediction, list[Prediction]]:
        """Predicts after every row while the output layer learns: y, (rows, outputs), NaN where there is no label, is
        learned after the row's prediction was made. Every sequence begins with the exported layer."""
        self._expect("adapt", "predictor")
        rows, labels = self._rows(X), rows_of(y, self.outputs, self.output_names, "y")
        if rows.lengths != labels.lengths:
            raise ValueError(f"X has {described(rows.lengths)}, and y {described(labels.lengths)}")
        options = ((covariance, prior, forgetting, correlation), labels.to_bytes())
        records = _quaver.predict(self._model, rows.to_bytes(), rows.lengths, _threads(threads), options)
        return self._predictions(rows, records)

    def sample(
        self,
        prefix: Any,
        steps: int,
        *,
        draws: int = 1,
        seed: Seed = 1,
        feed: str = "draw",
        quantiles: Sequence[float] = (0.05, 0.5, 0.95),
    ) -> Futures:
        """Samplers: continuations of the rows of ``prefix`` (None: from nothing), the same for the same seed."""
        self._expect("sample", "sampler")
        stream = self.start()
        rows = np.empty((0, self.inputs), np.float32) if prefix is None else self._rows(prefix, "prefix").values
        for row in rows:
            stream.step(row)
        return stream.futures(draws, steps, seed, feed, quantiles)

    def embed(self, X: Any, *, threads: Optional[int] = None) -> Embedding:
        """Reducers: the point of each sequence of X."""
        rows, (words, _) = self._reduced(X, "embed", threads)
        mean, variance = floats(words).reshape(len(rows.lengths), 2, -1).transpose(1, 0, 2)
        single = rows.shape is not None and len(rows.shape) == 1
        return Embedding(mean[0], variance[0]) if single else Embedding(mean, variance)

    def classify(
        self, X: Any, *, threads: Optional[int] = None
    ) -> Union[Optional[Classification], list[Optional[Classification]]]:
        """Reducers: the class of each sequence of X; a list unless X is one sequence."""
        rows, (_, classes) = self._reduced(X, "classify", threads)
        found = [classification(one) for one in classes]
        return found[0] if rows.shape is not None and len(rows.shape) == 1 else found

    # Streams.

    def start(self) -> Stream:
        """A stream that reads row by row. Many streams may be started; they share the weights."""
        self._expect("start", "predictor", "denoiser", "sampler")
        return Stream(self._model)

    def adaptive(
        self, *, covariance: str = "full", prior: float = 1.0, forgetting: float = 0.9999, correlation: float = 100.0
    ) -> AdaptiveStream:
        """A stream whose output layer learns from labels."""
        self._expect("adaptive", "predictor")
        return AdaptiveStream(self._model, (covariance, prior, forgetting, correlation))

    def reducer(self, *, new_classes: int = 0, examples: int = 0) -> Reducer:
        """A stream of a reducer; with memory to be taught ``examples`` examples of old classes and ``new_classes``
        new ones."""
        self._expect("reducer", "reducer")
        if new_classes and not examples:
            raise ValueError("new classes are taught by examples: give the number of examples, too")
        return Reducer(self._model, None, (new_classes, examples) if examples else None)

    # By the command line.

    def inspect(self) -> dict[str, Any]:
        """Contents and requirements: what ``quaver inspect --json`` prints."""
        with self._file() as path:
            return _program.json_of("inspect", path)

    def eval(self, data: Any, **options: Any) -> dict[str, Any]:
        """Scores on data, compared with baselines: what ``quaver eval --json`` prints.

        ``data`` is a config whose ``[data]`` names the files: the path of a TOML file, or a dictionary. Options are
        those of ``quaver eval``: ``split="valid"``, ``missing=[1, 2]``, ``no_baselines=True``.
        """
        with self._file() as path, _program.config_file(data) as (config, folder):
            return _program.json_of("eval", path, data=config, **{"data_dir": folder, **options})

    @contextmanager
    def _file(self) -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.qvr"
            path.write_bytes(self.checkpoint)
            yield path

    # Conversions.

    def _expect(self, method: str, *kinds: str) -> None:
        if self.kind not in kinds:
            others = {"reducer": "embed, classify and reducer", "denoiser": "denoise and start"}
            uses = others.get(self.kind, "predict and start")
            raise ValueError(f"{method} is for a {' or '.join(kinds)}, and this model is a {self.kind}: use {uses}")

    def _rows(self, X: Any, what: str = "X") -> Rows:
        return rows_of(X, self.inputs, self.input_names, what)

    def _predictions(self, rows: Rows, words: bytearray) -> Union[Prediction, list[Prediction]]:
        records = floats(words).reshape(len(rows.values), record_width(self.outputs))
        quantiles = self._model.quantiles
        if rows.shape is not None:
            return predictions(records.reshape(*rows.shape, record_width(self.outputs)), self.outputs, quantiles)
        ends = np.cumsum(rows.lengths)[:-1]
        return [predictions(part, self.outputs, quantiles) for part in np.split(records, ends)]

    def _reduced(self, X: Any, method: str, threads: Optional[int]) -> Any:
        self._expect(method, "reducer")
        rows = self._rows(X)
        return rows, _quaver.reduce(self._model, rows.to_bytes(), rows.lengths, _threads(threads))


def _threads(threads: Optional[int]) -> int:
    if threads is not None:
        return check_count(threads, "threads")
    # Those that this process may use, where the system says.
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
