"""Networks of PyTorch's with the outputs that they give, for trainer/tests/import.rs.

    python3 -m pip install torch safetensors numpy
    python3 make.py FOLDER [SEED]

For each case CASE.safetensors, and CASE.csv with a row of outputs for each row of rows.csv. The files next to this
script were made with PyTorch 2.15.0 and seed 1.
"""

import sys

import numpy as np
import torch
from safetensors.torch import save_file

INPUTS, UNITS, OUTPUTS, ROWS = 3, 5, 2, 60
# What the rows of each channel are like: offsets and sizes of real sensors.
MEAN, STD = torch.tensor([5.0, 0.0, -30.0]), torch.tensor([2.0, 0.1, 4.0])


class Model(torch.nn.Module):
    """A recurrent module and a head, under the names that a user happens to give them."""

    def __init__(self, kind, layers):
        super().__init__()
        options = {"num_layers": layers, "batch_first": True}
        self.body = {
            "tanh": lambda: torch.nn.RNN(INPUTS, UNITS, **options),
            "relu": lambda: torch.nn.RNN(INPUTS, UNITS, nonlinearity="relu", **options),
            "lstm": lambda: torch.nn.LSTM(INPUTS, UNITS, **options),
            "gru": lambda: torch.nn.GRU(INPUTS, UNITS, **options),
        }[kind]()
        self.readout = torch.nn.Linear(UNITS, OUTPUTS)

    def forward(self, rows):
        return self.readout(self.body(rows)[0])


def text(name, header, table):
    np.savetxt(name, table, delimiter=",", header=header, comments="", fmt="%.9g")


def main(folder, seed):
    torch.manual_seed(seed)
    raw = MEAN + STD * torch.randn(ROWS, INPUTS)
    # Targets of the size of the outputs. Were they far from them, both would be rounded in the units of the targets.
    targets = torch.stack([raw[:, 0] / 10, 5 * raw[:, 1].roll(1)], dim=1) + 0.2 * torch.randn(ROWS, OUTPUTS)
    text(f"{folder}/rows.csv", "a,b,c,y,z", torch.cat([raw, targets], dim=1).numpy())
    with torch.no_grad():
        for kind in ["tanh", "relu", "lstm", "gru"]:
            for layers in [1, 2]:
                model = Model(kind, layers).eval()
                weights = {name: tensor.contiguous() for name, tensor in model.cpu().state_dict().items()}
                save_file(weights, f"{folder}/{kind}_{layers}.safetensors")
                text(f"{folder}/{kind}_{layers}.csv", "y,z", model(raw[None])[0].numpy())
        # Trained on standardised rows, which is stored along with the weights, in other floats.
        model = Model("lstm", 1).eval()
        scaling = {"input_mean": MEAN, "input_std": STD}
        scaling |= {"target_mean": torch.tensor([100.0, -0.5]), "target_std": torch.tensor([20.0, 0.25])}
        save_file(model.double().state_dict() | scaling, f"{folder}/scaled_lstm_1.safetensors")
        outputs = scaling["target_mean"] + scaling["target_std"] * model.float()(((raw - MEAN) / STD)[None])[0]
        text(f"{folder}/scaled_lstm_1.csv", "y,z", outputs.numpy())
        # Weights in 16 bits are the numbers that they are.
        model = Model("gru", 1).eval().bfloat16()
        save_file(model.state_dict(), f"{folder}/short_gru_1.safetensors")
        text(f"{folder}/short_gru_1.csv", "y,z", model.float()(raw[None])[0].numpy())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
