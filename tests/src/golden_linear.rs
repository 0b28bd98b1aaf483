//! Golden cases of models with a linear part, next to a network and alone: rows are missing, implausible and
//! uncertain, and the ring of the last rows goes round several times.

use quaver::checkpoint::{
    Activation, AnomalySpec, CellKind, Contents, DensitySpec, Extensions, Imputation, Likelihood, LinearSpec,
    Target,
};

use crate::Case;
use crate::golden::{Architecture, CaseSpec, Rows, STORAGES, small_case};
use crate::numbers::Numbers;

/// A linear part of the last `rows` rows.
pub(crate) fn linear(rows: u16) -> Extensions {
    Extensions { linear: Some(LinearSpec { rows }), ..Extensions::default() }
}

fn case_specs() -> [CaseSpec; 6] {
    let imputation = Imputation::Combined { decay: 0.03, inflation: 1.1 };
    let density = Some(DensitySpec { imputation, familiar: 1.0, widening: 0.5 });
    let anomaly = Some(AnomalySpec { window: 8 });
    let all = Extensions { density, anomaly, ranges: true, ..linear(5) };
    let with = |extensions| Architecture { extensions, ..Architecture::default() };
    let next = |of| Architecture { outputs: 3, target: Target::Next, ..of };
    let scattered = |of| Architecture { likelihood: Likelihood::Heteroscedastic, ..of };
    let case_spec = |name, layers, architecture, rows| CaseSpec { name, layers, architecture, rows };
    [
        case_spec("linear", &[(CellKind::Lstm, 5)], with(linear(4)), Rows::Gaps),
        case_spec("linear-next", &[(CellKind::Gru, 5)], scattered(next(with(linear(3)))), Rows::Gaps),
        case_spec("linear-all", &[(CellKind::Elman(Activation::Tanh), 6)], next(with(all)), Rows::Hostile),
        // One row has no ring to speak of.
        case_spec("linear-alone", &[], with(linear(1)), Rows::Ordinary),
        case_spec("linear-alone-next", &[], next(with(linear(7))), Rows::Hostile),
        case_spec("linear-alone-heteroscedastic", &[], scattered(with(linear(16))), Rows::Gaps),
    ]
}

/// Every golden case of one network with a linear part, or of a linear part alone.
///
/// # Panics
/// If a case does not describe a valid model.
pub fn cases() -> impl Iterator<Item = Case> {
    let stored = |case_spec: CaseSpec| STORAGES.map(|storage| small_case(&case_spec, storage));
    case_specs().into_iter().flat_map(stored).flatten()
}

/// Weights whose predictions are of the size of the outputs.
pub(crate) fn randomise(contents: &mut Contents, numbers: &mut Numbers) {
    let values = contents.spec.extensions.linear.map_or(1, |linear| linear.rows * contents.spec.inputs);
    let reach = (3.0 / f32::from(values)).sqrt();
    numbers.fill(&mut contents.linear, -reach, reach);
}
