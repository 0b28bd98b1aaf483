//! Small latent models: two networks that fit together, with numbers of the size that training would give
//! them.

use quaver::checkpoint::{
    Activation, AutoregressivePrior, CellKind, Contents, Extensions, Family, FittedPrior, Forecast,
    LatentSpec, Layout, Likelihood, OutputMode, Prior, Scaler, Target, UnitNoise, WeightFormat, WriteError,
    write_latent,
};

use crate::golden::{Architecture, randomise};
use crate::numbers::Numbers;

/// The choices that make one latent model.
#[derive(Clone, Copy, Debug)]
pub struct LatentArchitecture<'l> {
    /// Family, prior, number of latents and forecast.
    pub spec: LatentSpec,
    /// Channels per row.
    pub channels: u16,
    /// How rows and outputs of the generative network relate.
    pub likelihood: Likelihood,
    /// What the outputs of the generative network are: rows, or residuals of them.
    pub target: Target,
    /// How latents and outputs of the recognition network relate.
    pub recognition_likelihood: Likelihood,
    /// Layers of the recognition network.
    pub recognition: &'l [(CellKind, u16)],
    /// Layers of the generative network.
    pub generative: &'l [(CellKind, u16)],
    /// Noise on input, recurrent and output connections of both networks.
    pub noise: [UnitNoise; 3],
    /// Whether the outputs of both networks carry variance.
    pub mode: OutputMode,
    /// Whether predictions have a prior of their own, and rows a noise.
    pub fitted: bool,
    /// Whether rows have plausible ranges.
    pub ranges: bool,
}

/// Both networks, in full precision.
#[derive(Clone, Debug)]
pub struct Networks {
    /// How they belong together.
    pub spec: LatentSpec,
    /// Says q(z_t | x_{1:t}).
    pub recognition: Contents,
    /// Says p(x_t | …, z_t).
    pub generative: Contents,
    /// What was fitted after training.
    pub fitted: FittedPrior,
}

impl LatentArchitecture<'_> {
    /// A recurrent generative network that reads the last row: three channels, two latents.
    pub fn storn() -> Self {
        LatentArchitecture {
            spec: LatentSpec {
                family: Family::Storn,
                prior: Prior::White,
                latents: 2,
                forecast: Forecast::Moments,
            },
            channels: 3,
            likelihood: Likelihood::Gaussian,
            target: Target::Columns,
            recognition_likelihood: Likelihood::Heteroscedastic,
            recognition: &[(CellKind::Elman(Activation::Tanh), 6)],
            generative: &[(CellKind::Lstm, 5)],
            noise: [0.9, 0.75, 0.8].map(|keep| UnitNoise::Dropout { keep }),
            mode: OutputMode::Propagating,
            fitted: false,
            ranges: false,
        }
    }

    /// The same, saying by what the next row differs from the last.
    pub fn residual_storn() -> Self {
        LatentArchitecture { target: Target::ResidualNext, ..Self::storn() }
    }

    /// A generative network without recurrence that reads the state of the recognition network.
    pub fn vosp() -> Self {
        let storn = Self::storn();
        LatentArchitecture {
            spec: LatentSpec { family: Family::Vosp, prior: Prior::Wiener, ..storn.spec },
            recognition: &[(CellKind::Elman(Activation::Tanh), 4), (CellKind::Lstm, 5)],
            generative: &[(CellKind::Dense(Activation::Tanh), 7)],
            ..storn
        }
    }

    /// A denoiser whose predictions have a prior that was fitted after training.
    pub fn fitted_vosp() -> Self {
        LatentArchitecture { fitted: true, ..Self::vosp() }
    }

    /// What is fitted after training, from numbers that depend on `label` alone.
    fn fitted_prior(self, label: &str) -> FittedPrior {
        if !self.fitted {
            return FittedPrior::default();
        }
        let mut numbers = Numbers::new(&format!("{label}, prior"));
        let mut latent = |_| AutoregressivePrior {
            mean: numbers.between(-0.5, 0.5),
            var: numbers.between(0.2, 1.5),
            decay: numbers.between(-0.3, 0.98),
        };
        let latents = (0..self.spec.latents).map(&mut latent).collect();
        FittedPrior { latents, row_noise: (0..self.channels).map(|_| numbers.between(0.01, 0.5)).collect() }
    }

    /// The networks, with weights that depend on `label` alone.
    pub fn networks(self, label: &str, format: WeightFormat, layout: Layout) -> Networks {
        let LatentSpec { family, latents, .. } = self.spec;
        let units = self.recognition.last().map_or(0, |(_, units)| *units);
        let reads = match family {
            Family::Storn => self.channels,
            Family::Vosp => units,
        };
        let shared = Architecture { noise: self.noise, mode: self.mode, ..Architecture::default() };
        let recognition = Architecture {
            inputs: self.channels,
            outputs: latents,
            likelihood: self.recognition_likelihood,
            extensions: Extensions { ranges: self.ranges, ..Extensions::default() },
            ..shared
        };
        let generative = Architecture {
            inputs: reads + latents,
            outputs: self.channels,
            target: self.target,
            likelihood: self.likelihood,
            ..shared
        };
        let mut numbers = Numbers::new(label);
        let mut contents = |architecture: Architecture, layers| {
            let mut contents = Contents::zeros(architecture.spec(layers, format));
            contents.spec.layout = layout;
            randomise(&mut contents, &mut numbers);
            contents
        };
        let mut recognition = contents(recognition, self.recognition);
        let mut generative = contents(generative, self.generative);
        recognition.output_scaler = Scaler::identity(latents.into());
        // Data are scaled; latents and units are not.
        let scaled = if family == Family::Storn { self.channels.into() } else { 0 };
        generative.input_scaler.mean[scaled..].fill(0.0);
        generative.input_scaler.std_dev[scaled..].fill(1.0);
        Networks { spec: self.spec, recognition, generative, fitted: self.fitted_prior(label) }
    }
}

impl Networks {
    /// The checkpoint.
    ///
    /// # Errors
    /// If this is not a valid latent model.
    pub fn write(&self) -> Result<Vec<u8>, WriteError> {
        write_latent(&self.spec, &self.recognition, &self.generative, &self.fitted)
    }
}
