//! The report of a fit.

use super::results::FitResults;
use super::understand::Understanding;
use crate::auto::{Budget, TimedSearchReport};
use crate::report::{Body, KeyFigure, Report, ReportTable, Section};

/// Trials that are listed, at most.
const SHOWN: usize = 20;

/// The page.
pub(super) fn page(
    found: &Understanding,
    budget: &Budget,
    searched: &TimedSearchReport,
    results: &FitResults,
) -> Report {
    let mut key_figures = results.key_figures.clone();
    key_figures.extend(budget.uses(&results.cost).iter().map(|used| {
        let number = |value: f64| {
            if used.unit == "bytes" { format!("{:.1} KiB", value / 1024.0) } else { format!("{value:.1} %") }
        };
        let of = used
            .available
            .map_or("no limit given".to_string(), |available| format!("of {}", number(available)));
        KeyFigure::new(used.resource, number(used.needed), of)
    }));
    let mut sections = vec![table(
        "Compared with what needs no network",
        &format!("Verdict: {}.", results.verdict.text),
        results.comparison.clone(),
    )];
    sections.extend(results.sections.iter().cloned());
    sections.push(Section {
        heading: "What was compared".into(),
        text: String::new(),
        body: Body::Pre(results.details.trim_end().into()),
    });
    sections.push(table("Trials", "The lowest validation loss first.", trials(searched)));
    sections.push(table("Columns", "What each column was taken for, and why.", columns(found)));
    sections.push(Section {
        heading: "Data and budget".into(),
        text: String::new(),
        body: Body::Pre(format!(
            "task     {}\nsplits   {}\nrate     {}\nbudget   {}",
            found.experiment.task_in_words(),
            found.splits(),
            found.clock.as_ref().map_or("unknown".to_string(), ToString::to_string),
            results.budget_in_words(budget)
        )),
    });
    Report {
        title: "Fitted model".into(),
        subtitle: format!("To {}.", found.experiment.task_in_words()),
        key_figures,
        sections,
    }
}

fn table(heading: &str, text: &str, mut rows: Vec<Vec<String>>) -> Section {
    let columns = rows.remove(0);
    Section { heading: heading.into(), text: text.into(), body: Body::Table(ReportTable { columns, rows }) }
}

fn trials(searched: &TimedSearchReport) -> Vec<Vec<String>> {
    let mut rows = vec![["trial", "validation loss", "epochs"].map(String::from).to_vec()];
    rows.extend(
        searched
            .trials
            .iter()
            .take(SHOWN)
            .map(|(loss, name, epochs)| vec![name.clone(), format!("{loss:.4}"), epochs.to_string()]),
    );
    rows
}

fn columns(found: &Understanding) -> Vec<Vec<String>> {
    let mut rows = vec![["column", "taken for", "unit", "why"].map(String::from).to_vec()];
    rows.extend(found.roles.columns.iter().map(|column| {
        let unit = column.unit.clone().unwrap_or_default();
        vec![column.name.clone(), column.role.name().to_string(), unit, column.reason.clone()]
    }));
    rows
}
