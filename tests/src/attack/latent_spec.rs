//! Latent models, at and just beyond their bounds.

use quaver::checkpoint::{
    Activation, CellKind, Family, Forecast, Kind, LatentCheckpoint, LatentSpec, Layout, Likelihood,
    MAX_DRAWS, ModelSpec, Prior, Target,
};

use super::dice::Dice;
use super::frame::{framed, length, pad, parts};
use super::header::latent_header;
use super::network::{Network, Section};
use super::spec;

/// Both networks of a latent model.
#[derive(Clone, Debug)]
pub struct Latent {
    /// How they belong together.
    pub spec: LatentSpec,
    /// Recognition network, then generative network.
    pub networks: [Network; 2],
    /// Mean, variance and decay of each latent's fitted prior, and the noise of each channel; none without.
    pub fitted: Option<[Vec<f32>; 2]>,
}

impl Latent {
    /// A latent model.
    pub fn craft(dice: &mut Dice) -> Self {
        let (spec, [recognition, generative]) = loop {
            let drafted = draft(dice);
            let draws = if let Forecast::Draws { count } = drafted.0.forecast { u64::from(count) } else { 1 };
            let work = drafted.1.iter().map(ModelSpec::multiply_accumulates).sum::<u64>();
            if work.saturating_mul(draws) <= 300_000 {
                break drafted;
            }
        };
        let first_latent = usize::from(generative.inputs.saturating_sub(spec.latents));
        let scaled = if spec.family == Family::Storn { first_latent } else { 0 };
        let mut network = |network: ModelSpec| Network::craft(network, [Vec::new(), Vec::new()], dice);
        let [mut recognition, mut generative] = [recognition, generative].map(&mut network);
        let outputs = 2;
        unscale(&mut recognition.sections[outputs..outputs + 2], 0);
        unscale(&mut generative.sections[..2], scaled);
        let channels = usize::from(recognition.spec.inputs);
        let fits = match spec.family {
            Family::Vosp => dice.once_in(2),
            Family::Storn => dice.oversteps(),
        };
        let fitted = fits.then(|| [prior(spec.latents, dice), dice.numbers_in(channels, [0.0, f32::MAX])]);
        Latent { spec, networks: [recognition, generative], fitted }
    }

    /// The file.
    pub fn encode(&self) -> Vec<u8> {
        let files = self.networks.each_ref().map(Network::encode);
        let header = latent_header(&self.spec, files.each_ref().map(Vec::len));
        let mut payload = Vec::new();
        for file in files {
            payload.extend(file);
            pad(&mut payload);
        }
        for numbers in self.fitted.iter().flatten() {
            payload.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            pad(&mut payload);
        }
        let version = match (self.networks[0].spec.extensions.ranges, self.fitted.is_some()) {
            (true, _) => 4,
            (false, fitted) => 2 + u16::from(fitted),
        };
        framed(Kind::Latent, version, &header, &payload)
    }

    /// What an accepted file holds.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let spec = *LatentCheckpoint::read(bytes).ok()?.spec();
        let (_, _, payload) = parts(bytes)?;
        let first = length(payload)?;
        let (recognition, rest) = payload.split_at_checked(first.next_multiple_of(16))?;
        let generative = rest.get(..length(rest)?)?;
        let networks = [Network::decode(&recognition[..first])?, Network::decode(generative)?];
        let mut rest = rest.get(generative.len().next_multiple_of(16)..)?;
        let fits = !rest.is_empty();
        let mut numbers = |count: usize| -> Option<Vec<f32>> {
            let (section, left) = rest.split_at_checked((4 * count).next_multiple_of(16))?;
            rest = left;
            let words = section.chunks(4).take(count);
            Some(words.map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect())
        };
        let channels = usize::from(networks[0].spec.inputs);
        let fitted = match fits {
            true => Some([numbers(3 * usize::from(spec.latents))?, numbers(channels)?]),
            false => None,
        };
        Some(Latent { spec, networks, fitted })
    }
}

/// Mean, variance and decay of a fitted prior of each latent.
fn prior(latents: u16, dice: &mut Dice) -> Vec<f32> {
    let style = dice.style();
    let ranges = [[-1e6, 1e6], [0.0, 1e12], [-1.0, 1.0]];
    (0..latents).flat_map(|_| ranges.map(|range| dice.number(range, style))).collect()
}

/// Sets the means of channels from `first` on to 0 and their standard deviations to 1.
fn unscale(sections: &mut [Section], first: usize) {
    for (section, value) in sections.iter_mut().zip([0.0_f32, 1.0]) {
        if let Section::Bytes(bytes) = section {
            bytes.chunks_mut(4).skip(first).for_each(|word| word.copy_from_slice(&value.to_le_bytes()));
        }
    }
}

fn draft(dice: &mut Dice) -> (LatentSpec, [ModelSpec; 2]) {
    let family = dice.pick(&[Family::Storn, Family::Vosp]);
    let [mut recognition, mut generative] = [spec::network(dice), spec::network(dice)];
    let latents = dice.pick(&[1, 1, 2, 3, 8]);
    let normal = [Likelihood::Gaussian, Likelihood::Heteroscedastic];
    recognition.outputs = dice.pick_or_beyond(&[latents], &[latents + 1]);
    recognition.target = Target::Columns;
    recognition.extensions.ranges = dice.once_in(2);
    generative.extensions.ranges = dice.oversteps();
    if !matches!(recognition.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic) {
        recognition.likelihood = dice.pick_or_beyond(&normal, &[recognition.likelihood]);
    }
    let units = recognition.layers.last().map_or(0, |layer| layer.units);
    let before = if family == Family::Storn { recognition.inputs } else { units };
    // A recognition network beyond the limits may have 65,535 inputs.
    let after = before.saturating_add(latents);
    generative.inputs = dice.pick_or_beyond(&[after], &[before, after.saturating_add(1)]);
    generative.outputs = recognition.inputs;
    let residual = family == Family::Storn
        && matches!(generative.likelihood, Likelihood::Gaussian | Likelihood::Heteroscedastic);
    generative.target = match residual {
        true => dice.pick(&[Target::Columns, Target::ResidualNext]),
        false => Target::Columns,
    };
    if family == Family::Vosp {
        let dense = CellKind::Dense(Activation::Tanh);
        generative
            .layers
            .iter_mut()
            .for_each(|layer| layer.cell = dice.pick_or_beyond(&[dense], &[CellKind::Gru]));
    }
    let prior = match family {
        Family::Storn => dice.pick_or_beyond(&[Prior::White], &[Prior::Wiener]),
        Family::Vosp => dice.pick(&[Prior::White, Prior::Wiener]),
    };
    let count = dice.pick_or_beyond(&[1, 2, 3, 16, MAX_DRAWS], &[0, MAX_DRAWS + 1, u16::MAX]);
    let forecasts = [Forecast::Moments, Forecast::PosteriorMean, Forecast::Draws { count }];
    let forecast = match generative.layout {
        Layout::Mean => dice.pick_or_beyond(&forecasts[1..], &forecasts[..1]),
        _ => dice.pick(&forecasts),
    };
    (LatentSpec { family, prior, latents, forecast }, [recognition, generative])
}
