//! Small latent models: two networks that fit together, with numbers of the size that training would give them.

use quaver::checkpoint::{
    CellKind, Contents, Family, Forecast, LatentSpec, Layout, Likelihood, OutputMode, Prior, Scaler, Target,
    Transfer, UnitNoise, WeightFormat, write_latent,
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
    /// How rows and outputs of the generating network relate.
    pub likelihood: Likelihood,
    /// What the outputs of the generating network are: rows, or changes of them.
    pub target: Target,
    /// How latents and outputs of the recognition network relate.
    pub recognition_likelihood: Likelihood,
    /// Layers of the recognition network.
    pub recognition: &'l [(CellKind, u16)],
    /// Layers of the generating network.
    pub generating: &'l [(CellKind, u16)],
    /// Noise on input, recurrent and output connections of both networks.
    pub noise: [UnitNoise; 3],
    /// Whether the outputs of both networks carry variance.
    pub mode: OutputMode,
}

/// Both networks, in full precision.
#[derive(Clone, Debug)]
pub struct Networks {
    /// How they belong together.
    pub spec: LatentSpec,
    /// Says q(z_t | x_{1:t}).
    pub recognition: Contents,
    /// Says p(x_t | …, z_t).
    pub generating: Contents,
}

impl LatentArchitecture<'_> {
    /// A recurrent generating network that reads the last row: three channels, two latents.
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
            recognition: &[(CellKind::Elman(Transfer::Tanh), 6)],
            generating: &[(CellKind::Lstm, 5)],
            noise: [0.9, 0.75, 0.8].map(|keep| UnitNoise::Dropout { keep }),
            mode: OutputMode::Propagating,
        }
    }

    /// The same, saying by what the next row differs from the last.
    pub fn residual_storn() -> Self {
        LatentArchitecture { target: Target::Change, ..Self::storn() }
    }

    /// A generating network without recurrence that reads the state of the recognition network.
    pub fn vosp() -> Self {
        let storn = Self::storn();
        LatentArchitecture {
            spec: LatentSpec { family: Family::Vosp, prior: Prior::Wiener, ..storn.spec },
            recognition: &[(CellKind::Elman(Transfer::Tanh), 4), (CellKind::Lstm, 5)],
            generating: &[(CellKind::Dense(Transfer::Tanh), 7)],
            ..storn
        }
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
            ..shared
        };
        let generating = Architecture {
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
        let mut generating = contents(generating, self.generating);
        recognition.output_scaler = Scaler::identity(latents.into());
        // Data are scaled; latents and units are not.
        let scaled = if family == Family::Storn { self.channels.into() } else { 0 };
        generating.input_scaler.mean[scaled..].fill(0.0);
        generating.input_scaler.std[scaled..].fill(1.0);
        Networks { spec: self.spec, recognition, generating }
    }
}

impl Networks {
    /// The checkpoint.
    ///
    /// # Errors
    /// If this is not a valid latent model.
    pub fn write(&self) -> Result<Vec<u8>, String> {
        write_latent(&self.spec, &self.recognition, &self.generating)
    }
}
