"""Arrays, frames and lists of them as rows of 32-bit floats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

# What numpy stores as a number: booleans, integers, floats.
_NUMBERS = "biuf"


@dataclass(frozen=True)
class Rows:
    """Sequences, one after the other."""

    values: np.ndarray  # (rows, channels), float32
    lengths: list[int]
    # The first dimensions of the results: (rows,), (sequences, rows), or None for a list of sequences.
    shape: Optional[tuple[int, ...]]

    def to_bytes(self) -> bytes:
        return self.values.tobytes()


def is_frame(X: Any) -> bool:
    """Whether this is a pandas frame, or something like one."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy")


def numbers(X: Any, what: str) -> np.ndarray:
    """An array of 32-bit floats; what has no number is refused."""
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise ValueError(f"{what} is not a regular array of numbers: {error}") from None
    if array.dtype.kind not in _NUMBERS:
        raise TypeError(f"{what} must be an array of numbers, but its dtype is {array.dtype}")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(array, dtype="<f4")


def columns(frame: Any, names: Sequence[str], what: str) -> np.ndarray:
    """Some columns of a frame as an array; missing values of any kind are NaN."""
    absent = [name for name in names if name not in frame.columns]
    if absent:
        there = ", ".join(str(name) for name in frame.columns)
        raise ValueError(f"{what} has no column {', '.join(absent)}; it has {there}")
    arrays = []
    for name in names:
        try:
            arrays.append(frame[name].to_numpy(dtype=np.float32, na_value=np.nan))
        except (TypeError, ValueError):
            raise TypeError(f"the column {name} of {what} does not hold numbers") from None
    return np.stack(arrays, axis=1) if arrays else np.empty((len(frame), 0), np.float32)


def _one(X: Any, width: int, names: Sequence[str], what: str) -> np.ndarray:
    if is_frame(X):
        if not names:
            X = X.to_numpy()
        else:
            X = columns(X, names, what)
    array = numbers(X, what)
    if array.ndim == 1 and width == 1:
        array = array[:, None]
    return array


def rows_of(X: Any, width: int, names: Sequence[str] = (), what: str = "X") -> Rows:
    """Rows of `width` channels: an array (rows, channels) or (sequences, rows, channels), a frame with the
    columns `names`, or a list of sequences."""
    if isinstance(X, (list, tuple)) and len(X) > 0 and (is_frame(X[0]) or np.ndim(X[0]) == 2):
        parts = [_one(part, width, names, f"{what}[{index}]") for index, part in enumerate(X)]
        for index, part in enumerate(parts):
            _check(part, 2, width, names, f"{what}[{index}]")
        return Rows(np.concatenate(parts), [len(part) for part in parts], None)
    array = _one(X, width, names, what)
    if array.ndim == 3:
        _check(array, 3, width, names, what)
        count, length = array.shape[:2]
        return Rows(array.reshape(count * length, width), [length] * count, (count, length))
    _check(array, 2, width, names, what)
    return Rows(array, [len(array)], (len(array),))


def _check(array: np.ndarray, dimensions: int, width: int, names: Sequence[str], what: str) -> None:
    if array.ndim != dimensions:
        raise ValueError(
            f"{what} has the shape {array.shape}; give (rows, {width}), (sequences, rows, {width}), or a list of "
            f"sequences"
        )
    if array.shape[-1] != width:
        listed = f": {', '.join(names)}" if names else ""
        raise ValueError(
            f"{what} has {array.shape[-1]} channels, in the shape {array.shape}, but the model has {width}{listed}"
        )


def row_of(row: Any, width: int, what: str = "row") -> bytes:
    """One row of `width` numbers, as bytes."""
    array = numbers(row, what)
    if array.shape != (width,):
        raise ValueError(f"{what} has the shape {array.shape}, but the model has {width} channels: give ({width},)")
    return array.tobytes()


def described(lengths: Sequence[int]) -> str:
    """Lengths of sequences, for messages."""
    shown = ", ".join(str(length) for length in lengths[:3]) + (", …" if len(lengths) > 3 else "")
    return f"{len(lengths)} sequence{'s' if len(lengths) != 1 else ''} of {shown} rows"


def floats(words: bytearray) -> np.ndarray:
    """Numbers of the compiled half."""
    return np.frombuffer(words, dtype="<f4")
