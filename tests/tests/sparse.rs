//! The layout `sparse` gives the bits of the layout `fast` with the same zeros.

use proptest::prelude::*;
use quaver::checkpoint::{
    Activation, CellKind, Checkpoint, Contents, Layout, Likelihood, OutputMode, UnitNoise, WeightFormat,
    write,
};
use quaver::{Model, Predictor};
use quaver_tests::golden::{Architecture, randomise};
use quaver_tests::numbers::Numbers;
use quaver_tests::pruning::prune;

/// A pruned network.
#[derive(Clone, Debug)]
struct Pruned {
    layers: Vec<(CellKind, u16)>,
    architecture: Architecture,
    share: f64,
    label: String,
}

impl Pruned {
    fn contents(&self) -> Contents {
        let mut contents = Contents::zeros(self.architecture.spec(&self.layers, WeightFormat::Int8));
        randomise(&mut contents, &mut Numbers::new(&self.label));
        prune(&mut contents, self.share, &mut Numbers::new(&self.label));
        contents
    }

    /// The checkpoint in a layout.
    fn stored(&self, layout: Layout) -> Vec<u8> {
        let mut contents = self.contents();
        contents.spec.layout = layout;
        write(&contents).expect("a valid model")
    }
}

/// All predictions over 30 rows, some of them incomplete, as bits.
fn predictions(bytes: &[u8], label: &str) -> Vec<u32> {
    let model = Model::load(bytes).expect("a valid model");
    let mut row = vec![0.0; model.spec().inputs.into()];
    let mut words = vec![f32::NAN; model.spec().arena_words()];
    let mut predictor = Predictor::load_in(bytes, &mut words).expect("a valid model");
    let mut numbers = Numbers::new(label);
    let mut bits = Vec::new();
    for _ in 0..30 {
        numbers.fill(&mut row, -2.0, 2.0);
        if numbers.once_in(3) {
            row[0] = f32::NAN;
        }
        let prediction = predictor.step(&row);
        bits.extend(prediction.iter().flat_map(|output| [output.mean.to_bits(), output.variance.to_bits()]));
    }
    bits
}

fn payload_bytes(bytes: &[u8]) -> usize {
    Checkpoint::read(bytes).expect("a valid model").payload_bytes()
}

fn cells() -> impl Strategy<Value = CellKind> {
    prop_oneof![
        Just(CellKind::Lstm),
        Just(CellKind::Gru),
        Just(CellKind::Elman(Activation::Tanh)),
        Just(CellKind::Elman(Activation::Sigmoid)),
        Just(CellKind::Dense(Activation::Tanh)),
    ]
}

prop_compose! {
    fn networks()(
        layers in prop::collection::vec((cells(), 1_u16..23), 1..4),
        inputs in 1_u16..12,
        outputs in 1_u16..7,
        share in prop_oneof![Just(0.0), Just(1.0), 0.0..1.0],
        mean_only in any::<bool>(),
        bernoulli in any::<bool>(),
        varied in any::<bool>(),
        label in any::<u32>(),
    ) -> Pruned {
        let base = Architecture::default();
        let likelihood = if bernoulli { Likelihood::Bernoulli } else { Likelihood::Gaussian };
        let mode = if mean_only { OutputMode::MeanOnly } else { OutputMode::Propagating };
        let weight_variance = varied && !mean_only;
        let architecture = Architecture { inputs, outputs, likelihood, mode, weight_variance, ..base };
        Pruned { layers, architecture, share, label: label.to_string() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn sparse_gives_the_bits_of_fast(network in networks()) {
        let [sparse, fast] = [Layout::Sparse, Layout::Fast].map(|layout| network.stored(layout));
        prop_assert_eq!(predictions(&sparse, "rows"), predictions(&fast, "rows"));
        // Each map is stored in the shorter form, and has a head of 16 bytes.
        let heads = 16 * (network.layers.len() + 1);
        prop_assert!(payload_bytes(&sparse) <= payload_bytes(&fast) + heads);
    }

    /// Lists of more than one span: a byte names one of 256 pairs.
    #[test]
    fn wide_maps_have_several_lists(
        cell in cells(),
        share in 0.5..1.0,
        inputs in 500_u16..1200,
        weight_variance in any::<bool>(),
    ) {
        let architecture = Architecture { inputs, weight_variance, ..Architecture::default() };
        let network = Pruned { layers: vec![(cell, 9)], architecture, share, label: "wide".into() };
        let [sparse, fast] = [Layout::Sparse, Layout::Fast].map(|layout| network.stored(layout));
        prop_assert_eq!(predictions(&sparse, "rows"), predictions(&fast, "rows"));
        prop_assert!(payload_bytes(&sparse) < payload_bytes(&fast));
    }
}

/// 80 % of the blocks of an LSTM are gone: what is left, with lists and scales, is at most 0.35 of all.
#[test]
fn a_pruned_network_is_small() {
    for (inputs, units) in [(16, 64), (48, 128)] {
        let network = Pruned {
            layers: vec![(CellKind::Lstm, units)],
            architecture: Architecture { inputs, outputs: 1, ..Architecture::default() },
            share: 0.8,
            label: "small".into(),
        };
        let [sparse, fast] = [Layout::Sparse, Layout::Fast].map(|layout| network.stored(layout).len());
        assert!(100 * sparse <= 35 * fast, "{sparse} of {fast} bytes");
    }
}

/// A network without a single weight left is its biases.
#[test]
fn nothing_may_be_left() {
    for cell in [CellKind::Lstm, CellKind::Gru, CellKind::Elman(Activation::Tanh)] {
        let network = Pruned {
            layers: vec![(cell, 6)],
            architecture: Architecture { noise: [UnitNoise::None; 3], ..Architecture::default() },
            share: 1.0,
            label: "nothing".into(),
        };
        let [sparse, fast] = [Layout::Sparse, Layout::Fast].map(|layout| network.stored(layout));
        assert_eq!(predictions(&sparse, "rows"), predictions(&fast, "rows"));
    }
}
