//! `quaver denoise`: causal denoising of rows.

mod log;
mod model;
mod page;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::implausible::ImplausibleValues;
use super::print::print_json;
use super::row_io::{KeptColumns, RowIo, TruthOptions, read_whole};
use super::row_model::follow;
use super::text_table;
use crate::data::Rows;
use crate::data::csv::RowStart;
use crate::evaluate::SignalToNoise;
use crate::report::{self, Report};
use log::{DenoisingLog, SnrComparison};
use model::with_model;

/// Denoise rows, one at a time
///
/// Takes a VOSP, as a run folder (on the host) or as a checkpoint (with the runtime), or a predictor trained
/// with data.targets = "clean". Reads CSV with a header and selects the model's channels by name; an empty
/// cell is a missing value, which is imputed. Writes one row per input row, immediately, so that it works on
/// a live pipe: for each channel mean, standard deviation, and the epistemic and aleatoric parts of the
/// variance; for a latent model also the surprise of the row. A blank line in the input starts a new
/// sequence. Values outside of the plausible ranges of a checkpoint are treated as missing; their number is
/// printed on standard error at the end.
///
/// For a model trained on noisy rows, the aleatoric variance includes their noise, and the epistemic variance
/// is that of the clean row. For a model trained on clean rows, both are variances of the clean row, and the
/// surprise is that of the row if it were clean: compare it between rows only.
///
/// With --truth, the signal-to-noise ratio is printed before and after: 10 log10 of the variance of the truth
/// over the mean squared error, in decibels, averaged over channels.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver denoise runs/vosp --input noisy.csv --output clean.csv
  tail -f live.csv | quaver denoise denoiser.qvr
  quaver denoise denoiser.qvr --in noisy.csv --out clean.csv --truth truth.csv --plot denoised.html
  quaver denoise denoiser.qvr --in noisy.csv --truth truth.csv --json | jq .after.snr_db")]
pub struct Arguments {
    /// A run folder or a checkpoint.
    #[arg(value_name = "RUN|MODEL.qvr")]
    model: PathBuf,
    #[command(flatten)]
    rows: RowIo,
    #[command(flatten)]
    kept: KeptColumns,
    #[command(flatten)]
    comparison: TruthOptions,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    with_model(&arguments.model, |model| {
        let channels = model.channels().clone();
        let names = &channels.output_names;
        let mut rows = arguments.rows.open()?;
        // Read first, so that a wrong file is reported before the stream starts.
        let truth = arguments.comparison.truth.as_ref();
        let truth = truth.map(|path| read_whole(path, !arguments.rows.no_header, names)).transpose()?;
        let mut log = DenoisingLog::new(names.len());
        let keep = truth.is_some() || arguments.comparison.plot.is_some();
        let watch = |start, row: &[f32], prediction: &_| {
            if keep {
                log.add(start, row, prediction);
            }
        };
        let mut implausible = None;
        let work = |out: &mut dyn Write| {
            implausible = Some(follow(model, &mut rows, &arguments.kept.keep, out, watch)?);
            Ok(())
        };
        if arguments.comparison.json && arguments.rows.output.is_none() {
            work(&mut io::sink())?;
        } else {
            arguments.rows.write(work)?;
        }
        implausible.iter().for_each(ImplausibleValues::report);
        let truth = truth.map(|table| table.sequences);
        let mut comparison = truth.as_ref().map(|truth| log.score(names, truth)).transpose()?;
        if let Some(comparison) = &mut comparison {
            comparison.implausible = implausible.filter(|values| !values.is_empty());
        }
        if let Some(path) = &arguments.comparison.plot {
            ensure!(!log.is_empty(), "there are no rows to draw");
            let title = format!("{}, denoised", arguments.model.display());
            report::write(path, &page::page(&title, names, &log, truth.as_deref(), comparison.as_ref()))?;
        }
        match comparison {
            Some(comparison) if arguments.comparison.json => print_json(&comparison)?,
            // Rows may be on standard output.
            Some(comparison) => eprint!("{}", render(&comparison)),
            None => {}
        }
        Ok(())
    })
}

/// Denoises one sequence with a known clean version, as a page.
pub(super) fn show(model: &Path, title: &str, noisy: &Rows, truth: &Rows) -> Result<Report> {
    with_model(model, |model| {
        let names = model.channels().output_names.clone();
        let mut log = DenoisingLog::new(names.len());
        for (index, row) in noisy.iter().enumerate() {
            let start = if index == 0 { RowStart::NewSequence } else { RowStart::Continues };
            log.add(start, row, &model.step(row));
        }
        let truth = std::slice::from_ref(truth);
        let comparison = log.score(&names, truth)?;
        Ok(page::page(title, &names, &log, Some(truth), Some(&comparison)))
    })
}

/// Before and after, one row per channel.
fn render(comparison: &SnrComparison) -> String {
    let mut rows = vec![
        ["channel", "SNR before (dB)", "after", "gain", "RMSE before", "after"].map(String::from).to_vec(),
    ];
    let row = |name: &str, before: (f64, f64), after: (f64, f64)| {
        let ((snr, rmse), (snr_after, rmse_after)) = (before, after);
        let decibels = [snr, snr_after, snr_after - snr].map(|value| format!("{value:.2}"));
        let errors = [rmse, rmse_after].map(|value| format!("{value:.4}"));
        std::iter::once(name.to_string()).chain(decibels).chain(errors).collect::<Vec<String>>()
    };
    let SnrComparison { before, after, .. } = comparison;
    for (before, after) in before.per_channel.iter().zip(&after.per_channel) {
        rows.push(row(&before.name, (before.snr_db, before.rmse), (after.snr_db, after.rmse)));
    }
    let total = |scores: &SignalToNoise| (scores.snr_db, scores.rmse);
    rows.push(row("all", total(before), total(after)));
    text_table::render(&rows)
}
