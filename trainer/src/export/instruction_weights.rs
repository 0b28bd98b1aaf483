//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM units, inputs, units filled in,
/// channels scored, GRU units.
pub(super) const PARTS: usize = 8;

/// Instructions per part, by core and layout.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, [f64; PARTS]); 12] = [
    ("M0", Layout::Small, [5210.557, 406.546, 1718.565, 44.664, 1753.374, 0.000, 5376.986, 115.295]),
    ("M0", Layout::Fast, [5188.011, 229.853, 1749.442, 29.791, 1743.404, 0.000, 5342.274, 109.215]),
    ("M0", Layout::Mean, [4539.210, 115.112, 471.307, 0.000, 1201.605, 31.392, 5239.686, 136.258]),
    ("M3", Layout::Small, [3025.967, 268.791, 780.269, 0.000, 1074.032, 1.467, 2963.116, 56.145]),
    ("M3", Layout::Fast, [3540.889, 149.645, 340.184, 0.000, 1074.520, 7.979, 3038.796, 12.638]),
    ("M3", Layout::Mean, [2702.933, 74.959, 215.062, 0.000, 768.722, 20.984, 2946.509, 74.315]),
    ("M4F", Layout::Small, [1084.345, 207.262, 501.376, 173.274, 138.205, 23.475, 241.897, 166.886]),
    ("M4F", Layout::Fast, [1355.118, 54.416, 250.942, 1.036, 139.272, 2.336, 296.159, 32.991]),
    ("M4F", Layout::Mean, [1241.296, 27.315, 217.079, 0.000, 121.324, 21.107, 276.433, 71.872]),
    ("M33", Layout::Small, [1081.808, 185.278, 508.943, 195.084, 130.766, 23.072, 213.826, 170.419]),
    ("M33", Layout::Fast, [1371.463, 54.421, 246.448, 4.314, 131.813, 2.846, 271.060, 35.219]),
    ("M33", Layout::Mean, [1200.584, 27.304, 255.390, 0.000, 112.580, 16.963, 243.313, 58.092]),
];

/// Parts of extensions that have a weight: the input density itself, its channels, their squares and cubes;
/// following the truth and detecting faults, their channels, and outputs.
pub(super) const EXTENSION_PARTS: usize = 7;

/// Instructions per part of the extensions, by core, whatever the layout.
#[rustfmt::skip]
pub(super) const EXTENSION_WEIGHTS: [(&str, [f64; EXTENSION_PARTS]); 4] = [
    ("M0", [1137.041, 0.018, 1074.989, 61.286, 0.000, 8412.591, 3187.920]),
    ("M3", [6619.711, 0.000, 524.636, 44.150, 0.000, 5197.601, 1958.822]),
    ("M4F", [919.446, 362.083, 105.235, 2.519, 0.000, 536.307, 127.254]),
    ("M33", [1258.238, 284.332, 104.767, 2.754, 0.000, 483.651, 103.097]),
];

/// Bytes of stack in a step (the worst row) and while loading, the most of all models that were measured, by
/// core, cell and layout; for a denoiser (`vosp`) and a sampler (`storn`) by the layout of both networks.
#[rustfmt::skip]
pub(super) const STACKS: [(&str, &str, Layout, [u32; 2]); 50] = [
    ("M0", "elman", Layout::Fast, [1044, 3280]),
    ("M0", "elman", Layout::Float, [1676, 3244]),
    ("M0", "elman", Layout::Mean, [1044, 3272]),
    ("M0", "elman", Layout::Small, [1044, 3280]),
    ("M0", "gru", Layout::Fast, [1056, 3320]),
    ("M0", "gru", Layout::Float, [1676, 3244]),
    ("M0", "gru", Layout::Mean, [1080, 3312]),
    ("M0", "gru", Layout::Small, [1116, 3320]),
    ("M0", "lstm", Layout::Fast, [1044, 3536]),
    ("M0", "lstm", Layout::Float, [1676, 3244]),
    ("M0", "lstm", Layout::Mean, [1044, 3524]),
    ("M0", "lstm", Layout::Small, [1044, 3548]),
    ("M3", "elman", Layout::Fast, [904, 2820]),
    ("M3", "elman", Layout::Float, [1504, 2824]),
    ("M3", "elman", Layout::Mean, [904, 2820]),
    ("M3", "elman", Layout::Small, [980, 2820]),
    ("M3", "gru", Layout::Fast, [1176, 2820]),
    ("M3", "gru", Layout::Float, [1504, 2824]),
    ("M3", "gru", Layout::Mean, [1400, 2820]),
    ("M3", "gru", Layout::Small, [1452, 2820]),
    ("M3", "lstm", Layout::Fast, [904, 3024]),
    ("M3", "lstm", Layout::Float, [1504, 2824]),
    ("M3", "lstm", Layout::Mean, [904, 3016]),
    ("M3", "lstm", Layout::Small, [904, 3036]),
    ("M4F", "elman", Layout::Fast, [832, 2864]),
    ("M4F", "elman", Layout::Float, [1488, 2832]),
    ("M4F", "elman", Layout::Mean, [864, 2864]),
    ("M4F", "elman", Layout::Small, [936, 2864]),
    ("M4F", "gru", Layout::Fast, [1144, 2864]),
    ("M4F", "gru", Layout::Float, [1488, 2832]),
    ("M4F", "gru", Layout::Mean, [1376, 2864]),
    ("M4F", "gru", Layout::Small, [1416, 2864]),
    ("M4F", "lstm", Layout::Fast, [832, 3024]),
    ("M4F", "lstm", Layout::Float, [1488, 2832]),
    ("M4F", "lstm", Layout::Mean, [832, 3024]),
    ("M4F", "lstm", Layout::Small, [832, 3024]),
    ("M4F", "storn", Layout::Fast, [1004, 6648]),
    ("M4F", "vosp", Layout::Fast, [1004, 6648]),
    ("M33", "elman", Layout::Fast, [808, 2860]),
    ("M33", "elman", Layout::Float, [1444, 2840]),
    ("M33", "elman", Layout::Mean, [840, 2860]),
    ("M33", "elman", Layout::Small, [896, 2860]),
    ("M33", "gru", Layout::Fast, [1120, 2860]),
    ("M33", "gru", Layout::Float, [1444, 2840]),
    ("M33", "gru", Layout::Mean, [1352, 2860]),
    ("M33", "gru", Layout::Small, [1368, 2860]),
    ("M33", "lstm", Layout::Fast, [808, 3000]),
    ("M33", "lstm", Layout::Float, [1444, 2840]),
    ("M33", "lstm", Layout::Mean, [808, 3000]),
    ("M33", "lstm", Layout::Small, [824, 3032]),
];

/// Bytes of a `Predictor`, and of a `Denoiser` or `Sampler`, on a core of 32 bits.
pub(super) const HANDLES: [u32; 2] = [624, 1196];
