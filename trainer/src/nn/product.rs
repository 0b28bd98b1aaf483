//! Matrix products on slices, in an order of summation that depends on nothing but the sizes.

/// Rows and columns of the tile of results that is held in registers.
const TILE: (usize, usize) = (4, 8);

/// Terms summed before a tile is written back: as many as let both operands' panels stay in the first-level cache.
const PANEL: usize = 128;

/// A matrix in a slice: element (i, k) stands at `i * row_stride + k * column_stride`.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    values: &'a [f32],
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Strided<'a> {
    /// A matrix stored row after row.
    pub fn rows(values: &'a [f32], columns: usize) -> Self {
        Strided { values, row_stride: columns, column_stride: 1 }
    }

    /// The transpose of a matrix that is stored row after row and has this many columns.
    pub fn transposed(values: &'a [f32], columns: usize) -> Self {
        Strided { values, row_stride: 1, column_stride: columns }
    }

    /// The same matrix without its first `count` rows.
    pub fn skip_rows(self, count: usize) -> Self {
        Strided { values: &self.values[count * self.row_stride..], ..self }
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        self.values[row * self.row_stride + column * self.column_stride]
    }
}

/// Adds a·b to `out`, where b is [terms, columns] and `out` [rows, columns], both row after row.
///
/// Each result is summed term by term in the same order, whatever rows are computed along with it: a product may
/// be split by rows among any number of threads and gives the same bits.
pub fn add_product(out: &mut [f32], a: Strided<'_>, b: &[f32], columns: usize) {
    let terms = b.len() / columns;
    for first in (0..terms).step_by(PANEL) {
        let panel = first..terms.min(first + PANEL);
        let mut tiles = out.chunks_mut(TILE.0 * columns);
        for (index, rows) in tiles.by_ref().enumerate() {
            let row = index * TILE.0;
            if rows.len() == TILE.0 * columns {
                add_rows::<{ TILE.0 }>(rows, a, row, b, columns, panel.clone());
            } else {
                for (offset, single) in rows.chunks_mut(columns).enumerate() {
                    add_rows::<1>(single, a, row + offset, b, columns, panel.clone());
                }
            }
        }
    }
}

/// Adds one panel of terms to `N` rows of results.
fn add_rows<const N: usize>(
    out: &mut [f32],
    a: Strided<'_>,
    row: usize,
    b: &[f32],
    columns: usize,
    panel: core::ops::Range<usize>,
) {
    let tiled = columns - columns % TILE.1;
    for column in (0..tiled).step_by(TILE.1) {
        let mut sums = [[0.0_f32; TILE.1]; N];
        for term in panel.clone() {
            let b = &b[term * columns + column..][..TILE.1];
            for (i, sums) in sums.iter_mut().enumerate() {
                let factor = a.at(row + i, term);
                for (sum, b) in sums.iter_mut().zip(b) {
                    *sum += factor * b;
                }
            }
        }
        for (out, sums) in out.chunks_mut(columns).zip(&sums) {
            for (out, sum) in out[column..].iter_mut().zip(sums) {
                *out += sum;
            }
        }
    }
    for (i, out) in out.chunks_mut(columns).enumerate() {
        for (column, out) in out.iter_mut().enumerate().skip(tiled) {
            *out += panel.clone().map(|term| a.at(row + i, term) * b[term * columns + column]).sum::<f32>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(length: usize, step: f32) -> Vec<f32> {
        (0..length).map(|i| ((i * 7 + 3) % 11) as f32 * step - 1.0).collect()
    }

    fn slow(a: &[f32], b: &[f32], (rows, terms, columns): (usize, usize, usize)) -> Vec<f64> {
        let mut out = vec![0.0; rows * columns];
        for (index, out) in out.iter_mut().enumerate() {
            let (row, column) = (index / columns, index % columns);
            *out =
                (0..terms).map(|k| f64::from(a[row * terms + k]) * f64::from(b[k * columns + column])).sum();
        }
        out
    }

    #[test]
    fn products_of_odd_and_even_sizes_agree_with_the_definition() {
        for (rows, terms, columns) in [(1, 1, 1), (4, 8, 8), (5, 300, 19), (7, 129, 8), (8, 3, 40)] {
            let (a, b) = (ramp(rows * terms, 0.25), ramp(terms * columns, 0.125));
            let expected = slow(&a, &b, (rows, terms, columns));
            let mut transposed = vec![0.0; a.len()];
            for (index, value) in a.iter().enumerate() {
                transposed[index % terms * rows + index / terms] = *value;
            }
            for a in [Strided::rows(&a, terms), Strided::transposed(&transposed, rows)] {
                let mut out = vec![1.0; rows * columns];
                add_product(&mut out, a, &b, columns);
                for (out, expected) in out.iter().zip(&expected) {
                    assert!((f64::from(*out) - 1.0 - expected).abs() < 1e-3, "{out} against {expected}");
                }
            }
        }
    }

    #[test]
    fn splitting_by_rows_changes_no_bit() {
        let (rows, terms, columns) = (10, 200, 21);
        let (a, b) = (ramp(rows * terms, 0.3), ramp(terms * columns, 0.7));
        let a = Strided::rows(&a, terms);
        let mut whole = vec![0.0; rows * columns];
        add_product(&mut whole, a, &b, columns);
        let mut parts = vec![0.0; rows * columns];
        let (upper, lower) = parts.split_at_mut(3 * columns);
        add_product(upper, a, &b, columns);
        add_product(lower, a.skip_rows(3), &b, columns);
        assert_eq!(whole, parts);
    }
}
