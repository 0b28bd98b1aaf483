//! Checkpoints from files, with names that can be printed.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use quaver::checkpoint::Kind;
use quaver::signed::Envelope;
use quaver::{LatentModel, Model, ReducerModel};

use crate::printable::unprintable_in;

/// The advice of commands that take either.
pub(super) const OR_RUN: &str = "; give a run folder or a checkpoint (.qvr)";

/// Reads a checkpoint. `advice` ends the message if there is no such file.
///
/// # Errors
/// When the file cannot be read, is a signed envelope, or has names with control characters. Contents that
/// are no checkpoint are left to the caller.
pub(super) fn read(path: &Path, advice: &str) -> Result<Vec<u8>> {
    let shown = path.display();
    let bytes = fs::read(path).with_context(|| format!("cannot read {shown}{advice}"))?;
    if Envelope::is_at(&bytes) {
        bail!(
            "{shown} is a signed checkpoint; verify it and take the checkpoint out with \
             `quaver verify {shown} --key KEY.pub -o MODEL.qvr`, then use that file"
        );
    }
    for name in names(&bytes) {
        if let Some(character) = unprintable_in(&name) {
            bail!(
                "{shown} is not a usable checkpoint: the control character {character} in the name `{}`; \
                 export the model again with other names",
                name.escape_default()
            );
        }
    }
    Ok(bytes)
}

/// What a valid checkpoint holds, for people and scripts.
///
/// # Errors
/// When the bytes are not a valid checkpoint.
pub(super) fn kind_of(bytes: &[u8]) -> Result<&'static str, quaver::Error> {
    match Kind::of(bytes) {
        Some(Kind::Latent) => LatentModel::load(bytes).map(|_| "latent"),
        Some(Kind::Reducer) => ReducerModel::load(bytes).map(|_| "reducer"),
        _ => Model::load(bytes).map(|_| "predictor"),
    }
}

/// Names of all channels and classes; none if this is no checkpoint.
fn names(bytes: &[u8]) -> Vec<String> {
    let of = |model: &Model<'_>| -> Vec<String> {
        let checkpoint = model.checkpoint();
        checkpoint.input_names().chain(checkpoint.output_names()).map(String::from).collect()
    };
    match Kind::of(bytes) {
        Some(Kind::Latent) => LatentModel::load(bytes)
            .map_or(Vec::new(), |model| [of(model.recognition()), of(model.generative())].concat()),
        Some(Kind::Reducer) => ReducerModel::load(bytes).map_or(Vec::new(), |model| {
            let classes = (0..model.classes()).filter_map(|class| model.class_name(class)).map(String::from);
            of(model.network()).into_iter().chain(classes).collect()
        }),
        _ => Model::load(bytes).ok().as_ref().map_or(Vec::new(), of),
    }
}
