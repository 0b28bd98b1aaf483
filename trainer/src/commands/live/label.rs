//! `quaver label`: recordings with labels, a key for each.

use std::cell::Cell;
use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};
use quaver_monitor::Stop;
use quaver_monitor::hub::{Cursor, Hub};
use quaver_monitor::label::{Cues, Keys};
use quaver_monitor::record::Progress;

use super::record::RecordOptions;
use super::{SourceOptions, clear_line, show, trouble};

/// Record a live stream and label stretches of it, with a key for each label
///
/// Writes the columns of `quaver record`, and `label` with the name of the label of each row, and a column of
/// zeros and ones for each label, which can be targets of a model. A key labels all rows from then on: the
/// digits 1, 2, … for the labels in order, or their first letters where these differ; 0 or space for none,
/// whose cells stay empty; q ends. With --every, labels take turns by themselves, for one who has no hand
/// free.
///
/// Keys are read from standard input, which may be a script.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver label /dev/ttyACM0 --labels rest,fist,open --out gestures.csv
  quaver label --labels rest,fist --every 3 --seconds 60 --out gestures.csv")]
pub struct Arguments {
    #[command(flatten)]
    source: SourceOptions,
    /// Names of the labels, separated by commas, nine at most.
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', required = true)]
    labels: Vec<String>,
    /// Change to the next label by itself, after this many seconds each.
    #[arg(long, value_name = "S")]
    every: Option<f64>,
    #[command(flatten)]
    record: RecordOptions,
}

pub(in crate::commands) fn run(arguments: &Arguments) -> Result<()> {
    ensure!(
        !arguments.source.is_stdin(),
        "keys are read from standard input, so rows cannot be: name a port, tcp:HOST:PORT or a file"
    );
    let keys = Keys::new(&arguments.labels)?;
    let every = arguments.every.map(Duration::try_from_secs_f64).transpose();
    let every = every.ok().filter(|every| every.is_none_or(|every| every > Duration::ZERO));
    let Some(every) = every else { anyhow::bail!("--every must be a number of seconds above 0") };
    let recording = arguments.record.recording(keys.labels())?;
    let (hub, stop, _) = arguments.source.start()?;
    eprintln!("{}", keys.help());
    #[cfg(unix)]
    let single_keys = quaver_monitor::label::SingleKeys::new(io::stdin());
    follow_keys(&keys, &hub, &stop)?;
    let cues = every.map(|every| Cues::new(every, keys.labels().len()));
    cues.iter().for_each(|cues| hub.set_label(cues.due().0));
    let shown = Cell::new(String::new());
    let watch = |progress: &Progress| {
        let next = cues.as_ref().map_or(String::new(), |cues| {
            let (label, rest) = cues.due();
            hub.set_label(label);
            format!("  next in {:.0} s", rest.as_secs_f64().ceil())
        });
        let state = trouble(&hub).map_or(String::new(), |why| format!("  {why}"));
        let line = format!("{}{next}{state}", keys.line(progress, hub.label()));
        if shown.replace(line.clone()) != line {
            show(&line);
        }
    };
    let result = recording.run(&hub, Cursor::default(), &stop, watch);
    clear_line();
    #[cfg(unix)]
    drop(single_keys);
    let progress = result?;
    arguments.record.print(&progress, &hub)
}

/// Reads keys in a thread of its own, which ends with the program: a read cannot be interrupted.
fn follow_keys(keys: &Keys, hub: &Arc<Hub>, stop: &Stop) -> Result<()> {
    let (keys, hub, stop) = (keys.clone(), Arc::clone(hub), stop.clone());
    thread::Builder::new().name("keys".into()).spawn(move || keys.follow(io::stdin().lock(), &hub, &stop))?;
    Ok(())
}
