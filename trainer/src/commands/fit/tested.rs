//! A network, ridge regression and baselines on the same rows, and what follows.

use anyhow::{Context, Result};
use quaver::checkpoint::Likelihood;

use super::predictor::Fitted;
use crate::auto::{BetterOnTest, Differences, LossUnit, Rival, Verdict, VerdictKind};
use crate::commands::eval::{comparison_heading, comparison_row, denoising_rows};
use crate::commands::text_table;
use crate::data::{Dataset, Rows, Scaling, Sequence};
use crate::evaluate::{
    BaselinePrediction, Denoising, PairedDifference, Scores, baseline_predictions, denoising, scores,
    step_nlls,
};
use crate::prediction::{SequencePrediction, predict_by_runtime};

/// Names of the network in tables.
const NETWORK: &str = "this net, int8";

/// A model on the rows of a split.
pub(super) struct TestedModel {
    pub(super) name: String,
    detail: Option<String>,
    predictions: Vec<SequencePrediction>,
    pub(super) scores: Scores,
}

/// One split: the network, ridge regression as it would be flashed, and other fair baselines.
pub(super) struct TestedSplit {
    pub(super) network: Option<TestedModel>,
    pub(super) ridge: Option<TestedModel>,
    /// Among them ridge regression, if no model of it fits the budget.
    baselines: Vec<TestedModel>,
    /// Of a denoiser: noisy rows, the exported model and filters.
    pub(super) denoised: Vec<Denoising>,
}

impl TestedSplit {
    fn new(
        network: Option<&Fitted<'_>>,
        ridge: Option<&Fitted<'_>>,
        data: &Dataset,
        sequences: &[Sequence],
    ) -> Result<Self> {
        let likelihood = likelihood(network, ridge)?;
        let std_devs = Scaling::fit(&data.train).targets.std_dev;
        let tested = |name: String, detail: Option<String>, predictions: Vec<SequencePrediction>| {
            let scores =
                scores(likelihood, &data.target_names, sequences, &predictions).in_units_of(&std_devs);
            TestedModel { name, detail, predictions, scores }
        };
        let predicted = |fitted: &Fitted<'_>| predict_by_runtime(&fitted.exported.bytes, sequences);
        let fair = baseline_predictions(likelihood, data, sequences).into_iter();
        let (of_ridge, others): (Vec<BaselinePrediction>, Vec<BaselinePrediction>) =
            fair.filter(|found| !found.sees_targets).partition(BaselinePrediction::is_ridge);
        let (ridge, others) = match (ridge, of_ridge.first()) {
            (Some(fitted), Some(baseline)) => {
                (Some(tested(baseline.name.clone(), Some(detail(fitted)), predicted(fitted)?)), others)
            }
            _ => (None, others.into_iter().chain(of_ridge).collect()),
        };
        let network = network.map(|fitted| Ok(tested(NETWORK.into(), None, predicted(fitted)?)));
        let network: Option<TestedModel> = network.transpose().map_err(|error: quaver::Error| error)?;
        let baselines = others
            .into_iter()
            .map(|found| tested(found.name, Some(found.detail), found.predictions))
            .collect();
        Ok(TestedSplit { network, ridge, baselines, denoised: Vec::new() })
    }

    /// The model that is compared with all others: the network, or ridge regression if there is none.
    fn model(&self) -> &TestedModel {
        self.network.as_ref().or(self.ridge.as_ref()).expect("there is a model")
    }

    /// All others.
    fn rivals(&self) -> impl Iterator<Item = &TestedModel> {
        self.baselines.iter().chain(self.ridge.iter().filter(|_| self.network.is_some()))
    }

    /// Ridge regression, or else the network.
    fn exported(&self, is_ridge: bool) -> &TestedModel {
        self.ridge.as_ref().filter(|_| is_ridge).unwrap_or_else(|| self.model())
    }

    fn of(&self, fitted: &Fitted<'_>) -> &TestedModel {
        self.exported(fitted.is_ridge())
    }

    /// Scores the model that is exported as a denoiser, where the truth is known.
    fn denoise(&mut self, is_ridge: bool, data: &Dataset, sequences: &[Sequence]) {
        let knows_truth = !sequences.is_empty() && sequences.iter().all(|sequence| sequence.truth.is_some());
        if knows_truth {
            let model = self.exported(is_ridge);
            let estimates: Vec<Rows> = model.predictions.iter().map(|found| found.mean.clone()).collect();
            self.denoised = denoising(data, sequences, &estimates, true);
        }
    }

    /// Scores of the network or of ridge regression.
    pub(super) fn scores_of(&self, fitted: &Fitted<'_>) -> &Scores {
        &self.of(fitted).scores
    }

    /// Predictions of the network or of ridge regression.
    pub(super) fn predictions_of(&self, fitted: &Fitted<'_>) -> &[SequencePrediction] {
        &self.of(fitted).predictions
    }

    /// Every model with its name.
    pub(super) fn named(&self) -> Vec<(&str, &Scores)> {
        [self.model()].into_iter().chain(self.rivals()).map(|found| (&*found.name, &found.scores)).collect()
    }
}

fn likelihood(network: Option<&Fitted<'_>>, ridge: Option<&Fitted<'_>>) -> Result<Likelihood> {
    Ok(network.or(ridge).context("there is no model")?.state.spec.likelihood)
}

fn detail(fitted: &Fitted<'_>) -> String {
    let part = fitted.state.scaling.linear.as_ref();
    let [rows, penalty] = [part.map(|part| part.rows.to_string()), part.map(|part| part.penalty.to_string())]
        .map(Option::unwrap_or_default);
    format!(
        "linear in the last {rows} input rows, penalty {penalty}, both chosen on validation; as a model of {} bytes",
        fitted.exported.bytes.len()
    )
}

/// Both splits, and the rivals.
pub(super) struct Tested {
    pub(super) valid: TestedSplit,
    pub(super) test: TestedSplit,
    pub(super) rivals: Vec<Rival>,
    better_on_test: Option<BetterOnTest>,
}

impl Tested {
    pub(super) fn new(
        network: Option<&Fitted<'_>>,
        ridge: Option<&Fitted<'_>>,
        data: &Dataset,
    ) -> Result<Self> {
        let likelihood = likelihood(network, ridge)?;
        let mut valid = TestedSplit::new(network, ridge, data, &data.valid)?;
        let mut test = TestedSplit::new(network, ridge, data, &data.test)?;
        let difference = |sequences: &[Sequence], one: &TestedModel, other: &TestedModel| {
            let [one, other] = [one, other].map(|model| step_nlls(likelihood, sequences, &model.predictions));
            PairedDifference::new(&one, &other)
        };
        let is_tested = !data.test.is_empty();
        let rival = |(of_valid, of_test): (&TestedModel, &TestedModel)| Rival {
            name: of_valid.name.clone(),
            loss: Differences {
                valid: difference(&data.valid, valid.model(), of_valid),
                test: is_tested.then(|| difference(&data.test, test.model(), of_test)),
            },
            probabilities: None,
            is_model: valid.ridge.as_ref().is_some_and(|ridge| ridge.name == of_valid.name),
        };
        let rivals: Vec<Rival> = valid.rivals().zip(test.rivals()).map(rival).collect();
        let is_ridge = rivals.iter().any(|rival| rival.is_model && rival.suffices());
        let [of_valid, of_test] = [&valid, &test].map(|split| split.exported(is_ridge));
        let error_ratio = of_test.scores.mse / of_valid.scores.mse;
        let better = |found: &TestedModel| {
            BetterOnTest::new(&found.name, difference(&data.test, found, of_test), error_ratio)
        };
        let better_on_test = test.baselines.iter().filter(|_| is_tested).filter_map(better);
        let better_on_test = better_on_test.min_by(|one, other| one.by.mean.total_cmp(&other.by.mean));
        valid.denoise(is_ridge, data, &data.valid);
        test.denoise(is_ridge, data, &data.test);
        Ok(Tested { valid, test, rivals, better_on_test })
    }

    /// Whether the network is not clearly better than ridge regression on validation data.
    pub(super) fn ridge_suffices(&self) -> bool {
        self.rivals.iter().any(|rival| rival.is_model && rival.suffices())
    }

    /// What to use. Of a denoiser, a filter with a better signal-to-noise ratio on validation data is a rival
    /// too.
    pub(super) fn verdict(&self, allows_linear: bool) -> Verdict {
        if self.valid.network.is_none() {
            let verdict = Verdict::new("ridge regression", &self.rivals, LossUnit::Nats);
            let verdict =
                Verdict { text: format!("there is no net to compare; {}", verdict.text), ..verdict };
            return verdict.with_better_on_test(self.better_on_test.as_ref());
        }
        let mut verdict = Verdict::new("the net", &self.rivals, LossUnit::Nats);
        let is_ridge = verdict.rival.as_deref().is_some_and(|name| name.starts_with("ridge"));
        if allows_linear && verdict.kind == VerdictKind::UseRival && is_ridge {
            verdict.text += match self.valid.ridge {
                Some(_) => ". The exported model is ridge regression",
                None => ". No model of it fits the budget; the exported model is the net",
            };
        }
        self.with_filters(verdict).with_better_on_test(self.better_on_test.as_ref())
    }

    fn with_filters(&self, verdict: Verdict) -> Verdict {
        let snr = |split: &TestedSplit, name: &str| {
            split.denoised.iter().find(|entry| entry.name == name).map(|entry| entry.scores.snr_db)
        };
        let Some(own) = snr(&self.valid, "this model") else { return verdict };
        // Ridge regression is a rival already.
        let is_filter = |entry: &&Denoising| {
            entry.name != "this model" && !(entry.name.starts_with("linear") && self.valid.ridge.is_some())
        };
        let filters = self.valid.denoised.iter().filter(is_filter);
        let Some(best) = filters.max_by(|one, other| one.scores.snr_db.total_cmp(&other.scores.snr_db))
        else {
            return verdict;
        };
        let on_test = snr(&self.test, "this model").zip(snr(&self.test, &best.name));
        let on_test = on_test
            .map_or(String::new(), |(own, other)| format!(", {own:.2} and {other:.2} dB on test data"));
        let figures = format!(
            "{own:.2} dB, the best filter ({}) {:.2} dB on validation data{on_test}",
            best.name, best.scores.snr_db
        );
        if best.scores.snr_db >= own {
            let text = format!("use the filter: the model reaches {figures}");
            return Verdict { kind: VerdictKind::UseRival, rival: Some(best.name.clone()), text };
        }
        Verdict { text: format!("{}; the model reaches {figures}", verdict.text), ..verdict }
    }

    /// What the exported model is compared with on test data: the best rival, or, of ridge regression, the
    /// network.
    pub(super) fn compared_with(&self, chosen: &Fitted<'_>, verdict: &Verdict) -> Option<(&str, &Scores)> {
        match &self.test.network {
            Some(network) if chosen.is_ridge() => Some(("the best net", &network.scores)),
            _ => {
                let rival = self.test.rivals().find(|found| Some(&found.name) == verdict.rival.as_ref())?;
                Some((&rival.name, &rival.scores))
            }
        }
    }

    pub(super) fn comparison(&self) -> Vec<Vec<String>> {
        let rows = self.test.named().into_iter().map(|(name, scores)| comparison_row(name, scores));
        [comparison_heading()].into_iter().chain(rows).collect()
    }

    pub(super) fn details(&self) -> String {
        let mut text = String::from(
            "on test data, which nothing else has seen; NLL in nats per step (standardised: in units of the training spread)\n",
        );
        let models = [self.test.model()].into_iter().chain(self.test.rivals());
        let detail = |found: &TestedModel| Some(format!("{}: {}\n", found.name, found.detail.as_ref()?));
        text += &models.filter_map(detail).collect::<String>();
        if !self.test.denoised.is_empty() {
            text += "\n";
            text += &text_table::render(&denoising_rows(&self.test.denoised));
        }
        text
    }
}
