//! Reducers to test, and what they answer.

use quaver::checkpoint::{
    CellKind, ClassifierSpec, Layout, PoolOver, Pooling, ReducerContents, ReducerSpec, WeightFormat,
    write_reducer,
};
use quaver::{Classification, Predictor, Reducer, ReducerModel};
use quaver_tests::golden::Architecture;
use quaver_tests::numbers::Numbers;
use quaver_tests::reducer;

pub(crate) const POOLINGS: [Pooling; 4] = [Pooling::Mean, Pooling::Sum, Pooling::Max, Pooling::Stochastic];
const FLOAT: (WeightFormat, Layout) = (WeightFormat::F32, Layout::Float);

/// A reducer of an LSTM in floating point.
pub(crate) fn contents(spec: ReducerSpec) -> ReducerContents {
    let architecture = Architecture { outputs: 4, ..Architecture::default() };
    reducer::contents(spec, architecture, &[(CellKind::Lstm, 5)], FLOAT, "reducer")
}

pub(crate) fn model(spec: ReducerSpec) -> Vec<u8> {
    write_reducer(&contents(spec)).expect("a valid reducer")
}

/// A reducer without a classifier.
pub(crate) fn embedder(pooling: Pooling) -> ReducerSpec {
    reducer::spec(pooling, PoolOver::Outputs, ClassifierSpec::None)
}

pub(crate) fn with_reducer<T>(model: &[u8], work: impl FnOnce(&mut Reducer<'_, '_>) -> T) -> T {
    let mut words = vec![f32::NAN; ReducerModel::load(model).expect("a valid reducer").arena_words()];
    work(&mut Reducer::load_in(model, &mut words).expect("enough words"))
}

/// Rows of three channels; some values are missing.
pub(crate) fn rows(count: usize) -> Vec<[f32; 3]> {
    let mut numbers = Numbers::new("rows");
    let mut value = || if numbers.once_in(9) { f32::NAN } else { numbers.between(-2.0, 2.0) };
    (0..count).map(|_| [value(), value(), value()]).collect()
}

/// Mean and variance of each output at each row, by the same network as a predictor.
pub(crate) fn outputs(contents: &ReducerContents, rows: &[[f32; 3]]) -> Vec<Vec<[f64; 2]>> {
    let bytes = quaver::checkpoint::write(&contents.network).expect("a valid network");
    let mut words = vec![0.0; quaver::Model::load(&bytes).expect("valid").spec().arena_words()];
    let mut predictor = Predictor::load_in(&bytes, &mut words).expect("enough words");
    let mut step = |row: &[f32; 3]| {
        let prediction = predictor.step(row);
        let moments = prediction.mean().iter().zip(prediction.epistemic());
        moments.map(|(mean, var)| [f64::from(*mean), f64::from(*var)]).collect()
    };
    rows.iter().map(&mut step).collect()
}

/// Means and variances of the embedding.
pub(crate) fn embedding(reducer: &mut Reducer<'_, '_>) -> [Vec<f32>; 2] {
    let embedding = reducer.embedding().expect("a row was read");
    [embedding.mean.to_vec(), embedding.var.to_vec()]
}

/// Bits of everything that a reducer answers.
pub(crate) fn bits(reducer: &mut Reducer<'_, '_>) -> Vec<u32> {
    let mut numbers: Vec<f32> = reducer
        .embedding()
        .map_or(Vec::new(), |embedding| embedding.mean.iter().chain(embedding.var).copied().collect());
    if let Some(Classification { class, probabilities, distance, novelty, known, .. }) = reducer.classify() {
        numbers.extend(probabilities);
        numbers.extend([class as f32, novelty, f32::from(u8::from(known))].into_iter().chain(distance));
    }
    numbers.iter().map(|number| number.to_bits()).collect()
}

pub(crate) fn assert_near(found: &[f32], expected: &[f64], tolerance: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (found, expected) in found.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= tolerance * (1.0 + expected.abs()), "{what}: {found} instead of {expected}");
    }
}
