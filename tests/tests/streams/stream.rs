//! Latent models that streams are tried on.

use quaver::checkpoint::Family;
use quaver::{LatentModel, Prediction, Sampler};
use quaver_tests::Case;
use quaver_tests::fingerprint::words;
use quaver_tests::golden_latent::cases;
use quaver_tests::replay::Task;
pub(crate) use quaver_tests::stream::Stream;

pub(crate) type Bits = Vec<u32>;

/// Every number of a prediction, as bits, so that NaN equals NaN.
pub(crate) fn bits(prediction: &Prediction<'_>) -> Bits {
    words(prediction).chain(prediction.iter().map(|output| output.variance)).map(f32::to_bits).collect()
}

/// One case per model.
pub(crate) fn models() -> Vec<Case> {
    cases()
        .into_iter()
        .filter(|case| case.task == Task::Follow || case.name.contains("sampler-means"))
        .collect()
}

pub(crate) fn samplers() -> Vec<Case> {
    let storn = |case: &Case| {
        LatentModel::load(&case.model).expect("golden models load").spec().family == Family::Storn
    };
    models().into_iter().filter(storn).collect()
}

pub(crate) fn arena(case: &Case) -> Vec<f32> {
    let words = LatentModel::load(&case.model).expect("golden models load").arena_words();
    vec![f32::NAN; words] // what the memory held before must not matter
}

pub(crate) fn with_stream<T>(case: &Case, each: impl FnOnce(&mut Stream<'_, '_>) -> T) -> T {
    each(&mut Stream::load(&case.model, &mut arena(case)).expect("golden models load"))
}

pub(crate) fn with_sampler<T>(case: &Case, each: impl FnOnce(&mut Sampler<'_, '_>) -> T) -> T {
    each(&mut Sampler::load_in(&case.model, &mut arena(case)).expect("golden models load"))
}

pub(crate) fn whole_run(case: &Case) -> Vec<Bits> {
    with_stream(case, |stream| case.stream.chunks(case.inputs).map(|row| bits(&stream.step(row))).collect())
}
