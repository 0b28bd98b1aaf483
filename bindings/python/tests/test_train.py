"""Training: arrays, frames, files and configs; callbacks, interruptions, run folders."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas
import pytest

import quaver
from quaver import _program, _toml

CONFIG = {
    "model": {"cell": "gru", "layers": [6]},
    "training": {"epochs": 3, "learning_rate": 0.01, "batch": 2, "chunk": 20},
}
LONG = {**CONFIG, "training": {**CONFIG["training"], "epochs": 2000, "patience": 0}}


def recordings(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two inputs; the target is the first one a step ago, doubled, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 100, 2)).astype(np.float32)
    y = 2 * np.roll(X[..., :1], 1, axis=1) + 0.1 * rng.normal(size=(count, 100, 1))
    y[:, 0] = 0
    return X, y.astype(np.float32)


TRAIN, VALID, TEST = recordings(8, 1), recordings(2, 2), recordings(2, 3)


def fit(folder: Path, **arguments: object) -> quaver.Run:
    given = {"valid": VALID, "test": TEST, "config": CONFIG, "verbose": False, **arguments}
    return quaver.fit(*TRAIN, out=folder, **given)


def test_from_arrays_to_a_model(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    epochs = []
    run = fit(tmp_path / "run", callback=epochs.append, verbose=True)
    printed = capfd.readouterr()
    assert printed.out == "" and printed.err.count("\nepoch ") == 3
    assert [epoch["epoch"] for epoch in epochs] == [1, 2, 3]
    assert all(np.isfinite([epoch["train_nll"], epoch["valid_nll"]]).all() for epoch in epochs)
    assert run.config["model"]["cell"] == "gru" and run.config["data"]["targets"] == ["y0"]
    assert run.best_epoch in (1, 2, 3) and repr(run).endswith("run, 3 epochs>")
    model = run.export(tmp_path / "model.qvr", calibrate=True)
    assert (model.kind, model.input_names, model.output_names) == ("predictor", ["x0", "x1"], ["y0"])
    assert np.isfinite(run.export_report["nll_increase"])
    assert (model.predict(TEST[0]).mean == quaver.Model.load(tmp_path / "model.qvr").predict(TEST[0]).mean).all()


def test_evaluations_are_those_that_the_command_line_prints(tmp_path: Path) -> None:
    run = fit(tmp_path / "run")
    model = run.export(tmp_path / "model.qvr", weights="f32")
    command = [str(_program.path()), "eval", str(run.folder), "--split=valid", "--no-baselines", "--json"]
    expected = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    assert run.eval(split="valid", no_baselines=True) == expected
    scores = model.eval(run.folder / "config.toml", split="valid", no_baselines=True)
    # The runtime sums in another order than the trainer, in 32 bits.
    assert scores["nll"] == pytest.approx(expected["nll"], abs=1e-3)
    assert model.eval(run.config, split="valid", no_baselines=True) == scores
    assert run.eval()["baselines"]
    with pytest.raises(ValueError, match="unexpected argument '--no-such-option'"):
        run.eval(no_such_option=True)


def test_metrics_are_a_frame_or_arrays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = fit(tmp_path / "run")
    frame = run.metrics
    assert isinstance(frame, pandas.DataFrame) and list(frame.index) == [1, 2, 3]
    assert frame["valid_nll"].idxmin() == run.best_epoch
    monkeypatch.setitem(sys.modules, "pandas", None)
    arrays = run.metrics
    assert isinstance(arrays, dict) and (arrays["valid_nll"] == frame["valid_nll"].to_numpy()).all()
    with (run.folder / "metrics.jsonl").open("a") as file:
        file.write('{"epoch": 4, "train')
    assert len(run.metrics["epoch"]) == 3


def test_frames_files_and_arrays_train_alike(tmp_path: Path) -> None:
    expected = fit(tmp_path / "arrays").metrics

    def frame(split: tuple[np.ndarray, np.ndarray]) -> pandas.DataFrame:
        X, y = split
        rows = np.concatenate([X, y], -1).reshape(-1, 3)
        marks = np.repeat(np.arange(len(X)), X.shape[1])
        return pandas.DataFrame(rows, columns=["x0", "x1", "y0"]).assign(sequence=marks)

    frames = [frame(split) for split in (TRAIN, VALID, TEST)]
    run = quaver.fit(
        frames[0], "y0", out=tmp_path / "frames", valid=frames[1], test=frames[2], config=CONFIG, verbose=False
    )
    assert run.metrics.equals(expected)
    lists = [[part for _, part in one.groupby("sequence")] for one in frames]
    run = quaver.fit(
        lists[0], "y0", out=tmp_path / "lists", inputs=["x0", "x1"], valid=lists[1], config=CONFIG, verbose=False
    )
    assert run.metrics.equals(expected)
    paths = [tmp_path / f"{name}.csv" for name in ("train", "valid")]
    for one, path in zip(frames, paths):
        one.to_csv(path, index=False)
    run = quaver.fit(
        paths[0], "y0", out=tmp_path / "files", valid=paths[1], config=CONFIG, inputs=["x0", "x1"], verbose=False
    )
    assert run.metrics.equals(expected)
    assert not (tmp_path / "files" / "data").exists()


def test_a_model_of_its_own_next_row(tmp_path: Path) -> None:
    X = np.sin(np.arange(600) / 5.0)
    X[50:60] = np.nan
    run = quaver.fit(X, out=tmp_path / "run", config=CONFIG, verbose=False)
    model = run.export(tmp_path / "model.qvr")
    assert model.predicts_next and model.inputs == model.outputs == 1
    assert np.isfinite(model.predict(X).surprise[70:]).all()


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("sampler", {"latent": {"family": "storn", "latents": 2}, "model": {"cell": "tanh", "layers": [5]}}),
        (
            "denoiser",
            {
                "latent": {"family": "vosp", "latents": 2},
                "model": {"cell": "dense-tanh", "layers": [5]},
                "data": {"targets": "clean", "noise": {"snr_db": 5.0}},
            },
        ),
    ],
)
def test_latent_models(tmp_path: Path, kind: str, changes: dict) -> None:
    X = np.sin(np.arange(400)[:, None] / np.array([5.0, 9.0]))
    config = {**CONFIG, "recognition": {"cell": "tanh", "layers": [5]}, **changes}
    run = quaver.fit(X, out=tmp_path / "run", config=config, verbose=False)
    assert "valid_kl" in run.metrics.columns
    model = run.export(tmp_path / "model.qvr")
    assert (model.kind, model.inputs) == (kind, 2)
    assert np.isfinite(model.predict(X).mean).all()


def test_configs_are_files_or_dictionaries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = fit(tmp_path / "run")
    config = {**CONFIG, "data": {"train": "train.csv", "valid": "valid.csv", "targets": "y0"}}
    monkeypatch.chdir(expected.folder / "data")
    run = quaver.train(config, tmp_path / "dictionary", verbose=False)
    assert run.metrics.equals(expected.metrics)
    file = tmp_path / "config.toml"
    file.write_text(_toml.dumps(config))
    run = quaver.train(
        file, tmp_path / "file", data_dir=expected.folder / "data", set={"training.epochs": 2}, verbose=False
    )
    assert run.metrics.equals(expected.metrics[:2])
    tuned = quaver.train(config, tmp_path / "tuned", init_from=run.folder, verbose=False)
    assert tuned.metrics["train_nll"].iloc[0] < expected.metrics["train_nll"].iloc[0]


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    run = fit(tmp_path / "run")
    with pytest.raises(FileExistsError, match="there is a run in this folder"):
        fit(tmp_path / "run")
    with pytest.raises(FileNotFoundError, match="there is no run in this folder"):
        quaver.Run(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match="cannot read this config"):
        quaver.train(tmp_path / "none.toml", tmp_path / "a")
    with pytest.raises(FileNotFoundError, match="none.csv: no such file"):
        quaver.fit("none.csv", "y", out=tmp_path / "a")
    with pytest.raises(ValueError, match="config: .*unknown field `layers`"):
        fit(tmp_path / "a", config={"layers": [3]})
    with pytest.raises(ValueError, match="`training.epochs` must be"):
        fit(tmp_path / "a", config={"training": {"epochs": 0}})
    with pytest.raises(ValueError, match="data.train is given by the arguments of fit"):
        fit(tmp_path / "a", config={"data": {"train": "a.csv"}})
    with pytest.raises(ValueError, match=r"give valid and test as \(X, y\), because y is an array"):
        fit(tmp_path / "a", valid=VALID[0])
    with pytest.raises(ValueError, match="X has 8 sequences of 100, 100, 100, … rows, and y 8 sequences of 99, 99"):
        quaver.fit(TRAIN[0], TRAIN[1][:, 1:], out=tmp_path / "a")
    with pytest.raises(ValueError, match="inputs has 1 names for 2 channels"):
        fit(tmp_path / "a", inputs=["x"])
    with pytest.raises(ValueError, match="the value of x1 in row 0 is infinite"):
        quaver.fit(np.array([[1.0, np.inf]]), out=tmp_path / "a")
    with pytest.raises(TypeError, match="y must be the names of columns"):
        quaver.fit(pandas.DataFrame({"a": [1.0]}), 3, out=tmp_path / "a")
    with pytest.raises(TypeError, match="`training.epochs` is {1, 2}, which a config cannot hold"):
        fit(tmp_path / "a", config={"training": {"epochs": {1, 2}}})
    assert not (tmp_path / "a" / "last.state").exists()
    with pytest.raises(ValueError, match="invalid value 'int4'"):
        run.export(tmp_path / "model.qvr", weights="int4")
    assert not (tmp_path / "model.qvr").exists()


def same_run(first: Path, second: Path) -> None:
    for name in ("metrics.csv", "metrics.jsonl", "best.state", "last.state"):
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_what_a_callback_raises_ends_the_run_which_can_be_resumed(tmp_path: Path) -> None:
    def stop(metrics: dict) -> None:
        if metrics["epoch"] == 2:
            raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        fit(tmp_path / "parts", callback=stop, config=LONG)
    parts = quaver.Run(tmp_path / "parts")
    done = len(parts.metrics)
    assert 2 <= done < 2000
    epochs = []
    parts.resume(epochs=done + 1, callback=epochs.append, verbose=False)
    assert [epoch["epoch"] for epoch in epochs] == [done + 1]
    with pytest.raises(ValueError, match="not the rows that the run was started with"):
        quaver.fit(TEST[0], TEST[1], out=tmp_path / "parts", resume=True)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_an_interrupted_run_ends_cleanly_and_resumes_with_the_same_bits(tmp_path: Path) -> None:
    folder = tmp_path / "interrupted"
    np.savez(tmp_path / "rows.npz", X=TRAIN[0], y=TRAIN[1], Xv=VALID[0], yv=VALID[1])
    program = f"""
import numpy, quaver
rows = numpy.load({str(tmp_path / "rows.npz")!r})
quaver.fit(rows["X"], rows["y"], out={str(folder)!r}, valid=(rows["Xv"], rows["yv"]), config={LONG!r}, verbose=False)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    metrics = folder / "metrics.jsonl"
    while not metrics.exists() or metrics.read_text().count("\n") < 3:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    run = quaver.Run(folder)
    # Nobody trains there any more: the folder can be locked and resumed at once.
    done = len(run.metrics)
    assert 3 <= done < 2000
    run.resume(epochs=done + 2, verbose=False)
    shorter = {**LONG, "training": {**LONG["training"], "epochs": done + 2}}
    whole = quaver.fit(*TRAIN, out=tmp_path / "whole", valid=VALID, config=shorter, verbose=False)
    same_run(folder, whole.folder)


def test_dictionaries_become_toml() -> None:
    tomllib = pytest.importorskip("tomllib")
    config = {
        "seed": np.int64(3),
        "a b": {"x": [1.5, 1e-30, True, "ü \"quoted\" \\ \n \x7f"], "none": None, "empty": {}, "deep": {"y": 1}},
        "list": [{"file": Path("a.csv"), "rows": "0..5"}],
    }
    expected = {
        "seed": 3,
        "a b": {"x": [1.5, 1e-30, True, "ü \"quoted\" \\ \n \x7f"], "empty": {}, "deep": {"y": 1}},
        "list": [{"file": "a.csv", "rows": "0..5"}],
    }
    assert tomllib.loads(_toml.dumps(config)) == expected
    for wrong in ({"a": object()}, {"a": float("nan")}, {1: 2}):
        with pytest.raises(TypeError):
            _toml.dumps(wrong)
