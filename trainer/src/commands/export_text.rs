//! A model of text as the predictor that is exported, with rows to round its weights by.

use anyhow::{Result, ensure};
use quaver::checkpoint::{MAX_WIDTH, Target};

use crate::config::TrainingConfig;
use crate::data::{Dataset, EpochChanges, Rows, Scaler, Scaling, Sequence};
use crate::fit::RunState;
use crate::text::{TokenModel, fold};

/// Tokens of a split that are turned into one-hot rows: enough for Gram matrices and the cost of
/// quantization.
const MOST_ROWS: usize = 20_000;

/// Numbers that these rows may have in all, if the vocabulary is large.
const MOST_NUMBERS: usize = 1 << 24;

/// The predictor of one-hot rows that a model of text is, with such rows from the start of each split.
pub(super) fn as_predictor(state: &RunState<TokenModel>, data: &Dataset) -> Result<(Box<RunState>, Dataset)> {
    let tokens = state.spec.tokens();
    ensure!(
        tokens <= usize::from(MAX_WIDTH),
        "the vocabulary has {tokens} tokens, and a checkpoint has at most {MAX_WIDTH} inputs and outputs: \
         `quaver eval` and `quaver sample` take the run folder"
    );
    let (spec, parameters) = fold(&state.spec, &state.parameters);
    let scaling = Scaling {
        inputs: Scaler::identity(tokens),
        targets: Scaler::identity(tokens),
        density: None,
        linear: None,
    };
    let names = [state.input_names.clone(), state.target_names.clone()];
    let predictor = RunState::first(spec, parameters, &TrainingConfig::default(), scaling, names);
    let rows = MOST_ROWS.min(MOST_NUMBERS / tokens);
    let split = |streams: &[Sequence]| streams.iter().map(|stream| one_hot(stream, rows, tokens)).collect();
    let data = Dataset {
        train: split(&data.train),
        valid: split(&data.valid),
        test: Vec::new(),
        input_names: data.input_names.clone(),
        target_names: data.target_names.clone(),
        target: Target::Next,
        look_ahead: Vec::new(),
        validation: data.validation.clone(),
        changes: EpochChanges::default(),
        files: data.files.clone(),
        notes: Vec::new(),
    };
    Ok((Box::new(predictor), data))
}

/// The first tokens of a stream as rows with a one in the place of the token.
fn one_hot(stream: &Sequence, rows: usize, tokens: usize) -> Sequence {
    let count = rows.min(stream.len());
    let mut hot = Rows { channels: tokens, values: vec![0.0; count * tokens] };
    for (row, token) in hot.values.chunks_exact_mut(tokens).zip(&stream.targets.values) {
        row[*token as usize] = 1.0;
    }
    Sequence::next(hot)
}
