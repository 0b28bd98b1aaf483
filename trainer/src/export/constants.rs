//! The constants that firmware needs, as a Rust file beside the checkpoint.

use std::fmt::Write;

use quaver::Model;

/// A Rust module that embeds the checkpoint `file` and names its sizes.
pub fn rust_constants(file: &str, model: &Model<'_>) -> String {
    let spec = model.spec();
    let list = |names: Vec<&str>| names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    let mut line = |line: String| writeln!(text, "{line}").expect("a string takes every line");
    line("// Written by `quaver export`. Use it with `mod model;` and `quaver::Arena<{ model::ARENA_WORDS }>`.".into());
    line(String::new());
    line("/// The checkpoint, aligned in flash.".into());
    line(format!("pub static MODEL: &[u8] = quaver::include_checkpoint!({file:?});"));
    line(String::new());
    line(format!("/// Words of RAM for one stream: {} bytes.", 4 * spec.arena_words()));
    line(format!("pub const ARENA_WORDS: usize = {};", spec.arena_words()));
    line(String::new());
    line("/// Words of a saved stream.".into());
    line(format!("pub const SAVED_WORDS: usize = {};", spec.saved_words()));
    line(String::new());
    line("/// Channels of an input row.".into());
    line(format!(
        "pub const INPUTS: [&str; {}] = [{}];",
        spec.inputs,
        list(model.checkpoint().input_names().collect())
    ));
    line(String::new());
    line("/// Values of an output row.".into());
    line(format!(
        "pub const OUTPUTS: [&str; {}] = [{}];",
        spec.outputs,
        list(model.checkpoint().output_names().collect())
    ));
    line(String::new());
    line("/// Checksum of the checkpoint: a name for exactly this model.".into());
    line(format!("pub const CRC: u32 = {:#010x};", model.checkpoint().crc()));
    text
}
