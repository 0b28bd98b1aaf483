//! The state of a run on disk: everything that is needed to continue it exactly, or to use what it has learned.

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
use crate::data::{Scaler, Scaling};
use crate::files;
use crate::nn::Parameters;

/// The checksum of checkpoints, too.
const CRC: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

/// A run after a whole number of epochs.
///
/// There is no generator of random numbers in it: what an epoch draws depends on the seed and its number alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunState<A = ModelSpec> {
    /// The architecture.
    pub spec: A,
    /// What has been learned.
    pub parameters: Parameters,
    /// Their average over the steps so far, if it is that which counts.
    pub average: Option<ParameterAverage>,
    /// What the optimiser remembers.
    pub optimiser: Optimiser,
    /// Epochs done.
    pub epoch: usize,
    /// The epoch with the lowest validation loss so far; none before the first epoch.
    pub best: Option<BestEpoch>,
    /// How often a plateau has cut the learning rate.
    pub rate_cuts: u32,
    /// From raw to standardised units.
    pub scaling: Scaling,
    /// Names of the input channels.
    pub input_names: Vec<String>,
    /// Names of the target channels.
    pub target_names: Vec<String>,
}

/// The best epoch of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct BestEpoch {
    /// Its number, counted from 1.
    pub epoch: usize,
    /// Its validation loss in nats per time step.
    pub valid_nll: f64,
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
        }
    }

    /// The parameters that count: those that are judged, evaluated and exported.
    pub(super) fn evaluated_parameters(&mut self) -> &mut Parameters {
        self.average.as_mut().map_or(&mut self.parameters, |average| &mut average.parameters)
    }

    /// The state as it is evaluated and exported.
    pub(super) fn for_evaluation(&self) -> Self {
        let mut state = self.clone();
        if let Some(average) = state.average.take() {
            state.parameters = average.parameters;
        }
        state
    }

    /// Reads a state and checks that it is whole and consistent.
    ///
    /// # Errors
    /// When the file cannot be read, is not a state, is damaged, or contradicts itself; the message names it.
    pub fn load(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read the state `{}`", path.display()))?;
        Self::decode(&bytes).with_context(|| format!("`{}` is not a usable state", path.display()))
    }

    /// Writes the state, replacing an older one in a single move.
    ///
    /// # Errors
    /// When the file cannot be written; the message names it.
    pub fn save(&self, path: &Path) -> Result<()> {
        files::replace(path, &self.encode()?)
    }

    /// Magic, state, CRC-32 of both.
    fn encode(&self) -> Result<Vec<u8>> {
        let mut bytes =
            postcard::to_extend(self, A::MAGIC.to_vec()).context("the state cannot be written down")?;
        bytes.extend(CRC.checksum(&bytes).to_le_bytes());
        Ok(bytes)
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let Some((body, crc)) = bytes.split_last_chunk::<4>() else { bail!("it is too short") };
        let Some(content) = body.strip_prefix(A::MAGIC) else {
            bail!(
                "it does not begin as a state of this version of Quaver does: train again with this version"
            );
        };
        ensure!(
            CRC.checksum(body) == u32::from_le_bytes(*crc),
            "it is damaged: its checksum does not match; use another state of the run, or train again"
        );
        let (state, rest) =
            postcard::take_from_bytes::<Self>(content).context("its content makes no sense")?;
        ensure!(rest.is_empty(), "{} bytes are left over at its end", rest.len());
        state.check()?;
        Ok(state)
    }

    /// Sizes that must agree before anything is computed.
    fn check(&self) -> Result<()> {
        let [inputs, outputs] = self.spec.channels();
        let widths = |scaler: &Scaler| (scaler.mean.len(), scaler.std_dev.len());
        ensure!(self.spec.fits(&self.parameters), "its parameters are not those of its architecture");
        ensure!(
            self.average.as_ref().is_none_or(|average| self.spec.fits(&average.parameters)),
            "its averaged parameters are not those of its architecture"
        );
        ensure!(self.optimiser.fits(&self.parameters), "its optimiser belongs to other parameters");
        ensure!(
            widths(&self.scaling.inputs) == (inputs, inputs)
                && widths(&self.scaling.targets) == (outputs, outputs)
                && (self.input_names.len(), self.target_names.len()) == (inputs, outputs),
            "its channels are not those of its architecture"
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::config::InitConfig;
    use crate::fit::optimiser::Adam;
    use crate::nn::test_spec;

    fn state() -> RunState {
        let spec = test_spec(2, 1, &[(CellKind::Lstm, 2)]);
        let parameters = InitConfig::default().parameters(&spec, 1);
        RunState {
            optimiser: Optimiser::Adam(Adam::new(&parameters)),
            average: Some(ParameterAverage::new(&parameters)),
            parameters,
            spec,
            epoch: 3,
            best: Some(BestEpoch { epoch: 2, valid_nll: 0.5 }),
            rate_cuts: 1,
            scaling: Scaling { inputs: Scaler::identity(2), targets: Scaler::identity(1) },
            input_names: vec!["a".into(), "b".into()],
            target_names: vec!["c".into()],
        }
    }

    #[test]
    fn a_state_survives_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("last.state");
        state().save(&path).unwrap();
        assert_eq!(RunState::load(&path).unwrap(), state());
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_noticed() {
        let bytes = state().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(RunState::<ModelSpec>::decode(&bytes[..length]).is_err(), "{length} bytes");
        }
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(RunState::<ModelSpec>::decode(&damaged).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_state_that_contradicts_itself_is_refused() {
        let mut other = state();
        other.spec.inputs = 3;
        let error = RunState::<ModelSpec>::decode(&other.encode().unwrap()).unwrap_err().to_string();
        assert!(error.contains("not those of its architecture"), "{error}");
    }

    #[test]
    fn errors_name_the_file() {
        let error = RunState::<ModelSpec>::load(Path::new("no/such.state")).unwrap_err().to_string();
        assert!(error.contains("no/such.state"), "{error}");
    }
}
