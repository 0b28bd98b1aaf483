//! Text written by a model: tokens are drawn, read and turned into characters one after the other.

use quaver::{Error, Predictor};
use rand_core::Rng;

/// Tokens that the firmware example draws.
pub const STEPS: usize = 300;
/// The temperature at which it draws them.
pub const TEMPERATURE: f32 = 0.7;

/// Draws `steps` tokens and passes the name of each to `each`, as it is in the checkpoint.
///
/// # Errors
/// If the model does not load or there is too little memory.
pub fn write_text(
    model: &[u8],
    arena: &mut [f32],
    steps: usize,
    temperature: f32,
    rng: &mut impl Rng,
    mut each: impl FnMut(&str),
) -> Result<(), Error> {
    let mut predictor = Predictor::load_in(model, arena)?;
    for _ in 0..steps {
        let token = predictor.prediction().draw_class_at(temperature, rng);
        each(predictor.model().checkpoint().output_names().nth(token).unwrap_or_default());
        predictor.step_token(token);
    }
    Ok(())
}

/// The characters of a token with this name: the escapes of spaces, ends of lines, tabs and backslashes
/// resolved, all others as they are.
pub fn characters(name: &str) -> impl Iterator<Item = char> {
    let mut characters = name.chars();
    core::iter::from_fn(move || {
        let character = characters.next()?;
        if character != '\\' {
            return Some(character);
        }
        let rest = characters.clone();
        match characters.next() {
            Some('n') => Some('\n'),
            Some('s') => Some(' '),
            Some('t') => Some('\t'),
            Some('\\') => Some('\\'),
            _ => {
                characters = rest;
                Some('\\')
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::characters;

    #[test]
    fn escapes_become_characters() {
        for (name, expected) in
            [("a", "a"), ("\\n", "\n"), ("\\s", " "), ("\\\\s", "\\s"), ("\\u{1b}", "\\u{1b}"), ("\\", "\\")]
        {
            assert_eq!(characters(name).collect::<String>(), expected);
        }
    }
}
