//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM cells, inputs, units filled in, channels scored.
pub(super) const PARTS: usize = 7;

/// Instructions per part, by core and layout.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, [f64; PARTS]); 12] = [
    ("M0", Layout::Small, [5477.907, 245.916, 1874.371, 0.000, 1715.477, 10.016, 5453.983]),
    ("M0", Layout::Fast, [5891.375, 184.233, 1871.958, 0.000, 1706.571, 9.858, 5423.245]),
    ("M0", Layout::Mean, [4035.239, 92.054, 503.234, 0.000, 1054.756, 8.385, 5290.280]),
    ("M3", Layout::Small, [3150.302, 151.981, 794.411, 0.000, 1091.615, 9.136, 3038.076]),
    ("M3", Layout::Fast, [3242.810, 106.044, 800.583, 0.000, 1090.518, 8.737, 3030.808]),
    ("M3", Layout::Mean, [2359.907, 52.992, 168.794, 0.000, 722.399, 11.151, 3002.335]),
    ("M4F", Layout::Small, [1356.944, 104.364, 522.575, 95.001, 153.444, 31.848, 258.779]),
    ("M4F", Layout::Fast, [1581.625, 28.776, 372.366, 15.215, 161.878, 15.272, 283.613]),
    ("M4F", Layout::Mean, [1428.559, 14.399, 161.041, 0.000, 131.282, 6.733, 315.591]),
    ("M33", Layout::Small, [1329.069, 115.365, 554.641, 104.380, 146.743, 35.891, 219.876]),
    ("M33", Layout::Fast, [1571.061, 28.783, 378.892, 7.636, 154.501, 17.619, 248.487]),
    ("M33", Layout::Mean, [1408.960, 14.404, 173.882, 0.000, 123.405, 7.773, 278.940]),
];
