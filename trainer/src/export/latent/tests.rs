use super::*;
use crate::data::{Dataset, Rows, Scaler};
use crate::export::refit_prior;
use crate::latent::{LatentFeed, TrainedLatentModel, row_noise};
use crate::prediction::SequencePrediction;
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
    let scattered = STORN.replace("[noise]", "residual = true\nlikelihood = \"heteroscedastic\"\n[noise]");
    let ways = [(Forecast::Moments, LatentFeed::Moments), (Forecast::PosteriorMean, LatentFeed::Mean)];
    for lines in [STORN, &changes, &scattered] {
        let state = state(lines, &sequences);
        let model = TrainedLatentModel::new(&state);
        for (forecast, feed) in ways {
            let bytes = encode_latent(&state, f32_storage(forecast), &LatentEncoding::default()).unwrap();
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
    let bytes = encode_latent(&state, f32_storage(Forecast::Moments), &LatentEncoding::default()).unwrap();
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
    let bytes = encode_latent(&state, f32_storage(Forecast::Moments), &LatentEncoding::default()).unwrap();
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
    let full = encode_latent(&state, f32_storage(Forecast::Moments), &LatentEncoding::default()).unwrap();
    let same = latent_cost(&sequences, &full, &full).unwrap();
    assert_eq!((same.nll_increase, same.variance_ratio, same.mean_shift), (0.0, 1.0, 0.0));
    let int8 = LatentStorageOptions { format: WeightFormat::Int8, ..f32_storage(Forecast::Moments) };
    let bytes = encode_latent(&state, int8, &LatentEncoding::default()).unwrap();
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
        let error = encode_latent(
            &state(lines, &sequences()),
            f32_storage(Forecast::Moments),
            &LatentEncoding::default(),
        )
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

/// Rows of two channels that resemble each other, as sensors do.
fn correlated() -> Vec<Sequence> {
    let mut rng = stream(5, Purpose::Initialisation);
    let drawn: Vec<f32> = normals(&mut rng, 800);
    let values = drawn.chunks(2).flat_map(|pair| [pair[0], pair[0] + 0.1 * pair[1]]).collect();
    vec![Sequence::next(Rows { channels: 2, values })]
}

#[test]
fn rounding_guided_by_the_rows_shifts_means_less() {
    let sequences = correlated();
    for lines in [STORN, VOSP] {
        let wide = lines.replace("layers = [5]", "layers = [24]").replace("layers = [4]", "layers = [24]");
        let state = state(&wide, &sequences);
        let forecast = Forecast::Moments;
        let full = encode_latent(&state, f32_storage(forecast), &LatentEncoding::default()).unwrap();
        let shift = |encoding: &LatentEncoding| {
            let int8 = LatentStorageOptions { format: WeightFormat::Int8, ..f32_storage(forecast) };
            let bytes = encode_latent(&state, int8, encoding).unwrap();
            latent_cost(&sequences, &full, &bytes).unwrap().mean_shift
        };
        let nearest = shift(&LatentEncoding::default());
        let guided = LatentEncoding::default().with_gram_matrices(&state, forecast, &sequences).unwrap();
        assert!(shift(&guided) < 0.8 * nearest, "{} against {nearest}", shift(&guided));
    }
}

#[test]
fn a_prior_far_from_the_posteriors_is_refitted() {
    let read = correlated();
    let mut state = state(&VOSP.replace("wiener", "white"), &read);
    // Posteriors around 3, where the prior of the training is around 0.
    state.parameters.get_mut("recognition.output.bias").unwrap().values.fill(3.0);
    let estimates = TrainedLatentModel::new(&state).reconstruct(&read, LatentFeed::Mean);
    let clean = |(sequence, estimate): (&Sequence, &SequencePrediction)| {
        Sequence::columns(Rows::clone(&sequence.inputs), estimate.mean.clone())
    };
    let explained: Vec<Sequence> = read.iter().zip(&estimates).map(clean).collect();
    let splits = [explained.clone(), explained.clone(), Vec::new()];
    let data = Dataset { target: Target::Columns, ..Dataset::of(splits, &["a", "b"]) };
    let (fitted, gain) = refit_prior(&state, Forecast::Moments, &data, &explained).unwrap();
    let gain = gain.unwrap();
    assert!(gain.is_used() && gain.refitted_nll < gain.trained_nll - 0.05, "{gain:?}");
    assert!(fitted.latents.iter().all(|prior| (prior.mean - 3.0).abs() < 1.0), "{fitted:?}");
    assert_eq!(fitted.row_noise, row_noise(&explained));
    // A model that predicts what it reads keeps its prior.
    let splits = [read.clone(), read.clone(), Vec::new()];
    let (kept, tried) =
        refit_prior(&state, Forecast::Moments, &Dataset::of(splits, &["a", "b"]), &read).unwrap();
    assert_eq!((kept, tried), (FittedPrior::default(), None));
}
