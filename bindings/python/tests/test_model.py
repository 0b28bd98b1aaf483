"""Models and whole sequences: shapes, kinds of arrays, and what is refused."""

from __future__ import annotations

import os
import pickle
import threading
import time
from pathlib import Path

import numpy as np
import pandas
import pytest

import quaver
from conftest import EXAMPLES


def test_a_model_is_loaded_from_a_path_or_from_bytes(predictor: quaver.Model) -> None:
    path = EXAMPLES / "grip_force.qvr"
    for source in (path, str(path), path.read_bytes(), bytearray(path.read_bytes())):
        model = quaver.Model.load(source)
        assert (model.kind, model.inputs, model.outputs, model.arena_words) == ("predictor", 8, 1, 142)
    assert predictor.input_names == [f"emg{index}" for index in range(1, 9)]
    assert len(predictor.output_names) == 1
    assert repr(predictor) == "<quaver.Model: predictor, 8 inputs, 1 outputs>"
    assert pickle.loads(pickle.dumps(predictor)).checkpoint == path.read_bytes()


def test_what_is_no_model_is_refused_with_the_message_of_the_runtime(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no-such.qvr"):
        quaver.Model.load(tmp_path / "no-such.qvr")
    whole = (EXAMPLES / "grip_force.qvr").read_bytes()
    damaged = tmp_path / "damaged.qvr"
    damaged.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match=r"damaged\.qvr is not a usable checkpoint: .*checksum"):
        quaver.Model.load(damaged)
    for length in (0, 3, 40, len(whole) - 1):
        with pytest.raises(ValueError):
            quaver.Model.load(whole[:length])
    with pytest.raises(ValueError, match=r"signed checkpoint.*quaver verify"):
        quaver.Model.load(EXAMPLES / "grip_force.qvs")


def test_predictions_have_the_shape_of_x(predictor: quaver.Model, emg: np.ndarray) -> None:
    one = predictor.predict(emg)
    assert one.mean.shape == one.variance.shape == (120, 1) and one.surprise.shape == (120,)
    assert one.mean.dtype == np.float32 and one.mean.flags.writeable
    np.testing.assert_allclose(one.variance, one.epistemic + one.aleatoric, rtol=1e-6)
    assert np.isfinite(one.mean).all() and (one.variance > 0).all()
    batch = predictor.predict(np.stack([emg, emg[::-1]]))
    assert batch.mean.shape == (2, 120, 1)
    assert (batch.mean[0] == one.mean).all()
    several = predictor.predict([emg, emg[:7], emg[::-1]])
    assert [part.mean.shape for part in several] == [(120, 1), (7, 1), (120, 1)]
    assert (several[1].mean == one.mean[:7]).all() and (several[2].mean == batch.mean[1]).all()


def test_a_missing_channel_widens_the_error_bar(predictor: quaver.Model, emg: np.ndarray) -> None:
    whole = np.nan_to_num(emg, nan=12.0)
    holes = whole.copy()
    holes[:, :4] = np.nan
    assert predictor.predict(holes).epistemic.mean() > 1.2 * predictor.predict(whole).epistemic.mean()


def test_every_kind_of_number_is_read_alike(predictor: quaver.Model) -> None:
    rows = np.arange(40).reshape(5, 8)
    expected = predictor.predict(rows.astype(np.float32)).mean
    others = [rows, rows.astype(np.float64), rows.astype(np.uint8), rows.tolist(), np.asfortranarray(rows)]
    for X in others:
        assert (predictor.predict(X).mean == expected).all()
    wide = np.zeros((5, 16))
    wide[:, ::2] = rows
    assert (predictor.predict(wide[:, ::2]).mean == expected).all()


def test_columns_of_frames_are_selected_by_name(predictor: quaver.Model, emg: np.ndarray) -> None:
    frame = pandas.DataFrame(emg, columns=predictor.input_names)
    shuffled = frame[frame.columns[::-1]].assign(trial="a")
    assert (predictor.predict(shuffled).mean == predictor.predict(emg).mean).all()
    with pytest.raises(ValueError, match="X has no column emg3; it has emg1, emg2, emg4"):
        predictor.predict(frame.drop(columns="emg3"))
    with pytest.raises(TypeError, match="the column emg1 of X does not hold numbers"):
        predictor.predict(frame.assign(emg1="high"))


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((5, 3)), ValueError, r"X has 3 channels, in the shape \(5, 3\), but the model has 8: emg1"),
        (np.zeros(8), ValueError, r"X has the shape \(8,\); give \(rows, 8\)"),
        (np.zeros((2, 2, 5, 8)), ValueError, r"X has the shape \(2, 2, 5, 8\)"),
        ([np.zeros((5, 8)), np.zeros((5, 7))], ValueError, r"X\[1\] has 7 channels"),
        (np.full((5, 8), "a"), TypeError, r"X must be an array of numbers, but its dtype is <U1"),
        (np.zeros((5, 8), complex), TypeError, "its dtype is complex128"),
        (np.zeros((5, 8), object), TypeError, "its dtype is object"),
        ([[1.0] * 8, [1.0] * 7], ValueError, "X is not a regular array of numbers"),
        (None, TypeError, "its dtype is object"),
    ],
)
def test_wrong_arrays_are_refused(predictor: quaver.Model, X: object, error: type, message: str) -> None:
    with pytest.raises(error, match=message):
        predictor.predict(X)


def test_no_rows_are_no_predictions(predictor: quaver.Model) -> None:
    assert predictor.predict(np.zeros((0, 8))).mean.shape == (0, 1)
    assert predictor.predict(np.zeros((0, 5, 8))).mean.shape == (0, 5, 1)


def test_methods_of_other_kinds_are_refused(predictor: quaver.Model, reducer: quaver.Model, emg: np.ndarray) -> None:
    with pytest.raises(ValueError, match="denoise is for a denoiser, and this model is a predictor: use predict"):
        predictor.denoise(emg)
    with pytest.raises(ValueError, match="predict is for a predictor or denoiser or sampler, .* is a reducer: use embed"):
        reducer.predict(emg)
    for call in (predictor.embed, predictor.classify, lambda X: predictor.sample(X, 3)):
        with pytest.raises(ValueError, match="this model is a predictor"):
            call(emg)


def test_threads_change_no_bit(predictor: quaver.Model) -> None:
    X = np.random.default_rng(1).gamma(4.0, 3.0, (37, 11, 8))
    expected = predictor.predict(X, threads=1)
    for threads in (2, 3, 64):
        assert (predictor.predict(X, threads=threads).mean == expected.mean).all()
    with pytest.raises(ValueError, match="threads must be at least 1, found 0"):
        predictor.predict(X, threads=0)


def test_the_lock_of_the_interpreter_is_released(predictor: quaver.Model) -> None:
    X = np.random.default_rng(1).gamma(4.0, 3.0, (30, 1000, 8)).astype(np.float32)
    times = []

    def work() -> None:
        begun = time.perf_counter()
        predictor.predict(X, threads=1)
        times.extend([begun, time.perf_counter()])

    thread = threading.Thread(target=work)
    thread.start()
    ticks = []
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0.001)
    begun, ended = times
    # With the lock held there would be no tick but at both ends.
    middle = [tick for tick in ticks if begun + 0.25 * (ended - begun) < tick < begun + 0.75 * (ended - begun)]
    assert len(middle) >= 5, f"{len(ticks)} ticks in {ended - begun:.3f} s"


def test_intervals(predictor: quaver.Model, emg: np.ndarray) -> None:
    found = predictor.predict(emg)
    low, high = found.interval(0.9)
    assert (low < found.mean).all() and (found.mean < high).all()
    np.testing.assert_allclose((high - low) / 2 / found.std_dev, 1.6449, rtol=2e-3)
    assert (found.interval(0.5)[0] > low).all()
    with pytest.raises(ValueError, match="level must be between 0 and 1, found 90"):
        found.interval(90)


def test_rows_are_denoised(denoiser: quaver.Model, steps_of_leg: np.ndarray) -> None:
    noisy = steps_of_leg + np.random.default_rng(3).normal(0, 4, steps_of_leg.shape).astype(np.float32)
    noisy[10, 1] = np.nan
    clean = denoiser.denoise(noisy)
    assert clean.mean.shape == noisy.shape and np.isfinite(clean.mean).all() and np.isfinite(clean.surprise[1:]).all()
    stream = denoiser.start()
    assert all((stream.step(row).mean == mean).all() for row, mean in zip(noisy, clean.mean))
    assert stream.expected().mean.shape == (3,)


def test_labels_are_learned(predictor: quaver.Model) -> None:
    rows = np.tile([14.0, 9.5, 8.0, 4.25, 6.0, 11.5, 20.25, 17.0], (300, 1))
    before = predictor.predict(rows)
    truth = before.mean + 10.0
    after = predictor.adapt(rows, truth)
    # As in the example of AdaptivePredictor, which this person grips ten newtons harder than.
    assert after.mean[-1, 0] > before.mean[-1, 0] + 5.0
    stream = predictor.adaptive()
    for row, label, mean in zip(rows, truth, after.mean):
        assert stream.step(row).mean == mean
        assert stream.learn(label) and not stream.learn(label), "a prediction is learned from once"
    stream.forget()
    unlabelled = predictor.adapt(np.stack([rows, rows]), np.full((2, 300, 1), np.nan))
    assert (unlabelled.mean == before.mean).all()
    with pytest.raises(ValueError, match="X has 1 sequence of 300 rows, and y 1 sequence of 299 rows"):
        predictor.adapt(rows, truth[1:])
    with pytest.raises(ValueError, match='covariance must be "full" or "diagonal", found "none"'):
        predictor.adaptive(covariance="none")
    with pytest.raises(ValueError, match="forgetting"):
        predictor.adaptive(forgetting=0.5)


def test_sequences_are_classified(reducer: quaver.Model) -> None:
    fist, unknown = np.tile([86.0, 27.0], (50, 1)), np.tile([95.0, 90.0], (50, 1))
    found = reducer.classify(fist)
    assert (found.name, found.known, found.index) == ("fist", True, reducer.class_names.index("fist"))
    assert found.probability > 0.99 and abs(found.probabilities.sum() - 1) < 1e-5
    several = reducer.classify([fist, unknown[:40], fist[:3]])
    assert [one.known for one in several[:2]] == [True, False]
    points = reducer.embed(np.stack([fist, unknown]))
    assert points.mean.shape == points.variance.shape == (2, reducer.outputs)
    assert (reducer.embed(fist).mean == points.mean[0]).all()


def test_contents_are_those_that_the_command_line_prints(predictor: quaver.Model, reducer: quaver.Model) -> None:
    found = predictor.inspect()
    assert found["arena_words"] == predictor.arena_words and found["input_names"] == predictor.input_names
    assert found["flash_bytes"] == len(predictor.checkpoint)
    assert reducer.inspect()["classes"] == reducer.class_names


def test_a_missing_program_is_named(predictor: quaver.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QUAVER_PROGRAM", os.path.join("no", "such", "quaver"))
    with pytest.raises(FileNotFoundError, match="there is no program"):
        predictor.inspect()
