//! `quaver verify`: a signed envelope against a public key, as a device would.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use quaver::signed::open;
use serde::Serialize;

use super::checkpoint_file;
use super::print::{print_json, print_text};
use crate::files;
use crate::signing::{hex, read_public};

/// Verify a signed checkpoint, and take the checkpoint out
///
/// Does what a device does: verifies the signature with the public key, compares the counter, and loads the
/// checkpoint. Fails if any of them is wrong; nothing is written then.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver verify model.qvs --key ours.pub
  quaver verify model.qvs --key ours.pub --least-counter 7 -o model.qvr
  quaver verify model.qvs --key ours.pub --json | jq .counter")]
pub struct Arguments {
    /// The envelope, written by `quaver sign`.
    #[arg(value_name = "SIGNED.qvs")]
    signed: PathBuf,
    /// The public key, written by `quaver keygen`.
    #[arg(long, value_name = "PUBLIC.pub")]
    key: PathBuf,
    /// The lowest counter to accept.
    #[arg(long, value_name = "N", default_value_t = 0)]
    least_counter: u32,
    /// Write the checkpoint to this file, without its envelope.
    #[arg(short, long, value_name = "MODEL.qvr")]
    output: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// An envelope that a device would accept.
#[derive(Debug, Serialize)]
struct Verified {
    counter: u32,
    public_key: String,
    /// `predictor` or `latent`.
    kind: &'static str,
    checkpoint_bytes: usize,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { signed, key, least_counter, output, json } = arguments;
    let shown = signed.display();
    if let Some(output) = output {
        files::ensure_distinct(signed, output)?;
    }
    let key = read_public(key)?;
    let bytes = fs::read(signed).with_context(|| format!("cannot read {shown}"))?;
    let opened = open(&bytes, &key, *least_counter).with_context(|| format!("{shown} is refused"))?;
    let kind = checkpoint_file::kind_of(opened.checkpoint)
        .with_context(|| format!("{shown} is signed, but what it holds is not a usable checkpoint"))?;
    if let Some(output) = output {
        files::replace(output, opened.checkpoint)?;
    }
    let verified = Verified {
        counter: opened.counter,
        public_key: hex(key.as_bytes()),
        kind,
        checkpoint_bytes: opened.checkpoint.len(),
    };
    if *json {
        return print_json(&verified);
    }
    let Verified { counter, public_key, kind, checkpoint_bytes } = verified;
    let written = output.as_ref().map_or(String::new(), |path| format!("written to {}\n", path.display()));
    print_text(&format!(
        "{shown}: signed with the key {public_key}\n\
         counter {counter}, {kind} checkpoint of {checkpoint_bytes} bytes\n{written}"
    ))
}
