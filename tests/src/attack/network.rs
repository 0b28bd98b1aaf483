//! One network as a file: crafted, written, and read back.

use quaver::checkpoint::{Checkpoint, Kind, Layout, ModelSpec, WeightFormat};

use super::dice::Dice;
use super::frame::{framed, pad, parts};
use super::header::network_header;
use super::quantized::{self, QuantizedMap};
use super::shape::{HIGH, LOW, MapShape, QUANTILES, RANGES, VectorShape, first_vectors, last_vectors, maps};

/// Everything in the file of one network.
#[derive(Clone, Debug)]
pub struct Network {
    /// The architecture.
    pub spec: ModelSpec,
    /// Names of inputs and of outputs, one per line.
    pub names: [Vec<u8>; 2],
    /// The sections of the payload, in order.
    pub sections: Vec<Section>,
}

/// A section of the payload.
#[derive(Clone, Debug)]
pub enum Section {
    /// Numbers or bytes, padded to a multiple of 16.
    Bytes(Vec<u8>),
    /// An affine map of a quantized layout.
    Map(QuantizedMap, MapShape),
}

impl Network {
    /// A network of this architecture with numbers at their bounds.
    pub fn craft(spec: ModelSpec, names: [Vec<u8>; 2], dice: &mut Dice) -> Self {
        let mut sections: Vec<Section> =
            first_vectors(&spec).iter().map(|vector| numbers(vector, dice)).collect();
        for shape in maps(&spec) {
            match shape.layout {
                Layout::Float => sections.extend(float_sections(&shape).iter().map(|part| part.craft(dice))),
                Layout::Small | Layout::Fast | Layout::Mean | Layout::Sparse => {
                    sections.push(Section::Map(quantized::craft(&shape, dice), shape));
                }
            }
        }
        sections.extend(in_order(&spec, dice));
        Network { spec, names, sections }
    }

    /// The file.
    pub fn encode(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        for section in &self.sections {
            match section {
                Section::Bytes(bytes) => payload.extend(bytes),
                Section::Map(map, shape) => payload.extend(quantized::encode(map, shape)),
            }
            pad(&mut payload);
        }
        let version = match &self.spec.extensions {
            extensions if extensions.is_empty() => 2,
            extensions if extensions.linear.is_some() => 5,
            extensions if extensions.ranges => 4,
            _ => 3,
        };
        let header = network_header(&self.spec, self.names.each_ref().map(Vec::as_slice));
        framed(Kind::Predictor, version, &header, &payload)
    }

    /// What an accepted file holds, without what may be in its padding.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let checkpoint = Checkpoint::read(bytes).ok()?;
        let join = |names: Vec<&str>| names.join("\n").into_bytes();
        let names = [join(checkpoint.input_names().collect()), join(checkpoint.output_names().collect())];
        let spec = checkpoint.spec().clone();
        let (_, _, mut payload) = parts(bytes)?;
        let mut sections = Vec::new();
        for vector in first_vectors(&spec) {
            sections.push(read_bytes(&mut payload, 4 * vector.count)?);
        }
        for shape in maps(&spec) {
            if shape.layout == Layout::Float {
                for part in float_sections(&shape) {
                    sections.push(read_bytes(&mut payload, part.count * part.kind.bytes())?);
                }
            } else {
                let (map, rest) = quantized::decode(payload, &shape)?;
                sections.push(Section::Map(map, shape));
                payload = rest;
            }
        }
        for vector in last_vectors(&spec) {
            sections.push(read_bytes(&mut payload, 4 * vector.count)?);
        }
        Some(Network { spec, names, sections })
    }
}

fn read_bytes(payload: &mut &[u8], count: usize) -> Option<Section> {
    let (section, rest) = payload.split_at_checked(count.next_multiple_of(16))?;
    *payload = rest;
    Some(Section::Bytes(section[..count].to_vec()))
}

fn le_bytes(values: &[f32]) -> Section {
    Section::Bytes(values.iter().flat_map(|value| value.to_le_bytes()).collect())
}

fn numbers(vector: &VectorShape, dice: &mut Dice) -> Section {
    le_bytes(&dice.numbers_in(vector.count, vector.range))
}

/// The vectors after the layers; ranges and quantiles are put in order, nearly always.
fn in_order(spec: &ModelSpec, dice: &mut Dice) -> Vec<Section> {
    let mut vectors = last_vectors(spec).map(|vector| dice.numbers_in(vector.count, vector.range));
    if !dice.oversteps() {
        let (first, second) = vectors.split_at_mut(HIGH);
        for (low, high) in first[LOW].iter_mut().zip(&mut second[0]) {
            if *low > *high {
                core::mem::swap(low, high);
            }
        }
        vectors[RANGES].chunks_mut(2).for_each(|range| apart(range, dice));
        vectors[QUANTILES].chunks_mut(4).for_each(|quantiles| quantiles.sort_by(f32::total_cmp));
    }
    vectors.iter().map(|vector| le_bytes(vector)).collect()
}

/// A plausible range that holds more than one value: ends of the format, none, as narrow as can be, and
/// ordinary ones that rows leave.
fn apart(range: &mut [f32], dice: &mut Dice) {
    let (low, high) = (f32::NEG_INFINITY, f32::INFINITY);
    let centre = dice.numbers().between(-2.0, 2.0);
    let some = [
        [low, high],
        [f32::MIN, f32::MAX],
        [low, 0.0],
        [-0.0, high],
        [centre, centre.next_up()],
        [centre - 1.0, centre + 1.0],
        [f32::MAX, high],
    ];
    range.copy_from_slice(
        &dice.pick_or_beyond(&some, &[[0.0, 0.0], [high, low], [f32::NAN, 1.0], [1.0, 0.0]]),
    );
}

/// A section of an affine map in the float layout.
struct FloatSection {
    count: usize,
    kind: Values,
}

#[derive(Clone, Copy)]
enum Values {
    Numbers([f32; 2]),
    /// Signed codes without −128.
    Codes,
    /// Any bytes.
    StdDevs,
}

impl Values {
    fn bytes(self) -> usize {
        if matches!(self, Values::Numbers(_)) { 4 } else { 1 }
    }
}

impl FloatSection {
    fn craft(&self, dice: &mut Dice) -> Section {
        let style = dice.style();
        let mut codes = |low, high| {
            let code = |_| dice.integer([low, high], style) as u8;
            Section::Bytes((0..self.count).map(code).collect())
        };
        match self.kind {
            Values::Codes => codes(-127, 127),
            Values::StdDevs => codes(0, 255),
            Values::Numbers(range) => numbers(&VectorShape { count: self.count, range }, dice),
        }
    }
}

fn float_sections(shape: &MapShape) -> [FloatSection; 6] {
    let MapShape { rows, cols, biases, weight_variance, .. } = *shape;
    let int8 = shape.format == WeightFormat::Int8;
    let (weight, var, scale) = ([-1e6, 1e6], [0.0, 1e12], [0.0, 3e3]);
    let only = |present: bool, count: usize| if present { count } else { 0 };
    [
        (biases, Values::Numbers(weight)),
        (only(weight_variance, biases), Values::Numbers(var)),
        (only(int8, rows), Values::Numbers(scale)),
        (rows * cols, if int8 { Values::Codes } else { Values::Numbers(weight) }),
        (only(int8 && weight_variance, rows), Values::Numbers(scale)),
        (only(weight_variance, rows * cols), if int8 { Values::StdDevs } else { Values::Numbers(var) }),
    ]
    .map(|(count, kind)| FloatSection { count, kind })
}
