//! Several topics on the clock of one: each row has the last message of every other topic before it.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};

use super::cdr::{self, Sink};
use super::{Bag, Topic};
use crate::config::BagConfig;
use crate::data::Rows;
use crate::data::table::{Table, listed, places};

/// Columns of a bag with a time for every row.
pub struct BagRows {
    /// The columns, as one sequence.
    pub table: Table,
    /// Time of every row in nanoseconds: the stamp of its message, or when it was logged.
    pub times: Vec<i128>,
    /// What was taken for granted, for people.
    pub notes: Vec<String>,
}

/// A message of one topic: its time, and its values of the wanted columns.
struct Sample {
    time: i128,
    values: Vec<f32>,
}

/// The wanted columns of a topic.
struct Wanted {
    /// Place among a topic's wanted columns, by the place of the path.
    by_path: HashMap<usize, usize>,
    /// Places of these columns in a row.
    columns: Vec<usize>,
}

pub(super) fn rows(bag: &Bag, columns: &[String], config: &BagConfig) -> Result<BagRows> {
    let (wanted, first) = wanted(bag, columns)?;
    let clock = match &config.clock {
        Some(name) => clock(bag, name)?,
        None => first,
    };
    let (samples, infinite) = samples(bag, &wanted)?;
    let rows = &samples[clock];
    ensure!(!rows.is_empty(), "the topic `{}` has no messages", bag.topics[clock].name);
    let oldest = (config.max_age * 1e9) as i128;
    let mut values = vec![f32::NAN; rows.len() * columns.len()];
    for (topic, samples) in samples.iter().enumerate() {
        let mut next = 0;
        for (row, values) in rows.iter().zip(values.chunks_exact_mut(columns.len())) {
            while samples.get(next).is_some_and(|sample| sample.time <= row.time) {
                next += 1;
            }
            // Of the clock itself every message is used, also where two have one time.
            let Some(last) = next.checked_sub(1).map(|last| &samples[last]).filter(|_| topic != clock) else {
                continue;
            };
            if row.time - last.time <= oldest {
                write(&wanted[topic], &last.values, values);
            }
        }
    }
    for (row, values) in rows.iter().zip(values.chunks_exact_mut(columns.len())) {
        write(&wanted[clock], &row.values, values);
    }
    let times: Vec<i128> = rows.iter().map(|sample| sample.time).collect();
    let notes =
        notes(&bag.topics[clock], &times, infinite, wanted.iter().filter(|w| !w.columns.is_empty()).count());
    let rows = Rows { channels: columns.len(), values };
    Ok(BagRows { table: Table { names: columns.to_vec(), sequences: vec![rows] }, times, notes })
}

fn write(wanted: &Wanted, from: &[f32], row: &mut [f32]) {
    wanted.columns.iter().zip(from).for_each(|(&place, value)| row[place] = *value);
}

/// The wanted columns of every topic, and the topic of the first of them.
fn wanted(bag: &Bag, columns: &[String]) -> Result<(Vec<Wanted>, usize)> {
    let names = bag.names();
    let owner: Vec<(usize, usize)> = bag
        .topics
        .iter()
        .enumerate()
        .flat_map(|(topic, own)| (0..own.paths.len()).map(move |path| (topic, path)))
        .collect();
    let places = places(&names);
    let mut wanted: Vec<Wanted> =
        bag.topics.iter().map(|_| Wanted { by_path: HashMap::new(), columns: Vec::new() }).collect();
    let mut first = None;
    for (place, name) in columns.iter().enumerate() {
        let found = places.get(name.as_str()).map(|&index| owner[index]);
        let (topic, path) =
            found.with_context(|| format!("no column `{name}`; the columns are {}", listed(&names)))?;
        let own = &mut wanted[topic];
        own.by_path.insert(path, own.columns.len());
        own.columns.push(place);
        first.get_or_insert(topic);
    }
    Ok((wanted, first.context("no column is selected")?))
}

/// The topic that is the clock, with or without its slash.
fn clock(bag: &Bag, name: &str) -> Result<usize> {
    let bare = |name: &str| name.trim_start_matches('/').to_string();
    let found = bag.topics.iter().position(|topic| bare(&topic.name) == bare(name));
    found.with_context(|| {
        let names: Vec<String> = bag.topics.iter().map(|topic| topic.name.clone()).collect();
        format!("no topic `{name}` for the clock; there are {}", listed(&names))
    })
}

/// The messages of every topic in the order of time, and the number of infinite values in them.
fn samples(bag: &Bag, wanted: &[Wanted]) -> Result<(Vec<Vec<Sample>>, usize)> {
    let mut samples: Vec<Vec<Sample>> = bag.topics.iter().map(|_| Vec::new()).collect();
    let mut infinite = 0;
    for message in bag.file.messages() {
        let Some(&topic) = bag.by_channel.get(&message.channel) else { continue };
        let Topic { layout, places, .. } = &bag.topics[topic];
        let time = cdr::stamp(layout, message.data).unwrap_or(message.log_time.into());
        let Wanted { by_path, columns } = &wanted[topic];
        let mut values =
            SelectedValues { places, by_path, values: vec![f32::NAN; columns.len()], infinite: 0 };
        if !columns.is_empty() {
            cdr::walk(layout, message.data, &mut values)?;
        }
        infinite += values.infinite;
        samples[topic].push(Sample { time, values: values.values });
    }
    samples.iter_mut().for_each(|samples| samples.sort_by_key(|sample| sample.time));
    Ok((samples, infinite))
}

/// The wanted values of one message.
struct SelectedValues<'b> {
    places: &'b HashMap<String, usize>,
    by_path: &'b HashMap<usize, usize>,
    values: Vec<f32>,
    infinite: usize,
}

impl Sink for SelectedValues<'_> {
    fn number(&mut self, path: &str, value: f64) {
        let place = self.places.get(path).and_then(|path| self.by_path.get(path));
        let Some(&place) = place else { return };
        let value = value as f32;
        if value.is_infinite() {
            self.infinite += 1;
        } else {
            self.values[place] = value;
        }
    }

    fn long_array(&mut self, _: &str, _: usize) {}
}

fn notes(clock: &Topic, times: &[i128], infinite: usize, topics: usize) -> Vec<String> {
    let mut periods: Vec<i128> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    periods.sort_unstable();
    let rate = match periods.get(periods.len() / 2) {
        Some(&period) if period > 0 => format!(", one every {:.3} ms (median)", period as f64 / 1e6),
        _ => String::new(),
    };
    let mut notes = Vec::new();
    if topics > 1 {
        notes.push(format!(
            "rows are the {} messages of `{}`{rate}; data.bag.clock chooses",
            times.len(),
            clock.name
        ));
    }
    if infinite > 0 {
        notes.push(format!("{infinite} infinite values are taken for missing"));
    }
    notes
}
