//! The sections `[init]` and `[training]`: how the model is trained.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::invalid::{InvalidValue, invalid, not_negative, positive, share, within};

/// The section `[init]`: where training begins (Bayer 2015, thesis, 1.3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct InitConfig {
    /// The folder of a run whose best state training begins with, its scaling included: to fit what was learned from many
    /// to one. Nothing is drawn then, so that no other key of this section may be set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    /// Standard deviation of the weights from a layer's inputs; 1/√inputs unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(alias = "input_std")]
    pub input_std_dev: Option<f32>,
    /// Standard deviation of the recurrent weights; 1/√units unless given. Not together with
    /// `spectral_radius`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(alias = "recurrent_std")]
    pub recurrent_std_dev: Option<f32>,
    /// Largest absolute eigenvalue ρ that each recurrent matrix is scaled to. Not together with
    /// `recurrent_std_dev`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spectral_radius: Option<f32>,
    /// Recurrent weights per unit that are not zero, ν; 0 (the default) for all of them.
    pub sparse: u16,
    /// Standard deviation of the biases of layers without recurrence; 0 unless given. With few inputs, units that all bend
    /// in one place are slow to spread over their range.
    pub bias_std: f32,
    /// Where the biases of the outputs begin; 0 unless given. A negative one suits outputs that are rarely 1.
    pub output_bias: f32,
    /// Where the standard deviations of weights that have one begin, in units of 1/√columns of their affine map; 0.1
    /// unless given.
    pub weight_deviation: f32,
}

impl Default for InitConfig {
    fn default() -> Self {
        InitConfig {
            from: None,
            input_std_dev: None,
            recurrent_std_dev: None,
            spectral_radius: None,
            sparse: 0,
            bias_std: 0.0,
            output_bias: 0.0,
            weight_deviation: 0.1,
        }
    }
}

/// The section `[training]`: the optimiser and when it stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// `"adam"` (the default), or `"rmsprop"` or `"adadelta"`, both with Nesterov momentum.
    pub optimiser: OptimiserKind,
    /// Step size; 0.003 unless given. Adadelta finds its own: 1 leaves it alone.
    pub learning_rate: f32,
    /// Share γ of the last step that rmsprop and Adadelta go on with; 0.9 unless given.
    pub momentum: f32,
    /// How much of their average squared gradient rmsprop and Adadelta keep from step to step; 0.9 unless given.
    pub square_decay: f32,
    /// Share that the running average of the parameters keeps from step to step; 0 (the default) for no average, 0.999 for one
    /// over some thousand steps. With an average, it is what is judged, evaluated and exported.
    pub average: f32,
    /// What becomes of the learning rate: `"constant"` (the default), `"cosine"`, `"step"` or `"plateau"`.
    pub schedule: Schedule,
    /// 10 unless given. Cosine: epochs until the rate is at its lowest. Step: epochs from cut to cut. Plateau:
    /// epochs without a better validation loss until a cut.
    pub schedule_epochs: usize,
    /// 0.1 unless given. Cosine: the lowest rate as a share of the first. Step and plateau: what a cut multiplies by.
    pub schedule_factor: f32,
    /// Epochs during which the rate rises in a line from zero; 0 unless given.
    pub warm_up: f64,
    /// Chunks per batch; 16 unless given.
    pub batch: usize,
    /// Steps per chunk; 100 unless given, 0 for whole sequences.
    pub chunk: usize,
    /// Where chunks shorter than others of their batch are filled up with zeros that do not count: `"after"` (the
    /// default) or `"before"` (Bayer 2015, thesis, 2.5.2).
    pub padding: Padding,
    /// Whether a chunk goes on from where the one before it has ended, gradients not included; false unless given, and
    /// every chunk starts at zero.
    pub carry_state: bool,
    /// Most passes over the training data; 30 unless given.
    pub epochs: usize,
    /// Epochs without a better validation loss after which training stops; 10 unless given, 0 for never.
    pub patience: usize,
    /// Which state is evaluated and exported: `"best"` (the default), that of the epoch with the lowest validation loss, or
    /// `"last"`. With the last one, neither patience nor a plateau looks at validation, which may then be part of the
    /// training data.
    pub keep: StateSelection,
    /// Norm that a larger gradient is shortened to; 5 unless given, 0 for no limit.
    pub clip_norm: f32,
    /// Time after which training stops, in minutes; no limit unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_minutes: Option<f64>,
}

/// Value of `training.optimiser`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserKind {
    /// Adam (Kingma and Ba 2015).
    Adam,
    /// rmsprop (Tieleman and Hinton 2012).
    Rmsprop,
    /// Adadelta (Zeiler 2012).
    Adadelta,
}

/// Value of `training.schedule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The rate stays.
    Constant,
    /// The rate falls along half a cosine.
    Cosine,
    /// The rate is cut every so many epochs.
    Step,
    /// The rate is cut whenever the validation loss has not got better for so many epochs.
    Plateau,
}

/// Where chunks shorter than the longest of their batch are filled up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    /// At their end.
    After,
    /// At their start: a net runs on zeros before the chunk begins (Bayer 2015, thesis, 2.5.2). [`Batch::chunks`](crate::data::batch::Batch::chunks) then
    /// tells the steps of a row counted from its end.
    Before,
}

/// Value of `training.keep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StateSelection {
    /// The state of the epoch with the lowest validation loss.
    Best,
    /// The state of the last epoch.
    Last,
}

impl Default for TrainingConfig {
    fn default() -> Self {
        TrainingConfig {
            optimiser: OptimiserKind::Adam,
            learning_rate: 0.003,
            momentum: 0.9,
            square_decay: 0.9,
            average: 0.0,
            schedule: Schedule::Constant,
            schedule_epochs: 10,
            schedule_factor: 0.1,
            warm_up: 0.0,
            batch: 16,
            chunk: 100,
            padding: Padding::After,
            carry_state: false,
            epochs: 30,
            patience: 10,
            keep: StateSelection::Best,
            clip_norm: 5.0,
            max_minutes: None,
        }
    }
}

/// More chunks or steps than any memory holds: a slip of the finger.
const MOST: usize = 1_000_000;

impl InitConfig {
    /// Makes relative paths start at `folder`.
    pub(super) fn anchor(&mut self, folder: &Path) {
        self.from = self.from.take().map(|run| folder.join(run));
    }

    /// `units` is the size of the smallest layer.
    pub(super) fn check(&self, units: Option<u16>) -> Result<(), InvalidValue> {
        let optional =
            |key, value: Option<f32>| value.map_or(Ok(()), |value| not_negative(key, value.into()));
        optional("init.input_std_dev", self.input_std_dev)?;
        optional("init.recurrent_std_dev", self.recurrent_std_dev)?;
        optional("init.spectral_radius", self.spectral_radius)?;
        not_negative("init.bias_std", self.bias_std.into())?;
        positive("init.weight_deviation", self.weight_deviation.into())?;
        if self.from.is_some() && *self != (InitConfig { from: self.from.clone(), ..InitConfig::default() }) {
            return Err(invalid("init.from", "leaves nothing to draw: remove the other keys of `[init]`"));
        }
        if self.recurrent_std_dev.is_some() && self.spectral_radius.is_some() {
            let problem =
                "and `init.spectral_radius` both set the size of the recurrent weights; remove one of them";
            return Err(invalid("init.recurrent_std_dev", problem));
        }
        if let Some(units) = units.filter(|&units| self.sparse > units) {
            let problem =
                format!("must be at most the {units} units of the smallest layer, found {}", self.sparse);
            return Err(invalid("init.sparse", problem));
        }
        if !self.output_bias.is_finite() {
            return Err(invalid("init.output_bias", format!("must be finite, found {}", self.output_bias)));
        }
        Ok(())
    }
}

impl TrainingConfig {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        positive("training.learning_rate", self.learning_rate.into())?;
        share("training.momentum", self.momentum.into())?;
        share("training.square_decay", self.square_decay.into())?;
        share("training.average", self.average.into())?;
        within("training.schedule_epochs", self.schedule_epochs, 1..=MOST)?;
        within("training.schedule_factor", self.schedule_factor, 0.0..=1.0)?;
        not_negative("training.warm_up", self.warm_up)?;
        within("training.batch", self.batch, 1..=MOST)?;
        within("training.chunk", self.chunk, 0..=MOST)?;
        if self.carry_state && (self.chunk == 0 || self.padding == Padding::Before) {
            let problem = "needs `training.chunk` above 0 and `training.padding = \"after\"`";
            return Err(invalid("training.carry_state", problem));
        }
        within("training.epochs", self.epochs, 1..=MOST)?;
        within("training.patience", self.patience, 0..=MOST)?;
        not_negative("training.clip_norm", self.clip_norm.into())?;
        self.max_minutes.map_or(Ok(()), |minutes| positive("training.max_minutes", minutes))
    }
}
