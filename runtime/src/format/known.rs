//! Checkpoints that are decoded while a program is compiled.

use heapless::Vec;

use super::decode::{Decoder, Sizes};
use super::header::Header;
use super::shape::AffineShape;
use crate::spec::{
    Activation, CellKind, LayerSpec, Layout, MAX_LAYERS, ModelSpec, OutputSpec, UnitNoise, Uses,
};

/// Number that identifies the bytes of a checkpoint (FNV-1a, 64 bits): any other file has, by all odds,
/// another.
///
/// Not the stored checksum, because every file that is stored with its checksum has the same one over both.
pub(crate) const fn fingerprint(bytes: &[u8]) -> u64 {
    let (mut hash, mut index) = (0xCBF2_9CE4_8422_2325_u64, 0);
    while index < bytes.len() {
        hash = (hash ^ bytes[index] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        index += 1;
    }
    hash
}

/// The layers of a header.
struct Layers {
    list: [LayerSpec; MAX_LAYERS],
    count: usize,
}

const NO_LAYER: LayerSpec = LayerSpec {
    cell: CellKind::Dense(Activation::Tanh),
    units: 0,
    input_noise: UnitNoise::None,
    recurrent_noise: UnitNoise::None,
    weight_variance: false,
    variance_scale: 1.0,
};

/// Decodes the header of one network in a constant.
///
/// # Panics
/// If it makes no sense; in a constant that is an error of compilation.
pub(crate) const fn known_header(bytes: &[u8]) -> Header<'_> {
    let mut decoder = Decoder::new(bytes);
    let (sizes, layers, output) = (decoder.sizes(), known_layers(&mut decoder), decoder.output());
    let Sizes { inputs, outputs, target, likelihood, moment_form, weight_format, layout } = sizes;
    let (input_names, output_names) = (decoder.text(), decoder.text());
    let extensions = decoder.extensions();
    assert!(decoder.is_sound(), "the header of the checkpoint cannot be decoded");
    let spec = ModelSpec {
        inputs,
        outputs,
        target,
        likelihood,
        moment_form,
        weight_format,
        layout,
        layers: layers.into_list(),
        output,
        extensions,
    };
    Header { spec, input_names, output_names }
}

/// What occurs in the network of a header.
pub(crate) const fn known_uses(bytes: &[u8]) -> Uses {
    let mut decoder = Decoder::new(bytes);
    let (sizes, layers, output) = (decoder.sizes(), known_layers(&mut decoder), decoder.output());
    let Sizes { inputs, layout, weight_format, .. } = sizes;
    let (mut uses, mut index) = (Uses::NOTHING, 0);
    while index < layers.count {
        let layer = &layers.list[index];
        uses = with_layer(uses, layer);
        let shape = AffineShape::layer(weight_format, layout, inputs as usize, layer);
        uses = with_map(uses, shape);
        index += 1;
    }
    let OutputSpec { noise, .. } = output;
    uses.strong_noise |= noise.is_strong();
    with_map(uses, AffineShape::output(weight_format, layout, [1, 1], &output))
}

const fn with_layer(uses: Uses, layer: &LayerSpec) -> Uses {
    let activation = match layer.cell {
        CellKind::Elman(function) | CellKind::Dense(function) => Some(function),
        CellKind::Lstm | CellKind::Gru => None,
    };
    Uses {
        elman: uses.elman | activation.is_some(),
        other_activations: uses.other_activations
            | matches!(activation, Some(Activation::Sigmoid | Activation::Relu)),
        lstm: uses.lstm | matches!(layer.cell, CellKind::Lstm),
        gru: uses.gru | matches!(layer.cell, CellKind::Gru),
        // An LSTM has a group of rows for each unit, whatever their number.
        odd_units: uses.odd_units
            | !layer.units.is_multiple_of(if matches!(layer.cell, CellKind::Lstm) { 2 } else { 4 }),
        strong_noise: uses.strong_noise | layer.input_noise.is_strong() | layer.recurrent_noise.is_strong(),
        ..uses
    }
}

const fn with_map(uses: Uses, shape: AffineShape) -> Uses {
    let squared = matches!(shape.layout, Layout::Fast | Layout::Sparse);
    Uses {
        variances: uses.variances | shape.propagates,
        means_only: uses.means_only | !shape.propagates,
        lists: uses.lists | matches!(shape.layout, Layout::Sparse),
        unsquared: uses.unsquared | (shape.propagates && !squared),
        weight_vars: uses.weight_vars | (shape.propagates && shape.weight_variance),
        ..uses
    }
}

const fn known_layers(decoder: &mut Decoder<'_>) -> Layers {
    let mut layers = Layers { list: [NO_LAYER; MAX_LAYERS], count: decoder.layer_count() };
    let mut index = 0;
    while index < layers.count {
        layers.list[index] = decoder.layer();
        index += 1;
    }
    layers
}

impl Layers {
    /// A list of as many layers as there are; nothing can be pushed to one in a constant.
    const fn into_list(self) -> Vec<LayerSpec, MAX_LAYERS> {
        let [a, b, c, d, e, f, g, h] = self.list;
        match self.count {
            0 => Vec::new(),
            1 => Vec::from_array([a]),
            2 => Vec::from_array([a, b]),
            3 => Vec::from_array([a, b, c]),
            4 => Vec::from_array([a, b, c, d]),
            5 => Vec::from_array([a, b, c, d, e]),
            6 => Vec::from_array([a, b, c, d, e, f]),
            7 => Vec::from_array([a, b, c, d, e, f, g]),
            _ => Vec::from_array([a, b, c, d, e, f, g, h]),
        }
    }
}
