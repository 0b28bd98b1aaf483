"""Time per row of whole sequences and of a stream, with the model of the demo."""

import time
from pathlib import Path

import numpy as np

import quaver

MODEL = Path(__file__).parents[3] / "runtime" / "examples" / "grip_force.qvr"


def best_of(repeats, work, rows):
    """The shortest time of several, in microseconds per row."""
    times = []
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return 1e6 * min(times) / rows


model = quaver.Model.load(MODEL)
X = np.random.default_rng(1).gamma(4.0, 3.0, (64, 500, model.inputs)).astype(np.float32)
stream = model.start()
rows = X.shape[0] * X.shape[1]
print(f"predict, 1 thread:  {best_of(5, lambda: model.predict(X, threads=1), rows):5.1f} µs per row")
print(f"predict, 2 threads: {best_of(5, lambda: model.predict(X, threads=2), rows):5.1f} µs per row")
print(f"stream.step:        {best_of(5, lambda: [stream.step(row) for row in X[0]], X.shape[1]):5.1f} µs per row")
