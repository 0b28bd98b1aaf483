//! Reducers, at and just beyond their bounds.

use quaver::checkpoint::{
    ClassifierSpec, Kind, Likelihood, ModelSpec, NoveltyScore, PoolOver, Pooling, ReducerCheckpoint,
    ReducerSpec, Target, Window,
};

use super::dice::{Dice, Style};
use super::frame::{framed, length, pad, parts};
use super::header::reducer_header;
use super::network::{Network, Section};
use super::spec;

/// Numbers of a classifier, or anything else in its sections, in the order of the file.
const SECTIONS: usize = 6;

/// Everything in the file of a reducer.
#[derive(Clone, Debug)]
pub struct CraftedReducer {
    /// Pooling and classifier.
    pub spec: ReducerSpec,
    /// The network that is pooled.
    pub network: Network,
    /// Names of the classes, one per line.
    pub class_names: Vec<u8>,
    /// Prototypes, labels, weights, biases, centres, precisions.
    pub sections: [Vec<u8>; SECTIONS],
}

impl CraftedReducer {
    /// A reducer.
    pub fn craft(dice: &mut Dice) -> Self {
        let network = network(dice);
        let spec = reducer(&network, dice);
        let class_names = spec::names(spec.classes, dice);
        let dims = dimensions(&spec, &network);
        let sections = sections(&spec, dims, dice);
        let mut network = Network::craft(
            ModelSpec { outputs: outputs(&spec, &network, dice), ..network },
            [Vec::new(), Vec::new()],
            dice,
        );
        neutral(&mut network, dice);
        CraftedReducer { spec, network, class_names, sections }
    }

    /// The file.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = self.network.encode();
        let header = reducer_header(&self.spec, payload.len(), &self.class_names);
        pad(&mut payload);
        for section in &self.sections {
            payload.extend(section);
            pad(&mut payload);
        }
        framed(Kind::Reducer, 4, &header, &payload)
    }

    /// What an accepted file holds.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let read = ReducerCheckpoint::read(bytes).ok()?;
        let (_, _, payload) = parts(bytes)?;
        let (file, mut rest) = payload.split_at_checked(length(payload)?.next_multiple_of(16))?;
        let network = Network::decode(file.get(..length(payload)?)?)?;
        let mut sections: [Vec<u8>; SECTIONS] = Default::default();
        for (section, bytes) in sections.iter_mut().zip(section_bytes(read.spec(), read.dimensions())) {
            let (taken, left) = rest.split_at_checked(bytes.next_multiple_of(16))?;
            *section = taken.get(..bytes)?.to_vec();
            rest = left;
        }
        let names: Vec<&str> = read.class_names().collect();
        Some(CraftedReducer {
            spec: *read.spec(),
            network,
            class_names: names.join("\n").into_bytes(),
            sections,
        })
    }
}

fn network(dice: &mut Dice) -> ModelSpec {
    loop {
        let mut network = spec::network(dice);
        (network.target, network.likelihood) = dice.pick_or_beyond(
            &[(Target::Columns, Likelihood::Gaussian)],
            &[(network.target, network.likelihood)],
        );
        network.extensions.ranges = dice.once_in(3);
        if network.multiply_accumulates() <= 100_000 {
            return network;
        }
    }
}

/// One output where units are pooled, nearly always.
fn outputs(spec: &ReducerSpec, network: &ModelSpec, dice: &mut Dice) -> u16 {
    match spec.over {
        PoolOver::Units => dice.pick_or_beyond(&[1], &[2]),
        PoolOver::Outputs => network.outputs,
    }
}

fn dimensions(spec: &ReducerSpec, network: &ModelSpec) -> usize {
    match spec.over {
        PoolOver::Units => network.layers.last().map_or(0, |layer| layer.units.into()),
        PoolOver::Outputs => network.outputs.into(),
    }
}

fn reducer(network: &ModelSpec, dice: &mut Dice) -> ReducerSpec {
    let over = dice.pick(&[PoolOver::Units, PoolOver::Outputs]);
    let pools = dice.pick_or_beyond(&[1, 2, 3, 256], &[0, 257, u16::MAX]);
    let pools = if network.outputs > 64 { pools.min(3) } else { pools };
    let windows = [
        Window::Sequence,
        Window::Forgetting { rows: dice.number([1.0, 1e6], Style::Mixed) },
        Window::Ring { pools, rows: dice.pick_or_beyond(&[1, 2, u16::MAX], &[0]) },
    ];
    let prototypes = dice.pick(&[0, 1, 2, 5, 40]);
    let centres = dice.once_in(2);
    let classifiers = [
        ClassifierSpec::None,
        ClassifierSpec::Nearest {
            prototypes,
            beta: dice.number([1e-12, 1e6], Style::Mixed),
            neighbours: dice.pick_or_beyond(&[0, 1, 3, 16], &[17, u16::MAX]),
        },
        ClassifierSpec::Linear { temperature: dice.number([1e-3, 1e3], Style::Mixed), centres },
    ];
    let classifier = dice.pick(&classifiers);
    let both = [NoveltyScore::Distance, NoveltyScore::Energy];
    let (classes, novelties) = match classifier {
        ClassifierSpec::None => (dice.pick_or_beyond(&[0], &[1]), &both[..1]),
        ClassifierSpec::Nearest { prototypes: 0, .. } => (dice.pick(&[0, 1, 3]), &both[..]),
        ClassifierSpec::Nearest { .. } => (dice.pick_or_beyond(&[1, 2, 9], &[0, 4097]), &both[..]),
        ClassifierSpec::Linear { centres: true, .. } => (dice.pick_or_beyond(&[2, 3, 9], &[1]), &both[..]),
        ClassifierSpec::Linear { .. } => (dice.pick(&[2, 3, 9]), &both[1..]),
    };
    let threshold = dice.number([f32::MIN, f32::MAX], Style::Mixed);
    let thresholds = classifier != ClassifierSpec::None || dice.oversteps();
    ReducerSpec {
        pooling: dice.pick(&[Pooling::Mean, Pooling::Sum, Pooling::Max, Pooling::Stochastic]),
        over,
        correlation: dice.number([0.0, 1.0], Style::Mixed),
        window: dice.pick(&windows),
        classes,
        classifier,
        novelty: dice.pick_or_beyond(novelties, &both),
        threshold: (thresholds && dice.once_in(2)).then_some(threshold),
    }
}

/// Bytes of each section.
fn section_bytes(spec: &ReducerSpec, dims: usize) -> [usize; SECTIONS] {
    let classes = usize::from(spec.classes);
    match spec.classifier {
        ClassifierSpec::None => [0; SECTIONS],
        ClassifierSpec::Nearest { prototypes, .. } => {
            let prototypes = usize::from(prototypes);
            [4 * prototypes * dims, 2 * prototypes, 0, 0, 0, 0]
        }
        ClassifierSpec::Linear { centres: false, .. } => [0, 0, 4 * classes * dims, 4 * classes, 0, 0],
        ClassifierSpec::Linear { .. } => {
            [0, 0, 4 * classes * dims, 4 * classes, 4 * classes * dims, 4 * dims]
        }
    }
}

fn sections(spec: &ReducerSpec, dims: usize, dice: &mut Dice) -> [Vec<u8>; SECTIONS] {
    let [prototypes, labels, weight, bias, centres, precision] = section_bytes(spec, dims);
    let mut numbers = |bytes: usize, range: [f32; 2]| -> Vec<u8> {
        dice.numbers_in(bytes / 4, range).iter().flat_map(|number| number.to_le_bytes()).collect()
    };
    let (wide, narrow) = ([-2e13, 2e13], [-1e6, 1e6]);
    let lists = [
        numbers(prototypes, wide),
        Vec::new(),
        numbers(weight, narrow),
        numbers(bias, narrow),
        numbers(centres, wide),
        numbers(precision, [0.0, 1e6]),
    ];
    let label = |dice: &mut Dice| {
        let inside = dice.below(usize::from(spec.classes).max(1)) as u16;
        dice.pick_or_beyond(&[inside], &[spec.classes, u16::MAX]).to_le_bytes()
    };
    let labels = (0..labels / 2).flat_map(|_| label(dice)).collect();
    let [prototypes, _, weight, bias, centres, precision] = lists;
    [prototypes, labels, weight, bias, centres, precision]
}

/// Sets the scales of outputs, their noise and calibration to what they must be, nearly always.
fn neutral(network: &mut Network, dice: &mut Dice) {
    let outputs = usize::from(network.spec.outputs);
    let last = network.sections.len() - 9;
    for (place, value) in [(2, 0.0_f32), (3, 1.0), (last, 1.0), (last + 1, 1.0)] {
        if let (Section::Bytes(bytes), false) = (&mut network.sections[place], dice.oversteps()) {
            let count = (bytes.len() / 4).min(outputs);
            *bytes = std::iter::repeat_n(value.to_le_bytes(), count).flatten().collect();
        }
    }
}
