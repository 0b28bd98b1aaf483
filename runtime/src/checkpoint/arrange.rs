//! Arranging weights for the plain layout (feature `std`).

use std::vec::Vec;

use super::layout::{AffineShape, group_lanes};
use super::rounding::{GramMatrices, RoundingObjective};
use super::write::{Affine, code, le_bytes, row_codes, row_scale};

/// From the order of `Contents`, in which the gates of a unit are side by side, to that of the plain layout.
#[derive(Clone, Copy)]
pub(super) struct GroupOrder {
    shape: AffineShape,
}

impl GroupOrder {
    pub(super) fn new(shape: AffineShape) -> Self {
        GroupOrder { shape }
    }

    /// Groups of units, as (first unit, units).
    fn groups(self) -> impl Iterator<Item = (usize, usize)> {
        let units = self.shape.rows / self.shape.gates;
        core::iter::successors(Some((0, group_lanes(units))), move |(unit, lanes)| {
            let next = unit + lanes;
            (next < units).then(|| (next, group_lanes(units - next)))
        })
    }

    /// Rows of a group in its order: all of the first gate, then of the next.
    fn group_rows(self, (unit, lanes): (usize, usize)) -> impl Iterator<Item = usize> + Clone {
        let gates = self.shape.gates;
        (0..gates).flat_map(move |gate| (unit..unit + lanes).map(move |unit| unit * gates + gate))
    }

    /// Numbers by row; none stay none.
    pub(super) fn rows(self, by_row: &[f32]) -> Vec<f32> {
        let rows = self.groups().flat_map(|group| self.group_rows(group));
        rows.filter_map(|row| by_row.get(row)).copied().collect()
    }

    /// Numbers by row and column; none stay none.
    fn weights<T: Copy>(self, by_row: &[T]) -> Vec<T> {
        let cols = self.shape.cols;
        let places = self.groups().flat_map(|group| {
            (0..cols).flat_map(move |col| self.group_rows(group).map(move |row| row * cols + col))
        });
        places.filter_map(|place| by_row.get(place)).copied().collect()
    }
}

/// The four sections that depend on the weight format.
#[derive(Default)]
pub(super) struct EncodedWeights {
    pub(super) weight_scale: Vec<u8>,
    pub(super) weight: Vec<u8>,
    pub(super) std_dev_scale: Vec<u8>,
    pub(super) weight_var: Vec<u8>,
}

impl EncodedWeights {
    pub(super) fn f32(affine: &Affine, order: GroupOrder) -> Self {
        EncodedWeights {
            weight: le_bytes(&order.weights(&affine.weight)),
            weight_var: le_bytes(&order.weights(&affine.weight_var)),
            ..Self::default()
        }
    }

    /// Symmetric bytes with one scale per row. Variances are stored as standard deviations, whose smaller range
    /// suits eight bits better.
    pub(super) fn int8(affine: &Affine, usage: &GramMatrices, order: GroupOrder) -> Self {
        let (mut scales, mut codes) = (Vec::new(), Vec::new());
        let judge = RoundingObjective::new(&usage.means, order.shape.cols);
        for row in affine.weight.chunks(order.shape.cols) {
            let rounded = row_codes(row, judge.as_ref());
            scales.push(rounded.scale);
            codes.extend(rounded.codes.iter().map(|code| *code as i8 as u8));
        }
        let (mut deviation_scales, mut deviation_codes) = (Vec::new(), Vec::new());
        for row in affine.weight_var.chunks(order.shape.cols) {
            let std_devs = row.iter().map(|var| libm::sqrtf(var.max(0.0)));
            let scale = row_scale(std_devs.clone(), 255.0);
            deviation_scales.push(scale);
            deviation_codes.extend(std_devs.map(|std_dev| code(std_dev, scale, 255.0) as u8));
        }
        EncodedWeights {
            weight_scale: le_bytes(&order.rows(&scales)),
            weight: order.weights(&codes),
            std_dev_scale: le_bytes(&order.rows(&deviation_scales)),
            weight_var: order.weights(&deviation_codes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Sigmoids;
    use super::super::spec::{Layout, WeightFormat};
    use super::*;

    fn order(units: usize, gates: usize, cols: usize) -> GroupOrder {
        GroupOrder::new(AffineShape {
            rows: units * gates,
            cols,
            gates,
            inputs: cols,
            format: WeightFormat::F32,
            layout: Layout::Float,
            weight_variance: false,
            propagates: true,
            sigmoids: Sigmoids::None,
        })
    }

    #[test]
    fn units_stand_in_groups_of_sixteen_then_four_then_one() {
        let groups: Vec<_> = order(38, 1, 1).groups().collect();
        assert_eq!(groups, [(0, 16), (16, 16), (32, 4), (36, 1), (37, 1)]);
    }

    #[test]
    fn a_group_stands_column_by_column_and_gate_by_gate() {
        // Two gates, four units: row 2u + g, written as the number row + column / 10.
        let order = order(4, 2, 2);
        let by_row: Vec<f32> = (0..8).flat_map(|row| [row as f32, row as f32 + 0.1]).collect();
        let column = [0.0, 2.0, 4.0, 6.0, 1.0, 3.0, 5.0, 7.0];
        assert_eq!(order.weights(&by_row), [column, column.map(|row| row + 0.1)].concat());
        assert_eq!(order.rows(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]), column);
        assert!(order.rows(&[]).is_empty());
    }
}
