//! A reducer: its network, pooling and classifier.

use quaver::ReducerModel;
use quaver::checkpoint::{ClassifierSpec, NoveltyScore, Window};
use serde_json::{Value, json};

use super::network::{architecture, arena, by_core, layers, predicted};
use super::ranges;
use crate::export::instructions;

/// Everything about a reducer.
pub(super) fn describe(model: &ReducerModel<'_>, file_bytes: usize) -> Value {
    let spec = model.spec();
    json!({
        "kind": "reducer",
        "pooling": format!("{:?}", spec.pooling).to_lowercase(),
        "over": format!("{:?}", spec.over).to_lowercase(),
        "dimensions": model.dimensions(),
        "correlation": spec.correlation,
        "window": window(spec.window),
        "classes": class_names(model),
        "classifier": classifier(spec.classifier),
        "novelty": novelty(spec.novelty),
        "threshold": spec.threshold,
        "network": architecture(model.network()),
        "instructions_per_network_step": by_core(&instructions(model.network())),
        "flash_bytes": file_bytes,
        "ram_bytes": 4 * model.arena_words(),
        "arena_words": model.arena_words(),
        "saved_words": model.saved_words(),
        "crc": format!("{:08x}", model.crc()),
    })
}

/// The description as text.
pub(super) fn render(model: &ReducerModel<'_>, file_bytes: usize) -> String {
    let spec = model.spec();
    let network = model.network();
    let inputs: Vec<&str> = network.checkpoint().input_names().collect();
    let classes = class_names(model);
    let threshold = match spec.threshold {
        Some(threshold) => format!("known up to {threshold:.4} by {}", novelty(spec.novelty)),
        None => "none: every sequence is known".to_string(),
    };
    let facts = vec![
        ("model", "reducer of sequences to points and classes".to_string()),
        ("inputs", format!("{}  {}", network.spec().inputs, inputs.join(" "))),
        (
            "embedding",
            format!("{} components, {:?} over {:?}", model.dimensions(), spec.pooling, spec.over)
                .to_lowercase(),
        ),
        ("rows", window(spec.window)),
        ("classes", format!("{}  {}", spec.classes, classes.join(" "))),
        ("classifier", classifier(spec.classifier)),
        ("threshold", threshold),
        (
            "weights",
            format!("{:?}, {:?} layout", network.spec().weight_format, network.spec().layout).to_lowercase(),
        ),
        ("parameters", network.spec().parameters().to_string()),
        ("predicted", format!("{} (network)", predicted(&instructions(network)))),
        ("flash", format!("{file_bytes} bytes in addition to the code")),
        ("RAM", arena(model.arena_words())),
        ("CRC", format!("{:08x}", model.crc())),
    ];
    format!("{}\n{}{}", super::facts(facts), layers(network.spec()), ranges::table(network))
}

fn class_names<'m>(model: &ReducerModel<'m>) -> Vec<&'m str> {
    (0..model.classes()).filter_map(|class| model.class_name(class)).collect()
}

fn window(window: Window) -> String {
    match window {
        Window::Sequence => "all since the sequence began".into(),
        Window::Forgetting { rows } => format!("all, with a time constant of {rows} rows"),
        Window::Ring { pools, rows } => format!("the newest {pools} × {rows}"),
    }
}

fn classifier(classifier: ClassifierSpec) -> String {
    match classifier {
        ClassifierSpec::None => "none".into(),
        ClassifierSpec::Nearest { prototypes, beta, neighbours: 0 } => {
            format!("{prototypes} prototypes, the most probable class, beta {beta:.4}")
        }
        ClassifierSpec::Nearest { prototypes, beta, neighbours } => {
            format!("{neighbours} nearest of {prototypes} prototypes, beta {beta:.4}")
        }
        ClassifierSpec::Linear { temperature, .. } => {
            format!("logistic regression, temperature {temperature:.4}")
        }
    }
}

fn novelty(score: NoveltyScore) -> &'static str {
    match score {
        NoveltyScore::Distance => "distance",
        NoveltyScore::Energy => "energy",
    }
}
