//! Golden cases of pruned networks, in the layout `sparse` and in `fast`, which must agree bit for bit.

use quaver::checkpoint::{
    Activation, CellKind, Contents, Layout, Likelihood, OutputMode, Target, WeightFormat, write,
};

use crate::Case;
use crate::golden::{Architecture, Rows, randomise, rows};
use crate::numbers::Numbers;
use crate::pruning::prune;
use crate::replay::Task;

/// A pruned network.
struct Pruned {
    name: &'static str,
    layers: &'static [(CellKind, u16)],
    architecture: Architecture,
    /// Share of blocks that are removed.
    share: f64,
    rows: Rows,
}

const LSTM: CellKind = CellKind::Lstm;
const GRU: CellKind = CellKind::Gru;
const ELMAN: CellKind = CellKind::Elman(Activation::Tanh);
const SIGMOID: CellKind = CellKind::Elman(Activation::Sigmoid);
const DENSE: CellKind = CellKind::Dense(Activation::Tanh);

fn networks() -> Vec<Pruned> {
    let base = Architecture::default();
    let next =
        Architecture { outputs: 3, target: Target::Next, likelihood: Likelihood::Heteroscedastic, ..base };
    let mean_only = Architecture { mode: OutputMode::MeanOnly, ..base };
    let binary = Architecture { likelihood: Likelihood::Bernoulli, ..base };
    let varied = Architecture { weight_variance: true, ..base };
    let pruned = |name, layers, architecture, share, rows| Pruned { name, layers, architecture, share, rows };
    vec![
        pruned("pruned-lstm", &[(LSTM, 5)], base, 0.8, Rows::Ordinary),
        // More pairs in a list than a kernel takes in one turn.
        pruned("pruned-lstm-wide", &[(LSTM, 40)], base, 0.5, Rows::Gaps),
        // Four units that a kernel takes, and three that are left.
        pruned("pruned-elman", &[(ELMAN, 7)], base, 0.7, Rows::Ordinary),
        pruned("pruned-two-layers", &[(DENSE, 9), (SIGMOID, 10)], binary, 0.6, Rows::Gaps),
        pruned("pruned-gru", &[(GRU, 7)], base, 0.7, Rows::Ordinary),
        pruned("pruned-gru-wide", &[(GRU, 37)], base, 0.5, Rows::Gaps),
        pruned("pruned-mean-only", &[(LSTM, 5)], mean_only, 0.8, Rows::Ordinary),
        pruned("pruned-next", &[(LSTM, 6), (GRU, 4)], next, 0.85, Rows::Gaps),
        pruned("pruned-hostile", &[(GRU, 8), (ELMAN, 8)], base, 0.75, Rows::Hostile),
        pruned("pruned-weight-variance", &[(LSTM, 6), (GRU, 5), (ELMAN, 7)], varied, 0.8, Rows::Gaps),
        // Lists of weight variances, more pairs in each than a kernel takes in one turn.
        pruned(
            "pruned-weight-variance-wide",
            &[(LSTM, 24), (GRU, 16), (ELMAN, 20)],
            varied,
            0.5,
            Rows::Ordinary,
        ),
        pruned("pruned-nowhere", &[(LSTM, 5), (GRU, 4)], base, 0.0, Rows::Ordinary),
        pruned("pruned-everywhere", &[(LSTM, 5), (GRU, 4)], base, 1.0, Rows::Ordinary),
    ]
}

/// More columns than a byte can name pairs of. Too large for other layouts on the smallest core.
fn many_columns() -> Pruned {
    let architecture = Architecture::default();
    let layers = &[(ELMAN, 540)];
    Pruned { name: "pruned-many-columns", layers, architecture, share: 0.98, rows: Rows::Ordinary }
}

/// Every case.
///
/// # Panics
/// If a case does not describe a valid model.
pub fn cases() -> Vec<Case> {
    let both = networks().into_iter().flat_map(|network| {
        [("fast", Layout::Fast), ("sparse", Layout::Sparse)].map(|layout| network.case(layout))
    });
    both.chain([many_columns().case(("sparse", Layout::Sparse))]).collect()
}

impl Pruned {
    fn case(&self, (suffix, layout): (&str, Layout)) -> Case {
        let mut numbers = Numbers::new(self.name);
        let mut contents = Contents::zeros(self.architecture.spec(self.layers, WeightFormat::Int8));
        contents.spec.layout = layout;
        randomise(&mut contents, &mut numbers);
        prune(&mut contents, self.share, &mut numbers);
        let name = format!("{}-{suffix}", self.name);
        let model = write(&contents).unwrap_or_else(|error| panic!("golden case {name}: {error}"));
        let inputs = usize::from(self.architecture.inputs);
        Case { name, model, inputs, stream: rows(self.rows, inputs, &mut numbers), task: Task::Follow }
    }
}
