//! A trained latent model as a checkpoint, and the cost of quantization.

use anyhow::{Result, anyhow, bail};
use quaver::checkpoint::{
    self, Contents, FittedPrior, Forecast, LatentSpec, Layout, WeightFormat, write_latent,
};
use quaver::export::GramMatrices;
use serde::Serialize;

use super::contents::contents;
use super::cost::compare;
use super::latent_gram::latent_gram_matrices;
use super::ranges::InputRanges;
use crate::config::LatentFamily;
use crate::data::{Scaler, Scaling, Sequence};
use crate::evaluate::predict_latent_by_runtime;
use crate::fit::RunState;
use crate::latent::LatentNets;

/// How both networks are stored, and how latent variables are fed to the generative network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatentStorageOptions {
    /// Format of the weights.
    pub format: WeightFormat,
    /// Layout of the weights.
    pub layout: Layout,
    /// How latent variables are fed.
    pub forecast: Forecast,
}

/// What a checkpoint gets beyond the trained networks; nothing by default.
#[derive(Clone, Debug, Default)]
pub struct LatentEncoding {
    /// Gram matrices of the affine maps of the recognition and the generative network, which guide rounding.
    pub gram_matrices: [Vec<GramMatrices>; 2],
    /// What was fitted for predictions of rows before they are observed.
    pub fitted: FittedPrior,
    /// Plausible ranges of the channels.
    pub ranges: Option<InputRanges>,
}

impl LatentEncoding {
    /// Gram matrices of training rows for latent variables that are fed in this way.
    ///
    /// # Errors
    /// As [`encode_latent`].
    pub fn with_gram_matrices(
        self,
        state: &RunState<LatentNets>,
        forecast: Forecast,
        train: &[Sequence],
    ) -> Result<Self> {
        let storage = LatentStorageOptions { format: WeightFormat::F32, layout: Layout::Float, forecast };
        let [recognition, generative] = &both_contents(state, storage);
        let networks = [recognition, generative];
        let gram_matrices = latent_gram_matrices(state.spec.family, networks, forecast, train)?;
        Ok(LatentEncoding { gram_matrices, ..self })
    }
}

/// A latent model as the bytes of a checkpoint.
///
/// # Errors
/// If the runtime cannot run it row by row, or cannot store it in this way.
pub fn encode_latent(
    state: &RunState<LatentNets>,
    storage: LatentStorageOptions,
    encoding: &LatentEncoding,
) -> Result<Vec<u8>> {
    let nets = &state.spec;
    let family = match nets.family {
        LatentFamily::Storn if nets.is_causal() => checkpoint::Family::Storn,
        LatentFamily::Vosp => checkpoint::Family::Vosp,
        LatentFamily::Storn => bail!(
            "the recognition network of this STORN reads the whole sequence, which a device has not got; train one with \
             latent.direction = \"causal\" to export it"
        ),
        LatentFamily::Vrae => {
            bail!("a VRAE reads the whole sequence, which a device has not got; export a STORN or a VOSP")
        }
    };
    let latents = nets.recognition.spec.outputs;
    let spec = LatentSpec { family, prior: nets.prior, latents, forecast: storage.forecast };
    let [mut recognition, mut generative] = both_contents(state, storage);
    let networks = [&mut recognition, &mut generative].into_iter().zip(&encoding.gram_matrices);
    networks.for_each(|(network, gram_matrices)| network.gram.clone_from(gram_matrices));
    if let Some(ranges) = &encoding.ranges {
        ranges.add_to(&mut recognition);
    }
    write_latent(&spec, &recognition, &generative, &encoding.fitted)
        .map_err(|error| anyhow!("the model cannot be stored: {error}"))
}

fn both_contents(state: &RunState<LatentNets>, storage: LatentStorageOptions) -> [Contents; 2] {
    let LatentNets { recognition, generative, family, .. } = &state.spec;
    let latents = numbered("z", state.spec.latents());
    let past = match family {
        LatentFamily::Storn | LatentFamily::Vrae => state.input_names.clone(),
        LatentFamily::Vosp => numbered("h", usize::from(generative.spec.inputs) - latents.len()),
    };
    let read = [past, latents.clone()].concat();
    // Latent variables and units have no units of measure.
    let mut scaler = Scaler::identity(read.len());
    if *family == LatentFamily::Storn {
        let Scaler { mean, std_dev } = &state.scaling.inputs;
        scaler.mean[..mean.len()].copy_from_slice(mean);
        scaler.std_dev[..std_dev.len()].copy_from_slice(std_dev);
    }
    let of_recognition = Scaling {
        inputs: state.scaling.inputs.clone(),
        targets: Scaler::identity(latents.len()),
        density: None,
        linear: None,
    };
    let generative_scaling =
        Scaling { inputs: scaler, targets: state.scaling.targets.clone(), density: None, linear: None };
    let parameters = |prefix: &str, net: &crate::latent::LatentNet| state.parameters.part(prefix, net.method);
    let stored = |contents: Contents| {
        let mut contents = contents;
        contents.spec.layout = storage.layout;
        contents
    };
    [
        stored(contents(
            &recognition.spec,
            storage.format,
            &parameters("recognition.", recognition),
            &of_recognition,
            &state.input_names,
            &latents,
        )),
        stored(contents(
            &generative.spec,
            storage.format,
            &parameters("generative.", generative),
            &generative_scaling,
            &read,
            &state.target_names,
        )),
    ]
}

/// z1, z2, …
fn numbered(name: &str, count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("{name}{number}")).collect()
}

/// A checkpoint compared with the same model in f32, on the same sequences, both by the runtime.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatentCost {
    /// Negative log-likelihood of the checkpoint: of rows before they are observed, or of clean rows given
    /// their noisy versions; nats per step with densities in raw units.
    pub nll: f64,
    /// Increase of the NLL in nats per step.
    pub nll_increase: f64,
    /// Mean ratio of predicted variances, checkpoint to f32.
    pub variance_ratio: f64,
    /// Root mean square of the difference of the means, in predicted standard deviations.
    pub mean_shift: f64,
}

/// Compares a checkpoint with the same model in f32.
///
/// # Errors
/// If either is not a checkpoint of a latent model.
pub fn latent_cost(
    sequences: &[Sequence],
    f32_bytes: &[u8],
    exported_bytes: &[u8],
) -> Result<LatentCost, quaver::Error> {
    let full = predict_latent_by_runtime(f32_bytes, sequences)?;
    let exported = predict_latent_by_runtime(exported_bytes, sequences)?;
    let (variance_ratio, mean_shift) = compare(full.primary(), exported.primary());
    Ok(LatentCost { nll: exported.nll, nll_increase: exported.nll - full.nll, variance_ratio, mean_shift })
}

#[cfg(test)]
mod tests;
