//! Golden cases of models of text: models of [`golden`] whose rows are tokens, read by their index and
//! continued by draws.

use crate::replay::Task;
use crate::{Case, golden};

/// Cases whose rows are one-hot.
const TEXT: [&str; 6] =
    ["text-f32", "text-int8", "text-small", "text-fast", "categorical-next-f32", "categorical-next-fast"];

/// Every golden case of a model of text.
///
/// # Panics
/// If a case is no golden case.
pub fn cases() -> Vec<Case> {
    let golden = golden::cases();
    let case = |name: &str| {
        let of = golden.iter().find(|case| case.name == name).expect("a golden case");
        Case { name: format!("{name}-tokens"), task: Task::Text, ..of.clone() }
    };
    TEXT.into_iter().map(case).collect()
}

/// The model of text that the firmware example writes with.
pub fn example() -> Case {
    let model = include_bytes!("../../runtime/examples/text.qvr").to_vec();
    let inputs = quaver::Model::load(&model).map_or(0, |model| model.spec().inputs.into());
    Case { name: "text".into(), model, inputs, stream: Vec::new(), task: Task::Text }
}
