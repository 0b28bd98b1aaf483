//! The section `[training]`: optimiser, batches, and when training stops.

use serde::{Deserialize, Serialize};

use super::limits::{InvalidValue, Limits, Rule, check_rules, invalid, optional};

/// The section `[training]`: optimiser, batches, and when training stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainingConfig {
    /// The optimiser; RMSProp and Adadelta use Nesterov momentum.
    pub optimiser: OptimiserKind,
    /// Step size. Adadelta adapts its own: 1 leaves it unchanged.
    pub learning_rate: f32,
    /// Momentum γ of RMSProp and Adadelta.
    pub momentum: f32,
    /// Decay rate of the average squared gradient in RMSProp and Adadelta.
    pub square_decay: f32,
    /// Decay rate of the moving average of the parameters (Polyak averaging): 0 for none, 0.999 for an
    /// average over about a thousand steps. The average is what is validated, evaluated and exported.
    pub average: f32,
    /// Learning-rate schedule.
    pub schedule: Schedule,
    /// Epochs of the schedule. Cosine: until the rate is lowest. Step: between two cuts. Plateau: without a
    /// lower validation loss until a cut.
    pub schedule_epochs: usize,
    /// Factor of the schedule. Cosine: lowest rate as a fraction of the first. Step and plateau: factor of a
    /// cut.
    pub schedule_factor: f32,
    /// Epochs before the schedule begins. Cosine and step only.
    pub schedule_start: usize,
    /// Epochs over which the learning rate rises linearly from zero.
    pub warm_up: f64,
    /// Chunks per batch.
    pub batch: usize,
    /// Time steps per chunk; 0 for whole sequences.
    pub chunk: usize,
    /// Where chunks that are shorter than the longest of their batch are padded.
    pub padding: Padding,
    /// Truncated backpropagation through time with carried state: a chunk starts from the final state of the
    /// chunk before it, without gradients; otherwise every chunk starts from zero.
    pub carry_state: bool,
    /// Maximum number of passes over the training data.
    pub epochs: usize,
    /// Early stopping: epochs without a lower validation loss after which training stops; 0 for never.
    pub patience: usize,
    /// Which state is evaluated and exported. With `"last"`, neither early stopping nor a plateau schedule
    /// looks at the validation loss, so validation data may then be part of the training data.
    pub keep: StateSelection,
    /// Whether the learned noise variance of a predictor is refitted for the state that is evaluated and
    /// exported: the one that makes the validation targets most likely, given the predicted means and
    /// propagated variances. Training rows would give one that is too small, and few epochs one that is still
    /// on its way. The validation loss in the metrics is that before refitting.
    pub refit_noise: bool,
    /// Maximum norm of the gradient over all parameters, to which larger ones are scaled down; 0 for no
    /// limit.
    pub clip_norm: f32,
    /// Time limit in minutes; none if not set.
    pub max_minutes: Option<f64>,
}

/// Value of `training.optimiser`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserKind {
    /// Adam (Kingma and Ba 2015).
    Adam,
    /// RMSProp (Tieleman and Hinton 2012).
    Rmsprop,
    /// Adadelta (Zeiler 2012).
    Adadelta,
    /// Stochastic gradient descent without momentum.
    Sgd,
}

/// Value of `training.schedule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Schedule {
    /// The rate stays the same.
    Constant,
    /// The rate falls along half a cosine.
    Cosine,
    /// The rate is cut every `schedule_epochs` epochs.
    Step,
    /// The rate is cut whenever the validation loss has not improved for `schedule_epochs` epochs.
    Plateau,
}

/// Value of `training.padding`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Padding {
    /// At their end.
    After,
    /// At their start: the network runs on zeros before the chunk begins (Bayer 2015, thesis, 2.5.2).
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
            schedule_start: 0,
            warm_up: 0.0,
            batch: 16,
            chunk: 100,
            padding: Padding::After,
            carry_state: false,
            epochs: 30,
            patience: 10,
            keep: StateSelection::Best,
            refit_noise: true,
            clip_norm: 5.0,
            max_minutes: None,
        }
    }
}

/// More chunks, steps or epochs than any run has: a typing error.
const MAX_COUNT: f64 = 1_000_000.0;

impl TrainingConfig {
    pub(super) const RULES: [Rule<Self>; 14] = [
        Rule::new("learning_rate", Limits::POSITIVE, |training| vec![training.learning_rate.into()]),
        Rule::new("momentum", Limits::BELOW_ONE, |training| vec![training.momentum.into()]),
        Rule::new("square_decay", Limits::BELOW_ONE, |training| vec![training.square_decay.into()]),
        Rule::new("average", Limits::BELOW_ONE, |training| vec![training.average.into()]),
        Rule::new("schedule_epochs", Limits::closed(1.0, MAX_COUNT), |training| {
            vec![training.schedule_epochs as f64]
        }),
        Rule::new("schedule_factor", Limits::closed(0.0, 1.0), |training| {
            vec![training.schedule_factor.into()]
        }),
        Rule::new("schedule_start", Limits::closed(0.0, MAX_COUNT), |training| {
            vec![training.schedule_start as f64]
        }),
        Rule::new("warm_up", Limits::NOT_NEGATIVE, |training| vec![training.warm_up]),
        Rule::new("batch", Limits::closed(1.0, MAX_COUNT), |training| vec![training.batch as f64]),
        Rule::new("chunk", Limits::closed(0.0, MAX_COUNT), |training| vec![training.chunk as f64]),
        Rule::new("epochs", Limits::closed(1.0, MAX_COUNT), |training| vec![training.epochs as f64]),
        Rule::new("patience", Limits::closed(0.0, MAX_COUNT), |training| vec![training.patience as f64]),
        Rule::new("clip_norm", Limits::NOT_NEGATIVE, |training| vec![training.clip_norm.into()]),
        Rule::new("max_minutes", Limits::POSITIVE, |training| optional(training.max_minutes)),
    ];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        check_rules("training", self, &Self::RULES)?;
        if self.carry_state && (self.chunk == 0 || self.padding == Padding::Before) {
            let problem = "needs `training.chunk` above 0 and `training.padding = \"after\"`";
            return Err(invalid("training.carry_state", problem));
        }
        Ok(())
    }
}
