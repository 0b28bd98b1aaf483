//! Choices, and numbers at the bounds of their ranges.

use crate::numbers::Numbers;

/// Random choices of one crafted file.
#[derive(Clone, Debug)]
pub struct Dice {
    numbers: Numbers,
    /// Once in how many choices a bound is overstepped; 0 for never.
    beyond: usize,
}

/// How the numbers of one section are drawn. Sums reach their limits only if most numbers are at theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// As training would make them.
    Ordinary,
    /// All at the lower bound.
    Low,
    /// All at the upper bound.
    High,
    /// Each at one of the bounds.
    Ends,
    /// Each ordinary, at a bound, zero, tiny or anywhere between.
    Mixed,
}

impl Dice {
    /// The choices of file `index` of a seed.
    pub fn new(seed: u64, index: u64) -> Self {
        let mut numbers = Numbers::new(&format!("attack {seed} {index}"));
        // Half of the files keep to the bounds; the others overstep them here and there.
        let beyond = [0, 0, 0, 20, 100, 500][numbers.below(6)];
        Dice { numbers, beyond }
    }

    /// The generator behind.
    pub fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    /// One of the integers below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.numbers.below(count)
    }

    /// True once in `every` calls, on average.
    pub fn once_in(&mut self, every: u64) -> bool {
        self.numbers.once_in(every)
    }

    /// One of the values.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// One of `first`, nearly always, or of `others`, where bounds may be overstepped.
    pub fn pick_or_beyond<T: Copy>(&mut self, first: &[T], others: &[T]) -> T {
        if !others.is_empty() && self.oversteps() { self.pick(others) } else { self.pick(first) }
    }

    /// Whether the next value is to lie beyond its bounds.
    pub fn oversteps(&mut self) -> bool {
        self.beyond > 0 && self.below(self.beyond) == 0
    }

    /// How a section is drawn.
    pub fn style(&mut self) -> Style {
        self.pick(&[
            Style::Ordinary,
            Style::Ordinary,
            Style::Low,
            Style::High,
            Style::Ends,
            Style::Mixed,
            Style::Mixed,
        ])
    }

    /// A number in a range, or just beyond it.
    pub fn number(&mut self, [low, high]: [f32; 2], style: Style) -> f32 {
        if self.oversteps() {
            let beyond = [
                low.next_down(),
                high.next_up(),
                f32::NAN,
                f32::INFINITY,
                f32::NEG_INFINITY,
                f32::MAX,
                f32::MIN,
            ];
            return self.pick(&beyond);
        }
        match style {
            Style::Low => low,
            Style::High => high,
            Style::Ends => self.pick(&[low, high]),
            Style::Ordinary => self.numbers.between(low.max(-1.0).min(high), high.min(1.0).max(low)),
            Style::Mixed => {
                let between = self.numbers.between(low, high);
                let tiny = f32::from_bits(1).clamp(low, high);
                let some =
                    [low, high, low.next_up(), high.next_down(), between, 0.0_f32.clamp(low, high), tiny];
                self.pick(&some)
            }
        }
    }

    /// `count` numbers in a range.
    pub fn numbers_in(&mut self, count: usize, range: [f32; 2]) -> Vec<f32> {
        let style = self.style();
        (0..count).map(|_| self.number(range, style)).collect()
    }

    /// An integer in a range, or just beyond it.
    pub fn integer(&mut self, [low, high]: [i64; 2], style: Style) -> i64 {
        if self.oversteps() {
            return self.pick(&[low - 1, high + 1, i64::from(i32::MIN), i64::from(i32::MAX)]);
        }
        let between = low + self.below((high - low + 1) as usize) as i64;
        match style {
            Style::Low => low,
            Style::High => high,
            Style::Ends => self.pick(&[low, high]),
            Style::Ordinary => between,
            Style::Mixed => self.pick(&[low, high, between, between, 0_i64.clamp(low, high)]),
        }
    }
}
