//! The best classifier of sequences: exported, tested and compared with what needs no network.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use quaver::ReducerModel;
use serde_json::json;

use super::results::FitResults;
use super::understand::Understanding;
use crate::auto::{BestTrial, Budget, Candidate, Differences, LossUnit, ModelCost, Rival, Verdict};
use crate::commands::eval::confusion;
use crate::commands::{export, export_reduce};
use crate::config::Config;
use crate::data::labelled::{class_of, warm_up};
use crate::data::{Dataset, Rows, Sequence};
use crate::evaluate::{
    ClassificationScores, Classified, ClassifierBaseline, ClassifierOptions, LabelledRows, PairedDifference,
    class_nlls, classifier_baselines,
};
use crate::fit::RunFolder;
use crate::prediction::reduce_by_runtime;
use crate::report::KeyFigure;
use crate::runs::TrainedState;

pub(super) fn finish(
    found: &Understanding,
    budget: &Budget,
    candidate: Option<&Candidate>,
    best: &BestTrial,
    out: &Path,
) -> Result<FitResults> {
    let run = RunFolder::new(&out.join("run"));
    let TrainedState::Reduce(state) = TrainedState::load(&run.best_state())? else {
        bail!("the best run is no classifier; remove the folder and start again")
    };
    let config = Config::load(&run.config(), &[])?;
    let data = &found.data;
    let path = out.join("model.qvr");
    let mut arguments = export::Arguments::int8(run.path().to_path_buf(), path.clone());
    arguments.c = true;
    let (mut exported, _) = export_reduce::export(&arguments, &state, &config, data)?;
    let read = || fs::read(&path).with_context(|| format!("cannot read {}", path.display()));
    let mut bytes = read()?;
    let cost = ModelCost::of(&bytes, budget.core())?;
    let is_timed = cost.instructions.is_some() || budget.clock_hz.is_none();
    if let Some(candidate) = candidate
        && !(budget.fits(&cost) && is_timed)
    {
        arguments.layout = Some(export::LayoutName::of(candidate.layout));
        (exported, _) = export_reduce::export(&arguments, &state, &config, data)?;
        bytes = read()?;
    }
    let valid = TestedSplit::new(&bytes, data, &data.valid)?;
    let test = TestedSplit::new(&bytes, data, &data.test)?;
    let rivals: Vec<Rival> = (0..valid.baselines.len().min(test.baselines.len()))
        .map(|index| Rival {
            name: valid.baselines[index].name.clone(),
            loss: Differences { valid: valid.difference(index), test: Some(test.difference(index)) },
            probabilities: valid
                .difference_of_nats(index)
                .map(|of_valid| Differences { valid: of_valid, test: test.difference_of_nats(index) }),
            is_model: false,
        })
        .collect();
    let scores = &test.scores;
    let right = format!(
        "{:.1} % of {} test sequences, balanced {:.1} %",
        100.0 * scores.accuracy,
        scores.n,
        100.0 * scores.balanced_accuracy
    );
    let layout = format!("{:?}", ReducerModel::load(&bytes)?.network().spec().layout).to_lowercase();
    let costs = format!(
        "{:+.2} % error, {:+.4} nats per sequence on validation data",
        100.0 * exported.cost.error_increase,
        exported.cost.nll_increase
    );
    Ok(FitResults {
        exported: best.clone(),
        verdict: Verdict::new("the net", &rivals, LossUnit::ErrorShare),
        comparison: comparison(&test),
        details: details(&test),
        facts: vec![("right class", right.clone()), ("int8 costs", costs.clone())],
        cost: ModelCost::of(&bytes, budget.core())?,
        layout,
        key_figures: vec![
            KeyFigure::new("Right class", right, "on data that nothing else has seen"),
            KeyFigure::new("int8 costs", costs, ""),
        ],
        sections: vec![confusion(scores)],
        scores: json!({ "test": scores, "validation": valid.scores, "int8_error_increase": exported.cost.error_increase }),
        rivals,
        run_command: "classify",
    })
}

/// One split: what the model and its rivals make of it.
struct TestedSplit {
    labels: Vec<usize>,
    predicted: Vec<usize>,
    probabilities: Rows,
    scores: ClassificationScores,
    baselines: Vec<ClassifierBaseline>,
}

impl TestedSplit {
    fn new(bytes: &[u8], data: &Dataset, sequences: &[Sequence]) -> Result<Self> {
        let classes = &data.target_names;
        let (known, labels) = labelled(sequences);
        let rows: Vec<&Rows> = known.iter().map(|sequence| sequence.inputs.as_ref()).collect();
        let reduction = reduce_by_runtime(bytes, &rows, None)?;
        let found = reduction.classes.context("the model has a classifier")?;
        let predicted = found.classes.clone();
        let classified = Classified {
            classes,
            labels: &labels,
            predicted: &predicted,
            probabilities: Some(&found.probabilities),
        };
        let scores = classified.scores();
        let windows = |sequences: &[&Sequence]| -> Vec<Rows> {
            sequences
                .iter()
                .map(|sequence| sequence.inputs.slice(warm_up(sequence)..sequence.len()))
                .collect()
        };
        let (train_known, train_labels) = labelled(&data.train);
        let (train, test) = (windows(&train_known), windows(&known));
        let (train, test): (Vec<&Rows>, Vec<&Rows>) = (train.iter().collect(), test.iter().collect());
        let baselines = classifier_baselines(
            classes,
            LabelledRows { sequences: &train, labels: &train_labels },
            LabelledRows { sequences: &test, labels: &labels },
            &[],
            ClassifierOptions { without_dtw: true, ..ClassifierOptions::default() },
            &mut |_| {},
        );
        Ok(TestedSplit { labels, predicted, probabilities: found.probabilities, scores, baselines })
    }

    /// The share of wrong classes, the model's less the rival's. Neighbouring sequences may be alike.
    fn difference(&self, index: usize) -> PairedDifference {
        let wrong = |predicted: &[usize]| -> Vec<Vec<f64>> {
            let pairs = predicted.iter().zip(&self.labels);
            vec![pairs.map(|(predicted, label)| f64::from(u8::from(predicted != label))).collect()]
        };
        PairedDifference::new(&wrong(&self.predicted), &wrong(&self.baselines[index].found.classes))
    }

    /// The negative log-probability of the true class, the model's less the rival's; nothing if the rival has
    /// no probabilities.
    fn difference_of_nats(&self, index: usize) -> Option<PairedDifference> {
        let of_rival = self.baselines[index].found.probabilities.as_ref()?;
        let [own, others] = [&self.probabilities, of_rival].map(|rows| vec![class_nlls(rows, &self.labels)]);
        Some(PairedDifference::new(&own, &others))
    }
}

/// Sequences that have a class, with it.
fn labelled(sequences: &[Sequence]) -> (Vec<&Sequence>, Vec<usize>) {
    sequences.iter().filter_map(|sequence| Some((sequence, class_of(sequence)?))).unzip()
}

fn comparison(test: &TestedSplit) -> Vec<Vec<String>> {
    let mut rows = vec![["model", "accuracy", "balanced", "macro F1", "NLL"].map(String::from).to_vec()];
    let row = |name: &str, scores: &ClassificationScores| {
        let shares =
            [scores.accuracy, scores.balanced_accuracy, scores.macro_f1].map(|share| format!("{share:.4}"));
        let nll = scores.nll.map_or("-".to_string(), |nll| format!("{nll:.4}"));
        std::iter::once(name.to_string()).chain(shares).chain([nll]).collect()
    };
    rows.push(row("this net, int8", &test.scores));
    rows.extend(test.baselines.iter().map(|baseline| row(&baseline.name, &baseline.scores)));
    rows
}

fn details(test: &TestedSplit) -> String {
    let mut text = String::from("on test data, which nothing else has seen; NLL in nats per sequence\n");
    text += &test
        .baselines
        .iter()
        .map(|baseline| format!("{}: {}\n", baseline.name, baseline.detail))
        .collect::<String>();
    text
}
