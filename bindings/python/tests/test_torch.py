"""Networks of PyTorch's, by the outputs that are kept in trainer/tests/pytorch; and by PyTorch itself, if it is there."""

from __future__ import annotations

import importlib.util
import json
import struct
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import quaver
from conftest import ROOT

PYTORCH = ROOT / "trainer" / "tests" / "pytorch"
CASES = [f"{cell}_{layers}" for cell in ("tanh", "relu", "lstm", "gru") for layers in (1, 2)] + ["scaled_lstm_1"]
DTYPES = {"F64": "<f8", "F32": "<f4"}


def table(name: str) -> np.ndarray:
    return np.loadtxt(PYTORCH / f"{name}.csv", delimiter=",", skiprows=1)


def config(cell: str, layers: int) -> dict:
    train, valid = ({"file": PYTORCH / "rows.csv", "rows": rows} for rows in ("..40", "40.."))
    data = {"train": train, "valid": valid, "inputs": ["a", "b", "c"], "targets": ["y", "z"]}
    return {"data": data, "model": {"cell": cell, "layers": [5] * layers}}


def module(case: str) -> SimpleNamespace:
    """What stands for a module: the tensors of a file by their names."""
    content = (PYTORCH / f"{case}.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    tensors = {}
    for name, facts in json.loads(content[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in facts["data_offsets"])
            tensors[name] = np.frombuffer(content[begin:end], DTYPES[facts["dtype"]]).reshape(facts["shape"])
    return SimpleNamespace(state_dict=lambda: tensors)


def check(run: quaver.Run, folder: Path, expected: np.ndarray) -> None:
    """Outputs in f32 are those of PyTorch, to 1e-5 of the larger of their magnitude and 1."""
    model = run.export(folder / "model.qvr", weights="f32", no_ranges=True)
    found = model.predict(table("rows")[:, :3]).mean
    assert (np.abs(found - expected) / np.maximum(np.abs(expected), 1)).max() < 1e-5
    assert (model.predict(table("rows")[:, :3]).variance > 0).all()


@pytest.mark.parametrize("case", CASES)
def test_outputs_are_those_of_pytorch(case: str, tmp_path: Path) -> None:
    cell, layers = case.removeprefix("scaled_").split("_")
    run = quaver.from_torch(module(case), config(cell, int(layers)), tmp_path / "run")
    assert [output["name"] for output in run.import_report["outputs"]] == ["y", "z"]
    check(run, tmp_path, table(case))


def test_every_tensor_must_have_its_place(tmp_path: Path) -> None:
    tensors = module("lstm_1").state_dict()
    more = SimpleNamespace(state_dict=lambda: {**tensors, "norm.weight": np.ones(5)})
    fewer = SimpleNamespace(state_dict=lambda: {name: t for name, t in tensors.items() if "bias_hh" not in name})
    for wrong, message in ((more, "^more than one linear layer: `norm`"), (fewer, "bias_hh_l0")):
        with pytest.raises(ValueError, match=message):
            quaver.from_torch(wrong, config("lstm", 1), tmp_path / "run")
    assert not (tmp_path / "run" / "last.state").exists()


if importlib.util.find_spec("torch") is not None:

    def test_a_live_module(tmp_path: Path) -> None:
        import torch

        torch.manual_seed(3)

        class Live(torch.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.body = torch.nn.GRU(3, 5, num_layers=2, batch_first=True)
                self.head = torch.nn.Linear(5, 2)

            def forward(self, rows: torch.Tensor) -> torch.Tensor:
                return self.head(self.body(rows)[0])

        live = Live().eval()
        with torch.no_grad():
            expected = live(torch.tensor(table("rows")[None, :, :3], dtype=torch.float32))[0].numpy()
        check(quaver.from_torch(live, config("gru", 2), tmp_path / "run"), tmp_path, expected)
