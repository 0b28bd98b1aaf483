"""Arrays and frames as files of rows that the trainer reads."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np

from . import _quaver
from ._arrays import columns, described, is_frame, numbers

# The column whose changes divide a frame, and a file, into sequences.
_SEQUENCE = "sequence"


@dataclass(frozen=True)
class Table:
    """Sequences of named columns."""

    inputs: list[str]
    targets: list[str]
    values: np.ndarray  # (rows, inputs and targets), float32
    lengths: list[int]


def is_path(X: Any) -> bool:
    """Whether this is a path of a file, or a list of paths."""
    one = X[0] if isinstance(X, (list, tuple)) and len(X) > 0 else X
    return isinstance(one, (str, os.PathLike))


def is_names(y: Any) -> bool:
    """Whether these are names of columns, one or several."""
    return isinstance(y, str) or (isinstance(y, (list, tuple)) and all(isinstance(name, str) for name in y))


def names_of(y: Any) -> list[str]:
    """Names of columns from one name or several."""
    if not is_names(y):
        raise TypeError(f"y must be the names of columns where X is a frame or a file, found {type(y).__name__}")
    return [y] if isinstance(y, str) else list(y)


def table_of(
    X: Any, y: Any, inputs: Optional[Sequence[str]], targets: Optional[Sequence[str]], split: str
) -> Table:
    """Rows and labels of a split."""
    what = "X" if split == "train" else f"X of {split}"
    parts = X if isinstance(X, (list, tuple)) and len(X) > 0 and (is_frame(X[0]) or np.ndim(X[0]) == 2) else [X]
    if is_frame(parts[0]):
        table = _of_frames(parts, [] if y is None else names_of(y), inputs, what)
    else:
        table = _of_arrays(X, y, inputs, targets, what)
    infinite = np.argwhere(np.isinf(table.values))
    if len(infinite):
        row, column = infinite[0]
        name = (table.inputs + table.targets)[column]
        raise ValueError(f"{what}: the value of {name} in row {row} is infinite in 32 bits; give NaN if it is missing")
    return table


def _of_frames(frames: Sequence[Any], targets: list[str], inputs: Optional[Sequence[str]], what: str) -> Table:
    others = [name for name in frames[0].columns if name not in targets and name != _SEQUENCE]
    names = [str(name) for name in others] if inputs is None else list(inputs)
    values, lengths = [], []
    for frame in frames:
        values.append(columns(frame, names + targets, what))
        if _SEQUENCE in frame.columns:
            marks = frame[_SEQUENCE].to_numpy()
            starts = np.flatnonzero(marks[1:] != marks[:-1]) + 1
            lengths += np.diff([0, *starts, len(marks)]).tolist()
        else:
            lengths.append(len(frame))
    return Table(names, targets, np.concatenate(values), lengths)


def _of_arrays(
    X: Any, y: Any, inputs: Optional[Sequence[str]], targets: Optional[Sequence[str]], what: str
) -> Table:
    rows, lengths = _rows(X, what)
    if y is None:
        labels = np.empty((len(rows), 0), np.float32)
    else:
        labels, labelled = _rows(y, what.replace("X", "y"))
        if labelled != lengths:
            raise ValueError(f"{what} has {described(lengths)}, and y {described(labelled)}")
    names = _names(inputs, rows.shape[1], "x", "inputs")
    return Table(
        names, _names(targets, labels.shape[1], "y", "targets"), np.concatenate([rows, labels], 1), lengths
    )


def _rows(X: Any, what: str) -> tuple[np.ndarray, list[int]]:
    """Rows of any number of channels; a one-dimensional array is one channel."""
    if isinstance(X, (list, tuple)) and len(X) > 0 and np.ndim(X[0]) >= 1 and not np.isscalar(X[0]):
        ragged = len({np.shape(part) for part in X}) > 1 or np.ndim(X[0]) == 2
        if ragged:
            parts = [_rows(part, f"{what}[{index}]")[0] for index, part in enumerate(X)]
            if len({part.shape[1] for part in parts}) > 1:
                raise ValueError(f"the sequences of {what} have {[part.shape[1] for part in parts]} channels")
            return np.concatenate(parts), [len(part) for part in parts]
    array = numbers(X, what)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim == 3:
        return array.reshape(len(array) * array.shape[1], array.shape[2]), [array.shape[1]] * len(array)
    if array.ndim != 2:
        raise ValueError(f"{what} has the shape {array.shape}; give (rows, channels) or (sequences, rows, channels)")
    return array, [len(array)]


def _names(names: Optional[Sequence[str]], count: int, letter: str, what: str) -> list[str]:
    if names is None:
        return [f"{letter}{index}" for index in range(count)]
    if len(names) != count:
        raise ValueError(f"{what} has {len(names)} names for {count} channels")
    return list(names)


def write(path: Path, table: Table, keep: bool) -> None:
    """Writes a file as a whole. With `keep`, one that is there must have the same rows."""
    header = io.StringIO()
    csv.writer(header, lineterminator="\n").writerow(table.inputs + table.targets)
    width = len(table.inputs) + len(table.targets)
    text = _quaver.csv(header.getvalue(), table.values.astype("<f4").tobytes(), width, table.lengths).encode()
    if keep and path.exists():
        if path.read_bytes() != text:
            raise ValueError(
                f"these are not the rows that the run was started with, which are in {path}: resume it with the same "
                f"rows, or start another run in another folder"
            )
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(text)
    os.chmod(file.name, 0o644)
    os.replace(file.name, path)
