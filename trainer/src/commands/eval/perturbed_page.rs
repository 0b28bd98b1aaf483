//! Missing channels and faults as sections of a page.

use super::page::section;
use super::perturbed::PerturbedEvaluation;
use super::{faults, missing};
use crate::evaluate::{MissingScores, ValueGroup};
use crate::report::plot::{self, CoverageBar, CoverageBars};
use crate::report::{Body, Section};

/// The sections of an evaluation.
pub(super) fn sections(found: &PerturbedEvaluation) -> Vec<Section> {
    let mut sections = Vec::new();
    if !found.missing.is_empty() {
        sections.extend(coverage(&found.missing));
        sections.push(section(
            "Missing channels",
            &sentences(&missing::notes()),
            missing::rows(&found.missing),
        ));
    }
    if let Some(scores) = &found.faults {
        let text = "Area under the receiver operating characteristic: probability that a row changed by the fault scores higher \
                    than a row of the sound recording. 1 is perfect, 0.5 is chance, below 0.5 a faulty row looks more usual \
                    than a sound one.";
        sections.push(section("How well scores detect faults (AUROC)", text, faults::auroc_rows(scores)));
        sections.push(section(
            "Faults",
            &sentences(&faults::notes(scores, found.hours())),
            faults::rows(scores),
        ));
    }
    sections
}

/// Lines of a terminal as sentences of one paragraph, in which line breaks are lost.
fn sentences(lines: &str) -> String {
    let sentence = |line: &str| {
        let mut letters = line.trim_end_matches('.').chars();
        let first = letters.next().map(char::to_uppercase);
        first.into_iter().flatten().chain(letters).chain(['.']).collect::<String>()
    };
    lines.lines().filter(|line| !line.is_empty()).map(sentence).collect::<Vec<_>>().join(" ")
}

/// A bar for every case; `None` for binary outputs.
pub(in crate::commands) fn coverage(found: &[MissingScores]) -> Option<Section> {
    let bars: Vec<CoverageBar> = found.iter().flat_map(bars).collect();
    (!bars.is_empty()).then(|| Section {
        heading: "Coverage with missing channels".into(),
        text: "Proportion of values inside the 90 % interval, with its standard error. Left of the dashed line the error bar is \
               too narrow."
            .into(),
        body: Body::Svg(plot::coverage_bars(&CoverageBars { bars: &bars, nominal: 0.9 })),
    })
}

fn bars(scores: &MissingScores) -> Vec<CoverageBar> {
    let bar = |summary: &crate::evaluate::RunSummary| {
        let values = match summary.group {
            ValueGroup::Outputs => String::new(),
            group => format!(", {}", missing::group_name(group, "missing channels")),
        };
        Some(CoverageBar {
            label: format!("{} missing{values}", scores.case),
            coverage: summary.mean.coverage? as f32,
            std_error: summary.mean.coverage_std_error? as f32,
            group: format!("model reads {}", scores.reads),
        })
    };
    scores.groups.iter().filter_map(bar).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_legend_is_a_sentence_on_the_page() {
        assert_eq!(sentences("one: two\n\nthree.\nAUROC: four\n"), "One: two. Three. AUROC: four.");
        let legend = sentences(&missing::notes());
        assert!(!legend.contains('\n') && legend.ends_with('.'), "{legend}");
        assert_eq!(legend.matches(". ").count(), missing::notes().lines().count() - 1, "{legend}");
    }
}
