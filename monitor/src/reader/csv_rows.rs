//! Rows of CSV: numbers that no model has seen yet.

use std::io::{self, BufRead, BufReader, Read};

use anyhow::{Result, bail};

use super::{Settings, Sink};
use crate::Stop;
use crate::layout::Layout;
use crate::row::Meta;
use crate::source::{Source, is_time_out};

/// The column with the seconds at which rows were sampled, as `quaver record` writes it.
const TIME: &str = "time";
/// Columns of text.
const TEXT: [&str; 1] = ["label"];

/// A reader of CSV rows. The program around the monitor has one, so that there is one dialect.
pub trait CsvRows {
    /// All columns with data.
    fn names(&self) -> Vec<String>;

    /// Selects columns, in this order.
    ///
    /// # Errors
    /// If there are none of these names.
    fn select(&mut self, names: &[String]) -> Result<()>;

    /// Reads the next row, NaN for missing values, and returns whether it begins a sequence; `None` at the
    /// end.
    ///
    /// # Errors
    /// If the source fails (with its `io::Error`), or for a line that is no row. Lines after it can be read.
    fn next_row(&mut self, row: &mut [f32]) -> Result<Option<bool>>;
}

/// Opens a reader of CSV rows on a source with a name, with or without a header.
pub type OpenCsv = fn(Box<dyn BufRead + Send>, &str, bool) -> Result<Box<dyn CsvRows>>;

/// Follows rows until they end. Lines that are no row are counted.
pub(super) fn follow(
    connection: Box<dyn Read + Send>,
    name: &str,
    settings: &Settings,
    sink: &mut Sink<'_>,
) -> Result<()> {
    let mut patient = BufReader::new(Patient { connection, stop: sink.stop.clone() });
    if !settings.header && matches!(settings.source, Source::Serial(..)) {
        // The first line may be half of one, and would give the number of columns.
        patient.skip_until(b'\n')?;
    }
    let mut rows = (settings.open_csv)(Box::new(patient), name, settings.header)?;
    let columns = columns(&rows.names(), sink.model_inputs(), name)?;
    rows.select(&columns.selected)?;
    let layout = columns.layout(settings.rate_hz);
    sink.set_layout(&layout);
    let (mut row, mut number) = (vec![0.0; columns.selected.len()], 0_u64);
    loop {
        let begins = match rows.next_row(&mut row) {
            Ok(Some(begins)) => begins,
            Ok(None) => return Ok(()),
            Err(error) if error.downcast_ref::<io::Error>().is_some() => return Err(error),
            Err(error) if sink.is_replay => return Err(error),
            Err(error) => {
                sink.hub.add_message(&format!("{error:#}"));
                sink.count_damaged();
                continue;
            }
        };
        let inputs = &row[usize::from(columns.has_time)..];
        let sent = if columns.has_time { f64::from(row[0]) } else { number as f64 / settings.rate_hz };
        sink.wait(sent);
        number += 1;
        let arrival = sink.hub.seconds();
        let is_timed = columns.has_time || sink.is_replay;
        let time = sink.clock.time(if is_timed { sent } else { arrival }, arrival);
        let meta = Meta { time, arrival, begins, ..Meta::default() };
        sink.row(meta, inputs, inputs)?;
    }
}

/// The columns that are read.
struct Columns {
    /// The time first, if there is one.
    selected: Vec<String>,
    has_time: bool,
}

impl Columns {
    fn layout(&self, rate_hz: f64) -> Layout {
        let inputs = self.selected[usize::from(self.has_time)..].iter();
        let inputs = inputs.map(|name| (name.clone(), String::new()));
        Layout { device: "rows of CSV".into(), rate_hz: Some(rate_hz as f32), ..Layout::new(inputs, []) }
    }
}

/// Chooses the inputs of a model by name, or in order where either has no names; or all columns of numbers.
fn columns(found: &[String], wanted: Option<Vec<String>>, file: &str) -> Result<Columns> {
    let is_numbered = found.iter().enumerate().all(|(index, name)| *name == format!("c{index}"));
    let time = found.iter().find(|name| *name == TIME).filter(|_| !is_numbered);
    let other = |name: &&String| *name != TIME && !TEXT.contains(&name.as_str());
    let mut inputs: Vec<String> = found.iter().filter(other).cloned().collect();
    if let Some(wanted) = wanted {
        let is_nameless = wanted.iter().enumerate().all(|(index, name)| *name == format!("c{index}"));
        if is_numbered || is_nameless {
            if inputs.len() != wanted.len() {
                bail!(
                    "{file}: {} columns, but the model has {} inputs ({}); send one column per input, in this \
                     order",
                    inputs.len(),
                    wanted.len(),
                    wanted.join(", ")
                );
            }
        } else {
            inputs = wanted;
        }
    }
    let time = time.filter(|time| !inputs.contains(time));
    let has_time = time.is_some();
    Ok(Columns { selected: time.into_iter().cloned().chain(inputs).collect(), has_time })
}

/// Reads that wait for bytes, until it is time to stop.
struct Patient {
    connection: Box<dyn Read + Send>,
    stop: Stop,
}

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.read(buffer) {
                Err(error) if is_time_out(&error) && !self.stop.is_set() => {}
                Err(error) if is_time_out(&error) => return Ok(0),
                result => return result,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn inputs_are_chosen_by_name_or_in_order() {
        let chosen = |found: &[&str], wanted: Option<&[&str]>| {
            columns(&names(found), wanted.map(names), "rows").map(|columns| columns.selected)
        };
        let file = ["time", "b", "a", "label"];
        assert_eq!(chosen(&file, None).expect("columns"), ["time", "b", "a"]);
        assert_eq!(chosen(&file, Some(&["a", "b"])).expect("columns"), ["time", "a", "b"]);
        assert_eq!(chosen(&["c0", "c1"], Some(&["a", "b"])).expect("columns"), ["c0", "c1"]);
        assert_eq!(chosen(&["x", "y"], Some(&["c0", "c1"])).expect("columns"), ["x", "y"]);
        assert_eq!(chosen(&["time", "x"], Some(&["time"])).expect("columns"), ["time"]);
        let error = chosen(&["c0"], Some(&["a", "b"])).expect_err("too few").to_string();
        assert!(error.contains("1 columns, but the model has 2 inputs (a, b)"), "{error}");
    }
}
