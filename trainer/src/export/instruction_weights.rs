//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM units, inputs, units filled in,
/// channels scored, GRU units.
pub(super) const PARTS: usize = 8;

/// Instructions per part, by core and layout.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, [f64; PARTS]); 12] = [
    ("M0", Layout::Small, [4895.447, 406.558, 1720.982, 42.641, 1758.711, 0.000, 5257.333, 114.038]),
    ("M0", Layout::Fast, [4905.987, 230.048, 1748.585, 29.504, 1747.504, 0.000, 5220.539, 108.809]),
    ("M0", Layout::Mean, [4218.358, 115.110, 471.318, 0.000, 1207.919, 31.585, 5120.079, 136.275]),
    ("M3", Layout::Small, [2890.764, 268.774, 780.542, 0.000, 1078.121, 1.483, 2905.053, 56.176]),
    ("M3", Layout::Fast, [3415.433, 149.654, 340.113, 0.000, 1078.206, 7.993, 2980.860, 12.546]),
    ("M3", Layout::Mean, [2568.444, 74.942, 215.321, 0.000, 772.884, 20.984, 2888.485, 74.343]),
    ("M4F", Layout::Small, [1020.337, 207.260, 505.203, 170.413, 146.340, 22.765, 226.504, 164.976]),
    ("M4F", Layout::Fast, [1289.703, 54.419, 252.303, 0.000, 146.245, 2.139, 280.914, 32.282]),
    ("M4F", Layout::Mean, [1166.636, 27.300, 217.320, 0.000, 128.163, 21.166, 260.890, 71.899]),
    ("M33", Layout::Small, [1006.704, 185.281, 509.244, 194.843, 131.886, 22.983, 205.910, 170.265]),
    ("M33", Layout::Fast, [1283.131, 54.397, 247.291, 3.932, 133.412, 2.755, 263.321, 35.009]),
    ("M33", Layout::Mean, [1124.536, 27.312, 255.338, 0.000, 113.398, 16.970, 235.324, 57.984]),
];

/// Bytes of stack in a step (the worst row) and while loading, the most of all models that were measured, by
/// core, cell and layout; for a denoiser (`vosp`) and a sampler (`storn`) by the layout of both networks.
#[rustfmt::skip]
pub(super) const STACKS: [(&str, &str, Layout, [u32; 2]); 50] = [
    ("M0", "elman", Layout::Fast, [820, 2352]),
    ("M0", "elman", Layout::Float, [1452, 2316]),
    ("M0", "elman", Layout::Mean, [820, 2352]),
    ("M0", "elman", Layout::Small, [820, 2352]),
    ("M0", "gru", Layout::Fast, [832, 2392]),
    ("M0", "gru", Layout::Float, [1452, 2316]),
    ("M0", "gru", Layout::Mean, [856, 2392]),
    ("M0", "gru", Layout::Small, [892, 2392]),
    ("M0", "lstm", Layout::Fast, [820, 2616]),
    ("M0", "lstm", Layout::Float, [1452, 2316]),
    ("M0", "lstm", Layout::Mean, [820, 2596]),
    ("M0", "lstm", Layout::Small, [820, 2628]),
    ("M3", "elman", Layout::Fast, [720, 1972]),
    ("M3", "elman", Layout::Float, [1328, 1976]),
    ("M3", "elman", Layout::Mean, [720, 1972]),
    ("M3", "elman", Layout::Small, [796, 1972]),
    ("M3", "gru", Layout::Fast, [992, 1972]),
    ("M3", "gru", Layout::Float, [1328, 1976]),
    ("M3", "gru", Layout::Mean, [1216, 1972]),
    ("M3", "gru", Layout::Small, [1268, 1972]),
    ("M3", "lstm", Layout::Fast, [720, 2184]),
    ("M3", "lstm", Layout::Float, [1328, 1976]),
    ("M3", "lstm", Layout::Mean, [720, 2172]),
    ("M3", "lstm", Layout::Small, [720, 2196]),
    ("M4F", "elman", Layout::Fast, [640, 1976]),
    ("M4F", "elman", Layout::Float, [1304, 1968]),
    ("M4F", "elman", Layout::Mean, [680, 1976]),
    ("M4F", "elman", Layout::Small, [752, 1976]),
    ("M4F", "gru", Layout::Fast, [960, 1976]),
    ("M4F", "gru", Layout::Float, [1304, 1968]),
    ("M4F", "gru", Layout::Mean, [1192, 1976]),
    ("M4F", "gru", Layout::Small, [1232, 1976]),
    ("M4F", "lstm", Layout::Fast, [640, 2160]),
    ("M4F", "lstm", Layout::Float, [1304, 1968]),
    ("M4F", "lstm", Layout::Mean, [640, 2160]),
    ("M4F", "lstm", Layout::Small, [640, 2168]),
    ("M4F", "storn", Layout::Fast, [816, 5144]),
    ("M4F", "vosp", Layout::Fast, [784, 5144]),
    ("M33", "elman", Layout::Fast, [624, 1980]),
    ("M33", "elman", Layout::Float, [1268, 1976]),
    ("M33", "elman", Layout::Mean, [664, 1980]),
    ("M33", "elman", Layout::Small, [720, 1980]),
    ("M33", "gru", Layout::Fast, [944, 1980]),
    ("M33", "gru", Layout::Float, [1268, 1976]),
    ("M33", "gru", Layout::Mean, [1176, 1980]),
    ("M33", "gru", Layout::Small, [1192, 1980]),
    ("M33", "lstm", Layout::Fast, [624, 2144]),
    ("M33", "lstm", Layout::Float, [1268, 1976]),
    ("M33", "lstm", Layout::Mean, [624, 2144]),
    ("M33", "lstm", Layout::Small, [648, 2184]),
];

/// Bytes of a `Predictor`, and of a `Denoiser` or `Sampler`, on a core of 32 bits.
pub(super) const HANDLES: [u32; 2] = [396, 820];

/// Parts of extensions that have a weight: the input density itself, its channels, their squares and cubes;
/// following the truth and detecting faults, their channels, and outputs.
pub(super) const EXTENSION_PARTS: usize = 7;

/// Instructions per part of the extensions, by core, whatever the layout.
#[rustfmt::skip]
pub(super) const EXTENSION_WEIGHTS: [(&str, [f64; EXTENSION_PARTS]); 0] = [];
