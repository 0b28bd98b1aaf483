//! Writes the text of the firmware example `text` as this machine does; with a path, by another model of
//! text.

use quaver::{Error, Model};
use quaver_tests::golden_text;
use quaver_tests::numbers::Numbers;
use quaver_tests::text::{STEPS, TEMPERATURE, characters, write_text};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = match std::env::args().nth(1) {
        Some(path) => std::fs::read(path)?,
        None => golden_text::example().model,
    };
    println!("{}", written(&model)?);
    Ok(())
}

fn written(model: &[u8]) -> Result<String, Error> {
    let mut text = String::new();
    let mut arena = vec![0.0; Model::load(model)?.spec().arena_words()];
    let mut rng = Numbers::new("text");
    write_text(model, &mut arena, STEPS, TEMPERATURE, &mut rng, |name| text.extend(characters(name)))?;
    Ok(text)
}
