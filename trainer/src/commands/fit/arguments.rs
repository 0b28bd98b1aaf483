//! What `quaver fit` and `quaver init` are told about files and boards.

use std::path::PathBuf;

use anyhow::{Result, anyhow, bail};

use super::quantity::{bytes, hertz, seconds, share};
use crate::auto::{AheadTask, Budget, Core, board, boards};
use crate::config::ColumnPatterns;
use crate::survey::{RoleOptions, Survey, TaskRequest, TimeUnit};

/// Files, task and columns.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct DataArguments {
    /// The recordings: CSV in any usual form, .npy or .parquet; each file a recording or several.
    #[arg(value_name = "ROWS", required = true)]
    pub(super) rows: Vec<PathBuf>,
    /// Predict these columns from the others: names, or ranges such as c0..c3 or emg1..=emg8.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', conflicts_with_all = ["next", "clean", "label"])]
    target: Vec<String>,
    /// Predict the next row of the inputs, or of these columns alone: --next=y.
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        num_args = 0..,
        require_equals = true,
        conflicts_with_all = ["clean", "label"]
    )]
    next: Option<Vec<String>>,
    /// With --next: how many rows ahead, one number or several such as 1,5,10.
    #[arg(long, value_name = "ROWS", value_delimiter = ',', requires = "next", value_parser = clap::value_parser!(u32).range(1..))]
    horizon: Vec<u32>,
    /// Remove noise from the inputs. The recordings are clean, and noise is added to them (--snr-db), unless
    /// --truth names clean columns.
    #[arg(long, conflicts_with = "label")]
    clean: bool,
    /// With --clean: columns with the truth of the inputs, in their order, where noisy and clean ones were
    /// recorded together. No noise is added.
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        requires = "clean",
        conflicts_with = "snr_db"
    )]
    truth: Vec<String>,
    /// With --clean: signal-to-noise ratio of the added noise in decibels.
    #[arg(long, value_name = "DB", default_value_t = 10.0, allow_negative_numbers = true)]
    snr_db: f64,
    /// Tell the class in this column: of whole recordings, or row by row of a stream.
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// With --label: classify windows of this many rows, instead of a length that follows from the rate.
    #[arg(long, value_name = "ROWS", requires = "label", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(super) window: Option<u32>,
    /// Read these columns and no others.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    inputs: Vec<String>,
    /// Do not read these columns.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    exclude: Vec<String>,
    /// The column with the time of every row, or `none`.
    #[arg(long, value_name = "COLUMN")]
    time_column: Option<String>,
    /// Unit of the time column: s, ms, us or ns.
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<TimeUnit>,
    /// The column whose changes start a new recording, or `none`.
    #[arg(long, value_name = "COLUMN")]
    recording: Option<String>,
    /// Resample by linear interpolation, such as 100Hz. Needs a time column. Nothing is filtered before:
    /// choose a rate that keeps what you want to see.
    #[arg(long, value_name = "RATE", value_parser = hertz)]
    pub(super) resample: Option<f64>,
    /// The longest step between two rows of one recording; after a longer one a new sequence starts. By
    /// default ten sampling intervals.
    #[arg(long, value_name = "TIME", value_parser = seconds)]
    pub(super) max_gap: Option<f64>,
    /// Numbers such as 1,234 have a decimal comma.
    #[arg(long)]
    pub(super) decimal_comma: bool,
    /// Files to choose settings by, instead of a part of ROWS; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(super) valid: Vec<PathBuf>,
    /// Files to test on, which are used for nothing else; may be given several times.
    #[arg(long, value_name = "FILE")]
    pub(super) test: Vec<PathBuf>,
    /// Share of the rows to test on, where there is no --test.
    #[arg(long, value_name = "SHARE", default_value = "15%", value_parser = share)]
    pub(super) test_share: f64,
    /// Seed of weights, shuffling and trials.
    #[arg(long, default_value_t = 1)]
    pub(super) seed: u64,
}

impl DataArguments {
    /// All files: for training, then for validation, then for testing.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.rows.iter().chain(&self.valid).chain(&self.test)
    }

    /// The task, as far as it was said.
    pub(super) fn task(&self, survey: &Survey) -> Result<TaskRequest> {
        Ok(match &self.label {
            Some(column) => TaskRequest::Label(column.clone()),
            None if self.next.is_some() => TaskRequest::Next,
            None if self.has_truth() => TaskRequest::Columns(resolved("--truth", &self.truth, survey)?),
            None if self.clean => TaskRequest::Clean,
            None if !self.target.is_empty() => {
                TaskRequest::Columns(resolved("--target", &self.target, survey)?)
            }
            None => TaskRequest::Guess,
        })
    }

    /// Whether columns have the truth of the inputs.
    pub(super) fn has_truth(&self) -> bool {
        !self.truth.is_empty()
    }

    /// The inputs in the order given; none if nothing was said.
    pub(super) fn ordered_inputs(&self, survey: &Survey) -> Result<Vec<String>> {
        resolved("--inputs", &self.inputs, survey)
    }

    /// The columns to predict ahead and how many rows, where that is not the whole next row.
    pub(super) fn ahead(&self, survey: &Survey, inputs: &[String]) -> Result<Option<AheadTask>> {
        let columns = resolved("--next", self.next.as_deref().unwrap_or_default(), survey)?;
        if columns.is_empty() && self.horizon.is_empty() {
            return Ok(None);
        }
        if let Some(name) = columns.iter().find(|name| !inputs.contains(name)) {
            bail!(
                "--next={name}: this column is no input, and its next values are predicted from the inputs ({}); add it to \
                 --inputs, or leave it out of --exclude",
                inputs.join(", ")
            );
        }
        let columns = if columns.is_empty() { inputs.to_vec() } else { columns };
        let horizons = if self.horizon.is_empty() { vec![1] } else { self.horizon.clone() };
        Ok(Some(AheadTask { columns, horizons }))
    }

    /// Noise to add, in decibels.
    pub(super) fn snr_db(&self) -> f64 {
        self.snr_db
    }

    /// Guesses that were overruled.
    pub(super) fn roles(&self, survey: &Survey) -> Result<RoleOptions> {
        Ok(RoleOptions {
            inputs: resolved("--inputs", &self.inputs, survey)?,
            exclude: resolved("--exclude", &self.exclude, survey)?,
            time: self.time_column.clone(),
            recording: self.recording.clone(),
            time_unit: self.time_unit,
        })
    }
}

/// The columns that match names and ranges.
fn resolved(option: &str, patterns: &[String], survey: &Survey) -> Result<Vec<String>> {
    if patterns.is_empty() {
        return Ok(Vec::new());
    }
    let names: Vec<String> = survey.columns.iter().map(|column| column.name.clone()).collect();
    ColumnPatterns::many(patterns).among(option, &names).map_err(|problem| anyhow!(problem))
}

/// What the model may take.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct BudgetArguments {
    /// The board that the model has to fit, by name (quaver boards): code and stack are counted.
    #[arg(long, value_name = "NAME")]
    board: Option<String>,
    /// A file with further boards.
    #[arg(long, value_name = "FILE.toml")]
    boards: Option<PathBuf>,
    /// Flash for the model, such as 64K, beside that of the code; with --board, for both.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    flash: Option<u64>,
    /// RAM for the model, such as 4K: arena and handle; with --board, and the deepest stack.
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    ram: Option<u64>,
    /// Rows per second on the device; by default that of the time column.
    #[arg(long, value_name = "RATE", value_parser = hertz)]
    pub(super) rate: Option<f64>,
    /// The core, without --board.
    #[arg(long, value_enum, ignore_case = true, conflicts_with = "board")]
    core: Option<Core>,
    /// Its clock, without --board, such as 64MHz.
    #[arg(long, value_name = "RATE", value_parser = hertz, conflicts_with = "board")]
    clock: Option<f64>,
    /// Share of the processor's time that the model may take.
    #[arg(long, value_name = "SHARE", default_value = "50%", value_parser = share)]
    cpu: f64,
}

impl BudgetArguments {
    /// The budget, with the rate of the recordings if no other was given.
    pub(super) fn budget(&self, rate_hz: Option<f64>) -> Result<Budget> {
        let board = match &self.board {
            Some(name) => Some(board(&boards(self.boards.as_deref())?, name)?),
            None => None,
        };
        let kib =
            |size: fn(&crate::auto::Board) -> u32| board.as_ref().map(|board| 1024 * u64::from(size(board)));
        Ok(Budget {
            core: self.core,
            flash_bytes: self.flash.or(kib(|board| board.flash_kib)),
            ram_bytes: self.ram.or(kib(|board| board.ram_kib)),
            rate_hz: self.rate.or(rate_hz),
            clock_hz: self.clock.or(board.as_ref().map(|board| 1e6 * board.clock_mhz)),
            cpu_share: self.cpu,
            board,
        })
    }
}
