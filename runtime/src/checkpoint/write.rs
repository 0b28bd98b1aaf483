//! Writing checkpoints (feature `std`): the trainer's half of the format.

use std::format;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::arrange::{EncodedWeights, GroupOrder};
use super::frame::Kind;
use super::layout::{AffineShape, PREAMBLE, Section, Vector, aligned};
use super::pack::{QuantizedAffine, pack};
use super::read::Header;
use super::rounding::{GramMatrices, LARGEST_CODE, Rounded, RoundingObjective};
use super::spec::{ModelSpec, WeightFormat};
use super::{Checkpoint, VERSION, crc};

/// Everything a checkpoint holds, in full precision; [`write`] quantises as the spec asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Contents {
    /// The architecture.
    pub spec: ModelSpec,
    /// Names of the inputs: one per channel, or none.
    pub input_names: Vec<String>,
    /// Names of the outputs: one per channel, or none.
    pub output_names: Vec<String>,
    /// Units of the inputs.
    pub input_scaler: Scaler,
    /// Units of the outputs.
    pub output_scaler: Scaler,
    /// Affine maps of the layers; rows in order of units, the gates i, f, g, o of an LSTM unit side by side.
    pub layers: Vec<Affine>,
    /// Affine map of the output layer.
    pub output: Affine,
    /// Noise variance per output in standardised units; empty unless the likelihood is Gaussian.
    pub noise_var: Vec<f32>,
    /// Factor on the total variance of each output, 1 when not calibrated; empty for probabilities.
    pub calibration: Vec<f32>,
    /// How data used the affine maps, those of the layers and then the output's, for bytes to be chosen by; none, and every weight is
    /// rounded to the nearest. Nothing of it is written.
    pub usage: Vec<GramMatrices>,
}

/// Mean and standard deviation of each channel in raw units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scaler {
    /// Training means.
    pub mean: Vec<f32>,
    /// Training standard deviations.
    pub std_dev: Vec<f32>,
}

impl Scaler {
    /// A scaler that changes nothing.
    pub fn identity(channels: usize) -> Self {
        Scaler { mean: vec![0.0; channels], std_dev: vec![1.0; channels] }
    }
}

/// Weights, row-major, and biases of one affine map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affine {
    /// Means of the weights, `rows × cols`.
    pub weight: Vec<f32>,
    /// Means of the biases.
    pub bias: Vec<f32>,
    /// Variances of the weights; empty without weight variances.
    pub weight_var: Vec<f32>,
    /// Variances of the biases; empty without weight variances.
    pub bias_var: Vec<f32>,
}

/// Encodes a checkpoint and reads it back, so that what is returned is known to load.
///
/// # Errors
/// Says which list has the wrong length or which field holds a value that a checkpoint may not hold.
pub fn write(contents: &Contents) -> Result<Vec<u8>, String> {
    let header = encode_header(contents)?;
    let payload = encode_payload(contents)?;
    debug_assert_eq!(payload.len(), contents.spec.payload_bytes());
    let bytes = framed(Kind::Predictor, &header, &payload)?;
    Checkpoint::read(&bytes).map_err(|error| format!("{error}"))?;
    Ok(bytes)
}

/// Puts preamble, padding and checksum around a header and a payload.
pub(super) fn framed(kind: Kind, header: &[u8], payload: &[u8]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(PREAMBLE + header.len() + payload.len() + 20);
    bytes.extend(kind.magic());
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(length(header.len(), "header")?);
    bytes.extend(length(payload.len(), "payload")?);
    extend_padded(&mut bytes, header);
    bytes.extend(payload);
    bytes.extend(crc::checksum(&bytes).to_le_bytes());
    Ok(bytes)
}

fn length(bytes: usize, what: &str) -> Result<[u8; 4], String> {
    let bytes = u32::try_from(bytes).map_err(|_| format!("{what}: {bytes} bytes do not fit the format"))?;
    Ok(bytes.to_le_bytes())
}

fn encode_header(contents: &Contents) -> Result<Vec<u8>, String> {
    for name in contents.input_names.iter().chain(&contents.output_names) {
        if name.is_empty() || name.contains(['\n', '\r']) {
            return Err(format!("channel name {name:?}: must be one non-empty line"));
        }
    }
    let (input_names, output_names) = (contents.input_names.join("\n"), contents.output_names.join("\n"));
    let header = Header {
        spec: contents.spec.clone(),
        input_names: input_names.as_bytes(),
        output_names: output_names.as_bytes(),
    };
    postcard::to_stdvec(&header).map_err(|error| format!("header: {error}"))
}

/// Of a map that no data were seen to use.
static NOTHING_KNOWN: GramMatrices = GramMatrices { means: Vec::new(), vars: Vec::new() };

fn encode_payload(contents: &Contents) -> Result<Vec<u8>, String> {
    let spec = &contents.spec;
    if contents.layers.len() != spec.layers.len() {
        return Err(format!("{} layers given, the spec has {}", contents.layers.len(), spec.layers.len()));
    }
    let mut payload = Vec::new();
    for vector in Vector::BEFORE_LAYERS {
        extend_vector(&mut payload, contents, vector)?;
    }
    let usage = |map: usize| contents.usage.get(map).unwrap_or(&NOTHING_KNOWN);
    for (index, (shape, affine)) in spec.layer_shapes().zip(&contents.layers).enumerate() {
        extend_affine(&mut payload, shape, affine, usage(index), &format!("layer {index}"), index == 0)?;
    }
    let output = usage(spec.layers.len());
    extend_affine(&mut payload, spec.output_shape(), &contents.output, output, "output layer", false)?;
    for vector in Vector::AFTER_LAYERS {
        extend_vector(&mut payload, contents, vector)?;
    }
    Ok(payload)
}

pub(super) fn extend_padded(bytes: &mut Vec<u8>, section: &[u8]) {
    bytes.extend(section);
    let padding = aligned(section.len()) - section.len();
    bytes.extend(core::iter::repeat_n(0, padding));
}

pub(super) fn le_bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn extend_vector(payload: &mut Vec<u8>, contents: &Contents, vector: Vector) -> Result<(), String> {
    let values = match vector {
        Vector::InputMean => &contents.input_scaler.mean,
        Vector::InputStdDev => &contents.input_scaler.std_dev,
        Vector::OutputMean => &contents.output_scaler.mean,
        Vector::OutputStdDev => &contents.output_scaler.std_dev,
        Vector::NoiseVar => &contents.noise_var,
        Vector::Calibration => &contents.calibration,
    };
    expect_len(values.len(), vector.count(&contents.spec), vector.name())?;
    extend_padded(payload, &le_bytes(values));
    Ok(())
}

fn expect_len(found: usize, expected: usize, what: &str) -> Result<(), String> {
    if found == expected {
        return Ok(());
    }
    Err(format!("{what}: {expected} values expected, {found} given"))
}

fn extend_affine(
    payload: &mut Vec<u8>,
    shape: AffineShape,
    affine: &Affine,
    usage: &GramMatrices,
    part: &str,
    first: bool,
) -> Result<(), String> {
    let (rows, weights) = (shape.rows, shape.rows * shape.cols);
    let variances = usize::from(shape.weight_variance);
    expect_len(affine.bias.len(), rows, &format!("{part}: bias"))?;
    expect_len(affine.weight.len(), weights, &format!("{part}: weight"))?;
    expect_len(affine.bias_var.len(), rows * variances, &format!("{part}: bias_var"))?;
    expect_len(affine.weight_var.len(), weights * variances, &format!("{part}: weight_var"))?;
    for matrix in [&usage.means, &usage.vars].into_iter().filter(|matrix| !matrix.is_empty()) {
        expect_len(matrix.len(), shape.cols * shape.cols, &format!("{part}: usage"))?;
    }
    if shape.layout.is_quantized() {
        let quantized = pack(affine, shape, usage, first).map_err(|error| format!("{part}: {error}"))?;
        let QuantizedAffine { quant_params, weight, square } = quantized;
        [quant_params, weight, square].iter().for_each(|section| extend_padded(payload, section));
        return Ok(());
    }
    let order = GroupOrder::new(shape);
    let encoded = match shape.format {
        WeightFormat::F32 => EncodedWeights::f32(affine, order),
        WeightFormat::Int8 => EncodedWeights::int8(affine, usage, order),
    };
    for section in Section::ALL {
        let bytes = match section {
            Section::Bias => &le_bytes(&order.rows(&affine.bias)),
            Section::BiasVar => &le_bytes(&order.rows(&affine.bias_var)),
            Section::WeightScale => &encoded.weight_scale,
            Section::QuantParams | Section::Square => continue,
            Section::Weight => &encoded.weight,
            Section::DeviationScale => &encoded.std_dev_scale,
            Section::WeightVar => &encoded.weight_var,
        };
        debug_assert_eq!(bytes.len(), shape.bytes(section));
        extend_padded(payload, bytes);
    }
    Ok(())
}

/// The weights of a row as bytes: chosen together where it is known how they are used, otherwise each the nearest.
pub(super) fn row_codes(weights: &[f32], judge: Option<&RoundingObjective>) -> Rounded {
    if let Some(judge) = judge {
        return judge.round(weights);
    }
    let largest = LARGEST_CODE as f32;
    let scale = row_scale(weights.iter().map(|weight| weight.abs()), largest);
    Rounded { codes: weights.iter().map(|weight| code(*weight, scale, largest) as i64).collect(), scale }
}

pub(super) fn row_scale(magnitudes: impl Iterator<Item = f32>, largest_code: f32) -> f32 {
    magnitudes.fold(0.0, f32::max) / largest_code
}

pub(super) fn code(value: f32, scale: f32, largest_code: f32) -> f32 {
    if scale > 0.0 { (value / scale).round_ties_even().clamp(-largest_code, largest_code) } else { 0.0 }
}

impl Contents {
    /// Contents of the right shape with every number at its neutral value: weights 0, scales 1.
    pub fn zeros(spec: ModelSpec) -> Self {
        let affine = |shape: AffineShape| {
            let weights = shape.rows * shape.cols;
            let (rows_var, weights_var) = if shape.weight_variance { (shape.rows, weights) } else { (0, 0) };
            Affine {
                weight: vec![0.0; weights],
                bias: vec![0.0; shape.rows],
                weight_var: vec![0.0; weights_var],
                bias_var: vec![0.0; rows_var],
            }
        };
        let outputs = usize::from(spec.outputs);
        let ones = |vector: Vector| vec![1.0; vector.count(&spec)];
        let (noise_var, calibration) = (ones(Vector::NoiseVar), ones(Vector::Calibration));
        Contents {
            input_names: Vec::new(),
            output_names: Vec::new(),
            input_scaler: Scaler::identity(spec.inputs.into()),
            output_scaler: Scaler::identity(outputs),
            layers: spec.layer_shapes().map(affine).collect(),
            output: affine(spec.output_shape()),
            noise_var,
            calibration,
            usage: Vec::new(),
            spec,
        }
    }
}
