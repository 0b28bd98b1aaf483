//! Two checkpoints on the same rows: the same bits, or an error.

use anyhow::{Context, Result, bail};
use quaver::checkpoint::{Family, Kind};
use quaver::{Denoiser, LatentModel, Model, Prediction, Predictor, Reducer, ReducerModel, Sampler};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoroshiro128PlusPlus;

/// Rows that both are run on.
const ROWS: usize = 256;

/// Runs both models; returns the number of rows.
///
/// # Errors
/// When a prediction differs in a bit, with the row.
pub(super) fn assert_same_predictions(old: &[u8], new: &[u8]) -> Result<usize> {
    let rows = rows(channels(old)?);
    let [old, new] = [old, new].map(|model| predictions(model, &rows));
    let (old, new) = (old?, new.context("the converted checkpoint does not load")?);
    if let Some(row) = old.iter().zip(&new).position(|(old, new)| old != new) {
        bail!(
            "the converted model predicts something else after row {}: nothing was written; please report it",
            row + 1
        );
    }
    Ok(rows.len())
}

fn channels(model: &[u8]) -> Result<usize, quaver::Error> {
    match Kind::of(model) {
        Some(Kind::Latent) => LatentModel::load(model).map(|model| model.channels()),
        Some(Kind::Reducer) => ReducerModel::load(model).map(|model| model.network().spec().inputs.into()),
        Some(Kind::Predictor) | None => Model::load(model).map(|model| model.spec().inputs.into()),
    }
}

/// Rows of all magnitudes from 10⁻³ to 10³, since the model's units are any; one value in eight is missing.
fn rows(channels: usize) -> Vec<Vec<f32>> {
    let mut rng = Xoroshiro128PlusPlus::seed_from_u64(1);
    let mut unit = || rng.next_u32() as f32 / u32::MAX as f32;
    let mut value = |magnitude: f32| if unit() < 0.125 { f32::NAN } else { magnitude * (2.0 * unit() - 1.0) };
    let magnitude = |row: usize| 10_f32.powi((row % 7) as i32 - 3);
    (0..ROWS).map(|row| (0..channels).map(|_| value(magnitude(row))).collect()).collect()
}

/// The bits of every number that a model predicts after each row.
fn predictions(model: &[u8], rows: &[Vec<f32>]) -> Result<Vec<Vec<u32>>, quaver::Error> {
    match Kind::of(model) {
        Some(Kind::Latent) => latent_predictions(model, rows),
        Some(Kind::Reducer) => {
            let mut words = vec![0.0; ReducerModel::load(model)?.arena_words()];
            let mut reducer = Reducer::load_in(model, &mut words)?;
            Ok(rows.iter().map(|row| reduced_bits(&mut reducer, row)).collect())
        }
        Some(Kind::Predictor) | None => {
            let mut words = vec![0.0; Model::load(model)?.spec().arena_words()];
            let mut predictor = Predictor::load_in(model, &mut words)?;
            Ok(rows.iter().map(|row| bits(&predictor.step(row))).collect())
        }
    }
}

fn latent_predictions(model: &[u8], rows: &[Vec<f32>]) -> Result<Vec<Vec<u32>>, quaver::Error> {
    let latent = LatentModel::load(model)?;
    let mut words = vec![0.0; latent.arena_words()];
    Ok(match latent.spec().family {
        Family::Vosp => {
            let mut denoiser = Denoiser::load_in(model, &mut words)?;
            rows.iter().map(|row| bits(&denoiser.step(row))).collect()
        }
        Family::Storn => {
            let mut sampler = Sampler::load_in(model, &mut words)?;
            rows.iter().map(|row| bits(&sampler.observe(row))).collect()
        }
    })
}

/// The bits of the embedding and its classification after a row.
fn reduced_bits(reducer: &mut Reducer<'_, '_>, row: &[f32]) -> Vec<u32> {
    reducer.step(row);
    let mut numbers = Vec::new();
    if let Some(embedding) = reducer.embedding() {
        numbers.extend(embedding.mean.iter().chain(embedding.var));
    }
    if let Some(class) = reducer.classify() {
        numbers.extend(class.probabilities.iter().chain([&class.novelty]));
    }
    numbers.iter().map(|number: &f32| number.to_bits()).collect()
}

fn bits(prediction: &Prediction<'_>) -> Vec<u32> {
    let parts = [prediction.mean(), prediction.epistemic(), prediction.aleatoric()];
    let surprise = prediction.surprise().map_or(0.0, |surprise| surprise.nll);
    parts.into_iter().flatten().chain([&surprise]).map(|value| value.to_bits()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_equals_itself_and_a_changed_one_differs() {
        let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/fixtures/lstm-fast.qvr");
        let model = std::fs::read(fixture).unwrap();
        assert_eq!(assert_same_predictions(&model, &model).unwrap(), ROWS);
        // The calibration of both outputs ends the payload: a section of 16 bytes.
        let mut changed = model.clone();
        let calibration = changed.len() - 4 - 16;
        changed[calibration] ^= 1;
        let content = changed.len() - 4;
        let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC).checksum(&changed[..content]);
        changed[content..].copy_from_slice(&crc.to_le_bytes());
        let error = assert_same_predictions(&model, &changed).unwrap_err().to_string();
        assert!(error.contains("something else after row"), "{error}");
    }

    #[test]
    fn rows_have_all_magnitudes_and_gaps() {
        let rows = rows(3);
        let values = || rows.iter().flatten();
        assert!(values().any(|value| value.is_nan()) && values().any(|value| value.abs() > 500.0));
        assert!(values().any(|value| value.abs() < 1e-3));
    }
}
