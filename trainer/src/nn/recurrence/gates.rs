//! The two orders of a layer's pre-activations.
//!
//! Weights, inputs and gradients are ordered unit by unit, as in a checkpoint: row `gates·u + g`. Cells
//! compute gate by gate over all units, in their own order. With a single gate both are the same.

/// An order of gates: `order[p]` is the gate at position p.
#[derive(Clone, Copy, Debug)]
pub(super) struct GateOrder(pub(super) &'static [usize]);

impl GateOrder {
    /// Copies rows of `width` numbers each from unit by unit to gate by gate.
    pub(super) fn gather(self, by_unit: &[f32], by_gate: &mut [f32], width: usize) {
        let gates = self.0.len();
        let units = by_unit.len() / (gates * width);
        for (place, rows) in by_gate.chunks_exact_mut(units * width).enumerate() {
            let first = self.0[place] * width;
            for (row, source) in rows.chunks_exact_mut(width).zip(by_unit[first..].chunks(gates * width)) {
                row.copy_from_slice(&source[..width]);
            }
        }
    }

    /// Copies single numbers from unit by unit to gate by gate.
    pub(super) fn gather_values(self, by_unit: &[f32], by_gate: &mut [f32]) {
        let gates = self.0.len();
        if gates == 1 {
            return by_gate.copy_from_slice(by_unit);
        }
        for (place, values) in by_gate.chunks_exact_mut(by_unit.len() / gates).enumerate() {
            for (value, unit) in values.iter_mut().zip(by_unit.chunks_exact(gates)) {
                *value = unit[self.0[place]];
            }
        }
    }

    /// Copies single numbers from gate by gate to unit by unit.
    pub(super) fn scatter(self, by_gate: &[f32], by_unit: &mut [f32]) {
        let gates = self.0.len();
        if gates == 1 {
            return by_unit.copy_from_slice(by_gate);
        }
        let units = by_unit.len() / gates;
        for (place, values) in by_gate.chunks_exact(units).enumerate() {
            for (value, target) in values.iter().zip(by_unit[self.0[place]..].iter_mut().step_by(gates)) {
                *target = *value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_gathered_and_values_scattered_back() {
        let order = GateOrder(&[1, 0]);
        // Two units with two gates each, rows of two numbers: unit, gate, column.
        let by_unit = [0.0, 1.0, 10.0, 11.0, 100.0, 101.0, 110.0, 111.0];
        let mut by_gate = [0.0; 8];
        order.gather(&by_unit, &mut by_gate, 2);
        assert_eq!(by_gate, [10.0, 11.0, 110.0, 111.0, 0.0, 1.0, 100.0, 101.0]);
        let mut scattered = [0.0; 4];
        order.scatter(&[5.0, 6.0, 7.0, 8.0], &mut scattered);
        assert_eq!(scattered, [7.0, 5.0, 8.0, 6.0]);
        let mut back = [0.0; 4];
        order.gather_values(&scattered, &mut back);
        assert_eq!(back, [5.0, 6.0, 7.0, 8.0]);
    }
}
