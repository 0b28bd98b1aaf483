//! Loss curves of training.

use super::chart::{Axis, Chart};
use super::figure::{Figure, HALF};
use super::legend::{Entry, Mark};
use super::scale::Range;
use super::svg::Svg;
use super::trace;

/// The data of [`loss_curves`].
pub struct LossCurves<'a> {
    /// Loss on the training data after each epoch.
    pub train: &'a [f32],
    /// Loss on the validation data after each epoch.
    pub valid: &'a [f32],
    /// Index of the selected epoch, counted from 0.
    pub best: Option<usize>,
    /// Quantity and unit of the loss.
    pub y_label: &'a str,
}

/// Loss per epoch, with the best epoch marked.
pub fn loss_curves(data: &LossCurves) -> Figure {
    let all =
        data.train.iter().chain(data.valid).map(|&loss| f64::from(loss)).filter(|loss| loss.is_finite());
    let y_range = without_first_fall(all.collect());
    let epochs = data.train.len().max(data.valid.len()).max(2);
    let x = Axis { least_step: 1.0, ..Axis::new("epoch", Range::new(1.0, epochs as f64).padded(0.02)) };
    let y = Axis::new(data.y_label, y_range.unwrap_or(Range::new(0.0, 1.0)).padded(0.06));
    let legend =
        vec![Entry::new(Mark::Dashed("orange"), "training"), Entry::new(Mark::Line("blue"), "validation")];
    let chart = Chart::new(HALF, x, y, legend);
    Figure::Half(chart.draw("Loss per epoch", y_range.is_some(), |svg| {
        svg.path("line dashed orange", &curve(&chart, data.train));
        svg.path("line blue", &curve(&chart, data.valid));
        if let Some(best) = data.best {
            mark_best(svg, &chart, best, data.valid.get(best).copied());
        }
    }))
}

/// The range of losses, cut above where the first epochs would compress all others.
fn without_first_fall(mut losses: Vec<f64>) -> Option<Range> {
    losses.sort_by(f64::total_cmp);
    let range = Range::of(losses.iter().copied())?;
    let most = losses[(losses.len() - 1) * 9 / 10];
    let top = most + 2.0 * (most - losses[0]);
    Some(if top > losses[0] { Range::new(range.low, range.high.min(top)) } else { range })
}

fn curve(chart: &Chart, losses: &[f32]) -> String {
    let points = losses.iter().enumerate();
    trace::curve(points.map(|(epoch, &loss)| chart.place(epoch as f64 + 1.0, f64::from(loss))))
}

fn mark_best(svg: &mut Svg, chart: &Chart, best: usize, loss: Option<f32>) {
    let epoch = best as f64 + 1.0;
    let area = chart.area;
    let (x, _) = chart.place(epoch, 0.0);
    svg.line("marker", (x, area.y), (x, area.bottom()));
    if let Some(loss) = loss.filter(|loss| loss.is_finite()) {
        svg.circle("solid blue", chart.place(epoch, f64::from(loss)), 4.5);
    }
    let is_right_half = x > area.x + area.width / 2.0;
    let (anchor, shift) = if is_right_half { ("end", -7.0) } else { ("start", 7.0) };
    svg.text(&format!("{anchor} strong"), (x + shift, area.y + 16.0), &format!("best: epoch {}", best + 1));
}
