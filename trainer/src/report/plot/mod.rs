//! Plots as scalable SVG that follows the colour scheme of the page and accepts any data.
//!
//! Values that are not finite leave gaps; a plot without data is labelled so.

mod band;
mod bars;
mod calibration;
mod chart;
mod confusion;
mod coverage;
mod figure;
mod groups;
mod histogram;
mod legend;
mod loss;
mod points;
mod rejection;
mod roll;
mod scale;
mod scatter;
mod series;
mod svg;
#[cfg(test)]
mod tests;
mod trace;
mod trials;

pub use band::{Band, ShadedRange, band};
pub use bars::{Bar, Bars, bars};
pub use calibration::{Calibration, CalibrationCurve, calibration, reliability};
pub use confusion::{Confusion, confusion};
pub use coverage::{CoverageBar, CoverageBars, coverage_bars};
pub use figure::{Drawing, Figure, standalone};
pub use histogram::{Histogram, histogram};
pub use loss::{LossCurves, loss_curves};
pub use points::{ClassPointSet, ClassPoints, class_points};
pub use rejection::{Rejection, RejectionCurve, rejection};
pub use roll::{Roll, Rolls, rolls};
pub use scatter::{Scatter, scatter};
pub use series::{Area, Curve, CurveStyle, Series, series};
pub use trials::{TrialMark, Trials, Values, trials};

/// Look of everything inside a plot: colours, for either scheme, and strokes.
pub(super) const STYLE: &str = include_str!("plot.css");
