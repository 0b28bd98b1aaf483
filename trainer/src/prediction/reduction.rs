//! Sequences reduced to points and classes by the runtime.

use std::sync::Mutex;

use quaver::{Error, Reducer, ReducerModel};

use crate::data::Rows;
use crate::nn::parallel::{default_threads, for_each};

/// The embeddings of sequences and, for a model with a classifier, their classes.
#[derive(Clone, Debug, Default)]
pub struct Reduction {
    /// A row of means per sequence.
    pub mean: Rows,
    /// A row of variances per sequence.
    pub var: Rows,
    /// The classifications of all sequences; none without a classifier.
    pub classes: Option<ClassPredictions>,
}

/// The classes of sequences.
#[derive(Clone, Debug, Default)]
pub struct ClassPredictions {
    /// The class of each.
    pub classes: Vec<usize>,
    /// A row of class probabilities for each.
    pub probabilities: Rows,
    /// Squared distance of each from the nearest prototype or centre; NaN if the classifier has none.
    pub distances: Vec<f32>,
    /// Score of each by which it is none of the classes.
    pub novelty: Vec<f32>,
    /// Whether that score is within the threshold of the model.
    pub known: Vec<bool>,
}

/// Prototypes that were added to a model as a device would: for classes of its own and new ones.
#[derive(Clone, Debug, Default)]
pub struct TaughtPrototypes {
    words: Vec<f32>,
    /// Classes beyond those of the checkpoint.
    new_classes: u16,
    prototypes: usize,
}

impl TaughtPrototypes {
    /// Reads every example with the runtime, and stores its embedding as a prototype of its class. Classes
    /// from the number of the checkpoint's on are new ones.
    ///
    /// # Errors
    /// If the bytes are no reducer, or it has no prototypes.
    ///
    /// # Panics
    /// If an example has no rows.
    pub fn new(bytes: &[u8], examples: &[(usize, &Rows)]) -> Result<Self, Error> {
        let model = ReducerModel::load(bytes)?;
        let most = examples.iter().map(|(class, _)| class + 1).max().unwrap_or(0);
        let new_classes = u16::try_from(most.saturating_sub(model.classes())).unwrap_or(u16::MAX);
        let mut taught = Self { words: Vec::new(), new_classes, prototypes: examples.len() };
        let (mut words, mut memory) = (vec![0.0; model.arena_words()], taught.memory(&model));
        let mut reducer = Reducer::load_in(bytes, &mut words)?.teach_in(&mut memory, new_classes)?;
        for (class, rows) in examples {
            reducer.begin();
            rows.iter().for_each(|row| reducer.step(row));
            assert!(reducer.teach(*class), "an example has rows, a class and room");
        }
        taught.words = reducer.taught().to_vec();
        Ok(taught)
    }

    /// Memory for all prototypes.
    fn memory(&self, model: &ReducerModel<'_>) -> Vec<f32> {
        let classes = model.classes() + usize::from(self.new_classes);
        vec![0.0; classes + self.prototypes.max(1) * (model.dimensions() + 1)]
    }
}

/// The runtime's reductions of whole sequences, each from a fresh start.
///
/// # Errors
/// If the bytes are no reducer.
pub fn reduce_by_runtime(
    bytes: &[u8],
    sequences: &[&Rows],
    taught: Option<&TaughtPrototypes>,
) -> Result<Reduction, Error> {
    let model = ReducerModel::load(bytes)?;
    // What threads cannot report is checked here first.
    if let Some(taught) = taught {
        TaughtPrototypes::new(bytes, &[])?;
        debug_assert!(taught.words.len() == taught.prototypes * (model.dimensions() + 1));
    }
    let found: Mutex<Vec<Option<ReducedSequence>>> = Mutex::new(vec![None; sequences.len()]);
    let threads = default_threads();
    for_each(threads, 0..threads, |thread| {
        let mut words = vec![0.0; model.arena_words()];
        let mut memory = taught.map_or(Vec::new(), |taught| taught.memory(&model));
        let Ok(mut reducer) = Reducer::load_in(bytes, &mut words) else { return };
        if let Some(taught) = taught {
            let Ok(teachable) = reducer.teach_in(&mut memory, taught.new_classes) else { return };
            reducer = teachable;
            reducer.restore_taught(&taught.words);
        }
        for index in (thread..sequences.len()).step_by(threads) {
            let reduced = ReducedSequence::of(&mut reducer, sequences[index]);
            found.lock().expect("nobody panics with it")[index] = reduced;
        }
    });
    let found = found.into_inner().expect("nobody panicked with it");
    let classes = model.classes() + taught.map_or(0, |taught| usize::from(taught.new_classes));
    Ok(Reduction::collect(found, model.dimensions(), classes))
}

/// One sequence.
#[derive(Clone, Debug)]
struct ReducedSequence {
    mean: Vec<f32>,
    var: Vec<f32>,
    class: Option<SequenceClass>,
}

#[derive(Clone, Debug)]
struct SequenceClass {
    class: usize,
    probabilities: Vec<f32>,
    distance: f32,
    novelty: f32,
    known: bool,
}

impl ReducedSequence {
    /// `None` for a sequence without rows.
    fn of(reducer: &mut Reducer<'_, '_>, rows: &Rows) -> Option<Self> {
        reducer.begin();
        rows.iter().for_each(|row| reducer.step(row));
        let embedding = reducer.embedding()?;
        let (mean, var) = (embedding.mean.to_vec(), embedding.var.to_vec());
        let class = reducer.classify().map(|found| SequenceClass {
            class: found.class,
            probabilities: found.probabilities.to_vec(),
            distance: found.distance.unwrap_or(f32::NAN),
            novelty: found.novelty,
            known: found.known,
        });
        Some(Self { mean, var, class })
    }
}

impl Reduction {
    /// Sequences without rows have NaN, and no class.
    fn collect(found: Vec<Option<ReducedSequence>>, dimensions: usize, classes: usize) -> Self {
        let mut reduction =
            Reduction { mean: Rows::new(dimensions), var: Rows::new(dimensions), classes: None };
        let mut predictions = ClassPredictions { probabilities: Rows::new(classes), ..Default::default() };
        for sequence in &found {
            let nothing = || vec![f32::NAN; dimensions];
            reduction.mean.values.extend(sequence.as_ref().map_or_else(nothing, |found| found.mean.clone()));
            reduction.var.values.extend(sequence.as_ref().map_or_else(nothing, |found| found.var.clone()));
            if let Some(found) = sequence.as_ref().and_then(|sequence| sequence.class.as_ref()) {
                predictions.classes.push(found.class);
                predictions.probabilities.values.extend(&found.probabilities);
                predictions.distances.push(found.distance);
                predictions.novelty.push(found.novelty);
                predictions.known.push(found.known);
            }
        }
        let is_complete = !found.is_empty() && predictions.classes.len() == found.len();
        reduction.classes = is_complete.then_some(predictions);
        reduction
    }
}

#[cfg(test)]
mod tests;
