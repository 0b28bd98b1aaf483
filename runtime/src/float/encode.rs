//! Encoding affine maps in the float layout (feature `write`).

use std::vec::Vec;

use super::format::{Section, group_lanes};
use crate::encode::{Affine, AffineSource, GramMatrices, RoundingObjective, code, row_codes, row_scale};
use crate::format::{AffineShape, WriteError, extend_padded, le_bytes};
use crate::spec::WeightFormat;

/// Appends the sections of an affine map to the payload.
pub(crate) fn encode_affine(payload: &mut Vec<u8>, source: &AffineSource<'_>) -> Result<(), WriteError> {
    let AffineSource { affine, shape, gram, .. } = source;
    let order = GroupOrder { shape: *shape };
    let encoded = match shape.format {
        WeightFormat::F32 => EncodedWeights::f32(affine, order),
        WeightFormat::Int8 => EncodedWeights::int8(affine, gram, order),
    };
    for section in Section::ALL {
        let bytes = match section {
            Section::Bias => &le_bytes(&order.by_unit(&affine.bias, shape.biases)),
            Section::BiasVar => &le_bytes(&order.by_unit(&affine.bias_var, shape.biases)),
            Section::WeightScale => &encoded.weight_scale,
            Section::Weight => &encoded.weight,
            Section::StdDevScale => &encoded.std_dev_scale,
            Section::WeightVar => &encoded.weight_var,
        };
        debug_assert_eq!(bytes.len(), section.bytes(*shape));
        extend_padded(payload, bytes);
    }
    Ok(())
}

/// From row-major order, in which the gates of a unit are adjacent rows, to that of the float layout.
#[derive(Clone, Copy)]
struct GroupOrder {
    shape: AffineShape,
}

impl GroupOrder {
    /// Groups of units, as (first unit, units).
    fn groups(self) -> impl Iterator<Item = (usize, usize)> {
        let units = self.shape.units();
        core::iter::successors(Some((0, group_lanes(units))), move |(unit, lanes)| {
            let next = unit + lanes;
            (next < units).then(|| (next, group_lanes(units - next)))
        })
    }

    /// Rows of a group in its order: all of the first gate, then of the next.
    fn group_rows(self, group: (usize, usize)) -> impl Iterator<Item = usize> + Clone {
        in_group(group, self.shape.gates)
    }

    /// Numbers by row; an empty list stays empty.
    fn rows(self, by_row: &[f32]) -> Vec<f32> {
        self.by_unit(by_row, self.shape.gates)
    }

    /// Numbers of which each unit has `per_unit`, those of a unit adjacent; an empty list stays empty.
    fn by_unit(self, numbers: &[f32], per_unit: usize) -> Vec<f32> {
        let indices = self.groups().flat_map(|group| in_group(group, per_unit));
        indices.filter_map(|index| numbers.get(index)).copied().collect()
    }

    /// The rows of a list by row and column, which may have no columns; none if the list is not `present`.
    fn rows_of(self, by_row: &[f32], present: bool) -> impl Iterator<Item = &[f32]> {
        let AffineShape { rows, cols, .. } = self.shape;
        let rows = if present { rows } else { 0 };
        (0..rows).map(move |row| by_row.get(row * cols..(row + 1) * cols).unwrap_or_default())
    }

    /// Numbers by row and column; an empty list stays empty.
    fn weights<T: Copy>(self, by_row: &[T]) -> Vec<T> {
        let cols = self.shape.cols;
        let indices = self.groups().flat_map(|group| {
            (0..cols).flat_map(move |col| self.group_rows(group).map(move |row| row * cols + col))
        });
        indices.filter_map(|index| by_row.get(index)).copied().collect()
    }
}

/// Indices of a group's numbers, of which each unit has `per_unit`: all units' first, then all units' second,
/// and so on.
fn in_group((unit, lanes): (usize, usize), per_unit: usize) -> impl Iterator<Item = usize> + Clone {
    (0..per_unit).flat_map(move |number| (unit..unit + lanes).map(move |unit| unit * per_unit + number))
}

/// The four sections that depend on the weight format.
#[derive(Default)]
struct EncodedWeights {
    weight_scale: Vec<u8>,
    weight: Vec<u8>,
    std_dev_scale: Vec<u8>,
    weight_var: Vec<u8>,
}

impl EncodedWeights {
    fn f32(affine: &Affine, order: GroupOrder) -> Self {
        EncodedWeights {
            weight: le_bytes(&order.weights(&affine.weight)),
            weight_var: le_bytes(&order.weights(&affine.weight_var)),
            ..Self::default()
        }
    }

    /// Symmetric bytes with one scale per row. Variances are stored as standard deviations, whose smaller
    /// range suits eight bits better.
    fn int8(affine: &Affine, gram: &GramMatrices, order: GroupOrder) -> Self {
        let (mut scales, mut codes) = (Vec::new(), Vec::new());
        let objective = RoundingObjective::new(&gram.means, order.shape.cols);
        for row in order.rows_of(&affine.weight, true) {
            let rounded = row_codes(row, objective.as_ref());
            scales.push(rounded.scale);
            codes.extend(rounded.codes.iter().map(|code| *code as i8 as u8));
        }
        let (mut std_dev_scales, mut std_dev_codes) = (Vec::new(), Vec::new());
        for row in order.rows_of(&affine.weight_var, order.shape.weight_variance) {
            let std_devs = row.iter().map(|var| libm::sqrtf(var.max(0.0)));
            let scale = row_scale(std_devs.clone(), 255.0);
            std_dev_scales.push(scale);
            std_dev_codes.extend(std_devs.map(|std_dev| code(std_dev, scale, 255.0) as u8));
        }
        EncodedWeights {
            weight_scale: le_bytes(&order.rows(&scales)),
            weight: order.weights(&codes),
            std_dev_scale: le_bytes(&order.rows(&std_dev_scales)),
            weight_var: order.weights(&std_dev_codes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Layout;

    fn order(units: usize, gates: usize, cols: usize) -> GroupOrder {
        let shape = AffineShape {
            rows: units * gates,
            cols,
            gates,
            biases: gates,
            inputs: cols,
            format: WeightFormat::F32,
            layout: Layout::Float,
            weight_variance: false,
            propagates: true,
        };
        GroupOrder { shape }
    }

    #[test]
    fn units_form_groups_of_sixteen_then_four_then_one() {
        let groups: Vec<_> = order(38, 1, 1).groups().collect();
        assert_eq!(groups, [(0, 16), (16, 16), (32, 4), (36, 1), (37, 1)]);
    }

    #[test]
    fn a_group_is_stored_column_by_column_and_gate_by_gate() {
        // Two gates, four units: row 2u + g, written as the number row + column / 10.
        let order = order(4, 2, 2);
        let by_row: Vec<f32> = (0..8).flat_map(|row| [row as f32, row as f32 + 0.1]).collect();
        let column = [0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0];
        assert_eq!(order.weights(&by_row), [column, column.map(|row| row + 0.1)].concat());
        assert_eq!(order.rows(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), column);
        assert!(order.rows(&[]).is_empty());
    }
}
