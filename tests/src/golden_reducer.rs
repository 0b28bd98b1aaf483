//! The golden cases of reducers: every pooling operator, window and classifier, over units and outputs.

use quaver::checkpoint::{
    Activation, CellKind, ClassifierSpec, DensitySpec, Extensions, Imputation, NoveltyScore, PoolOver,
    Pooling, ReducerSpec, UnitNoise, Window, write_reducer,
};

use crate::Case;
use crate::golden::{Architecture, Rows, STORAGES, Storage, rows};
use crate::numbers::Numbers;
use crate::reducer::{LINEAR, LINEAR_ALONE, NEAREST, VOTE, contents, spec};
use crate::replay::Task;

struct ReducerCaseSpec {
    name: &'static str,
    spec: ReducerSpec,
    layers: &'static [(CellKind, u16)],
    architecture: Architecture,
    rows: Rows,
}

const LSTM: &[(CellKind, u16)] = &[(CellKind::Lstm, 5)];
const GRU: &[(CellKind, u16)] = &[(CellKind::Gru, 6)];
const ELMAN: &[(CellKind, u16)] = &[(CellKind::Elman(Activation::Tanh), 6)];

fn case_specs() -> Vec<ReducerCaseSpec> {
    use PoolOver::{Outputs, Units};
    use Pooling::{Max, Mean, Stochastic, Sum};
    let base = Architecture { outputs: 4, ..Architecture::default() };
    let density = Some(DensitySpec { imputation: Imputation::Conditional, familiar: 1.0, widening: 0.5 });
    let guarded =
        Architecture { extensions: Extensions { density, ranges: true, ..base.extensions }, ..base };
    let still =
        Architecture { noise: [UnitNoise::None; 3], mode: quaver::checkpoint::OutputMode::MeanOnly, ..base };
    let ring = Window::Ring { pools: 3, rows: 4 };
    let fading = Window::Forgetting { rows: 6.0 };
    let known = |threshold, novelty, spec| ReducerSpec { threshold: Some(threshold), novelty, ..spec };
    let within = |window, correlation, spec| ReducerSpec { window, correlation, ..spec };
    let energy = NoveltyScore::Energy;
    let distance = NoveltyScore::Distance;
    let case_spec =
        |name, spec, layers, architecture, rows| ReducerCaseSpec { name, spec, layers, architecture, rows };
    vec![
        case_spec("reduce-mean", known(2.0, distance, spec(Mean, Outputs, NEAREST)), LSTM, base, Rows::Gaps),
        case_spec(
            "reduce-mean-units",
            within(Window::Sequence, 0.3, known(-1.0, energy, spec(Mean, Units, LINEAR))),
            GRU,
            base,
            Rows::Ordinary,
        ),
        case_spec(
            "reduce-mean-ring",
            within(ring, 0.2, spec(Mean, Outputs, VOTE)),
            ELMAN,
            base,
            Rows::Hostile,
        ),
        case_spec(
            "reduce-sum",
            known(900.0, distance, spec(Sum, Outputs, NEAREST)),
            GRU,
            base,
            Rows::Ordinary,
        ),
        case_spec(
            "reduce-sum-fading",
            within(fading, 0.0, spec(Sum, Units, NEAREST)),
            ELMAN,
            base,
            Rows::Gaps,
        ),
        case_spec("reduce-max", known(3.0, energy, spec(Max, Outputs, NEAREST)), LSTM, base, Rows::Ordinary),
        case_spec("reduce-max-ring", within(ring, 0.4, spec(Max, Units, VOTE)), LSTM, base, Rows::Gaps),
        case_spec(
            "reduce-max-fading",
            within(fading, 0.1, known(3.0, distance, spec(Max, Outputs, LINEAR))),
            ELMAN,
            base,
            Rows::Hostile,
        ),
        case_spec(
            "reduce-stochastic",
            known(0.0, energy, ReducerSpec { novelty: energy, ..spec(Stochastic, Outputs, LINEAR_ALONE) }),
            LSTM,
            base,
            Rows::Gaps,
        ),
        case_spec(
            "reduce-stochastic-ring",
            within(ring, 0.5, spec(Stochastic, Units, NEAREST)),
            GRU,
            base,
            Rows::Ordinary,
        ),
        case_spec(
            "reduce-stochastic-fading",
            within(fading, 1.0, spec(Stochastic, Outputs, VOTE)),
            ELMAN,
            base,
            Rows::Hostile,
        ),
        case_spec(
            "reduce-guarded",
            known(2.0, distance, spec(Mean, Units, NEAREST)),
            LSTM,
            guarded,
            Rows::Hostile,
        ),
        case_spec("reduce-guarded-outputs", spec(Max, Outputs, LINEAR), ELMAN, guarded, Rows::Gaps),
        case_spec(
            "reduce-embedding",
            spec(Stochastic, Units, ClassifierSpec::None),
            LSTM,
            base,
            Rows::Ordinary,
        ),
        case_spec("reduce-still", spec(Max, Outputs, NEAREST), LSTM, still, Rows::Ordinary),
    ]
}

/// Every golden case of a reducer.
///
/// # Panics
/// If a case does not describe a valid model.
pub fn cases() -> Vec<Case> {
    let stored = |case_spec: ReducerCaseSpec| STORAGES.map(|storage| small_case(&case_spec, storage));
    case_specs().into_iter().flat_map(stored).flatten().collect()
}

/// `None` if the network cannot be stored in this way.
fn small_case(case_spec: &ReducerCaseSpec, (suffix, format, layout): Storage) -> Option<Case> {
    let ReducerCaseSpec { name, spec, layers, architecture, rows: kind } = case_spec;
    let mut contents = contents(*spec, *architecture, layers, (format, layout), name);
    if spec.classes > 0 {
        contents.class_names = ["rest", "fist", "µ pinch"].map(String::from).into();
    }
    let inputs = usize::from(architecture.inputs);
    let model = match write_reducer(&contents) {
        Ok(model) => model,
        Err(_) if layout.is_quantized() => return None,
        Err(error) => panic!("golden case {name}-{suffix}: {error}"),
    };
    let stream = rows(*kind, inputs, &mut Numbers::new(name));
    Some(Case { name: format!("{name}-{suffix}"), model, inputs, stream, task: Task::Reduce })
}
