//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM cells, inputs, units filled in,
/// channels scored.
pub(super) const PARTS: usize = 7;

/// Instructions per part, by core and layout.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, [f64; PARTS]); 12] = [
    ("M0", Layout::Small, [5022.432, 406.458, 1615.453, 177.916, 1015.222, 22.885, 5290.652]),
    ("M0", Layout::Fast, [5058.646, 229.794, 1671.176, 144.549, 1000.585, 19.570, 5245.341]),
    ("M0", Layout::Mean, [4259.223, 115.141, 537.378, 0.000, 595.163, 29.361, 5135.525]),
    ("M3", Layout::Small, [2958.988, 268.941, 769.080, 2.742, 593.055, 2.418, 2919.853]),
    ("M3", Layout::Fast, [3425.244, 149.933, 338.270, 0.000, 588.354, 9.290, 2989.610]),
    ("M3", Layout::Mean, [2599.316, 74.930, 207.537, 0.000, 347.369, 20.903, 2909.372]),
    ("M4F", Layout::Small, [1163.507, 207.396, 423.834, 230.663, 37.406, 33.295, 242.941]),
    ("M4F", Layout::Fast, [1440.371, 54.817, 173.869, 56.402, 31.642, 12.611, 293.969]),
    ("M4F", Layout::Mean, [1215.386, 27.377, 211.632, 0.000, 24.149, 21.324, 263.390]),
    ("M33", Layout::Small, [1146.618, 231.398, 441.954, 257.030, 37.668, 34.539, 213.757]),
    ("M33", Layout::Fast, [1439.538, 54.827, 174.034, 56.170, 31.911, 12.590, 268.097]),
    ("M33", Layout::Mean, [1209.888, 27.375, 215.616, 0.000, 24.212, 22.937, 236.888]),
];
