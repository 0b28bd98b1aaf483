//! Compares what a board sent, a file of bytes, with what this machine predicts for the same rows: every bit.
//!
//! Usage: check FILE ROWS. The board replays the rows with which this was built, `rows/grip_force.csv` or
//! those of `QUAVER_FIT`; at least so many samples must have arrived.

use std::process::ExitCode;
use std::{env, fs};

use quaver::Model;
use quaver_firmware::replayed::{CHANNELS, MODEL, ModelArena, ROWS};
use quaver_telemetry::{Decoder, Hello, Item, Sample};

fn main() -> ExitCode {
    match compare() {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare() -> Result<String, String> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [path, wanted] = &arguments[..] else { return Err("usage: check FILE ROWS".into()) };
    let wanted: usize = wanted.parse().map_err(|error| format!("{wanted}: {error}"))?;
    let bytes = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let mut decoder = Decoder::new();
    let items = decoder.read(&bytes);
    let counts = decoder.counts();
    if [counts.lost, counts.damaged, counts.unknown, counts.restarts] != [0; 4] {
        return Err(format!("frames were lost or damaged between an emulator and a file: {counts:?}"));
    }
    let texts =
        items.iter().filter_map(|item| if let Item::Text(text) = item { Some(text.as_str()) } else { None });
    let texts: Vec<&str> = texts.collect();
    check_names(&items)?;
    let samples: Vec<&Sample<Vec<f32>>> = items
        .iter()
        .filter_map(|item| if let Item::Sample(sample) = item { Some(sample) } else { None })
        .collect();
    if samples.len() < wanted {
        return Err(format!("{} of {wanted} samples arrived; the board printed {texts:?}", samples.len()));
    }
    check_bits(&samples)?;
    let late = samples.last().map_or(0, |sample| sample.late + sample.dropped);
    let printed = if texts.is_empty() { String::new() } else { format!("; {}", texts.join(", ")) };
    Ok(format!("{} predictions with the host's bits, {late} late{printed}", samples.len()))
}

/// The first item tells what follows.
fn check_names(items: &[Item]) -> Result<(), String> {
    let greeting = items.iter().find(|item| !matches!(item, Item::Text(_)));
    let Some(Item::Hello(Hello { inputs, outputs, .. })) = greeting else {
        return Err(format!("the board does not begin with names and units, but with {greeting:?}"));
    };
    let names: Vec<&str> = inputs.iter().map(|channel| channel.name.as_str()).collect();
    let labels: Vec<(&str, &str)> =
        outputs.iter().map(|out| (out.name.as_str(), out.unit.as_str())).collect();
    let is_demo = option_env!("QUAVER_FIT").is_none();
    if names.len() != CHANNELS || is_demo && (names[0] != "emg1" || labels != [("force_n", "N")]) {
        return Err(format!("the names are {names:?} and {labels:?}"));
    }
    Ok(())
}

fn check_bits(samples: &[&Sample<Vec<f32>>]) -> Result<(), String> {
    let model = Model::load(MODEL).map_err(|error| error.to_string())?;
    let mut arena = ModelArena::new();
    let mut state = model.start(&mut arena).map_err(|error| error.to_string())?;
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<u32>>();
    for (index, (sample, row)) in samples.iter().zip(ROWS.iter().cycle()).enumerate() {
        let prediction = model.step(&mut state, row);
        let expected = [row, prediction.mean(), prediction.epistemic(), prediction.aleatoric()].map(bits);
        let found =
            [&sample.row, &sample.mean, &sample.epistemic, &sample.aleatoric].map(|values| bits(values));
        if found != expected {
            return Err(format!(
                "row {index}: the board sent {found:08x?}, this machine has {expected:08x?}"
            ));
        }
    }
    Ok(())
}
