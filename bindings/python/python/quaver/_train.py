"""Training: on arrays and frames, or as a config describes."""

from __future__ import annotations

import errno
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Optional

from . import _program, _toml
from ._run import PathLike, Run, epochs_in
from ._table import is_names, is_path, names_of, table_of, write

Callback = Optional[Callable[[dict[str, Any]], Any]]


def train(
    config: Any,
    out: PathLike,
    *,
    data_dir: Optional[PathLike] = None,
    init_from: Optional[PathLike] = None,
    set: Optional[Mapping[str, Any]] = None,
    resume: bool = False,
    force: bool = False,
    callback: Callback = None,
    verbose: bool = True,
) -> Run:
    """Trains the model of a config and keeps the run in the folder ``out``: what ``quaver train`` does.

    ``config`` is the path of a TOML file or a dictionary with the same keys, whose paths are relative to the current
    folder; ``set`` overrides values, as in ``{"training.epochs": 5}``. ``callback`` gets the metrics of every epoch,
    a dictionary with "epoch", "train_nll", "valid_nll", "best" and others, when the epoch has been saved; what it
    raises ends the run. So does Ctrl-C: the run continues with ``resume``, with the bits of one that was never
    stopped.
    """
    folder = Path(out)
    given: dict[str, Any] = {"out": folder, "from": init_from, "resume": resume, "force": force}
    given["set"] = _toml.overrides(set)
    observer = _Observer(folder, callback, verbose, len(epochs_in(folder)) if resume else 0)
    with _program.config_file(config) as (file, relative_to):
        given["data_dir"] = relative_to if data_dir is None else data_dir
        _program.run(["train", str(file), *_program.options(given)], observer.line)
    return Run(folder)


class _Observer:
    """Follows the progress of a run."""

    def __init__(self, folder: Path, callback: Callback, verbose: bool, done: int) -> None:
        self._folder, self._callback, self._verbose, self._done = folder, callback, verbose, done

    def line(self, line: str) -> None:
        if self._verbose and not line.startswith(("error: ", "note: ")):
            print(line, file=sys.stderr, flush=True)
        # The line of an epoch is printed when its metrics and state have been saved.
        if self._callback is not None and line.startswith("epoch"):
            epochs = epochs_in(self._folder)
            for metrics in epochs[self._done :]:
                self._callback(metrics)
            self._done = len(epochs)


def fit(
    X: Any,
    y: Any = None,
    *,
    out: PathLike,
    valid: Any = None,
    test: Any = None,
    config: Optional[Mapping[str, Any]] = None,
    inputs: Optional[Sequence[str]] = None,
    targets: Optional[Sequence[str]] = None,
    resume: bool = False,
    callback: Callback = None,
    verbose: bool = True,
) -> Run:
    """Trains a model that predicts y from the rows of X, or the next row of X if there is no y.

    X and y are arrays (rows, channels) or (sequences, rows, channels), or lists of sequences; NaN is a missing value.
    Or X is a frame, a list of frames, or the path of a file of rows or a list of those, and y the names of the
    columns to predict. ``inputs`` and ``targets`` name the channels of arrays, or select columns. ``valid`` and
    ``test`` are more of the same: (X, y), or X alone where y is names or None; without ``valid``, a part of X is set
    aside. ``config`` has the other keys of a config: ``{"model": {"cell": "gru"}, "training": {"epochs": 50}}``.

    The run is kept in the folder ``out``, arrays and frames as CSV files in ``out/data``, so that the run can be
    resumed, exported and evaluated later.
    """
    folder = Path(out)
    data = dict((config or {}).get("data", {}))
    taken = [key for key in ("train", "valid", "test", "inputs", "targets") if key in data]
    if taken and not (taken == ["targets"] and y is None and not is_path(X)):
        raise ValueError(f"config: data.{taken[0]} is given by the arguments of fit: leave it out, or use quaver.train")
    if not resume and (folder / "last.state").exists():
        raise FileExistsError(errno.EEXIST, f"there is a run in this folder: resume it, or choose another: {folder}")
    splits = {"train": (X, y), "valid": _pair(valid, y), "test": _pair(test, y)}
    for split, (rows, labels) in splits.items():
        if rows is None:
            continue
        if is_path(rows):
            data[split] = rows if isinstance(rows, (list, tuple)) else [rows]
            data["targets"] = names_of(y) if y is not None else data.get("targets", "next")
            if inputs is not None:
                data["inputs"] = list(inputs)
            continue
        table = table_of(rows, labels, inputs, targets, split)
        path = (folder / "data" / f"{split}.csv").absolute()
        write(path, table, keep=resume)
        data[split] = [path]
        data["inputs"] = table.inputs
        data.setdefault("targets", "next")
        if table.targets:
            data["targets"] = table.targets
    whole = {**(config or {}), "data": data}
    return train(whole, folder, resume=resume, callback=callback, verbose=verbose)


def _pair(split: Any, y: Any) -> tuple[Any, Any]:
    """Rows and labels of a split; names of columns are those of X."""
    if split is None or y is None or is_names(y):
        return split, y
    if not (isinstance(split, tuple) and len(split) == 2):
        raise ValueError("give valid and test as (X, y), because y is an array")
    return split
