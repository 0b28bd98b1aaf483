//! Results: a line per case as soon as it is done, so that whoever stops a run has those; in the end a table
//! of models and layouts.

use super::campaign::Outcome;
use super::recovery::LONGEST;

const LAYOUTS: [&str; 4] = ["float", "small", "fast", "mean"];

/// One case in words.
pub fn line(outcome: &Outcome) -> String {
    let Outcome { model, layout, recovery, drift, .. } = outcome;
    let worst = recovery.worst.map_or_else(String::new, |garbage| format!(" ({garbage})"));
    let drifted = match (drift.repeats_after, drift.difference) {
        (Some(rows), _) => format!("its state repeats after {rows} rows"),
        (None, difference) => format!("its state does not repeat, and differs by {difference:.0e}"),
    };
    format!(
        "{model} {layout}: {} bursts, back after {} rows, {} at most{worst}; {drifted}",
        recovery.rows.len(),
        rows(recovery.median()),
        rows(recovery.longest()),
    )
}

/// All cases as a table in Markdown: median and longest recovery in clean rows, by model and layout.
pub fn table(outcomes: &[Outcome]) -> String {
    let mut models: Vec<&str> = Vec::new();
    for outcome in outcomes {
        if !models.contains(&outcome.model.as_str()) {
            models.push(&outcome.model);
        }
    }
    let header = "| model | bursts | float | small | fast | mean | longest after | state repeats after |\n\
                  |---|---:|---:|---:|---:|---:|---|---:|\n";
    models.iter().fold(String::from(header), |table, model| table + &table_row(model, outcomes))
}

fn table_row(model: &str, outcomes: &[Outcome]) -> String {
    let of_model = || outcomes.iter().filter(|outcome| outcome.model == model);
    let cells = LAYOUTS.map(|layout| {
        let outcome = of_model().find(|outcome| outcome.layout == layout);
        let pair = |outcome: &Outcome| (outcome.recovery.median(), outcome.recovery.longest());
        outcome
            .map(pair)
            .map_or_else(String::new, |(median, most)| format!("{} / {}", rows(median), rows(most)))
    });
    let bursts: usize = of_model().map(|outcome| outcome.recovery.rows.len()).sum();
    let worst = of_model().max_by_key(|outcome| outcome.recovery.longest());
    let worst = worst.and_then(|outcome| outcome.recovery.worst);
    let repeats = of_model().map(|outcome| outcome.drift.repeats_after).collect::<Option<Vec<_>>>();
    format!(
        "| {model} | {bursts} | {} | {} | {} |\n",
        cells.join(" | "),
        worst.map_or_else(String::new, |garbage| garbage.to_string()),
        repeats.and_then(|rows| rows.into_iter().max()).map_or_else(|| "–".into(), |rows| rows.to_string()),
    )
}

fn rows(rows: usize) -> String {
    if rows == LONGEST { format!("> {LONGEST}") } else { rows.to_string() }
}

/// One case as a JSON object. Names are words joined by hyphens, so that nothing has to be escaped.
pub fn json(outcome: &Outcome) -> String {
    let Outcome { model, layout, recovery, drift, remembers } = outcome;
    let worst = recovery.worst.map_or_else(|| "null".into(), |garbage| format!("\"{garbage}\""));
    let repeats = drift.repeats_after.map_or_else(|| "null".into(), |rows| rows.to_string());
    format!(
        "{{\"model\":\"{model}\",\"layout\":\"{layout}\",\"steps\":{},\"bursts\":{},\"median_rows\":{},\
         \"longest_rows\":{},\"longest_after\":{worst},\"unrecovered\":{},\"same_bits\":{},\"restored\":{},\
         \"remembers_misses\":{remembers},\"drift\":{:e},\"drift_rows\":[{},{}],\"repeats_after\":{repeats}}}",
        outcome.steps(),
        recovery.rows.len(),
        recovery.median(),
        recovery.longest(),
        recovery.unrecovered(),
        recovery.same_bits,
        recovery.restored,
        drift.difference,
        drift.early,
        drift.steps,
    )
}
