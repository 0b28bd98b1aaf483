//! Settings of other sections that a model of text needs or does not support.

use quaver::checkpoint::Likelihood;

use super::limits::{InvalidValue, invalid};
use super::{Config, NoiseKind, Padding};

impl Config {
    pub(super) fn check_text(&self) -> Result<(), InvalidValue> {
        if self.data.token_kind().is_none() {
            return match self.model.embedding {
                0 => Ok(()),
                _ => Err(invalid(
                    "model.embedding",
                    "is for text: set `data.format = \"words\"` or `\"characters\"`",
                )),
            };
        }
        if self.model.likelihood != Likelihood::Categorical {
            return Err(invalid("model.likelihood", "must be \"categorical\" for text"));
        }
        if self.latent.is_some() {
            return Err(invalid(
                "latent",
                "does not go with text: tokens have no latent variables; remove it",
            ));
        }
        if self.noise.kind == NoiseKind::Additive && self.noise.input_var > 0.0 {
            let problem =
                "must be 0 for text with additive noise: the start of a stream is no token and has no noise";
            return Err(invalid("noise.input_var", problem));
        }
        if self.training.chunk == 0 || self.training.padding == Padding::Before {
            let problem =
                "must be above 0 for text, with `training.padding = \"after\"`: a stream is cut into chunks";
            return Err(invalid("training.chunk", problem));
        }
        Ok(())
    }
}
