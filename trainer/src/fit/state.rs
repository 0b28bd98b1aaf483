//! The state of a run on disk: everything needed to resume it exactly, or to use the trained model.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use crc::{CRC_32_ISO_HDLC, Crc};
use quaver::checkpoint::ModelSpec;
use serde::{Deserialize, Serialize};

use super::architecture::Architecture;
use super::average::ParameterAverage;
use super::optimiser::Optimiser;
use crate::config::TrainingConfig;
use crate::data::{FileChecksum, InputDensity, Scaler, Scaling};
use crate::files;
use crate::nn::{NamedTensor, Parameters};
use crate::printable::unprintable_in;

/// The same checksum as that of checkpoints.
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A run after a whole number of epochs.
///
/// It contains no random generator: what an epoch draws depends only on the seed and the epoch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState<A = ModelSpec> {
    /// The architecture.
    pub spec: A,
    /// The trained parameters.
    pub parameters: Parameters,
    /// Their moving average over training, if configured.
    pub average: Option<ParameterAverage>,
    /// The optimiser with its state.
    pub optimiser: Optimiser,
    /// Epochs completed.
    pub epoch: usize,
    /// The epoch with the lowest validation loss so far; none before the first epoch.
    pub best: Option<BestEpoch>,
    /// Number of cuts of the learning rate by a plateau schedule.
    pub rate_cuts: u32,
    /// Standardisation of inputs and targets, and the density of the inputs.
    pub scaling: Scaling,
    /// Names of the input channels.
    pub input_names: Vec<String>,
    /// Names of the target channels.
    pub target_names: Vec<String>,
    /// The data files that it was trained on; none in states of earlier versions, and where the data were
    /// made in memory. Not part of the encoding: it is stored apart, behind the density.
    #[serde(skip)]
    pub data: Option<Vec<FileChecksum>>,
}

/// The best epoch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestEpoch {
    /// Its number, counted from 1; 0 is the pruned or imported network that a run began
    /// with.
    pub epoch: usize,
    /// Its validation loss in nats per time step.
    pub valid_nll: f64,
}

/// Which weights of a list pruning has left.
#[derive(Serialize, Deserialize)]
struct KeptWeights {
    name: String,
    kept: Vec<bool>,
}

impl KeptWeights {
    /// Those of all lists of which weights were pruned.
    fn of(parameters: &Parameters) -> Vec<Self> {
        let list =
            |list: &NamedTensor| Some(KeptWeights { name: list.name.clone(), kept: list.kept.clone()? });
        parameters.tensors.iter().filter_map(list).collect()
    }
}

impl<A: Architecture> RunState<A> {
    /// The state before the first epoch, with the names of inputs and targets.
    pub(crate) fn first(
        spec: A,
        parameters: Parameters,
        training: &TrainingConfig,
        scaling: Scaling,
        [input_names, target_names]: [Vec<String>; 2],
    ) -> Self {
        RunState {
            spec,
            optimiser: Optimiser::new(training, &parameters),
            average: (training.average > 0.0).then(|| ParameterAverage::new(&parameters)),
            parameters,
            epoch: 0,
            best: None,
            rate_cuts: 0,
            scaling,
            input_names,
            target_names,
            data: None,
        }
    }

    /// The parameters that are validated, evaluated and exported.
    pub(super) fn evaluated_parameters(&mut self) -> &mut Parameters {
        self.average.as_mut().map_or(&mut self.parameters, |average| &mut average.parameters)
    }

    /// The state with the parameters that are evaluated and exported.
    pub(super) fn for_evaluation(&self) -> Self {
        let mut state = self.clone();
        if let Some(average) = state.average.take() {
            state.parameters = average.parameters;
        }
        state
    }

    /// Reads a state and checks its integrity.
    ///
    /// # Errors
    /// When the file cannot be read, is not a state, is damaged, or is inconsistent; the message names it.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read the state `{}`", path.display()))?;
        Self::decode(&bytes).with_context(|| format!("`{}` is not a usable state", path.display()))
    }

    /// Writes the state, replacing an older one atomically.
    ///
    /// # Errors
    /// When the file cannot be written; the message names it.
    pub fn save(&self, path: &Path) -> Result<()> {
        files::replace(path, &self.encode()?)
    }

    /// Magic, state, density of the inputs, data files, pruned weights and linear part if there are any, and
    /// CRC-32 of all. A part that is missing before another is stored as one of no channels, or as no files.
    ///
    /// # Errors
    /// When a part cannot be encoded.
    pub fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes =
            postcard::to_extend(self, A::MAGIC.to_vec()).context("the state cannot be encoded")?;
        let pruned = KeptWeights::of(&self.parameters);
        let (no_files, absent) =
            (Vec::new(), InputDensity { precision: Vec::new(), low: Vec::new(), high: Vec::new() });
        let linear = self.scaling.linear.as_ref();
        let pruned = Some(pruned).filter(|pruned| !pruned.is_empty() || linear.is_some());
        let data = self.data.as_ref().or(pruned.is_some().then_some(&no_files));
        let density = self.scaling.density.as_ref().or(data.map(|_| &absent));
        if let Some(density) = density {
            bytes = postcard::to_extend(density, bytes).context("the density cannot be encoded")?;
        }
        if let Some(data) = data {
            bytes = postcard::to_extend(data, bytes).context("the data files cannot be encoded")?;
        }
        if let Some(pruned) = pruned {
            bytes = postcard::to_extend(&pruned, bytes).context("the pruned weights cannot be encoded")?;
        }
        if let Some(linear) = linear {
            bytes = postcard::to_extend(linear, bytes).context("the linear part cannot be encoded")?;
        }
        bytes.extend(CRC.checksum(&bytes).to_le_bytes());
        Ok(bytes)
    }

    /// The state in the bytes of a file.
    ///
    /// # Errors
    /// When they are not a state, are damaged, or are inconsistent.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let Some((body, crc)) = bytes.split_last_chunk::<4>() else { bail!("it is too short") };
        let Some(content) = body.strip_prefix(A::MAGIC) else {
            bail!("it is not a state of this version of Quaver: train again with this version");
        };
        ensure!(
            CRC.checksum(body) == u32::from_le_bytes(*crc),
            "it is damaged: its checksum does not match; use another state of the run, or train again"
        );
        let (mut state, mut rest) =
            postcard::take_from_bytes::<Self>(content).context("its contents cannot be decoded")?;
        // States of earlier versions end here.
        if !rest.is_empty() {
            let density: InputDensity;
            (density, rest) =
                postcard::take_from_bytes(rest).context("its density of the inputs cannot be decoded")?;
            state.scaling.density = Some(density).filter(|density| !density.precision.is_empty());
        }
        if !rest.is_empty() {
            let data;
            (data, rest) = postcard::take_from_bytes(rest).context("its data files cannot be decoded")?;
            state.data = Some(data);
        }
        if !rest.is_empty() {
            let pruned: Vec<KeptWeights>;
            (pruned, rest) =
                postcard::take_from_bytes(rest).context("its pruned weights cannot be decoded")?;
            state.data = state.data.filter(|files| !files.is_empty());
            state.prune(&pruned)?;
        }
        if !rest.is_empty() {
            let linear;
            (linear, rest) = postcard::take_from_bytes(rest).context("its linear part cannot be decoded")?;
            state.scaling.linear = Some(linear);
        }
        ensure!(rest.is_empty(), "it has {} extra bytes at its end", rest.len());
        state.check()?;
        Ok(state)
    }

    /// Marks the weights that pruning has left.
    fn prune(&mut self, pruned: &[KeptWeights]) -> Result<()> {
        let averaged = self.average.as_mut().map(|average| &mut average.parameters);
        for parameters in [Some(&mut self.parameters), averaged].into_iter().flatten() {
            for KeptWeights { name, kept } in pruned {
                let list = parameters.get_mut(name).filter(|list| list.values.len() == kept.len());
                list.context("its pruned weights are not those of its architecture")?.kept =
                    Some(kept.clone());
            }
        }
        Ok(())
    }

    /// Checks that all sizes agree.
    fn check(&self) -> Result<()> {
        let ([inputs, outputs], [input_width, target_width]) = (self.spec.channels(), self.spec.row_widths());
        let widths = |scaler: &Scaler| (scaler.mean.len(), scaler.std_dev.len());
        ensure!(self.spec.fits(&self.parameters), "its parameters are not those of its architecture");
        ensure!(
            self.average.as_ref().is_none_or(|average| self.spec.fits(&average.parameters)),
            "its averaged parameters are not those of its architecture"
        );
        ensure!(self.optimiser.fits(&self.parameters), "its optimiser belongs to other parameters");
        ensure!(
            widths(&self.scaling.inputs) == (input_width, input_width)
                && widths(&self.scaling.targets) == (target_width, target_width)
                && (self.input_names.len(), self.target_names.len()) == (inputs, outputs),
            "its channels are not those of its architecture"
        );
        for name in self.input_names.iter().chain(&self.target_names) {
            ensure!(
                unprintable_in(name).is_none(),
                "the channel name `{}` has control characters: rename the column, and train again",
                name.escape_default()
            );
        }
        ensure!(
            self.scaling.density.as_ref().is_none_or(|density| density.fits(inputs)),
            "the density of its inputs is not that of its channels"
        );
        ensure!(
            self.scaling.linear.as_ref().is_none_or(|linear| linear.fits(inputs, outputs)),
            "its linear part is not that of its channels"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests;
