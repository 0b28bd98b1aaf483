//! Whether a network is worth it: compared with what needs none, on the same rows.

use serde::Serialize;

use crate::evaluate::PairedDifference;

/// A difference in nats per step, or in the share of errors, that nobody would notice.
const NEGLIGIBLE: f64 = 0.01;

/// A method without a network, compared with the model. Differences are those of a loss, the model's less
/// the rival's: below zero the model is better.
#[derive(Clone, Debug, Serialize)]
pub struct Rival {
    /// Its name.
    pub name: String,
    /// The difference on validation data, by which it is decided.
    pub valid: PairedDifference,
    /// The difference on test data, which is reported; none without test data.
    pub test: Option<PairedDifference>,
    /// Whether it can be exported in the place of the model: then the model has to be clearly better.
    pub is_model: bool,
}

impl Rival {
    /// Whether it is as good as the model, or better, on validation data.
    fn is_as_good(&self) -> bool {
        self.valid.mean >= -NEGLIGIBLE
    }

    /// Whether the model is not clearly better on validation data.
    pub fn suffices(&self) -> bool {
        !self.valid.is_clearly_below(-NEGLIGIBLE)
    }
}

/// The loss whose difference decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossUnit {
    /// Negative log-likelihood per time step.
    Nats,
    /// Share of wrong classes.
    ErrorShare,
}

impl LossUnit {
    fn name(self) -> &'static str {
        match self {
            LossUnit::Nats => "nats per step",
            LossUnit::ErrorShare => "percentage points of error",
        }
    }

    fn factor(self) -> f64 {
        match self {
            LossUnit::Nats => 1.0,
            LossUnit::ErrorShare => 100.0,
        }
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
        let Some(best) = rivals.iter().max_by(|one, other| one.valid.mean.total_cmp(&other.valid.mean))
        else {
            let text = format!("there is nothing to compare {model} with");
            return Verdict { kind: VerdictKind::Undecided, rival: None, text };
        };
        let kind = match (best.suffices(), best.is_as_good() || best.is_model) {
            (false, _) => VerdictKind::WorthIt,
            (true, true) => VerdictKind::UseRival,
            (true, false) => VerdictKind::Undecided,
        };
        let by = |difference: &PairedDifference| {
            let how = if difference.mean < 0.0 { "better" } else { "worse" };
            let [mean, error] =
                [difference.mean.abs(), difference.std_error].map(|value| unit.factor() * value);
            format!("{mean:.3} ± {error:.3} {} {how}", unit.name())
        };
        let name = &best.name;
        let on_test =
            best.test.as_ref().map_or(String::new(), |test| format!(", and {} on test data", by(test)));
        let evidence = format!("{} than {name} on validation data{on_test}", by(&best.valid));
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
        text += best.test.as_ref().map_or("", |test| doubt(kind, best.is_as_good(), test));
        Verdict { kind, rival: Some(name.clone()), text }
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
        Rival { name: name.into(), valid: of(valid), test: Some(of(test)), is_model: false }
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
    fn a_test_that_disagrees_is_told() {
        let verdict = Verdict::new("the net", &[rival("ridge AR", -0.3, 0.2)], LossUnit::Nats);
        assert!(
            verdict.kind == VerdictKind::WorthIt && verdict.text.contains("disagree"),
            "{}",
            verdict.text
        );
    }
}
