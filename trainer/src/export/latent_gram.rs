//! Gram matrices of the two networks of a latent model, which guide the rounding of their weights.
//!
//! The recognition network reads rows as a predictor does. The generative network reads what its family has
//! (the row before, or the units of the recognition network before the row) and the posterior of z, whose
//! outputs are the estimates.

use anyhow::Result;
use quaver::checkpoint::{Contents, Forecast, Target};
use quaver::export::GramMatrices;

use super::gram::{InputRows, gram_matrices_of, run_network, units};
use crate::config::LatentFamily;
use crate::data::{Rows, Sequence};

/// The Gram matrices of the recognition and of the generative network, whose contents are in f32.
///
/// # Errors
/// When a network cannot be stored.
pub(super) fn latent_gram_matrices(
    family: LatentFamily,
    [recognition, generative]: [&Contents; 2],
    forecast: Forecast,
    sequences: &[Sequence],
) -> Result<[Vec<GramMatrices>; 2]> {
    let rows: Vec<InputRows<'_>> =
        sequences.iter().map(|sequence| InputRows { mean: &sequence.inputs, var: None }).collect();
    let read = decoder_rows(family, recognition, forecast, &rows)?;
    let read: Vec<InputRows<'_>> =
        read.iter().map(|[mean, var]| InputRows { mean, var: Some(var) }).collect();
    // The row that a residual is added to is no input of the weights.
    let mut network = generative.clone();
    network.spec.target = Target::Columns;
    Ok([gram_matrices_of(recognition, &rows)?, gram_matrices_of(&network, &read)?])
}

/// Means and variances of what the generative network reads with every row of every sequence.
fn decoder_rows(
    family: LatentFamily,
    recognition: &Contents,
    forecast: Forecast,
    sequences: &[InputRows<'_>],
) -> Result<Vec<[Rows; 2]>> {
    let layers = &recognition.spec.layers;
    let latents = usize::from(recognition.spec.outputs);
    let past = match family {
        LatentFamily::Storn => usize::from(recognition.spec.inputs),
        LatentFamily::Vosp => layers.last().map_or(0, |layer| layer.units.into()),
        LatentFamily::Vrae => 0,
    };
    let mut found = Vec::new();
    for rows in sequences {
        let empty = || Rows { channels: past + latents, values: Vec::new() };
        let [mut mean, mut var] = [empty(), empty()];
        let mut last_row = recognition.input_scaler.mean.clone();
        run_network(recognition, &[*rows], |row, [before, _], posterior| {
            match family {
                LatentFamily::Storn => {
                    mean.values.extend(std::mem::replace(&mut last_row, row.mean.to_vec()));
                    var.values.extend(std::iter::repeat_n(0.0, past));
                }
                LatentFamily::Vosp => {
                    let units = units(layers, before).pop().unwrap_or_default();
                    mean.values.extend(units.iter().map(|(mean, _)| *mean as f32));
                    var.values.extend(units.iter().map(|(_, var)| *var as f32));
                }
                LatentFamily::Vrae => {}
            }
            mean.values.extend(posterior.iter().map(|latent| latent.mean));
            let carried = if forecast == Forecast::Moments { 1.0 } else { 0.0 };
            var.values.extend(posterior.iter().map(|latent| carried * latent.variance));
        })?;
        found.push([mean, var]);
    }
    Ok(found)
}
