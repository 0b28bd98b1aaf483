//! A trained latent model as a checkpoint, and the cost of quantization.

use anyhow::{Result, anyhow, bail};
use quaver::checkpoint::{self, Contents, Forecast, LatentSpec, Layout, WeightFormat, write_latent};
use serde::Serialize;

use super::contents::contents;
use super::cost::compare;
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

/// A latent model as the bytes of a checkpoint.
///
/// # Errors
/// If the runtime cannot run it row by row, or cannot store it in this way.
pub fn encode_latent(state: &RunState<LatentNets>, storage: LatentStorageOptions) -> Result<Vec<u8>> {
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
    let [recognition, generative] = both_contents(state, storage);
    write_latent(&spec, &recognition, &generative)
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
    };
    let generative_scaling =
        Scaling { inputs: scaler, targets: state.scaling.targets.clone(), density: None };
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
mod tests {
    use super::*;
    use crate::data::{Rows, Scaler};
    use crate::latent::{LatentFeed, TrainedLatentModel};
    use crate::random::{Purpose, normals, stream};
    use quaver::checkpoint::Target;

    fn state(lines: &str, sequences: &[Sequence]) -> RunState<LatentNets> {
        let text = format!("data = {{ train = \"none.csv\", targets = \"next\" }}\n{lines}");
        let config = crate::config::Config::parse("test.toml", &text, &[]).unwrap();
        let spec = LatentNets::new(&config, config.latent.as_ref().unwrap(), 2).unwrap();
        let parameters = spec.init_parameters(&config.init, 4);
        let names = vec!["a".to_string(), "b".to_string()];
        RunState::first(spec, parameters, &config.training, Scaling::fit(sequences), [names.clone(), names])
    }

    fn sequences() -> Vec<Sequence> {
        let mut rng = stream(2, Purpose::Initialisation);
        let mut rows = |steps: usize| Rows { channels: 2, values: normals(&mut rng, 2 * steps) };
        [7, 4].map(|steps| Sequence::next(rows(steps))).to_vec()
    }

    const STORN: &str = "latent = { family = \"storn\", latents = 3 }\n[model]\ncell = \"lstm\"\nlayers = [5]\n\
        [noise]\nrecurrent_keep = 0.9\n[recognition]\ncell = \"tanh\"\nlayers = [4]\n";
    const VOSP: &str = "latent = { family = \"vosp\", latents = 2, prior = \"wiener\", variance = \"propagated\" }\n\
        [model]\ncell = \"dense-tanh\"\nlayers = [5]\n[recognition]\ncell = \"lstm\"\nlayers = [4]\n\
        noise = { recurrent_keep = 0.9, output_keep = 0.8 }\n";

    fn f32_storage(forecast: Forecast) -> LatentStorageOptions {
        LatentStorageOptions { format: WeightFormat::F32, layout: Layout::Float, forecast }
    }

    /// The runtime reads the same numbers and adds them in another order.
    fn assert_close(found: &Rows, expected: &Rows) {
        for (found, expected) in found.values.iter().zip(&expected.values) {
            assert!((found - expected).abs() < 2e-5 * (1.0 + expected.abs()), "{found} against {expected}");
        }
    }

    #[test]
    fn the_runtime_predicts_what_the_trained_model_predicts() {
        let sequences = sequences();
        let changes = STORN.replace("[noise]", "residual = true\n[noise]");
        let scattered =
            STORN.replace("[noise]", "residual = true\nlikelihood = \"heteroscedastic\"\n[noise]");
        let ways = [(Forecast::Moments, LatentFeed::Moments), (Forecast::PosteriorMean, LatentFeed::Mean)];
        for lines in [STORN, &changes, &scattered] {
            let state = state(lines, &sequences);
            let model = TrainedLatentModel::new(&state);
            for (forecast, feed) in ways {
                let bytes = encode_latent(&state, f32_storage(forecast)).unwrap();
                let found = predict_latent_by_runtime(&bytes, &sequences).unwrap();
                for (found, expected) in found.primary().iter().zip(model.predict(&sequences, feed, 1)) {
                    assert_close(&found.mean, &expected.mean);
                    assert_close(&found.epistemic, &expected.epistemic);
                    assert_close(&found.aleatoric, &expected.aleatoric);
                }
            }
        }
    }

    #[test]
    fn the_runtime_denoises_as_the_trained_model_reconstructs() {
        let sequences = sequences();
        let state = state(VOSP, &sequences);
        let bytes = encode_latent(&state, f32_storage(Forecast::Moments)).unwrap();
        let found = predict_latent_by_runtime(&bytes, &sequences).unwrap();
        let expected = TrainedLatentModel::new(&state).reconstruct(&sequences, LatentFeed::Moments);
        for (found, expected) in found.primary().iter().zip(&expected) {
            assert_close(&found.mean, &expected.mean);
            assert_close(&found.epistemic, &expected.epistemic);
        }
        let predicted = TrainedLatentModel::new(&state).predict(&sequences, LatentFeed::Moments, 1);
        for (found, expected) in found.expected.iter().zip(&predicted) {
            assert_close(&found.mean, &expected.mean);
            assert_close(&found.aleatoric, &expected.aleatoric);
        }
        let names = &state.target_names;
        let scores =
            crate::evaluate::scores(quaver::checkpoint::Likelihood::Gaussian, names, &sequences, &predicted);
        assert!((found.nll - scores.nll).abs() < 1e-4 * scores.nll, "{} against {}", found.nll, scores.nll);
    }

    #[test]
    fn of_clean_rows_the_runtime_says_what_the_trained_model_says() {
        let read = sequences();
        let state = state(VOSP, &read);
        let clean = |of: &Sequence| {
            let halved = of.targets.values.iter().map(|value| 0.5 * value).collect();
            Sequence::columns(Rows::clone(&of.inputs), Rows { channels: 2, values: halved })
        };
        let explained: Vec<Sequence> = read.iter().map(clean).collect();
        let bytes = encode_latent(&state, f32_storage(Forecast::Moments)).unwrap();
        let found = predict_latent_by_runtime(&bytes, &explained).unwrap();
        let before = predict_latent_by_runtime(&bytes, &read).unwrap();
        assert_eq!(found.primary(), before.primary(), "only what is read makes a difference");
        assert_eq!(
            [found.for_target(Target::Columns), before.for_target(Target::Next)],
            [before.primary(), &before.expected]
        );
        let primary = TrainedLatentModel::new(&state).reconstruct(&explained, LatentFeed::Moments);
        let gaussian = quaver::checkpoint::Likelihood::Gaussian;
        let expected = crate::evaluate::scores(gaussian, &state.target_names, &explained, &primary).nll;
        assert!((found.nll - expected).abs() < 1e-4 * expected, "{} against {expected}", found.nll);
        assert_ne!(found.nll, before.nll);
    }

    #[test]
    fn bytes_cost_little_and_say_how_much() {
        let sequences = sequences();
        let state = state(STORN, &sequences);
        let full = encode_latent(&state, f32_storage(Forecast::Moments)).unwrap();
        let same = latent_cost(&sequences, &full, &full).unwrap();
        assert_eq!((same.nll_increase, same.variance_ratio, same.mean_shift), (0.0, 1.0, 0.0));
        let int8 = LatentStorageOptions { format: WeightFormat::Int8, ..f32_storage(Forecast::Moments) };
        let bytes = encode_latent(&state, int8).unwrap();
        let cost = latent_cost(&sequences, &full, &bytes).unwrap();
        assert!(
            bytes.len() < full.len() && cost.nll_increase != 0.0 && cost.nll_increase.abs() < 0.05,
            "{cost:?}"
        );
    }

    #[test]
    fn what_reads_the_future_is_refused() {
        for lines in [
            "latent = { family = \"vrae\", latents = 1 }",
            "latent = { family = \"storn\", latents = 1, direction = \"bidirectional\" }",
        ] {
            let error = encode_latent(&state(lines, &sequences()), f32_storage(Forecast::Moments))
                .unwrap_err()
                .to_string();
            assert!(error.contains("reads the whole sequence"), "{error}");
        }
    }

    #[test]
    fn latent_variables_have_no_scale_and_rows_have_theirs() {
        let state = state(STORN, &sequences());
        let [recognition, generative] = both_contents(&state, f32_storage(Forecast::Moments));
        assert_eq!(recognition.output_scaler.std_dev, [1.0; 3]);
        assert_eq!(generative.input_names, ["a", "b", "z1", "z2", "z3"]);
        let Scaler { mean, std_dev } = &state.scaling.inputs;
        assert_eq!(
            (&generative.input_scaler.mean[..2], &generative.input_scaler.std_dev[..2]),
            (&mean[..], &std_dev[..])
        );
        assert_eq!(generative.input_scaler.std_dev[2..], [1.0; 3]);
    }
}
