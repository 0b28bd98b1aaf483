//! From data to user units: ranges, ticks and their labels.

/// An interval of data values, never empty and always finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Range {
    /// The interval between two different numbers.
    pub(super) const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    /// The smallest interval that holds every finite value; `None` if there is none.
    pub(super) fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let bounds = finite.fold(None, |bounds: Option<(f64, f64)>, value| {
            let (low, high) = bounds.unwrap_or((value, value));
            Some((low.min(value), high.max(value)))
        });
        bounds.map(|(low, high)| Self { low, high }.widened())
    }

    /// The range extended by a fraction of its length at either end.
    pub(super) fn padded(self, share: f64) -> Self {
        let margin = share * self.length();
        Self { low: self.low - margin, high: self.high + margin }
    }

    pub(super) fn length(&self) -> f64 {
        self.high - self.low
    }

    /// Widens the range of a single value, relative to its size so that the ends differ in floating point.
    fn widened(self) -> Self {
        let least = 1e-6 * self.low.abs().max(self.high.abs());
        if self.length() > least {
            return self;
        }
        let room = if self.low == 0.0 { 1.0 } else { 0.5 * self.low.abs() };
        Self { low: self.low - room, high: self.high + room }
    }
}

/// A value with its label.
pub(super) struct Tick {
    pub(super) value: f64,
    pub(super) label: String,
}

/// About `wanted` round values within a range.
pub(super) fn ticks(range: Range, wanted: f64, least_step: f64) -> Vec<Tick> {
    let step = round_step(range.length() / wanted.max(1.0)).max(least_step);
    let first = (range.low / step).ceil();
    let count = (((range.high / step).floor() - first) as usize).min(64);
    let values = (0..=count).map(|index| (first + index as f64) * step);
    values.map(|value| Tick { value, label: number(value, step) }).collect()
}

/// The smallest of 1, 2 or 5 times a power of ten that is at least `step`.
fn round_step(step: f64) -> f64 {
    let power = 10f64.powf(step.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let is_enough = |factor: &&f64| *factor * power >= step * (1.0 - 1e-9);
    factors.iter().find(is_enough).unwrap_or(&10.0) * power
}

/// A number with as many decimals as the distance of ticks requires.
pub(super) fn number(value: f64, step: f64) -> String {
    let is_extreme = !(1e-4..1e6).contains(&step) || value.abs() >= 1e7;
    let text = if value == 0.0 {
        "0".to_owned()
    } else if is_extreme {
        format!("{value:.1e}")
    } else {
        let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        format!("{value:.decimals$}")
    };
    text.replace('-', "\u{2212}")
}

/// A number with three significant digits; a dash if it is not finite.
pub(super) fn short_number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let step = 10f64.powf(value.abs().max(1e-30).log10().floor() - 2.0);
    let text = number(value, step);
    let has_decimals = text.contains('.') && !text.contains('e');
    if has_decimals { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}
