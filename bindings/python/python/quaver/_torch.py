"""Networks of PyTorch as runs."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Optional

import numpy as np

from . import _program, _toml
from ._run import PathLike, Run


def from_torch(
    module: Any,
    like: Any,
    out: PathLike,
    *,
    scaling: Optional[Mapping[str, Any]] = None,
    bias: bool = True,
    set: Optional[Mapping[str, Any]] = None,
) -> Run:
    """Makes a run of a trained ``nn.Module``: one nn.RNN, nn.LSTM or nn.GRU, stacked or not, and one nn.Linear behind
    it. What ``quaver import`` does.

    ``like`` is a config, the path of a TOML file or a dictionary, with the data (``data.train``, ``data.valid``,
    inputs and targets in the order of the network's) and the network (``model.cell``, ``model.layers``). If the
    network reads and predicts scaled values, ``scaling`` has "input_mean", "input_std", "target_mean" and
    "target_std", unless they are buffers of the module. Every tensor must have its place. The error bar is fitted to
    the validation rows, because the network has none of its own; ``run.import_report`` has its scores there.
    """
    tensors = {name: numbers_of(tensor) for name, tensor in module.state_dict().items()}
    tensors.update({name: np.atleast_1d(numbers_of(values)) for name, values in (scaling or {}).items()})
    with tempfile.TemporaryDirectory() as folder, _program.config_file(like) as (config, relative_to):
        weights = Path(folder) / "weights.safetensors"
        weights.write_bytes(safetensors(tensors))
        given = {"out": out, "data_dir": relative_to, "no_bias": not bias, "set": _toml.overrides(set)}
        try:
            report = _program.json_of("import", weights, like=config, **given)
        except ValueError as error:
            # Nobody knows the file.
            raise ValueError(str(error).replace(f"{weights}: ", "")) from None
    run = Run(out)
    run.import_report = report
    return run


def numbers_of(tensor: Any) -> np.ndarray:
    """A tensor, of whatever device and precision, or anything that numpy takes."""
    if hasattr(tensor, "detach"):
        tensor = tensor.detach().cpu().double().numpy()
    return np.asarray(tensor, "<f8")


def safetensors(tensors: Mapping[str, np.ndarray]) -> bytes:
    """A file of safetensors: the length of its header, the header, and the numbers of each tensor in turn."""
    header, end = {}, 0
    for name, tensor in tensors.items():
        begin, end = end, end + tensor.nbytes
        header[name] = {"dtype": "F64", "shape": list(tensor.shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + b"".join(tensor.tobytes() for tensor in tensors.values())
