//! Either kind of stream of a latent model, and the models they are tried on.

use quaver::checkpoint::Family;
use quaver::{Denoiser, Error, LatentModel, Prediction, Sampler};
use quaver_tests::Case;
use quaver_tests::fingerprint::words;
use quaver_tests::golden_latent::cases;
use quaver_tests::replay::Task;

pub(crate) type Bits = Vec<u32>;

/// Every number of a prediction, as bits, so that NaN equals NaN.
pub(crate) fn bits(prediction: &Prediction<'_>) -> Bits {
    words(prediction).chain(prediction.iter().map(|output| output.variance)).map(f32::to_bits).collect()
}

/// Either kind of stream, so that what holds for both is tested once.
pub(crate) enum Stream<'m, 'a> {
    Denoiser(Denoiser<'m, 'a>),
    Sampler(Sampler<'m, 'a>),
}

impl<'m, 'a> Stream<'m, 'a> {
    pub(crate) fn load(case: &'m Case, words: &'a mut [f32]) -> Result<Self, Error> {
        Ok(match LatentModel::load(&case.model)?.spec().family {
            Family::Storn => Stream::Sampler(Sampler::load_in(&case.model, words)?),
            Family::Vosp => Stream::Denoiser(Denoiser::load_in(&case.model, words)?),
        })
    }

    pub(crate) fn model(&self) -> &LatentModel<'m> {
        match self {
            Stream::Denoiser(denoiser) => denoiser.model(),
            Stream::Sampler(sampler) => sampler.model(),
        }
    }

    pub(crate) fn step_uncertain(&mut self, row: &[f32], vars: &[f32]) -> Prediction<'_> {
        match self {
            Stream::Denoiser(denoiser) => denoiser.step_uncertain(row, vars),
            Stream::Sampler(sampler) => sampler.observe_uncertain(row, vars),
        }
    }

    pub(crate) fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.step_uncertain(row, &[])
    }

    pub(crate) fn prediction(&mut self) -> Prediction<'_> {
        match self {
            Stream::Denoiser(denoiser) => denoiser.prediction(),
            Stream::Sampler(sampler) => sampler.prediction(),
        }
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Stream::Denoiser(denoiser) => denoiser.reset(),
            Stream::Sampler(sampler) => sampler.reset(),
        }
    }

    pub(crate) fn save(&self, words: &mut [f32]) -> Result<(), Error> {
        match self {
            Stream::Denoiser(denoiser) => denoiser.save(words),
            Stream::Sampler(sampler) => sampler.save(words),
        }
    }

    pub(crate) fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        match self {
            Stream::Denoiser(denoiser) => denoiser.restore(words),
            Stream::Sampler(sampler) => sampler.restore(words),
        }
    }
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
    each(&mut Stream::load(case, &mut arena(case)).expect("golden models load"))
}

pub(crate) fn with_sampler<T>(case: &Case, each: impl FnOnce(&mut Sampler<'_, '_>) -> T) -> T {
    each(&mut Sampler::load_in(&case.model, &mut arena(case)).expect("golden models load"))
}

pub(crate) fn whole_run(case: &Case) -> Vec<Bits> {
    with_stream(case, |stream| case.stream.chunks(case.inputs).map(|row| bits(&stream.step(row))).collect())
}
