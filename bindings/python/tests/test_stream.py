"""Streams: row by row, saved, restored and forked."""

from __future__ import annotations

import numpy as np
import pytest

import quaver


def test_a_stream_gives_the_bits_of_the_whole_sequence(predictor: quaver.Model, emg: np.ndarray) -> None:
    whole, stream = predictor.predict(emg), predictor.start()
    for row, mean, variance in zip(emg, whole.mean, whole.variance):
        step = stream.step(row)
        assert (step.mean == mean).all() and (step.variance == variance).all()
        assert (step.std_dev == np.sqrt(step.variance)).all()
    assert (stream.prediction.mean == step.mean).all()
    low, high = stream.interval(0.9)[0]
    assert low < step.mean[0] < high


def test_streams_are_reset_saved_restored_and_forked(predictor: quaver.Model, emg: np.ndarray) -> None:
    stream = predictor.start()
    for row in emg[:50]:
        stream.step(row)
    state, fork = stream.save(), stream.fork()
    expected = [stream.step(row).mean[0] for row in emg[50:]]
    assert [fork.step(row).mean[0] for row in emg[50:]] == expected
    other = predictor.start()
    other.restore(state)
    assert [other.step(row).mean[0] for row in emg[50:]] == expected
    stream.reset()
    assert stream.step(emg[0]).mean == predictor.predict(emg[:1]).mean[0]
    before = other.save()
    with pytest.raises(ValueError, match="saved"):
        other.restore(state[:-1])
    with pytest.raises(ValueError):
        other.restore(np.full_like(state, np.inf))
    assert (other.save() == before).all()


def test_rows_may_be_uncertain_and_must_be_whole(predictor: quaver.Model) -> None:
    row = [14.0, 9.5, np.nan, 4.25, 6.0, 11.5, 20.25, 17.0]
    certain, uncertain = predictor.start().step(row), predictor.start().step(row, variance=np.full(8, 25.0))
    assert uncertain.epistemic > certain.epistemic
    for wrong in (row[:7], [row], 3.0):
        with pytest.raises(ValueError, match=r"but the model has 8 channels: give \(8,\)"):
            predictor.start().step(wrong)
    with pytest.raises(TypeError, match="row must be an array of numbers"):
        predictor.start().step(["a"] * 8)
    with pytest.raises(ValueError, match="variance has the shape"):
        predictor.start().step(row, variance=[1.0])


def test_implausible_values_are_named_and_counted(predictor: quaver.Model) -> None:
    stream = predictor.start()
    step = stream.step([14.0, 1e9, 8.0, 4.25, 6.0, 11.5, 20.25, -1e9])
    assert (step.implausible, stream.implausible_count) == ([1, 7], 2)


def test_a_sampler_scores_rows_and_continues_them(sampler: quaver.Model, steps_of_leg: np.ndarray) -> None:
    stream = sampler.start()
    for row in steps_of_leg:
        step = stream.step(row)
    assert step.surprise is not None and step.z is not None and step.z.shape == (3,)
    sudden = stream.fork().step(steps_of_leg[-1] + 200.0)
    assert sudden.surprise > step.surprise + 10
    ahead = stream.fork().sample(20, seed=5)
    assert ahead.shape == (20, 3) and np.isfinite(ahead).all()
    assert (stream.fork().sample(20, seed=5) == ahead).all()
    assert (stream.fork().sample(20, seed=6) != ahead).any()
    rng = quaver.Random(5)
    parts = stream.fork()
    assert (np.concatenate([parts.sample(8, rng), parts.sample(12, rng)]) == ahead).all()


def test_futures_begin_where_the_stream_is_and_leave_it_there(sampler: quaver.Model, steps_of_leg: np.ndarray) -> None:
    found = sampler.sample(steps_of_leg, 10, draws=200, seed=1, quantiles=(0.1, 0.9))
    assert found.values.shape == (200, 10, 3) and found.mean.shape == found.std_dev.shape == (10, 3)
    np.testing.assert_allclose(found.mean, found.values.mean(0), rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(found.std_dev, found.values.std(0, ddof=1), rtol=1e-3)
    for level, quantile in found.quantiles.items():
        np.testing.assert_allclose(quantile, np.quantile(found.values, level, axis=0), rtol=1e-3, atol=1e-3)
    stream = sampler.start()
    for row in steps_of_leg:
        stream.step(row)
    state = stream.save()
    assert (stream.futures(200, 10, seed=1, quantiles=(0.1, 0.9)).values == found.values).all()
    assert (stream.save() == state).all()
    for arguments in ((0, 10, 1), (10, 0, 1)):
        with pytest.raises(ValueError, match="must be at least 1, found 0"):
            stream.futures(*arguments)
    with pytest.raises(ValueError, match='feed must be "draw" or "mean", found "noise"'):
        stream.sample(1, 1, "noise")
    with pytest.raises(ValueError, match="quantiles must be from 0 to 1, found 5"):
        stream.futures(1, 1, 1, quantiles=[5])


def test_methods_of_other_streams_are_refused(predictor: quaver.Model) -> None:
    with pytest.raises(ValueError, match="sample needs a stream of a sampler, and this is none"):
        predictor.start().sample(3, 1)
    with pytest.raises(ValueError, match="expected needs a stream of a denoiser"):
        predictor.start().expected()


def test_a_new_class_is_taught(reducer: quaver.Model) -> None:
    stream = reducer.reducer(new_classes=1, examples=2)
    for _ in range(50):
        stream.step([95.0, 90.0])
    assert not stream.classify().known
    new = reducer.classes
    assert stream.teach(new) and not stream.teach(new + 1)
    found = stream.classify()
    assert (found.index, found.name, found.known) == (new, None, True)
    fork = stream.fork()
    assert fork.classify().index == new
    stored = stream.taught
    stream.forget()
    assert len(stream.taught) == 0 and not stream.classify().known
    stream.restore_taught(stored)
    assert stream.classify().index == new
    with pytest.raises(ValueError, match="was not taught to a stream of this model"):
        reducer.reducer().restore_taught(stored)
    stream.begin()
    assert stream.embedding() is None and stream.classify() is None
    with pytest.raises(ValueError, match="give the number of examples"):
        reducer.reducer(new_classes=1)
