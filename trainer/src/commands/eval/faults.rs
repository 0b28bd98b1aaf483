//! Scores with faults of sensors as a plain table.

use crate::commands::text_table;
use crate::evaluate::{Detection, FaultScores, SPIKE_EVERY, ScoreThreshold, ThresholdSource};

use super::missing::group_name;
use super::text::{covered, per_cent};

/// One row per fault, strength and group of values, below a heading.
pub(super) fn rows(found: &FaultScores) -> Vec<Vec<String>> {
    let own_inputs = found.faults.iter().any(|outcome| outcome.groups.len() > 1);
    let mut heading = vec!["fault".to_string(), "strength".into()];
    if own_inputs {
        heading.push("values of".into());
    }
    heading.extend(["RMSE", "90 %", "width"].map(String::from));
    for score in shown(found) {
        heading.extend([format!("{}: AUROC", score.name), "delay".into(), "detected".into()]);
    }
    let mut rows = vec![heading];
    let sound = found.sound.iter().map(|summary| ("none", "", summary, None));
    let outcomes = found.faults.iter().flat_map(|outcome| {
        outcome.groups.iter().enumerate().map(|(index, summary)| match index {
            0 => (outcome.fault, outcome.strength.as_str(), summary, Some(&outcome.detection)),
            _ => ("", "", summary, None),
        })
    });
    for (fault, strength, summary, detection) in sound.chain(outcomes) {
        let mut row = vec![fault.to_string(), strength.to_string()];
        if own_inputs {
            row.push(group_name(summary.group, "faulty channel").into());
        }
        let scores = &summary.mean;
        row.push(format!("{:.4}", scores.rmse));
        row.push(covered(scores.coverage, scores.coverage_std_error));
        row.push(scores.width.map_or("-".into(), |width| format!("{width:.4}")));
        let detections = detection.into_iter().flatten().filter(|entry| is_shown(found, entry.score));
        row.extend(detections.flat_map(detection_cells));
        rows.push(row);
    }
    rows
}

/// The scores that this model has.
fn shown(found: &FaultScores) -> impl Iterator<Item = &ScoreThreshold> {
    found.scores.iter().filter(|score| is_shown(found, score.name))
}

fn is_shown(found: &FaultScores, score: &str) -> bool {
    let detections = found.faults.iter().flat_map(|outcome| &outcome.detection);
    detections.filter(|entry| entry.score == score).any(|entry| entry.auroc.is_some())
}

/// Fault, strength, and the AUROC of every score, below a heading.
pub(super) fn auroc_rows(found: &FaultScores) -> Vec<Vec<String>> {
    let mut heading = vec!["fault".to_string(), "strength".into()];
    heading.extend(shown(found).map(|score| score.name.to_string()));
    let mut rows = vec![heading];
    for outcome in &found.faults {
        let mut row = vec![outcome.fault.to_string(), outcome.strength.clone()];
        let detections = outcome.detection.iter().filter(|entry| is_shown(found, entry.score));
        row.extend(detections.map(|entry| number(entry.auroc)));
        rows.push(row);
    }
    rows
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".into(), |value| format!("{value:.3}"))
}

fn detection_cells(detection: &Detection) -> [String; 3] {
    let delay = detection.delay.map_or("-".into(), |rows| format!("{rows:.0}"));
    [number(detection.auroc), delay, detection.detected.map_or("-".into(), per_cent)]
}

/// How the figures were made; `hours` is the length of the sound recording, if the rate is known.
pub(super) fn notes(found: &FaultScores, hours: Option<f64>) -> String {
    let mut text = format!(
        "each fault in one channel at a time ({}), in {} stretches of {} rows; RMSE, 90 % and width in these stretches, mean \
         over channels; σ: training standard deviation of the channel; spikes: one row in {SPIKE_EVERY}\n\
         AUROC: probability that a row changed by the fault scores higher than a row of the sound recording\n",
        found.channels.join(", "),
        found.stretches,
        found.stretch_rows,
    );
    text += match hours {
        Some(_) => {
            "delay: median rows from the first changed row to the first alarm, at one false alarm per hour; -: less than half \
             are detected; detected: proportion of the stretches with an alarm\n"
        }
        None => "delay and detected: not available without the sampling rate; add --rate-hz\n",
    };
    for score in shown(found) {
        text += &format!("{}: {}{}\n", score.name, score.detail, threshold_note(score, hours));
    }
    for score in found.scores.iter().filter(|score| !is_shown(found, score.name)) {
        text +=
            &format!("{}: not available, because this model does not predict its own inputs\n", score.name);
    }
    text
}

fn threshold_note(score: &ScoreThreshold, hours: Option<f64>) -> String {
    let (Some(found), Some(hours)) = (score.threshold, hours) else { return String::new() };
    let how = match found.source {
        ThresholdSource::Measured => format!("from {hours:.1} hours of sound recording"),
        ThresholdSource::Extrapolated => format!(
            "extrapolated from {:.0} s of sound recording to an hour by a generalised Pareto tail: a rough figure",
            3600.0 * hours
        ),
        ThresholdSource::LargestSound => format!(
            "the largest score in {:.0} s of sound recording, which is too short to set a rate of false alarms",
            3600.0 * hours
        ),
    };
    format!("; threshold {:.4}, {how}", found.threshold)
}

/// The table with explanations.
pub(super) fn render(found: &FaultScores, hours: Option<f64>) -> String {
    format!("{}\n{}", text_table::render(&rows(found)), notes(found, hours))
}
