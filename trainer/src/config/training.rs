//! The sections `[init]` and `[training]`: how the model is trained.

use serde::{Deserialize, Serialize};

use super::check::{Fault, fault, not_negative, positive, within};

/// The section `[init]`: where training begins (Bayer 2015, thesis, 1.3.3).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Init {
    /// Standard deviation of the weights from a layer's inputs; 1/√inputs unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_std: Option<f32>,
    /// Standard deviation of the recurrent weights; 1/√units unless given. Not together with
    /// `spectral_radius`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recurrent_std: Option<f32>,
    /// Largest absolute eigenvalue ρ that each recurrent matrix is scaled to. Not together with
    /// `recurrent_std`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spectral_radius: Option<f32>,
    /// Recurrent weights per unit that are not zero, ν; 0 (the default) for all of them.
    pub sparse: u16,
    /// Where the biases of the outputs begin; 0 unless given. A negative one suits outputs that are rarely 1.
    pub output_bias: f32,
}

/// The section `[training]`: the optimiser and when it stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Training {
    /// `"adam"` (the default).
    pub optimiser: Optimiser,
    /// Step size; 0.003 unless given.
    pub learning_rate: f32,
    /// Chunks per batch; 16 unless given.
    pub batch: usize,
    /// Steps per chunk; 100 unless given, 0 for whole sequences.
    pub chunk: usize,
    /// Most passes over the training data; 30 unless given.
    pub epochs: usize,
    /// Epochs without a better validation loss after which training stops; 10 unless given, 0 for never.
    pub patience: usize,
    /// Norm that a larger gradient is shortened to; 5 unless given, 0 for no limit.
    pub clip_norm: f32,
    /// Time after which training stops, in minutes; no limit unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_minutes: Option<f64>,
}

/// Value of `training.optimiser`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimiser {
    /// Adam (Kingma and Ba 2015).
    Adam,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            optimiser: Optimiser::Adam,
            learning_rate: 0.003,
            batch: 16,
            chunk: 100,
            epochs: 30,
            patience: 10,
            clip_norm: 5.0,
            max_minutes: None,
        }
    }
}

/// More chunks or steps than any memory holds: a slip of the finger.
const MOST: usize = 1_000_000;

impl Init {
    /// `units` is the size of the smallest layer.
    pub(super) fn check(&self, units: Option<u16>) -> Result<(), Fault> {
        let optional =
            |key, value: Option<f32>| value.map_or(Ok(()), |value| not_negative(key, value.into()));
        optional("init.input_std", self.input_std)?;
        optional("init.recurrent_std", self.recurrent_std)?;
        optional("init.spectral_radius", self.spectral_radius)?;
        if self.recurrent_std.is_some() && self.spectral_radius.is_some() {
            let problem =
                "and `init.spectral_radius` both set the size of the recurrent weights; remove one of them";
            return Err(fault("init.recurrent_std", problem));
        }
        if let Some(units) = units.filter(|&units| self.sparse > units) {
            let problem =
                format!("must be at most the {units} units of the smallest layer, found {}", self.sparse);
            return Err(fault("init.sparse", problem));
        }
        if !self.output_bias.is_finite() {
            return Err(fault("init.output_bias", format!("must be finite, found {}", self.output_bias)));
        }
        Ok(())
    }
}

impl Training {
    pub(super) fn check(&self) -> Result<(), Fault> {
        positive("training.learning_rate", self.learning_rate.into())?;
        within("training.batch", self.batch, 1..=MOST)?;
        within("training.chunk", self.chunk, 0..=MOST)?;
        within("training.epochs", self.epochs, 1..=MOST)?;
        within("training.patience", self.patience, 0..=MOST)?;
        not_negative("training.clip_norm", self.clip_norm.into())?;
        self.max_minutes.map_or(Ok(()), |minutes| positive("training.max_minutes", minutes))
    }
}
