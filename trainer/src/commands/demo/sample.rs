//! `quaver demo --task sample`: continuations of a recording.

use std::path::Path;

use anyhow::Result;
use quaver::FeedMode;

use super::super::sample;
use super::latent::{finish, record_and_train, write_csv, write_picture};
use crate::data::Rows;
use crate::latent::SampleOptions;

/// The config, as a starting point for users.
const CONFIG: &str = include_str!("sample.toml");

/// Rows of the prefix, at 50 Hz; then the model continues by itself.
const SEEN: usize = 500;
const STEPS: usize = 100;
const DRAWS: usize = 200;

pub(super) fn run(out: &Path, seed: u64) -> Result<()> {
    let finished = record_and_train(out, seed, CONFIG, "")?;
    eprintln!("4/4  sampling {DRAWS} futures of a held-out recording, by the runtime\n");
    let test = &finished.data.test[0].inputs;
    let prefix = out.join("data/prefix.csv");
    write_csv(&prefix, &finished.data.input_names, test.iter().take(SEEN))?;
    let truth: Rows = test.slice(SEEN..SEEN + STEPS);
    let options = SampleOptions { steps: STEPS, samples: DRAWS, feed_mode: FeedMode::Draw, seed };
    let title = "Sampled futures and the true one";
    let page = sample::show(&finished.model, title, &prefix, truth, &options)?;
    write_picture(&out.join("futures.svg"), &page)?;
    let folder = out.display();
    let commands = format!(
        "quaver sample {folder}/model.qvr --prefix {folder}/data/prefix.csv --steps {STEPS} --draws {DRAWS} --summary\n\
         quaver eval {folder}/run"
    );
    finish(out, page, commands, &finished)
}
