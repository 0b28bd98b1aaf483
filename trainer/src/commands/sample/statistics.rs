//! Statistics of samples, step by step.

use std::io::Write;

use anyhow::Result;

use crate::data::Rows;
use crate::data::csv::spreadsheet;

/// Reported quantiles with their names.
pub(super) const QUANTILES: [(f32, &str); 5] =
    [(0.05, "q05"), (0.25, "q25"), (0.5, "q50"), (0.75, "q75"), (0.95, "q95")];

/// Statistics over samples: a row per step, a column per channel.
pub(super) struct FutureStatistics {
    pub(super) mean: Rows,
    /// Sample standard deviation (divided by K − 1); 0 for one sample.
    std_dev: Rows,
    /// In the order of [`QUANTILES`].
    pub(super) quantiles: [Rows; QUANTILES.len()],
}

impl FutureStatistics {
    /// Statistics of at least one sample; all have the same length.
    pub(super) fn of(draws: &[Rows]) -> Self {
        let room =
            || Rows { values: Vec::with_capacity(draws[0].values.len()), ..Rows::new(draws[0].channels) };
        let mut summary = FutureStatistics {
            mean: room(),
            std_dev: room(),
            quantiles: [(); QUANTILES.len()].map(|()| room()),
        };
        for place in 0..draws[0].values.len() {
            let mut values: Vec<f32> = draws.iter().map(|draw| draw.values[place]).collect();
            values.sort_by(f32::total_cmp);
            let count = values.len() as f64;
            let mean = values.iter().map(|value| f64::from(*value)).sum::<f64>() / count;
            let squares: f64 = values.iter().map(|value| (f64::from(*value) - mean).powi(2)).sum();
            summary.mean.values.push(mean as f32);
            summary.std_dev.values.push((squares / (count - 1.0).max(1.0)).sqrt() as f32);
            for (rows, (share, _)) in summary.quantiles.iter_mut().zip(QUANTILES) {
                rows.values.push(quantile(&values, share));
            }
        }
        summary
    }

    pub(super) fn write(&self, names: &[String], out: &mut dyn Write) -> Result<()> {
        let parts = || ["mean", "std_dev"].into_iter().chain(QUANTILES.map(|(_, name)| name));
        let columns = names
            .iter()
            .flat_map(|name| parts().map(move |part| spreadsheet::cell(&format!("{name}.{part}"))));
        writeln!(out, "step,{}", columns.collect::<Vec<_>>().join(","))?;
        for step in 0..self.mean.len() {
            let lists = || [&self.mean, &self.std_dev].into_iter().chain(&self.quantiles);
            let cells = (0..names.len()).flat_map(|c| lists().map(move |rows| rows.row(step)[c].to_string()));
            writeln!(out, "{},{}", step + 1, cells.collect::<Vec<_>>().join(","))?;
        }
        Ok(())
    }
}

/// Linear interpolation of order statistics: Hyndman and Fan's seventh definition (1996), as in the runtime's
/// `Rollouts`.
fn quantile(sorted: &[f32], share: f32) -> f32 {
    let place = share * (sorted.len() - 1) as f32;
    let below = place as usize;
    let (low, high) = (sorted[below], sorted[(below + 1).min(sorted.len() - 1)]);
    low + (high - low) * (place - below as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_quantiles_by_hand() {
        let draw = |value: f32| Rows { channels: 1, values: vec![value, 10.0] };
        let summary = FutureStatistics::of(&[3.0, 1.0, 2.0, 6.0].map(draw));
        assert_eq!(summary.mean.values, [3.0, 10.0]);
        assert!((summary.std_dev.values[0] - (14.0_f32 / 3.0).sqrt()).abs() < 1e-6);
        assert_eq!(summary.std_dev.values[1], 0.0);
        assert_eq!(summary.quantiles[2].values, [2.5, 10.0]);
        assert_eq!(summary.quantiles[1].values[0], 1.75);
        assert_eq!(FutureStatistics::of(&[draw(5.0)]).std_dev.values, [0.0, 0.0]);
        let mut text = Vec::new();
        summary.write(&["a".into()], &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.starts_with("step,a.mean,a.std_dev,a.q05,a.q25,a.q50,a.q75,a.q95\n1,3,"), "{text}");
    }
}
