//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM units, inputs, units filled in,
/// channels scored, GRU units, blocks of GRUs where they count apart.
pub(super) const PARTS: usize = 9;

/// Instructions per part, by core, layout, and whether weights have variances.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, bool, [f64; PARTS]); 24] = [
    ("M0", Layout::Fast, false, [7177.481, 228.894, 837.970, 54.804, 1781.598, 0.000, 5486.838, 535.807, 0.000]),
    ("M0", Layout::Small, false, [4120.938, 398.569, 1015.023, 385.194, 2109.618, 54.576, 5486.838, 313.223, 0.000]),
    ("M0", Layout::Fast, true, [4442.016, 334.713, 979.097, 125.675, 2100.161, 0.000, 5486.838, 812.075, 0.000]),
    ("M0", Layout::Mean, false, [4965.720, 114.181, 385.544, 0.000, 1634.386, 32.264, 5263.719, 116.402, 0.000]),
    ("M3", Layout::Fast, false, [3903.771, 149.778, 341.071, 0.000, 1094.050, 9.067, 3060.688, 10.693, 0.000]),
    ("M3", Layout::Small, false, [3359.767, 268.795, 782.123, 0.000, 1096.812, 2.204, 2985.535, 54.419, 0.000]),
    ("M3", Layout::Fast, true, [3631.466, 223.980, 294.444, 81.328, 1149.145, 23.530, 3060.688, 79.072, 0.000]),
    ("M3", Layout::Mean, false, [3018.501, 74.962, 217.019, 0.000, 1021.768, 21.091, 2968.792, 74.898, 0.000]),
    ("M4F", Layout::Fast, false, [1720.531, 54.528, 253.330, 0.000, 139.834, 2.609, 260.510, 30.569, 0.000]),
    ("M4F", Layout::Small, false, [1417.435, 207.275, 509.098, 173.250, 141.932, 23.506, 206.017, 170.942, 0.000]),
    ("M4F", Layout::Fast, true, [2141.268, 82.229, 306.195, 6.001, 120.286, 11.855, 260.510, 51.030, 0.000]),
    ("M4F", Layout::Mean, false, [1528.850, 27.296, 219.446, 0.000, 126.318, 21.143, 239.546, 72.404, 0.000]),
    ("M33", Layout::Fast, false, [1695.443, 54.516, 249.468, 3.017, 132.802, 3.012, 228.220, 32.753, 0.000]),
    ("M33", Layout::Small, false, [1385.529, 185.284, 511.260, 192.540, 134.455, 22.707, 171.924, 167.921, 0.000]),
    ("M33", Layout::Fast, true, [2113.592, 82.226, 304.778, 7.121, 113.146, 11.959, 228.220, 51.883, 0.000]),
    ("M33", Layout::Mean, false, [1485.285, 27.312, 249.403, 0.000, 117.440, 17.910, 203.396, 62.501, 0.000]),
    ("M55", Layout::Fast, false, [2009.504, 17.412, 106.447, 11.586, 146.544, 0.000, 246.062, 22.002, 17.898]),
    ("M55", Layout::Small, false, [1648.195, 168.006, 276.220, 358.469, 137.014, 42.216, 210.488, 275.826, 167.881]),
    ("M55", Layout::Fast, true, [2359.331, 26.746, 116.334, 26.922, 95.444, 15.755, 246.062, 176.255, 81.753]),
    ("M55", Layout::Mean, false, [1731.345, 8.828, 57.418, 0.000, 117.044, 0.825, 237.295, 190.870, 10.144]),
    ("RV32", Layout::Fast, false, [4431.095, 210.141, 526.952, 1.238, 1102.457, 0.000, 2914.125, 479.007, 0.000]),
    ("RV32", Layout::Small, false, [3653.123, 324.937, 1070.947, 62.984, 1097.952, 0.000, 2869.025, 86.073, 0.000]),
    ("RV32", Layout::Fast, true, [4029.535, 313.278, 506.084, 80.466, 1342.611, 0.000, 2914.125, 725.403, 0.000]),
    ("RV32", Layout::Mean, false, [3587.465, 105.424, 269.213, 0.000, 1021.761, 22.033, 2833.812, 81.819, 0.000]),
];

/// Parts of the layout `sparse` that have a weight: maps with lists, lists, the pairs of columns in them, and
/// lists of GRUs, which some cores walk in compiled code, and their pairs where they count apart.
pub(super) const LIST_PARTS: usize = 5;

/// Instructions per part of lists, by core and whether weights have variances, on top of what the layout
/// `fast` takes without its blocks.
#[rustfmt::skip]
pub(super) const LIST_WEIGHTS: [(&str, bool, [f64; LIST_PARTS]); 12] = [
    ("M0", false, [330.739, 30.409, 68.378, 484.330, 0.000]),
    ("M0", true, [1671.397, 52.384, 85.686, 634.040, 0.000]),
    ("M3", false, [202.829, 23.385, 43.004, 6.370, 0.000]),
    ("M3", true, [367.228, 39.643, 62.185, -5.823, 0.000]),
    ("M4F", false, [212.060, 21.297, 18.411, 4.833, 0.000]),
    ("M4F", true, [211.556, 19.349, 28.528, 8.984, 0.000]),
    ("M33", false, [211.689, 21.229, 18.408, 4.650, 0.000]),
    ("M33", true, [209.365, 19.522, 28.518, 8.735, 0.000]),
    ("M55", false, [218.390, 44.299, 5.580, 117.474, 18.561]),
    ("M55", true, [0.000, 181.930, 27.496, 38.126, 4.249]),
    ("RV32", false, [207.730, 0.000, 63.644, 449.984, 0.000]),
    ("RV32", true, [1102.408, 26.032, 87.211, 547.387, 0.000]),
];

/// Parts of extensions that have a weight: the input density itself, its channels, their squares and cubes;
/// following the truth and detecting faults, their channels, and outputs.
pub(super) const EXTENSION_PARTS: usize = 7;

/// Instructions per part of the extensions, by core, whatever the layout.
#[rustfmt::skip]
pub(super) const EXTENSION_WEIGHTS: [(&str, [f64; EXTENSION_PARTS]); 6] = [
    ("M0", [1687.625, 0.013, 1066.621, 61.751, 0.000, 8360.949, 3250.965]),
    ("M3", [6729.492, 0.000, 525.305, 44.139, 0.000, 5194.986, 1964.178]),
    ("M4F", [767.907, 338.940, 105.451, 2.496, 0.000, 496.684, 121.825]),
    ("M33", [1153.713, 264.726, 104.556, 2.740, 0.000, 432.223, 105.010]),
    ("M55", [356.971, 417.994, 95.855, 2.861, 0.000, 427.971, 114.359]),
    ("RV32", [5955.390, 0.000, 467.397, 40.184, 0.000, 4756.298, 1870.552]),
];

/// Parts of a linear part that have a weight: itself, inputs that enter its ring, and weights.
pub(super) const LINEAR_PARTS: usize = 3;

/// Instructions per part of a linear part, by core, whatever the layout.
#[rustfmt::skip]
pub(super) const LINEAR_WEIGHTS: [(&str, [f64; LINEAR_PARTS]); 6] = [
    ("M0", [1405.115, 1006.062, 584.396]),
    ("M3", [849.895, 701.292, 321.354]),
    ("M4F", [555.671, 63.926, 18.073]),
    ("M33", [497.909, 52.941, 19.198]),
    ("M55", [515.229, 42.271, 19.365]),
    ("RV32", [890.362, 670.888, 309.021]),
];

/// Parts of a latent model that have a weight: itself, channels, values that are drawn and averaged,
/// recurrent units whose state is copied for each draw, and units that are read as inputs, which take less.
pub(super) const LATENT_PARTS: usize = 5;

/// Instructions per part of a latent model on top of its networks, by core.
#[rustfmt::skip]
pub(super) const LATENT_WEIGHTS: [(&str, [f64; LATENT_PARTS]); 6] = [
    ("M0", [0.000, 4560.143, 1183.528, 275.126, -381.336]),
    ("M3", [0.000, 2565.872, 750.109, 102.941, -319.847]),
    ("M4F", [0.000, 126.836, 1.235, 40.273, -19.993]),
    ("M33", [55.070, 108.135, 0.000, 39.516, -15.151]),
    ("M55", [0.000, 186.808, 31.327, 28.800, -33.942]),
    ("RV32", [0.000, 2279.362, 576.657, 161.582, -266.374]),
];

/// Bytes of stack in a step (the worst row) and while loading, the most of all models that were measured, by
/// core, cell, layout, and whether weights have variances; for a denoiser (`vosp`) and a sampler (`storn`)
/// by the layout of both networks.
#[rustfmt::skip]
pub(super) const STACKS: [(&str, &str, Layout, bool, [u32; 2]); 138] = [
    ("M0", "elman", Layout::Fast, false, [1140, 4004]),
    ("M0", "elman", Layout::Fast, true, [1140, 4004]),
    ("M0", "elman", Layout::Float, false, [1700, 3620]),
    ("M0", "elman", Layout::Mean, false, [1256, 4004]),
    ("M0", "elman", Layout::Small, false, [1380, 4004]),
    ("M0", "elman", Layout::Sparse, false, [1216, 4004]),
    ("M0", "elman", Layout::Sparse, true, [1224, 4028]),
    ("M0", "gru", Layout::Fast, false, [1488, 4008]),
    ("M0", "gru", Layout::Fast, true, [1640, 4008]),
    ("M0", "gru", Layout::Float, false, [1700, 3620]),
    ("M0", "gru", Layout::Mean, false, [1504, 4008]),
    ("M0", "gru", Layout::Small, false, [1548, 4008]),
    ("M0", "gru", Layout::Sparse, false, [1816, 4008]),
    ("M0", "gru", Layout::Sparse, true, [1824, 4028]),
    ("M0", "lstm", Layout::Fast, false, [1156, 4004]),
    ("M0", "lstm", Layout::Fast, true, [1140, 4004]),
    ("M0", "lstm", Layout::Float, false, [1700, 3620]),
    ("M0", "lstm", Layout::Mean, false, [1224, 4048]),
    ("M0", "lstm", Layout::Small, false, [1372, 4004]),
    ("M0", "lstm", Layout::Sparse, false, [1216, 4004]),
    ("M0", "lstm", Layout::Sparse, true, [1224, 4028]),
    ("M0", "storn", Layout::Fast, false, [1336, 8628]),
    ("M0", "vosp", Layout::Fast, false, [1344, 8628]),
    ("M3", "elman", Layout::Fast, false, [1000, 3808]),
    ("M3", "elman", Layout::Fast, true, [1000, 3808]),
    ("M3", "elman", Layout::Float, false, [1576, 3472]),
    ("M3", "elman", Layout::Mean, false, [1080, 3808]),
    ("M3", "elman", Layout::Small, false, [1180, 3808]),
    ("M3", "elman", Layout::Sparse, false, [1136, 3808]),
    ("M3", "elman", Layout::Sparse, true, [1136, 3840]),
    ("M3", "gru", Layout::Fast, false, [1120, 3808]),
    ("M3", "gru", Layout::Fast, true, [1144, 3808]),
    ("M3", "gru", Layout::Float, false, [1576, 3472]),
    ("M3", "gru", Layout::Mean, false, [1344, 3808]),
    ("M3", "gru", Layout::Small, false, [1396, 3808]),
    ("M3", "gru", Layout::Sparse, false, [1136, 3808]),
    ("M3", "gru", Layout::Sparse, true, [1144, 3840]),
    ("M3", "lstm", Layout::Fast, false, [1000, 3808]),
    ("M3", "lstm", Layout::Fast, true, [1000, 3808]),
    ("M3", "lstm", Layout::Float, false, [1576, 3472]),
    ("M3", "lstm", Layout::Mean, false, [1000, 3808]),
    ("M3", "lstm", Layout::Small, false, [1000, 3808]),
    ("M3", "lstm", Layout::Sparse, false, [1136, 3808]),
    ("M3", "lstm", Layout::Sparse, true, [1136, 3840]),
    ("M3", "storn", Layout::Fast, false, [1200, 8504]),
    ("M3", "vosp", Layout::Fast, false, [1208, 8504]),
    ("M4F", "elman", Layout::Fast, false, [984, 3872]),
    ("M4F", "elman", Layout::Fast, true, [1024, 3872]),
    ("M4F", "elman", Layout::Float, false, [1560, 3496]),
    ("M4F", "elman", Layout::Mean, false, [1096, 3872]),
    ("M4F", "elman", Layout::Small, false, [1184, 3872]),
    ("M4F", "elman", Layout::Sparse, false, [1184, 3872]),
    ("M4F", "elman", Layout::Sparse, true, [1184, 3900]),
    ("M4F", "gru", Layout::Fast, false, [1128, 3872]),
    ("M4F", "gru", Layout::Fast, true, [1160, 3872]),
    ("M4F", "gru", Layout::Float, false, [1560, 3496]),
    ("M4F", "gru", Layout::Mean, false, [1360, 3872]),
    ("M4F", "gru", Layout::Small, false, [1408, 3872]),
    ("M4F", "gru", Layout::Sparse, false, [1184, 3872]),
    ("M4F", "gru", Layout::Sparse, true, [1184, 3900]),
    ("M4F", "lstm", Layout::Fast, false, [984, 3880]),
    ("M4F", "lstm", Layout::Fast, true, [1024, 3872]),
    ("M4F", "lstm", Layout::Float, false, [1560, 3496]),
    ("M4F", "lstm", Layout::Mean, false, [984, 3872]),
    ("M4F", "lstm", Layout::Small, false, [984, 3872]),
    ("M4F", "lstm", Layout::Sparse, false, [1184, 3872]),
    ("M4F", "lstm", Layout::Sparse, true, [1184, 3900]),
    ("M4F", "storn", Layout::Fast, false, [1168, 8504]),
    ("M4F", "vosp", Layout::Fast, false, [1168, 8504]),
    ("M33", "elman", Layout::Fast, false, [968, 3880]),
    ("M33", "elman", Layout::Fast, true, [984, 3880]),
    ("M33", "elman", Layout::Float, false, [1516, 3488]),
    ("M33", "elman", Layout::Mean, false, [1088, 3880]),
    ("M33", "elman", Layout::Small, false, [1152, 3880]),
    ("M33", "elman", Layout::Sparse, false, [1152, 3880]),
    ("M33", "elman", Layout::Sparse, true, [1152, 3912]),
    ("M33", "gru", Layout::Fast, false, [1144, 3880]),
    ("M33", "gru", Layout::Fast, true, [1176, 3880]),
    ("M33", "gru", Layout::Float, false, [1516, 3488]),
    ("M33", "gru", Layout::Mean, false, [1376, 3880]),
    ("M33", "gru", Layout::Small, false, [1408, 3880]),
    ("M33", "gru", Layout::Sparse, false, [1152, 3880]),
    ("M33", "gru", Layout::Sparse, true, [1168, 3912]),
    ("M33", "lstm", Layout::Fast, false, [968, 3888]),
    ("M33", "lstm", Layout::Fast, true, [984, 3880]),
    ("M33", "lstm", Layout::Float, false, [1516, 3488]),
    ("M33", "lstm", Layout::Mean, false, [968, 3880]),
    ("M33", "lstm", Layout::Small, false, [992, 3880]),
    ("M33", "lstm", Layout::Sparse, false, [1152, 3880]),
    ("M33", "lstm", Layout::Sparse, true, [1152, 3912]),
    ("M33", "storn", Layout::Fast, false, [1168, 8512]),
    ("M33", "vosp", Layout::Fast, false, [1168, 8512]),
    ("M55", "elman", Layout::Fast, false, [1344, 3880]),
    ("M55", "elman", Layout::Fast, true, [1344, 3880]),
    ("M55", "elman", Layout::Float, false, [1496, 3488]),
    ("M55", "elman", Layout::Mean, false, [1344, 3880]),
    ("M55", "elman", Layout::Small, false, [1188, 3880]),
    ("M55", "elman", Layout::Sparse, false, [1344, 3880]),
    ("M55", "elman", Layout::Sparse, true, [1152, 3912]),
    ("M55", "gru", Layout::Fast, false, [1504, 3880]),
    ("M55", "gru", Layout::Fast, true, [1424, 3880]),
    ("M55", "gru", Layout::Float, false, [1496, 3488]),
    ("M55", "gru", Layout::Mean, false, [1352, 3880]),
    ("M55", "gru", Layout::Small, false, [1404, 3880]),
    ("M55", "gru", Layout::Sparse, false, [1152, 3880]),
    ("M55", "gru", Layout::Sparse, true, [1168, 3912]),
    ("M55", "lstm", Layout::Fast, false, [1344, 4112]),
    ("M55", "lstm", Layout::Fast, true, [1344, 3880]),
    ("M55", "lstm", Layout::Float, false, [1496, 3488]),
    ("M55", "lstm", Layout::Mean, false, [1344, 4112]),
    ("M55", "lstm", Layout::Small, false, [988, 3880]),
    ("M55", "lstm", Layout::Sparse, false, [1344, 3880]),
    ("M55", "lstm", Layout::Sparse, true, [1152, 3912]),
    ("M55", "storn", Layout::Fast, false, [1592, 8512]),
    ("M55", "vosp", Layout::Fast, false, [1592, 8512]),
    ("RV32", "elman", Layout::Fast, false, [928, 3748]),
    ("RV32", "elman", Layout::Fast, true, [944, 3764]),
    ("RV32", "elman", Layout::Float, false, [1524, 3416]),
    ("RV32", "elman", Layout::Mean, false, [1028, 3748]),
    ("RV32", "elman", Layout::Small, false, [1208, 3748]),
    ("RV32", "elman", Layout::Sparse, false, [1008, 3756]),
    ("RV32", "elman", Layout::Sparse, true, [1024, 3764]),
    ("RV32", "gru", Layout::Fast, false, [1016, 3748]),
    ("RV32", "gru", Layout::Fast, true, [1140, 3764]),
    ("RV32", "gru", Layout::Float, false, [1524, 3416]),
    ("RV32", "gru", Layout::Mean, false, [912, 3748]),
    ("RV32", "gru", Layout::Small, false, [1032, 3748]),
    ("RV32", "gru", Layout::Sparse, false, [1248, 3756]),
    ("RV32", "gru", Layout::Sparse, true, [1264, 3764]),
    ("RV32", "lstm", Layout::Fast, false, [928, 3748]),
    ("RV32", "lstm", Layout::Fast, true, [944, 3764]),
    ("RV32", "lstm", Layout::Float, false, [1524, 3416]),
    ("RV32", "lstm", Layout::Mean, false, [900, 3748]),
    ("RV32", "lstm", Layout::Small, false, [1144, 3912]),
    ("RV32", "lstm", Layout::Sparse, false, [1008, 3756]),
    ("RV32", "lstm", Layout::Sparse, true, [1024, 3764]),
    ("RV32", "storn", Layout::Fast, false, [1088, 8444]),
    ("RV32", "vosp", Layout::Fast, false, [1104, 8444]),
];

/// Bytes of a `Predictor`, and of a `Denoiser` or `Sampler`, on a core of 32 bits.
pub(super) const HANDLES: [u32; 2] = [676, 1292];
