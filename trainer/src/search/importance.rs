//! The importance of the searched keys.
//!
//! Trials are compared after the first stage, by rank, so that a single diverged trial has little influence.
//! A key explains as much of the ranks as a parabola in the rank of its value or, where it has few distinct
//! values, as the means of these. The fraction is adjusted for chance (Wherry 1931), so that both kinds of
//! keys are comparable and a key without influence is near 0.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use serde::Serialize;
use toml::Value;

use super::leaderboard::{LeaderboardEntry, shown};

/// The importance of a key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KeyImportance {
    /// The key.
    pub key: String,
    /// Fraction of the variance of the trials' ranks that it explains, 0 to 1.
    pub explained: f64,
    /// Spearman's rank correlation of value and loss, for numbers: positive where smaller values are better.
    pub correlation: Option<f64>,
}

/// Up to this number of distinct values, each is a group.
const FEW: usize = 6;

/// The importance of every key, the largest first.
pub(super) fn importances(places: &[LeaderboardEntry]) -> Vec<KeyImportance> {
    // By number, so that ties do not depend on the order of the leaderboard.
    let mut places: Vec<&LeaderboardEntry> = places.iter().collect();
    places.sort_by_key(|place| place.trial);
    let losses: Vec<f64> = places.iter().map(|place| place.first_nll.unwrap_or(f64::INFINITY)).collect();
    let losses = ranks(&losses);
    let keys: Vec<&String> = places.first().map_or(Vec::new(), |place| place.values.keys().collect());
    let mut found: Vec<KeyImportance> = keys
        .into_iter()
        .map(|key| {
            let values: Vec<&Value> = places.iter().map(|place| &place.values[key]).collect();
            importance(key, &values, &losses)
        })
        .collect();
    found.sort_by(|a, b| b.explained.total_cmp(&a.explained).then(a.key.cmp(&b.key)));
    found
}

fn importance(key: &str, values: &[&Value], losses: &[f64]) -> KeyImportance {
    let numbers: Option<Vec<f64>> = values.iter().map(|value| number(value)).collect();
    let mut groups: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (value, loss) in values.iter().zip(losses) {
        groups.entry(shown(value)).or_default().push(*loss);
    }
    let explained = match &numbers {
        Some(numbers) if groups.len() > FEW => by_parabola(&ranks(numbers), losses),
        _ => by_groups(&groups, losses),
    };
    let correlation = numbers.and_then(|numbers| correlation(&ranks(&numbers), losses));
    KeyImportance { key: key.into(), explained, correlation }
}

/// A value as a number; a list of one number counts as that number.
pub(super) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(whole) => Some(*whole as f64),
        Value::Float(real) => Some(*real),
        Value::Array(entries) if entries.len() == 1 => number(&entries[0]),
        _ => None,
    }
}

/// Ranks from 0; equal values share the mean of theirs.
fn ranks(values: &[f64]) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| other.total_cmp(value).is_lt()).count();
        let equal = values.iter().filter(|other| other.total_cmp(value).is_eq()).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

fn squares(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean).powi(2)).sum()
}

fn correlation(x: &[f64], y: &[f64]) -> Option<f64> {
    let middle = (x.len() as f64 - 1.0) / 2.0;
    let product: f64 = x.iter().zip(y).map(|(x, y)| (x - middle) * (y - middle)).sum();
    let spread = (squares(x) * squares(y)).sqrt();
    (spread > 0.0).then(|| product / spread)
}

fn by_parabola(x: &[f64], losses: &[f64]) -> f64 {
    let middle = (x.len() as f64 - 1.0) / 2.0;
    let design =
        DMatrix::from_fn(x.len(), 3, |row, power| ((x[row] - middle) / (middle + 1.0)).powi(power as i32));
    let losses_vector = DVector::from_column_slice(losses);
    let Ok(weights) = design.clone().svd(true, true).solve(&losses_vector, 1e-12) else { return 0.0 };
    adjusted((&losses_vector - design * weights).norm_squared(), losses, 2)
}

fn by_groups(groups: &BTreeMap<String, Vec<f64>>, losses: &[f64]) -> f64 {
    adjusted(groups.values().map(|group| squares(group)).sum(), losses, groups.len().saturating_sub(1))
}

/// Fraction of the variance explained by a regression with this number of coefficients and residual sum of
/// squares `left`, adjusted.
fn adjusted(left: f64, losses: &[f64], coefficients: usize) -> f64 {
    let (n, total) = (losses.len(), squares(losses));
    if n <= coefficients + 1 || total == 0.0 {
        return 0.0;
    }
    (1.0 - left / total * (n as f64 - 1.0) / (n - coefficients - 1) as f64).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(values: &[f64]) -> Vec<Value> {
        values.iter().map(|value| Value::Float(*value)).collect()
    }

    fn of_key(values: &[Value], losses: &[f64]) -> KeyImportance {
        importance("key", &values.iter().collect::<Vec<_>>(), &ranks(losses))
    }

    #[test]
    fn equals_share_their_rank() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, f64::INFINITY]), [1.5, 0.0, 1.5, 3.0]);
    }

    #[test]
    fn a_monotone_influence_explains_everything() {
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let losses: Vec<f64> = values.iter().map(|value| value.exp()).collect();
        let found = of_key(&numbers(&values), &losses);
        assert!(found.explained > 0.999, "{found:?}");
        assert!((found.correlation.unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn an_optimum_in_the_middle_counts_although_it_has_no_direction() {
        let values: Vec<f64> = (-10..=10).map(f64::from).collect();
        let losses: Vec<f64> = values.iter().map(|value| value * value).collect();
        let found = of_key(&numbers(&values), &losses);
        assert!(found.explained > 0.9 && found.correlation.unwrap().abs() < 0.1, "{found:?}");
    }

    #[test]
    fn choices_are_compared_by_their_means() {
        let words: Vec<Value> =
            ["a", "b"].repeat(8).into_iter().map(|word| Value::String(word.into())).collect();
        let losses: Vec<f64> = (0..16).map(|index| f64::from(10 * (index % 2) + index / 2)).collect();
        let found = of_key(&words, &losses);
        // Ranks 0 … 7 against 8 … 15: 84 of 340 squares are left, on 14 of 15 degrees of freedom.
        assert!((found.explained - (1.0 - 84.0 / 340.0 * 15.0 / 14.0)).abs() < 1e-9, "{found:?}");
        assert_eq!(found.correlation, None);
    }

    #[test]
    fn chance_explains_little() {
        let scramble = |index: i32, factor: i32| f64::from((index * factor) % 101);
        let values: Vec<f64> = (1..=40).map(|index| scramble(index, 37)).collect();
        let losses: Vec<f64> = (1..=40).map(|index| scramble(index * index, 53)).collect();
        assert!(of_key(&numbers(&values), &losses).explained < 0.2);
        assert_eq!(of_key(&numbers(&[1.0; 5]), &[1.0, 2.0, 3.0, 4.0, 5.0]).explained, 0.0);
        assert_eq!(of_key(&numbers(&[1.0, 2.0]), &[1.0, 1.0]).explained, 0.0);
    }
}
