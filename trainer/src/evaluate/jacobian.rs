//! The sequential Jacobian ∂e_i/∂x_t: how an embedding depends on every value of a sequence.

use crate::data::Rows;

/// Part of a channel's standard deviation by which a value is changed in either direction. An int8 model
/// computes in steps, which must be small in comparison.
const CHANGE: f32 = 0.1;

/// Central differences of every component of an embedding with regard to every value of a sequence (Bayer
/// 2015, chapter 3), in units of a channel's standard deviation `scale`: one set of rows like the sequence
/// per component. Missing values have none: 0. `embed` returns a row for each of its sequences.
pub fn sequential_jacobian<E>(
    rows: &Rows,
    scale: &[f32],
    embed: impl Fn(&[&Rows]) -> Result<Rows, E>,
) -> Result<Vec<Rows>, E> {
    let mut changed = Vec::new();
    let present: Vec<usize> = (0..rows.values.len()).filter(|index| !rows.values[*index].is_nan()).collect();
    for &index in &present {
        for sign in [1.0, -1.0] {
            let mut copy = rows.clone();
            copy.values[index] += sign * CHANGE * scale[index % rows.channels];
            changed.push(copy);
        }
    }
    let embeddings = embed(&changed.iter().collect::<Vec<_>>())?;
    let zeros = Rows { channels: rows.channels, values: vec![0.0; rows.values.len()] };
    let mut jacobian = vec![zeros; embeddings.channels];
    for (pair, &index) in present.iter().enumerate() {
        let (up, down) = (embeddings.row(2 * pair), embeddings.row(2 * pair + 1));
        for (component, of_component) in jacobian.iter_mut().enumerate() {
            of_component.values[index] = (up[component] - down[component]) / (2.0 * CHANGE);
        }
    }
    Ok(jacobian)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_a_known_map() {
        // e₁ = Σ_t t x_t², e₂ = 5 of two rows of one channel; central differences are exact for squares.
        let embed = |sequences: &[&Rows]| -> Result<Rows, ()> {
            let mut embeddings = Rows::new(2);
            for rows in sequences {
                let sum = rows.iter().enumerate().map(|(t, row)| t as f32 * row[0] * row[0]).sum();
                embeddings.values.extend([sum, 5.0]);
            }
            Ok(embeddings)
        };
        let rows = Rows { channels: 1, values: vec![3.0, 2.0] };
        let found = sequential_jacobian(&rows, &[2.0], embed).unwrap();
        assert_eq!(found.len(), 2);
        // ∂e₁/∂x₁ = 2·2, times the standard deviation of 2.
        assert!(found[0].values[0] == 0.0 && (found[0].values[1] - 8.0).abs() < 1e-4);
        assert_eq!(found[1].values, [0.0, 0.0]);
    }

    #[test]
    fn a_missing_value_has_no_derivative() {
        let rows = Rows { channels: 1, values: vec![f32::NAN, 1.0] };
        let embed = |sequences: &[&Rows]| -> Result<Rows, ()> {
            assert_eq!(sequences.len(), 2);
            Ok(Rows { channels: 1, values: sequences.iter().map(|rows| rows.values[1]).collect() })
        };
        let found = sequential_jacobian(&rows, &[1.0], embed).unwrap();
        assert!(found[0].values[0] == 0.0 && (found[0].values[1] - 1.0).abs() < 1e-5);
    }
}
