//! Checks that two networks make a latent model, so that a step has nothing left to check.

use super::Checkpoint;
use crate::format::{Cursor, Error, F32s, Part, Vector, check, zeros};
use crate::limits::{UNIT_LIMIT, VAR_LIMIT};
use crate::spec::{
    CellKind, Extensions, Family, Forecast, LatentSpec, Layout, MAX_DRAWS, ModelSpec, Prior, Target,
};

/// An error together with the network that it is in.
pub(super) fn inside(network: Part, error: Error) -> Error {
    match error {
        Error::Invalid { part, field, allowed } => Error::InvalidIn { network, part, field, allowed },
        // The outer checksum is right: the file is intact, but was not made by this crate.
        _ => Error::Invalid {
            part: network,
            field: "checkpoint",
            allowed: "a complete checkpoint of this format version",
        },
    }
}

/// The complete checkpoint of a network in the next `bytes` of the payload.
pub(super) fn network<'m>(
    cursor: &mut Cursor<'m>,
    bytes: usize,
    part: Part,
) -> Result<Checkpoint<'m>, Error> {
    let (network, padding) = cursor.padded(bytes);
    zeros(padding, part, "padding")?;
    Checkpoint::read(network).map_err(|error| inside(part, error))
}

/// Checks what concerns both networks.
pub(super) fn networks(
    spec: &LatentSpec,
    recognition: &Checkpoint<'_>,
    generative: &Checkpoint<'_>,
) -> Result<(), Error> {
    let ranges = recognition.spec().extensions.ranges;
    let only_ranges = recognition.spec().extensions == Extensions { ranges, ..Extensions::default() };
    check(only_ranges, Part::Recognition, "extensions", "none but ranges in a latent model")?;
    let none = generative.spec().extensions.is_empty();
    check(none, Part::Generative, "extensions", "none in a latent model")?;
    combination(spec, generative.spec())?;
    check_recognition(spec, recognition)?;
    check_generative(spec, recognition.spec(), generative)
}

/// What was fitted after training: the prior of every latent, and the noise of every channel in raw units.
pub(super) fn fitted(spec: &LatentSpec, prior: F32s<'_>, row_noise: F32s<'_>) -> Result<(), Error> {
    let part = Part::Latent;
    check(spec.family == Family::Vosp, part, "fitted prior", "none when the family is STORN")?;
    let sound = |[mean, var, decay]: [f32; 3]| {
        mean.abs() <= UNIT_LIMIT && (0.0..=VAR_LIMIT).contains(&var) && (-1.0..=1.0).contains(&decay)
    };
    let allowed = "means up to 10⁶, variances from 0 to 10¹², decays from −1 to 1";
    check(prior.triples().all(sound), part, "fitted prior", allowed)?;
    let finite = |var: f32| (0.0..=f32::MAX).contains(&var);
    check(row_noise.iter().all(finite), part, "row noise", "finite and not negative")
}

/// Family, prior and forecast.
fn combination(spec: &LatentSpec, generative: &ModelSpec) -> Result<(), Error> {
    let wiener_storn = spec.family == Family::Storn && spec.prior == Prior::Wiener;
    check(!wiener_storn, Part::Latent, "prior", "white when the family is STORN")?;
    match spec.forecast {
        Forecast::Moments => check(
            generative.layout != Layout::Mean,
            Part::Latent,
            "forecast",
            "the posterior mean or draws when the generative network carries no variance",
        ),
        Forecast::PosteriorMean => Ok(()),
        Forecast::Draws { count } => {
            check((1..=MAX_DRAWS).contains(&count), Part::Latent, "draws", "1 to 256")
        }
    }
}

/// The recognition network has a mean and a variance of each latent as outputs, in units of the prior.
fn check_recognition(spec: &LatentSpec, network: &Checkpoint<'_>) -> Result<(), Error> {
    let part = Part::Recognition;
    let ModelSpec { outputs, target, likelihood, .. } = *network.spec();
    check(outputs == spec.latents, part, "outputs", "one per latent")?;
    check(target == Target::Columns, part, "target", "columns")?;
    check(likelihood.is_normal(), part, "likelihood", "Gaussian or heteroscedastic")?;
    unscaled(network, [Vector::OutputMean, Vector::OutputStdDev], 0, part)
}

/// The generative network has the inputs of its family and z as inputs, and one output per channel.
fn check_generative(
    spec: &LatentSpec,
    recognition: &ModelSpec,
    network: &Checkpoint<'_>,
) -> Result<(), Error> {
    let part = Part::Generative;
    let ModelSpec { inputs, outputs, target, .. } = *network.spec();
    // A VOSP does not read the row that a residual would be added to.
    let allowed = match spec.family {
        Family::Storn => "columns, or residuals of the next row",
        Family::Vosp => "columns when the family is VOSP",
    };
    let residual = target == Target::ResidualNext && spec.family == Family::Storn;
    check(target == Target::Columns || residual, part, "target", allowed)?;
    check(outputs == recognition.inputs, part, "outputs", "one per input of the recognition network")?;
    let reads = |before: usize| usize::from(inputs) == before + usize::from(spec.latents);
    let inputs = [Vector::InputMean, Vector::InputStdDev];
    match spec.family {
        Family::Storn => {
            let channels = recognition.inputs.into();
            check(reads(channels), part, "inputs", "the channels and the latents")?;
            unscaled(network, inputs, channels, part)
        }
        Family::Vosp => {
            let units = recognition.layers.last().map_or(0, |layer| layer.units.into());
            let allowed = "the units of the recognition network's last layer and the latents";
            check(reads(units), part, "inputs", allowed)?;
            let dense = network.spec().layers.iter().all(|layer| matches!(layer.cell, CellKind::Dense(_)));
            check(dense, part, "layers", "dense when the family is VOSP")?;
            unscaled(network, inputs, 0, part)
        }
    }
}

/// From channel `first` on, means are 0 and standard deviations 1: latents and units are not scaled.
pub(super) fn unscaled(
    network: &Checkpoint<'_>,
    [mean, std_dev]: [Vector; 2],
    first: usize,
    part: Part,
) -> Result<(), Error> {
    let mut cursor = network.cursor();
    for vector in Vector::BEFORE_LAYERS {
        let mut values = cursor.vector(vector, network.spec()).iter().skip(first);
        let (ok, allowed) = match vector {
            _ if vector == mean => (values.all(|value| value == 0.0), "0 for latents and units"),
            _ if vector == std_dev => (values.all(|value| value == 1.0), "1 for latents and units"),
            _ => continue,
        };
        check(ok, part, vector.name(), allowed)?;
    }
    Ok(())
}
