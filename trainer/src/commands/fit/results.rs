//! What a fit has found, as text and as JSON.

use std::path::Path;

use serde_json::{Value, json};

use super::console::in_words;
use super::replay;
use super::understand::Understanding;
use crate::auto::{BestTrial, Budget, ModelCost, Rival, TimedSearchReport, Verdict};
use crate::commands::text_table;
use crate::report::{KeyFigure, Section};

/// A path as a shell takes it.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |character: char| character.is_alphanumeric() || "/._-+:\\".contains(character);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

/// The results of one model, whatever it is for.
pub(super) struct FitResults {
    /// The trial whose model was exported.
    pub(super) exported: BestTrial,
    /// Whether it is worth it.
    pub(super) verdict: Verdict,
    /// What it was compared with.
    pub(super) rivals: Vec<Rival>,
    /// The model and its rivals on test data, below a heading.
    pub(super) comparison: Vec<Vec<String>>,
    /// What the columns of the comparison mean, and how rivals work.
    pub(super) details: String,
    /// Figures in words.
    pub(super) facts: Vec<(&'static str, String)>,
    /// What the checkpoint takes.
    pub(super) cost: ModelCost,
    /// Its layout.
    pub(super) layout: String,
    /// For the page.
    pub(super) key_figures: Vec<KeyFigure>,
    pub(super) sections: Vec<Section>,
    /// Scores for scripts.
    pub(super) scores: Value,
    /// The command that runs the model on rows.
    pub(super) run_command: &'static str,
}

impl FitResults {
    /// Whether the exported model is within the budget, in words.
    pub(super) fn budget_in_words(&self, budget: &Budget) -> String {
        let fits = if budget.fits(&self.cost) { "" } else { "; IT DOES NOT FIT" };
        format!(
            "{}, layout {}, on {}{fits}",
            budget.in_words(&self.cost),
            self.layout,
            budget.core().in_words()
        )
    }

    /// The commands that come next.
    fn next(&self, budget: &Budget, out: &Path, rows: &str) -> [(String, &'static str); 3] {
        let path = |name: &str| quoted(&out.join(name));
        [
            (
                format!("quaver {} {} --input {}", self.run_command, path("model.qvr"), rows),
                "run it as the board does, row by row",
            ),
            (
                format!("quaver train {} --out {}", path("config.toml"), path("again")),
                "change the config, and train again",
            ),
            self.flash_command(budget, out).map_or_else(
                || {
                    let what =
                        "what it takes; model.rs and model.h go into firmware: docs/how-to/flash-a-board.md";
                    (format!("quaver inspect {}", path("model.qvr")), what)
                },
                |command| (command, "flash it: the board replays test rows, and sends what it predicts"),
            ),
        ]
    }

    /// A board's firmware replays rows to predictors alone.
    fn flash_command(&self, budget: &Budget, out: &Path) -> Option<String> {
        let command = replay::flash_command(budget, &self.layout, &quoted(out));
        command.filter(|_| self.run_command == "run")
    }

    /// Everything that a person has to read.
    pub(super) fn render(
        &self,
        budget: &Budget,
        searched: &TimedSearchReport,
        out: &Path,
        rows: &str,
    ) -> String {
        let mut text = format!("\n{}\n{}\n", text_table::render(&self.comparison), self.details);
        for (label, value) in &self.facts {
            text += &format!("{label:<22} {value}\n");
        }
        text += &format!("{:<22} {}\n", "budget", self.budget_in_words(budget));
        let searched_for = in_words(std::time::Duration::from_secs_f64(searched.seconds));
        text += &format!(
            "{:<22} {} trials in {searched_for}, best: {}\n",
            "searched",
            searched.trials.len(),
            searched.best().name
        );
        if self.exported.name != searched.best().name {
            text += &format!("{:<22} {}\n", "exported", self.exported.name);
        }
        text += &format!("\nverdict: {}\n\n", self.verdict.text);
        let place = out.display();
        text += &format!("{place}: report.html, model.qvr, model.rs, model.h, config.toml, run\n\nnext:\n");
        for (command, what) in self.next(budget, out, rows) {
            text += &format!("  {command}\n      {what}\n");
        }
        text
    }

    pub(super) fn json(
        &self,
        found: &Understanding,
        budget: &Budget,
        searched: &TimedSearchReport,
        out: &Path,
        rows: &str,
    ) -> Value {
        let next: Vec<String> =
            self.next(budget, out, rows).into_iter().map(|(command, _)| command).collect();
        let trials: Vec<Value> = searched
            .trials
            .iter()
            .map(|(loss, name, epochs)| json!({ "name": name, "valid_loss": loss, "epochs": epochs }))
            .collect();
        json!({
            "understood": found.json(),
            "verdict": self.verdict,
            "exported": self.exported.name,
            "rivals": self.rivals,
            "scores": self.scores,
            "cost": self.cost,
            "layout": self.layout,
            "budget": budget,
            "uses": budget.uses(&self.cost),
            "fits": budget.fits(&self.cost),
            "search": {
                "best": searched.best().name,
                "valid_loss": searched.best().valid_loss,
                "seconds": searched.seconds,
                "interrupted": searched.was_interrupted,
                "trials": trials,
            },
            "folder": out,
            "next": next,
        })
    }
}
