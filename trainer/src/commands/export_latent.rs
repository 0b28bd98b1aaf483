//! `quaver export` of a latent model.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use quaver::LatentModel;
use quaver::checkpoint::{Forecast, Layout, WeightFormat, seal};
use serde::Serialize;

use super::export::{Arguments, ranges_line, why_float_line};
use super::implausible::ImplausibleValues;
use super::print::{print_json, print_text};
use crate::data::{Dataset, Sequence};
use crate::evaluate::predict_latent_by_runtime;
use crate::export::{
    LatentCost, LatentEncoding, LatentStorageOptions, LayoutChoice, MAX_FAST_NLL_INCREASE, PriorGain,
    WhyFloat, encode_latent, fastest_layout, latent_constants, latent_cost, refit_prior,
};
use crate::files;
use crate::fit::RunState;
use crate::latent::LatentNets;

/// Ways to feed latent variables to the generative network, the cheapest first; the best on validation data
/// is stored.
const FORECASTS: [Forecast; 3] = [Forecast::Moments, Forecast::PosteriorMean, Forecast::Draws { count: 32 }];

/// A checkpoint that has been evaluated and written.
#[derive(Serialize)]
struct ExportedLatentModel {
    #[serde(flatten)]
    cost: LatentCost,
    forecast: String,
    /// What a refitted prior is worth, where one was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    prior: Option<PriorGain>,
    /// Validation values outside of the plausible ranges, if there are ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    implausible: Option<ImplausibleValues>,
    layout: String,
    /// Why the layout is `float` although it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_float: Option<WhyFloat>,
    flash_bytes: usize,
    arena_words: usize,
    #[serde(skip)]
    constants: PathBuf,
}

pub(super) fn run(arguments: &Arguments, state: &RunState<LatentNets>, data: &Dataset) -> Result<()> {
    ensure!(!arguments.calibrate, "--calibrate is for predictors; remove it for a latent model");
    ensure!(arguments.track.is_none(), "--track is for predictors; remove it for a latent model");
    ensure!(
        arguments.false_alarms.is_none(),
        "--false-alarms is for predictors; remove it for a latent model"
    );
    let sequences = &data.valid[..];
    let ranges = arguments.ranges.fit(data)?;
    let full = |forecast, encoding: &LatentEncoding| {
        let storage = LatentStorageOptions { format: WeightFormat::F32, layout: Layout::Float, forecast };
        encode_latent(state, storage, encoding)
    };
    let some = beginning(sequences);
    let forecast = best_forecast(some, |forecast| full(forecast, &LatentEncoding::default()))?;
    let (fitted, gain) = refit_prior(state, forecast, data, sequences)?;
    let mut encoding = LatentEncoding { fitted, ranges, ..LatentEncoding::default() };
    let format = WeightFormat::from(arguments.weights);
    if format == WeightFormat::Int8 {
        encoding = encoding.with_gram_matrices(state, forecast, &data.train)?;
    }
    let LayoutChoice { layout, why_float } = layout(arguments, state, some, forecast, &encoding)?;
    let storage = LatentStorageOptions { format, layout, forecast };
    let bytes = encode_latent(state, storage, &encoding)?;
    let cost = latent_cost(sequences, &full(forecast, &encoding)?, &bytes)?;
    let model = LatentModel::load(&bytes)?;
    let network = model.recognition();
    let implausible = encoding.ranges.is_some().then(|| ImplausibleValues::in_sequences(network, sequences));
    let ranges = ranges_line(network, implausible.as_ref());
    let written = write(&arguments.output, &bytes, cost, storage)?;
    arguments.write_c_header(&bytes)?;
    let exported = ExportedLatentModel { prior: gain, implausible, why_float, ..written };
    let clean = sequences.iter().all(|sequence| !sequence.target.is_next());
    match arguments.json {
        true => print_json(&exported),
        false => {
            let text = render(arguments, &exported, clean);
            let why_float = why_float_line(exported.why_float.as_ref());
            print_text(&format!("{}{why_float}{ranges}\n", text.trim_end()))
        }
    }
}

/// Rows for choosing feed and layout: each is streamed several times, and draws are slow.
const ROWS: usize = 1000;

/// The first sequences with at least this number of rows in total.
fn beginning(sequences: &[Sequence]) -> &[Sequence] {
    let mut rows = 0;
    let enough = sequences.iter().position(|sequence| {
        rows += sequence.len();
        rows >= ROWS
    });
    &sequences[..enough.map_or(sequences.len(), |last| last + 1)]
}

/// The feed with the lowest NLL on `sequences`; draws, each of which is a pass of the generative network,
/// only where they are worth their cost.
fn best_forecast(sequences: &[Sequence], encode: impl Fn(Forecast) -> Result<Vec<u8>>) -> Result<Forecast> {
    let mut best = (f64::INFINITY, FORECASTS[0]);
    for forecast in FORECASTS {
        let nll = predict_latent_by_runtime(&encode(forecast)?, sequences)?.nll;
        let price = if matches!(forecast, Forecast::Draws { .. }) { MAX_FAST_NLL_INCREASE } else { 0.0 };
        if nll + price < best.0 {
            best = (nll, forecast);
        }
    }
    Ok(best.1)
}

/// The requested layout, or the fastest that is accurate enough, as for predictors.
fn layout(
    arguments: &Arguments,
    state: &RunState<LatentNets>,
    sequences: &[Sequence],
    forecast: Forecast,
    encoding: &LatentEncoding,
) -> Result<LayoutChoice> {
    let format = WeightFormat::from(arguments.weights);
    match arguments.layout {
        Some(layout) => return Ok(Layout::from(layout).into()),
        None if format == WeightFormat::F32 => return Ok(Layout::Float.into()),
        None => {}
    }
    let bytes = |layout| encode_latent(state, LatentStorageOptions { format, layout, forecast }, encoding);
    let nll = |bytes: &[u8], sequences| Ok(predict_latent_by_runtime(bytes, sequences)?.nll);
    fastest_layout(bytes, &[("validation", sequences)], nll)
}

fn write(
    output: &Path,
    bytes: &[u8],
    cost: LatentCost,
    storage: LatentStorageOptions,
) -> Result<ExportedLatentModel> {
    let model = LatentModel::load(bytes)?;
    let constants = output.with_extension("rs");
    let name = output.file_name().context("--output must name a file")?.to_string_lossy();
    let text = latent_constants(&name, &model, seal(bytes)?);
    files::replace(output, bytes)?;
    files::replace(&constants, text.as_bytes())?;
    let forecast = match storage.forecast {
        Forecast::Moments => "moments".to_string(),
        Forecast::PosteriorMean => "means".to_string(),
        Forecast::Draws { count } => format!("{count} draws"),
    };
    Ok(ExportedLatentModel {
        cost,
        forecast,
        prior: None,
        implausible: None,
        layout: format!("{:?}", storage.layout).to_lowercase(),
        why_float: None,
        flash_bytes: bytes.len(),
        arena_words: model.arena_words(),
        constants,
    })
}

/// The files and costs, for predictions one step ahead or of `clean` rows.
fn render(arguments: &Arguments, exported: &ExportedLatentModel, clean: bool) -> String {
    let ExportedLatentModel {
        cost, forecast, prior, layout, flash_bytes, arena_words: words, constants, ..
    } = exported;
    let [fed, scored] = match clean {
        true => ["latent variables", "clean rows, denoised"],
        false => ["latent variables of the next row", "rows one step ahead"],
    };
    format!(
        "{}: {flash_bytes} bytes of flash in the layout {layout}, {} bytes of RAM per stream (Arena::<{words}>)\n\
         {}: constants for firmware\n\
         {fed} are fed as {forecast}, the best on the validation data\n{}\
         validation NLL of {scored}  {:.4} nats per step, {:+.4} against f32\n\
         predicted variance × {:.4}, means shifted by {:.4} standard deviations\n",
        arguments.output.display(),
        4 * words,
        constants.display(),
        prior.map_or(String::new(), prior_line),
        cost.nll,
        cost.nll_increase,
        cost.variance_ratio,
        cost.mean_shift
    )
}

/// What a refitted prior is worth.
fn prior_line(gain: PriorGain) -> String {
    let PriorGain { trained_nll, refitted_nll } = gain;
    let used = if gain.is_used() { "refitted" } else { "that of the training" };
    format!(
        "prior of the latent variables: {used}; validation NLL of rows before they are seen {refitted_nll:.4} refitted, \
         {trained_nll:.4} as trained\n"
    )
}
