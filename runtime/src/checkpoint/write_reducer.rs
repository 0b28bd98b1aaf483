//! Writing the checkpoint of a reducer (feature `write`).

use std::boxed::Box;
use std::string::String;
use std::vec;
use std::vec::Vec;

use super::reducer::{dimensions, sections};
use super::write::{Contents, Scaler, check_names, write};
use super::{ReducerCheckpoint, WriteError};
use crate::encode::expect_len;
use crate::format::{
    Kind, Part, REDUCER_VERSION, ReducerHeader, encode_reducer_header, extend_padded, framed, le_bytes,
};
use crate::spec::{Likelihood, ModelSpec, PoolOver, ReducerSpec, Target};

/// Everything that the checkpoint of a reducer holds; [`write_reducer`] rounds the network as its spec asks.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducerContents {
    /// Pooling and classifier.
    pub spec: ReducerSpec,
    /// The network that reads the rows; see [`ReducerContents::new`].
    pub network: Contents,
    /// Names of the classes: one per class, or none.
    pub class_names: Vec<String>,
    /// Class of each prototype; empty unless classes are told apart by prototypes, as is the next.
    pub labels: Vec<u16>,
    /// Prototype after prototype, one number per component of the embedding.
    pub prototypes: Vec<f32>,
    /// Row of weights of each class; empty unless the classifier is linear, as is the next.
    pub weight: Vec<f32>,
    /// Bias of each class.
    pub bias: Vec<f32>,
    /// Mean embedding of each class; empty unless the classifier is linear with centres, as is the next.
    pub centres: Vec<f32>,
    /// Factor of each component in squared distances from the centres: one over its variance within classes.
    pub precision: Vec<f32>,
}

impl ReducerContents {
    /// A reducer of a trained network, without numbers of a classifier.
    ///
    /// Keeps the network's inputs and layers, and its output map where outputs are pooled: rows of an affine
    /// map, whose target, likelihood, scales, noise and calibration are dropped. Where units are pooled, one
    /// output of zeros takes the place of the output map, which never runs. Of the network's extensions an
    /// input density and plausible ranges remain.
    pub fn new(spec: ReducerSpec, mut network: Contents) -> Self {
        if spec.over == PoolOver::Units {
            let neutral = Contents::zeros(ModelSpec { outputs: 1, ..affine(network.spec.clone()) });
            network = Contents {
                input_names: network.input_names,
                input_scaler: network.input_scaler,
                layers: network.layers,
                input_precision: network.input_precision,
                input_low: network.input_low,
                input_high: network.input_high,
                input_range: network.input_range,
                gram: network.gram.into_iter().take(network.spec.layers.len()).collect(),
                ..neutral
            };
        }
        let outputs = usize::from(network.spec.outputs);
        let network = Contents {
            spec: affine(network.spec),
            output_names: Vec::new(),
            output_scaler: Scaler::identity(outputs),
            noise_var: vec![1.0; outputs],
            calibration: vec![1.0; outputs],
            quantiles: Vec::new(),
            anomaly_row: Vec::new(),
            anomaly_channels: Vec::new(),
            ..network
        };
        ReducerContents {
            spec,
            network,
            class_names: Vec::new(),
            labels: Vec::new(),
            prototypes: Vec::new(),
            weight: Vec::new(),
            bias: Vec::new(),
            centres: Vec::new(),
            precision: Vec::new(),
        }
    }

    /// Components of an embedding.
    pub fn dimensions(&self) -> usize {
        dimensions(&self.spec, &self.network.spec)
    }
}

/// The network's spec as that of an affine map of its last layer.
fn affine(spec: ModelSpec) -> ModelSpec {
    let mut extensions = spec.extensions;
    (extensions.tracking, extensions.quantiles, extensions.anomaly) = (None, false, None);
    ModelSpec { target: Target::Columns, likelihood: Likelihood::Gaussian, extensions, ..spec }
}

/// Encodes a reducer and reads it back: the bytes are known to load.
///
/// ```
/// use quaver::checkpoint::*;
/// use quaver::Reducer;
///
/// let noise = UnitNoise::None;
/// let layer = LayerSpec {
///     cell: CellKind::Lstm,
///     units: 4,
///     input_noise: noise,
///     recurrent_noise: noise,
///     weight_variance: false,
///     variance_scale: 1.0,
/// };
/// let network = ModelSpec {
///     inputs: 3,
///     outputs: 2, // components of the embedding
///     target: Target::Columns,
///     likelihood: Likelihood::Gaussian,
///     moment_form: MomentForm::Accurate,
///     weight_format: WeightFormat::F32,
///     layout: Layout::Float,
///     layers: [layer].into_iter().collect(),
///     output: OutputSpec {
///         mode: OutputMode::Propagating,
///         noise,
///         weight_variance: false,
///         variance_scale: 1.0,
///     },
///     extensions: Extensions::default(),
/// };
/// let spec = ReducerSpec {
///     classes: 2,
///     classifier: ClassifierSpec::Nearest { prototypes: 3, beta: 1.0, neighbours: 0 },
///     threshold: Some(9.0),
///     ..ReducerSpec::new(Pooling::Mean, PoolOver::Outputs)
/// };
/// let contents = ReducerContents {
///     class_names: vec!["rest".into(), "fist".into()],
///     labels: vec![0, 1, 1],
///     prototypes: vec![0.0, 0.0, 1.0, 0.5, 2.0, 0.0],
///     ..ReducerContents::new(spec, Contents::zeros(network)) // a trained network in its place
/// };
/// let bytes = write_reducer(&contents)?;
///
/// let mut words = vec![0.0; quaver::ReducerModel::load(&bytes)?.arena_words()];
/// let mut reducer = Reducer::load_in(&bytes, &mut words)?;
/// reducer.step(&[0.1, f32::NAN, 0.3]);
/// let class = reducer.classify().expect("a row was read");
/// assert_eq!((class.class, class.name(), class.known), (0, Some("rest"), true));
/// # Ok::<(), WriteError>(())
/// ```
///
/// # Errors
/// Names the list of the wrong length or the value that a checkpoint cannot hold.
pub fn write_reducer(contents: &ReducerContents) -> Result<Vec<u8>, WriteError> {
    let in_network = |error| WriteError::Network { network: Part::Network, error: Box::new(error) };
    let network = write(&contents.network).map_err(in_network)?;
    check_names(&contents.class_names)?;
    let names = contents.class_names.join("\n");
    let ReducerContents { labels, prototypes, weight, bias, centres, precision, .. } = contents;
    let labels = labels.iter().flat_map(|label| label.to_le_bytes()).collect();
    let [prototypes, weight, bias, centres, precision] =
        [prototypes, weight, bias, centres, precision].map(|numbers| le_bytes(numbers));
    let lists = [prototypes, labels, weight, bias, centres, precision];
    let sections = sections(&contents.spec, contents.dimensions());
    for (index, (list, (bytes, name))) in lists.iter().zip(sections).enumerate() {
        let size = if index == 1 { 2 } else { 4 };
        expect_len(list.len() / size, bytes / size, Part::Classifier, name)?;
    }
    encode_reducer(&contents.spec, &network, names.as_bytes(), &lists)
}

/// The file around the checkpoint of a network and the sections of a classifier, read back.
fn encode_reducer(
    spec: &ReducerSpec,
    network: &[u8],
    class_names: &[u8],
    lists: &[Vec<u8>],
) -> Result<Vec<u8>, WriteError> {
    let too_long = |_| WriteError::TooLong { field: "network", bytes: network.len() };
    let network_bytes = u32::try_from(network.len()).map_err(too_long)?;
    let header = encode_reducer_header(&ReducerHeader { spec: *spec, network_bytes, class_names });
    let mut payload = Vec::new();
    extend_padded(&mut payload, network);
    lists.iter().for_each(|list| extend_padded(&mut payload, list));
    let bytes = framed(Kind::Reducer, REDUCER_VERSION, &header, &payload)?;
    ReducerCheckpoint::read(&bytes)?;
    Ok(bytes)
}

/// A checked reducer written down again; see [`rewrite`](super::rewrite()).
pub(super) fn rewrite_reducer(bytes: &[u8]) -> Result<Vec<u8>, WriteError> {
    let reducer = ReducerCheckpoint::read(bytes)?;
    let numbers = reducer.numbers();
    let bytes_of = |list: crate::format::F32s<'_>| le_bytes(&list.iter().collect::<Vec<f32>>());
    let lists = [
        bytes_of(numbers.prototypes),
        numbers.labels.concat(),
        bytes_of(numbers.weight),
        bytes_of(numbers.bias),
        bytes_of(numbers.centres),
        bytes_of(numbers.precision),
    ];
    encode_reducer(reducer.spec(), &reducer.network().encode()?, reducer.header().class_names, &lists)
}
