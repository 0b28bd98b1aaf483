"""Recurrent networks with error bars, one sample at a time.

A sensor row goes in; a mean *and a variance* for every output come out, with the bits of a microcontroller.

>>> import quaver
>>> model = quaver.Model.load("model.qvr")
>>> prediction = model.predict(X)                 # X: (rows, channels), NaN where a value is missing
>>> prediction.mean, prediction.std_dev           # (rows, outputs)
>>> stream = model.start()                        # or row by row
>>> stream.step(X[0]).variance

``quaver.fit`` trains on arrays and frames, ``quaver.train`` what a config describes; both leave a run folder,
``quaver.Run``, which exports the model.
"""

from ._model import Model
from ._quaver import Random, __version__
from ._results import Anomaly, Classification, Embedding, Futures, Prediction, Step
from ._run import Run
from ._stream import AdaptiveStream, Reducer, Stream
from ._torch import from_torch
from ._train import fit, train

__all__ = [
    "AdaptiveStream",
    "Anomaly",
    "Classification",
    "Embedding",
    "Futures",
    "Model",
    "Prediction",
    "Random",
    "Reducer",
    "Run",
    "Step",
    "Stream",
    "__version__",
    "fit",
    "from_torch",
    "train",
]
