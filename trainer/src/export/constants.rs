//! The constants that firmware needs, as a Rust file next to the checkpoint.

use std::fmt::Write;

use quaver::checkpoint::Family;
use quaver::{LatentModel, Model, ReducerModel};

/// A Rust module that embeds the checkpoint `file` of a predictor, as bytes and as a type, and declares its
/// sizes. `seal` is that of the checkpoint (`quaver::checkpoint::seal`).
pub fn rust_constants(file: &str, model: &Model<'_>, seal: u64) -> String {
    let (spec, checkpoint) = (model.spec(), model.checkpoint());
    let mut text = RustModule::new(file, checkpoint.crc());
    text.embedded("embed_model", file, seal);
    text.words("ARENA_WORDS", "Words of RAM for one stream", spec.arena_words());
    text.words("SAVED_WORDS", "Words of a saved stream", spec.saved_words());
    text.names("INPUTS", "Channels of an input row.", checkpoint.input_names().collect());
    text.names("OUTPUTS", "Values of an output row.", checkpoint.output_names().collect());
    text.finish()
}

/// The same for a latent model, whose rows have the same channels on both sides.
pub fn latent_constants(file: &str, model: &LatentModel<'_>, seal: u64) -> String {
    let mut text = RustModule::new(file, model.crc());
    let embed = match model.spec().family {
        Family::Vosp => "embed_denoiser",
        Family::Storn => "embed_sampler",
    };
    text.embedded(embed, file, seal);
    text.words("ARENA_WORDS", "Words of RAM for one stream", model.arena_words());
    text.words("SAVED_WORDS", "Words of a saved stream", model.saved_words());
    text.words("FUTURE_WORDS", "Words of RAM for each rollout", model.future_words());
    let names = model.recognition().checkpoint().input_names().collect();
    text.names("CHANNELS", "Channels of a row.", names);
    text.finish()
}

/// The same for a reducer.
pub fn reducer_constants(file: &str, model: &ReducerModel<'_>) -> String {
    let mut text = RustModule::new(file, model.crc());
    text.words("ARENA_WORDS", "Words of RAM for one stream", model.arena_words());
    text.words("SAVED_WORDS", "Words of a saved stream", model.saved_words());
    text.words("DIMENSIONS", "Components of an embedding, in words", model.dimensions());
    text.names("INPUTS", "Channels of an input row.", model.network().checkpoint().input_names().collect());
    text.names(
        "CLASSES",
        "Classes.",
        (0..model.classes()).filter_map(|class| model.class_name(class)).collect(),
    );
    text.finish()
}

/// A Rust module under construction.
struct RustModule {
    text: String,
    crc: u32,
}

impl RustModule {
    fn new(file: &str, crc: u32) -> Self {
        let text = format!(
            "// Written by `quaver export`. Use it with `mod model;` and `quaver::Arena<{{ model::ARENA_WORDS }}>`.\n\n\
             /// The checkpoint, aligned in flash.\n\
             pub static MODEL: &[u8] = quaver::include_checkpoint!({file:?});\n"
        );
        RustModule { text, crc }
    }

    /// The model as a type, defined by a macro of the runtime.
    fn embedded(&mut self, embed: &str, file: &str, seal: u64) {
        let text = format!(
            "
quaver::{embed}! {{
    /// The model as a type, known while compiling: nothing is loaded, and what it does not use takes no
    /// flash. Begin with `model::Embedded::arena()` and `model::Embedded::start(&mut arena)`.
    pub struct Embedded({file:?}, seal = {seal:#018x});
}}
"
        );
        self.text.push_str(&text);
    }

    fn item(&mut self, comment: &str, item: &str) {
        write!(self.text, "\n/// {comment}\n{item}\n").expect("a string takes every line");
    }

    fn words(&mut self, name: &str, what: &str, words: usize) {
        let comment = format!("{what}: {} bytes.", 4 * words);
        self.item(&comment, &format!("pub const {name}: usize = {words};"));
    }

    fn names(&mut self, name: &str, comment: &str, names: Vec<&str>) {
        let list: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
        self.item(comment, &format!("pub const {name}: [&str; {}] = [{}];", list.len(), list.join(", ")));
    }

    fn finish(mut self) -> String {
        let item = format!("pub const CRC: u32 = {:#010x};", self.crc);
        self.item("Checksum of the checkpoint: a name for exactly this model.", &item);
        self.text
    }
}
