//! `quaver demo --task sample`: continuations of a recording.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;

use super::super::sample;
use super::latent::{record, train_and_export, write_picture};
use crate::data::Rows;
use crate::files;
use crate::latent::SampleOptions;
use crate::report::{self, Body, Section};
use quaver::FeedMode;

/// The config, as a starting point for users.
const CONFIG: &str = include_str!("sample.toml");

/// Rows of the prefix, at 50 Hz; then the model continues by itself.
const SEEN: usize = 500;
const STEPS: usize = 100;
const DRAWS: usize = 200;

pub(super) fn run(out: &Path, seed: u64) -> Result<()> {
    let begun = Instant::now();
    eprintln!("1/4  recording: activations of three muscles and their force");
    record(out, seed, CONFIG)?;
    let finished = train_and_export(out)?;
    eprintln!("4/4  sampling {DRAWS} futures of a held-out recording, by the runtime\n");
    let test = &finished.data.test[0].inputs;
    let prefix = out.join("data/prefix.csv");
    let row = |row: &[f32]| row.iter().map(f32::to_string).collect::<Vec<_>>().join(",") + "\n";
    let text: String = test.iter().take(SEEN).map(row).collect();
    files::replace(&prefix, (finished.data.input_names.join(",") + "\n" + &text).as_bytes())?;
    let truth: Rows = test.slice(SEEN..SEEN + STEPS);
    let options = SampleOptions { steps: STEPS, samples: DRAWS, feed_mode: FeedMode::Draw, seed };
    let title = "Sampled futures and the true one";
    let mut page = sample::show(&finished.model, title, &prefix, truth, &options)?;
    write_picture(&out.join("futures.svg"), &page)?;
    page.sections.push(next_steps(out));
    let path = out.join("report.html");
    report::write(&path, &page)?;
    println!("report: {}", path.display());
    let (all, training) = (begun.elapsed().as_secs_f64(), finished.training_seconds);
    println!("took {all:.0} s, {training:.0} s of it training");
    Ok(())
}

fn next_steps(out: &Path) -> Section {
    let folder = out.display();
    Section {
        heading: "Next steps".into(),
        text: "All results are in files.".into(),
        body: Body::Pre(format!(
            "quaver sample {folder}/model.qvr --prefix {folder}/data/prefix.csv --steps {STEPS} --draws {DRAWS} --summary\n\
             quaver eval {folder}/run"
        )),
    }
}
