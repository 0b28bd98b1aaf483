//! Optional parts of a checkpoint beyond its network.

/// Optional parts of a checkpoint beyond its network; none by default.
///
/// They need format version 3, ranges version 4, and a linear part version 5. A model without any is written
/// as version 2, which older readers accept.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Extensions {
    /// Density of the input rows: imputation of missing channels, and a measure of how unusual a row is.
    pub density: Option<DensitySpec>,
    /// Error bars whose width follows the stream.
    pub tracking: Option<TrackingSpec>,
    /// Whether quantiles of the residuals are stored, for intervals of outputs that are not normal.
    pub quantiles: bool,
    /// Detection of faulty channels.
    pub anomaly: Option<AnomalySpec>,
    /// Whether plausible ranges of the inputs are stored: a value outside is missing, and counted.
    pub ranges: bool,
    /// A linear prediction that is added to the outputs of the network, or takes its place.
    pub linear: Option<LinearSpec>,
}

impl Extensions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Extensions::default()
    }
}

/// Use of the input density (module [`density`](crate::density)).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DensitySpec {
    /// What a missing channel is imputed by.
    pub imputation: Imputation,
    /// Squared Mahalanobis distance per present channel up to which a row counts as familiar.
    pub familiar: f32,
    /// Growth g of the outputs' variances with unfamiliar rows: a factor 1 + g · max(0, distance −
    /// `familiar`). 0 switches it off.
    pub widening: f32,
}

/// Adaptive conformal calibration (module [`conformal`](crate::conformal)): the factor on each output's
/// variance follows the truth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TrackingSpec {
    /// Step γ of the logarithm of the standard deviation's factor, above 0 and at most 1.
    pub rate: f32,
    /// Wanted rate α of truths outside the interval, above 0 and below 1.
    pub miss_rate: f32,
    /// Bound B on the magnitude of that logarithm, above 0 and at most 10.
    pub bound: f32,
}

impl Default for TrackingSpec {
    /// Intervals of 90 %, corrected by 1.8 % after a miss and 0.2 % after a hit, at most a thousandfold.
    fn default() -> Self {
        TrackingSpec { rate: 0.02, miss_rate: 0.1, bound: 6.9 }
    }
}

/// Detection of faulty channels (module [`anomaly`](crate::anomaly)).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AnomalySpec {
    /// Window of the moving averages in rows, at least 1.
    pub window: u16,
}

/// Linear prediction from the last rows (module [`linear`](crate::linear)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct LinearSpec {
    /// Rows that it reads, the newest included: at least 1, and at most 4096 values in all.
    pub rows: u16,
}

/// What a missing channel is imputed by.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Imputation {
    /// Its conditional distribution given the channels that are present.
    Conditional,
    /// The same, combined with the model's own prediction of the channel; for models that predict their next
    /// input. A model that is fed its own predictions for long drifts, and is wrong in the same direction at
    /// every step, which independent variances understate. Hence each prediction that takes the place of a
    /// reading first forgets: in standardised units, m ← (1 − d) m and v ← (1 − d)² i v + 1 − (1 − d)², with
    /// the decay d and the inflation i. In a long gap its variance approaches that of the training data, and
    /// the conditional remains.
    Combined {
        /// Decay d per row, 0 to 1.
        decay: f32,
        /// Inflation i of the variance, at least 1.
        inflation: f32,
    },
    /// The conditional, combined as above with the model's own estimate of the channel in the row before; for
    /// models that estimate their inputs without noise. The network averages over rows whose errors it takes
    /// as independent, while an imputed value is wrong in the same direction for the whole gap. Hence the
    /// variance w of the channel's own output is not left below that of the imputed value, v: w ← w + s
    /// max(0, v − w). In a gap v follows from w of the row before, and grows by the decay and the inflation.
    LastEstimate {
        /// Decay d per row, 0 to 1.
        decay: f32,
        /// Inflation i of the variance, at least 1.
        inflation: f32,
        /// Share s of the imputed variance that lasts, 0 to 1.
        share: f32,
    },
}
