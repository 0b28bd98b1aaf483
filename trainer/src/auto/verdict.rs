//! Whether a network is worth it: compared with what needs none, on the same rows.

use serde::Serialize;

use crate::evaluate::PairedDifference;

/// A difference in nats per step, or in the share of errors, that nobody would notice.
const NEGLIGIBLE: f64 = 0.01;

/// Differences of a loss, the model's less the rival's: below zero the model is better.
#[derive(Clone, Debug, Serialize)]
pub struct Differences {
    /// On validation data, by which it is decided.
    pub valid: PairedDifference,
    /// On test data, which is reported; none without test data.
    pub test: Option<PairedDifference>,
}

/// A method without a network, compared with the model.
#[derive(Clone, Debug, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: String,
    /// The loss that decides.
    #[serde(flatten)]
    pub loss: Differences,
    /// Negative log-probability of the true class, where errors are the loss and both have probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probabilities: Option<Differences>,
    /// Whether it can be exported in the place of the model: then the model has to be clearly better.
    pub is_model: bool,
}

impl Rival {
    /// Whether it is as good as the model, or better, on validation data.
    fn is_as_good(&self) -> bool {
        self.loss.valid.mean >= -NEGLIGIBLE
    }

    /// Whether the model is not clearly better on validation data.
    pub fn suffices(&self) -> bool {
        !self.loss.valid.is_clearly_below(-NEGLIGIBLE)
    }

    /// Probabilities that are clearly better than its own, where its errors are not clearly fewer: who asks
    /// how sure a model is gains by the network.
    fn better_probabilities(&self) -> Option<&Differences> {
        let has_fewer_errors = self.loss.valid.is_clearly_above(NEGLIGIBLE);
        let better = |found: &&Differences| !has_fewer_errors && found.valid.is_clearly_below(-NEGLIGIBLE);
        self.probabilities.as_ref().filter(better)
    }
}

/// The loss whose difference decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossUnit {
    /// Negative log-likelihood per time step.
    Nats,
    /// Share of wrong classes.
    ErrorShare,
    /// Negative log-probability of the true class.
    NatsOfClass,
}

impl LossUnit {
    fn name(self) -> &'static str {
        match self {
            LossUnit::Nats => "nats per step",
            LossUnit::ErrorShare => "percentage points of error",
            LossUnit::NatsOfClass => "nats per sequence",
        }
    }

    fn factor(self) -> f64 {
        match self {
            LossUnit::Nats | LossUnit::NatsOfClass => 1.0,
            LossUnit::ErrorShare => 100.0,
        }
    }

    /// A difference in words.
    fn difference(self, found: &PairedDifference) -> String {
        let how = if found.mean < 0.0 { "better" } else { "worse" };
        let [mean, error] = [found.mean.abs(), found.std_error].map(|value| self.factor() * value);
        format!("{mean:.3} ± {error:.3} {} {how}", self.name())
    }

    /// Both differences from a rival in words.
    fn differences(self, found: &Differences, rival: &str) -> String {
        let on_test = found.test.as_ref();
        let on_test =
            on_test.map_or(String::new(), |test| format!(", and {} on test data", self.difference(test)));
        format!("{} than {rival} on validation data{on_test}", self.difference(&found.valid))
    }
}

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum VerdictKind {
    /// The network is better than all rivals.
    WorthIt,
    /// It is better, but not by more than chance would explain.
    Undecided,
    /// A rival is as good.
    UseRival,
}

/// What to do, and why.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// What to do.
    pub kind: VerdictKind,
    /// The best rival.
    pub rival: Option<String>,
    /// In plain words.
    pub text: String,
}

impl Verdict {
    /// Decides about a model, such as `the net`, on validation data against the best of the rivals there.
    pub fn new(model: &str, rivals: &[Rival], unit: LossUnit) -> Self {
        // The rival that the model is least ahead of.
        let by_mean = |one: &&Rival, other: &&Rival| one.loss.valid.mean.total_cmp(&other.loss.valid.mean);
        let Some(best) = rivals.iter().max_by(by_mean) else {
            let text = format!("there is nothing to compare {model} with");
            return Verdict { kind: VerdictKind::Undecided, rival: None, text };
        };
        let name = &best.name;
        let evidence = unit.differences(&best.loss, name);
        if let Some(found) = best.better_probabilities().filter(|_| best.suffices()) {
            let probabilities = LossUnit::NatsOfClass.differences(found, &format!("those of {name}"));
            let text = format!(
                "{model} is worth it for its probabilities: they are {probabilities}; by errors it is {evidence}"
            );
            return Verdict { kind: VerdictKind::WorthIt, rival: Some(name.clone()), text };
        }
        let kind = match (best.suffices(), best.is_as_good() || best.is_model) {
            (false, _) => VerdictKind::WorthIt,
            (true, true) => VerdictKind::UseRival,
            (true, false) => VerdictKind::Undecided,
        };
        let mut text = match kind {
            VerdictKind::WorthIt => format!("{model} is worth it: it is {evidence}"),
            VerdictKind::Undecided => {
                format!("{model} may be worth it, but chance would explain the difference: it is {evidence}")
            }
            VerdictKind::UseRival if !best.is_as_good() => format!(
                "use {name}, which is simpler: chance would explain the difference, and the best of many trials looks better \
                 than it is; {model} is {evidence}"
            ),
            VerdictKind::UseRival => {
                format!("use {name}: it is as good or better; {model} is {evidence}")
            }
        };
        text += best.loss.test.as_ref().map_or("", |test| doubt(kind, best.is_as_good(), test));
        Verdict { kind, rival: Some(name.clone()), text }
    }

    /// Adds what the test data say against the exported model: that a baseline was better there.
    pub fn with_better_on_test(mut self, found: Option<&BetterOnTest>) -> Self {
        if let Some(BetterOnTest { name, by, error_ratio }) = found {
            self.text += &format!(
                ". On test data {name} is {} than the exported model, whose squared error there is {error_ratio:.1} times that \
                 on validation data: test rows are unlike those before them, so record more, and from more situations",
                LossUnit::Nats.difference(by)
            );
        }
        self
    }
}

/// A baseline that is better than the exported model on test data, by more than the standard error. That is
/// enough to warn, where twice as much is needed to decide: losses of overconfident models have long tails.
#[derive(Clone, Debug)]
pub struct BetterOnTest {
    /// Its name.
    pub name: String,
    /// By how much, the baseline's loss less the model's.
    pub by: PairedDifference,
    /// Squared error of the model on test data over that on validation data.
    pub error_ratio: f64,
}

impl BetterOnTest {
    /// Of a baseline with this difference, if it is large enough.
    pub fn new(name: &str, by: PairedDifference, error_ratio: f64) -> Option<Self> {
        (by.mean + by.std_error < -NEGLIGIBLE).then(|| BetterOnTest { name: name.into(), by, error_ratio })
    }
}

/// What test data add to a verdict by validation data, if anything.
fn doubt(kind: VerdictKind, is_as_good: bool, test: &PairedDifference) -> &'static str {
    const DISAGREE: &str = ". Validation and test data disagree: record more, and from more situations";
    match kind {
        VerdictKind::WorthIt if test.mean > 0.0 => DISAGREE,
        VerdictKind::WorthIt if !test.is_clearly_below(0.0) => ". The test data alone would not show it",
        VerdictKind::UseRival if !test.is_clearly_below(-NEGLIGIBLE) => "",
        VerdictKind::UseRival if is_as_good => DISAGREE,
        VerdictKind::UseRival => {
            ". Test data agree that there is one: with more recordings the difference may become clear"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rival(name: &str, valid: f64, test: f64) -> Rival {
        let of = |mean| PairedDifference { mean, std_error: 0.05 };
        let loss = Differences { valid: of(valid), test: Some(of(test)) };
        Rival { name: name.into(), loss, probabilities: None, is_model: false }
    }

    #[test]
    fn a_rival_that_could_be_exported_has_the_benefit_of_the_doubt() {
        let of = |valid: f64| {
            let simpler = Rival { is_model: true, ..rival("ridge AR", valid, valid) };
            Verdict::new("the net", &[simpler], LossUnit::Nats)
        };
        let verdict = of(-0.05);
        assert!(
            verdict.kind == VerdictKind::UseRival
                && verdict.text.starts_with("use ridge AR, which is simpler: chance")
                && verdict.text.contains("the net is 0.050 ± 0.050 nats per step better than ridge AR"),
            "{}",
            verdict.text
        );
        assert_eq!(of(-0.2).kind, VerdictKind::WorthIt);
        assert_eq!(of(0.0).kind, VerdictKind::UseRival);
        let simpler = Rival { is_model: true, ..rival("ridge AR", -0.05, -0.3) };
        let verdict = Verdict::new("the net", &[simpler], LossUnit::Nats);
        assert!(
            verdict.text.contains("Test data agree") && !verdict.text.contains("disagree"),
            "{}",
            verdict.text
        );
        let as_good = Rival { is_model: true, ..rival("ridge AR", 0.05, -0.3) };
        assert!(Verdict::new("the net", &[as_good], LossUnit::Nats).text.contains("disagree"));
    }

    #[test]
    fn the_best_rival_on_validation_decides() {
        let verdict = Verdict::new(
            "the net",
            &[rival("persistence", -2.0, -2.0), rival("ridge AR", -0.3, -0.4)],
            LossUnit::Nats,
        );
        assert_eq!((verdict.kind, verdict.rival.as_deref()), (VerdictKind::WorthIt, Some("ridge AR")));
        assert!(
            verdict.text.starts_with("the net is worth it: it is 0.300 ± 0.050 nats per step better"),
            "{}",
            verdict.text
        );
        let verdict = Verdict::new("the net", &[rival("ridge AR", 0.2, 0.1)], LossUnit::Nats);
        assert_eq!(verdict.kind, VerdictKind::UseRival);
        assert!(verdict.text.starts_with("use ridge AR: "), "{}", verdict.text);
        assert_eq!(
            Verdict::new("the net", &[rival("ridge AR", -0.05, -0.1)], LossUnit::Nats).kind,
            VerdictKind::Undecided
        );
        assert_eq!(Verdict::new("the net", &[], LossUnit::Nats).kind, VerdictKind::Undecided);
    }

    #[test]
    fn better_probabilities_count_where_errors_do_not_decide() {
        let with = |errors: f64, nats: f64| {
            let probabilities = Some(rival("", nats, nats).loss);
            let lda = Rival { probabilities, ..rival("LDA", errors, -0.07) };
            Verdict::new("the net", &[lda], LossUnit::ErrorShare)
        };
        let verdict = with(-0.003, -0.2);
        assert_eq!(verdict.kind, VerdictKind::WorthIt);
        assert!(
            verdict.text.starts_with(
                "the net is worth it for its probabilities: they are 0.200 ± 0.050 nats per sequence better than those of LDA"
            ) && verdict.text.contains("by errors it is 0.300 ± 5.000 percentage points of error better than LDA"),
            "{}",
            verdict.text
        );
        assert_eq!(with(-0.003, -0.05).kind, VerdictKind::UseRival, "chance would explain it");
        assert_eq!(with(0.2, -0.2).kind, VerdictKind::UseRival, "more errors");
        assert!(with(-0.2, -0.2).text.starts_with("the net is worth it: "), "errors decide");
    }

    #[test]
    fn a_baseline_that_is_better_on_test_data_is_named() {
        let verdict = || Verdict::new("the net", &[rival("ridge AR", 0.0, 0.0)], LossUnit::Nats);
        let by = |mean: f64| PairedDifference { mean, std_error: 0.1 };
        assert!(BetterOnTest::new("persistence", by(-0.1), 2.0).is_none());
        let found = BetterOnTest::new("persistence", by(-3.0), 9.64);
        let text = verdict().with_better_on_test(found.as_ref()).text;
        assert!(text.contains("On test data persistence is 3.000 ± 0.100 nats per step better"), "{text}");
        assert!(text.contains("is 9.6 times that on validation data"), "{text}");
        assert_eq!(verdict().with_better_on_test(None).text, verdict().text);
    }

    #[test]
    fn a_test_that_disagrees_is_told() {
        let verdict = Verdict::new("the net", &[rival("ridge AR", -0.3, 0.2)], LossUnit::Nats);
        assert!(
            verdict.kind == VerdictKind::WorthIt && verdict.text.contains("disagree"),
            "{}",
            verdict.text
        );
    }
}
