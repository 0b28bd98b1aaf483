"""Models and rows of the repository."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import quaver

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "runtime" / "examples"


def bits(words: list[str]) -> np.ndarray:
    """Numbers from hexadecimal bits of f32."""
    return np.array([int(word, 16) for word in words], np.uint32).view(np.float32)


def load(name: str) -> quaver.Model:
    return quaver.Model.load(EXAMPLES / f"{name}.qvr")


@pytest.fixture
def predictor() -> quaver.Model:
    return load("grip_force")


@pytest.fixture
def denoiser() -> quaver.Model:
    return load("denoiser")


@pytest.fixture
def sampler() -> quaver.Model:
    return load("sampler")


@pytest.fixture
def reducer() -> quaver.Model:
    return load("reducer")


@pytest.fixture
def emg() -> np.ndarray:
    """Rows like EMG envelopes of eight electrodes, some values missing."""
    rows = np.random.default_rng(7).gamma(4.0, 3.0, (120, 8)).astype(np.float32)
    rows[30:40, 2] = np.nan
    return rows


@pytest.fixture
def steps_of_leg() -> np.ndarray:
    """Angles of hip, knee and ankle."""
    time = np.arange(80)[:, None] / 10.0 + np.array([0.0, 0.4, 0.9])
    return (20.0 * np.sin(time) + np.array([10.0, 30.0, 5.0])).astype(np.float32)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training of a few rows is faster without more."""
    monkeypatch.setenv("QUAVER_THREADS", "1")


@pytest.fixture(scope="session")
def golden_folder() -> Path:
    folder = os.environ.get("QUAVER_GOLDEN")
    if folder is None:
        pytest.skip("QUAVER_GOLDEN names no folder of golden cases: cargo run -p quaver-tests --bin golden_files")
    return Path(folder)
