//! Golden cases of models with plausible ranges: rows leave them, and infinities, NaN and huge values are
//! among the rows.

use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, Contents, DensitySpec, Extensions, Imputation, Target,
};

use crate::Case;
use crate::golden::{Architecture, CaseSpec, Rows, STORAGES, small_case};
use crate::numbers::Numbers;

fn case_specs() -> [CaseSpec; 4] {
    let none = Extensions::default();
    let ranges = Extensions { ranges: true, ..none };
    let imputation = Imputation::Combined { decay: 0.03, inflation: 1.1 };
    let density = Some(DensitySpec { imputation, familiar: 1.0, widening: 0.5 });
    let all = Extensions { density, anomaly: Some(AnomalySpec { window: 8 }), ..ranges };
    let with = |extensions| Architecture { extensions, ..Architecture::default() };
    let next = |of| Architecture { outputs: 3, target: Target::Next, ..of };
    let residual = Architecture { target: Target::ResidualNext, ..next(with(all)) };
    // More than thirty-two channels: their flags take two words.
    let wide = Architecture { inputs: 35, ..with(ranges) };
    let case_spec = |name, layers, architecture, rows| CaseSpec { name, layers, architecture, rows };
    [
        case_spec("ranges", &[(CellKind::Lstm, 5)], with(ranges), Rows::Hostile),
        case_spec("ranges-next", &[(CellKind::Gru, 5)], next(with(ranges)), Rows::Gaps),
        case_spec("ranges-all", &[(CellKind::Elman(Activation::Tanh), 6)], residual, Rows::Hostile),
        case_spec("ranges-wide", &[(CellKind::Elman(Activation::Tanh), 5)], wide, Rows::Hostile),
    ]
}

/// Every golden case of one network with ranges.
///
/// # Panics
/// If a case does not describe a valid model.
pub fn cases() -> impl Iterator<Item = Case> {
    let stored = |case_spec: CaseSpec| STORAGES.map(|storage| small_case(&case_spec, storage));
    case_specs().into_iter().flat_map(stored).flatten()
}

/// Ranges that readings sometimes leave; every fifth limit is none.
pub(crate) fn randomise(contents: &mut Contents, numbers: &mut Numbers) {
    for range in contents.input_range.chunks_mut(2) {
        for (limit, sign) in range.iter_mut().zip([-1.0, 1.0]) {
            let reach = numbers.between(1.2, 1.8);
            *limit = sign * if numbers.once_in(5) { f32::INFINITY } else { reach };
        }
    }
}
