//! `quaver fit`: from files to a model that fits a board.

mod arguments;
mod classes;
mod console;
mod labels;
mod page;
mod predictor;
mod quantity;
mod replay;
mod results;
mod tested;
mod understand;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use quaver_monitor::Stop;
use serde_json::json;

use super::print::{print_json, print_note, print_text};
use crate::auto::{Budget, Candidates, TimedSearch, TimedSearchReport, candidates};
use crate::files;
use crate::nn::parallel::default_threads;
use crate::report;
use crate::search::copy_run;
use arguments::BudgetArguments;
pub(super) use arguments::DataArguments;
use console::FitConsole;
use quantity::duration;
use results::FitResults;
pub(super) use understand::Understanding;

/// From recordings to a model that fits a board, in one command
///
/// Reads files as people have them, prints what it takes each column for and why, splits by recording or by
/// blocks of time, keeps the architectures that fit the board, and searches among them for --time: a good
/// default first, so that there is a model after about a minute, then others by successive halving. Ctrl-C
/// ends the search early with the best so far; the same command continues it. At the end the model is
/// exported, tested once on data that nothing else has seen, and compared with methods that need no network.
///
/// DIR then has model.qvr, model.rs and model.h for firmware, report.html, config.toml to edit, and the
/// best run in DIR/run.
///
/// Without --target, --next, --clean or --label the task follows from the names of the columns: a label
/// column, a column named target or y, or else the next row. Every guess is printed, with the option that
/// overrules it. --dry-run stops there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver fit rows.csv --dry-run                             what would be done
  quaver fit rows.csv --target force --board rp2040-pico --out fitted
  quaver fit monday.csv tuesday.csv --test friday.csv --target force_n --time 2min
  quaver fit dryer.csv --next=temperature --horizon 1,5    some columns, one and five rows ahead
  quaver fit imu.csv --next --flash 32K --ram 2K --rate 100Hz --core M0 --clock 48MHz
  quaver fit log.csv --target temp --time-column when --resample 10Hz --exclude note,id
  quaver fit gestures.csv --label gesture --board nrf52840-dk
  quaver fit clean.csv --clean --snr-db 5")]
pub struct Arguments {
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    budget: BudgetArguments,
    /// How long to search, such as 10min, in all calls together.
    #[arg(long, value_name = "TIME", default_value = "10min", value_parser = duration)]
    time: Duration,
    /// The folder to write.
    #[arg(long, value_name = "DIR", default_value = "fitted")]
    out: PathBuf,
    /// Print what files, columns and budget are taken for, and stop.
    #[arg(long)]
    dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.dry_run {
        return dry_run(arguments);
    }
    let out = std::path::absolute(&arguments.out).context("cannot resolve --out")?;
    fs::create_dir_all(&out).with_context(|| format!("cannot create `{}`", out.display()))?;
    let found = Understanding::new(&arguments.data, &out.join("data"))?;
    print_note(found.render().trim_end());
    let budget = arguments.budget.budget(found.clock.as_ref().map(|clock| clock.rate_hz))?;
    let fitting = candidates(&found.experiment, &found.data, &budget)?;
    print_note(&budget_text(&budget, &fitting, found.experiment.splits.train_rows)?);
    let searched = search(arguments, &found, &fitting, &out)?;
    finish(arguments, &found, &budget, &fitting, &searched, &out)
}

/// Prints what would be done.
fn dry_run(arguments: &Arguments) -> Result<()> {
    let scratch = tempfile::tempdir().context("cannot create a temporary folder")?;
    let found = Understanding::new(&arguments.data, scratch.path())?;
    let budget = arguments.budget.budget(found.clock.as_ref().map(|clock| clock.rate_hz))?;
    let fitting = candidates(&found.experiment, &found.data, &budget)?;
    let text = budget_text(&budget, &fitting, found.experiment.splits.train_rows);
    if arguments.json {
        let mut description = found.json();
        let named: Vec<String> =
            fitting.fitting.iter().chain(&fitting.ridge).map(|candidate| candidate.name()).collect();
        description["fitting"] = json!(named);
        description["costed"] = json!(fitting.costed);
        description["budget"] = json!(budget);
        return print_json(&description);
    }
    print_text(&format!("{}{}\n", found.render(), text?))
}

/// What fits, in words.
///
/// # Errors
/// When nothing does; the message names the smallest need.
fn budget_text(budget: &Budget, found: &Candidates, train_rows: usize) -> Result<String> {
    let place = match &budget.board {
        Some(board) => format!("{} ({}, {} MHz)", board.name, board.core, board.clock_mhz),
        None if budget.is_limited() => format!("the budget, on {}", budget.core().in_words()),
        None => "no board, no limit (--board NAME, --flash, --ram)".to_string(),
    };
    let all = found.first(train_rows);
    let Some(first) = all.first().copied().or(found.ridge.as_ref()) else {
        bail!(
            "nothing fits {place}. The smallest of {} architectures, {}, needs: {}. Give more flash or RAM, a lower --rate, \
             fewer --inputs, or another --board",
            found.costed,
            found.smallest.name(),
            budget.in_words(&found.smallest.cost)
        );
    };
    let mut text = format!(
        "budget   {place}: {} of {} architectures fit\nfirst    {}, {}",
        found.fitting_count(),
        found.costed,
        first.name(),
        budget.in_words(&first.cost)
    );
    for other in all.iter().skip(1).copied().chain(found.ridge.as_ref().filter(|_| !all.is_empty())) {
        text += &format!("\n         {}, {}", other.name(), budget.in_words(&other.cost));
    }
    if budget.clock_hz.is_some() && budget.rate_hz.is_none() {
        text +=
            "\nnote: no sampling rate is known, so the processor's time is not limited: give --rate 200Hz";
    }
    Ok(text)
}

fn search(
    arguments: &Arguments,
    found: &Understanding,
    fitting: &Candidates,
    out: &Path,
) -> Result<TimedSearchReport> {
    let stop = Stop::default();
    stop.on_signals().context("cannot listen for Ctrl-C")?;
    let interrupted = { Arc::new(move || stop.is_set()) };
    let console = FitConsole::new(arguments.time);
    let search = TimedSearch {
        experiment: &found.experiment,
        data: &found.data,
        candidates: fitting,
        out: &out.join("search"),
        quaver: env::current_exe().context("cannot find the path of this program")?,
        threads: default_threads(),
        time: arguments.time,
        interrupted,
    };
    let searched = search.run(&|event| console.show(&event))?;
    console.finish(&searched);
    Ok(searched)
}

/// Exports and tests the best model, and writes everything.
fn finish(
    arguments: &Arguments,
    found: &Understanding,
    budget: &Budget,
    fitting: &Candidates,
    searched: &TimedSearchReport,
    out: &Path,
) -> Result<()> {
    print_note("exporting, testing and comparing");
    let results: FitResults = match found.experiment.is_reducer() {
        true => {
            copy_run(&searched.best().run, &out.join("run"))?;
            let candidate = fitting.of(&searched.best().settings.overrides());
            classes::finish(found, budget, candidate, searched.best(), out)?
        }
        false => {
            replay::write(found, budget, out)?;
            predictor::finish(found, budget, fitting, searched, out)?
        }
    };
    let exported = &results.exported;
    copy_run(&exported.run, &out.join("run"))?;
    let head = format!(
        "Found by quaver fit: {}.\nValidation loss {:.4}, trial {}.\n\nTo change it and train again:\n  quaver train {} --out {}",
        found.experiment.task_in_words(),
        exported.valid_loss,
        exported.name,
        out.join("config.toml").display(),
        out.join("again").display()
    );
    let config = found.experiment.config_text(&exported.settings, &head);
    files::replace(&out.join("config.toml"), config.as_bytes())?;
    report::write(&out.join("report.html"), &page::page(found, budget, searched, &results))?;
    let first = arguments.data.rows.first().cloned().unwrap_or_default();
    let header = if found.has_header { "" } else { " --no-header" };
    let first = format!("{}{header}", results::quoted(&first));
    let description = results.json(found, budget, searched, out, &first);
    files::replace(&out.join("fit.json"), serde_json::to_string_pretty(&description)?.as_bytes())?;
    if arguments.json {
        print_json(&description)
    } else {
        print_text(&results.render(budget, searched, out, &first))
    }
}
