//! Matrix products on slices, in an order of summation that depends on nothing but the sizes.

/// Rows of the tile of results that is held in registers.
const HEIGHT: usize = 4;

/// Columns of that tile.
const WIDTH: usize = 8;

/// Terms summed before a tile is written back: as many as let both operands' parts stay in the first-level cache.
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
        Strided { values: self.values.get(count * self.row_stride..).unwrap_or_default(), ..self }
    }

    fn at(&self, row: usize, column: usize) -> f32 {
        self.values[row * self.row_stride + column * self.column_stride]
    }
}

/// A right-hand factor [terms, columns], rearranged so that a product reads it from front to back.
///
/// Tile after tile of [`WIDTH`] columns, each term after term; the last tile is filled up with zeros.
#[derive(Clone, Debug)]
pub struct Packed {
    terms: usize,
    columns: usize,
    tiles: Vec<[f32; WIDTH]>,
}

impl Packed {
    /// Rearranges a matrix of this size.
    pub fn new(matrix: Strided<'_>, terms: usize, columns: usize) -> Self {
        let mut tiles = vec![[0.0; WIDTH]; terms * columns.div_ceil(WIDTH)];
        for (index, row) in tiles.iter_mut().enumerate() {
            let (first, term) = (index / terms * WIDTH, index % terms);
            for (offset, value) in row.iter_mut().enumerate().take(columns - first) {
                *value = matrix.at(term, first + offset);
            }
        }
        Packed { terms, columns, tiles }
    }
}

/// Adds a·b to `out` [rows, columns], stored row after row.
///
/// Each result is summed term by term in the same order, whatever rows are computed along with it: a product may
/// be split by rows among any number of threads and gives the same bits.
pub fn add_product(out: &mut [f32], a: Strided<'_>, b: &Packed) {
    for (index, rows) in out.chunks_mut(HEIGHT * b.columns).enumerate() {
        for first in (0..b.terms).step_by(PANEL) {
            let count = PANEL.min(b.terms - first);
            let mut factors = [[0.0; HEIGHT]; PANEL];
            for (term, factors) in factors[..count].iter_mut().enumerate() {
                for (row, factor) in factors.iter_mut().enumerate().take(rows.len() / b.columns) {
                    *factor = a.at(index * HEIGHT + row, first + term);
                }
            }
            for (tile, terms) in b.tiles.chunks_exact(b.terms).enumerate() {
                let sums = tile_product(&factors[..count], &terms[first..first + count]);
                add_tile(rows, &sums, tile * WIDTH, b.columns);
            }
        }
    }
}

/// One tile of results, over one panel of terms.
#[inline]
fn tile_product(factors: &[[f32; HEIGHT]], terms: &[[f32; WIDTH]]) -> [[f32; WIDTH]; HEIGHT] {
    let mut sums = [[0.0; WIDTH]; HEIGHT];
    for (factors, term) in factors.iter().zip(terms) {
        for (sums, factor) in sums.iter_mut().zip(factors) {
            for (sum, value) in sums.iter_mut().zip(term) {
                *sum += factor * value;
            }
        }
    }
    sums
}

/// Adds what of a tile lies within the matrix.
fn add_tile(rows: &mut [f32], sums: &[[f32; WIDTH]; HEIGHT], first: usize, columns: usize) {
    for (row, sums) in rows.chunks_exact_mut(columns).zip(sums) {
        for (out, sum) in row[first..].iter_mut().zip(sums) {
            *out += sum;
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
                add_product(&mut out, a, &Packed::new(Strided::rows(&b, columns), terms, columns));
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
        let (a, b) = (Strided::rows(&a, terms), Packed::new(Strided::rows(&b, columns), terms, columns));
        let mut whole = vec![0.0; rows * columns];
        add_product(&mut whole, a, &b);
        let mut parts = vec![0.0; rows * columns];
        let (upper, lower) = parts.split_at_mut(3 * columns);
        add_product(upper, a, &b);
        add_product(lower, a.skip_rows(3), &b);
        assert_eq!(whole, parts);
    }
}
