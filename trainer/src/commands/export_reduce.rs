//! `quaver export` of a reducer.

use anyhow::{Context, Result, ensure};
use quaver::ReducerModel;
use quaver::checkpoint::{Layout, WeightFormat};
use serde::Serialize;

use super::export::{Arguments, ranges_line, why_float_line};
use super::implausible::ImplausibleValues;
use super::print::{print_json, print_text};
use crate::config::Config;
use crate::data::{Dataset, Sequence};
use crate::export::{
    LayoutChoice, ReducerCost, ReducerEncoding, WhyFloat, encode_reducer, fastest_layout, reducer_constants,
    reducer_cost, run_reducer,
};
use crate::files;
use crate::fit::RunState;
use crate::reduce::{FittedReducer, ReduceModel, fit};

/// A checkpoint that has been evaluated and written.
#[derive(Serialize)]
pub(super) struct ExportedReducer {
    #[serde(flatten)]
    pub(super) cost: ReducerCost,
    /// Largest score of a known sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    threshold: Option<f32>,
    /// Correlation of noise between times.
    correlation: f32,
    /// Validation values outside of the plausible ranges, if there are ranges.
    #[serde(skip_serializing_if = "Option::is_none")]
    implausible: Option<ImplausibleValues>,
    layout: String,
    /// Why the layout is `float` although it was not asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_float: Option<WhyFloat>,
    flash_bytes: usize,
    arena_words: usize,
}

pub(super) fn run(
    arguments: &Arguments,
    state: &RunState<ReduceModel>,
    config: &Config,
    data: &Dataset,
) -> Result<()> {
    check(arguments)?;
    let (exported, ranges) = export(arguments, state, config, data)?;
    match arguments.json {
        true => print_json(&exported),
        false => {
            let text = render(arguments, &exported, data.valid.len());
            print_text(&format!("{text}{}{ranges}\n", why_float_line(exported.why_float.as_ref())))
        }
    }
}

/// Writes a reducer, evaluated by the runtime; and a line about its plausible ranges.
pub(super) fn export(
    arguments: &Arguments,
    state: &RunState<ReduceModel>,
    config: &Config,
    data: &Dataset,
) -> Result<(ExportedReducer, String)> {
    let fitted = fit(state, config, data)?;
    let names = &state.input_names;
    let format = WeightFormat::from(arguments.weights);
    let mut encoding = ReducerEncoding { ranges: arguments.ranges.fit(data)?, ..ReducerEncoding::default() };
    let full = encode_reducer(&fitted, names, WeightFormat::F32, Layout::Float, &encoding)?;
    if format == WeightFormat::Int8 {
        encoding = encoding.with_gram_matrices(&fitted, names, &data.train)?;
    }
    let LayoutChoice { layout, why_float } = layout(arguments, &fitted, names, &data.valid, &encoding)?;
    let encoded = |encoding: &ReducerEncoding| encode_reducer(&fitted, names, format, layout, encoding);
    encoding.threshold = threshold(&fitted, &encoded(&encoding)?, &data.valid)?;
    let bytes = encoded(&encoding)?;
    let cost = reducer_cost(&data.valid, &full, &bytes)?;
    let model = ReducerModel::load(&bytes)?;
    let implausible =
        encoding.ranges.is_some().then(|| ImplausibleValues::in_sequences(model.network(), &data.valid));
    let ranges = ranges_line(model.network(), implausible.as_ref());
    let exported = ExportedReducer {
        cost,
        threshold: model.spec().threshold,
        correlation: model.spec().correlation,
        implausible,
        layout: format!("{layout:?}").to_lowercase(),
        why_float,
        flash_bytes: bytes.len(),
        arena_words: model.arena_words(),
    };
    let name = arguments.output.file_name().context("--output must name a file")?.to_string_lossy();
    let constants = reducer_constants(&name, &model);
    files::replace(&arguments.output, &bytes)?;
    files::replace(&arguments.output.with_extension("rs"), constants.as_bytes())?;
    arguments.write_c_header(&bytes)?;
    Ok((exported, ranges))
}

/// Refuses options of predictors.
fn check(arguments: &Arguments) -> Result<()> {
    let given = [
        ("--calibrate", arguments.calibrate),
        ("--track", arguments.track.is_some()),
        ("--false-alarms", arguments.false_alarms.is_some()),
        ("--widen", arguments.widen),
    ];
    let option = given.into_iter().find(|(_, given)| *given);
    ensure!(
        option.is_none(),
        "{} is for predictors; remove it: a reducer is calibrated on the validation data in any case",
        option.map_or("", |(name, _)| name)
    );
    Ok(())
}

/// The requested layout, or the fastest that is accurate enough, as for predictors.
fn layout(
    arguments: &Arguments,
    fitted: &FittedReducer,
    names: &[String],
    valid: &[Sequence],
    encoding: &ReducerEncoding,
) -> Result<LayoutChoice> {
    let format = WeightFormat::from(arguments.weights);
    match arguments.layout {
        Some(layout) => return Ok(Layout::from(layout).into()),
        None if format == WeightFormat::F32 => return Ok(Layout::Float.into()),
        None => {}
    }
    let bytes = |layout| encode_reducer(fitted, names, format, layout, encoding);
    let nll = |bytes: &[u8], sequences| Ok(run_reducer(bytes, sequences)?.nll);
    fastest_layout(bytes, &[("validation", valid)], nll)
}

/// The threshold by the scores that the stored network gives to validation sequences.
fn threshold(fitted: &FittedReducer, bytes: &[u8], valid: &[Sequence]) -> Result<Option<f32>> {
    if fitted.calibration.threshold.is_none() {
        return Ok(None);
    }
    let scores = run_reducer(bytes, valid)?.novelty.into_iter().map(f64::from).collect();
    let found = crate::reduce::classifier::threshold(scores, fitted.reduce.rejected);
    Ok(found.map(|threshold| threshold as f32))
}

fn render(arguments: &Arguments, exported: &ExportedReducer, count: usize) -> String {
    let ExportedReducer { cost, threshold, correlation, layout, flash_bytes, arena_words: words, .. } =
        exported;
    let refused = threshold.map_or("no threshold: every sequence is known".to_string(), |threshold| {
        format!("sequences with a score above {threshold:.4} belong to none of the classes")
    });
    format!(
        "{}: {flash_bytes} bytes of flash in the layout {layout}, {} bytes of RAM per stream (Arena::<{words}>)\n\
         {}: constants for firmware\n\
         {count} validation sequences: error {:.4}, {:+.4} against f32; NLL {:.4} nats per sequence, {:+.4} against f32\n\
         embeddings shifted by {:.4} of their standard deviation; correlation of noise between times {correlation}\n\
         {refused}",
        arguments.output.display(),
        4 * words,
        arguments.output.with_extension("rs").display(),
        cost.error,
        cost.error_increase,
        cost.nll,
        cost.nll_increase,
        cost.embedding_shift
    )
}
