//! Sizes of the sections of a network, from the specification of the format.

use quaver::checkpoint::{CellKind, Layout, Likelihood, ModelSpec, OutputMode, WeightFormat};

/// Sizes of one affine map.
#[derive(Clone, Copy, Debug)]
pub struct MapShape {
    /// R.
    pub rows: usize,
    /// C.
    pub cols: usize,
    /// Columns of the layer's input, 0 in the output layer.
    pub inputs: usize,
    /// B.
    pub biases: usize,
    /// Number format of the weights.
    pub format: WeightFormat,
    /// Order of the weights.
    pub layout: Layout,
    /// Whether weights have variances.
    pub weight_variance: bool,
    /// Whether variances go through the map.
    pub propagates: bool,
    /// Units, if the map is that of a GRU.
    pub gru_units: Option<usize>,
}

/// Maps of the layers, then that of the outputs.
pub fn maps(spec: &ModelSpec) -> Vec<MapShape> {
    let mut inputs = usize::from(spec.inputs);
    let mut maps = Vec::new();
    for layer in &spec.layers {
        let units = usize::from(layer.units);
        let (rows, biases, recurrent) = match layer.cell {
            CellKind::Elman(_) => (units, units, true),
            CellKind::Dense(_) => (units, units, false),
            CellKind::Lstm => (4 * units, 4 * units, true),
            CellKind::Gru => (3 * units, 4 * units, true),
        };
        maps.push(MapShape {
            rows,
            cols: inputs + if recurrent { units } else { 0 },
            inputs,
            biases,
            format: spec.weight_format,
            layout: spec.layout,
            weight_variance: layer.weight_variance,
            propagates: spec.layout != Layout::Mean,
            gru_units: (layer.cell == CellKind::Gru).then_some(units),
        });
        inputs = units;
    }
    let rows = usize::from(spec.outputs) * if spec.likelihood == Likelihood::Heteroscedastic { 2 } else { 1 };
    maps.push(MapShape {
        rows,
        cols: if spec.layers.is_empty() { 0 } else { inputs },
        inputs: 0,
        biases: rows,
        format: spec.weight_format,
        layout: spec.layout,
        weight_variance: spec.output.weight_variance,
        propagates: spec.layout != Layout::Mean && spec.output.mode == OutputMode::Propagating,
        gru_units: None,
    });
    maps
}

/// A section of numbers: how many, and their range.
#[derive(Clone, Copy, Debug)]
pub struct VectorShape {
    /// Number of values.
    pub count: usize,
    /// Smallest and largest value.
    pub range: [f32; 2],
}

const MEAN: [f32; 2] = [-1e30, 1e30];
const STD_DEV: [f32; 2] = [1.0 / 1e18, 1e18];
const FACTOR: [f32; 2] = [1.0 / 1e12, 1e12];

/// The vectors before the layers.
pub fn first_vectors(spec: &ModelSpec) -> [VectorShape; 4] {
    let [inputs, outputs] = [spec.inputs, spec.outputs].map(usize::from);
    [(inputs, MEAN), (inputs, STD_DEV), (outputs, MEAN), (outputs, STD_DEV)]
        .map(|(count, range)| VectorShape { count, range })
}

/// Places in [`last_vectors`] of vectors that must be in order.
pub const LOW: usize = 3;
/// See [`LOW`].
pub const HIGH: usize = 4;
/// See [`LOW`].
pub const QUANTILES: usize = 5;
/// See [`LOW`].
pub const RANGES: usize = 8;

/// The vectors after the layers.
pub fn last_vectors(spec: &ModelSpec) -> [VectorShape; 10] {
    let [inputs, outputs] = [spec.inputs, spec.outputs].map(usize::from);
    let normal = matches!(spec.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
    let only = |present: bool, count: usize| if present { count } else { 0 };
    let extensions = &spec.extensions;
    let (density, anomaly) = (extensions.density.is_some(), extensions.anomaly.is_some());
    let linear = extensions.linear.map_or(0, |part| outputs * (1 + usize::from(part.rows) * inputs));
    [
        (only(spec.likelihood == Likelihood::Gaussian, outputs), FACTOR),
        (only(normal, outputs), FACTOR),
        (only(density, inputs * (inputs + 1) / 2), [-1e6, 1e6]),
        (only(density, inputs), MEAN),
        (only(density, inputs), MEAN),
        (only(extensions.quantiles, 4 * outputs), [1.0 / 1e6, 1e6]),
        (only(anomaly, 4), [0.0, 1e12]),
        (only(anomaly, 18 * inputs), [0.0, 1e12]),
        (only(extensions.ranges, 2 * inputs), [f32::NEG_INFINITY, f32::INFINITY]),
        (linear, [-1e6, 1e6]),
    ]
    .map(|(count, range)| VectorShape { count, range })
}
