//! What a latent model is: its family, its prior, and its two networks.

use anyhow::{Result, ensure};
use quaver::checkpoint::{MAX_WIDTH, ModelSpec};
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::config::{Config, Direction, Init, Latent, OutputNoise};
use crate::nn::random::{Purpose, stream};
use crate::nn::{Method, Parameters};

/// How the generative net gets at the past.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Stochastic recurrent network: a recurrent generative net reads [x_{t−1}, z_t] and says p(x_t | x_{1:t−1}, z_{1:t})
    /// (Bayer 2015, thesis, eqs. 29 to 31).
    Storn,
    /// Variational one-step predictor: a feed-forward generative net reads [h_{t−1}, z_t], where h is the last layer of the
    /// recognition net, and says p(x_t | h_{t−1}, z_t) (Bayer and Osendorfer 2014, 3.2). It must not read h_t, which has
    /// seen x_t.
    Vosp,
    /// Variational recurrent auto-encoder: both nets are bidirectional, and the generative net reads z alone
    /// (Bayer and Osendorfer 2014, 3.1).
    Vrae,
}

/// What is expected of the latent variables before anything is observed, each component by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prior {
    /// z_t ~ N(0, 1) (Bayer 2015, thesis, 4.3.2).
    #[default]
    White,
    /// z_t − z_{t−1} ~ N(0, 1), z_0 = 0 (Bayer and Osendorfer 2014, 3.3).
    Wiener,
}

/// One of the two networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Net {
    /// Its architecture.
    pub spec: ModelSpec,
    /// How it is trained.
    pub method: Method,
    /// Whether it has layers that read the sequence backwards as well.
    pub bidirectional: bool,
}

/// A latent model without its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LatentNets {
    /// How the generative net gets at the past.
    pub family: Family,
    /// What is expected of the latent variables.
    pub prior: Prior,
    /// From observations to latent variables.
    pub recognition: Net,
    /// From latent variables to observations.
    pub generative: Net,
    /// Whether the noise of the outputs is 1 while learning and then found on validation data (Bayer 2015, thesis, 4.4.2).
    pub searched_noise: bool,
}

/// The lists of numbers of a latent model, each behind the prefix of its part.
pub(super) const PREFIXES: [(&str, &str); 2] =
    [("recognition.", "recognition.backward."), ("generative.", "generative.backward.")];

impl LatentNets {
    /// The two networks that a config with a section `[latent]` asks for.
    ///
    /// # Errors
    /// When a net would be wider than the runtime takes.
    pub fn new(config: &Config, latent: &Latent, channels: usize) -> Result<Self> {
        let latents = usize::from(latent.latents);
        let recognition = config.recognition_spec(width("channels", channels)?, latent.latents);
        let last = recognition.layers.last().map_or(0, |layer| usize::from(layer.units));
        let inputs = match latent.family {
            Family::Storn => channels + latents,
            Family::Vosp => last + latents,
            Family::Vrae => latents,
        };
        let generative =
            config.generating_spec(width("inputs of the generative net", inputs)?, channels as u16);
        Ok(LatentNets {
            family: latent.family,
            prior: latent.prior,
            recognition: Net {
                spec: recognition,
                method: config.recognition_method(),
                bidirectional: latent.direction() == Direction::Bidirectional,
            },
            generative: Net {
                spec: generative,
                method: config.method(),
                bidirectional: latent.family == Family::Vrae,
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

    /// Draws the parameters of both; each part has a seed of its own. The bias of the outputs is the generative net's.
    pub fn draw(&self, init: &Init, seed: u64) -> Parameters {
        let of_recognition = Init { output_bias: 0.0, ..init.clone() };
        let nets = [(&self.recognition, &of_recognition), (&self.generative, init)];
        let mut parts = Vec::new();
        for (place, ((net, init), (prefix, backward))) in (0..).zip(nets.into_iter().zip(PREFIXES)) {
            let draw = |part: u64| {
                let seed = stream(seed, Purpose::Part { index: 2 * place + part }).next_u64();
                init.draw_for(&net.spec, net.method, seed)
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
        let shaped = |net: &Net| Parameters::shaped(&net.spec, net.method);
        let nets = [&self.recognition, &self.generative].into_iter().zip(PREFIXES);
        let parts = nets.flat_map(|(net, (prefix, backward))| {
            let back = net.bidirectional.then(|| (backward, shaped(net).without_output()));
            [(prefix, shaped(net))].into_iter().chain(back)
        });
        parameters.looks_like(&Parameters::joined(parts))
    }
}

fn width(what: &str, count: usize) -> Result<u16> {
    ensure!((1..=usize::from(MAX_WIDTH)).contains(&count), "{count} {what}; a net takes 1 to {MAX_WIDTH}");
    Ok(count as u16)
}
