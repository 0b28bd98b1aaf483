//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM units, inputs, units filled in,
/// channels scored, GRU units.
pub(super) const PARTS: usize = 8;

/// Instructions per part, by core and layout.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, [f64; PARTS]); 12] = [
    ("M0", Layout::Small, [4884.145, 406.548, 1733.683, 42.183, 1758.669, 0.000, 5257.109, 130.574]),
    ("M0", Layout::Fast, [4900.837, 230.047, 1762.747, 28.616, 1746.891, 0.000, 5220.064, 123.187]),
    ("M0", Layout::Mean, [4223.161, 115.131, 535.100, 0.000, 1207.482, 31.603, 5120.068, 153.964]),
    ("M3", Layout::Small, [2893.252, 268.777, 793.438, 0.000, 1077.743, 1.550, 2905.080, 63.461]),
    ("M3", Layout::Fast, [3430.461, 149.654, 340.113, 0.000, 1078.205, 7.993, 2983.672, 12.545]),
    ("M3", Layout::Mean, [2568.327, 74.947, 250.276, 0.000, 772.703, 21.009, 2888.437, 87.039]),
    ("M4F", Layout::Small, [1023.827, 207.280, 512.534, 172.960, 145.175, 23.372, 227.285, 177.384]),
    ("M4F", Layout::Fast, [1309.300, 54.415, 252.326, 0.000, 146.275, 2.141, 284.062, 32.278]),
    ("M4F", Layout::Mean, [1169.227, 27.310, 254.167, 0.000, 128.095, 21.175, 261.195, 85.060]),
    ("M33", Layout::Small, [1007.159, 185.272, 514.795, 196.797, 132.875, 23.156, 206.516, 172.602]),
    ("M33", Layout::Fast, [1303.451, 54.422, 246.743, 4.093, 133.341, 2.704, 264.728, 35.070]),
    ("M33", Layout::Mean, [1116.093, 27.297, 281.650, 0.000, 113.070, 17.066, 234.803, 69.448]),
];

/// Bytes of stack in a step (the worst row) and while loading, the most of all models that were measured, by
/// core, cell and layout; for a denoiser (`vosp`) and a sampler (`storn`) by the layout of both networks.
#[rustfmt::skip]
pub(super) const STACKS: [(&str, &str, Layout, [u32; 2]); 50] = [
    ("M0", "elman", Layout::Fast, [820, 2352]),
    ("M0", "elman", Layout::Float, [1452, 2316]),
    ("M0", "elman", Layout::Mean, [820, 2352]),
    ("M0", "elman", Layout::Small, [820, 2352]),
    ("M0", "gru", Layout::Fast, [860, 2392]),
    ("M0", "gru", Layout::Float, [1452, 2316]),
    ("M0", "gru", Layout::Mean, [908, 2392]),
    ("M0", "gru", Layout::Small, [916, 2392]),
    ("M0", "lstm", Layout::Fast, [820, 2616]),
    ("M0", "lstm", Layout::Float, [1452, 2316]),
    ("M0", "lstm", Layout::Mean, [820, 2596]),
    ("M0", "lstm", Layout::Small, [820, 2652]),
    ("M3", "elman", Layout::Fast, [720, 1980]),
    ("M3", "elman", Layout::Float, [1328, 1976]),
    ("M3", "elman", Layout::Mean, [744, 1980]),
    ("M3", "elman", Layout::Small, [812, 1980]),
    ("M3", "gru", Layout::Fast, [992, 1980]),
    ("M3", "gru", Layout::Float, [1328, 1976]),
    ("M3", "gru", Layout::Mean, [1256, 1980]),
    ("M3", "gru", Layout::Small, [1284, 1980]),
    ("M3", "lstm", Layout::Fast, [720, 2184]),
    ("M3", "lstm", Layout::Float, [1328, 1976]),
    ("M3", "lstm", Layout::Mean, [720, 2172]),
    ("M3", "lstm", Layout::Small, [720, 2212]),
    ("M33", "elman", Layout::Fast, [624, 1988]),
    ("M33", "elman", Layout::Float, [1268, 1976]),
    ("M33", "elman", Layout::Mean, [696, 1988]),
    ("M33", "elman", Layout::Small, [736, 1988]),
    ("M33", "gru", Layout::Fast, [944, 1988]),
    ("M33", "gru", Layout::Float, [1268, 1976]),
    ("M33", "gru", Layout::Mean, [1208, 1988]),
    ("M33", "gru", Layout::Small, [1208, 1988]),
    ("M33", "lstm", Layout::Fast, [624, 2144]),
    ("M33", "lstm", Layout::Float, [1268, 1976]),
    ("M33", "lstm", Layout::Mean, [624, 2144]),
    ("M33", "lstm", Layout::Small, [664, 2200]),
    ("M4F", "elman", Layout::Fast, [640, 1984]),
    ("M4F", "elman", Layout::Float, [1304, 1968]),
    ("M4F", "elman", Layout::Mean, [720, 1984]),
    ("M4F", "elman", Layout::Small, [776, 1984]),
    ("M4F", "gru", Layout::Fast, [960, 1984]),
    ("M4F", "gru", Layout::Float, [1304, 1968]),
    ("M4F", "gru", Layout::Mean, [1232, 1984]),
    ("M4F", "gru", Layout::Small, [1248, 1984]),
    ("M4F", "lstm", Layout::Fast, [640, 2160]),
    ("M4F", "lstm", Layout::Float, [1304, 1968]),
    ("M4F", "lstm", Layout::Mean, [640, 2160]),
    ("M4F", "lstm", Layout::Small, [656, 2192]),
    ("M4F", "storn", Layout::Fast, [824, 5152]),
    ("M4F", "vosp", Layout::Fast, [792, 5152]),
];

/// Bytes of a `Predictor`, and of a `Denoiser` or `Sampler`, on a core of 32 bits.
pub(super) const HANDLES: [u32; 2] = [396, 820];
