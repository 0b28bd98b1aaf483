//! A checkpoint that runs here, on rows that arrive.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, LatentModel, Model, Prediction, State};

use crate::layout::Layout;
use crate::row::Meta;

/// What a step adds to a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stepped {
    /// The row, its scores and the duration of the step.
    pub(crate) meta: Meta,
    /// Inputs, means, epistemic and aleatoric variances.
    pub(crate) values: Vec<f32>,
    /// Values of the row outside of their plausible ranges.
    pub(crate) implausible: u64,
}

impl Stepped {
    fn set(&mut self, meta: Meta, row: &[f32], prediction: &Prediction<'_>, begun: Instant) {
        let anomaly = prediction.anomaly();
        self.meta = Meta {
            surprise: prediction.surprise().map_or(f32::NAN, |surprise| surprise.nll),
            score: anomaly.map_or(f32::NAN, |anomaly| anomaly.score),
            anomalous: anomaly.is_some_and(|anomaly| anomaly.is_anomalous()),
            step_us: begun.elapsed().as_secs_f32() * 1e6,
            ..meta
        };
        self.implausible = prediction.implausible().count() as u64;
        self.values.clear();
        for part in [row, prediction.mean(), prediction.epistemic(), prediction.aleatoric()] {
            self.values.extend(part);
        }
    }
}

/// A model with one stream.
pub(crate) trait Stepper {
    /// Its channels.
    fn layout(&self) -> &Layout;
    /// Forgets the rows so far.
    fn reset(&mut self);
    /// Takes a row.
    fn step(&mut self, meta: Meta, row: &[f32], stepped: &mut Stepped);
}

/// Loads a checkpoint and calls `work` with it.
///
/// # Errors
/// If it is no checkpoint of a predictor or a denoiser.
pub(crate) fn with<T>(bytes: &[u8], work: impl FnOnce(&mut dyn Stepper) -> Result<T>) -> Result<T> {
    const UNUSABLE: &str = "the model is not a usable checkpoint";
    if Kind::of(bytes) == Some(Kind::Latent) {
        let model = LatentModel::load(bytes).context(UNUSABLE)?;
        if model.spec().family == Family::Storn {
            bail!("the model is a STORN, which samples rows (`quaver sample`); give a predictor or a VOSP");
        }
        let (recognition, generative) = (model.recognition().checkpoint(), model.generative().checkpoint());
        let (inputs, outputs) = (recognition.input_names(), generative.output_names());
        let layout = layout(model.channels(), inputs, model.channels(), outputs);
        let mut words = vec![0.0; model.arena_words()];
        return work(&mut RunningDenoiser { denoiser: Denoiser::load_in(bytes, &mut words)?, layout });
    }
    let model = Model::load(bytes).context(UNUSABLE)?;
    let (spec, checkpoint) = (model.spec(), model.checkpoint());
    let (inputs, outputs) = (spec.inputs.into(), spec.outputs.into());
    let mut layout = layout(inputs, checkpoint.input_names(), outputs, checkpoint.output_names());
    for (index, output) in layout.outputs.iter_mut().enumerate() {
        output.quantiles = [0.5, 0.9].map(|level| model.quantile(index, level));
    }
    let mut words = vec![0.0; spec.arena_words()];
    let state = model.start_in(&mut words)?;
    work(&mut RunningPredictor { model: &model, state, layout })
}

fn layout<'n>(
    inputs: usize,
    input_names: impl Iterator<Item = &'n str>,
    outputs: usize,
    output_names: impl Iterator<Item = &'n str>,
) -> Layout {
    let channels = |count: usize, names: Vec<&str>| {
        let name = |index: usize| names.get(index).map_or(String::new(), |name| name.to_string());
        (0..count).map(|index| (name(index), String::new())).collect::<Vec<_>>()
    };
    let inputs = channels(inputs, input_names.collect());
    let outputs = channels(outputs, output_names.collect());
    Layout { device: "model on this machine".into(), ..Layout::new(inputs, outputs) }
}

struct RunningPredictor<'s, 'm, 'a> {
    model: &'s Model<'m>,
    state: State<'a>,
    layout: Layout,
}

impl Stepper for RunningPredictor<'_, '_, '_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn reset(&mut self) {
        self.model.reset(&mut self.state);
    }

    fn step(&mut self, meta: Meta, row: &[f32], stepped: &mut Stepped) {
        let begun = Instant::now();
        stepped.set(meta, row, &self.model.step(&mut self.state, row), begun);
    }
}

struct RunningDenoiser<'m, 'a> {
    denoiser: Denoiser<'m, 'a>,
    layout: Layout,
}

impl Stepper for RunningDenoiser<'_, '_> {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn reset(&mut self) {
        self.denoiser.reset();
    }

    fn step(&mut self, meta: Meta, row: &[f32], stepped: &mut Stepped) {
        let begun = Instant::now();
        stepped.set(meta, row, &self.denoiser.step(row), begun);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::NORMAL_QUANTILES;

    static GRIP_FORCE: &[u8] = include_bytes!("../../runtime/examples/grip_force.qvr");
    static DENOISER: &[u8] = include_bytes!("../../runtime/examples/denoiser.qvr");
    static SAMPLER: &[u8] = include_bytes!("../../runtime/examples/sampler.qvr");

    #[test]
    fn a_predictor_gives_the_numbers_of_the_runtime() {
        let model = Model::load(GRIP_FORCE).expect("the example");
        let mut words = vec![0.0; model.spec().arena_words()];
        let mut state = model.start_in(&mut words).expect("enough words");
        let row = [14.0, 9.5, f32::NAN, 4.25, 6.0, 11.5, 20.25, 17.0];
        with(GRIP_FORCE, |stepper| {
            let mut stepped = Stepped::default();
            for _ in 0..3 {
                stepper.step(Meta::default(), &row, &mut stepped);
                let expected = model.step(&mut state, &row);
                let [inputs, mean, epistemic, aleatoric] = stepper.layout().split(&stepped.values);
                assert!(inputs[2].is_nan() && stepped.meta.step_us > 0.0);
                assert_eq!(mean, expected.mean());
                assert_eq!((epistemic, aleatoric), (expected.epistemic(), expected.aleatoric()));
            }
            assert_eq!(stepper.layout().inputs.len(), 8);
            assert_eq!(stepper.layout().outputs[0].quantiles[1], model.quantile(0, 0.9));
            Ok(())
        })
        .expect("a predictor");
    }

    #[test]
    fn a_denoiser_runs_and_others_are_refused() {
        with(DENOISER, |stepper| {
            let mut stepped = Stepped::default();
            stepper.step(Meta::default(), &[12.5, f32::NAN, 3.0], &mut stepped);
            assert_eq!(stepped.values.len(), stepper.layout().width());
            assert_eq!(stepper.layout().outputs[0].quantiles, NORMAL_QUANTILES);
            Ok(())
        })
        .expect("a denoiser");
        let refused = |bytes: &[u8]| with(bytes, |_| Ok(())).expect_err("refused").to_string();
        assert!(refused(SAMPLER).contains("STORN"));
        assert!(refused(b"nothing").contains("not a usable checkpoint"));
    }
}
