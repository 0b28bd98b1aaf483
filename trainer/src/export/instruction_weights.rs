//! Written by `instructions.py`.

use quaver::checkpoint::Layout;

/// Parts that have a weight: the step itself, blocks, groups of rows, LSTM units, inputs, units filled in,
/// channels scored, GRU units, blocks of GRUs where they count apart.
pub(super) const PARTS: usize = 9;

/// Instructions per part, by core, layout, and whether weights have variances.
#[rustfmt::skip]
pub(super) const WEIGHTS: [(&str, Layout, bool, [f64; PARTS]); 24] = [
    ("M0", Layout::Fast, false, [7097.896, 228.994, 856.393, 36.555, 1748.813, 0.000, 5469.726, 524.718, 0.000]),
    ("M0", Layout::Small, false, [4275.568, 399.128, 1039.526, 364.718, 2084.356, 51.487, 5469.726, 299.791, 0.000]),
    ("M0", Layout::Fast, true, [4151.513, 336.373, 1002.866, 101.631, 2051.693, 0.000, 5469.726, 818.280, 0.000]),
    ("M0", Layout::Mean, false, [4964.866, 114.183, 385.587, 0.000, 1634.166, 32.295, 5263.497, 116.369, 0.000]),
    ("M3", Layout::Fast, false, [3540.889, 149.645, 340.184, 0.000, 1074.520, 7.979, 3038.796, 12.638, 0.000]),
    ("M3", Layout::Small, false, [3359.652, 268.789, 782.170, 0.000, 1096.990, 2.183, 2985.282, 54.542, 0.000]),
    ("M3", Layout::Fast, true, [3856.558, 226.727, 266.380, 89.566, 794.726, 62.990, 3038.796, 84.779, 0.000]),
    ("M3", Layout::Mean, false, [3018.501, 74.962, 217.019, 0.000, 1021.768, 21.091, 2968.792, 74.898, 0.000]),
    ("M4F", Layout::Fast, false, [1355.657, 54.415, 250.926, 1.053, 139.410, 2.315, 296.195, 32.977, 0.000]),
    ("M4F", Layout::Small, false, [1417.355, 207.283, 509.047, 173.241, 141.623, 23.546, 205.923, 170.833, 0.000]),
    ("M4F", Layout::Fast, true, [2208.546, 82.958, 290.833, 12.471, 35.342, 22.997, 296.195, 55.015, 0.000]),
    ("M4F", Layout::Mean, false, [1529.550, 27.296, 219.445, 0.000, 126.442, 21.119, 239.887, 72.376, 0.000]),
    ("M33", Layout::Fast, false, [1371.463, 54.421, 246.448, 4.314, 131.813, 2.846, 271.060, 35.219, 0.000]),
    ("M33", Layout::Small, false, [1385.529, 185.284, 511.261, 192.540, 134.455, 22.707, 172.299, 167.921, 0.000]),
    ("M33", Layout::Fast, true, [2199.460, 83.184, 289.753, 12.389, 0.000, 25.709, 271.060, 55.218, 0.000]),
    ("M33", Layout::Mean, false, [1485.285, 27.312, 249.403, 0.000, 117.440, 17.910, 203.833, 62.501, 0.000]),
    ("M55", Layout::Fast, false, [2004.949, 17.444, 110.504, 8.294, 143.320, 0.000, 301.293, 23.304, 17.750]),
    ("M55", Layout::Small, false, [1648.137, 168.006, 276.224, 358.466, 137.001, 42.218, 210.734, 275.834, 167.878]),
    ("M55", Layout::Fast, true, [2369.094, 26.812, 115.903, 26.869, 88.127, 16.594, 301.293, 178.720, 81.500]),
    ("M55", Layout::Mean, false, [1731.237, 8.828, 57.418, 0.000, 117.028, 0.828, 237.291, 190.720, 10.154]),
    ("RV32", Layout::Fast, false, [4460.378, 210.147, 524.187, 3.180, 1104.276, 0.000, 2920.720, 492.759, 0.000]),
    ("RV32", Layout::Small, false, [3653.112, 324.941, 1071.019, 62.907, 1097.845, 0.000, 2869.159, 85.948, 0.000]),
    ("RV32", Layout::Fast, true, [4074.451, 313.654, 505.240, 78.407, 1296.077, 4.906, 2920.720, 738.680, 0.000]),
    ("RV32", Layout::Mean, false, [3587.526, 105.428, 269.180, 0.000, 1021.663, 22.044, 2833.966, 81.750, 0.000]),
];

/// Parts of the layout `sparse` that have a weight: maps with lists, lists, the pairs of columns in them, and
/// lists of GRUs, which some cores walk in compiled code, and their pairs where they count apart.
pub(super) const LIST_PARTS: usize = 5;

/// Instructions per part of lists, by core and whether weights have variances, on top of what the layout
/// `fast` takes without its blocks.
#[rustfmt::skip]
pub(super) const LIST_WEIGHTS: [(&str, bool, [f64; LIST_PARTS]); 12] = [
    ("M0", false, [331.154, 30.902, 68.547, 455.821, 0.000]),
    ("M0", true, [1861.536, 53.589, 86.938, 599.170, 0.000]),
    ("M3", false, [387.082, 25.134, 42.874, 4.960, 0.000]),
    ("M3", true, [304.827, 10.165, 70.173, 40.655, 0.000]),
    ("M4F", false, [421.828, 22.717, 18.335, 3.630, 0.000]),
    ("M4F", true, [56.059, 14.512, 30.832, 23.981, 0.000]),
    ("M33", false, [390.394, 23.149, 18.324, 3.634, 0.000]),
    ("M33", true, [30.996, 11.807, 31.653, 28.328, 0.000]),
    ("M55", false, [202.802, 44.275, 5.612, 118.786, 18.299]),
    ("M55", true, [0.000, 180.811, 27.668, 63.563, 0.804]),
    ("RV32", false, [182.971, 0.000, 63.659, 378.581, 0.000]),
    ("RV32", true, [1142.486, 23.589, 87.954, 504.976, 0.000]),
];

/// Parts of extensions that have a weight: the input density itself, its channels, their squares and cubes;
/// following the truth and detecting faults, their channels, and outputs.
pub(super) const EXTENSION_PARTS: usize = 7;

/// Instructions per part of the extensions, by core, whatever the layout.
#[rustfmt::skip]
pub(super) const EXTENSION_WEIGHTS: [(&str, [f64; EXTENSION_PARTS]); 6] = [
    ("M0", [1678.345, 0.013, 1065.961, 61.790, 0.000, 8356.893, 3249.196]),
    ("M3", [6619.711, 0.000, 524.636, 44.150, 0.000, 5197.601, 1958.822]),
    ("M4F", [921.342, 361.867, 105.221, 2.519, 0.000, 536.443, 127.026]),
    ("M33", [1258.238, 284.332, 104.767, 2.754, 0.000, 483.651, 103.097]),
    ("M55", [553.162, 438.398, 96.182, 2.874, 0.000, 496.478, 127.228]),
    ("RV32", [5960.661, 0.000, 467.292, 40.186, 0.000, 4754.144, 1869.343]),
];

/// Parts of a linear part that have a weight: itself, inputs that enter its ring, and weights.
pub(super) const LINEAR_PARTS: usize = 3;

/// Instructions per part of a linear part, by core, whatever the layout.
#[rustfmt::skip]
pub(super) const LINEAR_WEIGHTS: [(&str, [f64; LINEAR_PARTS]); 6] = [
    ("M0", [1498.255, 1032.109, 584.396]),
    ("M3", [1170.902, 741.158, 321.354]),
    ("M4F", [886.927, 78.912, 18.073]),
    ("M33", [794.379, 67.918, 19.198]),
    ("M55", [525.882, 40.519, 19.365]),
    ("RV32", [865.654, 672.018, 309.021]),
];

/// Parts of a latent model that have a weight: itself, channels, values that are drawn and averaged,
/// recurrent units whose state is copied for each draw, and units that are read as inputs, which take less.
pub(super) const LATENT_PARTS: usize = 5;

/// Instructions per part of a latent model on top of its networks, by core.
#[rustfmt::skip]
pub(super) const LATENT_WEIGHTS: [(&str, [f64; LATENT_PARTS]); 6] = [
    ("M0", [0.000, 4686.046, 1201.650, 278.857, -359.013]),
    ("M3", [0.000, 2762.568, 770.529, 114.722, -302.401]),
    ("M4F", [0.000, 280.424, 9.573, 47.766, -19.265]),
    ("M33", [0.000, 251.489, 4.455, 47.967, -12.809]),
    ("M55", [0.000, 239.100, 34.482, 25.441, -34.458]),
    ("RV32", [0.000, 2289.865, 578.180, 159.952, -268.936]),
];

/// Bytes of stack in a step (the worst row) and while loading, the most of all models that were measured, by
/// core, cell, layout, and whether weights have variances; for a denoiser (`vosp`) and a sampler (`storn`)
/// by the layout of both networks.
#[rustfmt::skip]
pub(super) const STACKS: [(&str, &str, Layout, bool, [u32; 2]); 138] = [
    ("M0", "elman", Layout::Fast, false, [1116, 3940]),
    ("M0", "elman", Layout::Fast, true, [1116, 3956]),
    ("M0", "elman", Layout::Float, false, [1676, 3556]),
    ("M0", "elman", Layout::Mean, false, [1256, 4004]),
    ("M0", "elman", Layout::Small, false, [1380, 4004]),
    ("M0", "elman", Layout::Sparse, false, [1116, 3940]),
    ("M0", "elman", Layout::Sparse, true, [1224, 4028]),
    ("M0", "gru", Layout::Fast, false, [1352, 3944]),
    ("M0", "gru", Layout::Fast, true, [1688, 4008]),
    ("M0", "gru", Layout::Float, false, [1676, 3556]),
    ("M0", "gru", Layout::Mean, false, [1504, 4008]),
    ("M0", "gru", Layout::Small, false, [1548, 4008]),
    ("M0", "gru", Layout::Sparse, false, [1488, 3944]),
    ("M0", "gru", Layout::Sparse, true, [1824, 4028]),
    ("M0", "lstm", Layout::Fast, false, [1156, 4004]),
    ("M0", "lstm", Layout::Fast, true, [1140, 4004]),
    ("M0", "lstm", Layout::Float, false, [1676, 3556]),
    ("M0", "lstm", Layout::Mean, false, [1224, 4048]),
    ("M0", "lstm", Layout::Small, false, [1372, 4004]),
    ("M0", "lstm", Layout::Sparse, false, [1116, 3940]),
    ("M0", "lstm", Layout::Sparse, true, [1224, 4028]),
    ("M0", "storn", Layout::Fast, false, [1336, 8628]),
    ("M0", "vosp", Layout::Fast, false, [1344, 8628]),
    ("M3", "elman", Layout::Fast, false, [904, 3220]),
    ("M3", "elman", Layout::Fast, true, [1016, 3808]),
    ("M3", "elman", Layout::Float, false, [1504, 3104]),
    ("M3", "elman", Layout::Mean, false, [1080, 3808]),
    ("M3", "elman", Layout::Small, false, [1180, 3808]),
    ("M3", "elman", Layout::Sparse, false, [1024, 3424]),
    ("M3", "elman", Layout::Sparse, true, [1128, 3840]),
    ("M3", "gru", Layout::Fast, false, [1176, 3220]),
    ("M3", "gru", Layout::Fast, true, [1144, 3808]),
    ("M3", "gru", Layout::Float, false, [1504, 3104]),
    ("M3", "gru", Layout::Mean, false, [1344, 3808]),
    ("M3", "gru", Layout::Small, false, [1396, 3808]),
    ("M3", "gru", Layout::Sparse, false, [1344, 3424]),
    ("M3", "gru", Layout::Sparse, true, [1144, 3840]),
    ("M3", "lstm", Layout::Fast, false, [944, 3800]),
    ("M3", "lstm", Layout::Fast, true, [1016, 3808]),
    ("M3", "lstm", Layout::Float, false, [1504, 3104]),
    ("M3", "lstm", Layout::Mean, false, [1000, 3808]),
    ("M3", "lstm", Layout::Small, false, [1000, 3808]),
    ("M3", "lstm", Layout::Sparse, false, [1024, 3424]),
    ("M3", "lstm", Layout::Sparse, true, [1128, 3840]),
    ("M3", "storn", Layout::Fast, false, [1200, 8504]),
    ("M3", "vosp", Layout::Fast, false, [1208, 8504]),
    ("M4F", "elman", Layout::Fast, false, [832, 3276]),
    ("M4F", "elman", Layout::Fast, true, [1064, 3872]),
    ("M4F", "elman", Layout::Float, false, [1488, 3128]),
    ("M4F", "elman", Layout::Mean, false, [1096, 3872]),
    ("M4F", "elman", Layout::Small, false, [1184, 3872]),
    ("M4F", "elman", Layout::Sparse, false, [1032, 3504]),
    ("M4F", "elman", Layout::Sparse, true, [1176, 3900]),
    ("M4F", "gru", Layout::Fast, false, [1144, 3276]),
    ("M4F", "gru", Layout::Fast, true, [1160, 3872]),
    ("M4F", "gru", Layout::Float, false, [1488, 3128]),
    ("M4F", "gru", Layout::Mean, false, [1360, 3872]),
    ("M4F", "gru", Layout::Small, false, [1408, 3872]),
    ("M4F", "gru", Layout::Sparse, false, [1352, 3504]),
    ("M4F", "gru", Layout::Sparse, true, [1176, 3900]),
    ("M4F", "lstm", Layout::Fast, false, [912, 3880]),
    ("M4F", "lstm", Layout::Fast, true, [1064, 3872]),
    ("M4F", "lstm", Layout::Float, false, [1488, 3128]),
    ("M4F", "lstm", Layout::Mean, false, [984, 3872]),
    ("M4F", "lstm", Layout::Small, false, [984, 3872]),
    ("M4F", "lstm", Layout::Sparse, false, [1032, 3504]),
    ("M4F", "lstm", Layout::Sparse, true, [1176, 3900]),
    ("M4F", "storn", Layout::Fast, false, [1160, 8504]),
    ("M4F", "vosp", Layout::Fast, false, [1160, 8504]),
    ("M33", "elman", Layout::Fast, false, [808, 3276]),
    ("M33", "elman", Layout::Fast, true, [1032, 3880]),
    ("M33", "elman", Layout::Float, false, [1444, 3128]),
    ("M33", "elman", Layout::Mean, false, [1088, 3880]),
    ("M33", "elman", Layout::Small, false, [1152, 3880]),
    ("M33", "elman", Layout::Sparse, false, [1016, 3520]),
    ("M33", "elman", Layout::Sparse, true, [1136, 3912]),
    ("M33", "gru", Layout::Fast, false, [1120, 3276]),
    ("M33", "gru", Layout::Fast, true, [1176, 3880]),
    ("M33", "gru", Layout::Float, false, [1444, 3128]),
    ("M33", "gru", Layout::Mean, false, [1376, 3880]),
    ("M33", "gru", Layout::Small, false, [1408, 3880]),
    ("M33", "gru", Layout::Sparse, false, [1336, 3520]),
    ("M33", "gru", Layout::Sparse, true, [1168, 3912]),
    ("M33", "lstm", Layout::Fast, false, [888, 3888]),
    ("M33", "lstm", Layout::Fast, true, [1032, 3880]),
    ("M33", "lstm", Layout::Float, false, [1444, 3128]),
    ("M33", "lstm", Layout::Mean, false, [968, 3880]),
    ("M33", "lstm", Layout::Small, false, [992, 3880]),
    ("M33", "lstm", Layout::Sparse, false, [1016, 3520]),
    ("M33", "lstm", Layout::Sparse, true, [1136, 3912]),
    ("M33", "storn", Layout::Fast, false, [1160, 8512]),
    ("M33", "vosp", Layout::Fast, false, [1160, 8512]),
    ("M55", "elman", Layout::Fast, false, [1328, 3880]),
    ("M55", "elman", Layout::Fast, true, [1344, 3880]),
    ("M55", "elman", Layout::Float, false, [1496, 3488]),
    ("M55", "elman", Layout::Mean, false, [1344, 3880]),
    ("M55", "elman", Layout::Small, false, [1188, 3880]),
    ("M55", "elman", Layout::Sparse, false, [1328, 3880]),
    ("M55", "elman", Layout::Sparse, true, [1136, 3912]),
    ("M55", "gru", Layout::Fast, false, [1504, 3880]),
    ("M55", "gru", Layout::Fast, true, [1424, 3880]),
    ("M55", "gru", Layout::Float, false, [1496, 3488]),
    ("M55", "gru", Layout::Mean, false, [1352, 3880]),
    ("M55", "gru", Layout::Small, false, [1404, 3880]),
    ("M55", "gru", Layout::Sparse, false, [1392, 3880]),
    ("M55", "gru", Layout::Sparse, true, [1168, 3912]),
    ("M55", "lstm", Layout::Fast, false, [1328, 4096]),
    ("M55", "lstm", Layout::Fast, true, [1344, 3880]),
    ("M55", "lstm", Layout::Float, false, [1496, 3488]),
    ("M55", "lstm", Layout::Mean, false, [1344, 4112]),
    ("M55", "lstm", Layout::Small, false, [988, 3880]),
    ("M55", "lstm", Layout::Sparse, false, [1328, 3880]),
    ("M55", "lstm", Layout::Sparse, true, [1136, 3912]),
    ("M55", "storn", Layout::Fast, false, [1576, 8512]),
    ("M55", "vosp", Layout::Fast, false, [1576, 8512]),
    ("RV32", "elman", Layout::Fast, false, [912, 3748]),
    ("RV32", "elman", Layout::Fast, true, [944, 3764]),
    ("RV32", "elman", Layout::Float, false, [1524, 3416]),
    ("RV32", "elman", Layout::Mean, false, [1028, 3748]),
    ("RV32", "elman", Layout::Small, false, [1208, 3748]),
    ("RV32", "elman", Layout::Sparse, false, [912, 3756]),
    ("RV32", "elman", Layout::Sparse, true, [1024, 3764]),
    ("RV32", "gru", Layout::Fast, false, [1016, 3748]),
    ("RV32", "gru", Layout::Fast, true, [1140, 3764]),
    ("RV32", "gru", Layout::Float, false, [1524, 3416]),
    ("RV32", "gru", Layout::Mean, false, [912, 3748]),
    ("RV32", "gru", Layout::Small, false, [1032, 3748]),
    ("RV32", "gru", Layout::Sparse, false, [1136, 3756]),
    ("RV32", "gru", Layout::Sparse, true, [1264, 3764]),
    ("RV32", "lstm", Layout::Fast, false, [912, 3748]),
    ("RV32", "lstm", Layout::Fast, true, [944, 3764]),
    ("RV32", "lstm", Layout::Float, false, [1524, 3416]),
    ("RV32", "lstm", Layout::Mean, false, [900, 3748]),
    ("RV32", "lstm", Layout::Small, false, [1144, 3912]),
    ("RV32", "lstm", Layout::Sparse, false, [912, 3756]),
    ("RV32", "lstm", Layout::Sparse, true, [1024, 3764]),
    ("RV32", "storn", Layout::Fast, false, [1072, 8444]),
    ("RV32", "vosp", Layout::Fast, false, [1088, 8444]),
];

/// Bytes of a `Predictor`, and of a `Denoiser` or `Sampler`, on a core of 32 bits.
pub(super) const HANDLES: [u32; 2] = [676, 1292];
