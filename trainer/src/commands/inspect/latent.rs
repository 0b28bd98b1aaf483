//! A latent model: its networks, and the requirements of a stream.

use quaver::LatentModel;
use quaver::checkpoint::{Family, Forecast, ModelSpec, Target};
use serde_json::{Value, json};

use super::network::{architecture, arena, by_core, layers, memory_by_core, memory_facts, predicted};
use super::ranges;
use crate::export::{DeviceMemory, latent_device_memory, latent_instructions};

/// Everything about a latent model.
pub(super) fn describe(model: &LatentModel<'_>, file_bytes: usize) -> Value {
    let spec = model.spec();
    let mut description = json!({
        "kind": "latent",
        "family": format!("{:?}", spec.family).to_lowercase(),
        "prior": prior(model),
        "latents": spec.latents,
        "forecast": forecast(spec.forecast),
        "channels": model.channels(),
        "generative_passes": spec.generative_passes(),
        "recognition": architecture(model.recognition()),
        "generative": architecture(model.generative()),
        "instructions_per_step": by_core(&latent_instructions(model)),
        "flash_bytes": file_bytes,
        "ram_bytes": 4 * model.arena_words(),
        "arena_words": model.arena_words(),
        "device_memory": memory_by_core(&memory(model)),
        "saved_words": model.saved_words(),
        "crc": format!("{:08x}", model.crc()),
    });
    if spec.family == Family::Storn {
        description["future_words"] = json!(model.future_words());
    }
    description
}

/// The description as text.
pub(super) fn render(model: &LatentModel<'_>, file_bytes: usize) -> String {
    let spec = model.spec();
    let (recognition, generative) = (model.recognition(), model.generative());
    let names = generative.checkpoint().output_names().collect::<Vec<_>>().join(" ");
    let use_of_it = match spec.family {
        Family::Storn => "STORN: a sampler, which also predicts",
        Family::Vosp => "VOSP: a denoiser",
    };
    let weights = |network: &quaver::Model<'_>| {
        format!("{:?}, {:?} layout", network.spec().weight_format, network.spec().layout).to_lowercase()
    };
    let mut facts = vec![
        ("model", use_of_it.to_string()),
        ("channels", format!("{}  {names}", model.channels())),
        ("latents", format!("{}, {} prior", spec.latents, prior(model))),
        ("forecast", forecast(spec.forecast)),
        ("likelihood", likelihood(generative.spec())),
        ("weights", format!("recognition {}; generative {}", weights(recognition), weights(generative))),
        ("parameters", (recognition.spec().parameters() + generative.spec().parameters()).to_string()),
        (
            "per step",
            format!("recognition network once, generative network {} times", spec.generative_passes()),
        ),
        ("predicted", predicted(&latent_instructions(model))),
        ("flash", format!("{file_bytes} bytes in addition to the code")),
        ("RAM", arena(model.arena_words())),
    ];
    facts.extend(memory_facts(&memory(model)));
    if spec.family == Family::Storn {
        let words = model.future_words();
        facts.push(("rollouts", format!("{} bytes per rollout: Arena::<{{ K * {words} }}>", 4 * words)));
    }
    facts.push(("CRC", format!("{:08x}", model.crc())));
    format!(
        "{}\nrecognition network\n{}\ngenerative network\n{}{}",
        super::facts(facts),
        layers(recognition.spec()),
        layers(generative.spec()),
        ranges::table(recognition),
    )
}

/// Memory besides the arena; none if the networks have different layouts.
fn memory(model: &LatentModel<'_>) -> Vec<DeviceMemory> {
    let layout = model.recognition().spec().layout;
    let same = model.generative().spec().layout == layout;
    if same { latent_device_memory(model.spec().family, layout) } else { Vec::new() }
}

/// The prior of the predictions.
fn prior(model: &LatentModel<'_>) -> String {
    if model.has_fitted_prior() {
        return "autoregressive".into();
    }
    format!("{:?}", model.spec().prior).to_lowercase()
}

/// The likelihood of the generative network.
fn likelihood(spec: &ModelSpec) -> String {
    let of = if spec.target == Target::ResidualNext { ", residuals from the last row" } else { "" };
    format!("{:?}{of}", spec.likelihood).to_lowercase()
}

/// How z is fed to the generative network.
fn forecast(forecast: Forecast) -> String {
    match forecast {
        Forecast::Moments => "mean and variance".into(),
        Forecast::PosteriorMean => "posterior mean".into(),
        Forecast::Draws { count } => format!("{count} draws"),
    }
}
