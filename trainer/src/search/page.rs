//! The report of a search.

use super::importance::{KeyImportance, number};
use super::leaderboard::shown;
use super::{Leaderboard, LeaderboardEntry, TrialStatus};
use crate::report::plot::{self, Bar, Bars, TrialMark, Trials, Values};
use crate::report::{Body, KeyFigure, Report, ReportTable, Section};

/// Rows of the leaderboard in the report.
const SHOWN: usize = 30;

/// The report of a search.
pub fn page(title: &str, leaderboard: &Leaderboard) -> Report {
    let mut sections = vec![importance(leaderboard)];
    sections.extend(leaderboard.importance.iter().map(|key| by_value(key, leaderboard)));
    sections.push(ranking(leaderboard));
    Report {
        title: title.into(),
        subtitle: "Validation loss in nats per time step, summed over outputs; smaller is better".into(),
        key_figures: key_figures(leaderboard),
        sections,
    }
}

fn key_figures(leaderboard: &Leaderboard) -> Vec<KeyFigure> {
    let epochs: usize = leaderboard.trials.iter().map(|place| place.epochs).sum();
    let count = |status| leaderboard.trials.iter().filter(|place| place.status == status).count();
    let mut figures = Vec::new();
    if let Some((best, nll)) = leaderboard.best().and_then(|best| Some((best, best.valid_nll?))) {
        figures.push(KeyFigure::new("best loss", format!("{nll:.4}"), format!("trial {}", best.trial)));
    }
    let trials = leaderboard.trials.len();
    figures.push(KeyFigure::new(
        "trials",
        trials.to_string(),
        format!("{} to the end", count(TrialStatus::Finished)),
    ));
    figures.push(KeyFigure::new("epochs", epochs.to_string(), "of all trials together"));
    figures.push(KeyFigure::new(
        "failed",
        count(TrialStatus::Failed).to_string(),
        "trials that could not continue",
    ));
    figures
}

fn importance(leaderboard: &Leaderboard) -> Section {
    let bar = |key: &KeyImportance| Bar {
        label: key.key.clone(),
        value: 100.0 * key.explained as f32,
        group: String::new(),
        note: key.correlation.map_or(String::new(), |r| format!("correlation {r:+.2}")),
    };
    let bars: Vec<Bar> = leaderboard.importance.iter().map(bar).collect();
    Section {
        heading: "Importance of keys".into(),
        text: "Fraction of the variance of the trials' ranks after the first stage that each key explains by itself, adjusted \
               for chance. A positive correlation means that smaller values were better."
            .into(),
        body: Body::Svg(plot::bars(&Bars { bars: &bars, unit: "%" })),
    }
}

/// Loss against the values of one key.
fn by_value(key: &KeyImportance, leaderboard: &Leaderboard) -> Section {
    let places = || leaderboard.trials.iter().filter(|place| place.first_nll.is_some());
    let numbers: Option<Vec<f32>> =
        places().map(|place| number(&place.values[&key.key]).map(|n| n as f32)).collect();
    let words: Vec<String> = places().map(|place| shown(&place.values[&key.key])).collect();
    let losses: Vec<f32> = places().filter_map(|place| place.first_nll.map(|nll| nll as f32)).collect();
    let best = leaderboard.best().map(|best| best.trial);
    let marks: Vec<TrialMark> = places().map(|place| mark(place, best)).collect();
    let figure = plot::trials(&Trials {
        values: numbers.as_deref().map_or(Values::Words(&words), Values::Numbers),
        losses: &losses,
        marks: &marks,
        x_label: &key.key,
        y_label: "validation NLL after the first stage",
    });
    Section {
        heading: key.key.clone(),
        text: format!("Explains {:.0} %.", 100.0 * key.explained),
        body: Body::Svg(figure),
    }
}

fn mark(place: &LeaderboardEntry, best: Option<usize>) -> TrialMark {
    match place.status {
        _ if Some(place.trial) == best => TrialMark::Best,
        TrialStatus::Finished => TrialMark::Finished,
        _ => TrialMark::Stopped,
    }
}

fn ranking(leaderboard: &Leaderboard) -> Section {
    let mut rows = leaderboard.table();
    let columns = rows.remove(0);
    rows.truncate(SHOWN);
    let rest = leaderboard.trials.len().saturating_sub(SHOWN);
    let text = if rest == 0 { String::new() } else { format!("{rest} more are in leaderboard.csv.") };
    Section { heading: "Leaderboard".into(), text, body: Body::Table(ReportTable { columns, rows }) }
}
