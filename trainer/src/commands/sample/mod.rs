//! `quaver sample`: samples of a latent model that continue a prefix.

mod model;
mod page;
mod statistics;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use quaver::FeedMode;

use super::row_io::{read_whole, write};
use super::text_model::TextModel;
use crate::data::Rows;
use crate::data::csv::spreadsheet;
use crate::latent::SampleOptions;
use crate::report::{self, Report};
use statistics::FutureStatistics;

/// Sample continuations of a sequence
///
/// Takes a STORN, as a run folder (on the host) or as a checkpoint (with the runtime), or the run folder of a
/// VOSP. Reads the prefix, a CSV file with a header from which the model's channels are selected by name (of
/// several sequences the last), and then continues it --draws times, with latent variables drawn from their
/// prior. Writes a row per draw and step: draw, step, and every channel; or, with --summary, a row per step:
/// mean, standard deviation and quantiles over the draws. Without --prefix, sequences start from nothing.
///
/// Of a model of text, the prefix is text itself, and what is written is text: tokens are drawn one after the
/// other, and each is read before the next one is drawn. Several draws are separated by an empty line.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver sample runs/storn --prefix seen.csv --steps 50 --draws 20 > futures.csv
  quaver sample sampler.qvr --prefix seen.csv --steps 50 --draws 200 --summary
  quaver sample sampler.qvr --prefix seen.csv --steps 50 --draws 200 --output futures.csv --plot futures.html
  quaver sample runs/storn --steps 200 --feed-mode mean --seed 7
  quaver sample text.qvr --prefix \"the \" --steps 200 --temperature 0.8       a model of text")]
pub struct Arguments {
    /// A run folder or a checkpoint.
    #[arg(value_name = "RUN|MODEL.qvr")]
    model: PathBuf,
    /// CSV file with the rows observed so far. Of a model of text: the text so far, with \n for a newline, \s
    /// for a space and \\ for a backslash.
    #[arg(long, value_name = "F.csv|TEXT")]
    prefix: Option<PathBuf>,
    /// The prefix has no header: its columns are the model's channels in order.
    #[arg(long)]
    no_header: bool,
    /// Rows per sample.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Number of samples.
    #[arg(long, default_value_t = 1, value_name = "K", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    draws: u32,
    /// Seed of the draws. Host and runtime draw in different orders, so a seed gives each its own samples.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// What a sample feeds back as its last row.
    #[arg(long, alias = "feedback", value_enum, default_value_t = FeedModeName::Draw)]
    feed_mode: FeedModeName,
    /// Models of text: draw tokens in proportion to p^(1/T); below 1 likely ones become more likely, and 0
    /// takes the most probable one.
    #[arg(long, value_name = "T", value_parser = text::parse_temperature)]
    temperature: Option<f32>,
    /// Models of text: print one JSON object.
    #[arg(long)]
    json: bool,
    /// Write mean, standard deviation and quantiles of every step instead of the samples.
    #[arg(long)]
    summary: bool,
    /// CSV file with the rows that followed the prefix, to plot with the samples.
    #[arg(long, value_name = "F.csv", requires = "plot")]
    truth: Option<PathBuf>,
    /// CSV file to write, atomically; standard output by default.
    #[arg(long, visible_alias = "out", value_name = "F.csv")]
    output: Option<PathBuf>,
    /// Write an HTML page with the end of the prefix and the samples.
    #[arg(long, value_name = "F.html")]
    plot: Option<PathBuf>,
}

/// Value of `--feed-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum FeedModeName {
    /// A draw from the output distribution: samples like the data, noise included.
    Draw,
    /// The mean of the output: smooth samples, random through latent variables only.
    Mean,
}

/// Samples that continue one prefix.
struct Futures {
    names: Vec<String>,
    prefix: Rows,
    /// One per draw.
    draws: Vec<Rows>,
    /// The true continuation, if known.
    truth: Option<Rows>,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    if let Some(model) = TextModel::load(&arguments.model)? {
        return text::run(arguments, &model);
    }
    text::refuse_options(arguments)?;
    let feed_mode = match arguments.feed_mode {
        FeedModeName::Draw => FeedMode::Draw,
        FeedModeName::Mean => FeedMode::Mean,
    };
    let (steps, samples) = (arguments.steps as usize, arguments.draws as usize);
    let options = SampleOptions { steps, samples, feed_mode, seed: arguments.seed };
    let prefix = arguments.prefix.as_deref();
    let mut futures = model::futures(&arguments.model, prefix, !arguments.no_header, &options)?;
    if let Some(path) = &arguments.truth {
        futures.truth = read_whole(path, !arguments.no_header, &futures.names)?.sequences.into_iter().next();
    }
    let summary = FutureStatistics::of(&futures.draws);
    write(arguments.output.as_deref(), |out| {
        if arguments.summary { summary.write(&futures.names, out) } else { write_long(&futures, out) }
    })?;
    if let Some(path) = &arguments.plot {
        let title = format!("{}: {samples} futures of {steps} rows", arguments.model.display());
        report::write(path, &page::page(&title, &futures, &summary))?;
    }
    Ok(())
}

/// Samples continuations and plots them with the true one.
pub(super) fn show(
    model: &Path,
    title: &str,
    prefix: &Path,
    truth: Rows,
    options: &SampleOptions,
) -> Result<Report> {
    let mut futures = model::futures(model, Some(prefix), true, options)?;
    futures.truth = Some(truth);
    let summary = FutureStatistics::of(&futures.draws);
    Ok(page::page(title, &futures, &summary))
}

/// A row per draw and step, both counted from 1.
fn write_long(futures: &Futures, out: &mut dyn Write) -> Result<()> {
    let names: Vec<String> = futures.names.iter().map(|name| spreadsheet::cell(name)).collect();
    writeln!(out, "draw,step,{}", names.join(","))?;
    for (draw, rows) in futures.draws.iter().enumerate() {
        for (step, row) in rows.iter().enumerate() {
            let cells: Vec<String> = row.iter().map(f32::to_string).collect();
            writeln!(out, "{},{},{}", draw + 1, step + 1, cells.join(","))?;
        }
    }
    Ok(())
}
