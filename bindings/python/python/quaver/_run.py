"""Run folders."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np

from . import _program
from ._model import Model

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PathLike = Union[str, "os.PathLike[str]"]


class Run:
    """The folder of a run: what ``quaver.fit``, ``quaver.train`` and ``quaver train`` leave."""

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        if not (self.folder / "config.toml").is_file():
            raise FileNotFoundError(errno.ENOENT, f"there is no run in this folder, no config.toml: {self.folder}")
        # What the last export, and an import, have measured.
        self.export_report: dict[str, Any] = {}
        self.import_report: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<quaver.Run: {self.folder}, {len(self._epochs())} epochs>"

    @property
    def config(self) -> dict[str, Any]:
        """The config as it ran, with all defaults."""
        found: dict[str, Any] = tomllib.loads((self.folder / "config.toml").read_text(encoding="utf-8"))
        return found

    @property
    def metrics(self) -> Any:
        """Metrics of every epoch: a pandas frame with the epoch as index if pandas is installed, else a dictionary
        of arrays."""
        columns = columns_of(self._epochs())
        try:
            import pandas  # type: ignore[import-untyped, unused-ignore]
        except ImportError:
            return columns
        return pandas.DataFrame(columns).set_index("epoch")

    @property
    def best_epoch(self) -> Optional[int]:
        """The epoch whose state is evaluated and exported; None before the first."""
        best = [epoch["epoch"] for epoch in self._epochs() if epoch["best"]]
        return best[-1] if best else None

    def export(self, path: PathLike, *, weights: str = "int8", **options: Any) -> Model:
        """Writes the best model as a checkpoint, evaluated by the runtime before, and loads it.

        Options are those of ``quaver export``: ``calibrate=True``, ``layout="small"``, ``track=True``, ``c=True``.
        The costs of quantization are the attribute ``export_report`` of the run.
        """
        self.export_report = _program.json_of("export", self.folder, weights=weights, output=path, **options)
        return Model.load(path)

    def eval(self, data: Any = None, **options: Any) -> dict[str, Any]:
        """Scores of the trained network on the test data of its config, or on other data, compared with baselines:
        what ``quaver eval --json`` prints; see ``Model.eval``."""
        if data is None:
            return _program.json_of("eval", self.folder, **options)
        with _program.config_file(data) as (config, folder):
            return _program.json_of("eval", self.folder, data=config, **{"data_dir": folder, **options})

    def resume(
        self,
        *,
        epochs: Optional[int] = None,
        callback: Optional[Callable[[dict[str, Any]], Any]] = None,
        verbose: bool = True,
    ) -> Run:
        """Continues the run exactly where it stopped, up to ``epochs`` if that is given."""
        from ._train import train

        overrides: Mapping[str, Any] = {} if epochs is None else {"training.epochs": epochs}
        config = self.folder / "config.toml"
        return train(config, self.folder, resume=True, set=overrides, callback=callback, verbose=verbose)

    def _epochs(self) -> list[dict[str, Any]]:
        return epochs_in(self.folder)


def epochs_in(folder: Path) -> list[dict[str, Any]]:
    """The metrics of the epochs of a run, up to the first line that is not whole."""
    try:
        text = (folder / "metrics.jsonl").read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    found = []
    for line in text.split("\n")[:-1]:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            break
    return found


def columns_of(epochs: list[dict[str, Any]]) -> dict[str, np.ndarray]:
    """Metrics by name; the names of every run come first, also where it has no epoch yet."""
    always = ["epoch", "train_nll", "valid_nll", "gradient_norm", "clipped", "best"]
    names = list(dict.fromkeys(always + [name for epoch in epochs for name in epoch]))
    return {name: np.array([epoch.get(name, np.nan) for epoch in epochs]) for name in names}
