//! Matrix products on slices, with an order of summation that depends only on the sizes.

use super::vectorised::{self, Kernel, Processor};

/// Rows of the register tile.
const HEIGHT: usize = 4;

/// Columns of the register tile: one vector of the widest kind.
const WIDTH: usize = 16;

/// Terms summed before results are written back: as many as keep both operands in the first-level cache.
const PANEL: usize = 128;

/// A matrix in a slice.
#[derive(Clone, Copy, Debug)]
pub struct Strided<'a> {
    values: &'a [f32],
    /// Distance between rows, or between columns if transposed.
    stride: usize,
    transposed: bool,
}

impl<'a> Strided<'a> {
    /// A matrix in row-major order.
    pub fn rows(values: &'a [f32], columns: usize) -> Self {
        Strided { values, stride: columns, transposed: false }
    }

    /// The transpose of a row-major matrix with this number of columns.
    pub fn transposed(values: &'a [f32], columns: usize) -> Self {
        Strided { values, stride: columns, transposed: true }
    }

    /// The same matrix without its first `count` rows.
    pub fn skip_rows(self, count: usize) -> Self {
        let start = if self.transposed { count } else { count * self.stride };
        Strided { values: self.values.get(start..).unwrap_or_default(), ..self }
    }

    /// Copies columns starting at `first` of rows starting at `row`; rows beyond `rows` repeat the last one.
    #[inline(always)]
    fn gather(&self, row: usize, rows: usize, first: usize, columns: &mut [[f32; HEIGHT]]) {
        if self.transposed && row + HEIGHT <= rows {
            for (column, values) in
                columns.iter_mut().zip(self.values[first * self.stride..].chunks(self.stride))
            {
                column.copy_from_slice(&values[row..row + HEIGHT]);
            }
            return;
        }
        let (row_step, step) = if self.transposed { (1, self.stride) } else { (self.stride, 1) };
        let row_values =
            |offset: usize| &self.values[(row + offset).min(rows - 1) * row_step + first * step..];
        let [a, b, c, d] = std::array::from_fn(row_values);
        for (index, column) in columns.iter_mut().enumerate() {
            *column = [a[index * step], b[index * step], c[index * step], d[index * step]];
        }
    }
}

/// A right-hand factor [terms, columns], packed so that a product reads it sequentially.
///
/// Tiles of 16 columns, each term by term; the last tile is padded with zeros.
#[derive(Clone, Debug)]
pub struct Packed {
    terms: usize,
    columns: usize,
    tiles: Vec<[f32; WIDTH]>,
}

impl Packed {
    /// Packs a matrix of this size.
    pub fn new(matrix: Strided<'_>, terms: usize, columns: usize) -> Self {
        let mut tiles = vec![[0.0; WIDTH]; terms * columns.div_ceil(WIDTH)];
        let (term_step, step) = if matrix.transposed { (1, matrix.stride) } else { (matrix.stride, 1) };
        for (tile, rows) in tiles.chunks_exact_mut(terms.max(1)).enumerate() {
            let first = tile * WIDTH;
            for (term, row) in rows.iter_mut().enumerate() {
                let values = &matrix.values[term * term_step + first * step..];
                let count = WIDTH.min(columns - first);
                if step == 1 {
                    row[..count].copy_from_slice(&values[..count]);
                } else {
                    row[..count]
                        .iter_mut()
                        .zip(values.iter().step_by(step))
                        .for_each(|(to, from)| *to = *from);
                }
            }
        }
        Packed { terms, columns, tiles }
    }

    /// Columns of the matrix.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// A range of terms of `T` neighbouring tiles.
    #[inline(always)]
    fn panels<const T: usize>(&self, tile: usize, first: usize, count: usize) -> Panels<'_, T> {
        std::array::from_fn(|offset| &self.tiles[(tile + offset) * self.terms + first..][..count])
    }
}

/// Adds a·b to `out` [rows, columns], in row-major order.
///
/// Each result is summed term by term in the same order, whichever rows are computed with it: a product may
/// be split by rows over any number of threads and gives the same bits.
pub fn add_product(out: &mut [f32], a: Strided<'_>, b: &Packed) {
    vectorised::run(AddProduct { out, a, b });
}

struct AddProduct<'a> {
    out: &'a mut [f32],
    a: Strided<'a>,
    b: &'a Packed,
}

/// Factors of [`HEIGHT`] rows, term by term.
type FactorPanel = [[f32; HEIGHT]; PANEL];

/// Terms of `T` tiles.
type Panels<'a, const T: usize> = [&'a [[f32; WIDTH]]; T];

/// Results of [`HEIGHT`] rows and `T` tiles.
type Block<const T: usize> = [[[f32; WIDTH]; T]; HEIGHT];

impl Kernel for AddProduct<'_> {
    #[inline(always)]
    fn run<P: Processor>(mut self) {
        if self.out.is_empty() {
            return;
        }
        for first in (0..self.b.terms).step_by(PANEL) {
            let count = PANEL.min(self.b.terms - first);
            // Processors with the widest vectors have twice as many registers, too: they hold four blocks at
            // once.
            if P::lanes() >= WIDTH {
                self.tall_bands::<P>(first, count);
            } else {
                self.bands::<P>(first, count);
            }
        }
    }
}

impl AddProduct<'_> {
    /// One panel of terms, [`HEIGHT`] rows at a time.
    #[inline(always)]
    fn bands<P: Processor>(&mut self, first: usize, count: usize) {
        let (columns, rows) = (self.b.columns, self.out.len() / self.b.columns);
        let mut factors: FactorPanel = [[0.0; HEIGHT]; PANEL];
        for (band, out) in self.out.chunks_mut(HEIGHT * columns).enumerate() {
            self.a.gather(band * HEIGHT, rows, first, &mut factors[..count]);
            for tile in 0..columns.div_ceil(WIDTH) {
                let sums = block::<P, 1>(&factors[..count], self.b.panels(tile, first, count));
                add_block(out, columns, tile, &sums);
            }
        }
    }

    /// The same, twice as many rows and tiles at a time.
    #[inline(always)]
    fn tall_bands<P: Processor>(&mut self, first: usize, count: usize) {
        let (columns, rows) = (self.b.columns, self.out.len() / self.b.columns);
        let tiles = columns.div_ceil(WIDTH);
        let mut factors: [FactorPanel; 2] = [[[0.0; HEIGHT]; PANEL]; 2];
        for (band, out) in self.out.chunks_mut(2 * HEIGHT * columns).enumerate() {
            let (upper, lower) = out.split_at_mut(out.len().min(HEIGHT * columns));
            let [upper_factors, lower_factors] = factors.each_mut().map(|factors| &mut factors[..count]);
            self.a.gather(2 * band * HEIGHT, rows, first, upper_factors);
            if !lower.is_empty() {
                self.a.gather((2 * band + 1) * HEIGHT, rows, first, lower_factors);
            }
            for tile in (0..tiles - tiles % 2).step_by(2) {
                let panels = self.b.panels::<2>(tile, first, count);
                if lower.is_empty() {
                    add_block(upper, columns, tile, &block::<P, 2>(upper_factors, panels));
                } else {
                    let (above, below) = two_blocks::<P, 2>(upper_factors, lower_factors, panels);
                    add_block(upper, columns, tile, &above);
                    add_block(lower, columns, tile, &below);
                }
            }
            if tiles % 2 == 1 {
                let panels = self.b.panels::<1>(tiles - 1, first, count);
                let (above, below) = two_blocks::<P, 1>(upper_factors, lower_factors, panels);
                add_block(upper, columns, tiles - 1, &above);
                add_block(lower, columns, tiles - 1, &below);
            }
        }
    }
}

/// One block of results, over one panel of terms.
#[inline(always)]
fn block<P: Processor, const T: usize>(factors: &[[f32; HEIGHT]], panels: Panels<'_, T>) -> Block<T> {
    let mut sums = [[[0.0; WIDTH]; T]; HEIGHT];
    let panels = panels.map(|panel| &panel[..factors.len()]);
    for (term, factors) in factors.iter().enumerate() {
        add_term::<P, T>(&mut sums, factors, panels.map(|panel| &panel[term]));
    }
    sums
}

/// Two blocks, one above the other: each tile is loaded once for both.
#[inline(always)]
fn two_blocks<P: Processor, const T: usize>(
    upper: &[[f32; HEIGHT]],
    lower: &[[f32; HEIGHT]],
    panels: Panels<'_, T>,
) -> (Block<T>, Block<T>) {
    // Two variables rather than an array of two: only then does the compiler keep all sums in registers.
    let mut above = [[[0.0; WIDTH]; T]; HEIGHT];
    let mut below = [[[0.0; WIDTH]; T]; HEIGHT];
    let panels = panels.map(|panel| &panel[..upper.len()]);
    for (term, (upper, lower)) in upper.iter().zip(lower).enumerate() {
        let values = panels.map(|panel| &panel[term]);
        add_term::<P, T>(&mut above, upper, values);
        add_term::<P, T>(&mut below, lower, values);
    }
    (above, below)
}

/// Adds one term to every result of a block.
#[inline(always)]
fn add_term<P: Processor, const T: usize>(
    sums: &mut Block<T>,
    factors: &[f32; HEIGHT],
    values: [&[f32; WIDTH]; T],
) {
    for (sums, factor) in sums.iter_mut().zip(factors) {
        for (sums, values) in sums.iter_mut().zip(values) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum = P::multiply_add(*factor, *value, *sum);
            }
        }
    }
}

/// Adds the part of a block that lies within the matrix.
#[inline(always)]
fn add_block<const T: usize>(out: &mut [f32], columns: usize, tile: usize, sums: &Block<T>) {
    for (row, sums) in out.chunks_exact_mut(columns).zip(sums) {
        for (out, sums) in row[tile * WIDTH..].chunks_mut(WIDTH).zip(sums) {
            for (out, sum) in out.iter_mut().zip(sums) {
                *out += sum;
            }
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
