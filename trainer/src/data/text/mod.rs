//! Text as streams of tokens: a sequence with one number per step, the index of a token in the vocabulary.

mod escape;
mod load;
mod tokens;
mod vocabulary;

pub use escape::{escape, unescape};
pub use tokens::{END_OF_LINE, decode, for_each_token};
pub use vocabulary::{UNKNOWN, Vocabulary};
