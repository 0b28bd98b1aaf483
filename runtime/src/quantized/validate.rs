//! Checks of what the integer kernels can run, and of affine maps in quantized layouts.

use super::format::{
    BIAS_LIMIT, BLOCK_ROWS, Columns, GruPart, PaddedShape, QuantizedGroup, QuantizedView, SQUARE_SUM_LIMIT,
    SUM_LIMIT, Words,
};
use super::kernels::integers;
use super::pairs::GroupPairs;
use super::sections::stores_squares;
use super::validate_pairs::{check_form, check_lists};
use super::weight_vars::{BIAS_VAR_LIMIT, SHARED_VAR_SCALE_LIMIT, WEIGHT_VAR_SCALE_LIMIT, WeightVarGroup};
use crate::format::{AffineShape, Cursor, Error, Part, check};
use crate::spec::{
    Activation, AnyArchitecture, CellKind, Layout, Likelihood, ModelSpec, MomentForm, OutputMode, UnitNoise,
    WeightFormat,
};

/// Largest magnitude of a code.
const LARGEST_CODE: i32 = 127;

/// Checks that the integer kernels can run an architecture.
pub(crate) fn check_spec(spec: &ModelSpec) -> Result<(), Error> {
    check(spec.weight_format == WeightFormat::Int8, Part::Spec, "weight_format", "int8 in this layout")?;
    check(spec.moment_form == MomentForm::Accurate, Part::Spec, "moment_form", "accurate in this layout")?;
    let means_only = spec.layout == Layout::Mean;
    for (index, layer) in spec.layers.iter().enumerate() {
        let part = Part::Layer(index as u8);
        check(can_run(layer.cell), part, "cell", "tanh, sigmoid, LSTM or GRU in this layout")?;
        check_weight_variance(layer.weight_variance, spec.layout, part)?;
        check(layer.variance_scale == 1.0, part, "variance_scale", "1 in this layout")?;
        check_noise(layer.input_noise, means_only, part, "input_noise")?;
        check_noise(layer.recurrent_noise, means_only, part, "recurrent_noise")?;
    }
    let output = &spec.output;
    check_weight_variance(output.weight_variance, spec.layout, Part::Output)?;
    let scaled_probability = spec.likelihood == Likelihood::Bernoulli && output.variance_scale != 1.0;
    check(!scaled_probability, Part::Output, "variance_scale", "1 in this layout")?;
    let mean_only = output.mode == OutputMode::MeanOnly;
    check(mean_only || !means_only, Part::Output, "mode", "mean only in this layout")?;
    check_noise(output.noise, means_only && !mean_only, Part::Output, "noise")
}

/// The layout `small` squares codes of weights while running, and has no place for μ² + τ.
fn check_weight_variance(weight_variance: bool, layout: Layout, part: Part) -> Result<(), Error> {
    let allowed = !weight_variance || stores_squares(layout);
    check(allowed, part, "weight_variance", "off in the quantized layouts other than fast and sparse")
}

/// Whether there are kernels for a cell.
fn can_run(cell: CellKind) -> bool {
    match cell {
        CellKind::Lstm | CellKind::Gru => true,
        CellKind::Elman(activation) | CellKind::Dense(activation) => match activation {
            Activation::Tanh | Activation::Sigmoid => true,
            Activation::Relu => false,
        },
    }
}

/// Checks that a noise fits the kernels' integers.
fn check_noise(noise: UnitNoise, means_only: bool, part: Part, field: &'static str) -> Result<(), Error> {
    let allowed = match noise {
        UnitNoise::None => true,
        UnitNoise::Dropout { .. } => !means_only,
        UnitNoise::Multiplicative { var } => !means_only && var <= 2.0,
        UnitNoise::Additive { var } => !means_only && var <= 16.0,
    };
    let ranges =
        "none in the layout mean, of a variance up to 2 (factor) or 16 (summand) in the other quantized ones";
    check(allowed, part, field, ranges)
}

/// Checks the scales and rows of the next affine map: kernels rely on variances that are not negative and fit
/// their integers, and on biases that leave room for a product. Padding is zero.
#[inline(never)]
pub(crate) fn check_affine(cursor: &mut Cursor<'_>, shape: AffineShape, part: Part) -> Result<(), Error> {
    let map = QuantizedView::<AnyArchitecture>::read(cursor, shape);
    let quant_params = map.quant_params();
    check(quant_params.is_sound(), part, "quant_params", "scales within the range of the integer kernels")?;
    let weight_vars = map.weight_vars().params();
    if let Some(params) = weight_vars {
        let sound = params.is_sound(&quant_params);
        check(sound, part, "weight_var_params", "scales within the range of the integer kernels")?;
    }
    let mut left = 0_usize;
    for (index, group) in map.groups().enumerate() {
        let cells = Cells::new(shape, map.padded, index);
        check_group(&map, &group, &cells, part)?;
        let weight_var_group = map.weight_var_group(index);
        if let Some(params) = weight_vars {
            check_weight_vars(&weight_var_group, params.square_bits, &cells, part)?;
        }
        if shape.layout == Layout::Sparse {
            let pairs = map.padded.width(map.padded.columns(index)) / 2;
            let streams = [group.weights, group.squares, weight_var_group.codes];
            left = left.saturating_add(check_lists(group.pairs, streams, pairs, part)?);
        }
    }
    if shape.layout == Layout::Sparse { check_form(&map, left, shape, part) } else { Ok(()) }
}

/// Checks the weight variances of four rows.
#[inline(never)] // out of the frame of the other checks
fn check_weight_vars(group: &WeightVarGroup<'_>, bits: u32, cells: &Cells, part: Part) -> Result<(), Error> {
    let sums = cells.row_sums(group.pairs, group.codes, Codes::Squares);
    let sums = sums.ok_or(invalid(part, "weight_var", "codes from 0 to 127, 0 in padding"))?;
    // Codes of squares are at most 2^bits, as those of variances.
    let fits = sums.iter().all(|sum| *sum <= SUM_LIMIT >> bits);
    check(fits, part, "weight_var", "of sums that leave room for squared means")?;
    let scales = cells.holds(group.scales, [0, WEIGHT_VAR_SCALE_LIMIT as i32 - 1]);
    check(scales, part, "weight_var", "of scales from 0 to 2^29 - 1, and 0 in padding")?;
    let biases = cells.holds(group.bias_vars, [0, BIAS_VAR_LIMIT as i32 - 1]);
    check(biases, part, "bias_var", "from 0 to 2^28 - 1, and 0 in padding")
}

/// Checks four rows.
fn check_group(
    map: &QuantizedView<'_>,
    group: &QuantizedGroup<'_>,
    cells: &Cells,
    part: Part,
) -> Result<(), Error> {
    let weights = cells.row_sums(group.pairs, group.weights, Codes::Weights);
    let sums = weights.ok_or(invalid(part, "weight", "pairs of codes from -127 to 127, 0 in padding"))?;
    let squares = cells.row_sums(group.pairs, group.squares, Codes::Squares);
    let squares = squares.ok_or(invalid(part, "square", "codes from 0 to 127, 0 in padding"))?;
    // Codes of variances are at most 2^bits: rounding up the largest takes one more than its bits can hold.
    let bits = map.quant_params().variance_bits;
    let fits = match (map.propagates(), map.has_squares()) {
        (false, _) => true,
        (true, true) => squares.iter().all(|sum| *sum <= SUM_LIMIT >> bits),
        (true, false) => sums.iter().all(|sum| *sum <= SQUARE_SUM_LIMIT >> bits),
    };
    check(fits, part, "square", "of sums that leave room for variances")?;
    let [largest_bias, any] = [BIAS_LIMIT as i32 - 1, i32::MAX];
    let biases = cells.holds(group.biases, [-largest_bias, largest_bias]);
    check(biases, part, "bias", "below 2^29 in magnitude, 0 in padding")?;
    check(cells.holds(group.mean_scales, [i32::MIN, any]), part, "weight", "of scale 0 in padding")?;
    let shared = map.weight_vars().params().is_some();
    let largest = if shared { SHARED_VAR_SCALE_LIMIT as i32 - 1 } else { any };
    let allowed = "of scales from 0, below 2^30 next to weight variances, and 0 in padding";
    check(cells.holds(group.var_scales, [0, largest]), part, "square", allowed)
}

fn invalid(part: Part, field: &'static str, allowed: &'static str) -> Error {
    Error::Invalid { part, field, allowed }
}

/// What the codes of a block are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Codes {
    /// Weights, squared while running.
    Weights,
    /// Squares, or variances.
    Squares,
}

/// Which rows and columns of a group are not padding.
struct Cells {
    rows: usize,
    /// Columns of the input, and where they end with their padding.
    inputs: [usize; 2],
    /// Columns of the state.
    state: usize,
}

impl Cells {
    fn new(shape: AffineShape, padded: PaddedShape, index: usize) -> Self {
        let (rows, place) =
            if padded.split { (shape.units(), index / GruPart::ALL.len()) } else { (shape.rows, index) };
        let state = shape.cols.saturating_sub(shape.inputs);
        let (inputs, state) = match padded.columns(index) {
            Columns::All => ([shape.inputs, padded.inputs], state),
            Columns::Input => ([shape.inputs, padded.inputs], 0),
            Columns::State => ([0; 2], state),
        };
        Cells { rows: rows.saturating_sub(BLOCK_ROWS * place), inputs, state }
    }

    fn is_column(&self, column: usize) -> bool {
        let [inputs, end] = self.inputs;
        column < inputs || column.checked_sub(end).is_some_and(|column| column < self.state)
    }

    /// Sums of the squares of four rows' codes; `None` if one is out of range, or in the padding and not 0.
    #[inline(never)] // once for both kinds of codes
    fn row_sums(&self, pairs: GroupPairs<'_>, blocks: &[u8], kind: Codes) -> Option<[u32; BLOCK_ROWS]> {
        let least = if kind == Codes::Weights { -LARGEST_CODE } else { 0 };
        let mut sums = [0_u32; BLOCK_ROWS];
        // Two columns of rows 0 and 1, then of rows 2 and 3.
        let words = blocks.as_chunks().0.as_chunks::<4>().0;
        for (place, words) in words.iter().enumerate() {
            let pair = pairs.number(place);
            let [a, b, c, d] = words.map(codes);
            for (column, [[p, q], [r, s]]) in [(2 * pair, [a, c]), (2 * pair + 1, [b, d])] {
                let rows = if self.is_column(column) { self.rows } else { 0 };
                for (row, (sum, code)) in sums.iter_mut().zip([p, q, r, s]).enumerate() {
                    if code < least || code > LARGEST_CODE || (row >= rows && code != 0) {
                        return None;
                    }
                    // Of at most 8,192 columns none exceeds 127².
                    *sum += (if kind == Codes::Weights { code * code } else { code }) as u32;
                }
            }
        }
        Some(sums)
    }

    /// Whether the words of the rows are in a range, and those of the padding 0.
    #[inline(never)]
    fn holds(&self, words: &Words, [least, largest]: [i32; 2]) -> bool {
        let mut words = integers::<AnyArchitecture>(words).into_iter().enumerate();
        words.all(|(row, word)| if row < self.rows { least <= word && word <= largest } else { word == 0 })
    }
}

/// The two codes a and b of 256·a + b.
fn codes(pair: [u8; 2]) -> [i32; 2] {
    let lower = i32::from(pair[0] as i8);
    [(i32::from(i16::from_le_bytes(pair)) - lower) >> 8, lower]
}
