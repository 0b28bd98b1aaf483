//! Text as data: `data.format = "words"` or `"characters"`.

use super::{DataConfig, DataSource, FileFormat, Targets};
use crate::config::Columns;
use crate::config::limits::{InvalidValue, invalid};

/// What the tokens of a text are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    /// Words, and the ends of lines.
    Words,
    /// Characters.
    Characters,
}

impl DataConfig {
    /// What the tokens are if the data are text.
    pub fn token_kind(&self) -> Option<TokenKind> {
        match self.format? {
            FileFormat::Words => Some(TokenKind::Words),
            FileFormat::Characters => Some(TokenKind::Characters),
            FileFormat::Csv
            | FileFormat::Npy
            | FileFormat::Parquet
            | FileFormat::Mcap
            | FileFormat::PianoRoll => None,
        }
    }

    /// Refuses keys that text has no use for, and keys that only text has.
    pub(super) fn check_text(&self) -> Result<(), InvalidValue> {
        if self.token_kind().is_none() {
            return match self.vocabulary {
                Some(_) => Err(invalid(
                    "data.vocabulary",
                    "is for text: set `data.format = \"words\"` or `\"characters\"`",
                )),
                None => Ok(()),
            };
        }
        if self.targets != Targets::Next {
            return Err(invalid(
                "data.targets",
                "must be \"next\" for text: a model predicts the next token",
            ));
        }
        let whole = |source: &DataSource| *source == DataSource::whole(source.file.clone());
        for (key, sources) in
            [("data.train", &self.train), ("data.valid", &self.valid), ("data.test", &self.test)]
        {
            if !sources.iter().all(whole) {
                let problem = "must name whole files: the text of a split is one stream, and has neither sequences nor rows";
                return Err(invalid(key, problem));
            }
        }
        let keys = [
            ("data.inputs", self.inputs != Columns::All),
            ("data.envelope", self.envelope.is_some()),
            ("data.noise", self.noise.is_some()),
            ("data.augment", self.augment.is_some()),
            ("data.lengths", self.lengths.is_some()),
            ("data.valid_seed", self.valid_seed.is_some()),
            ("data.header", !self.header),
        ];
        match keys.into_iter().find(|(_, set)| *set) {
            Some((key, _)) => Err(invalid(key, "does not apply to text; remove it")),
            None => Ok(()),
        }
    }
}
