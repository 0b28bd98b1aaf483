//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM cells, inputs, units filled in, channels scored.
pub(super) const PARTS: usize = 7;

/// Instructions per part, by core and layout.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, [f64; PARTS]); 12] = [
    ("M0", Layout::Small, [5477.907, 491.833, 1874.371, 0.000, 1715.477, 10.016, 5453.983]),
    ("M0", Layout::Fast, [5891.375, 368.467, 1871.958, 0.000, 1706.571, 9.858, 5423.245]),
    ("M0", Layout::Mean, [4035.239, 184.109, 503.234, 0.000, 1054.756, 8.385, 5290.280]),
    ("M3", Layout::Small, [3150.302, 303.962, 794.411, 0.000, 1091.615, 9.136, 3038.076]),
    ("M3", Layout::Fast, [3242.810, 212.088, 800.583, 0.000, 1090.518, 8.737, 3030.808]),
    ("M3", Layout::Mean, [2359.907, 105.984, 168.794, 0.000, 722.399, 11.151, 3002.335]),
    ("M4F", Layout::Small, [1356.944, 208.727, 522.575, 95.001, 153.444, 31.848, 258.779]),
    ("M4F", Layout::Fast, [1371.883, 54.775, 179.816, 52.682, 38.538, 12.326, 287.179]),
    ("M4F", Layout::Mean, [1428.559, 28.799, 161.041, 0.000, 131.282, 6.733, 315.591]),
    ("M33", Layout::Small, [1329.069, 230.731, 554.641, 104.380, 146.743, 35.891, 219.876]),
    ("M33", Layout::Fast, [1571.061, 57.566, 378.892, 7.636, 154.501, 17.619, 248.487]),
    ("M33", Layout::Mean, [1408.960, 28.807, 173.882, 0.000, 123.405, 7.773, 278.940]),
];
