//! Writing checkpoints (feature `write`).

use std::string::String;
use std::vec;
use std::vec::Vec;

use super::{Checkpoint, WriteError};
use crate::backend::encode_affine;
use crate::conformal::{LEVELS, normal_quantile};
use crate::density::triangle;
use crate::encode::{Affine, AffineSource, GramMatrices, Role, expect_len};
use crate::format::{AffineShape, Header, Kind, Vector, encode_header, extend_padded, framed, le_bytes};
use crate::limits::MEAN_LIMIT;
use crate::spec::{Likelihood, ModelSpec, Target};

/// Everything that a checkpoint holds, in full precision; [`write()`] quantises as the spec asks.
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
    /// Affine maps of the layers; rows in order of units, the gates of a unit side by side: i, f, g, o of an
    /// LSTM; r, z, n of a GRU, whose biases are those of r, z, of the candidate's input part and of its state
    /// part.
    pub layers: Vec<Affine>,
    /// Affine map of the output layer.
    pub output: Affine,
    /// Noise variance per output in standardised units; empty unless the likelihood is Gaussian.
    pub noise_var: Vec<f32>,
    /// Factor on the total variance of each output, 1 when not calibrated; empty for probabilities.
    pub calibration: Vec<f32>,
    /// Lower triangle of the precision matrix of standardised inputs, row by row; empty without
    /// [`Extensions::density`](super::Extensions::density), as are the two below.
    pub input_precision: Vec<f32>,
    /// Smallest training value of each input in raw units; imputed values stay above.
    pub input_low: Vec<f32>,
    /// Largest training value of each input in raw units; imputed values stay below.
    pub input_high: Vec<f32>,
    /// Quantiles of |residual|/std_dev of each output at the levels of [`conformal`](crate::conformal), four
    /// per output; empty without [`Extensions::quantiles`](super::Extensions::quantiles).
    pub quantiles: Vec<f32>,
    /// Limits of row statistics, start and weight each: of unlikely rows and of distant ones; empty without
    /// [`Extensions::anomaly`](super::Extensions::anomaly), as is the next.
    pub anomaly_row: Vec<f32>,
    /// [`ChannelLimits::numbers`](crate::anomaly::ChannelLimits::numbers) of each input.
    pub anomaly_channels: Vec<f32>,
    /// Plausible range of each input in raw units, lower and upper limit each, infinite for no limit; empty
    /// without [`Extensions::ranges`](super::Extensions::ranges).
    pub input_range: Vec<f32>,
    /// Linear prediction of each output in standardised units: its bias, then the weights of the last rows,
    /// the newest first; empty without [`Extensions::linear`](super::Extensions::linear).
    pub linear: Vec<f32>,
    /// Gram matrices that guide rounding, of the layers' maps and then the output's; without them each weight
    /// is rounded to nearest. They are not stored. Not part of the stable interface, see `quaver::export`.
    #[doc(hidden)]
    pub gram: Vec<GramMatrices>,
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

/// Encodes a checkpoint and reads it back: the bytes are known to load.
///
/// # Errors
/// Names the list of the wrong length or the value that a checkpoint cannot hold.
pub fn write(contents: &Contents) -> Result<Vec<u8>, WriteError> {
    let (header, version) = header_bytes(contents)?;
    let payload = payload_bytes(contents)?;
    let bytes = framed(Kind::Predictor, version, &header, &payload)?;
    Checkpoint::read(&bytes)?;
    Ok(bytes)
}

/// The header, and the version of the format that it needs.
fn header_bytes(contents: &Contents) -> Result<(Vec<u8>, u16), WriteError> {
    check_names(contents.input_names.iter().chain(&contents.output_names))?;
    let (input_names, output_names) = (contents.input_names.join("\n"), contents.output_names.join("\n"));
    let header = Header {
        spec: contents.spec.clone(),
        input_names: input_names.as_bytes(),
        output_names: output_names.as_bytes(),
    };
    Ok((encode_header(&header), header.version()))
}

/// Names are single lines.
pub(super) fn check_names<'n>(names: impl IntoIterator<Item = &'n String>) -> Result<(), WriteError> {
    match names.into_iter().find(|name| name.is_empty() || name.contains(char::is_control)) {
        Some(name) => Err(WriteError::Name { name: name.clone() }),
        None => Ok(()),
    }
}

/// Of a map without Gram matrices.
static NO_GRAM: GramMatrices = GramMatrices { means: Vec::new(), vars: Vec::new(), mean_squares: Vec::new() };

fn payload_bytes(contents: &Contents) -> Result<Vec<u8>, WriteError> {
    let spec = &contents.spec;
    if contents.layers.len() != spec.layers.len() {
        return Err(WriteError::Layers { expected: spec.layers.len(), found: contents.layers.len() });
    }
    if spec.layers.is_empty() {
        // Encoders of layouts that need layers would meet maps without columns.
        crate::format::spec(spec)?;
    }
    let mut payload = Vec::new();
    for vector in Vector::BEFORE_LAYERS {
        extend_vector(&mut payload, contents, vector)?;
    }
    let gram = |map: usize| contents.gram.get(map).unwrap_or(&NO_GRAM);
    for (index, (layer, affine)) in spec.layers.iter().zip(&contents.layers).enumerate() {
        let (shape, role) = (spec.layer_shape(index, layer), Role::Layer { index, cell: layer.cell });
        let (gram, one_hot) = (gram(index), contents.has_one_hot_inputs());
        encode_affine(&mut payload, &AffineSource { affine, shape, role, gram, one_hot })?;
    }
    let role = Role::Output { likelihood: spec.likelihood };
    let (affine, shape, gram) = (&contents.output, spec.output_shape(), gram(spec.layers.len()));
    encode_affine(&mut payload, &AffineSource { affine, shape, role, gram, one_hot: false })?;
    for vector in Vector::AFTER_LAYERS {
        extend_vector(&mut payload, contents, vector)?;
    }
    Ok(payload)
}

fn extend_vector(payload: &mut Vec<u8>, contents: &Contents, vector: Vector) -> Result<(), WriteError> {
    let values = match vector {
        Vector::InputMean => &contents.input_scaler.mean,
        Vector::InputStdDev => &contents.input_scaler.std_dev,
        Vector::OutputMean => &contents.output_scaler.mean,
        Vector::OutputStdDev => &contents.output_scaler.std_dev,
        Vector::NoiseVar => &contents.noise_var,
        Vector::Calibration => &contents.calibration,
        Vector::InputPrecision => &contents.input_precision,
        Vector::InputLow => &contents.input_low,
        Vector::InputHigh => &contents.input_high,
        Vector::Quantiles => &contents.quantiles,
        Vector::AnomalyRow => &contents.anomaly_row,
        Vector::AnomalyChannels => &contents.anomaly_channels,
        Vector::InputRange => &contents.input_range,
        Vector::Linear => &contents.linear,
    };
    expect_len(values.len(), vector.count(&contents.spec), vector.part(), vector.name())?;
    extend_padded(payload, &le_bytes(values));
    Ok(())
}

impl Contents {
    /// Whether inputs are tokens, hence 0 or 1: they are the classes that the model predicts next, and are
    /// not standardised.
    fn has_one_hot_inputs(&self) -> bool {
        let identity = Scaler::identity(self.spec.inputs.into());
        self.spec.likelihood == Likelihood::Categorical
            && self.spec.target == Target::Next
            && (&self.input_scaler.mean, &self.input_scaler.std_dev) == (&identity.mean, &identity.std_dev)
    }

    /// Contents of the right shape with every number at its neutral value: weights 0, scales 1, independent
    /// inputs of any range, normal quantiles, no limits.
    pub fn zeros(spec: ModelSpec) -> Self {
        let affine = |shape: AffineShape| {
            let weights = shape.rows * shape.cols;
            let biases = shape.bias_count();
            let (biases_var, weights_var) = if shape.weight_variance { (biases, weights) } else { (0, 0) };
            Affine {
                weight: vec![0.0; weights],
                bias: vec![0.0; biases],
                weight_var: vec![0.0; weights_var],
                bias_var: vec![0.0; biases_var],
            }
        };
        let outputs = usize::from(spec.outputs);
        let fill = |vector: Vector, value: f32| vec![value; vector.count(&spec)];
        let (noise_var, calibration) = (fill(Vector::NoiseVar, 1.0), fill(Vector::Calibration, 1.0));
        let (input_low, input_high) =
            (fill(Vector::InputLow, -MEAN_LIMIT), fill(Vector::InputHigh, MEAN_LIMIT));
        let unlimited = [f32::NEG_INFINITY, f32::INFINITY].into_iter().cycle();
        let input_range = unlimited.take(Vector::InputRange.count(&spec)).collect();
        let normal_quantiles = LEVELS.map(normal_quantile);
        let quantiles = normal_quantiles.into_iter().cycle().take(Vector::Quantiles.count(&spec)).collect();
        // Independent channels: the identity.
        let mut input_precision = fill(Vector::InputPrecision, 0.0);
        (0..spec.inputs.into()).for_each(|row| {
            if let Some(diagonal) = input_precision.get_mut(triangle(row) + row) {
                *diagonal = 1.0;
            }
        });
        Contents {
            input_names: Vec::new(),
            output_names: Vec::new(),
            input_scaler: Scaler::identity(spec.inputs.into()),
            output_scaler: Scaler::identity(outputs),
            layers: spec.layer_shapes().map(affine).collect(),
            output: affine(spec.output_shape()),
            noise_var,
            calibration,
            input_precision,
            input_low,
            input_high,
            quantiles,
            anomaly_row: fill(Vector::AnomalyRow, 0.0),
            anomaly_channels: fill(Vector::AnomalyChannels, 0.0),
            input_range,
            linear: fill(Vector::Linear, 0.0),
            gram: Vec::new(),
            spec,
        }
    }
}
