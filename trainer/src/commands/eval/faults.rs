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
        heading.extend([
            format!("{}: AUROC", score.name),
            "settled".into(),
            "delay".into(),
            "detected".into(),
        ]);
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

fn detection_cells(detection: &Detection) -> [String; 4] {
    let delay = detection.delay.map_or("-".into(), |rows| format!("{rows:.0}"));
    [
        number(detection.auroc),
        number(detection.auroc_settled),
        delay,
        detection.detected.map_or("-".into(), per_cent),
    ]
}

/// How the figures were made; `hours` is the length of the sound recording, if the rate is known.
pub(super) fn notes(found: &FaultScores, hours: Option<f64>) -> String {
    let mut text = format!(
        "each fault in one channel at a time ({}), in {} stretches of {} rows; RMSE, 90 % and width in these stretches, mean \
         over channels; σ: training standard deviation of the channel; spikes: one row in {SPIKE_EVERY}\n\
         AUROC: probability that a row changed by the fault scores higher than a row of the sound recording; settled: the same \
         {}\n",
        found.channels.join(", "),
        found.stretches,
        found.stretch_rows,
        settled_note(found.settling_rows),
    );
    text += match hours {
        Some(_) => {
            "delay: median rows from the first changed row to the first alarm, at one false alarm per hour or the threshold of \
             the checkpoint; -: less than half are detected; detected: proportion of the stretches with an alarm\n"
        }
        None => {
            "delay and detected: only of scores with a threshold in the checkpoint; add --rate-hz for the others\n"
        }
    };
    for score in shown(found) {
        text += &format!("{}: {}{}\n", score.name, score.detail, threshold_note(score, hours));
    }
    for score in found.scores.iter().filter(|score| !is_shown(found, score.name)) {
        let why = match score.name {
            "anomaly" => "the checkpoint has no limits; export it with --false-alarms",
            _ => "this model does not predict its own inputs",
        };
        text += &format!("{}: not available, because {why}\n", score.name);
    }
    text
}

/// What the column `settled` leaves out.
fn settled_note(rows: usize) -> String {
    match rows {
        0 => "figure, because a checkpoint without limits gathers no evidence".into(),
        1 => "without the first row after its onset, over which evidence is gathered".into(),
        rows => format!("without the first {rows} rows after its onset, over which evidence is gathered"),
    }
}

fn threshold_note(score: &ScoreThreshold, hours: Option<f64>) -> String {
    let Some(found) = score.threshold else { return String::new() };
    let recording = match hours {
        Some(hours) if hours < 1.0 => format!("{:.0} s of sound recording", 3600.0 * hours),
        Some(hours) => format!("{hours:.1} hours of sound recording"),
        None => "the sound recording".into(),
    };
    let how = match found.source {
        ThresholdSource::Checkpoint => "that of the checkpoint".into(),
        ThresholdSource::Measured => format!("from {recording}"),
        ThresholdSource::Extrapolated => {
            format!("extrapolated from {recording} to an hour by a generalised Pareto tail: a rough figure")
        }
        ThresholdSource::LargestSound => {
            format!("the largest score in {recording}, which is too short to set a rate of false alarms")
        }
    };
    let observed = match (found.source, score.false_alarms) {
        (ThresholdSource::Checkpoint, Some(count)) => format!("; {count} false alarms in {recording}"),
        _ => String::new(),
    };
    format!("; threshold {:.4}, {how}{observed}", found.threshold)
}

/// The table with explanations.
pub(super) fn render(found: &FaultScores, hours: Option<f64>) -> String {
    format!("{}\n{}", text_table::render(&rows(found)), notes(found, hours))
}

#[cfg(test)]
mod tests {
    use super::settled_note;

    #[test]
    fn a_model_without_limits_leaves_out_no_rows() {
        assert!(!settled_note(0).contains('0'));
        assert!(settled_note(1).contains("the first row after"));
        assert!(settled_note(16).contains("the first 16 rows after"));
    }
}
