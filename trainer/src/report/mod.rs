//! Reports as self-contained HTML files: no network, no script, no font.
//!
//! Plain data goes in ([`Report`], and the structs of [`plot`]), text comes out. The page follows the
//! reader's light or dark scheme, and its colours are distinguishable with colour blindness.
//!
//! ```
//! use quaver_trainer::report::{Body, KeyFigure, Report, Section, plot, render};
//!
//! let report = Report {
//!     title: "Grip force".into(),
//!     subtitle: "Held-out minute".into(),
//!     key_figures: vec![KeyFigure::new("R²", "0.97", "on data never trained on")],
//!     sections: vec![Section {
//!         heading: "Training".into(),
//!         text: "The best epoch is the one that is kept.".into(),
//!         body: Body::Svg(plot::loss_curves(&plot::LossCurves {
//!             train: &[1.0, 0.4, 0.2],
//!             valid: &[1.1, 0.5, 0.6],
//!             best: Some(1),
//!             y_label: "NLL (nats per step)",
//!         })),
//!     }],
//! };
//! assert!(render(&report).contains("best: epoch 2"));
//! ```

mod html;
pub mod plot;

use std::path::Path;

pub use html::render;

/// A whole report, in the order in which it is read.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The subject.
    pub title: String,
    /// Details of the subject: the model, the data, the date.
    pub subtitle: String,
    /// The few numbers that a reader with ten seconds should see.
    pub key_figures: Vec<KeyFigure>,
    /// Everything else.
    pub sections: Vec<Section>,
}

/// One key figure.
#[derive(Clone, Debug)]
pub struct KeyFigure {
    /// What is counted or measured.
    pub label: String,
    /// The number with its unit.
    pub value: String,
    /// How to interpret it, in a few words.
    pub note: String,
}

impl KeyFigure {
    /// A key figure.
    pub fn new(label: impl Into<String>, value: impl Into<String>, note: impl Into<String>) -> Self {
        Self { label: label.into(), value: value.into(), note: note.into() }
    }
}

/// One exhibit with its explanation.
#[derive(Clone, Debug)]
pub struct Section {
    /// A short heading.
    pub heading: String,
    /// The explanation; a blank line starts a new paragraph.
    pub text: String,
    /// The exhibit.
    pub body: Body,
}

impl Section {
    /// A plot that needs no explanation.
    pub fn plot(heading: impl Into<String>, figure: plot::Figure) -> Self {
        Self { heading: heading.into(), text: String::new(), body: Body::Svg(figure) }
    }
}

/// The exhibit of a section.
#[derive(Clone, Debug)]
pub enum Body {
    /// A plot.
    Svg(plot::Figure),
    /// A table.
    Table(ReportTable),
    /// Preformatted text.
    Pre(String),
}

/// A table: the first column names the row, the others hold numbers and are aligned to the right.
#[derive(Clone, Debug, Default)]
pub struct ReportTable {
    /// Heading of each column.
    pub columns: Vec<String>,
    /// The cells, row by row; short rows end in empty cells.
    pub rows: Vec<Vec<String>>,
}

/// Writes the report to `path` atomically.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, report: &Report) -> anyhow::Result<()> {
    crate::files::replace(path, render(report).as_bytes())
}
