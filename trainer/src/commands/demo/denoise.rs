//! `quaver demo --task denoise`: a VOSP compared with filters, on rows with known clean signals.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use super::super::print::print_text;
use super::super::{denoise, eval, text_table};
use super::latent::{FinishedRun, finish, record_and_train, write_csv, write_picture};
use crate::data::Rows;
use crate::evaluate::{Denoising, denoising, predict_latent_by_runtime};
use crate::report::{Body, ReportTable, Section};

/// The config, as a starting point for users.
const CONFIG: &str = include_str!("denoise.toml");

pub(super) fn run(out: &Path, seed: u64) -> Result<()> {
    let finished = record_and_train(out, seed, CONFIG, ", with noise added")?;
    eprintln!("4/4  denoising a held-out recording, by the runtime and by filters\n");
    let found = compare(&finished)?;
    let test = &finished.data.test[0];
    let truth = test.truth.as_deref().context("the config adds noise to the data")?;
    write_csv(&out.join("data/noisy.csv"), &finished.data.input_names, test.inputs.iter())?;
    let title = "Muscle activations and force, denoised";
    let mut page = denoise::show(&finished.model, title, &test.inputs, truth)?;
    write_picture(&out.join("denoised.svg"), &page)?;
    page.sections.insert(0, filters(&found));
    print_text(&format!("{}\n", text_table::render(&eval::denoising_rows(&found))))?;
    let folder = out.display();
    let commands = format!(
        "quaver denoise {folder}/model.qvr --in {folder}/data/noisy.csv --truth {folder}/data/test.csv > denoised.csv\n\
         quaver eval {folder}/run\n\
         quaver train {folder}/config.toml --out runs/mine --set data.noise.snr_db=0"
    );
    finish(out, page, commands, &finished)
}

/// The checkpoint in the runtime, compared with filters tuned on the training data.
fn compare(finished: &FinishedRun) -> Result<Vec<Denoising>> {
    let test = &finished.data.test;
    let bytes = fs::read(&finished.model)?;
    let streamed = predict_latent_by_runtime(&bytes, test)?;
    let estimates: Vec<Rows> = streamed.primary().iter().map(|prediction| prediction.mean.clone()).collect();
    Ok(denoising(&finished.data, test, &estimates, true))
}

fn filters(found: &[Denoising]) -> Section {
    let mut rows = eval::denoising_rows(found);
    let columns = rows.remove(0);
    Section {
        heading: "Compared with filters".into(),
        text: "The int8 model in the runtime was trained on noisy rows only. The filters were tuned for each channel on the \
               same rows and their clean versions, and so was the linear map. All are causal."
            .into(),
        body: Body::Table(ReportTable { columns, rows }),
    }
}
