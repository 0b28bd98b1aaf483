//! Small reducers: a network, a pooling operator and a classifier, with numbers of the size that training
//! would give them.

use quaver::checkpoint::{
    CellKind, ClassifierSpec, Contents, Layout, PoolOver, Pooling, ReducerContents, ReducerSpec, WeightFormat,
};

use crate::golden::{Architecture, randomise};
use crate::numbers::Numbers;

/// Classes of a small reducer.
pub const CLASSES: u16 = 3;
/// Prototypes of those that have them.
pub const PROTOTYPES: u16 = 7;

/// By prototypes, most probable class.
pub const NEAREST: ClassifierSpec =
    ClassifierSpec::Nearest { prototypes: PROTOTYPES, beta: 2.0, neighbours: 0 };
/// By prototypes, majority of five.
pub const VOTE: ClassifierSpec = ClassifierSpec::Nearest { prototypes: PROTOTYPES, beta: 0.5, neighbours: 5 };
/// By an affine map, with centres.
pub const LINEAR: ClassifierSpec = ClassifierSpec::Linear { temperature: 1.5, centres: true };
/// By an affine map alone.
pub const LINEAR_ALONE: ClassifierSpec = ClassifierSpec::Linear { temperature: 0.7, centres: false };

/// A spec with three classes.
pub fn spec(pooling: Pooling, over: PoolOver, classifier: ClassifierSpec) -> ReducerSpec {
    let classes = if classifier == ClassifierSpec::None { 0 } else { CLASSES };
    ReducerSpec { classes, classifier, ..ReducerSpec::new(pooling, over) }
}

/// A reducer of a network with these layers, with numbers that depend on `seed` alone.
pub fn contents(
    spec: ReducerSpec,
    architecture: Architecture,
    layers: &[(CellKind, u16)],
    (format, layout): (WeightFormat, Layout),
    seed: &str,
) -> ReducerContents {
    let mut numbers = Numbers::new(seed);
    let mut network = Contents::zeros(architecture.spec(layers, format));
    network.spec.layout = layout;
    randomise(&mut network, &mut numbers);
    let mut contents = ReducerContents::new(spec, network);
    fill(&mut contents, &mut numbers);
    contents
}

/// Gives a classifier numbers of the size of embeddings.
pub fn fill(contents: &mut ReducerContents, numbers: &mut Numbers) {
    let (dims, classes) = (contents.dimensions(), usize::from(contents.spec.classes));
    // A pool of bounded units is bounded; a sum grows with the rows.
    let reach = if contents.spec.pooling == Pooling::Sum { 8.0 } else { 1.0 };
    let mut list = |count: usize, low: f32, high: f32| {
        let mut values = vec![0.0; count];
        numbers.fill(&mut values, low, high);
        values
    };
    match contents.spec.classifier {
        ClassifierSpec::None => {}
        ClassifierSpec::Nearest { prototypes, .. } => {
            contents.prototypes = list(usize::from(prototypes) * dims, -reach, reach);
            contents.labels = (0..prototypes).map(|prototype| prototype % contents.spec.classes).collect();
        }
        ClassifierSpec::Linear { centres, .. } => {
            contents.weight = list(classes * dims, -2.0, 2.0);
            contents.bias = list(classes, -0.3, 0.3);
            if centres {
                contents.centres = list(classes * dims, -reach, reach);
                contents.precision = list(dims, 0.2, 2.0);
            }
        }
    }
}
