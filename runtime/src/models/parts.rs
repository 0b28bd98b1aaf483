//! What a model holds: views of the sections of its checkpoint, loaded at run time or known while compiling.

use core::fmt::Debug;

use super::input::{RawRow, Reading};
use super::input_density::{ImputedRow, InputDensity};
use super::linear_part::LinearPart;
use super::monitor::Monitor;
use super::outputs::impute;
use super::tracking::Tracking;
use crate::backend::NetworkMemory;
use crate::checkpoint::Checkpoint;
use crate::format::{Cursor, F32s, Vector};
use crate::moments::Moments;
use crate::spec::{AnyArchitecture, Architecture, Extensions, ModelSpec, Uses};

/// Where a [`Model`](crate::Model) comes from: [`Loaded`] from bytes at run time, or a type that
/// [`embed_model!`](crate::embed_model) defines and of which everything is known while compiling.
///
/// Not to be implemented elsewhere.
pub trait Known: Architecture + Clone + Debug {
    /// The sections of the checkpoint.
    #[doc(hidden)]
    fn parts(&self) -> &Parts<'_>;

    /// Words of memory of a stream.
    #[doc(hidden)]
    fn memory(&self) -> NetworkMemory;

    /// Calibration that follows the stream.
    #[doc(hidden)]
    fn tracking(&self) -> Option<Tracking<'_>>;
}

/// A model that was loaded at run time: nothing is known of it while compiling.
#[derive(Clone, Debug)]
pub struct Loaded<'m> {
    pub(super) parts: Parts<'m>,
    tracking: Option<Tracking<'m>>,
}

impl<'m> Loaded<'m> {
    /// The model of a checked checkpoint.
    pub(super) fn new(checkpoint: Checkpoint<'m>) -> Self {
        let parts = Parts::new(checkpoint);
        Loaded { tracking: parts.new_tracking(), parts }
    }
}

impl Architecture for Loaded<'_> {
    const SPEC: Option<&'static ModelSpec> = AnyArchitecture::SPEC;
    const USES: Uses = AnyArchitecture::USES;
    const MAPS: Option<[&'static [u8]; 2]> = AnyArchitecture::MAPS;
}

impl Known for Loaded<'_> {
    #[inline(always)]
    fn parts(&self) -> &Parts<'_> {
        &self.parts
    }

    fn memory(&self) -> NetworkMemory {
        self.parts.checkpoint.spec().memory()
    }

    #[inline(always)]
    fn tracking(&self) -> Option<Tracking<'_>> {
        self.tracking
    }
}

/// The sections of a checkpoint of one network.
#[derive(Clone, Debug)]
pub struct Parts<'m> {
    pub(super) checkpoint: Checkpoint<'m>,
    pub(super) input_mean: F32s<'m>,
    pub(super) input_std_dev: F32s<'m>,
    pub(super) output_mean: F32s<'m>,
    pub(super) output_std_dev: F32s<'m>,
    pub(super) noise_var: F32s<'m>,
    pub(super) calibration: F32s<'m>,
    pub(super) density: Option<InputDensity<'m>>,
    /// Quantiles of residuals by output and level; empty if intervals are those of normal distributions.
    pub(super) quantiles: F32s<'m>,
    pub(super) monitor: Option<Monitor<'m>>,
    /// Plausible range of each input; empty without ranges.
    pub(super) ranges: F32s<'m>,
    pub(super) linear: Option<LinearPart<'m>>,
    /// The payload from the first layer on.
    pub(super) weights: Cursor<'m>,
}

impl<'m> Parts<'m> {
    /// The sections of a checked checkpoint.
    pub(super) const fn new(checkpoint: Checkpoint<'m>) -> Self {
        let (mut cursor, spec) = (checkpoint.cursor(), checkpoint.spec());
        let [input, output] =
            [[Vector::InputMean, Vector::InputStdDev], [Vector::OutputMean, Vector::OutputStdDev]];
        let (input_mean, input_std_dev) = (cursor.vector(input[0], spec), cursor.vector(input[1], spec));
        let (output_mean, output_std_dev) = (cursor.vector(output[0], spec), cursor.vector(output[1], spec));
        let [
            noise_var,
            calibration,
            precision,
            low,
            high,
            quantiles,
            row_limits,
            channel_limits,
            ranges,
            numbers,
        ] = cursor.last_vectors(spec);
        let Extensions { density, anomaly, linear, .. } = spec.extensions;
        Parts {
            input_mean,
            input_std_dev,
            output_mean,
            output_std_dev,
            noise_var,
            calibration,
            density: match density {
                Some(spec) => Some(InputDensity { spec, precision, low, high }),
                None => None,
            },
            quantiles,
            monitor: match anomaly {
                Some(spec) => Some(Monitor::new(spec, row_limits, channel_limits)),
                None => None,
            },
            ranges,
            linear: match linear {
                Some(_) => Some(LinearPart(numbers)),
                None => None,
            },
            weights: cursor,
            checkpoint,
        }
    }

    /// What tracking needs beyond the checkpoint, computed from it.
    pub(super) fn new_tracking(&self) -> Option<Tracking<'m>> {
        let Extensions { tracking, quantiles, .. } = self.checkpoint.spec().extensions;
        tracking.map(|spec| Tracking::new(spec, quantiles.then_some(self.quantiles)))
    }
}

/// What steps ask of a model.
pub(super) trait Network: Known {
    /// The architecture; a constant if it is known.
    #[inline(always)]
    fn spec(&self) -> &ModelSpec {
        Self::known_spec(self.parts().checkpoint.spec())
    }

    /// Moments of an input channel; without a reading, its training mean and variance.
    fn standardised(&self, channel: usize, reading: Option<Reading>) -> Moments {
        let marginal = Moments { mean: 0.0, var: 1.0 };
        let parts = self.parts();
        let (mean, std_dev) = (parts.input_mean.at(channel), parts.input_std_dev.at(channel));
        reading.map_or(marginal, |reading| reading.standardised(mean, std_dev))
    }

    /// Moments of an input channel of a sample; if it is missing, as in `imputed`, or by what was
    /// `predicted` for it if there is no input density.
    ///
    /// Without a sample it is the training mean without variance: what the first sample is predicted from, as
    /// in training.
    fn input(
        &self,
        row: Option<&RawRow<'_>>,
        channel: usize,
        imputed: ImputedRow<'_>,
        predicted: [&[f32]; 3],
    ) -> Moments {
        let Some(row) = row else { return Moments::default() };
        let reading = row.reading(channel);
        if reading.is_none() && self.parts().density.is_some() {
            return imputed.at(channel);
        }
        // Outputs are predictions of the inputs only if the model predicts those.
        let next = self.spec().target.is_next();
        let prediction = || if next { impute(predicted, channel) } else { None };
        self.standardised(channel, reading.or_else(prediction))
    }
}

impl<K: Known> Network for K {}
