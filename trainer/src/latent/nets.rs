//! The architecture of a latent model: its family, its prior, and its two networks.

use anyhow::{Result, ensure};
use quaver::checkpoint::{MAX_WIDTH, ModelSpec, Prior, Target};
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::config::{Config, Direction, InitConfig, LatentConfig, LatentFamily, NetworkConfig, OutputNoise};
use crate::nn::{Parameters, TrainingMethod, model_spec};
use crate::random::{Purpose, stream};

/// One of the two networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentNet {
    /// Its architecture.
    pub spec: ModelSpec,
    /// How it is trained.
    pub method: TrainingMethod,
    /// Whether it also has layers that read the sequence backwards.
    pub bidirectional: bool,
}

/// A latent model without its parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentNets {
    /// What the generative network reads.
    pub family: LatentFamily,
    /// The prior of the latent variables.
    pub prior: Prior,
    /// From observations to latent variables.
    pub recognition: LatentNet,
    /// From latent variables to observations.
    pub generative: LatentNet,
    /// Whether the noise variance of the outputs is 1 in training and then fitted to validation data (Bayer
    /// 2015, thesis, 4.4.2).
    pub searched_noise: bool,
}

/// The prefixes of the parameters of both networks: forward, backward.
pub(super) const PREFIXES: [(&str, &str); 2] =
    [("recognition.", "recognition.backward."), ("generative.", "generative.backward.")];

impl LatentNets {
    /// The two networks of a config with a section `[latent]`.
    ///
    /// # Errors
    /// When a network would be wider than the runtime supports.
    pub fn new(config: &Config, latent: &LatentConfig, channels: usize) -> Result<Self> {
        let latents = usize::from(latent.latents);
        let networks = [config.recognition_network(), config.network()];
        let recognition = recognition_spec(&networks[0], width("channels", channels)?, latent.latents);
        let last = recognition.layers.last().map_or(0, |layer| usize::from(layer.units));
        let inputs = match latent.family {
            LatentFamily::Storn => channels + latents,
            LatentFamily::Vosp => last + latents,
            LatentFamily::Vrae => latents,
        };
        let generative = generative_spec(
            &networks[1],
            width("inputs of the generative network", inputs)?,
            channels as u16,
        );
        Ok(LatentNets {
            family: latent.family,
            prior: latent.prior,
            recognition: LatentNet {
                spec: recognition,
                method: TrainingMethod::from(&networks[0]),
                bidirectional: latent.direction() == Direction::Bidirectional,
            },
            generative: LatentNet {
                spec: generative,
                method: TrainingMethod::from(&networks[1]),
                bidirectional: latent.family == LatentFamily::Vrae,
            },
            searched_noise: latent.noise == OutputNoise::Fixed,
        })
    }

    /// Latent variables per step.
    pub fn latents(&self) -> usize {
        self.recognition.spec.outputs.into()
    }

    /// Channels per row.
    pub fn channels(&self) -> usize {
        self.generative.spec.outputs.into()
    }

    /// Whether a row can be predicted from the rows before it.
    pub fn is_causal(&self) -> bool {
        !self.recognition.bidirectional && !self.generative.bidirectional
    }

    /// Initial parameters of both networks, each with its own seed. `init.output_bias` applies to the
    /// generative network.
    pub fn init_parameters(&self, init: &InitConfig, seed: u64) -> Parameters {
        let of_recognition = InitConfig { output_bias: 0.0, ..init.clone() };
        let nets = [(&self.recognition, &of_recognition), (&self.generative, init)];
        let mut parts = Vec::new();
        for (place, ((net, init), (prefix, backward))) in (0..).zip(nets.into_iter().zip(PREFIXES)) {
            let draw = |part: u64| {
                let seed = stream(seed, Purpose::Part { index: 2 * place + part }).next_u64();
                init.parameters_for(&net.spec, net.method, seed)
            };
            parts.push((prefix, draw(0)));
            if net.bidirectional {
                parts.push((backward, draw(1).without_output()));
            }
        }
        Parameters::joined(parts)
    }

    /// Whether these are the parameters of both.
    pub fn fits(&self, parameters: &Parameters) -> bool {
        let shaped = |net: &LatentNet| Parameters::zeros_for(&net.spec, net.method);
        let nets = [&self.recognition, &self.generative].into_iter().zip(PREFIXES);
        let parts = nets.flat_map(|(net, (prefix, backward))| {
            let backward_layers = net.bidirectional.then(|| (backward, shaped(net).without_output()));
            [(prefix, shaped(net))].into_iter().chain(backward_layers)
        });
        parameters.has_shapes_of(&Parameters::joined(parts))
    }
}

/// The recognition network: from `inputs` channels to the moments of the latent variables.
fn recognition_spec(network: &NetworkConfig, inputs: u16, latents: u16) -> ModelSpec {
    model_spec(network, inputs, latents, Target::Columns)
}

/// The generative network: from `inputs` numbers, including the latent variables, to the moments of the
/// channels.
fn generative_spec(network: &NetworkConfig, inputs: u16, channels: u16) -> ModelSpec {
    let target = if network.model.residual { Target::ResidualNext } else { Target::Columns };
    model_spec(network, inputs, channels, target)
}

fn width(what: &str, count: usize) -> Result<u16> {
    ensure!(
        (1..=usize::from(MAX_WIDTH)).contains(&count),
        "{count} {what}; a network takes 1 to {MAX_WIDTH}"
    );
    Ok(count as u16)
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::{CellKind, Likelihood};

    use super::*;

    const VOSP: &str =
        "latent = { family = \"vosp\", latents = 3, prior = \"wiener\" }\n[model]\ncell = \"dense-tanh\"\n";

    fn parse(lines: &str) -> Config {
        let text = format!("data = {{ train = \"a.csv\", targets = \"next\" }}\n{lines}");
        Config::parse("test.toml", &text, &[]).unwrap()
    }

    #[test]
    fn nets_are_described_by_their_sections() {
        let config = parse(&format!("{VOSP}layers = [8]\n[recognition]\nlayers = [5, 4]"));
        let recognition = recognition_spec(&config.recognition_network(), 2, 3);
        assert_eq!((recognition.inputs, recognition.outputs, recognition.layers.len()), (2, 3, 2));
        assert_eq!(
            recognition.layers[0].cell,
            CellKind::Lstm,
            "a net without memory is no default for one with"
        );
        assert_eq!(recognition.likelihood, Likelihood::Heteroscedastic);
        let generative = generative_spec(&config.network(), 7, 2);
        assert_eq!((generative.inputs, generative.outputs, generative.layers[0].units), (7, 2, 8));
        let plain =
            parse("latent = { family = \"storn\", latents = 3 }\n[model]\ncell = \"tanh\"\nlayers = [6]");
        let recognition = recognition_spec(&plain.recognition_network(), 2, 3);
        assert_eq!((recognition.layers[0].cell, recognition.layers[0].units), (plain.model.cell.into(), 6));
    }

    #[test]
    fn a_propagated_variance_is_learned_with_its_keep_probabilities() {
        let lines = "latent = { family = \"storn\", latents = 1, variance = \"propagated\" }\n\
                     recognition = { noise = { output_keep = 0.9 } }";
        let config = parse(lines);
        let method = TrainingMethod::from(&config.recognition_network());
        assert!(method.implicit_variance && method.learned_keep && method.scale_min == Some(0.1));
        assert_eq!(recognition_spec(&config.recognition_network(), 1, 1).likelihood, Likelihood::Gaussian);
        assert!(
            !TrainingMethod::from(&config.network()).learned_keep,
            "the generative net's are chosen, not learned"
        );
    }
}
