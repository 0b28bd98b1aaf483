//! `quaver inspect` on latent models.

mod place;

use place::{json, succeeds};
use quaver::LatentModel;
use serde_json::Value;

/// An example of the runtime, and what is shown of it.
struct Inspected {
    path: String,
    bytes: Vec<u8>,
    shown: Value,
}

fn inspect(name: &str) -> Inspected {
    let path = format!("{}/../runtime/examples/{name}.qvr", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&path).expect("an example");
    let shown = json(&succeeds(&["inspect", &path, "--json"]));
    Inspected { path, bytes, shown }
}

#[test]
fn a_denoiser_shows_its_networks_and_its_memory() {
    let Inspected { path, bytes, shown } = inspect("denoiser");
    let model = LatentModel::load(&bytes).expect("a latent model");
    assert_eq!(shown["kind"], "latent");
    assert_eq!(shown["family"], "vosp");
    assert_eq!(shown["arena_words"], model.arena_words());
    assert_eq!(shown["ram_bytes"], 4 * model.arena_words());
    assert_eq!(shown["flash_bytes"], bytes.len());
    assert_eq!(shown["generative_passes"], 2);
    assert_eq!(shown["recognition"]["layers"][0]["cell"], "tanh");
    assert_eq!(shown["generative"]["layers"][0]["cell"], "dense-tanh");
    assert!(shown["future_words"].is_null(), "a denoiser has no futures");
    let text = succeeds(&["inspect", &path]);
    for part in ["VOSP", "hip knee ankle", "white prior", "Arena::<", "recognition network", "dense-tanh"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn a_sampler_shows_what_a_future_takes() {
    let Inspected { path, bytes, shown } = inspect("sampler");
    let model = LatentModel::load(&bytes).expect("a latent model");
    assert_eq!(shown["family"], "storn");
    assert_eq!(shown["future_words"], model.future_words());
    assert!(
        succeeds(&["inspect", &path]).contains(&format!("{} bytes per rollout", 4 * model.future_words()))
    );
}
