//! A model as a header for C and C++: the checkpoint as an array, its sizes, and its channels as enums.

use std::collections::BTreeSet;
use std::fmt::Write;

use quaver::checkpoint::{Family, Kind};
use quaver::{Error, LatentModel, Model};

/// Bytes of the array in one line.
const BYTES_PER_LINE: usize = 20;

/// A header for a checkpoint; `stem`, the name of its file, becomes the prefix of every name in it.
///
/// # Errors
/// If the bytes are not a checkpoint.
pub fn c_header(stem: &str, bytes: &[u8]) -> Result<String, Error> {
    let mut header = CHeader::new(stem);
    if Kind::of(bytes) == Some(Kind::Latent) {
        let model = LatentModel::load(bytes)?;
        let names: Vec<&str> = model.recognition().checkpoint().input_names().collect();
        let (kind, handle) = match model.spec().family {
            Family::Vosp => ("denoiser", "QUAVER_DENOISER_WORDS"),
            Family::Storn => ("sampler", "QUAVER_SAMPLER_WORDS"),
        };
        header.open(kind, model.crc());
        header.arena(model.arena_words(), handle);
        header.size("SAVED_WORDS", "Words of a saved stream", model.saved_words());
        header.size("FUTURE_WORDS", "Words of each future of rollouts", model.future_words());
        header.channels("INPUT", "Channels of a row", model.channels(), &names);
        header.channels("OUTPUT", "Values of a prediction: those of a row", model.channels(), &names);
    } else {
        let model = Model::load(bytes)?;
        let (spec, checkpoint) = (model.spec(), model.checkpoint());
        let [inputs, outputs]: [Vec<&str>; 2] =
            [checkpoint.input_names().collect(), checkpoint.output_names().collect()];
        header.open("predictor", checkpoint.crc());
        header.arena(spec.arena_words(), "QUAVER_PREDICTOR_WORDS");
        header.size("SAVED_WORDS", "Words of a saved stream", spec.saved_words());
        header.channels("INPUT", "Channels of a row", spec.inputs.into(), &inputs);
        header.channels("OUTPUT", "Values of a prediction", spec.outputs.into(), &outputs);
    }
    Ok(header.close(bytes))
}

/// A header under construction.
struct CHeader {
    text: String,
    /// Prefix of names, in lower case.
    prefix: String,
    /// Constants for C++: name and value.
    constants: Vec<(&'static str, String)>,
}

impl CHeader {
    fn new(stem: &str) -> Self {
        let prefix = identifier(stem).to_lowercase();
        // An identifier does not begin with a digit.
        let prefix =
            if prefix.starts_with(|c: char| c.is_ascii_digit()) { format!("model_{prefix}") } else { prefix };
        CHeader { text: String::new(), prefix, constants: Vec::new() }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A name in capitals.
    fn capitals(&self, name: &str) -> String {
        format!("{}_{name}", self.prefix.to_uppercase())
    }

    fn open(&mut self, kind: &str, crc: u32) {
        let guard = self.capitals("H");
        self.line(&format!(
            "/* Written by `quaver export --c`: a model to load as a {kind}. */\n#ifndef {guard}\n#define {guard}\n\n\
             #include \"quaver.h\"\n\n\
             /* Checksum of the checkpoint: a name for exactly this model. */\n#define {} {crc:#010x}u",
            self.capitals("CRC")
        ));
    }

    fn constant(&mut self, name: &'static str, comment: &str, value: &str) {
        let define = self.capitals(name);
        self.line(&format!("\n/* {comment}. */\n#define {define} {value}"));
        self.constants.push((name, define));
    }

    fn arena(&mut self, words: usize, handle: &str) {
        self.constant(
            "ARENA_WORDS",
            "Words of an arena, the handle included",
            &format!("({words}u + {handle})"),
        );
    }

    fn size(&mut self, name: &'static str, comment: &str, value: usize) {
        self.constant(name, comment, &format!("{value}u"));
    }

    /// The number of channels, and an enum of their indices if they have names.
    fn channels(&mut self, kind: &'static str, comment: &str, count: usize, names: &[&str]) {
        self.size(if kind == "INPUT" { "INPUTS" } else { "OUTPUTS" }, comment, count);
        if names.is_empty() {
            return;
        }
        let prefix = self.capitals(kind);
        self.line("enum {");
        for (index, name) in unique_identifiers(names).iter().enumerate() {
            self.line(&format!("    {prefix}_{name} = {index},"));
        }
        self.line("};");
    }

    /// The array, and the constants for C++.
    fn close(mut self, bytes: &[u8]) -> String {
        let (prefix, count) = (self.prefix.clone(), bytes.len());
        self.line(
            "\n/* The checkpoint, aligned as kernels in assembler need it. */\n#if defined(__cplusplus)\nalignas(16)\n\
             #elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n_Alignas(16)\n\
             #elif defined(__GNUC__)\n__attribute__((aligned(16)))\n#endif",
        );
        self.line(&format!("static const unsigned char {prefix}_model[{count}] = {{"));
        for chunk in bytes.chunks(BYTES_PER_LINE) {
            let numbers: String = chunk.iter().fold(String::new(), |mut line, byte| {
                write!(line, "{byte},").expect("a string takes every number");
                line
            });
            self.line(&format!("    {numbers}"));
        }
        self.line("};\n");
        self.line(&format!("#ifdef __cplusplus\nnamespace {prefix} {{"));
        for (name, define) in std::mem::take(&mut self.constants) {
            self.line(&format!("constexpr unsigned {} = {define};", name.to_lowercase()));
        }
        self.line("} /* namespace */\n#endif\n\n#endif");
        self.text
    }
}

/// Letters, digits and underscores in capitals; everything else becomes an underscore.
fn identifier(name: &str) -> String {
    let character = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    name.chars().map(character).collect()
}

/// An identifier for each name, with its index where two would be the same.
fn unique_identifiers(names: &[&str]) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let unique = |(index, name): (usize, &&str)| {
        let plain = identifier(name);
        let mut candidate = plain.clone();
        while !taken.insert(candidate.clone()) {
            candidate = format!("{candidate}_{index}");
        }
        candidate
    };
    names.iter().enumerate().map(unique).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::assert_up_to_date;

    const GRIP_FORCE: &[u8] = include_bytes!("../../../runtime/examples/grip_force.qvr");
    const SAMPLER: &[u8] = include_bytes!("../../../runtime/examples/sampler.qvr");

    /// The example of the C interface is what this module writes.
    #[test]
    fn the_reference_header_for_c_is_up_to_date() {
        let made = c_header("grip_force", GRIP_FORCE).expect("a checkpoint");
        assert_up_to_date("bindings/c/examples/models/grip_force.h", &made);
    }

    #[test]
    fn a_header_has_the_sizes_of_its_model() {
        let text = c_header("grip-force.v2", GRIP_FORCE).expect("a checkpoint");
        assert!(text.contains("#define GRIP_FORCE_V2_ARENA_WORDS (142u + QUAVER_PREDICTOR_WORDS)\n"));
        assert!(text.contains("#define GRIP_FORCE_V2_INPUTS 8u\n"));
        assert!(text.contains("static const unsigned char grip_force_v2_model["));
        assert!(text.contains("constexpr unsigned arena_words = GRIP_FORCE_V2_ARENA_WORDS;"));
        let text = c_header("3d", SAMPLER).expect("a checkpoint");
        assert!(text.contains("#define MODEL_3D_ARENA_WORDS (111u + QUAVER_SAMPLER_WORDS)\n"));
        assert!(text.contains("#define MODEL_3D_FUTURE_WORDS 21u\n"));
        assert!(c_header("model", b"no checkpoint").is_err());
    }

    #[test]
    fn channels_become_different_identifiers() {
        assert_eq!(
            unique_identifiers(&["emg 1", "emg-1", "µV", "EMG_1"]),
            ["EMG_1", "EMG_1_1", "_V", "EMG_1_3"]
        );
    }
}
